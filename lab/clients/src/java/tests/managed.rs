//! Replays under all three collectors.

use std::mem::MaybeUninit;

use surefit_freelist::When;

use super::recording::Recording;
use crate::java::{Collecting, Finds, Home, Lists, Managed, Program};

fn replay(how: Collecting, finds: Finds, merges: When, program: &Program) -> Managed {
    let mut region = vec![MaybeUninit::uninit(); 24 << 10];
    let lists = Lists::usual(finds, merges);
    let replayed = how.replay(lists, program, &mut region, false);
    replayed.expect("there is room")
}

#[test]
fn every_collector_replays_a_program_and_only_the_table_is_updated() {
    let program = Recording::random(5, 1500).program();
    let in_steps = Collecting::InSteps {
        trigger: 8 << 10,
        units: 4000,
    };
    let young_bytes = 2 << 10;
    let generations = Collecting::TwoGenerations { young_bytes };
    for merges in [When::Immediate, When::Deferred] {
        for how in [Collecting::AtOnce, in_steps, generations] {
            let replays = Finds::ALL.map(|finds| replay(how, finds, merges, &program));
            let [walk, table, bitmap] = replays;
            for one in replays {
                assert!(one.totals.collections > 10, "{how:?} {merges:?}");
                assert!(one.totals.allocations >= program.allocations());
                assert_eq!(one.management_ns(), 0, "no times are taken");
            }
            assert!(walk.counters.visits > table.counters.visits);
            assert!(table.counters.table_updates > 0);
            assert_eq!(bitmap.counters.table_updates, 0);
            assert_eq!(table.minor > 10, how == generations, "{}", table.minor);
        }
    }
}

/// Compact-fit's pages have 16 KiB, so its heaps are larger.
#[test]
fn two_generations_replay_a_program_in_every_home() {
    let program = Recording::random(5, 1500).program();
    let lists = Lists::usual(Finds::Bitmap, When::Immediate);
    let nursery = Home::Nursery { bytes: 4 << 10 };
    let replays = [Home::Lists(lists), Home::CompactFit, nursery].map(|home| {
        let mut region = vec![MaybeUninit::uninit(); 512 << 10];
        let replayed = home.replay(&program, &mut region, 2 << 10, false);
        replayed.expect("there is room")
    });
    for one in replays {
        assert!(one.minor > 10 && one.totals.allocations >= program.allocations());
        assert_eq!(one.management_ns(), 0, "no times are taken");
    }
    assert!(replays[0].counters.visits > 0 && replays[1].counters.visits == 0);
}

#[test]
fn steps_that_begin_in_time_are_not_forced_and_those_that_do_not_are() {
    let program = Recording::random(9, 1500).program();
    let with = |trigger| {
        let how = Collecting::InSteps {
            trigger,
            units: 4000,
        };
        replay(how, Finds::Bitmap, When::Immediate, &program)
    };
    assert_eq!(with(8 << 10).forced, 0);
    let late = with(u64::MAX);
    assert!(late.forced > 3 && late.largest_cycle > 0);
    assert!(late.most_occupied > with(8 << 10).most_occupied);
}

#[test]
fn times_are_taken_on_request() {
    let program = Recording::random(3, 300).program();
    let mut region = vec![MaybeUninit::uninit(); 24 << 10];
    let lists = Lists::usual(Finds::NextHitTable, When::Immediate);
    let replayed = Collecting::AtOnce.replay(lists, &program, &mut region, true);
    let replayed = replayed.expect("there is room");
    assert!(replayed.totals.collections > 0 && replayed.collection_ns > 0);
    assert!(replayed.management_ns() >= replayed.collection_ns);
}

#[test]
fn an_old_class_that_refers_to_a_young_object_beside_the_heap_is_remembered() {
    let mut recording = Recording::new();
    recording.allocate_many(200);
    recording.walk(&[], &[], &[]);
    let kept = recording.allocate();
    recording.walk_beside(kept);
    recording.allocate_many(200);
    recording.walk(&[], &[], &[]);
    let other = recording.allocate();
    recording.walk(&[(kept, other)], &[], &[]);
    let generations = Collecting::TwoGenerations {
        young_bytes: 2 << 10,
    };
    let program = recording.program();
    let replayed = replay(generations, Finds::Bitmap, When::Immediate, &program);
    assert_eq!(replayed.minor, 2);
}
