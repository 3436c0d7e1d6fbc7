//! `surefit replay`: replays one trace on one allocator.

use anyhow::{Result, bail};
use surefit_measure::as_child::completed;
use surefit_measure::child::Passes;
use surefit_measure::config_file;
use surefit_measure::output::{self, Format};
use surefit_measure::passes::percentiles;
use surefit_measure::results::AllocatorResult;
use surefit_measure::rounds::{self, Plan};
use surefit_measure::single::Setting;
use surefit_measure::source::Source;
use surefit_measure::spec::Spec;
use surefit_measure::steps::Steps;
use surefit_measure::{stream, threaded};

use crate::cli::ReplayArgs;
use crate::screen;

/// Replays a trace and prints one result.
///
/// # Errors
/// Bad input; the replay did not complete; a measurement is above its proven bound.
pub(crate) fn run(args: &ReplayArgs) -> Result<()> {
    let spec = spec(args)?;
    if args.threads && !spec.is_malloc() {
        bail!(
            "{spec}: --threads replays on system and preload:PATH only; leave --threads out, or choose one of them"
        );
    }
    let setting = Setting {
        heap: args.heap,
        touch: !args.no_touch,
    };
    if args.stream {
        let (steps, row) = stream::replay(&args.file, &spec, setting)?;
        print(args, &steps, &row)?;
        return completed(&steps, &row);
    }
    let source = Source::load(&args.file, args.largest)?;
    let plan = Plan::of_one(setting, args.rounds, percentiles::clock_ns());
    let mut row = if args.threads {
        threaded::measure(&source, &spec, plan)?
    } else {
        rounds::measure_one(&source, &spec, Passes::ALL, plan)?
    };
    row.left_out = source.left_out;
    print(args, &source.steps, &row)?;
    completed(&source.steps, &row)
}

fn print(args: &ReplayArgs, steps: &Steps, row: &AllocatorResult) -> Result<()> {
    match args.format {
        Format::Json => output::print_json(row),
        Format::Table => output::print_wrapped(&screen::replay(steps, row)),
    }
}

/// The allocator, with the keys of the file of `--config`.
fn spec(args: &ReplayArgs) -> Result<Spec> {
    match (&args.config, args.allocator.as_deref()) {
        (Some(file), allocator) => Spec::parse(&config_file::spec(file, allocator)?),
        (None, Some(allocator)) => Spec::parse(allocator),
        (None, None) => bail!("give --allocator or --config"),
    }
}
