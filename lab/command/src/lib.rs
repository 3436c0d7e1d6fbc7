//! The `surefit` command: [`run()`] runs it, [`command()`] describes it.
//!
//! | module | holds |
//! | --- | --- |
//! | `cli` | the command line |
//! | `*_cmd` | one verb each |
//! | `screen`, `report` | tables for the terminal, and HTML pages |
//! | `details` | what a page shows beyond results, measured |
//! | `call_sites` | who allocates, in words |
//!
//! The crate `surefit-measure` measures. The command `surefit-experiments` runs the experiments.

mod call_sites;
mod certify_cmd;
mod cli;
mod compare_cmd;
mod details;
mod experiment_cmd;
mod gc_cmd;
mod gen_cmd;
#[cfg(target_os = "linux")]
mod record_cmd;
mod replay_cmd;
mod report;
mod report_cmd;
mod screen;
mod trace_cmd;
mod trace_file;
#[cfg(target_os = "linux")]
mod try_cmd;
mod tune_cmd;

use std::process::ExitCode;

use clap::CommandFactory as _;
use cli::{Cli, Verb};
use surefit_measure::{arguments, as_child, error};

/// Reads the command line, runs the verb, and reports an error in one line.
#[must_use]
pub fn run() -> ExitCode {
    match arguments::read::<Cli>().and_then(|cli| cli.map_or(Ok(ExitCode::SUCCESS), verb)) {
        Ok(status) => status,
        Err(error) => error::report(&error),
    }
}

/// What the command takes, for completions of shells and manual pages: see
/// `examples/shell_files.rs`.
#[must_use]
pub fn command() -> clap::Command {
    Cli::command()
}

fn verb(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.verb {
        Verb::Replay(args) => replay_cmd::run(&args).map(|()| ExitCode::SUCCESS),
        Verb::Compare(args) => compare_cmd::run(&args).map(|()| ExitCode::SUCCESS),
        Verb::Tune(args) => tune_cmd::run(&args).map(|()| ExitCode::SUCCESS),
        Verb::Report(args) => report_cmd::run(&args).map(|()| ExitCode::SUCCESS),
        Verb::Certify(args) => certify_cmd::run(&args).map(|()| ExitCode::SUCCESS),
        #[cfg(target_os = "linux")]
        Verb::Record(args) => record_cmd::run(&args),
        #[cfg(target_os = "linux")]
        Verb::Try(args) => try_cmd::run(&args).map(|()| ExitCode::SUCCESS),
        Verb::Trace(args) => trace_cmd::run(&args),
        Verb::Gc(args) => gc_cmd::run(&args),
        Verb::Gen(args) => gen_cmd::run(&args),
        Verb::Experiment(args) => experiment_cmd::run(&args),
        Verb::AsChild(args) => as_child::run(&args).map(|()| ExitCode::SUCCESS),
    }
}
