//! A claim for each configuration and column, from plain figures.
//!
//! ```text
//! points     those of every sweep in which the claimed expression changes: counted over claimed; 1 is as claimed; one of
//!            these sweeps is over three decades at least
//! flat       every other sweep over three decades: the counted figure is O(1) in its parameter, and so are instructions
//! level      a sweep in which the expression grows tenfold, and the counted figure not at all
//! ```
//! Instructions see what takes no lock and copies nothing, such as a search of lists. They say so
//! only where they grow: few calls are sampled, so that which of them opens a page is chance.
#![deny(unsafe_code)]

use crate::kit::Claim;
use crate::shared::growth::{Exponent, is_constant, spans};

use super::sweep::{CONFIGURATIONS, Column, Parameter, Probed};

/// An expression that grows by this factor over a sweep cannot be met by a figure that does not
/// grow.
const TENFOLD: f64 = 10.0;

/// An expression changes over a sweep if its greatest value is this many times its least.
const CHANGES: f64 = 1.05;

/// What was counted at one point, and what the expression is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) parameter: Parameter,
    pub(super) value: f64,
    pub(super) counted: f64,
    pub(super) instructions: Option<f64>,
    pub(super) claimed: f64,
}

/// How a counted figure grows with what is claimed.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    /// The exponent over the claimed expression; `None` if that never changes, or too few points.
    pub(super) exponent: Option<Exponent>,
    /// The points of it.
    pub(super) points: usize,
    /// The sweeps in which the expression does not change, and whether the figure is O(1) there.
    pub(super) flat: Vec<(Parameter, Option<bool>)>,
    /// The sweeps in which the expression grows tenfold, and the figure not at all.
    level: Vec<Parameter>,
}

/// The points of one configuration and column.
pub(super) fn points(probed: &[Probed], configuration: usize, column: Column) -> Vec<Point> {
    let of_it = probed
        .iter()
        .filter(|one| one.configuration == configuration);
    let points = of_it.map(|one| Point {
        parameter: one.parameter,
        value: f64::from(one.value),
        counted: one.counted(column),
        instructions: one.instructions(column),
        claimed: one.claimed(column),
    });
    points.collect()
}

impl Judged {
    /// Fits the points.
    pub(super) fn of(points: &[Point]) -> Self {
        let (mut over, mut flat, mut level) = (Vec::new(), Vec::new(), Vec::new());
        let mut is_wide = false;
        for parameter in Parameter::ALL {
            let sweep: Vec<_> = points
                .iter()
                .filter(|point| point.parameter == parameter)
                .collect();
            let counted: Vec<_> = sweep
                .iter()
                .map(|point| (point.value, point.counted))
                .collect();
            let claimed = sweep.iter().map(|point| point.claimed);
            let most = claimed.clone().fold(0.0, f64::max);
            let least = claimed.fold(f64::INFINITY, f64::min);
            if most > CHANGES * least {
                is_wide |= spans(&counted);
                if most >= TENFOLD * least && is_constant(&counted) == Some(true) {
                    level.push(parameter);
                }
                over.extend(sweep.iter().map(|point| (point.claimed, point.counted)));
            } else if !sweep.is_empty() && parameter != Parameter::Page {
                let instructions = sweep
                    .iter()
                    .map(|point| Some((point.value, point.instructions?)));
                let instructions: Vec<_> = instructions.flatten().collect();
                let grows = is_constant(&instructions) == Some(false);
                let is_flat = is_constant(&counted);
                flat.push((parameter, if grows { Some(false) } else { is_flat }));
            }
        }
        Self {
            exponent: Exponent::over(&over).filter(|_| is_wide),
            points: over.len(),
            flat,
            level,
        }
    }

    /// Whether the figure grows as claimed, in every sweep. `is_at_rest`: a part of the expression
    /// is for moves in flight, and there were none; then a figure that grows slower decides
    /// nothing.
    fn holds(&self, is_at_rest: bool) -> Option<bool> {
        if self.flat.iter().any(|(_, is_flat)| *is_flat == Some(false)) {
            return Some(false);
        }
        if !self.level.is_empty() {
            return (!is_at_rest).then_some(false);
        }
        let is_flat = self.flat.iter().all(|(_, is_flat)| is_flat.is_some());
        let is_as_claimed = match self.exponent {
            None => self.points == 0 && !self.flat.is_empty(),
            Some(exponent) if exponent.is_above(1.0) => return Some(false),
            Some(exponent) if exponent.contains(1.0) => true,
            Some(_) => return (!is_at_rest).then_some(false),
        };
        (is_flat && is_as_claimed).then_some(true)
    }

