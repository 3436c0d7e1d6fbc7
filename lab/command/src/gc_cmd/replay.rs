//! `surefit gc replay`: replays a recorded program in a space of the collector.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::ValueEnum;
use surefit_clients::java::{Clocking, Options, Outcome, Stopped};
use surefit_gc::Sweep;
use surefit_os::Reservation;

use super::report::{Document, Subject};
use surefit_measure::collector::graphs;
use surefit_measure::collector::spaces::SpaceSpec;
use surefit_measure::error::Broken;
use surefit_measure::memory;
use surefit_measure::output;
use surefit_measure::output::Format;
use surefit_measure::sizes::HeapSize;

/// The arguments of `gc replay`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A recording: .sfg or .sfg.zst, or bundled:NAME (javac, antlr, hsqldb, sunflow, raytrace,
    /// mtrt)
    file: PathBuf,
    /// The space in which the collector allocates
    #[arg(long, value_name = "SPEC", default_value = "segregated")]
    space: String,
    /// The heap size with tables: bytes, such as 16M, or a multiple of the most live bytes, such as
    /// 2x
    #[arg(long, value_name = "BYTES|Nx", default_value_t = HeapSize::DEFAULT, value_parser = HeapSize::asked)]
    heap: HeapSize,
    /// How the sweep finds free memory
    #[arg(long, value_enum, default_value_t)]
    sweep: How,
    /// How allocation is timed
    #[arg(long, value_enum, default_value_t)]
    clock: ClockedBy,
    /// Also find the smallest heap in which the program completes
    #[arg(long)]
    find_min_heap: bool,
    /// Verify all invariants after every collection
    #[arg(long)]
    check: bool,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// How the sweep finds free memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum How {
    /// Read every header in turn, as in the thesis.
    #[default]
    Walk,
    /// Go from mark to mark, which merges free neighbours at once.
    Leap,
}

/// How allocation is timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ClockedBy {
    /// Between two walks of the recording, minus the same without allocations.
    #[default]
    Batch,
    /// Also read the clock twice per allocation, as in the thesis.
    Each,
}

/// Replays a recording and prints one result.
///
/// # Errors
/// Bad input; the program did not complete; it refers to a freed object.
pub(crate) fn run(args: &Args) -> Result<()> {
    let spec = SpaceSpec::parse(&args.space)?;
    let program = graphs::load(&args.file)?;
    let subject = Subject {
        file: &args.file,
        space: &spec,
        program: &program,
        heap_bytes: args.heap.bytes(program.most_live().bytes),
        sweep: match args.sweep {
            How::Walk => "walk",
            How::Leap => "leap",
        },
    };
    let mut options = Options {
        sweep: match args.sweep {
            How::Walk => Sweep::Walk,
            How::Leap => Sweep::Leap,
        },
        clocking: Clocking::Batch,
        check: args.check,
        ..Options::default()
    };
    let outcome = replay(&subject, &options)?;
    let mut document = Document::new(&subject, &outcome);
    if args.clock == ClockedBy::Each && outcome.is_ok() {
        options.clocking = Clocking::Each;
        document.add_times(
            "each",
            replay(&subject, &options)?.ok().and_then(|o| o.times),
        );
    }
    if args.find_min_heap {
        document.add_min_heap(surefit_measure::collector::smallest(
            &spec, &program, &options,
        ));
    }
    match args.format {
        Format::Json => output::print_json(&document)?,
        Format::Table => output::print_wrapped(&document.text())?,
    }
    verdict(&args.file, &spec, outcome)
}

fn replay(subject: &Subject<'_>, options: &Options) -> Result<Result<Outcome, Stopped>> {
    memory::affordable("a heap", subject.heap_bytes as u64)?;
    let mut region = Reservation::new(subject.heap_bytes)?;
    region.fault_in();
    Ok(subject
        .space
        .space
        .replay(subject.program, region.memory(), options))
}

/// Turns the outcome into an error if the replay stopped or referred to a freed object.
fn verdict(file: &Path, spec: &SpaceSpec, outcome: Result<Outcome, Stopped>) -> Result<()> {
    let file = file.display();
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(stopped @ Stopped::Corrupt { .. }) => {
            bail!(Broken(format!("{file}: {spec}: {stopped}")))
        }
        Err(stopped) => bail!(Broken(format!(
            "{file}: {spec} could not complete: {stopped}; give a larger --heap, or find the smallest with --find-min-heap"
        ))),
    };
    let Some(first) = outcome.first_freed else {
        return Ok(());
    };
    let from = match first.from {
        Some(id) => format!("object {id}"),
        None => "the recording".to_owned(),
    };
    bail!(Broken(format!(
        "{file}: {spec}: {} references to freed objects, the first in walk {}: {from} refers to object {}; \
         the recording misses a reference, or the collector freed a live object",
        outcome.references_to_freed, first.walk, first.to
    )))
}
