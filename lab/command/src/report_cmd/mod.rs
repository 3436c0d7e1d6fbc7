//! `surefit report`: one page of figures, on traces or on saved results.

mod given;
mod program;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::compare_cmd::measured::{Job, allocators, plan};
use crate::report::Page;
use surefit_measure::output;
use surefit_measure::rounds::Plan;
use surefit_measure::sizes::{HeapSize, Size, counted};

use given::{Given, What};
use program::{Program, pairs};

/// The arguments of `report`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Traces, bundled:NAME, what compare --format json wrote, or folders of them; exactly two are
    /// also put side by side.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The page; - is standard output.
    #[arg(short, long, value_name = "OUT.html")]
    output: PathBuf,
    /// The allocators, separated by commas.
    #[arg(long, value_name = "A,B,…")]
    allocators: Option<String>,
    /// Also measure the allocator in this TOML file, as `surefit tune` writes it; may be given
    /// several times.
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// The allocator that times are compared with; by default peer-rlsf, or with --allocators the
    /// first of them.
    #[arg(long, value_name = "SPEC")]
    baseline: Option<String>,
    /// Interleaved rounds of the timing pass; by default three, up to five where the figures
    /// scatter.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: Option<u32>,
    /// The heap size: bytes, such as 64K or 16M, or a multiple of the peak live bytes, such as 2x.
    /// [default: 4x]
    #[arg(long, value_name = "BYTES|Nx", value_parser = HeapSize::asked)]
    heap: Option<HeapSize>,
    /// Leave out objects that are ever larger than this, so that heaps without pieces can take
    /// part.
    #[arg(long, value_name = "BYTES", value_parser = surefit_measure::sizes::bytes)]
    largest: Option<usize>,
}

/// Examples, for `--help`.
pub(crate) fn examples() -> String {
    "Examples:
  surefit report mine.sft.zst -o mine.html
  surefit report before.sft.zst after.sft.zst -o change.html    did my change help?
  surefit compare mine.sft.zst --find-min-heap --format json >before.json
  surefit report before.json after.json -o change.html"
        .to_owned()
}

/// Measures the traces, and writes the page.
///
/// # Errors
/// Bad input; an allocator that broke a rule or its proven bound; a page that cannot be written.
pub(crate) fn run(args: &Args) -> Result<()> {
    let (specs, baseline) = allocators(
        args.allocators.as_deref(),
        &args.files,
        &args.config,
        args.baseline.as_deref(),
    )?;
    if args.output != Path::new("-") {
        output::writable(&args.output)?;
    }
    let given = given::load(&args.files, args.largest)?;
    args.suit(&given)?;
    let job = Job {
        specs,
        baseline,
        plan: Plan {
            min_heap: true,
            ..plan(args.rounds, args.heap.unwrap_or(HeapSize::DEFAULT))
        },
        has_page: true,
    };
    let programs = programs(given, &job)?;
    let page = Page {
        title: "surefit report",
        sections: programs.iter().map(Program::section).collect(),
        pairs: match args.files.len() {
            2 => pairs(&programs),
            _ => Vec::new(),
        },
    };
    let html = page.html();
    output::to_file(&args.output, |out| Ok(out.write_all(html.as_bytes())?))?;
    if args.output == Path::new("-") {
        return Ok(());
    }
    output::print(&format!(
        "{}: {}, {}\n",
        args.output.display(),
        counted(programs.len() as u64, "program"),
        Size(html.len() as u64)
    ))
}

impl Args {
    /// Refuses options of a measurement where nothing is measured.
    fn suit(&self, given: &[Given]) -> Result<()> {
        let options = [
            ("--allocators", self.allocators.is_some()),
            ("--config", !self.config.is_empty()),
            ("--baseline", self.baseline.is_some()),
            ("--rounds", self.rounds.is_some()),
            ("--heap", self.heap.is_some()),
            ("--largest", self.largest.is_some()),
        ];
        let option = options.into_iter().find(|(_, is_given)| *is_given);
        let measures = given
            .iter()
            .any(|given| matches!(given.what, What::Trace(_)));
        match option {
            Some((option, _)) if !measures => bail!(
                "{option}: nothing is measured, as all files are saved results; leave it out, or name a trace"
            ),
            _ => Ok(()),
        }
    }
}

/// The programs of the files, in their order; traces are measured now.
fn programs(given: Vec<Given>, job: &Job) -> Result<Vec<Program>> {
    let mut sources = Vec::new();
    let mut programs = Vec::new();
    for given in given {
        let Given { file, origin, what } = given;
        match what {
            What::Results(comparison) => {
                programs.extend(Program::saved(file, &origin, *comparison).map(Some));
            }
            What::Trace(source) => {
                programs.push(None);
                sources.push((file, origin, *source));
            }
        }
    }
    let (names, sources): (Vec<_>, Vec<_>) = sources
        .into_iter()
        .map(|(file, origin, source)| ((file, origin), source))
        .unzip();
    let measured = job.measure(&sources, |_| Ok(()))?;
    let measured = names.into_iter().zip(measured);
    let mut measured =
        measured.map(|((file, origin), it)| Program::measured(file, origin, it, job));
    let programs = programs.into_iter();
    Ok(programs
        .filter_map(|program| program.or_else(|| measured.next()))
        .collect())
}
