//! `surefit experiment nht`: what the Next Hit Table is worth where objects are freed explicitly.
//!
//! ```text
//! systems      walk, table, bitmap x never, deferred, immediate: 256 lists, last list linear; immediate: also a tree
//!              walk, table, bitmap x 16, 64, 256, 1024, 4096 lists: immediate, last list linear;    beside them TLSF
//! time         of a malloc and its free, table updates included, interleaved rounds, ratios round by round
//! instructions of a malloc and of a free, under valgrind
//! collector    the thesis's lists under a collector: what the table gains there, in the same run
//! counts       visits, table updates and entries written, in a replay of their own: exact
//! ```
//! Every segregated system is called through one indirect call, the same for all of them; TLSF is
//! not.
//!
//! # Source
//! The thesis on free-list organisation: the Next Hit Table, and its prediction that explicit frees
//! gain less from the table than a collector does. All else here is ours: its tables and figures
//! are of a collector (`gc_times`, `gc_lists`, `gc_table_updates`).

mod claims;
mod counts;
mod rows;
mod systems;
mod tables;

use std::path::Path;

use anyhow::{Context, Result};
use surefit_freelist::When;
use surefit_trace::generate::{Options, Program};

use self::claims::Program as Measured;
use self::counts::{Counts, count};
use self::rows::Row;
use crate::kit::{Entry, Report, Request, papers};
use crate::shared::collector_gain;
use crate::shared::merges::MERGES;
use crate::shared::programs;
use surefit_clients::lists::{Finds, Lists};
use surefit_measure::instructions;
use surefit_measure::passes::percentiles;
use surefit_measure::progress::Progress;
use surefit_measure::rounds::{self, Plan};
use surefit_measure::single::Setting;
use surefit_measure::sizes::HeapSize;
use surefit_measure::source::Source;
use surefit_measure::spec::Spec;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "nht",
    about: "Walk, Next Hit Table and bitmap over segregated lists, with explicit frees",
    takes_traces: true,
    takes_rounds: true,
    run,
};

const SOURCE: &str = papers::of_the_thesis!("its outlook on explicit frees");

/// The two mixes of the issue, synthetic.
const MIXES: [&str; 2] = ["gen:java-like", "gen:lua-like"];

/// Allocations and live bytes of a mix: enough to fill its live bytes twice, few enough for
/// valgrind.
const MIX: (u64, u64) = (400_000, 2 << 20);
/// The same, quick.
const QUICK_MIX: (u64, u64) = (20_000, 256 << 10);

/// The heaps in which table updates are counted, in multiples of the most live bytes.
const HEAPS: [f64; 5] = [1.25, 1.5, 2.0, 4.0, 8.0];

fn run(request: &Request) -> Result<Report> {
    let names = programs::names(request, &MIXES);
    let valgrind = instructions::available();
    let plan = plan(request, valgrind.is_ok() && !request.quick);
    let mut report = Report::new(ENTRY.name, ENTRY.about, SOURCE, request.quick);
    report.setting.push(format!(
        "{} interleaved rounds, heap {}; ratios are taken inside each round. A time is that of a malloc and its free, with its \
         table updates.",
        plan.rounds, plan.setting.heap
    ));
    report.setting.push(
        "The last list is searched from end to end, as in the thesis; tree: one that is a tree, as ours."
            .to_owned(),
    );
    report.setting.push(match (request.quick, valgrind) {
        (true, _) => "Quick: instructions are left out.".to_owned(),
        (false, Ok(())) => {
            "Instructions of the call alone, counted by valgrind in a replay of their own."
                .to_owned()
        }
        (false, Err(_)) => "Without valgrind no instructions are counted: install it.".to_owned(),
    });
    let systems = systems::all();
    let progress =
        Progress::new(plan.progress_steps() * ((systems.len() + 1) * names.len()) as u64);
    let mut programs = Vec::new();
    for name in &names {
        let directory = tempfile::tempdir()?;
        let program = load(name, request.quick, directory.path())?;
        let rows = measured(&program, &systems, plan, &progress)?;
        add_program(&mut report, &program, &rows)?;
        let name = program.steps.name;
        programs.push(Measured { name, rows });
    }
    progress.finish();
    let gains = collector_gain::gains(request, plan.rounds)?;
    report.tables.extend(gains.as_ref().map(tables::collector));
    report.claims = claims::all(&programs, gains.as_ref());
    report.notes.push(
        "gen:java-like and gen:lua-like are synthetic (surefit gen): Java sizes and lifetimes are recorded, Lua's are those of \
         its structures. The thesis measured a collector: there a sweep frees, and the table is rebuilt once after it."
            .to_owned(),
    );
    Ok(report)
}

