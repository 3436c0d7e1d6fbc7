//! `surefit tune`: the configuration that needs the fewest bytes for recorded programs.
//!
//! | module | holds |
//! | --- | --- |
//! | `live`, `halves`, `subject` | what a trace has live, its two halves, its smallest heaps |
//! | `segment`, `classes` | size-classes of least waste, and their cost for a page |
//! | `count` | the smallest region with full compaction, without a replay |
//! | `choices`, `width`, `shape`, `search` | the values that are tried, and the search |
//! | `account`, `judged` | a configuration on another trace, and where its bytes are |
//! | `least` | what no configuration can save on that trace |
//! | `report`, `emit` | tables and JSON; TOML, Rust and C |

mod account;
mod choices;
mod classes;
mod count;
mod emit;
mod halves;
mod judged;
mod least;
mod live;
mod report;
mod search;
mod segment;
mod shape;
mod subject;
mod width;

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use surefit_compact::geometry::MAX_CLASSES;
use surefit_measure::output::{self, Format};
use surefit_measure::progress::Progress;
use surefit_measure::results::SCHEMA;
use surefit_measure::source::load_trace;
use surefit_measure::spec::Spec;

use self::emit::Language;
use self::judged::{Judged, Open, judge};
use self::report::Report;
use self::search::{Found, find, progress_steps};
use self::subject::Subject;

/// Examples and what the verb does, for `--help`.
const HELP: &str = "\
For cf, tune chooses page, width of words, pieces, size-classes and bound, for the fewest bytes. Keys
that --allocator has are kept: with cf:width=32 an access is faster, cf:holes=4 moves less, and
cf:pieces=off keeps every object contiguous. Other allocators have one parameter: segregated (the
number of lists), jamaica (the block), cf-direct (the smallest page-block).

A configuration is judged on a trace that it was not tuned on: on those of --judge; or, of several
FILEs, on each after tuning on the others; or, with --judge-halves, on one half of the objects after
tuning on the other half. `cf` wins there if it needs no more than the better of tlsf and peer-rlsf.

Examples:
  surefit tune bundled:python-a --judge bundled:python-b
  surefit tune monday.sft.zst tuesday.sft.zst -o mine.toml
  surefit compare wednesday.sft.zst --config mine.toml
  surefit tune mine.sft.zst --allocator cf:width=32 --emit rust > heap_config.rs
";

/// The arguments of `tune`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// Traces of one program: files, or bundled:NAME (redis, redis-drift, emacs, python-a,
    /// python-b).
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Judge on this trace, which is not tuned on; may be given several times.
    #[arg(long, value_name = "FILE", conflicts_with = "judge_halves")]
    judge: Vec<PathBuf>,
    /// Judge each trace on one half of its objects, tuned on the other half.
    #[arg(long)]
    judge_halves: bool,
    /// The most size-classes, the page-sized one included.
    #[arg(long, value_name = "N", default_value_t = 64,
        value_parser = clap::value_parser!(u32).range(3..=MAX_CLASSES as i64))]
    classes: u32,
    /// The allocator, with the keys that are to be kept.
    #[arg(long, value_name = "SPEC", default_value = "cf")]
    allocator: String,
    /// Print the configuration in this language, instead of the table.
    #[arg(long, value_enum, conflicts_with = "format")]
    emit: Option<Language>,
    /// Write the configuration to this file: as TOML, or as --emit says. The table is printed too.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Tunes an allocator, judges the result, and prints both.
///
/// # Errors
/// Bad input; no configuration serves the traces.
pub(crate) fn run(args: &Args) -> Result<()> {
    let spec = Spec::parse(&args.allocator)?;
    if let Some(path) = &args.output {
        ensure!(
            path != Path::new("-"),
            "--output -: leave it out, --emit prints"
        );
        output::writable(path)?;
    }
    let again = if args.judge_halves || args.files.len() > 1 {
        args.files.len()
    } else {
        0
    };
    let progress = Progress::new(progress_steps(&spec) * (1 + again as u64));
    let tuner = Tuner {
        spec: &spec,
        classes: args.classes as usize,
        progress: &progress,
    };
    let subjects = load(&args.files)?;
    let all: Vec<_> = subjects.iter().collect();
    let found = tuner.tune(&all)?;
    let language = args.emit.unwrap_or_default();
    let traces = names(&all);
    let text = emit::text(language, &found.spec, &traces)?;
    let only_text = args.emit.is_some() && args.output.is_none();
    let judged = if only_text {
        Vec::new()
    } else {
        tuner.judged(args, &subjects, &found)?
    };
    progress.finish();
    if let Some(path) = &args.output {
        output::to_file(path, |out| Ok(out.write_all(text.as_bytes())?))?;
    }
    let report = report(found, traces, judged);
    match args.format {
        _ if only_text => output::print(&text),
        Format::Json => output::print_json(&report),
        Format::Table => output::print_wrapped(&report.to_string()),
    }
}

fn load(files: &[PathBuf]) -> Result<Vec<Subject>> {
    files.iter().map(|file| Subject::load(file)).collect()
}

fn names(subjects: &[&Subject]) -> Vec<String> {
    subjects.iter().map(|it| it.name.clone()).collect()
}

fn report(found: Found, traces: Vec<String>, judged: Vec<Judged>) -> Report {
    Report {
        schema: SCHEMA,
        traces,
        allocator: found.spec,
        classes: found.sizes,
        min_heap_over_live: found.over_live,
        configurations: found.counted as u64,
        choices: found.choices,
        judged,
    }
}

/// What every search of one command has in common.
struct Tuner<'a> {
    spec: &'a Spec,
    classes: usize,
    progress: &'a Progress,
}

impl Tuner<'_> {
    fn tune(&self, subjects: &[&Subject]) -> Result<Found> {
        find(subjects, self.spec, self.classes, self.progress)
    }

    fn open(&self) -> Open<'_> {
        Open {
            given: self.spec,
            classes: self.classes,
        }
    }

    /// Judges as the arguments say.
    fn judged(&self, args: &Args, subjects: &[Subject], found: &Found) -> Result<Vec<Judged>> {
        if args.judge_halves {
            let each = args.files.iter().map(|file| self.on_halves(file));
            return each.collect();
        }
        if !args.judge.is_empty() {
            let traces: Vec<_> = subjects.iter().map(|it| it.name.clone()).collect();
            let judges = load(&args.judge)?;
            let each = judges.iter();
            let each = each.map(|it| judge(it, &found.spec, self.open(), &traces));
            return each.collect();
        }
        if subjects.len() == 1 {
            return Ok(Vec::new());
        }
        (0..subjects.len())
            .map(|one| self.left_out(subjects, one))
            .collect()
    }

    /// One trace, judged after tuning on all others.
    fn left_out(&self, subjects: &[Subject], one: usize) -> Result<Judged> {
        let others = subjects.iter().enumerate();
        let others = others.filter(|(place, _)| *place != one);
        let others: Vec<_> = others.map(|(_, subject)| subject).collect();
        let found = self.tune(&others)?;
        let subject = &subjects[one];
        judge(subject, &found.spec, self.open(), &names(&others))
    }

    /// A trace, tuned on one half of its objects and judged on the other.
    fn on_halves(&self, file: &Path) -> Result<Judged> {
        let [first, second] = halves::halves(&load_trace(file)?)?;
        let file = file.display();
        let tuned = Subject::new(&first, format!("{file} (one half)"))?;
        let judging = Subject::new(&second, format!("{file} (other half)"))?;
        let found = self.tune(&[&tuned])?;
        judge(&judging, &found.spec, self.open(), &[tuned.name])
    }
}
