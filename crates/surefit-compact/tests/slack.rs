//! Heaps with slack: what they promise of moves, bytes and regions, on random scripts.

#![cfg(feature = "slack")]

use core::mem::MaybeUninit;

use surefit_compact::certify::{
    Demand, DemandMeter, Uncertifiable, certify, certify_for_life, certify_with_slack, slack_bytes,
    slack_bytes_for_life,
};
use surefit_compact::{Bound, Bytes, Config, EntryHeap, Fraction, Heap, KeyHeap, Keyed, Wide};
use surefit_testkit::{JunkRegion, Random, layout};

const PAGE: usize = 16 << 10;

fn no_holes() -> Config {
    let bound = Bound::Holes {
        base: 0,
        fraction: Fraction::ZERO,
    };
    Config::new(Config::DEFAULT.geometry().clone(), bound).expect("valid")
}

/// Allocations and frees whose sizes drift: at every time 200 of them are live at most.
fn script() -> Vec<(usize, usize)> {
    let mut random = Random(7);
    let steps = (0..20_000).map(|step| {
        let least = 16 + step / 20;
        (random.below(200), least + random.below(600))
    });
    steps.collect()
}

/// Runs the script: a step frees the object at its place, or allocates one there.
fn run(heap: &mut Heap<'_>) -> Result<(), surefit_core::Refused> {
    let mut live: Vec<Option<Bytes<MaybeUninit<u8>>>> = (0..200).map(|_| None).collect();
    for (number, (place, len)) in script().into_iter().enumerate() {
        match live[place].take() {
            Some(object) => heap.free_bytes(object),
            None => live[place] = Some(heap.alloc(layout(len))?),
        }
        if number % 64 == 0 {
            heap.check().expect("sound");
        }
    }
    live.into_iter()
        .flatten()
        .for_each(|object| heap.free_bytes(object));
    heap.check().expect("sound");
    Ok(())
}

fn meter(config: &Config) -> DemandMeter<'_> {
    let (mut meter, mut live) = (DemandMeter::new::<Wide>(config), [0; 200]);
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

#[test]
fn more_memory_means_fewer_moves_and_enough_means_none() {
    let (config, settled) = (Config::DEFAULT, no_holes());
    let meter = meter(&config);
    let demand = meter.both();
    let least = certify::<Wide>(&settled, &demand).expect("small");
    let mut moves = Vec::new();
    for pages in [0, 1, 2, 4, 8, 16, 200] {
        let bytes = least.aligned_bytes + 1024 + pages * (PAGE + 64);
        let slack = slack_bytes::<Wide>(&config, &demand, bytes).expect("large enough");
        assert!(slack >= pages * PAGE, "{pages}: {slack}");
        let mut region = JunkRegion::new(bytes, PAGE, 3);
        let mut heap: Heap = Heap::with_slack(region.memory(), &config, slack).expect("fits");
        run(&mut heap).expect("the demand is certified");
        let stats = heap.stats();
        let largest = config
            .geometry()
            .layout(config.geometry().largest())
            .block_bytes;
        assert!(
            stats.moved_bytes_max_per_op <= u64::from(largest),
            "one move a free"
        );
        moves.push(stats.moves_total);
    }
    assert!(moves.is_sorted_by(|more, less| more >= less), "{moves:?}");
    assert!(moves[0] > 1000 && moves[6] == 0, "{moves:?}");
}

#[test]
fn what_no_class_needs_is_spare_after_compaction() {
    let config = Config::DEFAULT;
    let mut region = JunkRegion::new(1 << 20, PAGE, 3);
    let mut heap: Heap = Heap::with_slack(region.memory(), &config, 8 * PAGE).expect("fits");
    let objects: Vec<_> = (0..4000)
        .map(|_| heap.alloc(layout(100)).expect("room"))
        .collect();
    let (freed, kept): (Vec<_>, Vec<_>) = (0..).zip(objects).partition(|(n, _)| n % 2 == 0);
    freed
        .into_iter()
        .for_each(|(_, object)| heap.free_bytes(object));
    let before = heap.stats();
    assert!(
        before.holes > 1000 && before.moves_total < 1000,
        "{before:?}"
    );
    heap.compact(u64::MAX);
    assert_eq!(heap.stats().holes, 0);
    heap.check().expect("sound");
    // All of it can be lent to another class.
    let others: Vec<_> = (0..1000)
        .map(|_| heap.alloc(layout(300)).expect("room"))
        .collect();
    let moves = heap.stats().moves_total;
    let (freed, _kept): (Vec<_>, Vec<_>) = (0..).zip(others).partition(|(n, _)| n % 3 == 0);
    freed
        .into_iter()
        .for_each(|(_, object)| heap.free_bytes(object));
    assert_eq!(heap.stats().moves_total, moves);
    heap.check().expect("sound");
    kept.into_iter()
        .for_each(|(_, object)| heap.free_bytes(object));
}

