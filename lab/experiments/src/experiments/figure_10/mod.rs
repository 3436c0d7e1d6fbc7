//! `surefit experiment figure-10`: allocation throughput, preemption time and execution time
//! against κ, and throughput against the hole bound.
//!
//! ```text
//! per trace, per round:  κ=1, κ=3, … κ=∞, original order, hole bounds     one replay each, interleaved
//! throughput             10⁹ ÷ nanoseconds of an allocation and its free; MB/s: times the mean request
//! relative               κ=1's time ÷ this one's, taken inside the round; median and spread over the rounds
//! preemption             1-CF with class locks: the longest section under a lock
//! execution              the same heap: the longest call
//! ```
//! Moves and bytes are counted in a pass of their own and are exact. That pass does not write the
//! objects: `bounds` and `compare` do, and verify every byte.
//!
//! # Source
//! Craciunas et al. (2009), figure 10: allocations per second against κ; only the ranges of its
//! axes are known here. The slides' examples of what a program may need: 10 MB/s, execution in 1
//! ms, preemption in 0.1 ms.

mod claims;
mod counted;
mod found;
mod lock;
mod sections;

use std::path::Path;

use anyhow::Result;

use self::found::{EXECUTION_MS, Found, PREEMPTION_MS, REQUIRED_MB, Row};
use self::sections::{Longest, Sections};
use crate::kit::{Axis, Entry, Plot, Report, Request, Series, Table, papers};
use crate::shared::programs;
use crate::shared::settings::{Family, SETTINGS, kappa_ticks, of_family, specs};
use surefit_measure::instructions;
use surefit_measure::passes::percentiles;
use surefit_measure::progress::Progress;
use surefit_measure::results::Ratio;
use surefit_measure::rounds::{self, Plan};
use surefit_measure::single::Setting;
use surefit_measure::sizes::{HeapSize, Size};
use surefit_measure::source::Source;

pub(crate) use self::counted::{LongestSections, play_longest_sections};

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "figure-10",
    about: "Throughput, preemption and execution time against κ and against the hole bound",
    takes_traces: true,
    takes_rounds: true,
    run,
};

fn run(request: &Request) -> Result<Report> {
    let plan = plan(request);
    let names = programs::names(request, &programs::PAPERS);
    let specs = specs()?;
    let kappas = of_family(Family::Pages).count() as u64;
    let each = plan.progress_steps() * specs.len() as u64 + kappas + 1;
    let progress = Progress::new(each * names.len() as u64);
    let source = papers::of_2009!("figure 10; the slides, requirements");
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting.push(format!(
        "{} interleaved rounds, heap {}; relative throughput is taken inside each round. κ=∞ is a number above that of \
         all pages: it frees by the same code as every other κ. Preemption: the longest section under a lock of 1-CF with \
         class locks; execution: its longest call.",
        plan.rounds, plan.setting.heap
    ));
    let has_valgrind = instructions::available().is_ok();
    let mut all = Vec::new();
    for name in &names {
        let program = programs::load(name, request.quick)?;
        let measured = rounds::measure(&program, &specs, 0, plan, &progress)?;
        let longest = longest(
            request,
            name,
            &program,
            has_valgrind,
            plan.rounds,
            &progress,
        )?;
        let found = Found::of(&program, &measured, longest, plan.rounds);
        add_program(&mut report, &found);
        all.push(found);
    }
    progress.finish();
    report.claims = claims::all(&all);
    notes(&mut report, has_valgrind);
    Ok(report)
}

fn plan(request: &Request) -> Plan {
    Plan {
        setting: Setting {
            heap: HeapSize::DEFAULT,
            touch: false,
        },
        rounds: request.rounds_or(7),
        access_rounds: 0,
        percentiles: false,
        min_heap: false,
        instructions: false,
        clock_ns: percentiles::clock_ns(),
        brief: None,
    }
}

fn notes(report: &mut Report, has_valgrind: bool) {
    report.notes.push(
        "Throughput counts an allocation with its free and its first write, less an empty replay. The paper's allocations \
         per second hold on its own machine and traces: only their course over κ is compared, and of it only the ends of \
         the axis are known. Objects over 4 KiB are in pieces, so that a free may move several page-blocks, each in a \
         section of its own."
            .to_owned(),
    );
    report.notes.push(
        "Times of sections and calls: of each one the least over the rounds, of these the greatest; two readings of the \
         clock count, and an interrupt that comes in every round. They decide nothing: instructions and copied bytes do."
            .to_owned(),
    );
    let counted = if has_valgrind {
        COUNTED_WORDS
    } else {
        "Instructions were not counted: valgrind is missing."
    };
    report.notes.push(counted.to_owned());
}

const COUNTED_WORDS: &str = "Instructions are counted by valgrind in 33 calls at most: the 16 frees and resizes that copy \
                             most, the 16 allocations that take most locks, and the call with the section that copies \
                             most; the marks of sections are included. Of κ=1 only, which copies most often.";

/// The longest sections and calls of κ = 1, 3, … ∞.
fn longest(
    request: &Request,
    file: &Path,
    program: &Source,
    has_valgrind: bool,
    rounds: u32,
    progress: &Progress,
) -> Result<Vec<Sections>> {
    let mut all = Vec::new();
    let mut heaps = Vec::new();
    for (_, setting) in of_family(Family::Pages) {
        let spec = sections::spec(setting.spec);
        let (sections, events) = sections::measure(&spec, &program.steps, rounds)?;
        all.push(sections);
        heaps.push((spec, events));
        progress.step(&program.steps.name, "sections", &setting.label);
    }
    if has_valgrind {
        heaps.truncate(1);
        let counts = counted::count(file, request.quick, &heaps)?;
        for (sections, most) in all.iter_mut().zip(counts) {
            sections.section.instructions = Some(most.section);
            sections.call.instructions = Some(most.call);
        }
    }
    progress.step(&program.steps.name, "instructions", &"valgrind");
    Ok(all)
}

