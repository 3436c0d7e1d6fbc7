//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use surefit_measure::output::Format;
use surefit_measure::sizes::HeapSize;

/// Records programs, replays them on many allocators, compares these, and certifies heap sizes.
#[derive(Debug, Parser)]
#[command(
    name = "surefit",
    version,
    disable_help_subcommand = true,
    after_help = "`surefit help VERB` and `surefit VERB --help` say everything about a verb."
)]
pub(crate) struct Cli {
    /// The verb.
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// What the command can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run a program, and record what it asks of malloc.
    #[cfg(target_os = "linux")]
    Record(crate::record_cmd::Args),
    /// Run a program under each malloc that can be preloaded, and compare time and memory.
    #[cfg(target_os = "linux")]
    Try(crate::try_cmd::Args),
    /// Replay a trace on one allocator; exit status 1 if the replay cannot complete.
    #[command(after_help = surefit_measure::registry::help())]
    Replay(ReplayArgs),
    /// Compare allocators on traces, in interleaved rounds.
    #[command(after_help = surefit_measure::registry::help())]
    Compare(CompareArgs),
    /// Find the configuration that needs the fewest bytes for recorded programs.
    Tune(crate::tune_cmd::Args),
    /// Write one self-contained HTML page of figures on programs, or on a program before and after.
    #[command(after_help = crate::report_cmd::examples())]
    Report(crate::report_cmd::Args),
    /// Certify how large a heap must be for a demand, and how much one call can cost.
    Certify(crate::certify_cmd::Args),
    /// Inspect traces: statistics, checks, first events, import, export.
    Trace(crate::trace_cmd::Args),
    /// Write the trace of a synthetic program.
    Gen(crate::gen_cmd::Args),
    /// Run programs on a garbage collector: recorded Java programs, and Lua scripts.
    Gc(crate::gc_cmd::Args),
    /// Reproduce figures and tables of the papers, with the command `surefit-experiments`.
    #[command(disable_help_flag = true)]
    Experiment(crate::experiment_cmd::Args),
    /// Replay for a parent process that measures.
    #[command(name = surefit_measure::child::VERB, hide = true)]
    AsChild(surefit_measure::as_child::Args),
}

/// The arguments of `replay`.
#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    /// A trace file, or bundled:NAME (redis, redis-drift, emacs, python-a, python-b).
    pub(crate) file: PathBuf,
    /// The allocator; with --config, the one that the file names if this is left out.
    #[arg(long, value_name = "SPEC", required_unless_present = "config")]
    pub(crate) allocator: Option<String>,
    /// A TOML file with keys of the allocator, as `surefit tune` writes it: short for the key
    /// config.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Replay each thread of the trace on its own thread; a free waits for its allocation.
    #[arg(long)]
    pub(crate) threads: bool,
    /// Replay the file as it is read: for traces that do not fit in memory; nothing is timed.
    ///
    /// Memory follows the objects live at once, not the length of the trace. Every byte is written
    /// and verified as without it. The file is read twice.
    #[arg(long, conflicts_with_all = ["threads", "largest", "rounds"])]
    pub(crate) stream: bool,
    /// Do not write and verify every byte of every object.
    #[arg(long)]
    pub(crate) no_touch: bool,
    /// The heap size: bytes, such as 64K or 16M, or a multiple of the peak live bytes, such as 2x.
    #[arg(long, value_name = "BYTES|Nx", default_value_t = HeapSize::DEFAULT, value_parser = HeapSize::asked)]
    pub(crate) heap: HeapSize,
    /// Leave out objects that are ever larger than this, so that heaps without pieces can take
    /// part.
    #[arg(long, value_name = "BYTES", value_parser = surefit_measure::sizes::bytes)]
    pub(crate) largest: Option<usize>,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// Rounds of the timed passes.
    #[arg(long, hide = true, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: u32,
}

/// What `--count` can count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Counted {
    /// Instructions of each call, counted by valgrind.
    Instructions,
}

