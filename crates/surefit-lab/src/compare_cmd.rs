//! `surefit compare`: many allocators, side by side.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, ensure};

use crate::cli::CompareArgs;
use crate::report;
use crate::screen::{self, Notes, TraceNote};
use surefit_measure::instructions;
use surefit_measure::output::{self, Format};
use surefit_measure::passes::min_heap::min_heap;
use surefit_measure::passes::percentiles;
use surefit_measure::progress::Progress;
use surefit_measure::registry::Kind;
use surefit_measure::results::{Comparison, SCHEMA, TraceResults};
use surefit_measure::rounds::{self, Measured, Plan};
use surefit_measure::single::Setting;
use surefit_measure::source::{self, Source};
use surefit_measure::spec::{Choice, Spec};
use surefit_measure::steps::Steps;

/// What is compared unless the user says otherwise.
const DEFAULT_ALLOCATORS: &str =
    "cf-direct,cf,cf:k=1,tlsf,peer-rlsf,peer-talc,peer-dlmalloc,system";

/// What the default allocators are compared to.
const DEFAULT_BASELINE: &str = "peer-rlsf";

/// The access pass reads memory at random, which takes long: it has at most this many rounds.
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
    let total = plan.progress_steps() * (specs.len() * sources.len()) as u64;
    let progress = Progress::new(total);
    let mut notes = Notes::new(&specs);
    let mut traces = Vec::new();
    for source in &sources {
        let measured = rounds::measure(source, &specs, baseline, plan, &progress)?;
        notes
            .traces
            .push(note(source, &specs, &notes, &measured, plan)?);
        traces.push(trace_results(source, measured));
    }
    progress.finish();
    let comparison = Comparison {
        schema: SCHEMA,
        rounds: args.rounds,
        baseline: specs[baseline].to_string(),
        clock_ns: plan.clock_ns,
        traces,
    };
    if let Some(path) = &args.report {
        let page = report::page(&comparison, args.heap, &notes);
        output::to_file(path, |out| Ok(out.write_all(page.as_bytes())?))?;
    }
    match args.format {
        Format::Json => output::print_json(&comparison),
        Format::Table => output::print(&screen::comparison(&comparison, args.heap, &notes)),
    }
}

/// What the last lines of the screen say of one trace, beyond the rows.
fn note(
    source: &Source,
    specs: &[Spec],
    notes: &Notes,
    measured: &[Measured],
    plan: Plan,
) -> Result<TraceNote> {
    let moving = notes.moving.map(|(row, _)| (&specs[row], &measured[row]));
    let unbounded_min_heap_bytes = match (moving, plan.min_heap) {
        (Some((spec, _)), true) => unbounded_min_heap(spec, &source.steps)?,
        _ => None,
    };
    Ok(TraceNote {
        certified: moving.and_then(|(_, row)| row.certified),
        unbounded_min_heap_bytes,
    })
}

/// The smallest heap of the same partitioning without compaction, which shows how much memory compaction saves.
fn unbounded_min_heap(spec: &Spec, steps: &Steps) -> Result<Option<u64>> {
    let Choice::InProcess(Kind::Cf(options)) = &spec.choice else {
        return Ok(None);
    };
    let unbounded = Kind::Cf(Box::new(options.unbounded()?));
    let guess = usize::try_from(steps.peak_live_bytes)?;
    Ok(min_heap(&unbounded, steps, guess)?.map(|bytes| bytes as u64))
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
        source::bundled_files()
    } else {
        args.files.clone()
    }
}

fn plan(args: &CompareArgs) -> Plan {
    Plan {
        setting: Setting {
            heap: args.heap,
            touch: true,
        },
        rounds: args.rounds,
        access_rounds: args.rounds.min(MOST_ACCESS_ROUNDS),
        percentiles: true,
        min_heap: args.find_min_heap || args.files.is_empty(),
        instructions: args.count.is_some(),
        clock_ns: percentiles::clock_ns(),
    }
}

fn trace_results(source: &Source, measured: Vec<Measured>) -> TraceResults {
    let steps = &source.steps;
    TraceResults {
        name: steps.name.clone(),
        events: steps.steps().len() as u64,
        objects: steps.objects,
        threads: steps.threads,
        peak_live_bytes: steps.peak_live_bytes,
        left_out: source.left_out,
        results: measured.into_iter().map(|row| row.result).collect(),
    }
}
