//! `surefit experiment all -o DIR --report FILE.html`: every experiment, into a directory and onto
//! one page.
//!
//! ```text
//! DIR/NAME.json       the report of each experiment
//! DIR/NAME.txt        the same, as it is printed
//! DIR/NAME.svg        its plots, if it has any
//! DIR/automaton.dot   the states of a size-class, for Graphviz
//! DIR/claims.json     the claims of all reports with their verdicts, how long each experiment took, and the machine
//! DIR/index.html      one page that loads nothing: every figure, table and claim of the papers with its verdict,
//!                     and below that all reports
//! FILE.html           the same page
//! ```
//! An experiment that fails is reported, and the others go on; the exit status is then not 0.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::experiments::{ENTRIES, automaton};
use crate::kit::draw::text::text;
use crate::kit::draw::{page, verdicts};
use crate::kit::record::Record;
use crate::kit::shown::missing;
use crate::kit::{Entry, Report, Request, Run};
use surefit_measure::collector::graphs::is_graph;
use surefit_measure::error::say;
use surefit_measure::output;
use surefit_measure::wrap::{paragraph, width};

/// The arguments of `experiment all`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Traces and object graphs instead of the experiments' own: files, bundled:NAME, or gen:NAME
    files: Vec<PathBuf>,
    /// The directory to write to; it is made if it is missing
    #[arg(short, long, value_name = "DIR", required_unless_present = "report")]
    output: Option<PathBuf>,
    /// Write the page of all experiments here as well
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Smaller programs and fewer rounds: a minute instead of many
    #[arg(long)]
    quick: bool,
    /// Interleaved rounds of what is timed
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: Option<u32>,
}

/// Runs them all, one after the other, and prints a summary. The status is 0 if none failed.
///
/// # Errors
/// A directory or file that cannot be written.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if let Some(directory) = &args.output {
        let made = std::fs::create_dir_all(directory);
        made.with_context(|| {
            format!(
                "{}: cannot be made; choose another directory",
                directory.display()
            )
        })?;
        write(directory, "automaton.dot", &automaton::example()?)?;
    }
    let page = args
        .output
        .iter()
        .map(|directory| directory.join("index.html"));
    let pages: Vec<_> = page.chain(args.report.clone()).collect();
    for page in &pages {
        output::writable(page)?;
    }
    let runs = run_each(args, ENTRIES)?;
    if let Some(directory) = &args.output {
        let record = serde_json::to_string_pretty(&Record::of(&runs, args.quick))?;
        write(directory, "claims.json", &(record + "\n"))?;
    }
    let drawn = page::all(&runs)?;
    for page in &pages {
        output::to_file(page, |out| Ok(out.write_all(drawn.as_bytes())?))?;
    }
    output::print(&summary(&pages, &runs))?;
    let failed = runs.iter().any(|run| run.outcome.is_err());
    Ok(ExitCode::from(u8::from(failed)))
}

/// Runs experiments one after the other, whether or not one fails.
///
/// # Errors
/// A file that cannot be written.
fn run_each(args: &Args, entries: &[Entry]) -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        let place = format!("{} of {}", number + 1, entries.len());
        progress(&format!("{} ({place}): {}\n", entry.name, entry.about));
        let run = one(args, entry)?;
        match &run.outcome {
            Ok(_) => progress(&format!("{}: {:.1} s\n", run.name, run.seconds)),
            Err(why) => say(&format!("{} failed: {why}\n", run.name)),
        }
        runs.push(run);
    }
    Ok(runs)
}

/// Says on stderr how far it is, where that is a terminal.
fn progress(text: &str) {
    if io::stderr().is_terminal() {
        say(text);
    }
}