#[test]
fn a_collector_lends_anew_what_the_dead_leave() {
    let config = Config::DEFAULT;
    let mut region = JunkRegion::new(1 << 20, PAGE, 3);
    let heap = Heap::with_slack(region.memory(), &config, 2 * PAGE).expect("fits");
    let mut heap: EntryHeap = EntryHeap::from(heap);
    let entries: Vec<_> = (0..3000)
        .map(|number| heap.allocate_entry(40 + number % 5 * 60).expect("room"))
        .collect();
    for every in [3, 6, 12] {
        let mut kept = vec![0_u64; 3000_usize.div_ceil(64)];
        for entry in entries.iter().step_by(every) {
            kept[*entry as usize / 64] |= 1 << (entry % 64);
        }
        // SAFETY: each round keeps a part of what the round before kept.
        unsafe { heap.retain(&kept) };
        heap.check().expect("sound");
    }
    assert_eq!(heap.stats().live_blocks, 250);
}

#[test]
fn slack_means_nothing_under_other_bounds() {
    for bound in [Bound::Pages(1), Bound::Unbounded] {
        let config = Config::new(Config::DEFAULT.geometry().clone(), bound).expect("valid");
        let run = |heap: Result<Heap<'_>, _>| {
            let mut heap: Heap = heap.expect("fits");
            run(&mut heap).expect("room");
            (heap.stats(), heap.usage())
        };
        let (mut first, mut second) = (
            JunkRegion::new(2 << 20, PAGE, 3),
            JunkRegion::new(2 << 20, PAGE, 3),
        );
        let with = run(Heap::with_slack(first.memory(), &config, 1 << 20));
        assert_eq!(with, run(Heap::new(second.memory(), &config)));
    }
}

/// A heap that lends nothing needs what its own bound needs, not what it would without holes.
#[test]
fn a_region_is_enough_only_for_the_bound_that_the_heap_has() {
    for bound in [Bound::Pages(4), Bound::Unbounded] {
        let config = Config::new(Config::DEFAULT.geometry().clone(), bound).expect("valid");
        let demand = Demand::of_mix::<Wide>(&config, 3000, 512, 200_000);
        let needed = certify::<Wide>(&config, &demand)
            .expect("small")
            .aligned_bytes;
        let slack = |bytes| slack_bytes::<Wide>(&config, &demand, bytes);
        assert_eq!(
            slack(needed - 1),
            Err(Uncertifiable::TooSmall { needed }),
            "{bound:?}"
        );
        assert_eq!(slack(needed), Ok(0), "{bound:?}");
        assert_eq!(slack(10 * needed), Ok(0), "{bound:?}");
    }
}

/// Entries that retire take bytes that may not be lent.
#[test]
fn keys_are_told_how_often_objects_are_freed() {
    type W = Keyed<Wide, u8>;
    let (config, frees) = (Config::DEFAULT, 1_000_000);
    let demand = Demand::of_mix::<W>(&config, 400, 200, 40_000);
    let certificate = certify_for_life::<W>(&no_holes(), &demand, frees).expect("small");
    let slack = |bytes| slack_bytes_for_life::<W>(&config, &demand, frees, bytes);
    let needed = certificate.aligned_bytes;
    assert_eq!(slack(needed - 1), Err(Uncertifiable::TooSmall { needed }));
    // The table, and a page.
    let bytes = needed + 1024 + PAGE + 64;
    let slack = slack(bytes).expect("enough");
    let mut region = JunkRegion::new(bytes, PAGE, 3);
    let mut heap: KeyHeap<Wide, u8> =
        KeyHeap::with_slack(region.memory(), &config, slack).expect("fits");
    for number in 0..frees {
        let key = heap.insert([number; 2]).expect("fewer frees than told");
        heap.remove(key).expect("live");
    }
    heap.check().expect("sound");
}

