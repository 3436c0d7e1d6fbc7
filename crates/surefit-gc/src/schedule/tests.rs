//! The formula and the measurement, beside integration tick by tick.

extern crate alloc;
use alloc::vec::Vec;
use core::ops::Range;

use surefit_testkit::Random;

use super::{Pause, Quanta, least_mutator_ticks};

/// The least time of the program in all windows, tick by tick.
fn integrated(pauses: &[Pause], run: Range<u64>, window: u64) -> Option<u64> {
    let is_free = |tick| !pauses.iter().any(|pause| pause.contains(&tick));
    let free = |start| {
        (start..start + window)
            .filter(|&tick| is_free(tick))
            .count()
    };
    let last = run.end.checked_sub(window)?;
    (run.start..=last).map(|start| free(start) as u64).min()
}

/// Pauses of up to `longest` ticks, with `gaps` ticks between them.
fn pauses(random: &mut Random, end: u64, longest: usize, gaps: Range<usize>) -> Vec<Pause> {
    let mut pauses = Vec::new();
    let mut at = random.below(gaps.end) as u64;
    while at < end {
        let pause = at..at + random.below(longest + 1) as u64;
        at = pause.end + (gaps.start + random.below(gaps.len())) as u64;
        pauses.push(pause);
    }
    pauses
}

#[test]
fn measured_utilisation_is_that_of_all_windows() {
    let mut random = Random(1);
    let runs = if cfg!(miri) { 3 } else { 300 };
    for _ in 0..runs {
        let longest = 1 + random.below(12);
        let pauses = pauses(&mut random, 60, longest, 0..9);
        let run = random.below(20) as u64..40 + random.below(40) as u64;
        for window in 0..70 {
            let told = least_mutator_ticks(&pauses, run.clone(), window);
            assert_eq!(
                told,
                integrated(&pauses, run.clone(), window),
                "{pauses:?} {run:?} {window}"
            );
        }
    }
}

#[test]
fn the_formula_is_the_integral_of_the_schedule() {
    for (collector, mutator) in [(10, 10), (3, 7), (7, 3), (1, 1), (5, 0)] {
        let quanta = Quanta::new(collector, mutator).expect("a period");
        let period = collector + mutator;
        let pauses: Vec<_> = (0..40)
            .map(|n| n * period..n * period + collector)
            .collect();
        for window in 0..=if cfg!(miri) { 30 } else { 20 * period } {
            let measured = least_mutator_ticks(&pauses, 0..40 * period, window);
            assert_eq!(
                measured,
                Some(quanta.least_mutator_ticks(window)),
                "{quanta:?} {window}"
            );
        }
    }
    assert_eq!(Quanta::new(0, 1), None);
    assert_eq!(Quanta::new(1, u64::MAX), None);
}

/// Shorter pauses and longer gaps never have less; a pause that is a tick too long has.
#[test]
fn a_schedule_with_shorter_pauses_and_longer_gaps_keeps_the_formula() {
    let mut random = Random(2);
    let runs = if cfg!(miri) { 3 } else { 1000 };
    let mut broken = 0;
    for _ in 0..runs {
        let (collector, mutator) = (1 + random.below(9), 1 + random.below(9));
        let quanta = Quanta::new(collector as u64, mutator as u64).expect("a period");
        let mut kept = pauses(&mut random, 200, collector, mutator..2 * mutator + 1);
        let least = |pauses: &[Pause], window| least_mutator_ticks(pauses, 0..230, window);
        let keeps = |pauses: &[Pause], window: u64| {
            least(pauses, window) >= Some(quanta.least_mutator_ticks(window))
        };
        for window in 0..200 {
            assert!(keeps(&kept, window), "{quanta:?} {kept:?} {window}");
        }
        kept[1].end = kept[1].start + quanta.collector() + 1;
        broken += u32::from((0..200).any(|window| !keeps(&kept[..2], window)));
    }
    assert_eq!(broken, runs);
}

#[test]
#[should_panic(expected = "in order")]
fn pauses_that_overlap_are_detected() {
    let _ = least_mutator_ticks(&[5..9, 8..10], 0..20, 3);
}
