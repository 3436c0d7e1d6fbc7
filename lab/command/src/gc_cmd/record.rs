//! `surefit gc record`: records a classic program for `gc replay`.

use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use surefit_clients::programs::{Program, record};
use surefit_os::Reservation;
use surefit_trace::graph::compressed;

use surefit_measure::memory::affordable;
use surefit_measure::output;
use surefit_measure::sizes::{self, Size};

/// The compression level.
const LEVEL: i32 = 12;

/// The arguments of `gc record`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program
    #[arg(value_parser = programs(), value_name = "NAME")]
    program: Program,
    /// How much work the program does; the unit depends on the program
    #[arg(long, value_name = "N")]
    size: Option<u32>,
    /// Bytes allocated between two walks through the live objects
    #[arg(long, value_name = "BYTES", value_parser = sizes::bytes, default_value = "256K")]
    every: usize,
    /// Memory for all allocations: nothing is freed
    #[arg(long, value_name = "BYTES", value_parser = sizes::bytes, default_value = "1G")]
    memory: usize,
    /// The file to write: .sfg, or .sfg.zst for compression
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// The least value of `--every`: with fewer bytes, almost all work would be walks.
const LEAST_EVERY: usize = 1024;

/// The largest size that is accepted. Each step of `trees` doubles its work; the other programs
/// take up to a hundred times their default.
const fn most_size(program: Program) -> u32 {
    match program {
        Program::Trees => 24,
        _ => 100 * program.size(),
    }
}

fn programs() -> impl TypedValueParser<Value = Program> {
    let value = |program: Program| PossibleValue::new(program.name());
    PossibleValuesParser::new(Program::ALL.map(value))
        .try_map(|name| Program::named(&name).ok_or(Unknown))
}

/// A name that the parser accepted although no program has it.
#[derive(Debug, thiserror::Error)]
#[error("there is no such program")]
struct Unknown;

/// Records a program.
///
/// # Errors
/// The program needs more memory, or the file cannot be written.
pub(crate) fn run(args: &Args) -> Result<()> {
    let name = args.program.name();
    let size = args.size.unwrap_or(args.program.size());
    let most = most_size(args.program);
    if !(1..=most).contains(&size) {
        bail!("gc record {name}: --size {size}: give 1 to {most}");
    }
    if args.every < LEAST_EVERY {
        bail!(
            "gc record {name}: --every {}: give at least {LEAST_EVERY} bytes: each walk visits all live objects",
            args.every
        );
    }
    affordable("a recording in memory", args.memory as u64)?;
    let mut memory = Reservation::new(args.memory)?;
    let mut bytes = Vec::new();
    let recorded = record(args.program, size, memory.memory(), args.every, &mut bytes)
        .map_err(|error| anyhow!("gc record {name}: {error}"))?;
    if args
        .output
        .extension()
        .is_some_and(|extension| extension == "zst")
    {
        bytes = compressed(&bytes, LEVEL)?;
    }
    output::to_file(&args.output, |out| Ok(out.write_all(&bytes)?))?;
    output::print_lines(&format!(
        "{}: {} allocations, {}, {} walks, {} on disk\n",
        args.output.display(),
        recorded.allocations,
        Size(recorded.bytes),
        recorded.walks,
        Size(bytes.len() as u64),
    ))
}
