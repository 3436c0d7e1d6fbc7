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
//! Craciunas et al. (2009), figure 11, and what is said of it: memory is constant for κ ≥ 5
//! (Hummingbird) and κ ≥ 3 (Emacs); not-full pages of small page-blocks stay relatively full.

mod claims;
mod sampling;

use anyhow::Result;

use self::claims::{Counted, Means, papers_constant_from};
use self::sampling::{GROUPS, Sample, sample};
use crate::kit::{Axis, Cell, Column, Entry, Plot, Report, Request, Series, Table, papers};
use crate::shared::programs;
use crate::shared::settings::{Family, SETTINGS, Setting, of_family, specs};
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

fn run(request: &Request) -> Result<Report> {
    let names = programs::names(request, &programs::PAPERS);
    let specs = specs()?;
    let progress = Progress::new((specs.len() * names.len()) as u64);
    let source = papers::of_2009!("figure 11");
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    let mut all = Vec::new();
    for name in &names {
        let program = programs::load(name, request.quick)?;
        let mut runs = Vec::new();
        for spec in &specs {
            runs.push(Run::new(sample(&program.steps, spec)?));
            progress.step(&program.steps.name, "sampling", spec);
        }
        add_program(&mut report, &program, &runs);
        all.push(counted(&program, &runs));
    }
    progress.finish();
    report.claims = claims::all(&all);
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
    report.tables.push(table(
        name,
        &format!("{name}, {live} live; flat: where the paper has constant memory"),
        runs,
    ));
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
}

/// What the claims are about.
fn counted(program: &Source, runs: &[Run]) -> Counted {
    let kappas = of_family(Family::Pages).map(|(at, setting)| Means {
        label: setting.label,
        pages: runs[at].pages.mean,
        fragmentation_kb: runs[at].fragmentation.mean / 1e3,
        fill: runs[at].fill,
    });
    Counted {
        name: program.steps.name.clone(),
        live_bytes: program.steps.peak_live_bytes,
        kappas: kappas.collect(),
    }
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

fn table(name: &str, title: &str, runs: &[Run]) -> Table {
    let fixed = [
        Column::text("bound"),
        Column::figure("pages", 0),
        Column::figure("most", 0),
        Column::papers("flat", 0),
        Column::figure("not-full", 1),
        Column::figure("most", 0),
        Column::figure("SCF kB", 1),
    ];
    // narrow, so that the table fits 100 columns; the title says that these are fills
    let fills = GROUPS.map(|(name, _)| Column::figure(name.replace(" KiB", "K"), 2));
    let columns: Vec<_> = fixed.into_iter().chain(fills).collect();
    let title = format!("{title}; right: fill of not-full pages by page-block");
    let mut table = Table::new(title, columns);
    for (run, setting) in runs.iter().zip(SETTINGS) {
        let mut cells = vec![
            setting.label.into(),
            run.pages.mean.into(),
            run.pages.most.into(),
            is_flat(name, setting),
            run.not_full.mean.into(),
            run.not_full.most.into(),
            (run.fragmentation.mean / 1e3).into(),
        ];
        cells.extend(run.fill.map(Into::into));
        table.row(cells);
    }
    table
}

/// Whether the paper's memory is constant for this bound; of a bound that it does not have,
/// nothing.
fn is_flat(name: &str, setting: Setting) -> Cell {
    let place = |label: &str| of_family(Family::Pages).position(|(_, kappa)| kappa.label == label);
    let from = place(papers_constant_from(name));
    let at = place(setting.label);
    at.filter(|at| Some(*at) >= from).map(|_| "yes").into()
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
