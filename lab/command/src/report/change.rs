//! Whether a change helped: the figures of one allocator before and after, and what may be said of
//! them.
//!
//! - What is counted differs if it differs by more than 1 %.
//! - A time differs only if the rounds of the two do not overlap: the slowest round of the one is
//!   faster than the fastest of the other. With fewer than three rounds on a side nothing is said.

use surefit_measure::ratio::Ratio;
use surefit_measure::results::{AllocatorResult, TraceResults};
use surefit_measure::sizes::Size;

/// Counted figures closer than this count as equal.
const EQUAL: f64 = 1.01;

/// With fewer rounds, a time says nothing about a difference.
const LEAST_ROUNDS: usize = 3;

/// What may be said of two figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// B is less.
    Less,
    /// B is more.
    More,
    /// They are equal, or nearly so.
    Same,
    /// The rounds overlap.
    NotSeen,
    /// Too few rounds.
    TooFew,
}

impl Verdict {
    /// In words.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Less => "less",
            Self::More => "more",
            Self::Same => "the same",
            Self::NotSeen => "no difference seen",
            Self::TooFew => "too few rounds",
        }
    }
}

/// One figure before and after.
#[derive(Clone, Debug)]
pub(super) struct Change {
    /// What it is.
    pub(super) figure: &'static str,
    /// Before, and after, in words.
    pub(super) words: [String; 2],
    /// Before, and after.
    pub(super) values: [f64; 2],
    /// After over before: the median, and the ends if there are rounds.
    pub(super) ratio: Ratio,
    /// What may be said.
    pub(super) verdict: Verdict,
}

/// The changes of an allocator from one trace or result to another. `same_baseline` says whether
/// both were compared with the same one, which is not this allocator.
pub(super) fn of(
    (a, a_row): (&TraceResults, &AllocatorResult),
    (b, b_row): (&TraceResults, &AllocatorResult),
    same_baseline: bool,
) -> Vec<Change> {
    let bytes = |figure, of: &dyn Fn(&AllocatorResult) -> Option<u64>| {
        counted(figure, of(a_row)?, of(b_row)?)
    };
    let beyond = |trace: &TraceResults, row: &AllocatorResult| {
        let resident = row.resident_over_time.as_deref()?.iter();
        let most = resident.map(|sample| sample.resident_bytes).max()?;
        Some(most.saturating_sub(trace.peak_live_bytes))
    };
    let ratio = same_baseline.then(|| to_baseline(a_row, b_row)).flatten();
    let changes = [
        bytes("smallest heap", &|row| row.min_heap_bytes),
        bytes("certified", &|row| row.certified_bytes),
        bytes("touched at most", &|row| {
            row.peak_footprint_bytes.or(row.peak_resident_bytes)
        }),
        beyond(a, a_row)
            .zip(beyond(b, b_row))
            .and_then(|(a, b)| counted("resident beyond live", a, b)),
        bytes("moved by compaction", &|row| row.moved_bytes_total),
        timed(a_row, b_row),
        ratio,
    ];
    changes.into_iter().flatten().collect()
}

/// A change of something that is counted in bytes; nothing to say of nothing.
fn counted(figure: &'static str, a: u64, b: u64) -> Option<Change> {
    if a == 0 && b == 0 {
        return None;
    }
    let ratio = b as f64 / a as f64;
    let verdict = match ratio {
        ratio if ratio * EQUAL < 1.0 => Verdict::Less,
        ratio if ratio > EQUAL => Verdict::More,
        _ => Verdict::Same,
    };
    Some(Change {
        figure,
        words: [a, b].map(|bytes| Size(bytes).to_string()),
        values: [a as f64, b as f64],
        ratio: Ratio {
            median: ratio,
            min: ratio,
            max: ratio,
        },
        verdict,
    })
}

/// The time of all calls of the trace, so that a program that makes fewer calls gains.
fn timed(a: &AllocatorResult, b: &AllocatorResult) -> Option<Change> {
    let totals = |row: &AllocatorResult| {
        let pairs = row.mallocs.saturating_add(row.reallocs) as f64;
        let rounds = row.pair_ns_rounds.as_deref()?.iter();
        let rounds: Vec<_> = rounds.map(|ns| ns * pairs).collect();
        Some((Ratio::spread(&rounds)?, rounds.len()))
    };
    let ((a, a_rounds), (b, b_rounds)) = (totals(a)?, totals(b)?);
    let words = [&a, &b].map(|time| {
        let ms = |ns: f64| format!("{:.1}", ns / 1e6);
        format!("{} ms [{}–{}]", ms(time.median), ms(time.min), ms(time.max))
    });
    spread("time of all calls", words, (a, b), a_rounds.min(b_rounds))
}

