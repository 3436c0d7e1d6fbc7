//! The clock of the times, and what reading it costs.

use std::time::Instant;

use surefit_gc::{Clock, Totals};

use super::outcome::Times;
use super::replay::Clocking;

/// Which time is read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reading {
    /// The processor time of this thread: other programs on the machine do not count, but a reading is a system call.
    Processor,
    /// The time that has passed since then: cheap enough to be read at every allocation.
    Wall(Instant),
}

impl Reading {
    /// What a reading costs, in nanoseconds: the median of many, one right after the other.
    pub(super) fn cost_ns(self) -> u64 {
        let mut pairs: Vec<_> = (0..PAIRS).map(|_| (self.now(), self.now())).collect();
        pairs.sort_unstable_by_key(|(first, second)| second - first);
        let (first, second) = pairs[PAIRS / 2];
        second - first
    }
}

/// Pairs of readings that tell what one costs.
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

/// Sums up times of allocation.
#[derive(Debug)]
pub(super) struct Watch {
    reading: Reading,
    clocking: Clocking,
    /// What a reading costs, in nanoseconds.
    cost_ns: u64,
    /// Nanoseconds of what was timed, collections and readings not included; what is done beside allocating is taken off
    /// only afterwards, hence signed.
    allocation_ns: i64,
    readings: u64,
}

/// What the clock said, and what the collector had counted.
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

    /// Begins to time, if this is how times are taken.
    #[inline]
    pub(super) fn begin(&mut self, how: Clocking, totals: &Totals) -> Option<Begun> {
        (self.clocking == how).then(|| Begun {
            now: self.reading.now(),
            collection_ns: totals.mark_ticks + totals.sweep_ticks,
            collections: totals.collections,
        })
    }

    /// Adds the time since then, less that of collections.
    #[inline]
    pub(super) fn end(&mut self, begun: Option<Begun>, totals: &Totals) {
        if let Some(begun) = begun {
            self.allocation_ns += self.since(begun, totals);
        }
    }

    /// Takes the time since then off: it was no allocation.
    pub(super) fn end_empty(&mut self, begun: Option<Begun>, totals: &Totals) {
        if let Some(begun) = begun {
            self.allocation_ns -= self.since(begun, totals);
        }
    }

    /// Takes the time since then off what is being timed meanwhile, and both readings: one is in the time, the other is not.
    pub(super) fn leave_out(&mut self, begun: Option<Begun>) {
        if let Some(begun) = begun {
            let passed = self.reading.now() - begun.now;
            self.allocation_ns -= (passed + self.cost_ns) as i64;
            self.readings += 2;
        }
    }

    /// Two readings cost one between them; a collection reads three times, and its ticks hold two of these.
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