#[test]
fn regions_and_demands_that_are_too_small_or_too_large() {
    let config = Config::DEFAULT;
    let demand = Demand::PerClass(&[100]);
    let Err(Uncertifiable::TooSmall { needed }) = slack_bytes::<Wide>(&config, &demand, 100) else {
        panic!("100 bytes are too few");
    };
    assert_eq!(slack_bytes::<Wide>(&config, &demand, needed), Ok(0));
    let error = slack_bytes::<Wide>(&config, &demand, needed - 1).expect_err("a byte less");
    assert_eq!(
        error.to_string(),
        format!("the region has fewer bytes than the demand needs: {needed}")
    );
    let boundless = slack_bytes::<Wide>(&config, &demand, 1 << 20).expect("enough");
    assert_eq!(boundless, usize::MAX >> 1, "no compaction is needed");
    let most = Demand::PerClass(&[u32::MAX]);
    assert!(slack_bytes::<Wide>(&config, &most, usize::MAX).is_err());
    for bytes in [0, 1, 7, 100, 600, 20_000, 40_000] {
        for slack in [0, 1, PAGE, usize::MAX >> 1, usize::MAX] {
            let mut region = JunkRegion::new(bytes, 8, 3);
            let Ok(heap) = Heap::<Wide>::with_slack(region.memory(), &config, slack) else {
                assert!(bytes < 40_000, "{bytes} bytes hold a page");
                continue;
            };
            assert_eq!(heap.usage().total(), bytes);
            heap.check().expect("sound");
        }
    }
}

#[test]
fn a_certificate_with_slack_has_room_for_as_much() {
    let config = Config::DEFAULT;
    let demand = Demand::of_mix::<Wide>(&config, 3000, 500, 256 << 10);
    let certified = |slack| certify_with_slack::<Wide>(&config, &demand, 0, slack).expect("small");
    let most = slack_bytes::<Wide>(&config, &demand, 1 << 30).expect("enough");
    for pages in [0, 1, 2, 7, 20] {
        let slack = pages * PAGE;
        let certificate = certified(slack);
        let found = |bytes| slack_bytes::<Wide>(&config, &demand, bytes).expect("enough");
        assert_eq!(found(certificate.aligned_bytes) / PAGE, pages);
        let less = slack_bytes::<Wide>(&config, &demand, certificate.aligned_bytes - 8);
        assert!(less.is_err() || less.is_ok_and(|less| less < slack));
        assert_eq!(certificate.moves_max_per_op, 1);
    }
    for slack in [most, usize::MAX] {
        let certificate = certified(slack);
        let found = slack_bytes::<Wide>(&config, &demand, certificate.aligned_bytes);
        assert_eq!((found, certificate.moves_max_per_op), (Ok(most), 0));
    }
    let most = Demand::PerClass(&[u32::MAX]);
    assert!(certify_with_slack::<Wide>(&config, &most, 0, PAGE).is_err());
    let other = Config::new(config.geometry().clone(), Bound::Pages(1)).expect("valid");
    let with = certify_with_slack::<Wide>(&other, &demand, 0, PAGE);
    assert_eq!(with, certify::<Wide>(&other, &demand));
}

#[test]
fn keys_name_objects_of_a_heap_with_slack() {
    let config = Config::DEFAULT;
    let mut region = JunkRegion::new(1 << 20, PAGE, 3);
    let mut heap: KeyHeap = KeyHeap::with_slack(region.memory(), &config, 8 * PAGE).expect("fits");
    let keys: Vec<_> = (0..5000_u64)
        .map(|n| heap.insert([n; 4]).expect("room"))
        .collect();
    for key in keys.iter().step_by(2) {
        heap.remove(*key).expect("live");
    }
    assert_eq!(heap.stats().moves_total, 0);
    heap.check().expect("sound");
    for (number, key) in keys
        .iter()
        .enumerate()
        .filter(|(number, _)| number % 2 == 1)
    {
        assert_eq!(heap.get(*key).expect("live"), &[number as u64; 4]);
    }
}
