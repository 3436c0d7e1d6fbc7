//! An experiment that was chosen on the command line, and the options that all of them take.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::{Arg, ArgMatches, Args as _, Command, FromArgMatches, Subcommand};

use crate::experiments::{DESCRIBED, ENTRIES};
use crate::kit::draw::{page, text};
use crate::kit::{Entry, Request};
use surefit_measure::output::{self, Format};

/// What every experiment of [`ENTRIES`] takes.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Traces instead of the experiment's own: files, bundled:NAME, or gen:NAME
    files: Vec<PathBuf>,
    /// Smaller programs and fewer rounds: seconds instead of minutes
    #[arg(long)]
    quick: bool,
    /// Interleaved rounds of what is timed
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: Option<u32>,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Write the plots as one SVG picture as well
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Write one self-contained HTML page as well
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

/// An experiment with its options: one subcommand for each entry.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    entry: Entry,
    options: Options,
}

impl FromArgMatches for Chosen {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (name, matches) = matches.subcommand().ok_or_else(missing)?;
        let entry = ENTRIES.iter().find(|entry| entry.name == name);
        Ok(Self {
            entry: *entry.ok_or_else(missing)?,
            options: Options::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for Chosen {
    fn augment_subcommands(command: Command) -> Command {
        DESCRIBED.iter().fold(command, |command, entry| {
            let one = Options::augment_args(Command::new(entry.name)).about(entry.about);
            let one = hidden(one, "files", !entry.takes_traces);
            command.subcommand(hidden(one, "rounds", !entry.takes_rounds))
        })
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        DESCRIBED.iter().any(|entry| entry.name == name)
    }
}

fn hidden(command: Command, arg: &'static str, is_hidden: bool) -> Command {
    command.mut_arg(arg, |arg: Arg| arg.hide(is_hidden))
}

impl Chosen {
    /// Runs the experiment and prints what it found.
    ///
    /// # Errors
    /// Bad input; what the experiment fails with; a file that cannot be written.
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let (entry, options) = (self.entry, &self.options);
        for path in [&options.plot, &options.report].into_iter().flatten() {
            output::writable(path)?;
        }
        let name = entry.name;
        ensure!(
            entry.takes_traces || options.files.is_empty(),
            "{name} replays no traces: leave the files out"
        );
        ensure!(
            entry.takes_rounds || options.rounds.is_none(),
            "{name} times nothing: leave --rounds out"
        );
        let found = (entry.run)(&Request {
            files: options.files.clone(),
            quick: options.quick,
            rounds: options.rounds,
        })?;
        let picture = page::picture(&found)?;
        if let Some((path, picture)) = options.plot.as_ref().zip(picture.as_ref()) {
            output::to_file(path, |out| Ok(out.write_all(picture.as_bytes())?))?;
        }
        if let Some(path) = &options.report {
            let page = page::page(&[&found])?;
            output::to_file(path, |out| Ok(out.write_all(page.as_bytes())?))?;
        }
        match options.format {
            Format::Json => output::print_json(&found)?,
            Format::Table => output::print(&text::text(&found))?,
        }
        ensure!(
            picture.is_some() || options.plot.is_none(),
            "{name} has no plots: leave --plot out"
        );
        Ok(ExitCode::SUCCESS)
    }
}
