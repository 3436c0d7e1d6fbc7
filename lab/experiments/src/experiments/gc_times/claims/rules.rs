//! What the claims on times have in common: systems, ratios of programs, and tests of them.

use surefit_clients::java::Finds;
use surefit_freelist::When;

use super::super::measure::Measured;
use crate::kit::{OnProgram, Verdict};
use crate::shared::thesis::systems::System;
use surefit_measure::results::Ratio;

/// The thesis says "large heaps" of those in which its curves are flat: from about this multiple of
/// the minimum on (figure 4-1).
pub(super) const LARGE: f64 = 2.0;

/// Factors that the thesis reads off its curves are given to a half. One that is a tenth smaller
/// still rounds to them.
pub(super) const SLACK: f64 = 0.9;

/// Curves that a reader calls the same: they differ by less than a tenth, a line's breadth in the
/// thesis's pictures.
pub(super) const SAME: f64 = 1.1;

/// The thesis's list heads, walked.
pub(super) const fn scan(merges: When) -> System {
    System::thesis(merges, Finds::Scan)
}

/// The thesis's table.
pub(super) const fn with_table(merges: When) -> System {
    System::thesis(merges, Finds::NextHitTable)
}

/// What each program says: ratios round by round, and the test of them.
pub(super) fn on_each(
    found: &[Measured],
    rounds: impl Fn(&Measured) -> Vec<f64>,
    test: impl Fn(Ratio) -> Option<bool>,
) -> Vec<OnProgram> {
    let on = |measured: &Measured| {
        let rounds = rounds(measured);
        let test = Ratio::of(&rounds).and_then(&test);
        OnProgram::timed(measured.name.as_str(), test, &rounds)
    };
    found.iter().map(on).collect()
}

/// Whether a ratio is at most so much, in every round; `None` if rounds disagree.
pub(super) fn is_at_most(ratio: Ratio, most: f64) -> Option<bool> {
    Verdict::reaches(ratio.inverse(), 1.0 / most)
}

/// Whether a ratio is 1 up to [`SAME`], in every round; `None` if rounds disagree.
pub(super) fn is_same(ratio: Ratio) -> Option<bool> {
    match (is_at_most(ratio, SAME), is_at_most(ratio.inverse(), SAME)) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// One list of ratios over another, round by round.
pub(super) fn over(own: &[f64], base: &[f64]) -> Vec<f64> {
    own.iter().zip(base).map(|(own, base)| own / base).collect()
}

/// Large heaps.
pub(super) fn is_large(multiple: f64) -> bool {
    multiple >= LARGE
}
