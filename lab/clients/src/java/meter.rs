//! The clock of a replay under any collector: it adds up what a collector in steps took, and counts
//! its own readings.
//!
//! ```text
//! now, work, now     taken: from the first reading to the second, which contains one reading's cost
//! ```
#![deny(unsafe_code)]

use std::cell::Cell;

use surefit_gc::Clock;

use super::clock::Reading;

/// The clock. Its ticks are nanoseconds of this thread's processor time, or it stands still and
/// costs nothing.
#[derive(Debug)]
pub(super) struct Meter {
    /// The cost of a reading in nanoseconds; absent if no times are taken.
    cost_ns: Option<u64>,
    readings: Cell<u64>,
    /// The last reading.
    read: Cell<u64>,
    /// Whether the collector worked since.
    worked: Cell<bool>,
    taken_ns: Cell<u64>,
    /// How often it worked between two readings.
    parts: Cell<u64>,
}

impl Meter {
    pub(super) fn new(timed: bool) -> Self {
        Self {
            cost_ns: timed.then(|| Reading::Processor.cost_ns()),
            readings: Cell::new(0),
            read: Cell::new(0),
            worked: Cell::new(false),
            taken_ns: Cell::new(0),
            parts: Cell::new(0),
        }
    }

    /// Whether times are taken.
    pub(super) const fn is_on(&self) -> bool {
        self.cost_ns.is_some()
    }

    /// The cost of a reading in nanoseconds.
    pub(super) fn cost_ns(&self) -> u64 {
        self.cost_ns.unwrap_or(0)
    }

    /// How often it was read.
    pub(super) fn readings(&self) -> u64 {
        self.readings.get()
    }

    /// What a collector in steps took, and how many readings this contains.
    pub(super) fn taken(&self) -> (u64, u64) {
        (self.taken_ns.get(), self.parts.get())
    }
}

impl Clock for Meter {
    fn now(&self) -> u64 {
        if !self.is_on() {
            return 0;
        }
        let now = Reading::Processor.now();
        self.readings.set(self.readings.get() + 1);
        let read = self.read.replace(now);
        if self.worked.take() {
            self.taken_ns.set(self.taken_ns.get() + now - read);
            self.parts.set(self.parts.get() + 1);
        }
        now
    }

    fn worked(&self, _units: u64) {
        self.worked.set(self.is_on());
    }
}

#[cfg(test)]
mod tests {
    use surefit_gc::Clock as _;

    use super::Meter;

    #[test]
    fn only_what_the_collector_worked_is_taken() {
        let meter = Meter::new(true);
        for worked in [false, true, false, true] {
            meter.now();
            if worked {
                meter.worked(3);
            }
            meter.now();
        }
        assert_eq!((meter.readings(), meter.taken().1), (8, 2));
        let off = Meter::new(false);
        off.worked(1);
        assert_eq!((off.now(), off.readings(), off.taken()), (0, 0, (0, 0)));
    }
}
