//! External against internal fragmentation: what finer size-classes save inside of page-blocks and
//! lose between them.
//!
//! ```text
//! internal     page-block-internal and page-internal: fixed by the classes, whatever the bound
//! size-class   free page-blocks of not-full pages: what is external in Compact-fit
//! ```
//! Both at the peak of live bytes, with classes 1/2, 1/4, … apart; without compaction, and with
//! full compaction.
#![deny(unsafe_code)]

use anyhow::Result;
use surefit_compact::{Bound, Config, Geometry, GeometrySpec, Spacing};

use crate::kit::{Axis, Claim, Plot, Report, Request, Series, Table};
use crate::shared::programs;
use surefit_measure::registry::Kind;
use surefit_measure::rounds::in_parallel;
use surefit_measure::single::{Setting, check};
use surefit_measure::sizes::HeapSize;
use surefit_measure::source::Source;
use surefit_measure::spec::Spec;
use surefit_measure::subjects::compact::{Options, Words};

/// The heap as a multiple of the peak: room for what drifts without compaction.
const HEAP: HeapSize = HeapSize::TimesPeak(16.0);

/// Classes in a power of two.
const SPACINGS: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// The bounds: none, and full compaction.
const BOUNDS: [Bound; 2] = [Bound::Unbounded, Bound::Pages(1)];

/// The program: one whose sizes drift, so that there is something to compact; if quick, a synthetic
/// one.
const PROGRAM: &str = "bundled:redis-drift";
const QUICK_PROGRAM: &str = "gen:phase";

/// A finer spacing changes a loss if it does so by this part of the live bytes: less is the size of
/// a page or two.
const CHANGES: f64 = 0.001;

/// Fragmentation at the peak, in bytes for each live byte.
#[derive(Clone, Copy, Debug)]
struct Found {
    classes: usize,
    /// With each bound: internal, size-class.
    lost: [(f64, f64); 2],
}

/// Adds a table, a plot and the verdicts.
///
/// # Errors
/// Bad input; no memory; a heap that broke a rule.
pub(super) fn add(report: &mut Report, request: &Request) -> Result<()> {
    let usual = if request.quick {
        QUICK_PROGRAM
    } else {
        PROGRAM
    };
    for name in programs::names(request, &[usual]) {
        let program = programs::load(&name, request.quick)?;
        let found = in_parallel(&SPACINGS, |spacing| of_spacing(&program, *spacing))?;
        let name = &program.steps.name;
        report.tables.push(table(name, &found));
        report.plots.push(plot(name, &found));
        report.claims.extend(claims(name, &found));
    }
    Ok(())
}

fn of_spacing(program: &Source, spacing: u32) -> Result<Found> {
    let spec = GeometrySpec {
        spacing: Spacing::Fraction(spacing),
        ..GeometrySpec::DEFAULT
    };
    let geometry = Geometry::new(&spec)?;
    let mut lost = [(0.0, 0.0); 2];
    for (lost, bound) in lost.iter_mut().zip(BOUNDS) {
        *lost = at_peak(program, Config::new(geometry.clone(), bound)?)?;
    }
    Ok(Found {
        classes: geometry.class_count(),
        lost,
    })
}

/// Internal and size-class fragmentation ÷ live bytes, at the peak.
fn at_peak(program: &Source, config: Config) -> Result<(f64, f64)> {
    let options = Options {
        config,
        words: Words::Wide,
        has_keys: false,
        is_branded: false,
        lean: Vec::new(),
        is_told: false,
        needed: None,
    };
    let setting = Setting {
        heap: HEAP,
        touch: false,
    };
    let kind = Kind::Cf(Box::new(options));
    let row = check(&Spec::parse("cf")?, &kind, &program.steps, setting)?;
    let parts = row.at_peak;
    Ok(parts.map_or((f64::NAN, f64::NAN), |parts| {
        let live = parts.requested_bytes.max(1) as f64;
        let internal = parts.page_block_internal_bytes + parts.page_internal_bytes;
        (internal as f64 / live, parts.size_class_bytes as f64 / live)
    }))
}

fn label(spacing: u32) -> String {
    format!("1/{spacing}")
}

fn table(name: &str, found: &[Found]) -> Table {
    let title = format!("{name}: fragmentation at the peak by the spacing of size-classes");
    Table::of(title, SPACINGS.into_iter().zip(found))
        .text("spacing", |(spacing, _)| label(*spacing))
        .figure("classes", 0, |(_, one)| one.classes as u64)
        .figure("internal ÷ live", 3, |(_, one)| one.lost[0].0)
        .figure("size-class ÷ live, κ=∞", 3, |(_, one)| one.lost[0].1)
        .figure("sum", 3, |(_, one)| one.lost[0].0 + one.lost[0].1)
        .figure("size-class ÷ live, κ=1", 3, |(_, one)| one.lost[1].1)
        .figure("sum", 3, |(_, one)| one.lost[1].0 + one.lost[1].1)
        .table()
}

