//! `surefit gc`: programs that live on a collector.

mod lua;
pub(crate) mod machine;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

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
    #[command(after_help = crate::registry::help())]
    Lua(lua::Args),
}

/// Runs a program.
///
/// # Errors
/// Bad input; what the program fails with.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    match &args.client {
        Client::Lua(args) => lua::run(args),
    }
}