fn to_baseline(a: &AllocatorResult, b: &AllocatorResult) -> Option<Change> {
    let (from, to) = (a.ratio_to_baseline?, b.ratio_to_baseline?);
    let rounds = |row: &AllocatorResult| row.pair_ns_rounds.as_ref().map_or(0, Vec::len);
    let words = [from, to].map(|ratio| ratio.to_string());
    spread(
        "time ÷ baseline",
        words,
        (from, to),
        rounds(a).min(rounds(b)),
    )
}

/// A change of something that has a spread.
fn spread(
    figure: &'static str,
    words: [String; 2],
    (a, b): (Ratio, Ratio),
    rounds: usize,
) -> Option<Change> {
    let ratio = Ratio {
        median: b.median / a.median,
        min: b.min / a.max,
        max: b.max / a.min,
    };
    let finite = [ratio.median, ratio.min, ratio.max];
    if !finite.into_iter().all(f64::is_finite) {
        return None;
    }
    let verdict = match () {
        () if rounds < LEAST_ROUNDS => Verdict::TooFew,
        () if b.max < a.min => Verdict::Less,
        () if b.min > a.max => Verdict::More,
        () => Verdict::NotSeen,
    };
    Some(Change {
        figure,
        words,
        values: [a.median, b.median],
        ratio,
        verdict,
    })
}

#[cfg(test)]
mod tests {
    use surefit_measure::ratio::Ratio;
    use surefit_measure::results::{AllocatorResult, TraceResults};

    use super::{Change, Verdict, of};

    fn trace() -> TraceResults {
        TraceResults {
            name: "t".to_owned(),
            events: 20,
            objects: 5,
            threads: 1,
            threads_at_once: None,
            recorded_cpu_ns: None,
            timed_events: None,
            peak_live_bytes: 50,
            left_out: None,
            beside_malloc: None,
            rounds: 3,
            ablation: None,
            hinted: None,
            results: Vec::new(),
        }
    }

    fn row(min_heap: u64, rounds: &[f64]) -> AllocatorResult {
        AllocatorResult {
            allocator: "cf".to_owned(),
            mallocs: 1_000_000,
            min_heap_bytes: Some(min_heap),
            pair_ns_rounds: Some(rounds.to_vec()),
            ratio_to_baseline: Ratio::of(rounds),
            ..AllocatorResult::default()
        }
    }

    fn changes(a: &AllocatorResult, b: &AllocatorResult) -> Vec<Change> {
        of((&trace(), a), (&trace(), b), true)
    }

    fn verdict(changes: &[Change], figure: &str) -> Option<Verdict> {
        let found = changes.iter().find(|change| change.figure == figure);
        found.map(|change| change.verdict)
    }

    #[test]
    fn counted_bytes_differ_by_more_than_a_hundredth() {
        let before = row(1000, &[]);
        for (after, expected) in [
            (1000, Verdict::Same),
            (1009, Verdict::Same),
            (1011, Verdict::More),
            (991, Verdict::Same),
            (989, Verdict::Less),
        ] {
            let changes = changes(&before, &row(after, &[]));
            assert_eq!(
                verdict(&changes, "smallest heap"),
                Some(expected),
                "{after}"
            );
            assert_eq!(changes.len(), 1, "nothing else was measured: {changes:?}");
        }
    }

    #[test]
    fn a_time_differs_only_if_no_rounds_overlap() {
        let before = row(1, &[100.0, 110.0, 120.0]);
        for (after, expected) in [
            ([90.0, 95.0, 99.0], Verdict::Less),
            ([90.0, 95.0, 101.0], Verdict::NotSeen),
            ([121.0, 130.0, 140.0], Verdict::More),
        ] {
            let changes = changes(&before, &row(1, &after));
            assert_eq!(verdict(&changes, "time of all calls"), Some(expected));
            assert_eq!(verdict(&changes, "time ÷ baseline"), Some(expected));
        }
        let one = changes(&before, &row(1, &[50.0]));
        assert_eq!(verdict(&one, "time of all calls"), Some(Verdict::TooFew));
    }

    #[test]
    fn a_program_that_makes_fewer_calls_gains_time() {
        let before = row(1, &[100.0, 100.0, 100.0]);
        let after = AllocatorResult {
            mallocs: 500_000,
            ..before.clone()
        };
        let changes = changes(&before, &after);
        let time = changes
            .iter()
            .find(|change| change.figure == "time of all calls");
        let time = time.expect("timed");
        assert_eq!((time.ratio.median, time.verdict), (0.5, Verdict::Less));
        assert_eq!(time.words[0], "100.0 ms [100.0–100.0]");
    }

    #[test]
    fn what_only_one_has_is_no_change() {
        let none = AllocatorResult::default();
        assert!(changes(&none, &row(5, &[1.0, 1.0, 1.0])).is_empty());
        let zero = row(0, &[0.0, 0.0, 0.0]);
        assert!(changes(&zero, &zero).is_empty());
    }
}