/// The arguments of `compare`.
#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// Trace files; without any, three bundled traces, and the smallest heap of each.
    pub(crate) files: Vec<PathBuf>,
    /// The allocators, separated by commas.
    #[arg(long, value_name = "A,B,…")]
    pub(crate) allocators: Option<String>,
    /// Also compare the allocator in this TOML file, as `surefit tune` writes it; may be given
    /// several times.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
    /// The allocator that times are compared with; by default peer-rlsf, or with --allocators the
    /// first of them.
    #[arg(long, value_name = "SPEC")]
    pub(crate) baseline: Option<String>,
    /// Interleaved rounds of the timing pass, and at most three of the access pass.
    ///
    /// Default: three timing rounds, up to five where the figures scatter.
    ///
    /// The access pass has three rounds, too, sampled on a long trace. Of more than 8 million
    /// events, the first 8 million are timed.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: Option<u32>,
    /// The heap size: bytes, such as 64K or 16M, or a multiple of the peak live bytes, such as 2x.
    #[arg(long, value_name = "BYTES|Nx", default_value_t = HeapSize::DEFAULT, value_parser = HeapSize::asked)]
    pub(crate) heap: HeapSize,
    /// Leave out objects that are ever larger than this, so that heaps without pieces can take
    /// part.
    #[arg(long, value_name = "BYTES", value_parser = surefit_measure::sizes::bytes)]
    pub(crate) largest: Option<usize>,
    /// Find the smallest heap in which each trace completes.
    #[arg(long)]
    pub(crate) find_min_heap: bool,
    /// A figure that can be counted exactly.
    #[arg(long, value_enum)]
    pub(crate) count: Option<Counted>,
    /// A bound on figures, such as 'cf.min_heap_over_live <= 1.10'; exit status 1 if it is broken.
    ///
    /// ALLOCATOR.FIGURE, numbers with units (K, M, G, ns, us, ms, %), + - * /, and `and`.
    ///
    /// 'NAME: BOUND' is about the trace of that name only. May be given several times.
    #[arg(long = "assert", value_name = "EXPR")]
    pub(crate) bounds: Vec<String>,
    /// Save the comparison for a later --against.
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Compare with an earlier comparison; exit status 1 if anything is worse than its noise.
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Option<PathBuf>,
    /// How much worse a counted figure may be than in --against, in percent.
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, requires = "against", value_parser = percent)]
    pub(crate) tolerance: f64,
    /// Measure the times a second time, and say what changed.
    #[arg(long)]
    pub(crate) again: bool,
    /// Show all columns, however wide the terminal.
    #[arg(long)]
    pub(crate) wide: bool,
    /// Also write one self-contained HTML page.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// How results are printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Reads a percentage from 0 to 1000.
fn percent(text: &str) -> Result<f64, String> {
    let percent: Option<f64> = text.strip_suffix('%').unwrap_or(text).parse().ok();
    percent
        .filter(|percent| (0.0..=1000.0).contains(percent))
        .ok_or_else(|| "write a percentage from 0 to 1000, such as 1.5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;
    use surefit_measure::arguments::flowing;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// The two forms of help of a command and of all below it, with its name.
    fn helps(command: &mut clap::Command) -> Vec<(String, String)> {
        let name = command.get_name().to_owned();
        let both = [command.render_help(), command.render_long_help()];
        let own = both.map(|help| (name.clone(), help.to_string()));
        let below = command.get_subcommands_mut().flat_map(helps);
        own.into_iter().chain(below).collect()
    }

    fn all_help(columns: usize) -> Vec<(String, String)> {
        let mut command = flowing(Cli::command()).term_width(columns);
        command.build();
        helps(&mut command)
    }

    #[test]
    fn help_fits_a_terminal_of_80_columns() {
        for (name, help) in all_help(80) {
            for line in help.lines() {
                assert!(line.chars().count() <= 80, "{name}: {line}");
            }
        }
    }

    /// Whether the next line's first word fits at the end of a line, and is of its paragraph.
    fn ends_early(line: &str, next: &str, columns: usize) -> bool {
        let is_prose = |line: &str| line.starts_with(char::is_alphanumeric);
        let first = next.split(' ').next().unwrap_or_default();
        let fits = line.chars().count() + 1 + first.chars().count() <= columns;
        fits && is_prose(line) && is_prose(next) && !line.ends_with(':')
    }

    #[test]
    fn no_line_of_a_paragraph_of_help_ends_early() {
        for columns in [80, 100] {
            for (name, help) in all_help(columns) {
                let lines: Vec<_> = help.lines().collect();
                for pair in lines.windows(2) {
                    let early = ends_early(pair[0], pair[1], columns);
                    assert!(!early, "{name}, {columns} columns: {pair:#?}");
                }
            }
        }
    }
}
