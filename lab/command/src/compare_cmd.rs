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
mod hinted;
pub(crate) mod measured;
mod own;

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::cli::CompareArgs;
use crate::report::{Page, Section};
use crate::screen::{self, Notes, Setting};
use surefit_measure::instructions;
use surefit_measure::output::{self, Format};
use surefit_measure::results::Comparison;
use surefit_measure::rounds::Plan;
use surefit_measure::source::{self, Source};
use surefit_measure::spec::Spec;

use bounds::Bound;
use figures::Needs;
use measured::{Job, Measured, allocators, plan};

/// Compares allocators on traces and prints the comparison.
///
/// # Errors
/// Bad input; an allocator that broke a rule or its proven bound.
pub(crate) fn run(args: &CompareArgs) -> Result<()> {
    let (specs, baseline) = allocators(
        args.allocators.as_deref(),
        &args.files,
        &args.config,
        args.baseline.as_deref(),
    )?;
    let plan = Plan {
        min_heap: args.find_min_heap || args.files.is_empty(),
        instructions: args.count.is_some(),
        ..plan(args.rounds, args.heap)
    };
    let bounds = bounds(args, &specs, plan)?;
    possible(args)?;
    let earlier = args.against.as_deref().map(baseline::load).transpose()?;
    let files = files(args);
    let sources = files.iter().map(|file| Source::load(file, args.largest));
    let sources = sources.collect::<Result<Vec<_>>>()?;
    let names: Vec<_> = sources.iter().map(|it| it.steps.name.as_str()).collect();
    bounds
        .iter()
        .try_for_each(|bound| bound.vet_trace(&names))?;
    let job = Job {
        specs,
        baseline,
        plan,
        has_page: args.report.is_some(),
    };
    let mut notes = Notes::new(&job.specs, job.baseline());
    notes.is_wide = args.wide;
    let setting = Setting {
        traces: sources.len(),
        rounds: (plan.rounds, plan.most_rounds()),
        heap: args.heap,
    };
    let mut shown = Shown {
        is_table: args.format == Format::Table,
        head: screen::head(&setting, &notes, plan.instructions),
    };
    let measured = job.measure(&sources, |trace| shown.table(&screen::trace(trace, &notes)))?;
    if let Some(path) = &args.report {
        write_page(path, &files, &measured, &job)?;
    }
    let mut comparison = job.comparison(measured);
    save(args, &comparison)?;
    if args.again {
        let second = job.times_only().measure(&sources, |_| Ok(()))?;
        let second: Vec<_> = second.into_iter().map(|it| it.trace).collect();
        let runs = again::runs(&comparison.traces, &second);
        shown.lines(&again::lines(&runs))?;
        comparison.again = Some(runs);
    }
    let verdict = judge(args, &bounds, earlier.as_ref(), &mut comparison);
    match args.format {
        Format::Json => output::print_json(&comparison)?,
        Format::Table => output::print(&screen::foot(args.files.is_empty()))?,
    }
    let (lines, verdict) = verdict?;
    shown.lines(&lines)?;
    verdict
}

/// Writes the page of a comparison.
fn write_page(path: &Path, files: &[PathBuf], measured: &[Measured], job: &Job) -> Result<()> {
    let sections = files.iter().zip(measured).map(|(file, it)| Section {
        origin: file.display().to_string(),
        trace: &it.trace,
        clock_ns: job.plan.clock_ns,
        notes: Notes::new(&job.specs, job.baseline()),
        details: it.details.as_ref(),
    });
    let page = Page {
        title: "surefit compare",
        sections: sections.collect(),
        pairs: Vec::new(),
    };
    output::to_file(path, |out| Ok(out.write_all(page.html().as_bytes())?))
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
    Ok(())
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

/// Saves what was measured, for a later `--against`.
fn save(args: &CompareArgs, comparison: &Comparison) -> Result<()> {
    let Some(path) = &args.save else {
        return Ok(());
    };
    output::to_file(path, |out| {
        serde_json::to_writer_pretty(&mut *out, comparison).map_err(io::Error::from)?;
        Ok(out.write_all(b"\n")?)
    })
}

/// Judges a comparison by the bounds and by an earlier one: the lines that say so, and whether both
/// are kept, in one error for both. What was found goes into the comparison.
///
/// # Errors
/// Bad input: a figure that was not measured, or another recording.
fn judge(
    args: &CompareArgs,
    bounds: &[Bound],
    earlier: Option<&Comparison>,
    comparison: &mut Comparison,
) -> Result<(Vec<String>, Result<()>)> {
    let judged = bounds::judge(bounds, comparison);
    let mut lines = Vec::new();
    let mut kept = Ok(());
    if let Some((earlier, file)) = earlier.zip(args.against.as_deref()) {
        let tolerance = args.tolerance / 100.0;
        let found = baseline::differences((earlier, file), comparison, tolerance)
            .with_context(|| file.display().to_string())?;
        lines = baseline::lines(&found);
        kept = baseline::check(&found);
        comparison.against = Some(found);
    }
    let judged = judged?;
    let held = bounds::check(bounds, &judged);
    if !bounds.is_empty() {
        comparison.asserted = Some(judged.into_iter().map(|it| it.asserted).collect());
    }
    match held {
        Ok(said) => lines.extend(said),
        Err(broken) => kept = Err(broken),
    }
    Ok((lines, kept))
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

fn files(args: &CompareArgs) -> Vec<PathBuf> {
    if args.files.is_empty() {
        source::compared_files()
    } else {
        args.files.clone()
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
                threads_at_once: None,
                recorded_cpu_ns: None,
                timed_events: None,
                peak_live_bytes: 1000,
                left_out: None,
                beside_malloc: None,
                rounds: ratios.len() as u32,
                ablation: None,
                hinted: None,
                results: vec![cf, tlsf],
            }],
            asserted: None,
            against: None,
            again: None,
        }
    }
}
