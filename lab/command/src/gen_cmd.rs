//! `surefit gen`: writes traces of synthetic programs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use surefit_trace::generate::{Options, Program};
use surefit_trace::{Header, Peak, Sites};

use crate::trace_cmd::report::{CheckDocument, CheckedFile, Described};
use crate::trace_cmd::summary;
use crate::trace_file;
use surefit_measure::output;
use surefit_measure::output::Format;
use surefit_measure::sizes::{self, Size};

/// The arguments of `surefit gen`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program
    #[arg(value_parser = programs(), value_name = "NAME")]
    program: Program,
    /// The seed of all random choices: the same seed gives the same trace everywhere
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// How many objects to allocate; not for phase, which takes --live instead [default: 1000000]
    #[arg(long, value_name = "N")]
    allocations: Option<u64>,
    /// The most bytes live at once, such as 768K or 16M [default: depends on the program]
    #[arg(long, value_name = "BYTES", value_parser = sizes::bytes)]
    live: Option<usize>,
    /// The file to write; it is compressed if its name ends in .zst; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

fn programs() -> impl TypedValueParser<Value = Program> {
    let value = |program: Program| PossibleValue::new(program.name()).help(program.about());
    PossibleValuesParser::new(Program::ALL.map(value))
        .try_map(|name| Program::from_name(&name).ok_or(Unknown))
}

/// A name that the parser accepted although no program has it.
#[derive(Debug, thiserror::Error)]
#[error("there is no such program")]
struct Unknown;

/// Runs `surefit gen`.
///
/// # Errors
/// The program cannot follow the options, or the file cannot be written.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let options = Options {
        seed: args.seed,
        allocations: args.allocations,
        live_bytes: args.live.map(|bytes| bytes as u64),
    };
    let name = args.program.name();
    let mut spool = trace_file::spool(&args.output, false)?;
    let mut written = Ok(());
    let played = args.program.play(&options, |event| {
        if written.is_ok() {
            written = spool.write(event);
        }
    });
    played.map_err(|error| anyhow!("gen {name}: {error}"))?;
    written.map_err(|error| trace_file::unwritten(error, &args.output))?;
    let peak = spool.peak();
    let (header, bytes) = trace_file::write(spool, name, &Sites::default(), None, &args.output)?;
    if args.output != Path::new("-") {
        report(args, &header, peak, bytes)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn report(args: &Args, header: &Header, peak: Peak, file_bytes: u64) -> Result<()> {
    let described = Described::new(header, peak);
    match args.format {
        Format::Json => {
            let file = CheckedFile::new(&args.output, Ok(described));
            output::print_json(&CheckDocument::new(vec![file]))
        }
        Format::Table => output::print_lines(&format!(
            "{}: {}, {} on disk\n",
            args.output.display(),
            summary(&described),
            Size(file_bytes)
        )),
    }
}
