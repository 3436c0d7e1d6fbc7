//! `shared_slack_bytes`: a shared heap that lends so much refuses no script inside the demand; one
//! that lends more refuses some.

use surefit_compact::certify::{Budget, ClassSet, Demand, certify_shared, shared_slack_bytes};
use surefit_compact::shared::{Granularity, PerClass, PerHeap, PerPage, SharedConfig};
use surefit_compact::{Bound, Config};

use crate::owners::{MOST, assert_exhausted, budget};
use crate::region::Region;
use crate::search::search;
use crate::shared::{Handles, Lock, Registrations};
use crate::sharers::Case;
use crate::{PAGE, Sum, config, holes, is_thorough};

/// The least bytes in which a demand is served.
fn least<G: Granularity>(case: &Case, demand: &Demand<'_>) -> usize {
    let settled = case.config::<G>(&config(4, holes(0, 0, 1)));
    let certificate = certify_shared::<Lock, _>(&settled, &case.sharing(), demand);
    certificate.expect("small").aligned_bytes
}

/// The least bytes in which a demand is served, and those of a number of pages more with room for
/// the table of what is lent.
fn region<G: Granularity>(
    config: &SharedConfig<G>,
    case: &Case,
    demand: &Demand<'_>,
    pages: usize,
) -> usize {
    let least = least::<G>(case, demand);
    let slack = |bytes| shared_slack_bytes::<Lock, _>(config, &case.sharing(), demand, bytes);
    (least..)
        .find(|&bytes| slack(bytes).is_ok_and(|slack| slack >= pages * PAGE))
        .expect("some region is enough")
}

/// All scripts of a case in a heap that lends `more` bytes than it may. `None` if it may lend
/// without limit: nothing ever moves.
fn space<'d, G: Granularity>(
    config: &'d SharedConfig<G>,
    case: &Case,
    demand: &'d Demand<'d>,
    (pages, more): (usize, usize),
) -> Option<Registrations<'d, Handles<G>>> {
    let bytes = match pages {
        // With room for the table, so that the part of a page is lent that rounding left over.
        0 => least::<G>(case, demand) + 128,
        _ => region(config, case, demand, pages),
    };
    let slack = shared_slack_bytes::<Lock, _>(config, &case.sharing(), demand, bytes);
    let slack = slack.expect("large enough");
    if slack / PAGE > pages {
        return None;
    }
    let mut space = Registrations::new(config, demand, Region::aligned(bytes, PAGE));
    space.slack = Some(slack + more);
    space.guards = case.guards as usize;
    space.threads = case.threads.into();
    space.leaves = case.leaves;
    space.pauses = case.pauses;
    Some(space)
}

/// Every case with every demand, for objects of the `sizes` smallest sizes.
fn exhaust<G: Granularity>(cases: &[Case], demands: &[Demand<'_>], sizes: usize) {
    let mut sum = Sum::default();
    for case in cases {
        let config = case.config::<G>(&config(4, Bound::DEFAULT));
        for demand in demands {
            for pages in 0..2 {
                let Some(mut space) = space(&config, case, demand, (pages, 0)) else {
                    continue;
                };
                space.costs.truncate(sizes);
                let found = search(&space, MOST);
                assert_exhausted(&found, &(case, demand, pages));
                sum.add(found);
            }
        }
    }
    println!("slack, {}: {sum}", crate::sharers::lock_name::<G>());
    assert!(sum.spaces > 0, "slack is finite in some of them");
}

fn joint(objects: u64, block_bytes: u64) -> Demand<'static> {
    Demand::Joint(budget(&config(4, Bound::DEFAULT), objects, block_bytes))
}

/// Buffers of one handle and no page: they would be states, and change nothing here.
fn case(threads: u16, guards: u32) -> Case {
    Case {
        threads,
        guards,
        buffers: (0, 1),
        ..Case::ALONE
    }
}

#[test]
fn no_script_of_one_thread_with_slack_is_refused() {
    let mut demands = vec![joint(5, 2048), joint(4, 3072)];
    if is_thorough() {
        demands.extend([joint(7, 2048), Demand::PerClass(&[4, 2, 1])]);
    }
    exhaust::<PerClass>(&[case(1, 0)], &demands, 3);
    exhaust::<PerHeap>(&[case(1, 0)], &demands[..1], 3);
    exhaust::<PerPage>(&[case(1, 0)], &demands[..1], 3);
    exhaust::<PerClass>(&[case(1, 1)], &[mix(9)], 2);
}

#[test]
fn no_script_of_threads_in_turn_with_slack_is_refused() {
    exhaust::<PerClass>(&[case(2, 0)], &[mix(13)], 2);
    exhaust::<PerPage>(&[case(2, 0)], &[mix(13)], 2);
}

fn mix(objects: u64) -> Demand<'static> {
    mixes(&config(4, Bound::DEFAULT), objects)
}

/// Objects of 256 and 512 bytes, in any mix.
fn mixes(config: &Config, objects: u64) -> Demand<'static> {
    Demand::Joint(Budget {
        classes: ClassSet::of_requests(config.geometry(), 512),
        ..budget(config, objects, 256 * objects)
    })
}

/// A heap may not lend a byte more than its demand leaves over.
#[test]
fn more_shared_slack_is_refuted() {
    let (plain, case) = (config(4, Bound::DEFAULT), case(1, 0));
    let config = case.config::<PerClass>(&plain);
    let mut demands = vec![(5, 0), (6, 0), (8, 0), (9, 0)];
    if is_thorough() {
        demands.extend([(9, 1), (10, 0), (10, 1)]);
    }
    for (objects, pages) in demands {
        let demand = mixes(&plain, objects);
        let found = |more| {
            let mut space = space(&config, &case, &demand, (pages, more)).expect("finite slack");
            space.costs.truncate(2);
            search(&space, MOST)
        };
        let exact = found(0);
        assert_exhausted(&exact, &(objects, pages));
        let found = found(1);
        assert!(found.refused.is_some(), "{objects}, {pages}: {found:?}");
    }
}
