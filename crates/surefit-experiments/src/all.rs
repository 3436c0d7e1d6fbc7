//! `surefit experiment all -o DIR`: every experiment into a directory.
//!
//! ```text
//! DIR/NAME.json       the report of each experiment
//! DIR/NAME.svg        its plots, if it has any
//! DIR/automaton.dot   the states of a size-class, for Graphviz
//! DIR/index.html      all of them on one page that loads nothing
//! ```
//! An experiment that fails ends the run; what was written before stays.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::experiments::{ENTRIES, automaton};
use crate::kit::draw::page;
use crate::kit::{Entry, Report, Request};
use surefit_measure::collector::graphs::is_graph;
use surefit_measure::error::say;
use surefit_measure::output;

/// The arguments of `experiment all`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Traces and object graphs instead of the experiments' own: files, bundled:NAME, or gen:NAME
    files: Vec<PathBuf>,
    /// The directory to write to; it is made if it is missing
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Smaller programs and fewer rounds: a minute instead of many
    #[arg(long)]
    quick: bool,
    /// Interleaved rounds of what is timed
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: Option<u32>,
}

/// Runs them all, one after the other.
///
/// # Errors
/// A directory that cannot be written; what an experiment fails with.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let directory = &args.output;
    let made = std::fs::create_dir_all(directory);
    made.with_context(|| {
        format!(
            "{}: cannot be made; choose another directory",
            directory.display()
        )
    })?;
    output::writable(&directory.join("index.html"))?;
    write(directory, "automaton.dot", &automaton::example()?)?;
    let mut reports = Vec::new();
    for (number, entry) in ENTRIES.iter().enumerate() {
        let place = format!("{} of {}", number + 1, ENTRIES.len());
        progress(&format!("{} ({place}): {}\n", entry.name, entry.about));
        let began = Instant::now();
        reports.push(one(args, entry)?);
        let seconds = began.elapsed().as_secs_f64();
        progress(&format!("{}: {seconds:.1} s\n", entry.name));
    }
    write(directory, "index.html", &page::page(&reports)?)?;
    output::print(&summary(directory, &reports))?;
    Ok(ExitCode::SUCCESS)
}

/// Says on stderr how far it is, where that is a terminal.
fn progress(text: &str) {
    if io::stderr().is_terminal() {
        say(text);
    }
}

/// Runs one experiment and writes its files.
fn one(args: &Args, entry: &Entry) -> Result<Report> {
    let found = (entry.run)(&Request {
        files: files(args, entry),
        quick: args.quick,
        rounds: args.rounds,
    })
    .with_context(|| entry.name)?;
    let json = serde_json::to_string_pretty(&found)? + "\n";
    write(&args.output, &format!("{}.json", entry.name), &json)?;
    if let Some(picture) = page::picture(&found)? {
        write(&args.output, &format!("{}.svg", entry.name), &picture)?;
    }
    Ok(found)
}

/// The files that an experiment can use: those of its kind.
fn files(args: &Args, entry: &Entry) -> Vec<PathBuf> {
    let fits = |file: &&PathBuf| entry.takes_traces && is_graph(file) == entry.takes_graphs();
    args.files.iter().filter(fits).cloned().collect()
}

fn write(directory: &Path, name: &str, text: &str) -> Result<()> {
    output::to_file(&directory.join(name), |out| {
        Ok(out.write_all(text.as_bytes())?)
    })
}

/// One line per claim: its verdict.
fn summary(directory: &Path, reports: &[Report]) -> String {
    let mut text = String::new();
    for found in reports {
        for claim in &found.claims {
            let line = format!("{:<12} {:<18} {}", found.name, claim.verdict, claim.claim);
            text.extend(line.chars().take(crate::kit::draw::text::WIDTH));
            text.push('\n');
        }
    }
    format!(
        "{text}{}: {} experiments\n",
        directory.join("index.html").display(),
        reports.len()
    )
}
