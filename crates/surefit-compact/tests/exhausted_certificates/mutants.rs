//! Every term of every certificate, lowered by one. Then some script within the demand must be
//! refused; otherwise the term is too large, and the list *terms that are not tight* of
//! docs/bounds.md says why.
//!
//! A mutant is a heap in a region that is smaller by exactly the term's unit, or a heap certified
//! for a demand without the term. The scripts are exhausted, the shortest first. Where a demand is
//! too large for that, one script is given.

use surefit_compact::certify::{Demand, Sharing, certify, certify_for_life, certify_shared};
use surefit_compact::layout::{class_state_bytes, page_record_bytes};
use surefit_compact::shared::{Granularity, PerClass, PerHeap, PerPage, SharedHeap};
use surefit_compact::{Bound, Config, Keyed, Narrow, Wide, Width};
use surefit_testkit::layout;

use crate::keys::Keys as OwnKeys;
use crate::owners::{LENS, MOST, budget as all, in_pieces, with_resize};
use crate::region::Region;
use crate::search::{Found, Space, search};
use crate::shared::{Handles, Instances, Lock, Maker};
use crate::sharers::Case;
use crate::single::Handles as OwnHandles;
use crate::{PAGE, SIZES, config, geometry_of};

/// The result of a mutant.
pub(crate) struct Verdict {
    pub(crate) name: String,
    /// A refused script, if there is one.
    pub(crate) caught: Option<String>,
}

/// Verdicts, and their report.
#[derive(Default)]
pub(crate) struct Verdicts(pub(crate) Vec<Verdict>);

impl Verdicts {
    fn add(&mut self, name: impl Into<String>, space: &impl Space) {
        let name = name.into();
        let found: Found = search(space, MOST);
        assert!(!found.is_cut, "{name}: too many states");
        match &found.refused {
            Some(why) => println!("caught {name}: {why}"),
            None => println!(
                "LOOSE  {name}: {} states, {} steps",
                found.states, found.steps
            ),
        }
        self.0.push(Verdict {
            name,
            caught: found.refused,
        });
    }

    /// Asserts which mutants are not caught.
    fn assert_loose(&self, loose: &[&str]) {
        let left: Vec<_> = self
            .0
            .iter()
            .filter(|verdict| verdict.caught.is_none())
            .collect();
        let names: Vec<_> = left.iter().map(|verdict| verdict.name.as_str()).collect();
        assert_eq!(names, loose, "the mutants that no script refutes");
        println!(
            "{} mutants, {} caught",
            self.0.len(),
            self.0.len() - left.len()
        );
    }
}

// ---- one owner ---------------------------------------------------------------------------------

fn own<'d, W: Width>(
    config: &'d Config,
    demand: &'d Demand<'d>,
    fewer: usize,
) -> OwnHandles<'d, W> {
    let certificate = certify::<W>(config, demand).expect("small");
    let region = Region::aligned(certificate.aligned_bytes - fewer, PAGE);
    OwnHandles::new(config, demand, &SIZES, region)
}

fn of_width<W: Width>(verdicts: &mut Verdicts, width: usize) {
    let name = |term: &str| format!("{term}, words of {width} bytes");
    let config = config(width, Bound::Pages(1));
    // As many entries as fill the padding: two of four bytes, four of two.
    let demand = Demand::PerClass(&[4, 2, 2]);
    let record = page_record_bytes::<W>().next_multiple_of(8);
    for (term, fewer) in [
        ("a data page", PAGE),
        ("an entry", 8),
        ("a page record", record),
        ("a class state", class_state_bytes::<W>()),
    ] {
        verdicts.add(name(term), &own::<W>(&config, &demand, fewer));
    }
    let certificate = certify::<W>(&config, &demand).expect("small");
    let mut space = own::<W>(&config, &demand, 0);
    space.region = Region::behind(certificate.heap_bytes - 1, PAGE, 1).into();
    verdicts.add(name("a byte skipped"), &space);
    let joint = Demand::Joint(all(&config, 5, 3072));
    verdicts.add(
        name("a data page of a joint demand"),
        &own::<W>(&config, &joint, PAGE),
    );
    let both = Demand::Both(all(&config, 6, 4096), &[4, 2, 2]);
    verdicts.add(name("a data page of both"), &own::<W>(&config, &both, PAGE));
}

#[test]
fn every_term_of_one_owners_certificate_is_needed() {
    let mut verdicts = Verdicts::default();
    of_width::<Wide>(&mut verdicts, 4);
    of_width::<Narrow>(&mut verdicts, 2);
    verdicts.assert_loose(&[]);
}

// ---- threads -----------------------------------------------------------------------------------

