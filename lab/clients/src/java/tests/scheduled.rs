//! Replays under schedules.

use std::mem::MaybeUninit;

use surefit_gc::CompactFit;
use surefit_gc::schedule::{Amount, ByTime, ByWork, Quanta, Schedule, least_mutator_ticks};

use super::recording::Recording;
use crate::java::{Program, Ran, Scheduled, Stepped, Timing};

/// Bytes of a heap in which the program is collected often.
const HEAP: usize = 128 << 10;

fn amount(objects: u64, bytes: u64) -> Amount {
    Amount { objects, bytes }
}

/// By work, and by time with quanta that are longer than any piece of work.
fn schedules() -> [Schedule; 3] {
    let live = amount(200, 8 << 10);
    let by_work = ByWork {
        live,
        cycle: amount(150, 4 << 10),
        work: 4000,
    };
    let by_time = ByTime {
        live,
        quanta: Quanta::new(10_000, 1600).expect("a period"),
        allocated: amount(200, 8000),
        units: 10_000,
        grain: 5000,
        work: 3000,
    };
    [
        Schedule::Whole,
        Schedule::ByWork(by_work),
        Schedule::ByTime(by_time),
    ]
}

fn replay(space: &Stepped, program: &Program, schedule: Schedule, timing: Timing) -> Ran {
    let mut region = vec![MaybeUninit::uninit(); HEAP];
    let how = Scheduled {
        schedule,
        timing,
        floating: timing == Timing::Virtual,
    };
    let ran = space.replay(program, &mut region, &how);
    ran.expect("there is room")
}

#[test]
fn every_schedule_replays_a_program_with_pauses_as_long_as_the_work() {
    let program = Recording::random(7, 3000).program();
    for space in [
        Stepped::FreeLists,
        Stepped::CompactFit(Box::new(CompactFit::CONFIG)),
    ] {
        for schedule in schedules() {
            let ran = replay(&space, &program, schedule, Timing::Virtual);
            assert!(ran.steps.cycles > 3, "{schedule:?} {:?}", ran.steps);
            assert!(ran.steps.largest_excess < ran.most_excess);
            assert_eq!(ran.steps.largest_roots, 2, "one root stands for all");
            match schedule {
                // What is marked at once keeps nothing that is dead.
                Schedule::Whole => assert_eq!(ran.floating.bytes, 0),
                Schedule::ByWork(_) => assert!(ran.floating.bytes > 0),
                _ => {}
            }
            assert!((4..=ran.steps.cycles).contains(&ran.floating.cycles));
            let paused = ran.pauses.iter().map(|pause| pause.end - pause.start);
            assert_eq!(paused.sum::<u64>(), ran.steps.work);
            assert!(ran.pauses.windows(2).all(|two| two[0].end < two[1].start));
            let again = replay(&space, &program, schedule, Timing::Virtual);
            assert_eq!((again.ticks, again.pauses), (ran.ticks, ran.pauses));
        }
    }
}

#[test]
fn quanta_keep_their_formula_on_every_window_of_a_replay() {
    let program = Recording::random(11, 3000).program();
    let [_, _, by_time] = schedules();
    let Schedule::ByTime(pace) = by_time else {
        unreachable!("the third is by time");
    };
    for space in [
        Stepped::FreeLists,
        Stepped::CompactFit(Box::new(CompactFit::CONFIG)),
    ] {
        let ran = replay(&space, &program, by_time, Timing::Virtual);
        assert_eq!((ran.steps.forced, ran.steps.whole), (0, 0));
        assert!(ran.paced.quanta > 3);
        for window in (1..ran.ticks).step_by(9973) {
            let measured = least_mutator_ticks(&ran.pauses, 0..ran.ticks, window);
            assert!(
                measured >= Some(pace.quanta.least_mutator_ticks(window)),
                "{window}"
            );
        }
    }
}

#[test]
fn processor_time_orders_the_pauses_too() {
    let program = Recording::random(3, 100).program();
    let [_, by_work, _] = schedules();
    let ran = replay(&Stepped::FreeLists, &program, by_work, Timing::Processor);
    assert!(!ran.pauses.is_empty());
    assert!(least_mutator_ticks(&ran.pauses, 0..ran.ticks, 1).is_some());
}

#[test]
fn a_root_that_is_dropped_before_the_collector_comes_to_it_is_kept() {
    let mut recording = Recording::new();
    let holder = recording.allocate();
    recording.walk(&[], &[(holder, true)], &[]);
    for nth in 0..600 {
        recording.allocate_many(300 + nth);
        let late = recording.allocate();
        recording.allocate_many(7);
        // If a cycle has begun meanwhile, this one is not looked at any more.
        let born = recording.allocate();
        for _ in 0..2 {
            recording.walk(&[(born, late), (holder, born)], &[], &[]);
            recording.allocate_many(200);
        }
    }
    let [_, by_work, _] = schedules();
    let program = recording.program();
    let ran = replay(&Stepped::FreeLists, &program, by_work, Timing::Virtual);
    assert!(ran.steps.cycles > 100 && ran.floating.bytes > 0);
}
