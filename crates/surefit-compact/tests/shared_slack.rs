//! Slack of a shared heap: what its demand leaves over in a region is lent to the size-classes.
#![cfg(feature = "slack")]

use surefit_compact::certify::{
    Demand, DemandMeter, Sharing, Uncertifiable, certify_shared, certify_shared_with_slack,
    shared_slack_bytes,
};
use surefit_compact::shared::{Granularity, PerClass, PerHeap, PerPage, SharedConfig, SharedHeap};
use surefit_compact::{Bound, Bytes, Config, Fraction, Wide};
use surefit_core::Refused;
use surefit_testkit::{JunkRegion, Random, layout};

type Lock = parking_lot::RawMutex;
type Heap<'m, G> = SharedHeap<'m, Lock, G>;

const PAGE: usize = 16 << 10;
const PLACES: usize = 3000;

fn shared<G: Granularity>(bound: Bound) -> SharedConfig<G> {
    let config = Config::new(Config::DEFAULT.geometry().clone(), bound).expect("valid");
    SharedConfig::new(config)
        .with_locals(2, 0)
        .expect("two threads")
}

fn no_holes() -> Bound {
    Bound::Holes {
        base: 0,
        fraction: Fraction::ZERO,
    }
}

/// Two registrations in turn, one of which holds a guard while the other one calls.
const SHARING: Sharing = Sharing::new(2).with_guards(1);

/// Allocations and frees whose sizes drift: at every time `PLACES` of them are live at most.
fn script() -> Vec<(usize, usize)> {
    let mut random = Random(7);
    let steps = (0..60_000).map(|step| {
        let least = 16 + step / 60;
        (random.below(PLACES), least + random.below(600))
    });
    steps.collect()
}

fn demand(config: &Config) -> DemandMeter<'_> {
    let (mut meter, mut live) = (DemandMeter::new::<Wide>(config), [0; PLACES]);
    for (place, len) in script() {
        if live[place] > 0 {
            meter.free(live[place], 8).expect("live");
            live[place] = 0;
        } else {
            meter.allocate(len, 8).expect("fits");
            live[place] = len;
        }
    }
    meter
}

fn run<G: Granularity>(heap: &Heap<'_, G>) -> Result<(), Refused> {
    let locals = [heap.register()?, heap.register()?];
    let mut live: Vec<Option<Bytes<u8>>> = (0..PLACES).map(|_| None).collect();
    for (number, (place, len)) in script().into_iter().enumerate() {
        let mut object = live[place].take();
        let local = &locals[number % 2];
        match object.take() {
            Some(object) => {
                let other = live[(place * 7 + number) % PLACES].as_ref();
                let _pinned = other.map(|other| heap.chunk(other, 0)).transpose()?;
                local.free_bytes(object)?;
            }
            None => live[place] = Some(local.alloc_zeroed(layout(len))?),
        }
        if number % 5000 == 0 {
            heap.check(true).expect("sound");
        }
    }
    live.into_iter()
        .flatten()
        .try_for_each(|object| locals[0].free_bytes(object))?;
    heap.check(true).expect("sound");
    Ok(())
}

fn moves_by_pages<G: Granularity>() {
    let config = shared::<G>(Bound::DEFAULT);
    let meter = demand(config.config());
    let demand = meter.both();
    let settled = shared::<G>(no_holes());
    let least = certify_shared::<Lock, G>(&settled, &SHARING, &demand).expect("small");
    let mut moves = Vec::new();
    for pages in [0, 4, 16, 64, 600] {
        let bytes = least.aligned_bytes + 1024 + pages * (PAGE + 64);
        let slack = shared_slack_bytes::<Lock, G>(&config, &SHARING, &demand, bytes);
        let slack = slack.expect("large enough");
        assert!(slack >= pages * PAGE, "{pages}: {slack}");
        let mut region = JunkRegion::new(bytes, PAGE, 3);
        let heap = Heap::with_slack(region.memory(), &config, slack).expect("fits");
        run(&heap).expect("the demand is certified");
        moves.push(heap.stats().moves_total);
    }
    assert!(moves.is_sorted_by(|more, less| more >= less), "{moves:?}");
    assert!(moves[0] > 1000 && moves[4] == 0, "{moves:?}");
}

#[test]
fn more_memory_means_fewer_moves_and_enough_means_none() {
    moves_by_pages::<PerClass>();
    moves_by_pages::<PerHeap>();
    moves_by_pages::<PerPage>();
}

/// A size-class that nobody frees any more gives what it does not use to one that asks.
fn lent_by_turns<G: Granularity>() {
    let config = shared::<G>(Bound::DEFAULT);
    let mut region = JunkRegion::new(1 << 20, PAGE, 3);
    let heap = Heap::<G>::with_slack(region.memory(), &config, 4 * PAGE).expect("fits");
    let local = heap.register().expect("a place");
    let insert = |count: usize, len: usize| -> Vec<Bytes<u8>> {
        let object = |_| local.alloc_zeroed(layout(len)).expect("room");
        (0..count).map(object).collect()
    };
    let thin = |objects: Vec<Bytes<u8>>| {
        let (freed, kept): (Vec<_>, Vec<_>) = (0..).zip(objects).partition(|(n, _)| n % 2 == 0);
        freed
            .into_iter()
            .for_each(|(_, object)| local.free_bytes(object).expect("live"));
        kept
    };
    let mut kept = thin(insert(1000, 100));
    let holes = heap.stats().holes;
    assert!(holes > 300 && heap.stats().moves_total < 200, "{holes}");
    // Without holes it needs nothing that it was lent.
    let filled = insert(500, 100);
    assert_eq!(heap.stats().holes, 0);
    let before = heap.stats().moves_total;
    kept.extend(thin(insert(200, 600)));
    let moves = heap.stats().moves_total - before;
    assert!(moves < 20, "{moves} moves: nothing was given back");
    heap.check(false).expect("sound");
    drop((kept, filled));
}