fn add_program(report: &mut Report, found: &Found) {
    report.tables.push(throughput_table(found));
    report.tables.push(longest_table(found));
    report.plots.push(throughput_plot(found));
    report.plots.push(megabytes_plot(found));
    report.plots.push(longest_plot(found));
}

fn throughput_table(found: &Found) -> Table {
    let live = Size(found.live_bytes);
    let axis = found.papers_axis();
    let of_kappa = move |family: Family| axis.filter(|_| family == Family::Pages);
    let title = found.title(&format!("{live} live; paper: the ends of its axis"));
    Table::of(title, found.rows.iter().zip(SETTINGS))
        .text("bound", |(_, setting)| setting.label)
        .figure("moves/free", 4, |(row, _)| row.moves_per_free)
        .figure("B/free", 1, |(row, _)| row.bytes_per_free)
        .figure("MB/s", 0, |(row, _)| {
            row.mb_per_second.map(|ratio| ratio.median)
        })
        .figure("k/s", 0, |(row, _)| {
            row.per_second.map(|ratio| ratio.median / 1e3)
        })
        .papers("k/s", 0, |(_, setting)| {
            of_kappa(setting.family).map(|axis| axis.0)
        })
        .papers("to", 0, |(_, setting)| {
            of_kappa(setting.family).map(|axis| axis.1)
        })
        .ratios("÷ κ=1", 3, |(row, _)| row.relative)
        .table()
}

fn longest_table(found: &Found) -> Table {
    let rows = of_family(Family::Pages).zip(&found.longest);
    let rows: Vec<_> = rows
        .map(|((_, setting), longest)| (setting.label, *longest))
        .collect();
    let milliseconds = |longest: Longest| longest.ns as f64 / 1e6;
    Table::of(
        found.title("1-CF: the longest section under a lock, and the longest call"),
        rows,
    )
    .text("bound", |(label, _)| *label)
    .figure("section B", 0, |(_, longest)| longest.section.bytes)
    .figure("instructions", 0, |(_, longest)| {
        longest.section.instructions
    })
    .figure("ms", 4, move |(_, longest)| milliseconds(longest.section))
    .papers("ms", 1, |_| PREEMPTION_MS)
    .figure("call B", 0, |(_, longest)| longest.call.bytes)
    .figure("call instructions", 0, |(_, longest)| {
        longest.call.instructions
    })
    .figure("call ms", 4, move |(_, longest)| milliseconds(longest.call))
    .papers("call ms", 1, |_| EXECUTION_MS)
    .table()
}

/// The places of the axis of κ from the first to the last.
fn ends() -> (f64, f64) {
    (0.0, kappa_ticks().count() as f64 - 1.0)
}

/// κ as one line with its spread; every hole bound as a level, since it has no place on the axis of
/// κ.
fn over_kappa(found: &Found, of: impl Fn(&Row) -> Option<Ratio>) -> Vec<Series> {
    let median = |row: &Row| of(row).map_or(f64::NAN, |ratio| ratio.median);
    let mut kappa = Series::new("κ", Vec::new());
    for (place, (_, row)) in found.kappas().enumerate() {
        kappa.points.push((place as f64, median(&row)));
        let spread = of(&row).map_or((f64::NAN, f64::NAN), |ratio| (ratio.min, ratio.max));
        kappa.spread.push(spread);
    }
    let levels = of_family(Family::Holes).map(|(at, setting)| {
        let (first, last) = ends();
        let level = median(&found.rows[at]);
        Series::new(setting.label, [(first, level), (last, level)])
    });
    std::iter::once(kappa).chain(levels).collect()
}

/// As the paper draws it: thousand allocations a second over κ. Its own machine's are in the title:
/// on one axis with ours both would be flat.
fn throughput_plot(found: &Found) -> Plot {
    let thousands = |ratio: Ratio| Ratio {
        median: ratio.median / 1e3,
        min: ratio.min / 1e3,
        max: ratio.max / 1e3,
    };
    let axis = found
        .papers_axis()
        .map_or_else(String::new, |(least, most)| {
            format!(" (the paper's axis: {least} to {most} k/s)")
        });
    Plot {
        title: found.title(&format!("allocations a second{axis}")),
        x: Axis::named("κ", kappa_ticks()),
        y: Axis::new("thousand allocations a second"),
        series: over_kappa(found, |row| row.per_second.map(thousands)),
    }
}

fn megabytes_plot(found: &Found) -> Plot {
    let mut series = over_kappa(found, |row| row.mb_per_second);
    series.push(Series::papers_level("required", REQUIRED_MB, ends()));
    Plot {
        title: found.title("MB allocated and freed per second"),
        x: Axis::named("κ", kappa_ticks()),
        y: Axis::logarithmic("MB/s"),
        series,
    }
}

fn longest_plot(found: &Found) -> Plot {
    let line = |name: &str, of: fn(&Sections) -> Longest| {
        let points = found.longest.iter().enumerate();
        // a logarithmic axis has no zero
        let points =
            points.map(|(place, longest)| (place as f64, of(longest).ns.max(1) as f64 / 1e6));
        Series::new(name, points.collect::<Vec<_>>())
    };
    Plot {
        title: found.title("1-CF, the longest section and call"),
        x: Axis::named("κ", kappa_ticks()),
        y: Axis::logarithmic("ms"),
        series: vec![
            line("longest section", |longest| longest.section),
            line("longest call", |longest| longest.call),
            Series::papers_level("preemption", PREEMPTION_MS, ends()),
            Series::papers_level("execution", EXECUTION_MS, ends()),
        ],
    }
}
