//! The clock of a scheduled replay. It notes when the collector worked.
//!
//! ```text
//! now, work, now          a pause, from the first reading to the second
//! now, work, now, now, work, now      the same pause, if the program did nothing between them
//! ```
#![deny(unsafe_code)]

use std::cell::{Cell, RefCell};

use surefit_gc::Clock;
use surefit_gc::schedule::Pause;

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
pub(super) struct Log {
    timing: Timing,
    /// Virtual ticks, or nanoseconds when the replay began.
    ticks: Cell<u64>,
    /// The last reading.
    read: Cell<u64>,
    /// Whether the collector worked since.
    worked: Cell<bool>,
    /// Whether the program did something since the last pause.
    passed: Cell<bool>,
    pauses: RefCell<Vec<Pause>>,
}

impl Log {
    pub(super) fn new(timing: Timing) -> Self {
        let ticks = match timing {
            Timing::Virtual | Timing::Off => 0,
            Timing::Processor => surefit_os::clock::thread_cpu_ns(),
        };
        Self {
            timing,
            ticks: Cell::new(ticks),
            read: Cell::new(0),
            worked: Cell::new(false),
            passed: Cell::new(true),
            pauses: RefCell::default(),
        }
    }

    /// The program did so much.
    #[inline]
    pub(super) fn pass(&self, ticks: u64) {
        self.passed.set(true);
        if self.timing == Timing::Virtual {
            self.ticks.set(self.ticks.get() + ticks);
        }
    }

    /// All pauses so far, in order.
    pub(super) fn pauses(&self) -> Vec<Pause> {
        self.pauses.borrow().clone()
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
            Timing::Processor => surefit_os::clock::thread_cpu_ns() - self.ticks.get(),
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
            self.ticks.set(self.ticks.get() + units);
        }
    }
}

#[cfg(test)]
mod tests {
    use surefit_gc::Clock;

    use super::{Log, Timing};

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
