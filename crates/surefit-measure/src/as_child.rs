//! A child of a command that measures: it replays what its parent tells it, and prints the result as JSON.

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::child::Passes;
use crate::error::Broken;
use crate::output;
use crate::passes::{counting::Counting, percentiles};
use crate::results::AllocatorResult;
use crate::rounds::{self, Plan};
use crate::single::Setting;
use crate::sizes::HeapSize;
use crate::source::Source;
use crate::spec::{Choice, Spec};
use crate::threaded;

/// What a child is told.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The trace's name, and its file unless it is fed.
    file: PathBuf,
    /// The allocator.
    #[arg(long, value_name = "SPEC")]
    allocator: String,
    /// Replay each thread of the trace on a thread of its own.
    #[arg(long)]
    threads: bool,
    /// Leave out writing and verifying every byte.
    #[arg(long)]
    no_touch: bool,
    /// The size of the heap.
    #[arg(long, value_name = "BYTES|Nx", default_value_t = HeapSize::DEFAULT)]
    heap: HeapSize,
    /// Leave out objects that are ever larger than this.
    #[arg(long, value_name = "BYTES", value_parser = crate::sizes::bytes)]
    largest: Option<usize>,
    /// Rounds of the timed passes.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Only these passes.
    #[arg(long)]
    only: Option<Passes>,
    /// The trace comes on standard input, and the file only names it.
    #[arg(long)]
    fed: bool,
}

/// Replays a trace and prints one result; in the counting pass it prints nothing.
///
/// # Errors
/// Bad input; a replay that did not complete; a measurement above its proven bound.
pub fn run(args: &Args) -> Result<()> {
    let spec = Spec::parse(&args.allocator)?;
    let source = if args.fed {
        Source::fed(&args.file)?
    } else {
        Source::load(&args.file, args.largest)?
    };
    let passes = args.only.unwrap_or(Passes::ALL);
    if passes.counting {
        return count(&spec, &source, args.heap);
    }
    let setting = Setting {
        heap: args.heap,
        touch: !args.no_touch,
    };
    let plan = Plan::of_one(setting, args.rounds, percentiles::clock_ns());
    let row = if args.threads {
        threaded::measure(&source, &spec, plan)?
    } else {
        rounds::measure_one(&source, &spec, passes, plan)?
    };
    output::print_json(&row)?;
    completed(&source, &row)
}

/// Whether a replay completed.
///
/// # Errors
/// [`Broken`] with the event at which it stopped.
pub fn completed(source: &Source, row: &AllocatorResult) -> Result<()> {
    let name = &source.steps.name;
    if let Some(error) = &row.error {
        return Err(Broken(format!(
            "{name}: {} could not complete: event {}: {}",
            row.allocator, error.event, error.kind
        ))
        .into());
    }
    Ok(())
}

/// Only replays, for valgrind to count.
fn count(spec: &Spec, source: &Source, heap: HeapSize) -> Result<()> {
    let Choice::InProcess(kind) = &spec.choice else {
        bail!("{spec}: calls are counted in this process only");
    };
    let steps = &source.steps;
    rounds::run_fresh(spec, kind, steps, heap, Counting { steps })
}
