//! What the paper says of figure 11, beside what was counted.

use super::sampling::GROUPS;
use crate::kit::{Claim, OnProgram};
use crate::shared::programs::{self, StandsFor};
use surefit_measure::ratio::or_not_measured;

/// Means that differ by less than this are the same, in per cent: from one number to the next on
/// the paper's axis of Emacs, 370 k to 420 k in steps of 10 k. It is of figure 10, and the only
/// axis of this program that the documents have; the paper calls a curve that ripples by more of it
/// flat.
const CONSTANT_PERCENT: f64 = 100.0 * 10.0 / 420.0;

/// Not-full pages fuller than this are relatively full: half is what they are if every fill is as
/// likely.
const RELATIVELY_FULL: f64 = 0.5;

/// What was counted of one program.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    /// Its name.
    pub(super) name: String,
    /// Bytes live at once.
    pub(super) live_bytes: u64,
    /// For κ = 1, 3, … ∞.
    pub(super) kappas: Vec<Means>,
}

/// Means over the samples of one κ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Means {
    /// κ=3.
    pub(super) label: &'static str,
    /// Used pages.
    pub(super) pages: f64,
    /// Size-class fragmentation, in kilobytes.
    pub(super) fragmentation_kb: f64,
    /// Fill of the not-full pages of each group of page-block sizes; none if there never was such a
    /// page.
    pub(super) fill: [Option<f64>; GROUPS.len()],
}

/// All claims, each over all programs.
pub(super) fn all(programs: &[Counted]) -> Vec<Claim> {
    vec![
        constant_memory(programs),
        fragmentation_grows(programs),
        small_stay_full(programs),
    ]
}

/// The κ from which the paper's memory is constant, of the program that a trace stands for; of
/// another program the greater of the two.
pub(super) fn papers_constant_from(trace: &str) -> &'static str {
    let of_paper = StandsFor::of(trace).choose("κ=3", "κ=5");
    of_paper.unwrap_or("κ=5")
}

/// One program's part of a claim; a program too small decides nothing.
fn on(counted: &Counted, test: Option<bool>, shown: String) -> OnProgram {
    OnProgram {
        name: counted.name.clone(),
        test: test.filter(|_| programs::is_large(counted.live_bytes)),
        ratio: None,
        shown,
    }
}

/// The rule, and when it decides nothing.
fn because(rule: &str) -> String {
    let large = programs::large_words();
    format!("{rule}; not comparable with fewer bytes live than {large}")
}

/// How far the greatest of some means is above the least, in per cent.
fn spread_percent(means: &[f64]) -> f64 {
    let least = means.iter().copied().fold(f64::INFINITY, f64::min);
    let most = means.iter().copied().fold(0.0, f64::max);
    100.0 * (most / least.max(1e-9) - 1.0)
}

/// The place of the least κ from which on the mean of used pages stays the same.
fn constant_from(means: &[f64]) -> usize {
    let mut places = 0..means.len();
    places
        .find(|&from| spread_percent(&means[from..]) <= CONSTANT_PERCENT)
        .unwrap_or(0)
}

fn constant_memory(programs: &[Counted]) -> Claim {
    let one = |counted: &Counted| {
        let means: Vec<_> = counted.kappas.iter().map(|one| one.pages).collect();
        let claimed = papers_constant_from(&counted.name);
        let limit = counted.kappas.iter().position(|one| one.label == claimed);
        let from = constant_from(&means);
        let words = limit.zip(counted.kappas.get(from)).map(|(limit, from)| {
            let spread = spread_percent(&means[limit..]);
            let label = from.label;
            format!("from {label} (from {claimed} on they differ by {spread:.1} %)")
        });
        on(
            counted,
            limit.map(|limit| from <= limit),
            or_not_measured(words),
        )
    };
    Claim::that("memory is constant for κ ≥ 3 (Emacs), for κ ≥ 5 (Hummingbird)")
        .of("figure 11")
        .papers("from κ=3, from κ=5")
        .ours("mean pages are constant")
        .over(
            programs.iter().map(one).collect(),
            because(&format!(
                "the means of used pages for that κ (other programs: κ=5) and all greater ones, ∞ too, differ by at most \
                 {CONSTANT_PERCENT:.1} %: chosen here for every program: a step of the paper's axis of Emacs (10 k of 420 k, figure 10)"
            )),
        )
}

fn fragmentation_grows(programs: &[Counted]) -> Claim {
    let one = |counted: &Counted| {
        let means: Vec<_> = counted
            .kappas
            .iter()
            .map(|one| one.fragmentation_kb)
            .collect();
        let words: Vec<_> = means.iter().map(|mean| format!("{mean:.0}")).collect();
        let ends = means.first().zip(means.last());
        let test = ends.map(|(first, last)| means.is_sorted_by(|a, b| a <= b) && last > first);
        on(counted, test, words.join(", "))
    };
    Claim::that("size-class fragmentation grows with κ")
        .of("figure 11")
        .papers("the curves of not-full pages")
        .ours("mean kB for κ = 1, 3, … ∞")
        .over(
            programs.iter().map(one).collect(),
            because(
                "its mean over the samples falls nowhere from one κ to the next, and is greater for κ=∞ than for κ=1",
            ),
        )
}

