//! `surefit compare`: many allocators, side by side.
//!
//! The table of a trace is printed as soon as the trace is measured. JSON is one document, printed
//! at the end.

mod ablation;

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, ensure};

use crate::cli::CompareArgs;
use crate::report;
use crate::screen::{self, Notes, Setting};
use surefit_measure::instructions;
use surefit_measure::output::{self, Format};
use surefit_measure::passes::percentiles;
use surefit_measure::progress::Progress;
use surefit_measure::results::{Comparison, SCHEMA, TraceResults};
use surefit_measure::rounds::{self, Brief, Plan};
use surefit_measure::single;
use surefit_measure::source::{self, Source};
use surefit_measure::spec::Spec;

use ablation::ablation;

/// What is compared unless the user says otherwise.
const DEFAULT_ALLOCATORS: &str = "cf,cf-direct,tlsf,peer-rlsf,peer-talc,peer-dlmalloc,system";

/// What the default allocators are compared to.
const DEFAULT_BASELINE: &str = "peer-rlsf";

/// Rounds of the timing pass unless the user says otherwise.
const ROUNDS: u32 = 3;

/// What a comparison does unless the user says how many rounds: the access pass reads memory at
/// random, which takes longer than all other passes together.
const BRIEF: Brief = Brief {
    most_rounds: 5,
    most_accesses: 4_000_000,
};

/// The most rounds of the access pass.
const MOST_ACCESS_ROUNDS: u32 = 3;

/// Compares allocators on traces and prints the comparison.
///
/// # Errors
/// Bad input; an allocator that broke a rule or its proven bound.
pub(crate) fn run(args: &CompareArgs) -> Result<()> {
    let (specs, baseline) = allocators(args)?;
    if args.count.is_some() {
        instructions::available()?;
    }
    if let Some(path) = &args.report {
        ensure!(
            path != Path::new("-"),
            "--report -: name a file for the page"
        );
        output::writable(path)?;
    }
    let plan = plan(args);
    let sources = files(args)
        .iter()
        .map(|file| Source::load(file, args.largest))
        .collect::<Result<Vec<_>>>()?;
    let notes = Notes::new(&specs, specs[baseline].as_str());
    let setting = Setting {
        traces: sources.len(),
        rounds: (plan.rounds, plan.most_rounds()),
        heap: args.heap,
    };
    let mut shown = Shown {
        is_table: args.format == Format::Table,
        head: screen::head(&setting, &notes, plan.instructions),
    };
    let traces = measure(&sources, &specs, baseline, plan, |trace| {
        shown.table(&screen::trace(trace, &notes))
    })?;
    let comparison = Comparison {
        schema: SCHEMA,
        rounds: traces.iter().map(|trace| trace.rounds).max().unwrap_or(0),
        baseline: specs[baseline].to_string(),
        clock_ns: plan.clock_ns,
        traces,
    };
    if let Some(path) = &args.report {
        let page = report::page(&comparison, &setting, &notes);
        output::to_file(path, |out| Ok(out.write_all(page.as_bytes())?))?;
    }
    match args.format {
        Format::Json => output::print_json(&comparison),
        Format::Table => output::print(&screen::foot(args.files.is_empty())),
    }
}

/// What was printed so far.
struct Shown {
    is_table: bool,
    /// What comes before the first table; printed with it, so that a comparison that fails before
    /// prints nothing.
    head: String,
}

impl Shown {
    fn table(&mut self, table: &str) -> Result<()> {
        if !self.is_table {
            return Ok(());
        }
        let head = std::mem::take(&mut self.head);
        output::print(&format!("{head}{table}\n"))
    }
}

/// Measures one trace after the other, and hands each to `ready` as soon as it is measured.
fn measure(
    sources: &[Source],
    specs: &[Spec],
    baseline: usize,
    plan: Plan,
    mut ready: impl FnMut(&TraceResults) -> Result<()>,
) -> Result<Vec<TraceResults>> {
    let ablation_steps = if plan.min_heap { ablation::STEPS } else { 0 };
    let steps = plan.progress_steps() * specs.len() as u64 + ablation_steps;
    let progress = Progress::new(steps * sources.len() as u64);
    let mut traces = Vec::new();
    for source in sources {
        let trace = trace(source, specs, baseline, plan, &progress)?;
        progress.suspend(|| ready(&trace))?;
        traces.push(trace);
    }
    progress.finish();
    Ok(traces)
}

fn trace(
    source: &Source,
    specs: &[Spec],
    baseline: usize,
    plan: Plan,
    progress: &Progress,
) -> Result<TraceResults> {
    let measured = rounds::measure(source, specs, baseline, plan, progress)?;
    let results: Vec<_> = measured.into_iter().map(|row| row.result).collect();
    let ablation = match plan.min_heap {
        true => ablation(specs, &source.steps, progress)?,
        false => None,
    };
    let rounds = results.iter().filter_map(|row| row.pair_ns_rounds.as_ref());
    let steps = &source.steps;
    Ok(TraceResults {
        name: steps.name.clone(),
        events: steps.steps().len() as u64,
        objects: steps.objects,
        threads: steps.threads,
        peak_live_bytes: steps.peak_live_bytes,
        left_out: source.left_out,
        rounds: rounds
            .map(Vec::len)
            .max()
            .map_or(plan.rounds, |most| most as u32),
        ablation,
        results,
    })
}

/// The allocators, and which of them is the baseline.
fn allocators(args: &CompareArgs) -> Result<(Vec<Spec>, usize)> {
    let names = args.allocators.as_deref().unwrap_or(DEFAULT_ALLOCATORS);
    let specs = Spec::parse_list(names)?;
    let default = args.allocators.is_none().then_some(DEFAULT_BASELINE);
    let Some(baseline) = args.baseline.as_deref().or(default) else {
        return Ok((specs, 0));
    };
    let found = specs.iter().position(|spec| spec.as_str() == baseline);
    let found = found.ok_or_else(|| {
        anyhow!("--baseline {baseline}: not among the allocators compared; add it to --allocators")
    })?;
    Ok((specs, found))
}

fn files(args: &CompareArgs) -> Vec<PathBuf> {
    if args.files.is_empty() {
        source::compared_files()
    } else {
        args.files.clone()
    }
}

fn plan(args: &CompareArgs) -> Plan {
    Plan {
        setting: single::Setting {
            heap: args.heap,
            touch: true,
        },
        rounds: args.rounds.unwrap_or(ROUNDS),
        access_rounds: args
            .rounds
            .map_or(1, |rounds| rounds.min(MOST_ACCESS_ROUNDS)),
        percentiles: true,
        min_heap: args.find_min_heap || args.files.is_empty(),
        instructions: args.count.is_some(),
        clock_ns: percentiles::clock_ns(),
        brief: args.rounds.is_none().then_some(BRIEF),
    }
}
