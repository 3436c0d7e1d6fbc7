//! `surefit certify`: how large a heap must be to serve a demand without fail, and how much one
//! call can cost.

mod certified;
mod demand;
mod emit;
mod emit_c;
mod proposals;
mod proposed;
mod report;
mod target;

use std::path::PathBuf;

use anyhow::Result;
use surefit_measure::output;
use surefit_measure::output::Format;
use surefit_measure::spec::Spec;

use self::certified::{Source, report};
use self::report::Report;
use self::target::Target;

/// The contents of a demand file, for `--help`.
const DEMAND_HELP: &str = "\
A demand states the most that a program has live at once. Its file has one of these forms; the last
two can be combined:
  {\"request_bytes\": 65536, \"largest_request_bytes\": 256}
      requests of at most 65,536 bytes in all, each of at most 256 bytes, in any mix of sizes. Optional
      key: \"smallest_request_bytes\" (16 if absent: each object costs bytes of its own).
  {\"objects\": 10000, \"block_bytes\": 640000}
      at most 10,000 objects in any mix of sizes, with at most 640,000 bytes of page-blocks in all.
      The page-block of an object is its request rounded up to a size-class: at most 1/8 larger for
      64 bytes and more. An object in pieces has several page-blocks. Optional keys:
      \"largest_request_bytes\" (the largest request), \"resized_bytes\" (the largest resized object).
  {\"per_class\": [{\"request_bytes\": 48, \"objects\": 200}, {\"request_bytes\": 4096, \"objects\": 8}]}
      for each size, at most that many objects of just this size at once; the key \"align_bytes\" is
      optional. Objects of any size up to a limit are a demand of the first form.

Example: echo '{\"request_bytes\": 65536, \"largest_request_bytes\": 256}' > demand.json
         surefit certify --demand demand.json --propose
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
    /// Also propose the configuration that needs the fewest bytes, and show what each choice costs.
    /// The keys of SPEC are kept.
    #[arg(long)]
    propose: bool,
    /// Print the configuration, the demand and the certified bytes as source text instead.
    #[arg(long, value_enum, conflicts_with_all = ["propose", "format", "target"])]
    emit: Option<emit::Language>,
    /// What the source text calls the heap: a program may have several.
    #[arg(long, value_name = "NAME", default_value = "heap", value_parser = emit::name)]
    name: String,
    /// Also print how much each call costs at most on this processor: cortex-m4. The objects of the
    /// demand have one page-block each.
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
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
    let source = Source::load(args.trace.as_deref(), args.demand.as_deref())?;
    let target = match &args.target {
        Some(name) => Some(Target::find(
            name,
            &spec,
            certified::options(&spec)?,
            &source,
        )?),
        None => None,
    };
    if let Some(language) = args.emit {
        return output::print(&emit::source(language, &args.name, &source, &spec)?);
    }
    let mut certified = report(&source, &spec);
    if args.propose {
        let found = proposals::find(&source, &spec)?;
        certified = match certified {
            Ok(report) => Ok(Report {
                proposals: Some(found),
                ..report
            }),
            Err(error) => Err(error.context(found.instead())),
        };
    }
    let certified = Report {
        target,
        ..certified?
    };
    match args.format {
        Format::Json => output::print_json(&certified),
        Format::Table => output::print(&certified.to_string()),
    }
}
