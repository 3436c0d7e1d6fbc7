//! `surefit-experiments`, which `surefit experiment` runs: figures and tables of the papers,
//! computed or measured here.
//!
//! ```text
//! kit            what an experiment is and what it yields: Entry, Report, Table, Plot, Claim; drawn as text, SVG, HTML
//! shared         what several experiments use: programs, settings, threads, Java programs
//! experiments    a folder per experiment, and the list of all
//! chosen         the options that all experiments take: FILE… --quick --rounds --format --plot --report
//! list           the names of all experiments, and what of the papers each one shows
//! all            every experiment into a directory: NAME.json, NAME.txt, NAME.svg, index.html
//! ```
//! Imports go upwards only, in this list from below to above: no experiment imports another,
//! `shared` imports no experiment, and `kit` imports neither.
//!
//! # A new experiment
//! A folder in `experiments/` with a `mod.rs`, and two lines in `experiments/mod.rs`: its module,
//! and its entry in `ENTRIES`.
//!
//! ```text
//! pub(crate) const ENTRY: Entry = Entry { name: "figure-12", about: "…", takes_traces: false, takes_rounds: true, run };
//!
//! fn run(request: &Request) -> Result<Report> {
//!     let mut report = Report::new(ENTRY.name, "title", "paper, figure 12", request.quick);
//!     report.setting.push(…);             how it was measured, one line per element
//!     report.tables.push(…);              Table::new(title, [Column::text(…), Column::figure(…), Column::papers(…)])
//!     report.plots.push(…);               Plot { title, x: Axis::…, y: Axis::…, series: vec![Series::new(…)] }
//!     report.claims.push(Claim::that("…").of("figure 12").papers("…").ours(figure).decide(test, "the test in words"));
//!     Ok(report)
//! }
//! ```
//! `request.quick` asks for seconds instead of minutes (for tests, for a debug build);
//! `request.rounds_or(n)` is the number of timed rounds. A verdict is computed, never written:
//! [`decide`](kit::claim::Claiming::decide) takes the test and says it in words; where nothing was
//! there to test, the test is `None` and the words name the condition. One verdict over several
//! programs is [`over`](kit::claim::Claiming::over). Each `Claim::that` has a unit test in which it
//! holds and one in which it does not: `ci/claims.sh` fails otherwise.
//!
//! `automaton` alone has no report: it prints Graphviz text.

mod all;
mod chosen;
mod experiments;
mod kit;
mod list;
mod shared;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use dlmalloc::GlobalDlmalloc;

use experiments::automaton;
use experiments::complexity::{ClassCalls, play_class_calls};
use experiments::figure_10::{LongestSections, play_longest_sections};
use experiments::malloc::{MallocPairs, MallocShape, play_malloc_pairs, play_malloc_shape};
use experiments::overview::{WorstCalls, play_worst_calls};
use experiments::table_4::{ChosenCalls, play_chosen_calls};
use surefit_measure::output;
use surefit_measure::{arguments, as_child, error};

/// The command's own memory: the C library's malloc, or one that is preloaded, serves nothing but
/// what is measured.
#[global_allocator]
static OWN_MEMORY: GlobalDlmalloc = GlobalDlmalloc;

/// Figures and tables of the papers, computed or measured here, with a verdict on each claim.
#[derive(Debug, Parser)]
#[command(name = "surefit-experiments", version, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    experiment: Experiment,
}

/// The experiments.
#[derive(Debug, Subcommand)]
enum Experiment {
    /// The names of all experiments, and what of the papers each one shows
    List,
    /// Every experiment into a directory: JSON, pictures, and one page
    All(all::Args),
    /// The states of a size-class, and what every malloc and free does, as Graphviz text
    Automaton(automaton::Args),
    /// Make the calls that the overview counts; for its children.
    #[command(hide = true)]
    WorstCalls(WorstCalls),
    /// Make the calls whose sections figure 10 counts; for its children.
    #[command(hide = true)]
    LongestSections(LongestSections),
    /// Make the calls that table 4 counts; for its children.
    #[command(hide = true)]
    ChosenCalls(ChosenCalls),
    /// Make the calls that complexity counts; for its children.
    #[command(hide = true)]
    ClassCalls(ClassCalls),
    /// Play a shape on a preloaded malloc; for the children of `malloc`.
    #[command(hide = true)]
    MallocShape(MallocShape),
    /// Make the calls of malloc that are counted; for the children of `malloc`.
    #[command(hide = true)]
    MallocPairs(MallocPairs),
    /// Replay for a parent that measures.
    #[command(name = surefit_measure::child::VERB, hide = true)]
    AsChild(as_child::Args),
    #[command(flatten)]
    Chosen(chosen::Chosen),
}

fn main() -> ExitCode {
    match arguments::read::<Cli>().and_then(|cli| cli.map_or(Ok(ExitCode::SUCCESS), run)) {
        Ok(status) => status,
        Err(error) => error::report(&error),
    }
}

fn run(cli: Cli) -> Result<ExitCode> {
    match cli.experiment {
        Experiment::List => output::print(&list::list(&described())).map(|()| ExitCode::SUCCESS),
        Experiment::All(args) => all::run(&args),
        Experiment::Automaton(args) => automaton::run(&args),
        Experiment::Chosen(chosen) => chosen.run(),
        Experiment::WorstCalls(args) => play_worst_calls(&args),
        Experiment::LongestSections(args) => play_longest_sections(&args),
        Experiment::ChosenCalls(args) => play_chosen_calls(&args),
        Experiment::ClassCalls(args) => play_class_calls(&args),
        Experiment::MallocShape(args) => play_malloc_shape(&args),
        Experiment::MallocPairs(args) => play_malloc_pairs(&args),
        Experiment::AsChild(args) => as_child::run(&args).map(|()| ExitCode::SUCCESS),
    }
}

/// The command line's description, from which the list takes names and descriptions.
fn described() -> clap::Command {
    Experiment::augment_subcommands(clap::Command::new("experiment"))
}

#[cfg(test)]
mod tests {
    use super::experiments::DESCRIBED;
    use super::kit::papers::{self, Shown};
    use super::{described, list};

    #[test]
    fn every_experiment_is_listed_with_what_it_shows() {
        let list = list::list(&described());
        let reports = DESCRIBED.iter().map(|entry| entry.name);
        for name in ["all", "automaton"].into_iter().chain(reports) {
            let line = list.lines().find(|line| line.starts_with(name));
            assert!(line.is_some_and(|line| line.len() > 30), "{name}: {list}");
        }
        assert!(
            !list.lines().any(|line| line.starts_with("list ")),
            "{list}"
        );
        assert!(list.lines().all(|line| line.chars().count() <= 80));
    }

    #[test]
    fn every_figure_of_the_papers_is_listed_and_its_experiments_exist() {
        let list = list::list(&described());
        for item in papers::all() {
            let line = list
                .lines()
                .find(|line| line.starts_with(&format!("  {} ", item.id)));
            assert!(line.is_some(), "{}: {list}", item.id);
            let Shown::By(names) = item.shown else {
                continue;
            };
            for name in names {
                let is_known = described().find_subcommand(name).is_some();
                let is_left_out = cfg!(not(feature = "lua")) && *name == "gc-lua";
                assert!(is_known || is_left_out, "S2: {}: {name}", item.id);
            }
        }
    }
}
