//! `surefit experiment`: figures and tables, computed or measured here.

mod automaton;
pub(crate) mod bounds;
mod small_heaps;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::cli::Format;
use crate::output;

/// What `experiment` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    experiment: Experiment,
}

/// The experiments.
#[derive(Debug, Subcommand)]
enum Experiment {
    /// The names of all experiments
    List,
    /// The states of a size-class and what every allocation and free does, as Graphviz text
    Automaton(automaton::Args),
    /// What each bound on fragmentation costs and saves: moves, time, certificate, smallest heap
    Bounds(bounds::Args),
    /// Certificates of small heaps beside the bounds of heaps that never move
    SmallHeaps(Printed),
}

/// How an experiment is printed.
#[derive(Debug, clap::Args)]
struct Printed {
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Runs an experiment.
///
/// # Errors
/// Bad input; what the experiment fails with.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    match &args.experiment {
        Experiment::List => {
            output::print(&list())?;
            Ok(ExitCode::SUCCESS)
        }
        Experiment::Automaton(args) => automaton::run(args),
        Experiment::Bounds(args) => bounds::run(args),
        Experiment::SmallHeaps(printed) => small_heaps::run(printed.format == Format::Json),
    }
}

/// The names and what they show, one a line; taken from the command line's own description.
fn list() -> String {
    let command = Experiment::augment_subcommands(clap::Command::new("experiment"));
    let listed = command
        .get_subcommands()
        .filter(|entry| entry.get_name() != "list");
    listed
        .map(|entry| {
            let about = entry.get_about().map(ToString::to_string);
            format!("{:<12} {}\n", entry.get_name(), about.unwrap_or_default())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::list;

    #[test]
    fn every_experiment_is_listed_with_what_it_shows() {
        let list = list();
        for name in ["automaton", "bounds", "small-heaps"] {
            let line = list.lines().find(|line| line.starts_with(name));
            assert!(line.is_some_and(|line| line.len() > 30), "{name}: {list}");
        }
        assert!(!list.contains("list "), "{list}");
    }
}
