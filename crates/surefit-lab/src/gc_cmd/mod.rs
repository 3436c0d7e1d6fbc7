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
    #[command(after_help = surefit_measure::registry::help_of_pointers())]
    Lua(lua::Args),
    /// Run a Lua script; this command was built without Lua
    #[cfg(not(feature = "lua"))]
    #[command(disable_help_flag = true)]
    Lua(Absent),
    /// Replay a recorded Java program; exit status 1 if it could not complete, or refers to a freed object
    #[command(after_help = spaces::help())]
    Replay(replay::Args),
    /// Record a classic program in Rust as an object graph, to be replayed
    Record(record::Args),
}

/// The words of `gc lua`, where there is none.
#[cfg(not(feature = "lua"))]
#[derive(Debug, clap::Args)]
struct Absent {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _words: Vec<std::ffi::OsString>,
}

/// Runs a program.
///
/// # Errors
/// Bad input; what the program fails with.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    match &args.client {
        #[cfg(feature = "lua")]
        Client::Lua(args) => lua::run(args),
        #[cfg(not(feature = "lua"))]
        Client::Lua(_) => anyhow::bail!(
            "this surefit was built without Lua, whose machine is a C program: build it with `--features lua`"
        ),
        Client::Replay(args) => replay::run(args).map(|()| ExitCode::SUCCESS),
        Client::Record(args) => record::run(args).map(|()| ExitCode::SUCCESS),
    }
}
