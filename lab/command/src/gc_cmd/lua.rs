//! `surefit gc lua`: runs a Lua script on a heap that never moves an object.
//!
//! Only the script writes to standard output. Counts and errors go to standard error.

pub(crate) mod report;

use std::ffi::{CString, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use surefit_clients::lua::{Failure, Options, PROGRAMS, Script};
use surefit_os::{Reservation, platform};

use self::report::Document;
use surefit_measure::collector::machine::{self, Wall};
use surefit_measure::error::{Broken, complain, say};
use surefit_measure::memory;
use surefit_measure::output::Format;
use surefit_measure::output::{self, grouped};
use surefit_measure::passes::percentiles;
use surefit_measure::small_file;
use surefit_measure::spec::{Choice, Spec};

/// The arguments of `gc lua`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A script, or bundled:NAME
    file: PathBuf,
    /// The heap: any allocator that hands out raw pointers
    #[arg(long, value_name = "SPEC", default_value = "segregated")]
    space: String,
    /// The size of the heap in bytes, tables and reserve included, such as 64K or 16M
    #[arg(long, value_name = "BYTES", default_value = "4M", value_parser = surefit_measure::sizes::bytes)]
    heap: usize,
    /// How the counts are printed, on standard error
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The arguments of the script, after `--`
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
        bail!(
            "{spec}: does not run in this process; choose a space that `surefit gc lua --help` lists"
        );
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
    memory::affordable("a heap", args.heap as u64)?;
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
            "{spec}: hands out no raw pointers, and Lua needs them; choose segregated, tlsf, first-fit, …"
        );
    };
    let file = args.file.display().to_string();
    let clock_ns = percentiles::clock_ns();
    let document = Document::new(file, spec.to_string(), args.heap, &done, clock_ns);
    match args.format {
        Format::Json => say(&(serde_json::to_string_pretty(&document)? + "\n")),
        Format::Table => say(&document.text()),
    }
    platform::flush_output().map_err(|cause| output::unwritable("standard output", &cause))?;
    match &done.ran.result {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(Failure::Error(message)) => {
            complain(message);
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
                "bundled:{name}: there is no such script; the bundled scripts are {}",
                names.join(", ")
            )
        })?;
        let script = program.script(&[]);
        return Ok((script.name.to_owned(), script.source.to_vec()));
    }
    let source = small_file::read(file)?;
    let mut name = b"@".to_vec();
    name.extend(file.as_os_str().to_owned().into_vec());
    let name = CString::new(name).context("the name of the file contains a zero byte")?;
    Ok((name, source))
}
