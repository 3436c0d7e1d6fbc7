//! Free runs of both kinds: those that hold memory, and those whose memory went back.

use super::source::Counted;
use super::*;

#[test]
fn free_memory_of_both_kinds_becomes_one_run_rather_than_a_refusal() {
    let source = Counted::new(8 << 20);
    let heap = source.heap(Settings {
        delay: 1000,
        ..SETTINGS
    });
    let local = heap.join().unwrap();
    let mut objects = Vec::new();
    while let Some(object) = local.allocate(100_000, 16) {
        objects.push(object);
    }
    // The first half is clean, the second dirty; only together they are long enough.
    let second = objects.split_off(objects.len() / 2);
    objects
        .into_iter()
        .for_each(|object| free(&local, object).unwrap());
    heap.purge();
    second
        .into_iter()
        .for_each(|object| free(&local, object).unwrap());
    let stats = heap.stats();
    assert!(stats.clean > 2 << 20 && stats.dirty > 2 << 20);
    assert!(local.allocate(6 << 20, 16).is_some());
    check(&heap);
}

/// Clean units that a request for units makes dirty where all of the heap is free, each second unit
/// of it clean.
fn joined_for(units: u32, free_runs: usize) -> usize {
    let source = Counted::new(free_runs * UNIT_BYTES);
    let heap = source.heap(Settings {
        delay: 1000,
        ..SETTINGS
    });
    let mut taken = Vec::new();
    while let Some(unit) = heap.common().take_units(1, 1, false) {
        taken.push(unit.start);
    }
    let give = |unit: &memory::Span| heap.common().give_units(*unit, 1);
    taken.iter().step_by(2).for_each(give);
    heap.purge();
    taken.iter().skip(1).step_by(2).for_each(give);
    let before = heap.stats();
    assert!(before.clean / UNIT_BYTES > free_runs / 3 && before.dirty / UNIT_BYTES > free_runs / 3);
    let served = heap.common().take_units(units, 1, false);
    let after = heap.stats();
    assert!(served.is_some());
    check(&heap);
    (before.clean - after.clean) / UNIT_BYTES
}

#[test]
fn a_request_joins_no_more_runs_than_it_needs() {
    for units in [2, 3, 4, 40] {
        let joined = joined_for(units, 200);
        assert!((1..=units as usize / 2 + 1).contains(&joined), "{joined}");
        assert_eq!(joined_for(units, 3000), joined);
    }
}
