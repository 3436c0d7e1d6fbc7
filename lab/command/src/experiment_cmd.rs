//! `surefit experiment`: passes its arguments to the command `surefit-experiments`, which is a
//! separate package.

use std::env::consts::EXE_SUFFIX;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Result, anyhow};
use surefit_measure::error::Broken;

/// The command that runs the experiments.
const NAME: &str = "surefit-experiments";

/// The arguments of `experiment`: those of `surefit-experiments`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// An experiment and its options; `list` shows all experiments.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "NAME"
    )]
    words: Vec<OsString>,
}

/// Runs `surefit-experiments` with the same arguments. Its output and exit status become those of
/// this command.
///
/// # Errors
/// `surefit-experiments` is not installed, or cannot be started.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let program = program();
    let status = Command::new(&program).args(&args.words).status();
    let status = status.map_err(|error| match error.kind() {
        ErrorKind::NotFound => anyhow!(
            "{NAME} is not installed: from the project's folder, run \
             `cargo run --release -p {NAME} -- …`, or `cargo install --path lab/experiments` once"
        ),
        _ => anyhow!("{}: cannot be started: {error}", program.display()),
    })?;
    let code = status
        .code()
        .ok_or_else(|| Broken(format!("{NAME} ended with {status}")))?;
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX)))
}

/// The path of the command in this command's folder, or else its name, for the search path.
fn program() -> PathBuf {
    let beside =
        std::env::current_exe().map(|own| own.with_file_name(format!("{NAME}{EXE_SUFFIX}")));
    match beside {
        Ok(path) if path.is_file() => path,
        _ => PathBuf::from(NAME),
    }
}
