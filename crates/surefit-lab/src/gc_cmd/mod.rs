//! `surefit gc`: programs that live on a collector.

#[cfg(feature = "lua")]
pub(crate) mod lua;
mod record;
pub(crate) mod replay;
pub(crate) mod report;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use surefit_measure::collector::spaces;

/// What `gc` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    client: Client,
}

/// The programs.
#[derive(Debug, Subcommand)]
enum Client {
    /// Run a Lua script whose memory is a heap of surefit's; only exhaustion makes Lua collect
    #[cfg(feature = "lua")]
    #[command(after_help = surefit_measure::registry::help())]
    Lua(lua::Args),
    /// Replay a recorded Java program; exit status 1 if it could not complete, or refers to a freed object
    #[command(after_help = spaces::help())]
    Replay(replay::Args),
    /// Record a classic program in Rust as an object graph, to be replayed
    Record(record::Args),
}

/// Runs a program.
///
/// # Errors
/// Bad input; what the program fails with.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    match &args.client {
        #[cfg(feature = "lua")]
        Client::Lua(args) => lua::run(args),
        Client::Replay(args) => replay::run(args).map(|()| ExitCode::SUCCESS),
        Client::Record(args) => record::run(args).map(|()| ExitCode::SUCCESS),
    }
}
