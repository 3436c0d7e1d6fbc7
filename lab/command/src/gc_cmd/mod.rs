//! `surefit gc`: runs programs on a garbage collector.

#[cfg(feature = "java")]
pub(crate) mod java;
#[cfg(feature = "lua")]
pub(crate) mod lua;
mod record;
pub(crate) mod replay;
pub(crate) mod report;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use surefit_measure::collector::spaces;

/// The arguments of `gc`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    client: Client,
}

/// The programs.
#[derive(Debug, Subcommand)]
enum Client {
    /// Run a Java program on a small virtual machine, in a heap of surefit
    #[cfg(feature = "java")]
    #[command(after_help = spaces::help())]
    Java(java::Args),
    /// Run a Java program; this command was built without Java
    #[cfg(not(feature = "java"))]
    #[command(disable_help_flag = true)]
    Java(Absent),
    /// Run a Lua script in a heap of surefit; Lua collects only when the heap refuses a request
    #[cfg(feature = "lua")]
    #[command(after_help = surefit_measure::registry::help_of_pointers())]
    Lua(lua::Args),
    /// Run a Lua script; this command was built without Lua
    #[cfg(not(feature = "lua"))]
    #[command(disable_help_flag = true)]
    Lua(Absent),
    /// Replay a recorded program; exit status 1 if it cannot complete or refers to a freed object
    #[command(after_help = spaces::help())]
    Replay(replay::Args),
    /// Record a classic program, written in Rust, as an object graph for `gc replay`
    Record(record::Args),
}

/// The arguments of a machine that is not in this build.
#[cfg(not(all(feature = "java", feature = "lua")))]
#[derive(Debug, clap::Args)]
struct Absent {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _words: Vec<std::ffi::OsString>,
}

/// Runs a program.
///
/// # Errors
/// Bad input; an error of the program.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    match &args.client {
        #[cfg(feature = "java")]
        Client::Java(args) => java::run(args),
        #[cfg(not(feature = "java"))]
        Client::Java(_) => {
            anyhow::bail!("this surefit was built without Java: build it with `--features java`")
        }
        #[cfg(feature = "lua")]
        Client::Lua(args) => lua::run(args),
        #[cfg(not(feature = "lua"))]
        Client::Lua(_) => anyhow::bail!(
            "this surefit was built without Lua, which is a C program: build it with `--features lua`"
        ),
        Client::Replay(args) => replay::run(args).map(|()| ExitCode::SUCCESS),
        Client::Record(args) => record::run(args).map(|()| ExitCode::SUCCESS),
    }
}
