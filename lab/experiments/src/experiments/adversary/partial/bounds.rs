//! What is known here of heaps that may move at most 1/c of the words that were allocated so far.
//!
//! ```text
//! enough   (c + 1)M words, for c ≥ 1, derived below; or Robson's bound, which some heap attains that never moves
//! needed   what the best thinning program needs at W = (phases + 1)·M/c moved words: its theorem
//! ```
//!
//! # Enough: (c + 1)M words
//! A heap places each object at its end; when there is no room there, it slides all live objects to
//! its beginning. Let a request for s words make it slide, with L words live, L + s ≤ M. Let a be
//! the words that were allocated since it slid last, when at most M − 1 words were live, since a
//! request came on top. The end was at most at M − 1 + a then, and s words more do not fit: a > cM
//! − s + 1. It moves at most L ≤ M − s words, and c·L ≤ cM − s < a for c ≥ 1. So each slide is paid
//! for by what was allocated since the last one, and afterwards L + s ≤ M words fit. ∎
//!
//! # What the papers say
//! Bendersky and Petrank (2011, 2012) give the first lower and upper bounds; Cohen and Petrank
//! (2013,
//! 2017) stronger ones, which their abstract calls strong enough to be meaningful for modern
//! systems. Their theorems could not be sourced: only the abstracts are. So neither is quoted or
//! drawn here.
#![deny(unsafe_code)]

use super::super::program::Robson;
use super::thinning::{MOST_PHASES, Phase, Thinning};

/// Words that are enough for some heap that moves at most 1/c of the words allocated, c ≥ 1, for
/// programs of at most M words live in objects of 1, 2, 4, … n words.
pub(super) fn enough(robson: Robson, c: f64) -> f64 {
    let sliding = (c + 1.0) * robson.live as f64;
    sliding.min(robson.bound() as f64)
}

/// The thinning program that needs most words of a heap that moves at most 1/c of the words that
/// it allocates, and these words; `None` if every one needs M only.
pub(super) fn needed(robson: Robson, c: f64) -> Option<(Thinning, f64)> {
    let value = |program: &Thinning| program.bound(program.most_allocated() as f64 / c);
    let all = programs(robson).map(|program| (program, value(&program)));
    all.filter(|(_, words)| *words > robson.live as f64)
        .max_by(|one, other| one.1.total_cmp(&other.1))
}

/// The shares of M that stay live in a phase are tried in steps of 1/24.
const SHARES: u64 = 24;

/// Programs whose phases are alike: chunks of 2^a sizes, new objects of 2^b chunks.
fn programs(robson: Robson) -> impl Iterator<Item = Thinning> {
    let phases = 1..=MOST_PHASES as u32;
    let shapes = phases.flat_map(|count| {
        let first = (2..=7).map(move |a| (count, a));
        let of_b = first.flat_map(|(count, first)| (1..=5).map(move |b| (count, first, b)));
        of_b.flat_map(|(count, first, b)| {
            // a later chunk matters only if there is a later phase
            let later = if count > 1 { 2..=5 } else { 2..=2 };
            later.map(move |a| (count, first, a, b))
        })
    });
    let fitting = shapes.filter(move |(count, first, a, b)| {
        first + (count - 1) * a + count * b <= robson.log2_largest
    });
    fitting.flat_map(move |shape| {
        (1..SHARES).filter_map(move |share| alike(robson.live, shape, share))
    })
}

/// The program of such phases in which about `share`/24 of M stays live in each.
fn alike(live: u64, shape: (u32, u32, u32, u32), share: u64) -> Option<Thinning> {
    let (count, first, a, b) = shape;
    let (mut phases, mut largest, mut program) = (Vec::new(), 1, None);
    let mut spanned = live as f64;
    for number in 0..count {
        let chunk = largest << if number == 0 { first } else { a };
        let of_live = live as f64 * share as f64 / SHARES as f64;
        let keep = (of_live / spanned * chunk as f64) as u64;
        let falling = phases.last().map_or(keep, |before: &Phase| {
            keep.min(before.keep * (chunk / before.chunk))
        });
        phases.push(Phase {
            chunk,
            keep: falling.max(largest),
            size: chunk << b,
        });
        largest = chunk << b;
        program = Some(Thinning::new(live, &phases)?);
        spanned = program.map_or(spanned, |program| program.bound(0.0));
    }
    program
}

#[cfg(test)]
mod tests {
    use super::{enough, needed};
    use crate::experiments::adversary::program::Robson;

    const LARGE: Robson = Robson {
        live: 1 << 28,
        log2_largest: 20,
    };

    #[test]
    fn less_compaction_needs_more_and_never_more_than_is_enough() {
        for robson in [
            LARGE,
            Robson {
                live: 8192,
                log2_largest: 8,
            },
        ] {
            let mut before = robson.live as f64;
            for c in [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0, 1e12] {
                let needed = needed(robson, c).map_or(robson.live as f64, |(_, words)| words);
                assert!(needed >= before, "{robson:?}, c = {c}");
                assert!(needed <= enough(robson, c), "{robson:?}, c = {c}");
                before = needed;
            }
            assert!(before > 1.5 * robson.live as f64, "{robson:?}");
        }
    }

    #[test]
    fn enough_is_the_less_of_sliding_and_robson() {
        let robson = Robson {
            live: 8192,
            log2_largest: 8,
        };
        assert_eq!(enough(robson, 1.0), 16384.0);
        assert_eq!(enough(robson, 100.0), 40705.0);
    }

    #[test]
    fn at_practical_sizes_a_tenth_is_not_enough_to_move() {
        let times = |c| needed(LARGE, c).map(|(_, words)| words / LARGE.live as f64);
        assert_eq!(times(4.0), None, "nothing above M is shown for a quarter");
        assert!(times(10.0).is_some_and(|times| times > 1.0));
        assert!(times(100.0).is_some_and(|times| times > 2.0));
    }
}
