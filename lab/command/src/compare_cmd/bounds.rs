//! `--assert`: bounds on the figures of a comparison, for continuous integration.

use std::str::FromStr;

use anyhow::{Result, anyhow, bail};
use surefit_measure::error::{Broken, one_line};
use surefit_measure::judged::Asserted;
use surefit_measure::results::{Comparison, TraceResults};
use surefit_measure::sizes::counted;
use surefit_measure::spec::{Spec, is_called, place_of};

use super::expression::{self, Sum};
use super::figures::{Figure, Needs, Row, Unit, shown};

/// A bound that a user sets.
#[derive(Debug)]
pub(super) struct Bound {
    /// The trace that it is about; all of them if it names none.
    trace: Option<String>,
    comparisons: Vec<expression::Comparison>,
    text: String,
}

impl FromStr for Bound {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (trace, rest) = match text.rsplit_once(": ") {
            Some((trace, rest)) => (Some(trace.trim().to_owned()), rest),
            None => (None, text),
        };
        let comparisons =
            expression::parse(rest).map_err(|why| anyhow!("--assert '{text}': {why}"))?;
        Ok(Self {
            trace,
            comparisons,
            text: text.to_owned(),
        })
    }
}

/// A bound on one trace: as JSON, and in words if it does not hold.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) asserted: Asserted,
    words: String,
}

impl Bound {
    /// Refuses names of allocators that are not compared, and figures that will not be measured.
    ///
    /// # Errors
    /// One line that names the bound and the remedy.
    pub(super) fn vet(&self, specs: &[Spec], is_asked_for: impl Fn(Needs) -> bool) -> Result<()> {
        let mut wrong = None;
        self.each_figure(&mut |allocator, figure| {
            let is_known = specs.iter().any(|spec| is_called(spec.as_str(), allocator));
            if !is_known {
                wrong = wrong.take().or_else(|| Some(unknown(specs, allocator)));
            } else if let Some(option) = figure.needs.option() {
                if !is_asked_for(figure.needs) {
                    wrong = wrong
                        .take()
                        .or_else(|| Some(format!("{} is not measured: add {option}", figure.name)));
                }
            }
        });
        match wrong {
            Some(why) => bail!("--assert '{}': {why}", self.text),
            None => Ok(()),
        }
    }

    /// Refuses a trace that is not among those compared.
    ///
    /// # Errors
    /// One line that names the bound and the traces.
    pub(super) fn vet_trace(&self, names: &[&str]) -> Result<()> {
        match &self.trace {
            Some(trace) if !names.contains(&trace.as_str()) => bail!(
                "--assert '{}': there is no trace `{trace}`; the traces are {}",
                self.text,
                one_line(&names.join(", "))
            ),
            _ => Ok(()),
        }
    }

    fn each_figure(&self, then: &mut impl FnMut(&str, &'static Figure)) {
        for comparison in &self.comparisons {
            comparison.left.each_figure(then);
            comparison.right.each_figure(then);
        }
    }

    /// The comparisons on a trace; none if the bound is about another one.
    fn judge(&self, trace: &TraceResults) -> Result<Vec<Judged>> {
        if self.trace.as_ref().is_some_and(|name| *name != trace.name) {
            return Ok(Vec::new());
        }
        let figure = |allocator: &str, figure: &'static Figure| {
            let names = trace.results.iter().map(|row| row.allocator.as_str());
            let names: Vec<_> = names.collect();
            let row = place_of(&names, allocator).map(|place| &trace.results[place]);
            let row = row.and_then(|row| Row::find(trace, &row.allocator));
            let row = row.ok_or_else(|| anyhow!("{allocator} was not compared"))?;
            (figure.of)(&row).ok_or_else(|| {
                let why = match row.own.completed {
                    true => "it has none",
                    false => "it did not complete",
                };
                let name = figure.name;
                anyhow!(
                    "{}: {allocator}.{name} was not measured: {why}",
                    one_line(&trace.name)
                )
            })
        };
        let judge = |comparison: &expression::Comparison| -> Result<Judged> {
            let context = |why| anyhow!("--assert '{}': {why}", self.text);
            let left = comparison.left.value(&figure).map_err(context)?;
            let right = comparison.right.value(&figure).map_err(context)?;
            Ok(self.judged(comparison, trace, (left, right)))
        };
        self.comparisons.iter().map(judge).collect()
    }

    fn judged(
        &self,
        comparison: &expression::Comparison,
        trace: &TraceResults,
        (left, right): (f64, f64),
    ) -> Judged {
        let sign = comparison.relation.sign();
        let sides = (side(&comparison.left, left), side(&comparison.right, right));
        let name = one_line(&trace.name);
        Judged {
            words: format!("{name}: {} is not {sign} {}", sides.0, sides.1),
            asserted: Asserted {
                assertion: self.text.clone(),
                trace: trace.name.clone(),
                value: left,
                relation: sign.to_owned(),
                bound: right,
                unit: unit(&comparison.left).or(unit(&comparison.right)),
                holds: comparison.relation.holds(left, right),
            },
        }
    }
}

/// The unit of a sum; none for counts and ratios.
fn unit(sum: &Sum) -> Option<String> {
    match sum.unit().ok().flatten()? {
        Unit::Bytes => Some("bytes".to_owned()),
        Unit::Nanoseconds => Some("ns".to_owned()),
        Unit::Plain => None,
    }
}

/// A side of a comparison with its value: `cf.min_heap_over_live = 1.213`.
fn side(sum: &Sum, value: f64) -> String {
    let unit = sum.unit().ok().flatten();
    let value = match unit {
        Some(unit) => shown(value, unit),
        None => format!("{value}"),
    };
    match sum {
        Sum::Figure(allocator, figure) => format!("{allocator}.{} = {value}", figure.name),
        _ => value,
    }
}

