//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use surefit_measure::output::Format;
use surefit_measure::sizes::HeapSize;

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
    #[command(after_help = surefit_measure::registry::help())]
    Replay(ReplayArgs),
    /// Compare allocators on traces, in interleaved rounds.
    #[command(after_help = surefit_measure::registry::help())]
    Compare(CompareArgs),
    /// Certify how large a heap must be for a demand, and what one call can cost.
    Certify(crate::certify_cmd::Args),
    /// What traces hold: statistics, checks, first events, export.
    Trace(crate::trace_cmd::Args),
    /// Make the trace of a synthetic program.
    Gen(crate::gen_cmd::Args),
    /// Programs that live on a collector: recorded Java programs, and Lua.
    Gc(crate::gc_cmd::Args),
    /// Figures and tables of the papers, by the command `surefit-experiments`.
    #[command(disable_help_flag = true)]
    Experiment(crate::experiment_cmd::Args),
    /// Replay for a parent that measures.
    #[command(name = surefit_measure::child::VERB, hide = true)]
    AsChild(surefit_measure::as_child::Args),
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
    #[arg(long, value_name = "BYTES", value_parser = surefit_measure::sizes::bytes)]
    pub(crate) largest: Option<usize>,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// Rounds of the timed passes.
    #[arg(long, hide = true, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: u32,
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
    /// Trace files; without any, three bundled ones, with their smallest heaps.
    pub(crate) files: Vec<PathBuf>,
    /// The allocators, separated by commas.
    #[arg(long, value_name = "A,B,…")]
    pub(crate) allocators: Option<String>,
    /// The allocator that times are compared to; the first one unless given.
    #[arg(long, value_name = "SPEC")]
    pub(crate) baseline: Option<String>,
    /// Interleaved rounds of the timing pass, and up to three of the access pass. Without it: three of the timing pass,
    /// up to five where the figures scatter, and one of the access pass, sampled on a long trace.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: Option<u32>,
    /// The size of the heap: bytes with K, M, G, or a multiple of the trace's peak.
    #[arg(long, value_name = "BYTES|Nx", default_value_t = HeapSize::DEFAULT)]
    pub(crate) heap: HeapSize,
    /// Leave out objects that are ever larger than this, for heaps that keep objects in one piece.
    #[arg(long, value_name = "BYTES", value_parser = surefit_measure::sizes::bytes)]
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

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
