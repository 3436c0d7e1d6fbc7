//! The clock of a run: it adds up what a collector in steps took, and counts its own readings.
//!
//! ```text
//! now, work, now     taken: from the first reading to the second, which contains one reading's cost
//! ```

use std::cell::Cell;
use std::time::Instant;

use surefit_gc::Clock;

/// The clock. Its ticks are nanoseconds.
#[derive(Debug)]
pub(crate) struct Meter {
    began: Instant,
    readings: Cell<u64>,
    /// The last reading.
    read: Cell<u64>,
    /// Whether the collector worked since.
    worked: Cell<bool>,
    taken_ns: Cell<u64>,
    /// How often it worked between two readings.
    parts: Cell<u64>,
}

/// The number of pairs of readings from which the cost of one is computed.
const PAIRS: usize = 2_001;

impl Meter {
    pub(crate) fn new() -> Self {
        Self {
            began: Instant::now(),
            readings: Cell::new(0),
            read: Cell::new(0),
            worked: Cell::new(false),
            taken_ns: Cell::new(0),
            parts: Cell::new(0),
        }
    }

    /// The cost of a reading in nanoseconds: the mean of the middle half of many.
    pub(crate) fn cost_ns(&self) -> f64 {
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

    /// What a collector in steps took, in nanoseconds, and how many readings this contains.
    pub(crate) fn taken(&self) -> (u64, u64) {
        (self.taken_ns.get(), self.parts.get())
    }
}

impl Clock for Meter {
    #[inline]
    fn now(&self) -> u64 {
        let now = self.began.elapsed().as_nanos() as u64;
        self.readings.set(self.readings.get() + 1);
        let read = self.read.replace(now);
        if self.worked.take() {
            self.taken_ns.set(self.taken_ns.get() + now - read);
            self.parts.set(self.parts.get() + 1);
        }
        now
    }

    fn worked(&self, _units: u64) {
        self.worked.set(true);
    }
}

#[cfg(test)]
mod tests {
    use surefit_gc::Clock as _;

    use super::Meter;

    #[test]
    fn only_what_the_collector_worked_is_taken() {
        let meter = Meter::new();
        for worked in [false, true, false, true] {
            meter.now();
            if worked {
                meter.worked(3);
            }
            meter.now();
        }
        assert_eq!((meter.readings(), meter.taken().1), (8, 2));
        let passed = meter.now();
        assert!(meter.taken().0 <= passed && meter.cost_ns() > 0.0);
    }
}
