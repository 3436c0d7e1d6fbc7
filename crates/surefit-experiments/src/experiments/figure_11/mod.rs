//! `surefit experiment figure-11`: used pages and not-full pages during the run, for each κ and
//! hole bound.
//!
//! ```text
//! every ⌈events / 240⌉ events, for every size-class: live page-blocks h, pages p, not-full pages n
//! used pages    Σ p                     memory, in pages
//! not-full      Σ n
//! SCF           Σ (π·p − h)·β           size-class fragmentation, in bytes
//! fill          Σ (h − π·(p − n)) ÷ Σ π·n     of the not-full pages, by page-block size, over all samples
//! ```
//! Everything is counted, nothing is timed: the same trace gives the same report.
//!
//! # Source
//! Craciunas et al. (2008), figure 11, and what is said of it: memory is constant for κ ≥ 5
//! (Hummingbird) and κ ≥ 3 (Emacs); not-full pages of small page-blocks stay relatively full.

mod sampling;

use anyhow::Result;

use self::sampling::{GROUPS, Sample, sample};
use crate::kit::{Axis, Claim, Column, Entry, Plot, Report, Request, Series, Table};
use crate::shared::programs::{self, StandsFor};
use crate::shared::settings::{Family, SETTINGS, of_family, specs};
use surefit_measure::progress::Progress;
use surefit_measure::sizes::Size;
use surefit_measure::source::Source;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "figure-11",
    about: "Used pages and not-full pages during the run, for each κ and hole bound",
    takes_traces: true,
    takes_rounds: false,
    run,
};

/// What of the bounds a plot shows; all of them are in the tables.
const DRAWN: [&str; 7] = ["κ=1", "κ=3", "κ=5", "κ=10", "κ=25", "κ=∞", "holes 4 + h/16"];

/// Means that differ by less than this are the same, in per cent.
const CONSTANT_PERCENT: f64 = 1.0;

/// A page filled above this is relatively full.
const RELATIVELY_FULL: f64 = 0.5;

fn run(request: &Request) -> Result<Report> {
    let names = programs::names(request, &programs::PAPERS);
    let specs = specs()?;
    let progress = Progress::new((specs.len() * names.len()) as u64);
    let source = "Craciunas et al. (2008), figure 11";
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    for name in &names {
        let program = programs::load(name, request.quick)?;
        let mut runs = Vec::new();
        for spec in &specs {
            runs.push(Run::new(sample(&program.steps, spec)?));
            progress.step(&program.steps.name, "sampling", spec);
        }
        add_program(&mut report, &program, &runs);
    }
    progress.finish();
    report.notes.push(
        "SCF: size-class fragmentation. Fill: used page-blocks of not-full pages ÷ all their page-blocks, by page-block \
         size, over all samples. Means and greatest values are of the samples."
            .to_owned(),
    );
    Ok(report)
}

fn add_program(report: &mut Report, program: &Source, runs: &[Run]) {
    let name = &program.steps.name;
    let live = Size(program.steps.peak_live_bytes);
    let samples = runs.first().map_or(0, |run| run.samples.len());
    report.setting.push(format!(
        "{name}: {live} live, {samples} samples of {} events.",
        program.steps.steps().len()
    ));
    report
        .tables
        .push(table(&format!("{name}, {live} live"), runs));
    report.plots.push(plot(
        &format!("{name}: used pages"),
        Axis::new("pages"),
        runs,
        |sample| sample.pages,
    ));
    let axis = Axis::from_zero("not-full pages");
    report.plots.push(plot(
        &format!("{name}: not-full pages"),
        axis,
        runs,
        |sample| sample.not_full,
    ));
    report.claims.push(constant_memory(name, runs));
    report.claims.push(fragmentation_grows(name, runs));
    report.claims.push(small_stay_full(name, runs));
}

/// One bound on one trace: its samples and what they come to.
struct Run {
    samples: Vec<Sample>,
    pages: Summary,
    not_full: Summary,
    fragmentation: Summary,
    /// Mean fill of the not-full pages of each group of page-block sizes; none if there never was
    /// such a page.
    fill: [Option<f64>; GROUPS.len()],
}

/// The mean and the greatest of the samples.
#[derive(Clone, Copy)]
struct Summary {
    mean: f64,
    most: u64,
}

impl Summary {
    fn of(samples: &[Sample], of: impl Fn(&Sample) -> u64) -> Self {
        let sum: u64 = samples.iter().map(&of).sum();
        Self {
            mean: sum as f64 / samples.len().max(1) as f64,
            most: samples.iter().map(of).max().unwrap_or(0),
        }
    }
}

impl Run {
    fn new(samples: Vec<Sample>) -> Self {
        let mut fill = [None; GROUPS.len()];
        for (group, fill) in fill.iter_mut().enumerate() {
            let sum = |of: fn(&Sample, usize) -> u64| {
                samples.iter().map(|sample| of(sample, group)).sum::<u64>()
            };
            let room = sum(|sample, group| sample.groups[group].room);
            let used = sum(|sample, group| sample.groups[group].used);
            *fill = (room > 0).then(|| used as f64 / room as f64);
        }
        Self {
            pages: Summary::of(&samples, |sample| sample.pages),
            not_full: Summary::of(&samples, |sample| sample.not_full),
            fragmentation: Summary::of(&samples, |sample| sample.fragmentation_bytes),
            fill,
            samples,
        }
    }
}

