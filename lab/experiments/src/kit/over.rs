//! One verdict over several programs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use surefit_measure::results::Ratio;

use super::verdict::Verdict;

/// What one program says about a claim.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OnProgram {
    /// The program.
    pub(crate) name: String,
    /// Whether the claim holds on it; absent if it decides nothing.
    pub(crate) test: Option<bool>,
    /// The ratio that the claim is about, if it is about one: it enters the geometric mean.
    pub(crate) ratio: Option<Ratio>,
    /// What was found, in words.
    pub(crate) shown: String,
}

impl OnProgram {
    /// A program that shows a ratio over rounds, or one counted ratio.
    pub(crate) fn timed(
        name: impl Into<String>,
        test: impl Into<Option<bool>>,
        rounds: &[f64],
    ) -> Self {
        let ratio = Ratio::of(rounds);
        let shown = match (ratio, rounds) {
            (Some(_), [one]) => format!("{one:.2}"),
            (ratio, _) => surefit_measure::ratio::or_not_measured(ratio),
        };
        Self {
            name: name.into(),
            test: test.into(),
            ratio,
            shown,
        }
    }
}

/// Holds if it holds on every program that decides it, does not if it holds on none, else holds on
/// m of n; not comparable if no program decides it.
pub(super) fn verdict(programs: &[OnProgram]) -> Verdict {
    let decided: Vec<_> = programs.iter().filter_map(|on| on.test).collect();
    let holds = decided.iter().filter(|holds| **holds).count();
    match (holds, decided.len()) {
        (_, 0) => Verdict::NotComparable,
        (0, _) => Verdict::DoesNot,
        (holds, of) if holds == of => Verdict::Holds,
        (holds, of) => Verdict::HoldsOn {
            programs: holds as u32,
            of: of as u32,
        },
    }
}

/// On how many programs it holds, the geometric mean of their ratios, and what each one shows.
pub(super) fn words(programs: &[OnProgram]) -> String {
    let decided = programs.iter().filter_map(|on| on.test);
    let (holds, of) = decided.fold((0, 0), |(holds, of), test| {
        (holds + u32::from(test), of + 1)
    });
    let mut parts = vec![format!("{holds} of {of} programs")];
    if let Some(mean) = geometric_mean(programs) {
        parts.push(format!("geometric mean {mean:.2}"));
    }
    parts.extend(programs.iter().map(|on| {
        let word = match on.test {
            Some(true) => "",
            Some(false) => " (does not)",
            None => " (not comparable)",
        };
        format!("{} {}{word}", on.name, on.shown)
    }));
    parts.join("; ")
}

/// The geometric mean of the medians of the ratios; `None` if no program has one that is positive.
fn geometric_mean(programs: &[OnProgram]) -> Option<f64> {
    let ratios = programs.iter().filter_map(|on| on.ratio);
    let logarithms: Vec<_> = ratios.map(|ratio| ratio.median.ln()).collect();
    let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
    mean.is_finite().then(|| mean.exp())
}

#[cfg(test)]
mod tests {
    use super::{OnProgram, Verdict, geometric_mean, verdict, words};

    fn on(test: Option<bool>, rounds: &[f64]) -> OnProgram {
        OnProgram::timed("p", test, rounds)
    }

    #[test]
    fn programs_that_decide_nothing_do_not_count() {
        let verdicts = [
            vec![Some(true), None, Some(true)],
            vec![Some(false), None],
            vec![Some(true), Some(false), None],
            vec![None],
            vec![],
        ]
        .map(|tests| verdict(&tests.iter().map(|test| on(*test, &[])).collect::<Vec<_>>()));
        let some = Verdict::HoldsOn { programs: 1, of: 2 };
        let (yes, no, none) = (Verdict::Holds, Verdict::DoesNot, Verdict::NotComparable);
        assert_eq!(verdicts, [yes, no, some, none, none]);
    }

    #[test]
    fn the_mean_is_geometric_and_of_what_was_measured() {
        let programs = [
            on(Some(true), &[8.0]),
            on(Some(false), &[1.0, 2.0, 3.0]),
            on(None, &[]),
        ];
        let mean = geometric_mean(&programs).expect("two ratios");
        assert!((mean - 4.0).abs() < 1e-9, "{mean}");
        assert_eq!(geometric_mean(&programs[2..]), None);
        assert_eq!(
            words(&programs),
            "1 of 2 programs; geometric mean 4.00; p 8.00; p 2.00 [1.00-3.00] (does not); \
             p not measured (not comparable)"
        );
    }
}
