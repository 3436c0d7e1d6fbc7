//! `surefit experiment meshing`: how many pairs of pages one physical page could hold.
//!
//! Meshing saves memory of raw pointers without moving anything: two pages whose live page-blocks
//! have different numbers are copied into one physical page, which is mapped at both addresses.
//! Here it is counted only. A trace is replayed through `DirectHeap`: pages of 8 KiB, page-blocks
//! up to 2 KiB, runs of units of 1 KiB, which count as held as they are.
//!
//! ```text
//! after each fortieth of the events, and after the first event where most is held, for every size-class:
//! pages, those not full, pairs of pages in which no page-block's number is live in both
//! saved       pairs that fit, found greedily; each saves a page       a lower bound
//! at most     pairs whose live page-blocks are no more than π         an upper bound
//! held        pages of page-blocks and units of runs, in bytes
//! ```
//! Everything is counted, nothing is timed: the same trace gives the same report.
//!
//! # Departures
//! Mesh places objects at random within pages, so that pages are likely to fit. Our page-blocks are
//! given out from the front and reused newest first. A pair is two pages: a third one is never
//! added.
//!
//! # Source
//! Powers, Tench, Berger, McGregor: "Mesh: Compacting Memory Management for C/C++ Applications"
//! (PLDI 2019); its figures are those of its abstract.

mod claims;
mod pages;
mod pairs;
mod survey;

use std::path::PathBuf;

use anyhow::Result;

use self::claims::{Program, saves_a_tenth};
use self::pairs::Pairs;
use self::survey::survey;
use crate::kit::{Axis, Entry, Plot, Report, Request, Series, Table};
use crate::shared::programs;
use surefit_measure::progress::Progress;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "meshing",
    about: "Pairs of pages of raw pointers that one physical page could hold: counted only",
    takes_traces: true,
    takes_rounds: false,
    run,
};

/// All bundled traces.
const PROGRAMS: [&str; 5] = [
    programs::EMACS,
    "bundled:python-a",
    "bundled:python-b",
    "bundled:redis",
    "bundled:redis-drift",
];

/// Looks at evenly spaced moments of a trace.
const LOOKS: usize = 40;

/// As [`LOOKS`], for a first look.
const QUICK_LOOKS: usize = 8;

fn run(request: &Request) -> Result<Report> {
    let names = programs::names(request, &PROGRAMS);
    let programs = seen(&names, request.quick)?;
    let source = "Powers et al. (2019), meshing";
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting.push(format!(
        "DirectHeap: pages of 8 KiB, page-blocks up to 2 KiB, units of 1 KiB. {} looks, and one at the first moment \
         where most is held.",
        looks(request.quick)
    ));
    report.tables.push(summary(&programs));
    report.tables.push(by_class(&programs));
    report.plots.push(shares(&programs));
    report.claims.push(saves_a_tenth(&programs));
    report.notes.push(
        "A pair saves one page. Pairs: found greedily, fullest page first, each with the fullest that fits; so they are a \
         lower bound. At most: pairs by their numbers of live page-blocks alone, an upper bound. Runs are not meshed."
            .to_owned(),
    );
    Ok(report)
}

const fn looks(quick: bool) -> usize {
    if quick { QUICK_LOOKS } else { LOOKS }
}

fn seen(names: &[PathBuf], quick: bool) -> Result<Vec<Program>> {
    let progress = Progress::new(names.len() as u64);
    let one = |name: &PathBuf| {
        let program = programs::load(name, quick)?;
        let seen = survey(&program.steps, looks(quick))?;
        progress.step(&program.steps.name, "looking", &"cf-direct");
        Ok(Program {
            name: program.steps.name,
            seen,
        })
    };
    let programs = names.iter().map(one).collect();
    progress.finish();
    programs
}

fn summary(programs: &[Program]) -> Table {
    let peak = |program: &Program| program.seen.peak().all();
    let share = |program: &Program, of: fn(&Pairs) -> u64| {
        100.0 * program.seen.peak().share(of(&peak(program)))
    };
    Table::of(
        "where most is held; any moment: the greatest share saved at one of the looks",
        programs,
    )
    .text("program", |program| program.name.as_str())
    .figure("held MB", 2, |program| {
        program.seen.peak().held_bytes as f64 / 1e6
    })
    .figure("÷ live", 3, |program| {
        let peak = program.seen.peak();
        (peak.live_bytes > 0).then(|| peak.held_bytes as f64 / peak.live_bytes as f64)
    })
    .figure("pages", 0, |program| peak(program).pages)
    .figure("not full", 0, |program| peak(program).not_full)
    .figure("pairs", 0, |program| peak(program).found)
    .figure("at most", 0, |program| peak(program).most)
    .figure("saved %", 2, |program| share(program, |pairs| pairs.found))
    .figure("at most %", 2, |program| share(program, |pairs| pairs.most))
    .figure("any moment %", 2, |program| {
        100.0 * program.seen.most_share()
    })
    .table()
}

/// The size-classes of all programs in which pages are not full.
fn by_class(programs: &[Program]) -> Table {
    let rows = programs.iter().flat_map(|program| {
        let classes = program.seen.peak().classes.iter();
        let open = classes.filter(|(_, pairs)| pairs.most > 0);
        open.map(|(bytes, pairs)| (program.name.as_str(), *bytes, *pairs))
    });
    Table::of(
        "where most is held, by size-class: those in which pairs may fit",
        rows,
    )
    .text("program", |(name, ..)| *name)
    .figure("page-block B", 0, |(_, bytes, _)| *bytes)
    .figure("pages", 0, |(_, _, pairs)| pairs.pages)
    .figure("not full", 0, |(_, _, pairs)| pairs.not_full)
    .figure("pairs", 0, |(_, _, pairs)| pairs.found)
    .figure("at most", 0, |(_, _, pairs)| pairs.most)
    .table()
}

fn shares(programs: &[Program]) -> Plot {
    let series = programs.iter().map(|program| {
        let moments = &program.seen.moments;
        let events = moments.last().map_or(1, |last| last.event) as f64;
        let points = moments.iter().map(|moment| {
            let share = moment.share(moment.all().found);
            (100.0 * moment.event as f64 / events, 100.0 * share)
        });
        Series::new(program.name.clone(), points.collect::<Vec<_>>())
    });
    Plot {
        title: "meshing: what it would save of the held bytes".to_owned(),
        x: Axis::from_zero("% of events"),
        y: Axis::from_zero("% saved"),
        series: series.collect(),
    }
}

#[cfg(test)]
mod tests;
