//! Who is fastest, and how sure that is.
//!
//! # The rule
//! Two allocators are told apart if the ratio of their times, taken round by round, is on one side
//! of 1 in every round. The one with the least median is fastest if it is told apart from all
//! others; those that it is not told apart from share the place with it, and nobody is called
//! fastest. Fewer than [`SURE`] rounds are named. Without rounds, figures closer than
//! [`EQUAL`] count as equal.

use surefit_measure::ratio::Ratio;
use surefit_measure::results::AllocatorResult;

/// Figures closer than this count as equal.
pub(super) const EQUAL: f64 = 1.01;

/// Fewer rounds than this are said.
pub(super) const SURE: usize = 3;

/// The allocators by their times.
pub(super) struct Race<'a> {
    /// Those that are not told apart from the one with the least median, which comes first.
    pub(super) first: Vec<&'a AllocatorResult>,
    /// The next one, and its time over the first's, if it was taken round by round.
    pub(super) next: Option<(&'a AllocatorResult, Option<Ratio>)>,
    /// The time of the first: its ratio to the baseline, or nanoseconds.
    pub(super) time: f64,
    /// The rounds of the first.
    pub(super) rounds: usize,
}

/// A time: as the table has it, unless the baseline was not measured.
pub(super) fn time(row: &AllocatorResult) -> Option<f64> {
    let ratio = row.ratio_to_baseline.map(|ratio| ratio.median);
    ratio.or(row.pair_ns_mean)
}

/// Ranks the rows by time; `None` if none was timed.
pub(super) fn race(rows: &[AllocatorResult]) -> Option<Race<'_>> {
    let mut timed: Vec<_> = rows
        .iter()
        .filter_map(|row| Some((row, time(row)?)))
        .collect();
    timed.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let (best, least) = *timed.first()?;
    let (tied, rest): (Vec<_>, Vec<_>) = timed
        .iter()
        .partition(|(row, time)| std::ptr::eq(*row, best) || !is_slower(row, *time, best, least));
    let mut first: Vec<_> = tied.into_iter().map(|(row, _)| row).collect();
    // in the order of the table
    first[1..].sort_by_key(|row| rows.iter().position(|other| std::ptr::eq(other, *row)));
    Some(Race {
        next: rest.first().map(|(row, _)| (*row, over(row, best))),
        first,
        time: least,
        rounds: best.pair_ns_rounds.as_ref().map_or(0, Vec::len),
    })
}

/// The time of one over another's, round by round.
pub(super) fn over(row: &AllocatorResult, best: &AllocatorResult) -> Option<Ratio> {
    let (own, base) = (row.pair_ns_rounds.as_ref()?, best.pair_ns_rounds.as_ref()?);
    Ratio::round_by_round(own, base)
}

fn is_slower(row: &AllocatorResult, time: f64, best: &AllocatorResult, least: f64) -> bool {
    match over(row, best) {
        Some(ratio) => ratio.min > 1.0,
        None => time > least * EQUAL,
    }
}