fn table(title: &str, runs: &[Run]) -> Table {
    let fixed = [
        Column::text("bound"),
        Column::figure("pages", 0),
        Column::figure("most", 0),
        Column::figure("not-full", 1),
        Column::figure("most", 0),
        Column::figure("SCF kB", 1),
    ];
    let fills = GROUPS.map(|(name, _)| {
        Column::figure(
            if name == GROUPS[0].0 { "fill " } else { "" }.to_owned() + name,
            2,
        )
    });
    let columns: Vec<_> = fixed.into_iter().chain(fills).collect();
    let mut table = Table::new(title, columns);
    for (run, setting) in runs.iter().zip(SETTINGS) {
        let mut cells = vec![
            setting.label.into(),
            run.pages.mean.into(),
            run.pages.most.into(),
            run.not_full.mean.into(),
            run.not_full.most.into(),
            (run.fragmentation.mean / 1e3).into(),
        ];
        cells.extend(run.fill.map(Into::into));
        table.row(cells);
    }
    table
}

fn plot(title: &str, y: Axis, runs: &[Run], of: impl Fn(&Sample) -> u64) -> Plot {
    let drawn = SETTINGS
        .iter()
        .zip(runs)
        .filter(|(setting, _)| DRAWN.contains(&setting.label));
    let series = drawn.map(|(setting, run)| {
        let points = run
            .samples
            .iter()
            .map(|sample| (sample.event as f64, of(sample) as f64));
        Series::new(setting.label, points.collect::<Vec<_>>())
    });
    Plot {
        title: title.to_owned(),
        x: Axis::from_zero("events"),
        y,
        series: series.collect(),
    }
}

// ---- claims
// --------------------------------------------------------------------------------------------------------------

/// The runs of κ = 1, 3, … ∞ and their labels.
fn kappas(runs: &[Run]) -> Vec<(&'static str, &Run)> {
    of_family(Family::Pages)
        .map(|(at, setting)| (setting.label, &runs[at]))
        .collect()
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

fn constant_memory(name: &str, runs: &[Run]) -> Claim {
    let (claimed, of) = match StandsFor::of(name) {
        StandsFor::Emacs => ("κ=3", "Emacs"),
        StandsFor::Proxy => ("κ=5", "Hummingbird"),
        StandsFor::Neither => ("κ=5", "Hummingbird; Emacs from 3"),
    };
    let kappas = kappas(runs);
    let means: Vec<_> = kappas.iter().map(|(_, run)| run.pages.mean).collect();
    let from = constant_from(&means);
    let limit = kappas.iter().position(|(label, _)| *label == claimed);
    let shown = kappas
        .iter()
        .zip(&means)
        .map(|((label, _), mean)| format!("{label} {mean:.0}"));
    Claim::that(format!(
        "{name}: memory is constant for {} ({of})",
        claimed.replace('=', " ≥ ")
    ))
    .papers(format!("from {claimed}"))
    .ours(format!(
        "from {}; from {claimed} on the means differ by {:.1} %; mean pages {}",
        kappas[from].0,
        limit.map_or(f64::NAN, |limit| spread_percent(&means[limit..])),
        shown.collect::<Vec<_>>().join(", ")
    ))
    .decide(
        limit.map(|limit| from <= limit),
        "the means of used pages for that κ and all greater ones, ∞ too, differ \
         by at most 1 %",
    )
}

fn fragmentation_grows(name: &str, runs: &[Run]) -> Claim {
    let means: Vec<_> = kappas(runs)
        .iter()
        .map(|(_, run)| run.fragmentation.mean / 1e3)
        .collect();
    let shown: Vec<_> = means.iter().map(|mean| format!("{mean:.0}")).collect();
    Claim::that(format!("{name}: size-class fragmentation grows with κ"))
        .papers("the curves of not-full pages")
        .ours(format!("mean kB {}", shown.join(", ")))
        .decide(
            means.is_sorted_by(|a, b| a <= b),
            "its mean over the samples falls nowhere from one κ to the next",
        )
}

fn small_stay_full(name: &str, runs: &[Run]) -> Claim {
    let finite: Vec<_> = kappas(runs)
        .into_iter()
        .filter(|(label, _)| !["κ=1", "κ=∞"].contains(label))
        .collect();
    let least = |group: usize| {
        let fills = finite
            .iter()
            .filter_map(|(label, run)| Some((*label, run.fill[group]?)));
        fills.min_by(|a, b| a.1.total_cmp(&b.1))
    };
    let small: Vec<_> = [0, 1].into_iter().filter_map(least).collect();
    let shown = GROUPS.iter().enumerate().filter_map(|(group, (name, _))| {
        let (label, fill) = least(group)?;
        Some(format!("{name} {fill:.2} ({label})"))
    });
    Claim::that(format!(
        "{name}: not-full pages of small page-blocks stay relatively full"
    ))
    .papers("stated in words")
    .ours(format!(
        "least mean fill over finite κ > 1: {}",
        shown.collect::<Vec<_>>().join(", ")
    ))
    .decide(
        (!small.is_empty()).then(|| small.iter().all(|(_, fill)| *fill > RELATIVELY_FULL)),
        "for every finite κ > 1, not-full pages of page-blocks up to 256 B are \
         on average more than half full",
    )
}

#[cfg(test)]
mod tests {
    use super::constant_from;

    #[test]
    fn memory_is_constant_from_where_nothing_changes_any_more() {
        assert_eq!(constant_from(&[100.0, 110.0, 120.0, 120.5, 120.0]), 2);
        assert_eq!(constant_from(&[100.0, 100.0, 100.0]), 0);
        assert_eq!(constant_from(&[1.0, 2.0, 3.0]), 2);
    }
}
