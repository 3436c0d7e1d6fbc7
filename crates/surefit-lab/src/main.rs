//! The `surefit` command.
//!
//! | module | holds |
//! | --- | --- |
//! | `cli`, `error`, `sizes`, `spec` | what the user writes, and how the command fails |
//! | `source`, `leave_out`, `steps`, `small_file` | traces, ready for replaying, and the files that people write |
//! | `subject`, `subjects`, `registry` | the allocators |
//! | `memory` | what this machine has no memory for |
//! | `passes` | one replay: timing, accesses, percentiles, checking, counting, the smallest heap |
//! | `measure` | many replays: one allocator, many in rounds, children, instructions |
//! | `results`, `screen`, `report`, `progress` | what is printed |
//! | `*_cmd`, `experiment` | one verb each |

mod certify_cmd;
mod cli;
mod compare_cmd;
mod error;
mod experiment;
mod gc_cmd;
mod gen_cmd;
mod leave_out;
mod measure;
mod memory;
mod output;
mod passes;
mod progress;
mod registry;
mod replay_cmd;
mod report;
mod results;
mod screen;
mod sizes;
mod small_file;
mod source;
mod spec;
mod steps;
mod subject;
mod subjects;
mod trace_cmd;

use std::process::ExitCode;

use cli::{Cli, Verb};
use dlmalloc::GlobalDlmalloc;

/// The command's own memory: the C library's malloc, or one that is preloaded, serves nothing but what is measured.
#[global_allocator]
static OWN_MEMORY: GlobalDlmalloc = GlobalDlmalloc;

fn main() -> ExitCode {
    match Cli::read().and_then(|cli| cli.map_or(Ok(ExitCode::SUCCESS), run)) {
        Ok(status) => status,
        Err(error) => error::report(&error),
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.verb {
        Verb::Replay(args) => replay_cmd::run(&args).map(|()| ExitCode::SUCCESS),
        Verb::Compare(args) => compare_cmd::run(&args).map(|()| ExitCode::SUCCESS),
        Verb::Certify(args) => certify_cmd::run(&args).map(|()| ExitCode::SUCCESS),
        Verb::Trace(args) => trace_cmd::run(&args),
        Verb::Gc(args) => gc_cmd::run(&args),
        Verb::Gen(args) => gen_cmd::run(&args),
        Verb::Experiment(args) => experiment::run(&args),
        Verb::WorstCalls(args) => experiment::play_worst_calls(&args),
    }
}
