//! Who is fastest, and how sure that is.
//!
//! # The rule
//! Two allocators are told apart if the ratio of their times, taken round by round, is on one side
//! of 1 in every round. The one with the least median is fastest if it is told apart from all
//! others; those that it is not told apart from share the place with it, and nobody is called
//! fastest. Fewer than [`SURE`] rounds are named. Of times with accesses, nothing is said unless
//! [`SURE`] rounds or more agree.

use surefit_measure::ratio::Ratio;
use surefit_measure::results::AllocatorResult;

/// Fewer rounds than this are said.
pub(super) const SURE: usize = 3;

/// A time that is measured in rounds.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    ratio: fn(&AllocatorResult) -> Option<Ratio>,
    mean: fn(&AllocatorResult) -> Option<f64>,
    rounds: fn(&AllocatorResult) -> Option<&[f64]>,
}

/// The time of calls.
pub(super) const TIME: Clock = Clock {
    ratio: |row| row.ratio_to_baseline,
    mean: |row| row.pair_ns_mean,
    rounds: |row| row.pair_ns_rounds.as_deref(),
};

/// The time of calls and accesses.
pub(super) const ACCESS: Clock = Clock {
    ratio: |row| row.access_ratio_to_baseline,
    mean: |row| row.access_pair_ns_mean,
    rounds: |row| row.access_pair_ns_rounds.as_deref(),
};

impl Clock {
    /// A time: as the table has it, unless the baseline was not measured.
    fn time(&self, row: &AllocatorResult) -> Option<f64> {
        let ratio = (self.ratio)(row).map(|ratio| ratio.median);
        ratio.or_else(|| (self.mean)(row))
    }

    /// The time of one over another's, round by round.
    pub(super) fn over(&self, row: &AllocatorResult, other: &AllocatorResult) -> Option<Ratio> {
        Ratio::round_by_round((self.rounds)(row)?, (self.rounds)(other)?)
    }

    /// The same if the two are told apart, in [`SURE`] rounds or more.
    pub(super) fn surely_over(
        &self,
        row: &AllocatorResult,
        other: &AllocatorResult,
    ) -> Option<f64> {
        let ratio = self.over(row, other)?;
        let rounds = (self.rounds)(row)?.len().min((self.rounds)(other)?.len());
        let is_apart = ratio.min > 1.0 || ratio.max < 1.0;
        (is_apart && rounds >= SURE).then_some(ratio.median)
    }
}

/// The allocators by their times.
pub(super) struct Race<'a> {
    /// Those that are not told apart from the one with the least median, which comes first.
    pub(super) first: Vec<&'a AllocatorResult>,
    /// The next one, and its time over the first's, if it was taken round by round.
    pub(super) next: Option<(&'a AllocatorResult, Option<Ratio>)>,
    /// The time of the first over the baseline's, if that was measured.
    pub(super) over_baseline: Option<f64>,
    /// The rounds of the first.
    pub(super) rounds: usize,
}

impl<'a> Race<'a> {
    /// The fastest, if [`SURE`] rounds or more say so.
    pub(super) fn sure_winner(&self) -> Option<&'a AllocatorResult> {
        match self.first.as_slice() {
            [only] if self.rounds >= SURE => Some(only),
            _ => None,
        }
    }
}

/// Ranks the rows by a time; `None` if none was timed.
pub(super) fn race<'a>(rows: &'a [AllocatorResult], clock: &Clock) -> Option<Race<'a>> {
    let mut timed: Vec<_> = rows
        .iter()
        .filter_map(|row| Some((row, clock.time(row)?)))
        .collect();
    timed.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let (best, _) = *timed.first()?;
    let is_slower = |row| clock.over(row, best).is_some_and(|ratio| ratio.min > 1.0);
    let (tied, rest): (Vec<_>, Vec<_>) = timed
        .iter()
        .map(|(row, _)| *row)
        .partition(|row| std::ptr::eq(*row, best) || !is_slower(row));
    let mut first = tied;
    // in the order of the table
    first[1..].sort_by_key(|row| rows.iter().position(|other| std::ptr::eq(other, *row)));
    Some(Race {
        next: rest.first().map(|row| (*row, clock.over(row, best))),
        first,
        over_baseline: (clock.ratio)(best).map(|ratio| ratio.median),
        rounds: (clock.rounds)(best).map_or(0, <[f64]>::len),
    })
}