/// Runs one experiment and writes its files. What it fails with is part of the outcome.
///
/// # Errors
/// A file that cannot be written.
fn one(args: &Args, entry: &Entry) -> Result<Run> {
    let began = Instant::now();
    let found = (entry.run)(&Request {
        files: files(args, entry),
        quick: args.quick,
        rounds: args.rounds,
    });
    let seconds = began.elapsed().as_secs_f64();
    if let Some((directory, found)) = args.output.as_ref().zip(found.as_ref().ok()) {
        files_of(directory, found)?;
    }
    Ok(Run {
        name: entry.name,
        outcome: found.map_err(|error| format!("{error:#}")),
        seconds,
    })
}

/// Writes the files of a report.
fn files_of(directory: &Path, found: &Report) -> Result<()> {
    let json = serde_json::to_string_pretty(found)? + "\n";
    write(directory, &format!("{}.json", found.name), &json)?;
    write(directory, &format!("{}.txt", found.name), &text(found))?;
    if let Some(picture) = page::picture(found)? {
        write(directory, &format!("{}.svg", found.name), &picture)?;
    }
    Ok(())
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

/// One line per claim, one per experiment, what of the papers was to be shown and is not, and where
/// the page is.
fn summary(pages: &[PathBuf], runs: &[Run]) -> String {
    let reports: Vec<_> = runs
        .iter()
        .filter_map(|run| run.outcome.as_ref().ok())
        .collect();
    let mut text = String::new();
    for found in &reports {
        for claim in &found.claims {
            let line = format!("{:<12} {:<18} {}", found.name, claim.verdict, claim.claim);
            text.extend(line.chars().take(width()));
            text.push('\n');
        }
    }
    text.push('\n');
    for run in runs {
        let words = match &run.outcome {
            Ok(found) => verdicts_of(&[found]),
            Err(why) => format!("failed: {why}"),
        };
        let first = format!("{:<16} {:>8.1} s  ", run.name, run.seconds);
        text += &paragraph(&words, &first, &" ".repeat(first.len()));
    }
    for (seed, name) in missing(&reports) {
        text += &paragraph(&format!("nothing of {}: {name}", seed.id), "", "  ");
    }
    let failed = runs.len() - reports.len();
    let seconds: f64 = runs.iter().map(|run| run.seconds).sum();
    let total = format!(
        "{} experiments in {seconds:.0} s, {failed} failed; claims: {}",
        runs.len(),
        verdicts_of(&reports)
    );
    text += &paragraph(&total, "", "  ");
    for page in pages {
        text += &format!("{}\n", page.display());
    }
    text
}

/// How many claims of these reports hold, and how many do not.
fn verdicts_of(reports: &[&Report]) -> String {
    let claims = reports.iter().flat_map(|report| &report.claims);
    verdicts::words(verdicts::counts(claims.map(|claim| claim.verdict)))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use anyhow::anyhow;

    use super::{Args, run_each, summary};
    use crate::kit::{Claim, Entry, Report};

    #[test]
    fn one_that_fails_is_reported_and_the_others_go_on() {
        let failing = Entry {
            name: "failing",
            about: "",
            takes_traces: false,
            takes_rounds: false,
            run: |_| Err(anyhow!("no memory").context("measuring")),
        };
        let next = Entry {
            name: "table-3",
            run: |request| {
                let mut report = Report::new("table-3", "t", "p", request.quick);
                let claim = Claim::that("it is small").of("table 3");
                report.claims.push(claim.decide(true, "counted"));
                Ok(report)
            },
            ..failing
        };
        let directory = tempfile::tempdir().expect("a directory");
        let args = Args {
            files: Vec::new(),
            output: Some(directory.path().to_owned()),
            report: None,
            quick: true,
            rounds: None,
        };
        let runs = run_each(&args, &[failing, next]).expect("a directory that can be written");
        assert!(directory.path().join("table-3.json").exists());
        let text = summary(&[PathBuf::from("page.html")], &runs);
        for part in [
            "table-3      holds              it is small",
            "s  failed: measuring: no memory",
            "s  1 holds",
            "nothing of partitioning: table-3",
            "2 experiments in 0 s, 1 failed; claims: 1 holds",
            "page.html",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("nothing of table 3:"), "{text}");
    }
}