/// A shared heap's certificate, lowered by one unit.
fn less<M: Maker>(
    verdicts: &mut Verdicts,
    name: &str,
    case: &Case,
    bound: Bound,
    demand: &Demand<'_>,
    fewer: usize,
) {
    let config = case.config::<M::G>(&config(4, bound));
    let certificate = certify_shared::<Lock, _>(&config, &case.sharing(), demand).expect("small");
    println!(
        "{name}: {:?}",
        (
            certificate.parts,
            certificate.entries,
            certificate.used_pages
        )
    );
    let space = case.space::<M>(&config, &case.sharing(), demand, fewer);
    verdicts.add(name, &space);
}

/// The smallest difference that the layout of a shared heap can notice.
const LINE: usize = 128;

fn of_lock<G: Granularity>(verdicts: &mut Verdicts, lock: &str) {
    let name = |term: &str| format!("{term}, {lock}");
    let bound = Bound::Pages(1);
    let config = config(4, bound);
    let alone = Case {
        buffers: (1, 1),
        ..Case::ALONE
    };
    // Ten entries fill a line; under page locks one of them is at hand in the thread's buffer.
    let line = if G::PAGES { &[9][..] } else { &[10] };
    for (term, most, fewer) in [
        ("a data page", &[4, 2][..], PAGE),
        ("a line of the fixed area", line, LINE),
        ("an entry", &[11], LINE),
    ] {
        less::<Handles<G>>(
            verdicts,
            &name(term),
            &alone,
            bound,
            &Demand::PerClass(most),
            fewer,
        );
    }
    of_others::<G>(verdicts, &name, &config);
}

/// What guards, other calls and other groups take.
fn of_others<G: Granularity>(
    verdicts: &mut Verdicts,
    name: &dyn Fn(&str) -> String,
    config: &Config,
) {
    let bound = config.bound();
    let joint = Demand::Joint(all(config, 5, 2048));
    let pinned = Case {
        guards: 1,
        ..Case::ALONE
    };
    less::<Handles<G>>(
        verdicts,
        &name("a page of a guard"),
        &pinned,
        bound,
        &joint,
        PAGE,
    );
    let two = Case {
        threads: 2,
        buffers: (0, 1),
        pauses: true,
        ..Case::ALONE
    };
    for (term, objects, bytes, peaks) in [
        ("a page of a call", 5, 2560, [0, 9, 1]),
        ("a data page where calls meet", 5, 3072, [0, 5, 1]),
    ] {
        let both = Demand::Both(all(config, objects, bytes), &peaks);
        less::<Handles<G>>(verdicts, &name(term), &two, bound, &both, PAGE);
    }
    // Eleven entries: the last one begins a line.
    let (objects, handles) = if G::PAGES { (8, 1) } else { (3, 4) };
    let spare = Case {
        buffers: (1, handles),
        ..Case::ALONE
    };
    let joint = Demand::Joint(all(config, objects, 3072));
    less::<Handles<G>>(
        verdicts,
        &name("an entry at hand, jointly"),
        &spare,
        bound,
        &joint,
        LINE,
    );
}

#[test]
fn every_term_of_a_shared_heaps_certificate_is_needed_or_known_to_be_loose() {
    let mut verdicts = Verdicts::default();
    of_lock::<PerClass>(&mut verdicts, "class locks");
    of_lock::<PerHeap>(&mut verdicts, "one lock");
    of_lock::<PerPage>(&mut verdicts, "page locks");
    let bound = Bound::Pages(1);
    let spare = Case {
        buffers: (1, 4),
        ..Case::ALONE
    };
    let each = Demand::PerClass(&[4, 3]);
    less::<Handles<PerClass>>(
        &mut verdicts,
        "an entry at hand, per class",
        &spare,
        bound,
        &each,
        LINE,
    );
    let two = Case {
        threads: 2,
        ..Case::ALONE
    };
    let each = Demand::PerClass(&[4, 1]);
    less::<Handles<PerClass>>(&mut verdicts, "a buffered page", &two, bound, &each, PAGE);
    instances(&mut verdicts);
    // docs/bounds.md, "Terms that are not tight".
    verdicts.assert_loose(&[
        "a page of a call, class locks",
        "a page of a call, one lock",
        "a page of a call, page locks",
        "an entry at hand, per class",
        "a buffered page",
        "a page of what waits for its instance",
    ]);
}

/// A second instance's pages and entries. Two registrations make calls in turn: never two at once,
/// and without buffers.
fn instances(verdicts: &mut Verdicts) {
    for (name, bound, most) in [
        ("a page of an instance", Bound::Pages(1), &[6][..]),
        ("a page of an instance, unbounded", Bound::Unbounded, &[3]),
        (
            "a page of what waits for its instance",
            Bound::Unbounded,
            &[5],
        ),
    ] {
        let case = Case {
            threads: 2,
            instances: 2,
            buffers: (0, 1),
            ..Case::ALONE
        };
        let sharing = Sharing::new(1).with_instances(2);
        let config = case.config::<PerClass>(&config(4, bound));
        let demand = Demand::PerClass(most);
        let space = case.space::<Instances<PerClass>>(&config, &sharing, &demand, PAGE);
        verdicts.add(name, &space);
    }
}

