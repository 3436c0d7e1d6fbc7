//! `surefit compare`: many allocators, side by side.
//!
//! The table of a trace is printed as soon as the trace is measured. JSON is one document, printed
//! at the end.

mod ablation;
mod again;
mod baseline;
mod bounds;
mod expression;
mod figures;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::cli::CompareArgs;
use crate::report;
use crate::screen::{self, Notes, Setting};
use surefit_measure::config_file;
use surefit_measure::instructions;
use surefit_measure::output::{self, Format};
use surefit_measure::passes::percentiles;
use surefit_measure::progress::Progress;
use surefit_measure::results::{AllocatorResult, Comparison, OnThreads, SCHEMA, TraceResults};
use surefit_measure::rounds::{self, Brief, Plan};
use surefit_measure::single;
use surefit_measure::source::{self, Source};
use surefit_measure::spec::Spec;
use surefit_measure::threaded;

use ablation::ablation;
use bounds::Bound;
use figures::Needs;

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
    let plan = plan(args);
    let bounds = bounds(args, &specs, plan)?;
    possible(args)?;
    let earlier = args.against.as_deref().map(baseline::load).transpose()?;
    let sources = files(args)
        .iter()
        .map(|file| Source::load(file, args.largest))
        .collect::<Result<Vec<_>>>()?;
    let names: Vec<_> = sources.iter().map(|it| it.steps.name.as_str()).collect();
    bounds
        .iter()
        .try_for_each(|bound| bound.vet_trace(&names))?;
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
    if args.again {
        let second = measure(&sources, &specs, baseline, times_only(plan), |_| Ok(()))?;
        shown.lines(&again::lines(&comparison.traces, &second))?;
    }
    match args.format {
        Format::Json => output::print_json(&comparison)?,
        Format::Table => output::print(&screen::foot(args.files.is_empty()))?,
    }
    judge(args, &bounds, earlier.as_ref(), &comparison, &mut shown)
}

/// Refuses, before anything is measured, what could not be done afterwards.
fn possible(args: &CompareArgs) -> Result<()> {
    if args.count.is_some() {
        instructions::available()?;
    }
    for (option, path) in [("--report", &args.report), ("--save", &args.save)] {
        if let Some(path) = path {
            ensure!(path != Path::new("-"), "{option} -: name a file");
            output::writable(path)?;
        }
    }
    if args.again && args.format == Format::Json {
        bail!("--again is said in words: leave --format json out, or --save twice and --against");
    }
    Ok(())
}

/// What a second run measures.
fn times_only(plan: Plan) -> Plan {
    Plan {
        percentiles: false,
        min_heap: false,
        instructions: false,
        access_rounds: 0,
        ..plan
    }
}

/// The bounds of `--assert`, vetted.
fn bounds(args: &CompareArgs, specs: &[Spec], plan: Plan) -> Result<Vec<Bound>> {
    let bounds = args.bounds.iter().map(|text| text.parse::<Bound>());
    let bounds = bounds.collect::<Result<Vec<_>>>()?;
    let is_asked_for = |needs| match needs {
        Needs::Nothing => true,
        Needs::MinHeap => plan.min_heap,
        Needs::Instructions => plan.instructions,
    };
    bounds
        .iter()
        .try_for_each(|bound| bound.vet(specs, is_asked_for))?;
    Ok(bounds)
}

/// Saves the comparison, and judges it by the bounds and by an earlier one.
fn judge(
    args: &CompareArgs,
    bounds: &[Bound],
    earlier: Option<&Comparison>,
    comparison: &Comparison,
    shown: &mut Shown,
) -> Result<()> {
    if let Some(path) = &args.save {
        output::to_file(path, |out| {
            serde_json::to_writer_pretty(&mut *out, comparison)?;
            Ok(out.write_all(b"\n")?)
        })?;
    }
    let held = bounds::check(bounds, comparison);
    if let Some((earlier, file)) = earlier.zip(args.against.as_deref()) {
        let tolerance = args.tolerance / 100.0;
        let found = baseline::differences(earlier, comparison, tolerance)
            .with_context(|| file.display().to_string())?;
        shown.lines(&found.lines(file))?;
        // One line for both.
        match (held, found.check()) {
            (Ok(said), checked) => {
                shown.lines(said.as_slice())?;
                checked
            }
            (Err(error), _) => Err(error),
        }
    } else {
        shown.lines(held?.as_slice())
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

    /// Prints lines for people.
    fn lines(&mut self, lines: &[String]) -> Result<()> {
        if !self.is_table || lines.is_empty() {
            return Ok(());
        }
        let lines: Vec<_> = lines.iter().map(|line| screen::wrapped(line)).collect();
        output::print(&format!("{}\n", lines.join("\n")))
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
    let mut results: Vec<_> = measured.into_iter().map(|row| row.result).collect();
    if plan.percentiles {
        on_threads(source, specs, plan, &mut results)?;
    }
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

/// Replays a trace of several threads on as many, on the allocators that serve threads.
fn on_threads(
    source: &Source,
    specs: &[Spec],
    plan: Plan,
    results: &mut [AllocatorResult],
) -> Result<()> {
    let serves = |spec: &Spec| source.steps.threads > 1 && spec.is_malloc();
    for (spec, row) in specs.iter().zip(results).filter(|(spec, _)| serves(spec)) {
        if !row.completed || row.pair_ns_rounds.is_none() {
            continue;
        }
        let of_threads = threaded::measure(source, spec, plan)?;
        row.on_threads = Some(OnThreads {
            pair_ns_rounds: of_threads.pair_ns_rounds.unwrap_or_default(),
            peak_resident_bytes: of_threads.peak_resident_bytes,
        });
    }
    Ok(())
}

/// The allocators, and which of them is the baseline.
fn allocators(args: &CompareArgs) -> Result<(Vec<Spec>, usize)> {
    let names = args.allocators.as_deref().unwrap_or(DEFAULT_ALLOCATORS);
    let mut specs = Spec::parse_list(names)?;
    for file in &args.config {
        specs.push(Spec::parse(&config_file::spec(file, None)?)?);
    }
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

#[cfg(test)]
mod tests {
    use surefit_measure::ratio::Ratio;
    use surefit_measure::results::{AllocatorResult, Comparison, SCHEMA, TraceResults};

    /// A comparison of `cf`, whose ratios to `tlsf` are these, on one trace.
    pub(super) fn comparison(ratios: &[f64]) -> Comparison {
        let row = |allocator: &str, ratios: &[f64], min_heap| AllocatorResult {
            allocator: allocator.to_owned(),
            completed: true,
            heap_bytes: Some(4000),
            pair_ns_rounds: Some(ratios.iter().map(|ratio| 100.0 * ratio).collect()),
            ratio_to_baseline: Ratio::of(ratios),
            min_heap_bytes: Some(min_heap),
            free_ns_max: Some(12_000),
            ..AllocatorResult::default()
        };
        let cf = AllocatorResult {
            certified_bytes: Some(1250),
            ..row("cf", ratios, 1074)
        };
        let tlsf = row("tlsf", &vec![1.0; ratios.len()], 1400);
        Comparison {
            schema: SCHEMA,
            rounds: ratios.len() as u32,
            baseline: "tlsf".to_owned(),
            clock_ns: 20,
            traces: vec![TraceResults {
                name: "small".to_owned(),
                events: 20,
                objects: 10,
                threads: 1,
                peak_live_bytes: 1000,
                left_out: None,
                rounds: ratios.len() as u32,
                ablation: None,
                results: vec![cf, tlsf],
            }],
        }
    }
}
