//! The clock that takes times, and the cost of a reading.

use std::time::Instant;

use surefit_gc::{Clock, Totals};

use super::outcome::Times;

/// How times are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clocking {
    /// No times are taken.
    #[default]
    Off,
    /// Batches of allocations, in processor time.
    Batch,
    /// Single allocations, in wall time, as in the thesis.
    Each,
}

/// Which time a clock reads.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reading {
    /// The processor time of this thread. Other programs on the machine do not count, but a reading
    /// is a system call.
    Processor,
    /// The wall time since this instant. It is cheap enough to be read at every allocation.
    Wall(Instant),
}

impl Reading {
    /// The cost of a reading in nanoseconds: the median of many consecutive readings.
    pub(super) fn cost_ns(self) -> u64 {
        let mut pairs: Vec<_> = (0..PAIRS).map(|_| (self.now(), self.now())).collect();
        pairs.sort_unstable_by_key(|(first, second)| second - first);
        let (first, second) = pairs[PAIRS / 2];
        second - first
    }
}

/// The number of readings from which the cost is computed.
const PAIRS: usize = 10_001;

/// Ticks are nanoseconds.
impl Clock for Reading {
    #[inline]
    fn now(&self) -> u64 {
        match self {
            Self::Processor => surefit_os::clock::thread_cpu_ns(),
            Self::Wall(began) => began.elapsed().as_nanos() as u64,
        }
    }
}

/// Adds up the time of allocations.
#[derive(Debug)]
pub(super) struct Watch {
    reading: Reading,
    clocking: Clocking,
    /// The cost of a reading, in nanoseconds.
    cost_ns: u64,
    /// Nanoseconds of what was timed, without collections and readings. It is signed, because the
    /// time of other work is subtracted only afterwards.
    allocation_ns: i64,
    readings: u64,
}

/// The reading of the clock and the counts of the collector at the beginning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    now: u64,
    collection_ns: u64,
    collections: u64,
}

impl Watch {
    pub(super) fn new(reading: Reading, clocking: Clocking) -> Self {
        Self {
            reading,
            clocking,
            cost_ns: if clocking == Clocking::Off {
                0
            } else {
                reading.cost_ns()
            },
            allocation_ns: 0,
            readings: 0,
        }
    }

    /// Begins to time, if times are taken this way.
    #[inline]
    pub(super) fn begin(&mut self, how: Clocking, totals: &Totals) -> Option<Begun> {
        (self.clocking == how).then(|| Begun {
            now: self.reading.now(),
            collection_ns: totals.mark_ticks + totals.sweep_ticks,
            collections: totals.collections,
        })
    }

    /// Adds the time since `begun`, without that of collections.
    #[inline]
    pub(super) fn end(&mut self, begun: Option<Begun>, totals: &Totals) {
        if let Some(begun) = begun {
            self.allocation_ns += self.since(begun, totals);
        }
    }

    /// Subtracts the time since `begun`: it was no allocation.
    pub(super) fn end_empty(&mut self, begun: Option<Begun>, totals: &Totals) {
        if let Some(begun) = begun {
            self.allocation_ns -= self.since(begun, totals);
        }
    }

    /// Subtracts the time since `begun` from what is being timed meanwhile, and both readings: one
    /// is part of the time, the other is not.
    pub(super) fn leave_out(&mut self, begun: Option<Begun>) {
        if let Some(begun) = begun {
            let passed = self.reading.now() - begun.now;
            self.allocation_ns -= (passed + self.cost_ns) as i64;
            self.readings += 2;
        }
    }

    /// Two readings have the cost of one between them. A collection reads three times; its ticks
    /// contain two of these.
    #[inline]
    fn since(&mut self, begun: Begun, totals: &Totals) -> i64 {
        let passed = self.reading.now() - begun.now;
        let collecting = totals.mark_ticks + totals.sweep_ticks - begun.collection_ns;
        let readings = 1 + totals.collections - begun.collections;
        self.readings += 2;
        passed as i64 - collecting as i64 - (readings * self.cost_ns) as i64
    }

    /// All times, if times were taken.
    pub(super) fn times(&self, totals: &Totals) -> Option<Times> {
        let readings_ns = totals.collections * self.cost_ns;
        (self.clocking != Clocking::Off).then(|| Times {
            allocation_ns: self.allocation_ns.max(0) as u64,
            mark_ns: totals.mark_ticks.saturating_sub(readings_ns),
            sweep_ns: totals.sweep_ticks.saturating_sub(readings_ns),
            readings: self.readings + 3 * totals.collections,
            reading_ns: self.cost_ns,
        })
    }
}
