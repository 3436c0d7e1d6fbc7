//! `surefit gc lua`: any script on any heap that never moves an object.
//!
//! The standard output is the script's alone. What was counted goes to the standard error, and so does what went wrong.

use std::ffi::{CString, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use surefit_clients::lua::{Failure, Options, PROGRAMS, Script};
use surefit_os::Reservation;

use super::machine::{self, Done, Wall};
use crate::error::Broken;
use crate::output::grouped;
use crate::passes::percentiles;
use crate::spec::{Choice, Spec};

/// What `gc lua` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A script, or bundled:NAME
    file: PathBuf,
    /// The heap: any allocator of raw pointers
    #[arg(long, value_name = "SPEC", default_value = "segregated")]
    space: String,
    /// The size of the heap, tables and reserve included: bytes with K, M, G
    #[arg(long, value_name = "BYTES", default_value = "4M", value_parser = crate::sizes::bytes)]
    heap: usize,
    /// What the script is given, behind `--`
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

/// Runs a script.
///
/// # Errors
/// Bad input; a heap that is too small.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let spec = Spec::parse(&args.space)?;
    let Choice::InProcess(kind) = &spec.choice else {
        bail!("{spec}: is no heap of this process: take an allocator of the registry");
    };
    let (name, source) = load(&args.file)?;
    let arguments: Vec<_> = args
        .arguments
        .iter()
        .map(|argument| argument.as_bytes())
        .collect();
    let script = Script {
        name: &name,
        source: &source,
        arguments: &arguments,
    };
    let mut region = Reservation::new(args.heap)?;
    let done = machine::run(
        kind,
        region.memory(),
        Wall::new(),
        &script,
        Options::default(),
    );
    let too_small = |refused| Broken(format!("{spec}: {refused}: give a larger --heap"));
    let Some(done) = done.map_err(too_small)? else {
        bail!(
            "{spec}: hands out no raw pointers, which Lua needs: take segregated, tlsf, first-fit, …"
        );
    };
    eprint!("{}", summary(args, &spec, &done));
    match &done.ran.result {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(Failure::Error(message)) => {
            eprintln!("surefit: {message}");
            Ok(ExitCode::FAILURE)
        }
        Err(failure @ Failure::OutOfMemory(_)) => {
            let heap = grouped(args.heap as u64);
            let file = args.file.display();
            Err(Broken(format!("{file}: {failure} than --heap {heap} on {spec}")).into())
        }
    }
}

/// The name and the text of a script.
fn load(file: &Path) -> Result<(CString, Vec<u8>)> {
    if let Some(name) = file.to_str().and_then(|file| file.strip_prefix("bundled:")) {
        let names: Vec<_> = PROGRAMS.iter().map(|program| program.name).collect();
        let program = PROGRAMS.iter().find(|program| program.name == name);
        let program = program.with_context(|| {
            format!(
                "bundled:{name}: there is no such script: known are {}",
                names.join(", ")
            )
        })?;
        let script = program.script(&[]);
        return Ok((script.name.to_owned(), script.source.to_vec()));
    }
    let source =
        std::fs::read(file).with_context(|| format!("{}: cannot be read", file.display()))?;
    let mut name = b"@".to_vec();
    name.extend(file.as_os_str().to_owned().into_vec());
    let name = CString::new(name).context("a file's name holds no zero")?;
    Ok((name, source))
}

/// What was counted and timed, in a few lines.
fn summary(args: &Args, spec: &Spec, done: &Done) -> String {
    let counts = &done.ran.counts;
    let clock_ns = percentiles::clock_ns();
    let net_ms = |ns: u64, readings: u64| ns.saturating_sub(readings * clock_ns) as f64 / 1e6;
    let mut text = format!(
        "surefit gc lua: {} on {spec}, heap {} B\n\
         asked for:   {} allocations of {} B, {} frees, {} resizes; at most {} B at a time, {} B after a collection\n\
         collections: {}, {:.1} ms; in them {} frees\n\
         heap:        {} calls outside of collections, {:.1} ms; {clock_ns} ns a call for the clock are taken off\n\
         reserve:     {} loans, the largest of {} B\n",
        args.file.display(),
        grouped(args.heap as u64),
        grouped(counts.allocations),
        grouped(counts.requested_bytes),
        grouped(counts.frees),
        grouped(counts.resizes),
        grouped(counts.peak_bytes),
        grouped(counts.peak_kept_bytes),
        grouped(counts.collections),
        net_ms(counts.collection_ticks, counts.collections),
        grouped(counts.swept),
        grouped(counts.timed_calls),
        net_ms(counts.call_ticks, counts.timed_calls),
        grouped(counts.loans),
        grouped(counts.largest_loan_bytes),
    );
    if let Some(counters) = done.counters {
        let each = |count: u64| count as f64 / counts.allocations.max(1) as f64;
        text += &format!(
            "lists:       an allocation: {:.2} visits, {:.3} table updates, {:.2} splits; {:.2} merges\n",
            each(counters.visits),
            each(counters.table_updates),
            each(counters.splits),
            each(counters.merges),
        );
    }
    text
}