fn plan(request: &Request, instructions: bool) -> Plan {
    Plan {
        setting: Setting {
            heap: HeapSize::DEFAULT,
            touch: false,
        },
        rounds: request.rounds_or(15),
        access_rounds: 0,
        percentiles: false,
        min_heap: false,
        instructions,
        clock_ns: percentiles::clock_ns(),
        brief: None,
    }
}

/// Loads a trace, or makes a program and files it, so that a child process under valgrind finds it.
fn load(name: &Path, quick: bool, directory: &Path) -> Result<Source> {
    let made = if MIXES.iter().any(|mix| Path::new(mix) == name) {
        mix(name, quick)?
    } else {
        let program = programs::load(name, quick)?;
        if name.exists() {
            return Ok(program);
        }
        program.trace
    };
    let file = directory.join("program.sft");
    let written = std::fs::write(&file, made.to_bytes());
    written.with_context(|| format!("{}: cannot be written", file.display()))?;
    Source::load(&file, None)
}

/// One of the two mixes, smaller than `surefit gen` makes it.
fn mix(name: &Path, quick: bool) -> Result<surefit_trace::Trace> {
    let (allocations, live_bytes) = if quick { QUICK_MIX } else { MIX };
    let name = name.to_str().and_then(|name| name.strip_prefix("gen:"));
    let program = name.and_then(Program::from_name);
    let made = program.context("no such mix")?.generate(&Options {
        seed: 1,
        allocations: Some(allocations),
        live_bytes: Some(live_bytes),
    });
    Ok(made?)
}

/// Every system on one trace; TLSF is the last row.
fn measured(
    program: &Source,
    systems: &[Lists],
    plan: Plan,
    progress: &Progress,
) -> Result<Vec<Row>> {
    let specs = systems
        .iter()
        .map(|system| Spec::parse(&system.to_string()));
    let specs: Vec<_> = specs.chain([Spec::parse("tlsf")]).collect::<Result<_>>()?;
    let measured = rounds::measure(program, &specs, 0, plan, progress)?;
    let systems = systems.iter().copied().map(Some).chain([None]);
    let rows = systems.zip(measured).map(|(system, measured)| {
        let counts = match system {
            Some(system) => count(&program.steps, system, plan.setting.heap)?,
            None => None,
        };
        Ok(Row::new(system, measured.result, counts))
    });
    rows.collect()
}

fn add_program(report: &mut Report, program: &Source, rows: &[Row]) -> Result<()> {
    let name = &program.steps.name;
    report.tables.extend([
        tables::times(name, rows),
        tables::counted(name, rows),
        tables::sweep(name, rows),
        tables::sweep_counted(name, rows),
        tables::heaps(name, &in_heaps(program)?),
    ]);
    report.plots.extend(tables::plots(name, rows));
    Ok(())
}

/// What the table counts in heaps of several sizes, policy by policy.
fn in_heaps(program: &Source) -> Result<Vec<(f64, Vec<Option<Counts>>)>> {
    let of = |times: f64, merges: When| {
        let system = systems::thesis(Finds::NextHitTable, merges);
        count(&program.steps, system, HeapSize::TimesPeak(times))
    };
    let row = |times: f64| {
        let counts: Result<Vec<_>> = MERGES.iter().map(|&merges| of(times, merges)).collect();
        Ok((times, counts?))
    };
    HEAPS.into_iter().map(row).collect()
}