    /// The parameters in which the expression does not change, by what the figure does there.
    pub(super) fn letters(&self, is_flat: Option<bool>) -> String {
        let those = self.flat.iter().filter(|(_, found)| *found == is_flat);
        let letters: Vec<_> = those.map(|(parameter, _)| parameter.letter()).collect();
        letters.join(" ")
    }

    fn words(&self) -> String {
        let mut parts = Vec::new();
        if let Some(exponent) = self.exponent {
            parts.push(format!(
                "exponent over the expression {exponent}, {} points",
                self.points
            ));
        }
        for (found, words) in [
            (Some(true), "O(1) in"),
            (Some(false), "grows with"),
            (None, "undecided in"),
        ] {
            let letters = self.letters(found);
            if !letters.is_empty() {
                parts.push(format!("{words} {letters}"));
            }
        }
        if !self.level.is_empty() {
            let letters: Vec<_> = self.level.iter().map(|one| one.letter()).collect();
            parts.push(format!(
                "does not grow with {}, where the expression grows tenfold",
                letters.join(" ")
            ));
        }
        parts.join("; ")
    }
}

/// Whether a configuration's figure grows as claimed.
pub(super) fn claim(points: &[Point], configuration: usize, column: Column) -> Claim {
    let judged = Judged::of(points);
    let (name, what) = (CONFIGURATIONS[configuration].0, column.name());
    let (papers, expression) = (
        column.papers(configuration),
        column.without_waiting(configuration),
    );
    let waiting = if papers == expression {
        ""
    } else {
        ", without waiting for a lock,"
    };
    let is_at_rest = column.has_transient(configuration);
    let rest = if is_at_rest {
        "; the nπ in the expression is for moves in flight, and between two calls there are none: a figure that grows \
         slower is not comparable"
    } else {
        "; a figure that grows slower does not hold either"
    };
    Claim::that(format!("{name}: {what}{waiting} is {expression}"))
        .of("complexity")
        .papers(papers)
        .ours(judged.words())
        .decide(
            judged.holds(is_at_rest),
            format!(
                "the exponent of the counted figure over the claimed expression has 1 in its interval at 95 %, the figure \
                 grows in every sweep in which the expression grows tenfold, and it, and where valgrind counts them the \
                 instructions of sampled calls, are O(1) in every parameter with which the expression does not change{rest}"
            ),
        )
}

#[cfg(test)]
mod tests {
    use super::{Column, Judged, Parameter, Point, claim};
    use crate::kit::Verdict;

    /// Points of a sweep: counted and claimed as functions of the parameter.
    fn sweep(parameter: Parameter, counted: fn(f64) -> f64, claimed: fn(f64) -> f64) -> Vec<Point> {
        let values = parameter.values().iter().copied().map(f64::from);
        let points = values.map(|value| Point {
            parameter,
            value,
            counted: counted(value),
            instructions: None,
            claimed: claimed(value),
        });
        points.collect()
    }

    /// The same points with instructions as a function of the parameter.
    fn with_instructions(sweep: Vec<Point>, of: fn(f64) -> f64) -> Vec<Point> {
        let with = |point: Point| Point {
            instructions: Some(of(point.value)),
            ..point
        };
        sweep.into_iter().map(with).collect()
    }

    fn verdict(points: &[Vec<Point>], configuration: usize, column: Column) -> Verdict {
        claim(&points.concat(), configuration, column).verdict
    }

    const SAME: fn(f64) -> f64 = |_| 4.0;
    const WORDS: fn(f64) -> f64 = |value| 4.0 + value / 8.0;

    #[test]
    fn constant_work_holds_only_while_nothing_grows() {
        let flat = sweep(Parameter::Threads, SAME, SAME);
        let grows = sweep(Parameter::Live, WORDS, SAME);
        let log = sweep(Parameter::Live, |m| 40.0 * m.ln(), SAME);
        let of = |sweeps: &[Vec<Point>]| verdict(sweeps, 2, Column::Malloc);
        assert_eq!(of(std::slice::from_ref(&flat)), Verdict::Holds);
        assert_eq!(of(&[flat.clone(), grows]), Verdict::DoesNot);
        assert_eq!(of(&[flat.clone(), log]), Verdict::DoesNot);
        let few = flat[..4].to_vec();
        assert_eq!(of(&[few]), Verdict::NotComparable);
        assert_eq!(of(&[]), Verdict::NotComparable);
    }

