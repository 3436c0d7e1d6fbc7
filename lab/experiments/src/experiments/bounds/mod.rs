//! `surefit experiment bounds`: what each bound on fragmentation costs and saves, on recorded
//! programs.
//!
//! ```text
//! bound                    not-full pages or holes of a size-class
//! cf:k=1                   at most one not-full page: full compaction
//! cf:k=8                   at most eight
//! cf:k=8,order=original    the same; blocks move in the order of the original paper
//! cf:k=inf                 any number: nothing moves
//! cf:holes=32,frac=0       at most 32 holes
//! cf                       at most 4 holes, and one for every 16 live page-blocks
//! ```
//! Moves, bytes, certificates and smallest heaps are exact; times come from interleaved rounds.
//!
//! # Source
//! κ and its two page orders: Craciunas, Kirsch, Payer, Sokolova, Stadler, Staudinger (2008). The
//! hole bound is ours (docs/bounds.md).

use std::path::PathBuf;

use anyhow::Result;

use crate::kit::{Claim, Entry, OnProgram, Report, Request, Table, papers};
use surefit_measure::passes::percentiles;
use surefit_measure::progress::Progress;
use surefit_measure::rounds::{self, Measured, Plan};
use surefit_measure::single::Setting;
use surefit_measure::sizes::{Count, HeapSize, Size, counted};
use surefit_measure::source::{self, Source};
use surefit_measure::spec::Spec;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "bounds",
    about: "What each bound costs and saves: moves, time, certificate, smallest heap",
    takes_traces: true,
    takes_rounds: true,
    run,
};

/// The bounds, the default last; times are compared to the first.
const BOUNDS: &str = "cf:k=1,cf:k=8,cf:k=8,order=original,cf:k=inf,cf:holes=32,frac=0,cf";

fn run(request: &Request) -> Result<Report> {
    let specs = Spec::parse_list(BOUNDS)?;
    let plan = plan(request.rounds_or(5));
    let files = files(request);
    let progress = Progress::new(plan.progress_steps() * (specs.len() * files.len()) as u64);
    let source = papers::of_2008!("partial compaction; the bounds: docs/bounds.md");
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting.push(format!(
        "{}, heap {}. ratio: time ÷ that of the first bound in the same round. N: the most page-blocks live at once; B: \
         their bytes. certified: bytes that suffice for N and B in any order of calls.",
        counted(u64::from(plan.rounds), "interleaved round"),
        plan.setting.heap
    ));
    let (mut all, mut programs) = (Vec::new(), Vec::new());
    for file in &files {
        let source = Source::load(file, None)?;
        let measured = rounds::measure(&source, &specs, 0, plan, &progress)?;
        let program = program(&source, &measured);
        report.tables.push(costs(&program, &measured));
        report.tables.push(savings(&program, &measured));
        programs.push((source.steps.name.clone(), by_kappa(&specs, &measured)));
        all.extend(measured);
    }
    progress.finish();
    report.claims = vec![certificates_hold(&heaps(&all)), grows_with_kappa(&programs)];
    report.notes.push(
        "Of certified ÷ B, the address table and at most the back-references are what handles cost."
            .to_owned(),
    );
    Ok(report)
}

/// The traces: those asked for, else the bundled ones; if quick, the first of these.
fn files(request: &Request) -> Vec<PathBuf> {
    let mut bundled = source::bundled_files();
    if request.quick {
        bundled.truncate(1);
    }
    match request.files.as_slice() {
        [] => bundled,
        files => files.to_vec(),
    }
}

fn plan(rounds: u32) -> Plan {
    Plan {
        setting: Setting {
            heap: HeapSize::DEFAULT,
            touch: true,
        },
        rounds,
        access_rounds: 0,
        percentiles: false,
        min_heap: true,
        instructions: false,
        clock_ns: percentiles::clock_ns(),
        brief: None,
    }
}

/// What is known of a trace.
struct Program {
    /// Its name and its size.
    title: String,
    peak_live_bytes: u64,
    demand_bytes: u64,
}

fn program(source: &Source, measured: &[Measured]) -> Program {
    let steps = &source.steps;
    let demand = measured.iter().find_map(|row| row.certified);
    let demand_bytes = demand.map_or(0, |demand| demand.demand_bytes);
    Program {
        title: format!(
            "{}: {}, peak live {}, B {}, N {}",
            steps.name,
            counted(steps.steps().len() as u64, "event"),
            Size(steps.peak_live_bytes),
            Size(demand_bytes),
            Count(demand.map_or(0, |demand| demand.demand_objects))
        ),
        peak_live_bytes: steps.peak_live_bytes,
        demand_bytes,
    }
}

fn costs(program: &Program, measured: &[Measured]) -> Table {
    let per_free = |row: &Measured, total: Option<u64>| {
        total.map(|total| total as f64 / row.result.frees.max(1) as f64)
    };
    Table::of(format!("{}: costs", program.title), measured)
        .text("bound", |row| row.result.allocator.as_str())
        .text(
            "completes",
            |row| {
                if row.result.completed { "yes" } else { "no" }
            },
        )
        .figure("moves/free", 4, |row| per_free(row, row.result.moves_total))
        .figure("B/free", 1, |row| {
            per_free(row, row.result.moved_bytes_total)
        })
        .figure("ns/pair", 1, |row| row.result.pair_ns_mean)
        .ratios("ratio", 2, |row| row.result.ratio_to_baseline)
        .table()
}