#[test]
fn a_class_gives_what_it_does_not_use_to_one_that_asks() {
    lent_by_turns::<PerClass>();
    lent_by_turns::<PerHeap>();
    lent_by_turns::<PerPage>();
}

#[test]
fn slack_means_nothing_under_other_bounds() {
    for bound in [Bound::Pages(1), Bound::Unbounded] {
        let config = shared::<PerClass>(bound);
        let run = |heap: Result<Heap<'_, PerClass>, _>| {
            let heap = heap.expect("fits");
            run(&heap).expect("room");
            (heap.stats(), heap.usage())
        };
        let (mut first, mut second) = (
            JunkRegion::new(8 << 20, PAGE, 3),
            JunkRegion::new(8 << 20, PAGE, 3),
        );
        let with = run(Heap::with_slack(first.memory(), &config, 1 << 20));
        assert_eq!(with, run(Heap::new(second.memory(), &config)));
    }
}

#[test]
fn a_region_is_enough_only_for_the_bound_that_the_heap_has() {
    for bound in [Bound::Pages(4), Bound::Unbounded] {
        let config = shared::<PerClass>(bound);
        let demand = Demand::of_mix::<Wide>(config.config(), 3000, 512, 200_000);
        let needed = certify_shared::<Lock, _>(&config, &SHARING, &demand);
        let needed = needed.expect("small").aligned_bytes;
        let slack = |bytes| shared_slack_bytes::<Lock, _>(&config, &SHARING, &demand, bytes);
        assert_eq!(
            slack(needed - 1),
            Err(Uncertifiable::TooSmall { needed }),
            "{bound:?}"
        );
        assert_eq!(slack(needed), Ok(0), "{bound:?}");
        assert_eq!(slack(10 * needed), Ok(0), "{bound:?}");
    }
}

#[test]
fn regions_and_demands_that_are_too_small_or_too_large() {
    let config = shared::<PerClass>(Bound::DEFAULT);
    let slack = |demand, bytes| shared_slack_bytes::<Lock, _>(&config, &SHARING, demand, bytes);
    let demand = Demand::PerClass(&[100]);
    let Err(Uncertifiable::TooSmall { needed }) = slack(&demand, 100) else {
        panic!("100 bytes are too few");
    };
    assert!(slack(&demand, needed - 1).is_err());
    // Peaks side by side: no free ever needs a move, and no table.
    assert_eq!(slack(&demand, needed), Ok(usize::MAX >> 1));
    let most = Demand::PerClass(&[u32::MAX]);
    assert!(slack(&most, usize::MAX).is_err());
    let several = SHARING.with_instances(2);
    assert_eq!(
        shared_slack_bytes::<Lock, _>(&config, &several, &demand, 1 << 20),
        Err(Uncertifiable::TooManyInstances { limit: 1 })
    );
    let mix = Demand::of_mix::<Wide>(config.config(), 1 << 20, 512, 64 << 20);
    for bytes in [1 << 27, 1 << 34, isize::MAX as usize, usize::MAX] {
        assert!(slack(&mix, bytes).is_ok());
    }
    for bytes in [0, 1, 7, 100, 600, 20_000, 60_000] {
        for slack in [0, 1, PAGE, usize::MAX >> 1, usize::MAX] {
            let mut region = JunkRegion::new(bytes, 8, 3);
            let Ok(heap) = Heap::with_slack(region.memory(), &config, slack) else {
                assert!(bytes < 60_000, "{bytes} bytes hold a page");
                continue;
            };
            assert_eq!(heap.usage().total(), bytes);
            heap.check(false).expect("sound");
        }
    }
}

#[test]
fn a_certificate_with_slack_has_room_for_as_much() {
    let config = shared::<PerClass>(Bound::DEFAULT);
    let demand = Demand::of_mix::<Wide>(config.config(), 3000, 500, 256 << 10);
    let certified = |config, slack| {
        certify_shared_with_slack::<Lock, PerClass>(config, &SHARING, &demand, slack)
    };
    let found = |bytes| shared_slack_bytes::<Lock, _>(&config, &SHARING, &demand, bytes);
    for pages in [0, 1, 2, 7, 20] {
        let slack = pages * PAGE;
        let bytes = certified(&config, slack).expect("small").aligned_bytes;
        assert!(found(bytes).is_ok_and(|found| found / PAGE == pages));
        let less = found(bytes - 128);
        assert!(less.is_err() || less.is_ok_and(|less| less < slack));
    }
    for slack in [usize::MAX >> 1, usize::MAX] {
        let certificate = certified(&config, slack).expect("small");
        assert_eq!(found(certificate.aligned_bytes), Ok(usize::MAX >> 1));
        assert_eq!(certificate.work.steps_max_per_free, 0);
    }
    let most = Demand::PerClass(&[u32::MAX]);
    let with = certify_shared_with_slack::<Lock, _>(&config, &SHARING, &most, PAGE);
    assert!(with.is_err());
    let several = SHARING.with_instances(2);
    assert_eq!(
        certify_shared_with_slack::<Lock, _>(&config, &several, &demand, PAGE),
        Err(Uncertifiable::TooManyInstances { limit: 1 })
    );
    let other = shared::<PerClass>(Bound::Pages(1));
    let with = certified(&other, PAGE);
    assert_eq!(with, certify_shared::<Lock, _>(&other, &SHARING, &demand));
}