fn plot(name: &str, found: &[Found]) -> Plot {
    let series = |name: &str, of: fn(&Found) -> f64| {
        let points = found
            .iter()
            .enumerate()
            .map(|(at, one)| (at as f64, of(one)));
        Series::new(name, points.collect::<Vec<_>>())
    };
    Plot {
        title: format!("{name}: internal against size-class"),
        x: Axis::named("spacing of size-classes", SPACINGS.map(label)),
        y: Axis::from_zero("bytes ÷ live bytes"),
        series: vec![
            series("internal", |one| one.lost[0].0),
            series("size-class, κ=∞", |one| one.lost[0].1),
            series("size-class, κ=1", |one| one.lost[1].1),
            series("both, κ=∞", |one| one.lost[0].0 + one.lost[0].1),
            series("both, κ=1", |one| one.lost[1].0 + one.lost[1].1),
        ],
    }
}

/// Whether the finest classes lose less inside and more between than the coarsest, without
/// compaction and with it.
fn claims(name: &str, found: &[Found]) -> Vec<Claim> {
    let claim = |bound: usize, words: &str| {
        let lost: Vec<_> = found.iter().map(|one| one.lost[bound]).collect();
        let ends = lost.first().zip(lost.last());
        let is_whole = lost.iter().all(|lost| (lost.0 + lost.1).is_finite());
        let test = ends.filter(|_| is_whole && always_changes(&lost));
        Claim::that(format!(
            "{name}, {words}: finer size-classes trade internal for external \
             fragmentation"
        ))
        .of("partitioning")
        .papers("no figure")
        .ours(ours(&lost))
        .decide(
            test.map(|(first, last)| last.0 < first.0 && last.1 > first.1),
            format!(
                "from the coarsest to the finest classes internal fragmentation falls, and size-class fragmentation \
                 rises; not comparable if some step changes neither by {} % of the live bytes: then the program has too \
                 few sizes for finer classes",
                CHANGES * 100.0
            ),
        )
    };
    vec![claim(0, "κ=∞"), claim(1, "κ=1")]
}

/// Whether every step to finer classes changes a loss.
fn always_changes(lost: &[(f64, f64)]) -> bool {
    let changes = |one: f64, other: f64| (one - other).abs() >= CHANGES;
    let mut steps = lost.windows(2);
    lost.len() > 1
        && steps.all(|step| changes(step[0].0, step[1].0) || changes(step[0].1, step[1].1))
}

/// Both ends, and where the sum is least.
fn ours(lost: &[(f64, f64)]) -> String {
    let ends = lost.first().zip(lost.last());
    let is_whole = lost.iter().all(|lost| (lost.0 + lost.1).is_finite());
    let Some((first, last)) = ends.filter(|_| is_whole) else {
        return "not measured: the program did not complete".to_owned();
    };
    let sums = lost.iter().map(|(internal, between)| internal + between);
    let least = sums
        .zip(SPACINGS)
        .min_by(|one, other| one.0.total_cmp(&other.0));
    let (sum, spacing) = least.unwrap_or((f64::NAN, 0));
    format!(
        "internal {:.3} to {:.3}, size-class {:.3} to {:.3} of live; the sum is least, {sum:.3}, at {}",
        first.0,
        last.0,
        first.1,
        last.1,
        label(spacing)
    )
}

#[cfg(test)]
mod tests {
    use super::{Found, claims};
    use crate::kit::Verdict;

    fn verdict(lost: &[(f64, f64)]) -> Verdict {
        let found = lost.iter().map(|&lost| Found {
            classes: 1,
            lost: [lost; 2],
        });
        claims("p", &found.collect::<Vec<_>>())[0].verdict
    }

    #[test]
    fn a_trade_needs_both_sides() {
        assert_eq!(verdict(&[(0.2, 0.1), (0.1, 0.2)]), Verdict::Holds);
        assert_eq!(verdict(&[(0.2, 0.2), (0.1, 0.1)]), Verdict::DoesNot);
        assert_eq!(verdict(&[(0.2, 0.1), (0.3, 0.2)]), Verdict::DoesNot);
        let saturated = [(0.4, 0.1), (0.1, 0.2), (0.1, 0.2)];
        assert_eq!(verdict(&saturated), Verdict::NotComparable);
        assert_eq!(
            verdict(&[(f64::NAN, 0.1), (0.1, 0.2)]),
            Verdict::NotComparable
        );
    }
}