// ---- terms of demands --------------------------------------------------------------------------

#[test]
fn every_term_of_a_demand_is_needed() {
    let mut verdicts = Verdicts::default();
    let config = in_pieces(Bound::Pages(1));
    // One object of two pieces: two page-blocks of 256 bytes, and a spine of 64.
    let demand = Demand::Joint(all(&config, 3, 576));
    let without = Demand::Joint(all(&config, 2, 512));
    verdicts.add("a spine", &certified_for(&config, &demand, &without));
    let [base, _] = with_resize(&config, 4, 900);
    let base = Demand::Joint(base);
    let mut space = certified_for(&config, &base, &base);
    space.resizes = true;
    verdicts.add("what a resize holds", &space);
    retired(&mut verdicts);
    verdicts.assert_loose(&[]);
}

/// All scripts inside one demand, in the bytes of another.
fn certified_for<'d>(
    config: &'d Config,
    demand: &'d Demand<'d>,
    certified: &Demand<'_>,
) -> OwnHandles<'d, Wide> {
    let certificate = certify::<Wide>(config, certified).expect("small");
    let region = Region::aligned(certificate.aligned_bytes, PAGE);
    OwnHandles::new(config, demand, &LENS, region)
}

/// A heap of keys without the entry that retires.
fn retired(verdicts: &mut Verdicts) {
    let config = config(4, Bound::Pages(1));
    let demand = Demand::PerClass(&[2]);
    let certificate = certify_for_life::<Keyed<Wide, u8>>(&config, &demand, 254);
    let region = Region::aligned(certificate.expect("small").aligned_bytes, PAGE);
    let mut space = OwnKeys::<Wide, u8>::new(&config, &demand, region);
    (space.aged, space.frees) = (vec![254], Some(255));
    verdicts.add("a retired entry of one owner", &space);
}

/// Weak duality rounds up: how many pages are too many, over all small joint budgets.
#[test]
fn joint_budgets_are_at_most_a_page_too_large() {
    let mut too_many = [0; 2];
    for bound in [
        Bound::Pages(1),
        Bound::Pages(2),
        Bound::DEFAULT,
        Bound::Unbounded,
    ] {
        let config = config(4, bound);
        for objects in 1..6 {
            for quarters in 1..13 {
                let demand = Demand::Joint(all(&config, objects, quarters * 256));
                let caught = |pages: usize| {
                    let found = search(&own::<Wide>(&config, &demand, pages * PAGE), MOST);
                    found.refused.is_some()
                };
                let loose = (1..).position(caught).expect("some heap is too small");
                too_many[loose] += 1;
            }
        }
    }
    println!("joint budgets by the pages that they have too many: {too_many:?}");
    assert_eq!(too_many, [234, 6]);
}

// ---- one script, where the demand is too large for all of them ---------------------------------

/// One thread buffers a page. Another opens all other pages, and then the address table needs one
/// more. With one page less it gets none: pages are taken back for objects, but the table takes
/// only never-opened pages.
#[test]
fn a_buffered_page_is_needed_where_the_table_grows_by_pages() {
    let geometry = geometry_of(&[8, 512], 4);
    let small = u32::from(
        geometry
            .layout(geometry.class(0).expect("the smallest"))
            .blocks,
    );
    let config = Config::new(geometry, Bound::Pages(1)).expect("valid");
    let two = Case {
        threads: 2,
        ..Case::ALONE
    };
    let config = two.config::<PerClass>(&config.with_pieces(None).expect("valid"));
    // Ten entries fit after the pages: eight for page-sized objects, and two for objects of the
    // page that they leave. All pages are open before the next entry.
    let most = [small, 0, 8];
    let certificate = certify_shared::<Lock, _>(&config, &two.sharing(), &Demand::PerClass(&most))
        .expect("small");
    assert!(
        certificate.entries * 12 > PAGE as u64,
        "the table has a page"
    );
    let served = |fewer: usize| {
        let mut region = Region::aligned(certificate.aligned_bytes - fewer, PAGE);
        let heap = SharedHeap::<Lock>::new(region.fresh(), &config)?;
        let (first, second) = (heap.register()?, heap.register()?);
        second.free_bytes(second.alloc_zeroed(layout(PAGE))?)?;
        (0..most[2]).try_for_each(|_| first.alloc_zeroed(layout(PAGE)).map(drop))?;
        (0..most[0]).try_for_each(|_| first.alloc_zeroed(layout(8)).map(drop))
    };
    assert_eq!(served(0), Ok(()));
    assert!(served(PAGE).is_err(), "a page less");
}
