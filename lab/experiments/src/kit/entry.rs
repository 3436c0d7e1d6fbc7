//! One experiment, the request that it gets, and how a run of it ended.

use std::path::PathBuf;

use super::report::Report;

/// One experiment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// What it shows, in one line.
    pub(crate) about: &'static str,
    /// Whether it replays traces, so that FILE arguments have a meaning.
    pub(crate) takes_traces: bool,
    /// Whether it times anything, so that rounds have a meaning.
    pub(crate) takes_rounds: bool,
    /// Runs it.
    pub(crate) run: fn(&Request) -> anyhow::Result<Report>,
}

/// An experiment without what runs it: whoever lists experiments need not compile them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Described {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// What it shows, in one line.
    pub(crate) about: &'static str,
    /// Whether it replays traces, so that FILE arguments have a meaning.
    pub(crate) takes_traces: bool,
    /// Whether it times anything, so that rounds have a meaning.
    pub(crate) takes_rounds: bool,
}

/// What an experiment gets: files, size, rounds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    /// Traces instead of the experiment's own: files, `bundled:NAME` or `gen:NAME`.
    pub(crate) files: Vec<PathBuf>,
    /// Whether smaller programs and fewer rounds will do.
    pub(crate) quick: bool,
    /// Interleaved rounds, where the user chose their number.
    pub(crate) rounds: Option<u32>,
}

/// How a run of an experiment ended.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// The experiment's name.
    pub(crate) name: &'static str,
    /// What it found, or why it failed.
    pub(crate) outcome: Result<Report, String>,
    /// Seconds that it took.
    pub(crate) seconds: f64,
}

impl Entry {
    /// What is said of it.
    pub(crate) const fn described(&self) -> Described {
        Described {
            name: self.name,
            about: self.about,
            takes_traces: self.takes_traces,
            takes_rounds: self.takes_rounds,
        }
    }

    /// Whether the files it takes are object graphs, rather than traces of allocations.
    pub(crate) fn takes_graphs(&self) -> bool {
        self.takes_traces && self.name.starts_with("gc-")
    }
}

impl Request {
    /// The rounds asked for, else `usual`, or 2 if quick.
    pub(crate) fn rounds_or(&self, usual: u32) -> u32 {
        self.rounds.unwrap_or(if self.quick { 2 } else { usual })
    }
}
