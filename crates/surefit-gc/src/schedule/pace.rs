//! Paces: how fast a collector has to work so that its heap never runs out, and how large the heap
//! has to be for it.
//!
//! ```text
//! occupied            M + A         │ trigger: a cycle begins
//!   M + 2A  ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ╱│ ─ ─ ─ the most
//!                                   │          ╱   │
//!   M + A   ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─╱│       ╱      │╱  what was allocated during the cycle stays
//!                             ╱     │   ╱          │
//!                        ╱          │ ╱            │
//!                          idle     │ a cycle: at most A is allocated, W units of work are done
//! ```
//! M: what lives at most, the object of the present request included. A: what is allocated during a
//! cycle at most. W: what a cycle works at most. All are counted as the heap counts, with the
//! rounding of sizes: [`Amount`].
//!
//! # Bounds
//! **Theorem.** A cycle keeps what its snapshot reaches and what is allocated until it ends, and
//! frees all else. Let it begin before an allocation that would pass the trigger M + A, and let at
//! most A be allocated until it ends. Then at most M + 2A is occupied, at any time.
//!
//! *Proof.* When a cycle has ended, M of its snapshot is left at most, and A that was allocated
//! meanwhile: M + A. As long as no cycle runs, allocation does not pass the trigger, which is M + A
//! as well. So a cycle begins with M + A occupied, or less, and A is added to this until it ends. ∎
//!
//! The terms: M is live. At most A is *floating garbage* of the last cycle: allocated during it,
//! dead by its end, and kept. At most A is allocated during the present cycle. (What died of a
//! snapshot also floats; it is contained in M, as the snapshot's part.) A program reaches M + 2A:
//! it keeps M, and drops all else that it allocates.
//!
//! **By work.** Before the a-th byte of a cycle is allocated, ⌊a·W/(A + 1)⌋ units of the cycle are
//! done; so before the A + 1st byte all W are, and it has ended. The same holds for objects. The
//! rate is W/(A + 1) units a byte. If W is too low, the cycle is finished at once before more than
//! A is allocated: M + 2A holds for any W, and W says how long a request waits.
//!
//! **By time.** The program allocates at most `a` in a quantum of its own, and a quantum of the
//! collector does at least `w` units, unless the cycle ends in it. So a cycle takes n = ⌈W/w⌉
//! quanta at most, and the program has n − 1 quanta between them: A = (n − 1)·a. A cycle cannot
//! begin before the program has had the quantum that it is in. So `a` more may be occupied when it
//! begins: M + 2A + a = M + (2n − 1)·a.
//!
//! # Departures
//! Bacon, Cheng and Rajan give M + 3e for a collector that works with snapshots, where e is
//! allocated during a cycle. Here what a cycle frees is counted free when the cycle ends; so
//! nothing but the last cycle's e and the present one's is counted.
//!
//! # Source
//! Bacon, Cheng, Rajan (2003) for schedules by time; Baker (1978), List processing in real time on
//! a serial computer, for work per allocation.
#![deny(unsafe_code)]

use super::Quanta;

/// Objects and their bytes, as the heap counts them: chunks with headers, or page-blocks. An object
/// in pieces is several page-blocks. A chunk may keep a granule of 8 bytes that was left over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Chunks or page-blocks.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Amount {
    /// Both. A sum that is too large stays at the greatest number, which no heap has.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            objects: self.objects.saturating_add(other.objects),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    /// So many times the amount.
    #[must_use]
    pub const fn times(self, factor: u64) -> Self {
        Self {
            objects: self.objects.saturating_mul(factor),
            bytes: self.bytes.saturating_mul(factor),
        }
    }

    /// What is left of it without another; at least nothing.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self {
            objects: self.objects.saturating_sub(other.objects),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }

    /// Whether it has no more objects, and no more bytes, than another.
    #[must_use]
    pub const fn is_within(self, other: Self) -> bool {
        self.objects <= other.objects && self.bytes <= other.bytes
    }
}

/// How fast a collector works: so many units in so many ticks of its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Units of work.
    pub units: u64,
    /// Ticks; at least one.
    pub ticks: u64,
}

impl Rate {
    /// The units that are done in so many ticks, rounded down.
    ///
    /// # Panics
    /// If the rate has no ticks.
    #[must_use]
    pub const fn units_in(&self, ticks: u64) -> u64 {
        let units = self.units as u128 * ticks as u128 / self.ticks as u128;
        if units > u64::MAX as u128 {
            u64::MAX
        } else {
            units as u64
        }
    }
}

