//! `surefit replay`: one trace, one allocator.

use anyhow::{Result, bail};

use crate::cli::{Format, ReplayArgs};
use crate::error::Broken;
use crate::measure::child::Passes;
use crate::measure::rounds::{self, Plan};
use crate::measure::single::Setting;
use crate::measure::threaded;
use crate::output;
use crate::passes::{counting::Counting, percentiles};
use crate::results::AllocatorResult;
use crate::screen;
use crate::source::Source;
use crate::spec::{Choice, Spec};

/// Replays a trace and prints one result.
///
/// # Errors
/// Bad input; a replay that did not complete; a measurement above its proven bound.
pub(crate) fn run(args: &ReplayArgs) -> Result<()> {
    let spec = Spec::parse(&args.allocator)?;
    if args.threads && spec.in_region() {
        bail!("{spec}: serves one thread; leave --threads out, or take system or preload:PATH");
    }
    let source = if args.fed {
        Source::fed(&args.file)?
    } else {
        Source::load(&args.file, args.largest)?
    };
    let passes = args.only.unwrap_or(Passes::ALL);
    if passes.counting {
        return count(&spec, &source, args);
    }
    let plan = Plan {
        setting: Setting {
            heap: args.heap,
            touch: !args.no_touch,
        },
        rounds: args.rounds,
        access_rounds: args.rounds,
        percentiles: true,
        min_heap: false,
        instructions: false,
        clock_ns: percentiles::clock_ns(),
    };
    let mut row = if args.threads {
        threaded::measure(&source, &spec, plan)?
    } else {
        rounds::measure_one(&source, &spec, passes, plan)?
    };
    row.left_out = source.left_out;
    match args.format {
        Format::Json => output::print_json(&row)?,
        Format::Table => output::print(&screen::replay(&source.steps, &row))?,
    }
    verdict(&source, &row)
}

/// What the exit status says.
fn verdict(source: &Source, row: &AllocatorResult) -> Result<()> {
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
fn count(spec: &Spec, source: &Source, args: &ReplayArgs) -> Result<()> {
    let Choice::InProcess(kind) = &spec.choice else {
        bail!("{spec}: calls are counted in this process only");
    };
    rounds::run_fresh(
        spec,
        kind,
        &source.steps,
        args.heap,
        Counting {
            steps: &source.steps,
        },
    )
}
