//! `slack_bytes`: a heap that lends so much refuses no script inside the demand; one that lends
//! more refuses some.

use surefit_compact::certify::{Budget, ClassSet, Demand, certify, slack_bytes};
use surefit_compact::layout::page_record_bytes;
use surefit_compact::{Bound, Config, Medium, Narrow, Wide, Width};

use crate::owners::{LENS, MOST, assert_exhausted, budget, in_pieces, with_resize};
use crate::region::Region;
use crate::search::search;
use crate::single::Handles;
use crate::{PAGE, SIZES, Sum, config, holes, is_thorough};

/// The least bytes in which a demand is served, and those of a number of pages more with room for
/// the table of what is lent.
fn region<W: Width>(config: &Config, demand: &Demand<'_>, pages: usize) -> usize {
    let settled = config_of(config, holes(0, 0, 1));
    let least = certify::<W>(&settled, demand).expect("small").aligned_bytes;
    (least..)
        .find(|&bytes| {
            slack_bytes::<W>(config, demand, bytes).is_ok_and(|slack| slack >= pages * PAGE)
        })
        .expect("some region is enough")
}

fn config_of(config: &Config, bound: Bound) -> Config {
    let other = Config::new(config.geometry().clone(), bound).expect("valid");
    other.with_pieces(config.piece_bytes()).expect("valid")
}

fn demands(config: &Config) -> Vec<Demand<'static>> {
    let mut budgets = vec![(7, 2048), (5, 3072), (4, 4096)];
    if is_thorough() {
        budgets.extend([(9, 4096), (8, 6144)]);
    }
    let budgets = budgets
        .into_iter()
        .map(|(objects, bytes)| budget(config, objects, bytes));
    budgets
        .flat_map(|joint| [Demand::Joint(joint), Demand::Both(joint, &[5, 3, 1])])
        .chain([&[6, 3][..], &[4, 2, 1]].map(Demand::PerClass))
        .collect()
}

fn exhaust<W: Width>(width: usize) {
    let (config, mut sum) = (config(width, Bound::DEFAULT), Sum::default());
    for demand in &demands(&config) {
        for pages in 0..2 {
            let bytes = region::<W>(&config, demand, pages);
            let slack = slack_bytes::<W>(&config, demand, bytes).expect("large enough");
            let region = Region::aligned(bytes, PAGE);
            let mut space = Handles::<W>::new(&config, demand, &SIZES, region);
            space.slack = Some(slack);
            let found = search(&space, MOST);
            assert_exhausted(&found, &(demand, pages, slack));
            sum.add(found);
        }
    }
    println!("slack, words of {width} bytes: {sum}");
}

#[test]
fn no_script_in_a_heap_with_slack_is_refused() {
    exhaust::<Wide>(4);
    exhaust::<Medium>(3);
    exhaust::<Narrow>(2);
}

#[test]
fn no_script_of_pieces_and_resizes_in_a_heap_with_slack_is_refused() {
    let mut sum = Sum::default();
    let config = in_pieces(Bound::DEFAULT);
    let [base, extended] = with_resize(&config, 4, 900);
    for (pages, resizes) in [(0, true), (1, true), (1, false)] {
        let served = if resizes { extended } else { base };
        let served = Demand::Joint(served);
        let bytes = region::<Wide>(&config, &served, pages);
        let demand = Demand::Joint(base);
        let region = Region::aligned(bytes, PAGE);
        let mut space = Handles::<Wide>::new(&config, &demand, &LENS, region);
        space.slack = slack_bytes::<Wide>(&config, &served, bytes).ok();
        space.resizes = resizes;
        let found = search(&space, MOST);
        assert_exhausted(&found, &(pages, resizes));
        sum.add(found);
    }
    println!("slack, pieces and resizes: {sum}");
}

/// Objects of 256 and 512 bytes, in any mix.
fn mixes(config: &Config, objects: u64) -> Demand<'static> {
    let joint = Budget {
        classes: ClassSet::of_requests(config.geometry(), 512),
        ..budget(config, objects, 256 * objects)
    };
    Demand::Joint(joint)
}

fn with_slack<'d>(
    config: &'d Config,
    demand: &'d Demand<'d>,
    pages: usize,
    more: usize,
) -> Handles<'d, Wide> {
    let record = page_record_bytes::<Wide>().next_multiple_of(8);
    let bytes = match (pages, more) {
        // With room for the table, so that nothing but the holes is too much.
        (0, 1..) => region::<Wide>(config, demand, 1) - PAGE - record,
        _ => region::<Wide>(config, demand, pages),
    };
    let slack = slack_bytes::<Wide>(config, demand, bytes).expect("large enough");
    assert_eq!(slack / PAGE, pages, "the demand needs compaction");
    let mut space = Handles::new(config, demand, &SIZES[..2], Region::aligned(bytes, PAGE));
    space.slack = Some(slack + more);
    space
}

#[test]
fn no_script_of_a_mix_in_a_heap_with_slack_is_refused() {
    let (config, mut sum) = (config(4, Bound::DEFAULT), Sum::default());
    for (objects, pages) in [(9, 0), (9, 1), (10, 1)] {
        let demand = mixes(&config, objects);
        let found = search(&with_slack(&config, &demand, pages, 0), MOST);
        assert_exhausted(&found, &(objects, pages));
        sum.add(found);
    }
    println!("slack, mixes: {sum}");
}

/// A heap may not lend a byte more than its demand leaves over.
#[test]
fn more_slack_is_refuted() {
    let config = config(4, Bound::DEFAULT);
    let without_pages = (5..13).map(|objects| (objects, 0));
    for (objects, pages) in without_pages.chain([(9, 1), (10, 1)]) {
        let demand = mixes(&config, objects);
        let found = search(&with_slack(&config, &demand, pages, 1), MOST);
        assert!(found.refused.is_some(), "{objects}, {pages}: {found:?}");
    }
}
