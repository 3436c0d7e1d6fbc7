//! `surefit certify`: how large a heap must be to serve a demand without fail, and how much one
//! call can cost.

mod account;
mod asked;
mod certified;
mod covered;
mod demand_file;
mod emit;
mod emit_c;
mod margin;
mod needed;
mod proposals;
mod proposed;
mod report;
mod runs;
mod shared;
mod stated;
mod target;
mod users;

use std::path::PathBuf;

use anyhow::{Result, bail};
use surefit_measure::config_file;
use surefit_measure::output;
use surefit_measure::output::Format;
use surefit_measure::spec::Spec;

use self::asked::{Asked, Source};
use self::certified::report;
pub(crate) use self::emit::{bound_text, config_text};
use self::report::Report;
use self::target::Target;

/// The contents of a demand file, for `--help`.
const DEMAND_HELP: &str = "\
A demand states the most that a program has live at once. Its file is TOML or JSON, and has one of
these forms, or several at once: then all of them are live at once, and are added up:
  request_bytes = 65536
  largest_request_bytes = 256
      requests of at most 65,536 bytes in all, each of at most 256 bytes, in any mix of sizes.
      Optional keys: smallest_request_bytes (16 if absent: each object costs bytes of its own),
      align_bytes (the strictest alignment; 8 if absent).
  objects = 20
  largest_request_bytes = 300
      at most 20 objects, each of at most 300 bytes, in any mix of sizes. Optional key: align_bytes.
  objects = 10000
  block_bytes = 640000
      at most 10,000 objects in any mix of sizes, with at most 640,000 bytes of page-blocks in all.
      The page-block of an object is its request rounded up to a size-class: at most 1/8 larger for
      64 bytes and more; if aligned to more than 8, to one that is a multiple of it. An object in
      pieces has several page-blocks. Optional keys: largest_request_bytes (the largest request),
      align_bytes, resized_bytes (the largest resized object).
  [[budgets]]
      a further budget of any of these forms, used at the same time: all budgets of a file are added up.
  [[per_class]]
  request_bytes = 48
  objects = 200
      for each size, at most that many objects of just this size at once; the key align_bytes is
      optional. Objects of any size up to a limit are a demand of the forms above. An object that is
      resized counts at both lengths meanwhile; resized_bytes counts for the other forms.
  threads = 4
  pins = 2
      for --allocator 1-cf or n-cf: the threads that use the heap at once, and the objects that
      their guards pin besides. Optional key: largest_pinned_bytes.
In JSON the first is {\"request_bytes\": 65536, \"largest_request_bytes\": 256}, and per_class is
{\"per_class\": [{\"request_bytes\": 48, \"objects\": 200}]}.

Examples: printf 'request_bytes = 65536\\nlargest_request_bytes = 256\\n' > demand.toml
          surefit certify --demand demand.toml --propose
          surefit certify --trace run-1.sft.zst run-2.sft.zst run-3.sft.zst --margin auto
";

/// The arguments of `certify`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = DEMAND_HELP,
    override_usage = "surefit certify [OPTIONS] <--trace <FILE>...|--demand <FILE>>",
    group = clap::ArgGroup::new("what").required(true).args(["trace", "demand", "files"])
)]
pub(crate) struct Args {
    /// Files of which nobody says what they are: refused with the option that says it.
    #[arg(hide = true)]
    files: Vec<PathBuf>,
    /// Certify the demand of this trace: a file, or bundled:NAME (redis, redis-drift, emacs,
    /// python-a, python-b). Of several runs of one program, the greatest demand.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "demand")]
    trace: Vec<PathBuf>,
    /// Certify the demand in this file of TOML or JSON; see below.
    #[arg(long, value_name = "FILE")]
    demand: Option<PathBuf>,
    /// The allocator: cf, with or without keys; for threads 1-cf or n-cf.
    #[arg(long, value_name = "SPEC", default_value = "cf")]
    allocator: String,
    /// A TOML file with keys of the allocator, as `surefit tune` writes it: short for the key
    /// config.
    #[arg(long, value_name = "FILE", conflicts_with = "propose")]
    config: Option<PathBuf>,
    /// Certify so much more than the demand; with `auto`, so much that a further run is covered in
    /// 99 of 100 tries.
    #[arg(long, value_name = "PERCENT|auto")]
    margin: Option<margin::Choice>,
    /// The threads that use a shared heap at once; by default those of the trace.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65535))]
    threads: Option<u32>,
    /// The objects that guards of a shared heap pin at once.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pins: Option<u32>,
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
    if let Some(file) = args.files.first() {
        let file = file.display();
        bail!(
            "{file}: say what it is: --trace {file} for a recorded run, --demand {file} for a stated demand"
        );
    }
    let allocator = match &args.config {
        Some(file) => config_file::spec(file, Some(&args.allocator))?,
        None => args.allocator.clone(),
    };
    let spec = Spec::parse(&allocator)?;
    let asked = Asked {
        source: Source::load(&args.trace, args.demand.as_deref())?,
        margin: args.margin,
        threads: args.threads,
        pins: args.pins,
    };
    let target = match &args.target {
        Some(name) => {
            let target = Target::find(name, &spec, certified::options(&spec)?)?;
            covered::check(name, &asked.source)?;
            Some(target)
        }
        None => None,
    };
    if let Some(language) = args.emit {
        return output::print(&emit::source(language, &args.name, &asked, &spec)?);
    }
    let mut certified = report(&asked, &spec);
    if args.propose {
        let found = proposals::find(&asked, &spec)?;
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
        Format::Table => output::print_wrapped(&certified.to_string()),
    }
}
