//! Tens of thousands of generated heaps in exactly their certified bytes. `SUREFIT_HEAPS=100000`
//! makes more.

use std::collections::BTreeMap;

use surefit_compact::certify::Demand;
use surefit_testkit::ExactMemory;

use crate::chooser::Chooser;
use crate::drive::{Drive, Failure, Order, Outcome};
use crate::generate::Case;
use crate::heaps;
use crate::setup::{Certified, Kind, Setup};

/// The number of heaps, unless `SUREFIT_HEAPS` sets it.
const HEAPS: u64 = 22_750;

/// The requested number of heaps as a multiple of the usual one.
pub(crate) fn times() -> u64 {
    number("SUREFIT_HEAPS").map_or(1, |heaps| heaps.div_ceil(HEAPS))
}

/// Where a heap's region begins, and its bytes.
#[derive(Clone, Copy, Debug)]
struct Place {
    bytes: usize,
    offset: usize,
}

impl Place {
    /// Either aligned, with the aligned bytes; or anywhere, with `heap_bytes`: one byte after an
    /// alignment leaves the least.
    fn of(certified: &Certified, chooser: &mut Chooser) -> Self {
        let anywhere = |offset| Self {
            bytes: certified.heap_bytes,
            offset,
        };
        match chooser.below(4) {
            0 => anywhere(1),
            1 => anywhere(chooser.below(certified.align)),
            _ => Self {
                bytes: certified.aligned_bytes,
                offset: 0,
            },
        }
    }
}

/// What happened to the heaps of one kind.
#[derive(Default)]
struct Tally {
    heaps: u64,
    uncertifiable: u64,
    failures: BTreeMap<&'static str, u64>,
}

/// One heap: runs one script after another while the heap lives.
fn run_heap(
    case: &Case,
    limits: &Demand<'_>,
    certified: &Certified,
    (place, order): (Place, Order),
    memory: &mut ExactMemory,
) -> Outcome {
    let region = memory.region(place.bytes, certified.align, place.offset);
    let mut outcome = Ok(());
    let quota = quota(&case.setup, limits);
    let made = heaps::run(&case.setup, region, &mut |heap| {
        for instance in 0..case.setup.instances {
            if let Some(bytes) = quota {
                heap.set_quota(instance.into(), bytes);
            }
        }
        outcome = case
            .script
            .as_ref()
            .map_or(Ok(()), |script| script.run(heap));
        if outcome.is_ok() {
            let numbers = ((certified.pages, certified.copied), case.seed);
            outcome = Drive::new(heap, &case.setup, &case.sizes, limits, numbers).run(order);
        }
    });
    made.map_err(Failure::NoHeap)?;
    outcome?;
    if memory.is_intact() {
        Ok(())
    } else {
        Err(Failure::Fence)
    }
}

/// The bytes that one instance may need if it serves the whole demand.
fn quota(setup: &Setup, limits: &Demand<'_>) -> Option<usize> {
    let alone = Setup {
        instances: 1,
        ..setup.clone()
    };
    if !setup.kind.is_sharded() {
        return None;
    }
    let certified = alone.certify(limits).expect("fewer instances");
    Some(certified.pages as usize * setup.page_bytes)
}

/// Runs a case in all orders; prints what fails.
fn run_case(case: &Case, memory: &mut ExactMemory, tally: &mut Tally) {
    let limits = case.demand.limits();
    let Ok(certified) = case.setup.certify(&limits) else {
        tally.uncertifiable += 1;
        // If a certificate refuses what it should serve, this fails instead of trying for ever.
        let most = 100 + tally.heaps / 10;
        assert!(tally.uncertifiable <= most, "seed {}", case.seed);
        return;
    };
    let mut chooser = Chooser::new(case.seed ^ 1 << 40);
    for order in Order::ALL {
        let setup = &case.setup;
        let makes_sense = match order {
            Order::Churn => setup.kind.has_keys(),
            Order::Foreign => setup.registrations() > 1,
            _ => true,
        };
        if !makes_sense {
            continue;
        }
        tally.heaps += 1;
        let place = Place::of(&certified, &mut chooser);
        let outcome = run_heap(case, &limits, &certified, (place, order), memory);
        tell(case, &certified, (place, order), outcome, tally);
        let pages = chooser.below(4);
        let place = Place {
            bytes: place.bytes + pages * setup.page_bytes,
            ..place
        };
        if let Some((case, certified)) = with_slack(case, &certified, place) {
            tally.heaps += 1;
            let outcome = run_heap(&case, &limits, &certified, (place, order), memory);
            tell(&case, &certified, (place, order), outcome, tally);
        }
    }
}

/// The same case in a heap that lends what the demand leaves over; it may fill the region.
fn with_slack(case: &Case, certified: &Certified, place: Place) -> Option<(Case, Certified)> {
    let skipped = place.offset.next_multiple_of(certified.align) - place.offset;
    let bytes = place.bytes - skipped;
    let mut case = case.clone();
    case.setup.slack = Some(case.setup.slack(&case.demand.limits(), bytes)?);
    let certified = Certified {
        pages: (bytes / case.setup.page_bytes) as u64,
        ..*certified
    };
    Some((case, certified))
}

fn tell(
    case: &Case,
    certified: &Certified,
    how: (Place, Order),
    outcome: Outcome,
    tally: &mut Tally,
) {
    if let Err(failure) = outcome {
        report(case, certified, how, &failure);
        *tally.failures.entry(failure.kind()).or_default() += 1;
    }
}

fn report(case: &Case, certified: &Certified, how: (Place, Order), failure: &Failure) {
    let demand = match case.demand.limits() {
        Demand::PerClass(most) => {
            let used = most.iter().enumerate().filter(|&(_, &count)| count > 0);
            format!("per class {:?}", used.collect::<Vec<_>>())
        }
        limits => format!("{limits:?}"),
    };
    let lens: Vec<_> = case
        .sizes
        .iter()
        .map(|size| (size.len, size.align))
        .collect();
    println!(
        "SUREFIT_HEAPS_SEED={} {:?}: {failure} in {how:?}\n  lengths {lens:?}, metered {}, {demand}\n  {certified:?}\n  {:?}",
        case.seed,
        case.setup.kind,
        case.script.is_some(),
        case.setup
    );
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("a number"))
}

#[test]
fn no_generated_heap_refuses_what_is_certified() {
    let heaps = number("SUREFIT_HEAPS").unwrap_or(HEAPS);
    let only = number("SUREFIT_HEAPS_SEED");
    let mut memory = ExactMemory::new();
    let mut tallies: BTreeMap<Kind, Tally> = BTreeMap::new();
    let share = heaps.div_ceil(Kind::ALL.len() as u64);
    for kind in Kind::ALL {
        let tally = tallies.entry(kind).or_default();
        let mut seed = only.unwrap_or(0);
        while tally.heaps < share {
            if let Some(case) = Case::new(kind, seed) {
                run_case(&case, &mut memory, tally);
            }
            if only.is_some() {
                break;
            }
            seed += 1;
        }
    }
    let mut failures = 0;
    for (kind, tally) in &tallies {
        println!(
            "{kind:?}: {} heaps, failures {:?}, {} demands that no heap can serve",
            tally.heaps, tally.failures, tally.uncertifiable
        );
        failures += tally.failures.values().sum::<u64>();
    }
    assert_eq!(failures, 0, "heaps refused what their certificates allow");
}