/// Work by allocation: a cycle of at most so many units ends before more is allocated than this.
///
/// # Drawbacks
/// A request of b bytes waits for ⌈b·W/(A + 1)⌉ units, and one piece of work more: one that takes a
/// tenth of A waits for a tenth of the cycle. Pauses are short if no object is large beside A.
/// Quanta of [`ByTime`] do not depend on the sizes of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByWork {
    /// M: what lives at most, the object of the present request included.
    pub live: Amount,
    /// A: what is allocated during a cycle at most.
    pub cycle: Amount,
    /// W: the most units of work of a cycle.
    pub work: u64,
}

impl ByWork {
    /// What is occupied before a cycle begins, at most: M + A.
    #[must_use]
    pub const fn trigger(&self) -> Amount {
        self.live.plus(self.cycle)
    }

    /// What is ever occupied, at most: M + 2A.
    #[must_use]
    pub const fn most(&self) -> Amount {
        self.trigger().plus(self.cycle)
    }

    /// The units of a cycle that are to be done before `allocated` is allocated in it: all that
    /// there are, `u64::MAX`, before more than A.
    #[must_use]
    pub const fn due(&self, allocated: Amount) -> u64 {
        let by_bytes = share(self.work, allocated.bytes, self.cycle.bytes);
        let by_objects = share(self.work, allocated.objects, self.cycle.objects);
        if by_bytes > by_objects {
            by_bytes
        } else {
            by_objects
        }
    }
}

/// ⌊work·part/(whole + 1)⌋; without end if the part is more than the whole, for `work` may be
/// wrong.
const fn share(work: u64, part: u64, whole: u64) -> u64 {
    if part > whole {
        return u64::MAX;
    }
    // At most `work`, since the part is less than the divisor.
    (work as u128 * part as u128 / (whole as u128 + 1)) as u64
}

/// Work by time: quanta, and what is declared about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByTime {
    /// M: what lives at most, the object of the present request included.
    pub live: Amount,
    /// The quanta, in ticks of the collector's clock.
    pub quanta: Quanta,
    /// Declared: what the program allocates at most in requests that begin within one quantum of
    /// its own.
    pub allocated: Amount,
    /// Declared: the units of work that a quantum of the collector has time for at least, beside
    /// its readings of the clock. It does as many, less `grain − 1` at most, and more while time is
    /// left.
    pub units: u64,
    /// The most units of one piece of work, which is not divided.
    pub grain: u64,
    /// W: the most units of work of a cycle.
    pub work: u64,
}

impl ByTime {
    /// n: the quanta that a cycle takes at most. `None` if a quantum is too short for a piece of
    /// work that is not divided.
    #[must_use]
    pub const fn quanta_of_a_cycle(&self) -> Option<u64> {
        // A quantum ends when the next piece of work may be too long for what is left of it.
        match self.units.checked_sub(self.grain) {
            None => None,
            Some(rest) => Some(self.work.div_ceil(rest.saturating_add(1))),
        }
    }

    /// A: what is allocated during a cycle at most: (n − 1)·a.
    ///
    /// # Panics
    /// If a quantum is too short for a piece of work.
    #[must_use]
    pub const fn cycle(&self) -> Amount {
        match self.quanta_of_a_cycle() {
            Some(quanta) => self.allocated.times(quanta.saturating_sub(1)),
            None => panic!("a quantum is too short for a piece of work"),
        }
    }

    /// What is occupied before a cycle is asked for, at most: M + A.
    ///
    /// # Panics
    /// As [`ByTime::cycle`].
    #[must_use]
    pub const fn trigger(&self) -> Amount {
        self.live.plus(self.cycle())
    }

    /// What is ever occupied, at most: M + 2A + a.
    ///
    /// # Panics
    /// As [`ByTime::cycle`].
    #[must_use]
    pub const fn most(&self) -> Amount {
        self.trigger().plus(self.cycle()).plus(self.allocated)
    }

    /// The units that a step may do in the ticks that are left of a quantum.
    #[must_use]
    pub const fn budget(&self, ticks: u64) -> u64 {
        let rate = Rate {
            units: self.units,
            ticks: self.quanta.collector(),
        };
        let collector = self.quanta.collector();
        rate.units_in(if ticks < collector { ticks } else { collector })
    }
}
