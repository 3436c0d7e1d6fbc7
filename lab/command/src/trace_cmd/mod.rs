//! `surefit trace`: statistics of traces, checks, first events, import and export.

mod export;
pub(crate) mod facts;
mod graphs;
mod head;
mod import;
mod open;
pub(crate) mod report;
mod sites;
mod stats;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use surefit_trace::{Facts, Stats};

pub(crate) use self::head::summary;
use self::open::{CHECKED, COUNTED, open_all};
use self::report::{CheckDocument, CheckedFile, Described, StatsDocument};
use surefit_measure::collector::graphs::is_graph;
use surefit_measure::error::{complain, one_line};
use surefit_measure::output;
use surefit_measure::output::Format;

/// The arguments of `surefit trace`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Show statistics: events, threads, peak, sizes, lifetimes; this also checks every record
    Stats {
        /// Traces: .sft or .sft.zst files, or bundled:NAME (redis, redis-drift, emacs, python-a,
        /// python-b).
        ///
        /// Or object graphs: .sfg or .sfg.zst files, or bundled:NAME (javac, antlr, hsqldb,
        /// sunflow, raytrace, mtrt).
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// How many sizes to list, the most frequent first
        #[arg(long, default_value_t = 5, value_name = "N")]
        sizes: usize,
        /// Say instead who allocates most and who holds the peak: N call sites of each [default:
        /// 10]
        ///
        /// For traces that were recorded with --stacks.
        #[arg(
            long,
            value_name = "N",
            num_args = 0..=1,
            require_equals = true,
            default_missing_value = "10",
            conflicts_with = "sizes"
        )]
        sites: Option<usize>,
        /// How results are printed
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Check that traces follow every rule of the format; exit status 2 if one does not
    Check {
        /// Traces: .sft or .sft.zst files, or bundled:NAME (redis, redis-drift, emacs, python-a,
        /// python-b)
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// How results are printed
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Show the header and the first events of traces
    Head {
        /// Traces: .sft or .sft.zst files, or bundled:NAME (redis, redis-drift, emacs, python-a,
        /// python-b)
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// How many events to show
        #[arg(short = 'n', long, default_value_t = 20, value_name = "N")]
        events: u64,
        /// How results are printed
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Make a trace of a recording of heaptrack, or of the bytes that a board sent
    #[command(after_help = IMPORT_HELP)]
    Import(import::Args),
    /// Write a trace for other tools: CSV, lines of JSON, heaptrack, pprof
    #[command(after_help = EXPORT_HELP)]
    Export(export::Args),
}

/// Examples below the help of `import`.
const IMPORT_HELP: &str = "\
Examples:
  heaptrack --raw -o mine ./program
  surefit trace import mine.raw.zst -o mine.sft.zst
  cat /dev/ttyUSB0 >sensor.bytes   # until Ctrl-C
  surefit trace import sensor.bytes -o sensor.sft.zst

A board sends its calls with the hook crates/surefit-c/adapters/trace.c; docs/firmware.md shows how.";

/// Examples below the help of `export`.
const EXPORT_HELP: &str = "\
Examples:
  surefit trace export bundled:redis --to pprof -o redis.pb.gz
  go tool pprof -top redis.pb.gz
  surefit trace export bundled:redis --to heaptrack -o redis.gz
  heaptrack_print redis.gz

Call sites are those of `surefit record --stacks`; in their place stand otherwise the thread and the
size-class of a request. The profile of a trace with call sites says fragmentation too:
  go tool pprof -sample_index=fragmentation_space -http=: mine.pb.gz
heaptrack's times are events: a millisecond stands for one.";

/// Runs `surefit trace`.
///
/// # Errors
/// One line that names the file, the place and the remedy.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    match &args.verb {
        Verb::Stats {
            files,
            sites: Some(top),
            format,
            ..
        } => sites::run(files, *top, *format),
        Verb::Stats {
            files,
            sizes,
            format,
            ..
        } => run_stats(files, *sizes, *format),
        Verb::Check { files, format } => run_check(files, *format),
        Verb::Head {
            files,
            events,
            format,
        } => head::run(files, *events, *format),
        Verb::Import(args) => import::run(args),
        Verb::Export(args) => export::run(args),
    }
}

/// Prints the statistics of traces and of object graphs; each kind has its own tables.
fn run_stats(files: &[PathBuf], sizes: usize, format: Format) -> Result<ExitCode> {
    let (graphs, traces): (Vec<_>, Vec<_>) = files.iter().cloned().partition(|file| is_graph(file));
    let read = |file: &PathBuf| read_stats(file);
    let (all, facts): (Vec<_>, Vec<_>) = traces
        .iter()
        .map(read)
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .unzip();
    let graphs = graphs::read(&graphs, sizes)?;
    match format {
        Format::Table if all.is_empty() => output::print(&graphs::tables(&graphs))?,
        Format::Table => {
            output::print(&stats::tables(&all, sizes))?;
            output::print_wrapped(&stats::processes(&all, &facts))?;
            output::print(&graphs::tables(&graphs))?;
        }
        Format::Json => {
            output::print_json(&StatsDocument::new(&traces, (&all, &facts), sizes, graphs))?
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The statistics of a trace, and the facts behind it. Damaged facts are named, and left out.
fn read_stats(file: &Path) -> Result<(Stats, Option<Facts>)> {
    let mut reader = open_all(file, COUNTED)?;
    let stats = Stats::read(&mut reader)?;
    let facts = reader.facts().unwrap_or_else(|error| {
        complain(&one_line(&error.to_string()));
        None
    });
    Ok((stats, facts))
}

/// Checks every file, so that one run names all that are not sound.
fn run_check(files: &[PathBuf], format: Format) -> Result<ExitCode> {
    let document = CheckDocument::new(files.iter().map(|file| check(file)).collect());
    match format {
        Format::Table => print_sound(&document.files)?,
        Format::Json => output::print_json(&document)?,
    }
    complain_of_unsound(&document.files);
    let is_sound = document.files.iter().all(|file| file.sound);
    Ok(ExitCode::from(if is_sound { 0 } else { UNSOUND }))
}

/// The exit status for bad input.
const UNSOUND: u8 = 2;

fn check(file: &Path) -> CheckedFile {
    let describe = || {
        let mut reader = open_all(file, CHECKED)?;
        reader.by_ref().try_for_each(|event| event.map(drop))?;
        reader.facts()?;
        let peak = reader.peak().unwrap_or_default();
        Ok(Described::new(reader.header(), peak))
    };
    CheckedFile::new(file, describe())
}

fn print_sound(files: &[CheckedFile]) -> Result<()> {
    for file in files {
        if let Some(trace) = &file.trace {
            output::print_lines(&format!("{}: sound, {}\n", file.file, summary(trace)))?;
        }
    }
    Ok(())
}

/// Names all files that are not sound, in at most two lines.
fn complain_of_unsound(files: &[CheckedFile]) {
    let unsound: Vec<_> = files
        .iter()
        .filter_map(|file| file.error.as_ref())
        .collect();
    let (shown, rest) = unsound.split_at(if unsound.len() > 2 { 1 } else { unsound.len() });
    for error in shown {
        complain(&one_line(&error.message));
    }
    if !rest.is_empty() {
        let names = files.iter().filter(|file| !file.sound).skip(shown.len());
        let names: Vec<_> = names.map(|file| file.file.as_str()).collect();
        complain(&one_line(&format!(
            "{} more files are not sound: {}; --format json shows why",
            names.len(),
            names.join(", ")
        )));
    }
}
