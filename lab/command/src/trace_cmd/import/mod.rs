//! `surefit trace import`: makes a trace of a recording by another tool, or by a board.

mod report;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use surefit_formats::import::Importer;
use surefit_measure::output::{self, Format};
use surefit_recorder::symbols::Functions;
use surefit_trace::{Header, Spool};

use self::report::Document;
use crate::trace_cmd::report::Described;
use crate::trace_file;

/// The arguments of `surefit trace import`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The recording, recognised by its content: heaptrack's, raw or interpreted, or the bytes that
    /// a board sent; also packed by zstd or gzip. - is standard input
    file: PathBuf,
    /// The trace to write; it is compressed if its name ends in .zst; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The trace's name [default: the program, where the recording names it; else the file]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What stands for standard input.
const STDIN: &str = "-";

pub(super) fn run(args: &Args) -> Result<ExitCode> {
    output::writable(&args.output)?;
    let (spool, mut importer) = read(args).with_context(|| name_of(&args.file))?;
    let peak = spool.peak();
    let name = trace_name(args, &importer);
    let sites = importer.take_sites();
    let (header, bytes) = trace_file::write(spool, &name, &sites, None, &args.output)
        .with_context(|| name_of(&args.file))?;
    if args.output != Path::new("-") {
        let trace = Described::new(&header, peak);
        let stacks = importer.has_call_sites().then(|| sites.len() as u64);
        let document = Document::new(&args.output, bytes, (trace, stacks), &importer);
        match args.format {
            Format::Json => output::print_json(&document)?,
            Format::Table => output::print_wrapped(&document.to_text())?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn read(args: &Args) -> Result<(Spool<File>, Importer)> {
    let mut importer = Importer::new(open(&args.file)?)?;
    let mut functions = Functions::default();
    importer.name_functions(move |file, returns_to| functions.calling(file, returns_to));
    let mut next = importer.next_event()?;
    let mut spool = trace_file::spool(&args.output, importer.has_call_sites())?;
    while let Some(event) = next {
        let written = spool.write_at(event, importer.stack());
        written.map_err(|error| trace_file::unwritten(error, &args.output))?;
        next = importer.next_event()?;
    }
    Ok((spool, importer))
}

fn open(file: &Path) -> Result<Box<dyn Read>> {
    if file == Path::new(STDIN) {
        return Ok(Box::new(io::stdin()));
    }
    match File::open(file) {
        Ok(file) => Ok(Box::new(file)),
        Err(error) => bail!("cannot be opened: {error}; check the path and its permissions"),
    }
}

fn name_of(file: &Path) -> String {
    match file == Path::new(STDIN) {
        true => "standard input".to_owned(),
        false => file.display().to_string(),
    }
}

/// The name that was given, that of the program, or that of the file up to its first dot.
fn trace_name(args: &Args, importer: &Importer) -> String {
    let of_file = || {
        let name = args.file.file_name().unwrap_or_default().to_string_lossy();
        let stem = name.split('.').find(|part| !part.is_empty());
        stem.filter(|stem| *stem != STDIN)
            .unwrap_or("imported")
            .to_owned()
    };
    let given = args.name.as_deref().or(importer.name());
    let name = given.map_or_else(of_file, str::to_owned);
    // A longer one is no name; one that was given is refused with what it should be.
    match args.name.is_none() && name.len() > Header::MAX_NAME_BYTES {
        true => "imported".to_owned(),
        false => name,
    }
}
