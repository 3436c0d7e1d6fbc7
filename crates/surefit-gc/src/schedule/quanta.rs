//! Quanta: for how long the collector runs, and for how long it then leaves the program alone.
//!
//! ```text
//! program    ████████        ████████        ████████
//! collector          ████            ████            ████
//!                    ≤ C  ≥ Q         one period: C + Q
//! ```
//!
//! # Bounds
//! **Theorem.** If every pause takes at most C ticks, and at least Q ticks lie between two pauses,
//! then the program has at least
//!
//! ```text
//! f(Δ) = Q·⌊Δ/(C + Q)⌋ + max(0, Δ mod (C + Q) − C)
//! ```
//! ticks in every window of Δ ticks; u(Δ) = f(Δ)/Δ. It has exactly so many in some window if all
//! pauses take C ticks and all gaps Q.
//!
//! *Proof.* f(Δ) = 0 for Δ ≤ C, f grows by at most one a tick, and f(Δ + C + Q) = f(Δ) + Q. By
//! [`least_mutator_ticks`](crate::schedule::least_mutator_ticks) it is enough to look at windows
//! that begin with a pause; those that end with one are their mirror images. (A window that does
//! neither, because the run begins or ends in it, has no more pauses than one that does.) Let such
//! a window begin with a pause of p ≤ C ticks and a gap of g ≥ Q. If Δ ≤ p + g, the program has at
//! least Δ − p ≥ Δ − C ticks, or 0: that is f(Δ) at least, since f grows by at most one a tick from
//! f(C) = 0. Otherwise it has g, and what it has in the rest, which also begins with a pause: by
//! induction at least g + f(Δ − p − g) ≥ g + f(Δ − C − g) ≥ Q + f(Δ − C − Q) = f(Δ); the second
//! step holds since f grows by at most g − Q over g − Q ticks. (Let f be 0 below 0.) ∎
//!
//! # Source
//! Bacon, Cheng, Rajan (2003), A real-time garbage collector with low overhead and consistent
//! utilization, for schedules of equal quanta. Here pauses may be shorter and gaps longer, as they
//! are in a program that asks for the time only when it allocates.
#![deny(unsafe_code)]

/// A schedule by time: a quantum of the collector, and one of the program, in ticks of a
/// [`Clock`](crate::Clock).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quanta {
    collector: u64,
    mutator: u64,
}

impl Quanta {
    /// Quanta of so many ticks; `None` if the collector's is 0, or a period has more than
    /// `u64::MAX` ticks.
    #[must_use]
    pub const fn new(collector: u64, mutator: u64) -> Option<Self> {
        match (collector, collector.checked_add(mutator)) {
            (0, _) | (_, None) => None,
            _ => Some(Self { collector, mutator }),
        }
    }

    /// C: the most ticks of a pause.
    #[must_use]
    pub const fn collector(&self) -> u64 {
        self.collector
    }

    /// Q: the fewest ticks between two pauses.
    #[must_use]
    pub const fn mutator(&self) -> u64 {
        self.mutator
    }

    /// f(Δ): the ticks that the program has in any window of `window` ticks, at least. Divided by
    /// the window this is the minimum mutator utilisation u(Δ).
    ///
    /// # Examples
    /// ```
    /// use surefit_gc::schedule::Quanta;
    /// let quanta = Quanta::new(10, 10).expect("a period");
    /// assert_eq!([10, 12, 20, 23, 50].map(|window| quanta.least_mutator_ticks(window)), [0, 2, 10, 10, 20]);
    /// ```
    #[must_use]
    pub const fn least_mutator_ticks(&self, window: u64) -> u64 {
        // `new` verified that the period is neither 0 nor too long.
        let period = self.collector + self.mutator;
        self.mutator * (window / period) + (window % period).saturating_sub(self.collector)
    }
}
