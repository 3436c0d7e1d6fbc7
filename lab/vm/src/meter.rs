//! The clock of a run: it notes when a collector in steps worked, adds up what that took, and
//! counts its own readings.
//!
//! ```text
//! now, work, now     taken: from the first reading to the second, which contains one reading's cost
//! ```

use std::cell::Cell;

use surefit_clients::java::{Log, Timing};
use surefit_gc::Clock;

/// The clock.
#[derive(Debug)]
pub(crate) struct Meter {
    log: Log,
    readings: Cell<u64>,
    /// The last reading.
    read: Cell<u64>,
    /// Whether the collector worked since.
    worked: Cell<bool>,
    taken: Cell<u64>,
    /// How often it worked between two readings.
    parts: Cell<u64>,
}

/// The number of pairs of readings from which the cost of one is computed.
const PAIRS: usize = 2_001;

impl Meter {
    pub(crate) fn new(timing: Timing) -> Self {
        Self {
            log: Log::new(timing),
            readings: Cell::new(0),
            read: Cell::new(0),
            worked: Cell::new(false),
            taken: Cell::new(0),
            parts: Cell::new(0),
        }
    }

    /// It notes the pauses.
    pub(crate) const fn log(&self) -> &Log {
        &self.log
    }

    /// The program did so much, in words.
    #[inline]
    pub(crate) fn pass(&self, words: u64) {
        self.log.pass(words);
    }

    /// The cost of a reading in ticks: the mean of the middle half of many.
    pub(crate) fn cost(&self) -> f64 {
        let mut all: Vec<u64> = (0..PAIRS)
            .map(|_| {
                let first = self.now();
                self.now() - first
            })
            .collect();
        all.sort_unstable();
        let middle = &all[PAIRS / 4..3 * PAIRS / 4];
        middle.iter().sum::<u64>() as f64 / middle.len() as f64
    }

    /// How often it was read.
    pub(crate) fn readings(&self) -> u64 {
        self.readings.get()
    }

    /// What a collector in steps took, in ticks, and how many readings this contains.
    pub(crate) fn taken(&self) -> (u64, u64) {
        (self.taken.get(), self.parts.get())
    }
}

impl Clock for Meter {
    #[inline]
    fn now(&self) -> u64 {
        let now = self.log.now();
        self.readings.set(self.readings.get() + 1);
        let read = self.read.replace(now);
        if self.worked.take() {
            self.taken.set(self.taken.get() + now - read);
            self.parts.set(self.parts.get() + 1);
        }
        now
    }

    fn worked(&self, units: u64) {
        self.worked.set(true);
        self.log.worked(units);
    }
}

#[cfg(test)]
mod tests {
    use surefit_clients::java::Timing;
    use surefit_gc::Clock as _;

    use super::Meter;

    #[test]
    fn only_what_the_collector_worked_is_taken() {
        let meter = Meter::new(Timing::Virtual);
        for worked in [false, true, false, true] {
            meter.now();
            meter.pass(2);
            meter.now();
            if worked {
                meter.worked(3);
            }
            meter.now();
        }
        assert_eq!((meter.readings(), meter.taken()), (12, (6, 2)));
        assert_eq!(meter.log().pauses(), [4..7, 11..14]);
    }

    #[test]
    fn a_reading_costs_some_time_of_the_thread_and_no_virtual_one() {
        assert!(Meter::new(Timing::Processor).cost() > 0.0);
        assert!(Meter::new(Timing::Virtual).cost() < f64::EPSILON);
    }
}
