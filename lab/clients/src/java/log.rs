//! The clock of a scheduled replay. It notes when the collector worked.
//!
//! ```text
//! now, work, now          a pause, from the first reading to the second
//! now, work, now, now, work, now      the same pause, if the program did nothing between them
//! ```
#![deny(unsafe_code)]

use std::cell::{Cell, RefCell};

use surefit_gc::Clock;
use surefit_gc::schedule::{Pause, least_mutator_ticks};

use super::stopwatch::Stopwatch;

/// What a tick is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timing {
    /// A unit of the collector's work, or a word that the program allocates, reads or writes. Every
    /// replay is the same.
    #[default]
    Virtual,
    /// A nanosecond of this thread's processor time.
    Processor,
    /// There are none: the clock stands still and costs nothing, and no pause is noted.
    Off,
}

/// The clock.
#[derive(Debug)]
pub struct Log {
    timing: Timing,
    /// Virtual ticks.
    ticks: Cell<u64>,
    stopwatch: Stopwatch,
    /// The last reading.
    read: Cell<u64>,
    /// Whether the collector worked since.
    worked: Cell<bool>,
    /// Whether the program did something since the last pause.
    passed: Cell<bool>,
    pauses: RefCell<Vec<Pause>>,
}

impl Log {
    /// A clock that begins now, for the calling thread.
    #[must_use]
    pub fn new(timing: Timing) -> Self {
        Self {
            timing,
            ticks: Cell::new(0),
            stopwatch: Stopwatch::new(),
            read: Cell::new(0),
            worked: Cell::new(false),
            passed: Cell::new(true),
            pauses: RefCell::default(),
        }
    }

    /// The program did so much.
    #[inline]
    pub fn pass(&self, ticks: u64) {
        self.passed.set(true);
        if self.timing == Timing::Virtual {
            self.ticks.set(self.ticks.get().saturating_add(ticks));
        }
    }

    /// All pauses so far, in order. Only collectors in steps say that they worked.
    #[must_use]
    pub fn pauses(&self) -> Vec<Pause> {
        self.pauses.borrow().clone()
    }

    /// Nanoseconds in which the thread did not run while [`Timing::Processor`] was read: the wall
    /// clock counts them, this one does not. 0 for another timing.
    #[must_use]
    pub fn stood_ns(&self) -> u64 {
        self.stopwatch.stood_ns()
    }

    fn add(&self, pause: Pause) {
        let mut pauses = self.pauses.borrow_mut();
        match pauses.last_mut() {
            Some(last) if !self.passed.get() => last.end = pause.end,
            _ => pauses.push(pause),
        }
        self.passed.set(false);
    }
}

impl Clock for Log {
    fn now(&self) -> u64 {
        let now = match self.timing {
            Timing::Virtual | Timing::Off => self.ticks.get(),
            Timing::Processor => self.stopwatch.now(),
        };
        let read = self.read.replace(now);
        if self.worked.take() {
            self.add(read..now);
        }
        now
    }

    fn worked(&self, units: u64) {
        self.worked.set(self.timing != Timing::Off);
        if self.timing == Timing::Virtual {
            self.ticks.set(self.ticks.get().saturating_add(units));
        }
    }
}

/// Windows of [`utilisation`] in nanoseconds: 0.1 to 100 ms.
pub const WINDOWS_NS: [u64; 7] = [
    100_000,
    300_000,
    1_000_000,
    3_000_000,
    10_000_000,
    30_000_000,
    100_000_000,
];

/// For each of [`WINDOWS_NS`], the least share of such a window that the program had; `None` if the
/// run was shorter. O(pauses) for each.
///
/// # Panics
/// If the pauses are not in order, or overlap.
#[must_use]
pub fn utilisation(pauses: &[Pause], run_ns: u64) -> [Option<f64>; WINDOWS_NS.len()] {
    WINDOWS_NS.map(|window| {
        let least = least_mutator_ticks(pauses, 0..run_ns, window)?;
        Some(least as f64 / window as f64)
    })
}

#[cfg(test)]
#[expect(
    clippy::single_range_in_vec_init,
    reason = "a list of one pause, not of its ticks"
)]
mod tests {
    use surefit_gc::Clock;

    use super::{Log, Timing, utilisation};

    #[test]
    fn a_window_as_long_as_a_pause_may_leave_nothing() {
        let shares = utilisation(&[50_000..200_000], 1_000_000);
        assert_eq!(shares[..3], [Some(0.0), Some(0.5), Some(0.85)]);
        assert_eq!(shares[3..], [None; 4]);
    }

    #[test]
    fn work_between_two_readings_is_a_pause_and_more_of_it_extends_the_pause() {
        let log = Log::new(Timing::Virtual);
        log.pass(10);
        for units in [3, 0, 4] {
            log.now();
            log.worked(units);
            log.now();
        }
        log.pass(5);
        log.now();
        log.worked(2);
        assert_eq!(log.now(), 24);
        assert_eq!(log.pauses(), [10..17, 22..24]);
    }
}
