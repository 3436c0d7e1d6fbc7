//! The child process of a command that measures: it replays what its parent requests, and prints
//! the result as JSON.

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::child::Passes;
use crate::error::Broken;
use crate::output;
use crate::passes::{counting::Counting, percentiles};
use crate::results::AllocatorResult;
use crate::rounds::{self, Brief, Plan};
use crate::single::Setting;
use crate::sizes::HeapSize;
use crate::source::Source;
use crate::spec::{Choice, Spec};
use crate::steps::Steps;
use crate::threaded;

/// The arguments of a child.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file of the trace; only its name if the trace comes on standard input.
    file: PathBuf,
    /// The allocator.
    #[arg(long, value_name = "SPEC")]
    allocator: String,
    /// Replay each thread of the trace on its own thread.
    #[arg(long)]
    threads: bool,
    /// Do not write and verify every byte of every object.
    #[arg(long)]
    no_touch: bool,
    /// The size of the heap.
    #[arg(long, value_name = "BYTES|Nx", default_value_t = HeapSize::DEFAULT)]
    heap: HeapSize,
    /// Leave out every object that is ever larger than this.
    #[arg(long, value_name = "BYTES", value_parser = crate::sizes::bytes)]
    largest: Option<usize>,
    /// Rounds of the timed passes.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// About how many accesses the access pass makes.
    #[arg(long)]
    accesses: Option<u64>,
    /// Run only these passes.
    #[arg(long)]
    only: Option<Passes>,
    /// Read the trace from standard input; the file only names it.
    #[arg(long)]
    fed: bool,
}

/// Replays a trace and prints one result; the counting pass prints nothing.
///
/// # Errors
/// Bad input; the replay did not complete; a measurement is above its proven bound.
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
    let plan = Plan {
        brief: args.accesses.map(|most_accesses| Brief {
            most_rounds: args.rounds,
            most_accesses,
            most_events: usize::MAX,
        }),
        ..Plan::of_one(setting, args.rounds, percentiles::clock_ns())
    };
    let row = if args.threads {
        threaded::measure(&source, &spec, plan)?
    } else {
        rounds::measure_one(&source, &spec, passes, plan)?
    };
    output::print_json(&row)?;
    completed(&source.steps, &row)
}

/// Returns an error if a replay did not complete.
///
/// # Errors
/// [`Broken`] with the event at which it stopped.
pub fn completed(steps: &Steps, row: &AllocatorResult) -> Result<()> {
    let name = &steps.name;
    if let Some(error) = &row.error {
        return Err(Broken(format!(
            "{name}: {} could not complete: event {}: {}",
            row.allocator, error.event, error.kind
        ))
        .into());
    }
    Ok(())
}

/// Replays without measuring, so that valgrind can count.
fn count(spec: &Spec, source: &Source, heap: HeapSize) -> Result<()> {
    let Choice::InProcess(kind) = &spec.choice else {
        bail!("{spec}: runs in a child process, where calls cannot be counted");
    };
    let steps = &source.steps;
    rounds::run_fresh(spec, kind, steps, heap, Counting { steps })
}