fn unknown(specs: &[Spec], allocator: &str) -> String {
    let known: Vec<_> = specs.iter().map(Spec::as_str).collect();
    format!(
        "{allocator} is not compared; compared are {}",
        known.join(", ")
    )
}

/// Judges a comparison by all bounds.
///
/// # Errors
/// Bad input: a figure was not measured.
pub(super) fn judge(bounds: &[Bound], comparison: &Comparison) -> Result<Vec<Judged>> {
    let mut judged = Vec::new();
    for trace in &comparison.traces {
        for bound in bounds {
            judged.extend(bound.judge(trace)?);
        }
    }
    Ok(judged)
}

/// Says in words that all bounds hold; nothing if there are none.
///
/// # Errors
/// [`Broken`], in one line, if one does not hold.
pub(super) fn check(bounds: &[Bound], judged: &[Judged]) -> Result<Option<String>> {
    let failed = judged.iter().filter(|it| !it.asserted.holds);
    let failed: Vec<_> = failed.map(|it| it.words.as_str()).collect();
    if failed.is_empty() {
        let holds = |count| format!("{} hold.", counted(count, "bound"));
        let count = bounds
            .iter()
            .map(|bound| bound.comparisons.len() as u64)
            .sum();
        return Ok((count > 0).then(|| match count {
            1 => "The bound holds.".to_owned(),
            count => holds(count),
        }));
    }
    Err(Broken(format!("--assert: {}", failed.join("; "))).into())
}

#[cfg(test)]
mod tests {
    use super::super::tests::comparison;
    use super::{Bound, judge};
    use crate::compare_cmd::figures::Needs;
    use anyhow::Result;
    use surefit_measure::error::status;
    use surefit_measure::results::Comparison;
    use surefit_measure::spec::Spec;

    fn bound(text: &str) -> Bound {
        text.parse().expect("a bound")
    }

    fn check(bounds: &[Bound], comparison: &Comparison) -> Result<Option<String>> {
        super::check(bounds, &judge(bounds, comparison)?)
    }

    #[test]
    fn each_bound_has_its_figures_and_its_unit() {
        let bounds = [
            bound("cf.min_heap_over_live <= 1.05 and 2 * cf.certified_bytes > 1K"),
            bound("small: 10us > tlsf.free_ns_max"),
            bound("other: cf.completed == 0"),
        ];
        let judged = judge(&bounds, &comparison(&[1.0, 1.1, 1.2])).expect("measured");
        let found: Vec<_> = judged
            .iter()
            .map(|it| {
                let it = &it.asserted;
                (
                    it.value,
                    it.relation.as_str(),
                    it.bound,
                    it.unit.as_deref(),
                    it.holds,
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                (1.074, "<=", 1.05, None, false),
                (2500.0, ">", 1024.0, Some("bytes"), true),
                (10_000.0, ">", 12_000.0, Some("ns"), false),
            ]
        );
        assert_eq!(
            judged[2].asserted.assertion,
            "small: 10us > tlsf.free_ns_max"
        );
    }

    #[test]
    fn bounds_that_hold_are_counted() {
        let said = |texts: &[&str]| {
            let bounds: Vec<_> = texts.iter().map(|text| bound(text)).collect();
            check(&bounds, &comparison(&[1.0, 1.1, 1.2])).expect("they hold")
        };
        assert_eq!(said(&[]), None);
        assert_eq!(
            said(&["cf.min_heap_over_live <= 1.10"]).as_deref(),
            Some("The bound holds.")
        );
        let two = [
            "cf.certified_bytes <= 64M and tlsf.free_ns_max < 20us",
            "cf.completed == 1",
        ];
        assert_eq!(said(&two).as_deref(), Some("3 bounds hold."));
    }

    #[test]
    fn a_broken_bound_is_one_line_with_its_figures() {
        let bounds = [
            bound("cf.min_heap_over_live <= 1.05"),
            bound("tlsf.free_ns_max < 10us"),
            bound("cf.time_over_baseline < 1.2 * tlsf.time_over_baseline"),
            bound("other: cf.completed == 0"),
        ];
        let error = check(&bounds, &comparison(&[1.0, 1.1, 1.2])).expect_err("broken");
        assert_eq!(status(&error), 1);
        assert_eq!(
            error.to_string(),
            "--assert: small: cf.min_heap_over_live = 1.074 is not <= 1.05; \
             small: tlsf.free_ns_max = 12.0 us is not < 10.0 us"
        );
    }

    #[test]
    fn what_was_not_measured_is_bad_input() {
        let bounds = [bound("tlsf.certified_bytes <= 1G")];
        let error = check(&bounds, &comparison(&[1.0])).expect_err("not measured");
        assert_eq!(status(&error), 2);
        assert!(
            error
                .to_string()
                .contains("tlsf.certified_bytes was not measured"),
            "{error}"
        );
    }

    #[test]
    fn names_are_vetted_before_anything_is_measured() {
        let specs = Spec::parse_list("cf,tlsf").expect("allocators");
        let vet = |text: &str| bound(text).vet(&specs, |needs| needs != Needs::MinHeap);
        assert!(vet("cf.completed == 1").is_ok());
        let error = vet("dl.completed == 1").expect_err("unknown").to_string();
        assert!(
            error.contains("dl is not compared; compared are cf, tlsf"),
            "{error}"
        );
        let error = vet("cf.min_heap_bytes < 1G")
            .expect_err("not asked for")
            .to_string();
        assert!(error.contains("add --find-min-heap"), "{error}");
        let bound = bound("redis: cf.completed == 1");
        assert!(bound.vet_trace(&["emacs"]).is_err() && bound.vet_trace(&["redis"]).is_ok());
    }
}