fn small_stay_full(programs: &[Counted]) -> Claim {
    let one = |counted: &Counted| {
        let finite: Vec<_> = counted
            .kappas
            .iter()
            .filter(|one| !["κ=1", "κ=∞"].contains(&one.label))
            .collect();
        let least = |group: usize| {
            let fills = finite
                .iter()
                .filter_map(|one| Some((one.label, one.fill[group]?)));
            fills.min_by(|a, b| a.1.total_cmp(&b.1))
        };
        let small: Vec<_> = [0, 1].into_iter().filter_map(least).collect();
        let test =
            (!small.is_empty()).then(|| small.iter().all(|(_, fill)| *fill > RELATIVELY_FULL));
        let words = GROUPS.iter().enumerate().filter_map(|(group, (name, _))| {
            let (label, fill) = least(group)?;
            Some(format!("{name} {fill:.2} ({label})"))
        });
        on(counted, test, words.collect::<Vec<_>>().join(", "))
    };
    Claim::that("not-full pages of small page-blocks stay relatively full")
        .of("figure 11")
        .papers("stated in words")
        .ours("least mean fill over finite κ > 1")
        .over(
            programs.iter().map(one).collect(),
            because(
                "for every finite κ > 1, not-full pages of page-blocks up to 256 B are on average more than half full",
            ),
        )
}

#[cfg(test)]
mod tests {
    use super::{Counted, Means, all, constant_from};
    use crate::kit::Verdict;

    #[test]
    fn memory_is_constant_from_where_nothing_changes_any_more() {
        assert_eq!(constant_from(&[100.0, 110.0, 120.0, 120.5, 120.0]), 2);
        assert_eq!(constant_from(&[100.0, 102.3, 102.3]), 0);
        assert_eq!(constant_from(&[100.0, 102.5, 102.5]), 1);
        assert_eq!(constant_from(&[100.0, 100.0, 100.0]), 0);
        assert_eq!(constant_from(&[1.0, 2.0, 3.0]), 2);
    }

    /// The verdicts on constant memory, growing fragmentation, and full pages.
    fn verdicts(
        name: &str,
        live_bytes: u64,
        pages: [f64; 4],
        fragmentation: [f64; 4],
        fill: f64,
    ) -> Vec<Verdict> {
        let labels = ["κ=1", "κ=3", "κ=5", "κ=∞"];
        let kappas = labels.iter().enumerate().map(|(at, label)| Means {
            label,
            pages: pages[at],
            fragmentation_kb: fragmentation[at],
            fill: [Some(fill), Some(0.9), None, None],
        });
        let counted = Counted {
            name: name.to_owned(),
            live_bytes,
            kappas: kappas.collect(),
        };
        all(&[counted]).iter().map(|claim| claim.verdict).collect()
    }

    #[test]
    fn verdicts_follow_the_counts() {
        let (holds, does_not) = (Verdict::Holds, Verdict::DoesNot);
        let grown = [100.0, 108.0, 120.0, 120.5];
        let rising = [1.0, 2.0, 2.0, 3.0];
        assert_eq!(
            verdicts("varnish", 200_000_000, grown, rising, 0.6),
            [holds; 3]
        );
        let falling = [1.0, 2.0, 1.5, 3.0];
        assert_eq!(
            verdicts("emacs", 30_000_000, grown, falling, 0.4),
            [does_not; 3]
        );
        let same = [2.0; 4];
        let verdicts_of = |name| verdicts(name, 30_000_000, [100.0; 4], same, 0.6);
        assert_eq!(verdicts_of("emacs"), [holds, does_not, holds]);
    }

    /// As printed before: from the paper's κ on the means of used pages differ by 1.2 % and 1.7 %,
    /// and were not constant.
    #[test]
    fn a_ripple_that_no_reader_of_the_axis_sees_is_none() {
        let verdict = |last: f64| {
            let pages = [100.0, 110.0, 110.0, last];
            verdicts("emacs", 30_000_000, pages, [1.0; 4], 0.6)[0]
        };
        assert_eq!(verdict(110.0 * 1.012), Verdict::Holds);
        assert_eq!(verdict(110.0 * 1.017), Verdict::Holds);
        assert_eq!(verdict(110.0 * 1.05), Verdict::DoesNot);
    }

    #[test]
    fn a_small_program_decides_nothing() {
        let none = [Verdict::NotComparable; 3];
        let small = verdicts("emacs", 1_000_000, [100.0; 4], [1.0; 4], 0.6);
        assert_eq!(small, none);
        let claims = all(&[]);
        assert!(claims.iter().all(|claim| claim.verdict == none[0]));
    }
}