fn savings(program: &Program, measured: &[Measured]) -> Table {
    let to_demand = |bytes: u64| bytes as f64 / program.demand_bytes.max(1) as f64;
    let to_live = |bytes: u64| bytes as f64 / program.peak_live_bytes.max(1) as f64;
    Table::of(
        format!("{}: bytes, with administrative space", program.title),
        measured,
    )
    .text("bound", |row| row.result.allocator.as_str())
    .figure("certified, B", 0, |row| {
        row.certified.map(|bound| bound.heap_bytes)
    })
    .figure("÷B", 3, |row| {
        row.certified.map(|bound| to_demand(bound.heap_bytes))
    })
    .figure("table÷B", 3, |row| {
        row.certified.map(|bound| to_demand(bound.table_bytes))
    })
    .figure("back refs÷B", 3, |row| {
        let certified = row.certified;
        certified.map(|bound| to_demand(bound.back_reference_bytes))
    })
    .figure("min heap, B", 0, |row| row.result.min_heap_bytes)
    .figure("÷live", 3, |row| row.result.min_heap_bytes.map(to_live))
    .table()
}

/// The settings that differ in κ only.
const KAPPAS: [&str; 3] = ["cf:k=1", "cf:k=8", "cf:k=inf"];

/// The least heaps of these, in bytes.
fn by_kappa(specs: &[Spec], measured: &[Measured]) -> [Option<u64>; 3] {
    KAPPAS.map(|name| {
        let wanted = Spec::parse(name).ok()?.to_string();
        let place = specs.iter().position(|spec| spec.to_string() == wanted)?;
        measured.get(place)?.result.min_heap_bytes
    })
}

fn grows_with_kappa(programs: &[(String, [Option<u64>; 3])]) -> Claim {
    let on = |(name, bytes): &(String, [Option<u64>; 3])| {
        let all: Option<Vec<_>> = bytes.iter().copied().collect();
        let falls = all.as_ref().map(|all| all.is_sorted() && all[0] < all[2]);
        let ratio = all.as_ref().map(|all| all[2] as f64 / all[0] as f64);
        OnProgram {
            test: falls,
            ..OnProgram::timed(name.clone(), None, &ratio.into_iter().collect::<Vec<_>>())
        }
    };
    Claim::that("the least heap grows with κ: 1, 8, ∞")
        .ours_alone()
        .papers("none: ours; with less compaction, \"total memory consumption may not\" increase")
        .ours("κ=∞ ÷ κ=1")
        .over(
            programs.iter().map(on).collect(),
            "it holds on a program if no heap is smaller than that of a smaller κ, and that of κ=∞ is \
             larger than that of κ=1; not comparable if one does not complete",
        )
}

/// Certificates and least heaps, in bytes: of each replay that has both.
fn heaps(measured: &[Measured]) -> Vec<(u64, u64)> {
    let heaps = measured
        .iter()
        .filter_map(|row| Some((row.certified?.heap_bytes, row.result.min_heap_bytes?)));
    heaps.collect()
}

fn certificates_hold(heaps: &[(u64, u64)]) -> Claim {
    let held = heaps.iter().filter(|(certified, least)| certified >= least);
    let held = held.count();
    let closest = heaps
        .iter()
        .map(|(certified, least)| *certified as f64 / *least as f64);
    let closest = closest.min_by(f64::total_cmp);
    Claim::that("what was certified from counts suffices in every replay")
        .ours_alone()
        .measured(closest.map(|closest| {
            format!(
                "{held} of {} heaps; the closest certificate is {closest:.3} times the least heap",
                heaps.len()
            )
        }))
        .decide(
            (!heaps.is_empty()).then_some(held == heaps.len()),
            "the smallest heap in which the trace completes is at most the certified one",
        )
}

#[cfg(test)]
mod tests {
    use super::{certificates_hold, grows_with_kappa};
    use crate::kit::Verdict;

    #[test]
    fn a_heap_that_shrinks_with_kappa_refutes_the_claim() {
        let verdict =
            |bytes: [Option<u64>; 3]| grows_with_kappa(&[("t".to_owned(), bytes)]).verdict;
        assert_eq!(verdict([Some(1), Some(1), Some(2)]), Verdict::Holds);
        assert_eq!(verdict([Some(1), Some(1), Some(1)]), Verdict::DoesNot);
        assert_eq!(verdict([Some(2), Some(1), Some(3)]), Verdict::DoesNot);
        assert_eq!(verdict([Some(1), None, Some(3)]), Verdict::NotComparable);
        assert_eq!(grows_with_kappa(&[]).verdict, Verdict::NotComparable);
    }

    #[test]
    fn one_heap_above_its_certificate_refutes_it() {
        let verdict = |heaps: &[(u64, u64)]| certificates_hold(heaps).verdict;
        assert_eq!(verdict(&[(100, 80), (100, 100)]), Verdict::Holds);
        assert_eq!(verdict(&[(100, 80), (100, 101)]), Verdict::DoesNot);
        assert_eq!(verdict(&[]), Verdict::NotComparable);
    }
}
