//! `surefit certify`: how large a heap must be to serve a demand without fail, and how much one
//! call can cost.

mod demand;
mod report;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use surefit_compact::certify::{CallWork, Demand, DemandMeter, Uncertifiable, certify};
use surefit_compact::{Config, Heap, Keyed, Medium, Narrow, Wide, Width};
use surefit_trace::{Op, Trace};

use self::report::{Certified, Report};
use surefit_measure::output;
use surefit_measure::output::Format;
use surefit_measure::registry::Kind;
use surefit_measure::source::load_trace;
use surefit_measure::spec::{Choice, Spec};
use surefit_measure::steps::LEAST_ALIGN;
use surefit_measure::subjects::compact::Words;

/// The contents of a demand file, for `--help`.
const DEMAND_HELP: &str = "\
A demand states the most that a program has live at once. Its file has one of two forms, or both:
  {\"objects\": 10000, \"block_bytes\": 640000}
      at most 10,000 objects in any mix of sizes, with at most 640,000 bytes of page-blocks in all.
      The page-block of an object is its request rounded up to a size-class: at most 1/8 larger for
      64 bytes and more. An object in pieces has several page-blocks. Optional keys:
      \"largest_request_bytes\" (the largest request), \"resized_bytes\" (the largest resized object).
  {\"per_class\": [{\"request_bytes\": 48, \"objects\": 200}, {\"request_bytes\": 4096, \"objects\": 8}]}
      for each size, at most that many objects at once; the key \"align_bytes\" is optional.

Example: echo '{\"objects\": 10000, \"block_bytes\": 640000}' > demand.json
         surefit certify --demand demand.json
";

/// The arguments of `certify`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = DEMAND_HELP,
    group = clap::ArgGroup::new("what").required(true).args(["trace", "demand"])
)]
pub(crate) struct Args {
    /// Certify the demand of this trace: a file, or bundled:NAME (redis, redis-drift, emacs,
    /// python-a, python-b).
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Certify the demand in this JSON file; see below.
    #[arg(long, value_name = "FILE")]
    demand: Option<PathBuf>,
    /// The allocator: cf, with or without keys.
    #[arg(long, value_name = "SPEC", default_value = "cf")]
    allocator: String,
    /// How the certificate is printed.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Prints the certificates of a demand.
///
/// # Errors
/// Bad input; no heap of this configuration can serve the demand.
pub(crate) fn run(args: &Args) -> Result<()> {
    let spec = Spec::parse(&args.allocator)?;
    let Choice::InProcess(Kind::Cf(options)) = &spec.choice else {
        bail!("{spec}: has no certificate; choose cf, with or without keys");
    };
    let report = match options.words {
        Words::Narrow => report::<Narrow>(args, &spec, &options.config)?,
        Words::Medium => report::<Medium>(args, &spec, &options.config)?,
        Words::Wide if options.has_keys => report::<Keyed<Wide>>(args, &spec, &options.config)?,
        Words::Wide => report::<Wide>(args, &spec, &options.config)?,
    };
    match args.format {
        Format::Json => output::print_json(&report),
        Format::Table => output::print(&report.to_string()),
    }
}

fn report<W: Width>(args: &Args, spec: &Spec, config: &Config) -> Result<Report> {
    match (&args.trace, &args.demand) {
        (Some(file), _) => of_trace::<W>(&load_trace(file)?, spec, config),
        (None, Some(file)) => {
            let demand = demand::Parsed::load::<W>(file, config)?;
            let mut report = Report::new(&file.display().to_string(), spec);
            report.demand = demand.budget().map(report::Budget::new);
            for (name, demand) in demand.demands() {
                let certified = certified::<W>(config, name, &demand);
                report.add(certified.with_context(|| file.display().to_string())?);
            }
            Ok(report)
        }
        (None, None) => bail!("give --trace or --demand"),
    }
}

/// The certificates of a trace. They follow from counts; nothing is replayed.
fn of_trace<W: Width>(trace: &Trace, spec: &Spec, config: &Config) -> Result<Report> {
    let meter = metered::<W>(trace, config)?;
    let mut report = Report::new(trace.name(), spec);
    report.peak_live_bytes = Some(trace.header().counts.peak_bytes);
    report.demand = Some(report::Budget::new(meter.budget()));
    report.largest_free = Some(largest(meter.call()));
    for (name, demand) in [
        ("joint", meter.joint()),
        ("per-class", meter.per_class()),
        ("both", meter.both()),
    ] {
        let certified = certified::<W>(config, name, &demand);
        report.add(certified.with_context(|| trace.name().to_owned())?);
    }
    Ok(report)
}

fn largest(call: CallWork) -> report::LargestFree {
    report::LargestFree {
        blocks: call.blocks,
        moves_max: call.moves,
        moved_bytes_max: call.moved_bytes,
    }
}

/// Counts the demand of a trace.
fn metered<'c, W: Width>(trace: &Trace, config: &'c Config) -> Result<DemandMeter<'c>> {
    let mut meter = DemandMeter::new::<W>(config);
    let mut objects = Vec::new();
    for (number, event) in trace.events().iter().enumerate() {
        count(&mut meter, &mut objects, event.op())
            .with_context(|| format!("{}: event {number}", trace.name()))?;
    }
    Ok(meter)
}

/// Counts one event; `objects` are the sizes and alignments of all objects so far.
fn count(meter: &mut DemandMeter<'_>, objects: &mut Vec<(usize, usize)>, op: Op) -> Result<()> {
    let counted = match op {
        Op::Alloc { size, call, .. } => {
            let object = (usize::try_from(size)?, call.align_at_least(LEAST_ALIGN));
            objects.push(object);
            meter.allocate(object.0, object.1)
        }
        Op::Realloc { id, size } => {
            let object = &mut objects[id as usize];
            let old = std::mem::replace(&mut object.0, usize::try_from(size)?);
            meter.resize((old, object.1), *object)
        }
        Op::Free { id } => {
            let (len, align) = objects[id as usize];
            meter.free(len, align)
        }
    };
    counted.map_err(|error| {
        let mend = match error {
            Uncertifiable::TooLarge { .. } => "leave pieces=off out, or choose larger pages",
            Uncertifiable::TooManyEntries { .. } => {
                "no heap can serve it: leave width=16|24 out, or choose larger pieces"
            }
            _ => return error.into(),
        };
        anyhow::Error::new(error).context(mend)
    })
}

fn certified<W: Width>(
    config: &Config,
    name: &'static str,
    demand: &Demand<'_>,
) -> Result<Certified> {
    let certificate = certify::<W>(config, demand)?;
    let control = size_of::<Heap<'_, W>>().next_multiple_of(8);
    Ok(Certified::new(name, &certificate, control))
}
