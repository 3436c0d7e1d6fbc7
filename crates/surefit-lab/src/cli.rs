//! The command line.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::measure::child::Passes;
use crate::output;
use crate::sizes::HeapSize;

/// Records, replays and compares programs' memory demands over many allocators.
#[derive(Debug, Parser)]
#[command(name = "surefit", version, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Replay a trace through one allocator; exit status 1 if it could not complete.
    #[command(after_help = crate::registry::help())]
    Replay(ReplayArgs),
    /// Compare allocators on traces, in interleaved rounds.
    #[command(after_help = crate::registry::help())]
    Compare(CompareArgs),
    /// Certify how large a heap must be for a demand, and what one call can cost.
    Certify(crate::certify_cmd::Args),
    /// What traces hold: statistics, checks, first events, export.
    Trace(crate::trace_cmd::Args),
    /// Make the trace of a synthetic program.
    Gen(crate::gen_cmd::Args),
    /// Programs that live on a collector: recorded Java programs, and Lua.
    Gc(crate::gc_cmd::Args),
    /// Figures and tables, computed or measured here.
    Experiment(crate::experiment::Args),
    /// Make the calls that the overview counts; for its children.
    #[command(hide = true)]
    WorstCalls(crate::experiment::WorstCalls),
}

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table for people.
    #[default]
    Table,
    /// JSON for programs; schemas are in `schemas/`.
    Json,
}

/// What `replay` is told.
#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    /// A trace file, or bundled:emacs, bundled:redis-drift.
    pub(crate) file: PathBuf,
    /// The allocator.
    #[arg(long, value_name = "SPEC")]
    pub(crate) allocator: String,
    /// Replay each thread of the trace on a thread of its own; a free waits for its allocation.
    #[arg(long)]
    pub(crate) threads: bool,
    /// Leave out writing and verifying every byte.
    #[arg(long)]
    pub(crate) no_touch: bool,
    /// The size of the heap: bytes with K, M, G, or a multiple of the trace's peak.
    #[arg(long, value_name = "BYTES|Nx", default_value_t = HeapSize::DEFAULT)]
    pub(crate) heap: HeapSize,
    /// Leave out objects that are ever larger than this, for heaps that keep objects in one piece.
    #[arg(long, value_name = "BYTES", value_parser = crate::sizes::bytes)]
    pub(crate) largest: Option<usize>,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// Rounds of the timed passes.
    #[arg(long, hide = true, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: u32,
    /// Only these passes.
    #[arg(long, hide = true)]
    pub(crate) only: Option<Passes>,
    /// A child's: the trace comes on standard input, and the file only names it.
    #[arg(long, hide = true)]
    pub(crate) fed: bool,
}

/// What can be counted instead of timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Counted {
    /// Instructions of each call, by valgrind.
    Instructions,
}

/// What `compare` is told.
#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// Trace files; without any, the two bundled ones, with their smallest heaps.
    pub(crate) files: Vec<PathBuf>,
    /// The allocators, separated by commas.
    #[arg(long, value_name = "A,B,…")]
    pub(crate) allocators: Option<String>,
    /// The allocator that times are compared to; the first one unless given.
    #[arg(long, value_name = "SPEC")]
    pub(crate) baseline: Option<String>,
    /// Interleaved rounds of the timing pass; the access pass has at most three.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: u32,
    /// The size of the heap: bytes with K, M, G, or a multiple of the trace's peak.
    #[arg(long, value_name = "BYTES|Nx", default_value_t = HeapSize::DEFAULT)]
    pub(crate) heap: HeapSize,
    /// Leave out objects that are ever larger than this, for heaps that keep objects in one piece.
    #[arg(long, value_name = "BYTES", value_parser = crate::sizes::bytes)]
    pub(crate) largest: Option<usize>,
    /// Look for the smallest heap in which each trace completes.
    #[arg(long)]
    pub(crate) find_min_heap: bool,
    /// Count what can be counted exactly.
    #[arg(long, value_enum)]
    pub(crate) count: Option<Counted>,
    /// Write one self-contained HTML page as well.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// How results are printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

impl Cli {
    /// Reads the command line; `None` if it asked for help or the version, which are printed here.
    ///
    /// # Errors
    /// One line about the first thing that is wrong; standard output cannot be written.
    pub(crate) fn read() -> anyhow::Result<Option<Self>> {
        match Self::try_parse() {
            Ok(cli) => Ok(Some(cli)),
            Err(error) if error.use_stderr() => {
                let first = first_paragraph(&error.to_string());
                Err(anyhow::anyhow!("{first}; try --help"))
            }
            Err(help) => {
                let text = help.render();
                let text = if io::stdout().is_terminal() {
                    text.ansi().to_string()
                } else {
                    text.to_string()
                };
                output::print(&text).map(|()| None)
            }
        }
    }
}

/// The first paragraph of a message in one line, without the word before it.
fn first_paragraph(message: &str) -> String {
    let lines = message
        .lines()
        .map(str::trim)
        .take_while(|line| !line.is_empty());
    let text = lines.collect::<Vec<_>>().join(" ");
    text.strip_prefix("error: ").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Cli, first_paragraph};
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_message_is_its_first_paragraph() {
        let message = "error: the following is missing:\n  --allocator <SPEC>\n\nUsage: …";
        assert_eq!(
            first_paragraph(message),
            "the following is missing: --allocator <SPEC>"
        );
    }
}