    #[test]
    fn linear_work_holds_only_while_it_is_linear() {
        let flat = sweep(Parameter::Threads, SAME, SAME);
        let of = |counted| {
            let grown = sweep(Parameter::BlockBytes, counted, WORDS);
            verdict(&[flat.clone(), grown], 3, Column::Free)
        };
        assert_eq!(of(|beta| 5.0 + beta / 8.0), Verdict::Holds);
        assert_eq!(of(|beta| 4.0 + beta * beta), Verdict::DoesNot);
        assert_eq!(of(SAME), Verdict::DoesNot);
        assert_eq!(of(|beta| 4.0 + beta.sqrt()), Verdict::DoesNot);
        let few = sweep(Parameter::BlockBytes, WORDS, WORDS)[..4].to_vec();
        assert_eq!(verdict(&[few], 3, Column::Free), Verdict::NotComparable);
    }

    /// As printed before: malloc was locks, at least four, and bytes copied; a search of lists
    /// takes no lock and copies nothing.
    #[test]
    fn a_search_of_lists_is_seen() {
        let of = |instructions| {
            let sweep = sweep(Parameter::Live, SAME, SAME);
            verdict(&[with_instructions(sweep, instructions)], 2, Column::Malloc)
        };
        assert_eq!(of(|_| 180.0), Verdict::Holds);
        assert_eq!(of(|m| 180.0 + 3.0 * m), Verdict::DoesNot);
        assert_eq!(of(|m| 180.0 + 12.0 * m.ln()), Verdict::DoesNot);
        // a page that was opened by chance
        assert_eq!(
            of(|m| if m > 6000.0 { 320.0 } else { 180.0 }),
            Verdict::Holds
        );
    }

    /// As printed before: the fragmentation of 1-CF(κ,ι) "held" at .85 [.44, 1.26], over sweeps of
    /// β and κ, with six holes for every n.
    #[test]
    fn a_line_that_is_flat_beside_the_claimed_slope_is_none() {
        let grows = sweep(
            Parameter::Kappa,
            |kappa| 744.0 * kappa,
            |kappa| 744.0 * kappa + 2000.0,
        );
        let flat = sweep(Parameter::Threads, |_| 6.0 * 248.0, |n| 992.0 * n + 1488.0);
        let both = [grows.clone(), flat];
        assert_eq!(
            verdict(&both, 4, Column::Fragmentation),
            Verdict::NotComparable
        );
        assert_eq!(verdict(&both, 3, Column::Fragmentation), Verdict::DoesNot);
        let rises = sweep(Parameter::Threads, |n| 900.0 * n, |n| 992.0 * n + 1488.0);
        let both = [grows, rises];
        assert_eq!(verdict(&both, 4, Column::Fragmentation), Verdict::Holds);
    }

    #[test]
    fn a_claim_about_moves_in_flight_needs_some() {
        let of = |counted, configuration| {
            let grown = sweep(Parameter::Threads, counted, |n| 16.0 * n);
            verdict(&[grown], configuration, Column::Fragmentation)
        };
        assert_eq!(of(SAME, 4), Verdict::NotComparable);
        assert_eq!(of(SAME, 3), Verdict::DoesNot);
        assert_eq!(of(|n| 16.0 * n, 4), Verdict::Holds);
        assert_eq!(of(|n| n * n, 4), Verdict::DoesNot);
    }

    #[test]
    fn the_words_name_what_was_found() {
        let points = [
            sweep(Parameter::Threads, SAME, SAME),
            sweep(Parameter::BlockBytes, WORDS, WORDS),
        ];
        let claim = claim(&points.concat(), 1, Column::Free);
        assert_eq!(
            claim.ours,
            "exponent over the expression 1.00 [1.00, 1.00], 5 points; O(1) in n"
        );
        assert!(claim.claim.contains("without waiting") && claim.papers_figure == "O(n+β)");
        assert_eq!(Judged::of(&[]).letters(None), "");
    }
}
