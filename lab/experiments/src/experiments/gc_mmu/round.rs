//! One run in processor time: its pauses, and how much of any window they leave.
#![deny(unsafe_code)]

use surefit_clients::java::{Ran, WINDOWS_NS, utilisation};
use surefit_gc::schedule::Pauses;

use super::schedules::Kind;
use surefit_measure::ratio::median;

/// A kind of schedule, round by round.
#[derive(Clone, Debug)]
pub(super) struct Timed {
    pub(super) kind: Kind,
    pub(super) rounds: Vec<Round>,
}

/// One run.
#[derive(Clone, Debug)]
pub(super) struct Round {
    /// Nanoseconds of all of it; where no quanta need the clock, of a run that never reads it.
    pub(super) total_ns: u64,
    pub(super) pauses: Pauses,
    /// For each of [`WINDOWS_NS`], the least share of such a window that the program had.
    pub(super) utilisation: [Option<f64>; WINDOWS_NS.len()],
    /// Requests that found no room.
    pub(super) forced: u64,
    /// Quanta that took too long.
    pub(super) overruns: u64,
    /// Nanoseconds of the longest gap that a loop saw which only reads the clock, for as long as
    /// all pauses: what the machine adds to a pause.
    pub(super) gap_ns: u64,
}

impl Round {
    pub(super) fn of(ran: &Ran) -> Self {
        let mut pauses = Pauses::new();
        lengths(ran).for_each(|ns| pauses.add(ns));
        Self {
            total_ns: ran.ticks,
            pauses,
            utilisation: utilisation(&ran.pauses, ran.ticks),
            forced: ran.steps.forced + ran.steps.whole,
            overruns: ran.paced.quanta_overrun,
            gap_ns: 0,
        }
    }
}

impl Timed {
    /// The median over the rounds of a figure.
    pub(super) fn median(&self, of: impl Fn(&Round) -> f64) -> Option<f64> {
        median(&self.rounds.iter().map(of).collect::<Vec<_>>())
    }

    /// Microseconds of the longest pause.
    pub(super) fn longest_us(&self) -> Option<f64> {
        self.median(|round| round.pauses.longest() as f64 / 1e3)
    }

    /// Microseconds of the longest gap in a loop that only reads the clock.
    pub(super) fn gap_us(&self) -> Option<f64> {
        self.median(|round| round.gap_ns as f64 / 1e3)
    }
}

/// How long the pauses were.
pub(super) fn lengths(ran: &Ran) -> impl Iterator<Item = u64> + '_ {
    ran.pauses.iter().map(|pause| pause.end - pause.start)
}

#[cfg(test)]
pub(super) mod tests {
    use surefit_gc::schedule::Pauses;

    use super::{Kind, Round, Timed, WINDOWS_NS};

    /// Three rounds with one pause of so many microseconds.
    pub(crate) fn timed(kind: Kind, us: u64) -> Timed {
        let mut pauses = Pauses::new();
        pauses.add(us * 1000);
        let round = Round {
            total_ns: 1_000_000,
            pauses,
            utilisation: [Some(0.5); WINDOWS_NS.len()],
            forced: 0,
            overruns: 0,
            gap_ns: 7000,
        };
        Timed {
            kind,
            rounds: vec![round; 3],
        }
    }

    #[test]
    fn figures_are_medians_over_rounds() {
        let mut timed = timed(Kind::Stop, 10);
        timed.rounds[0].total_ns = 7;
        assert_eq!(timed.median(|round| round.total_ns as f64), Some(1e6));
        assert_eq!(timed.longest_us(), Some(10.0));
    }
}
