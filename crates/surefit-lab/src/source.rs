//! The traces a command works on: files, or the two that are bundled.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use surefit_trace::Trace;

use crate::steps::Steps;

/// What names a bundled trace on the command line, before its name.
const BUNDLED: &str = "bundled:";

/// The traces inside the command, recorded from real programs.
const TRACES: [(&str, &[u8]); 2] = [
    ("emacs", include_bytes!("../../../traces/emacs.sft.zst")),
    (
        "redis-drift",
        include_bytes!("../../../traces/redis-drift.sft.zst"),
    ),
];

/// A trace, ready for replaying, and the name under which a child process finds it again.
#[derive(Debug)]
pub(crate) struct Source {
    /// What a child process is given as its FILE.
    pub(crate) argument: PathBuf,
    /// The trace.
    pub(crate) trace: Trace,
    /// The trace as steps.
    pub(crate) steps: Steps,
}

impl Source {
    /// Loads a file, or a bundled trace named `bundled:NAME`.
    ///
    /// # Errors
    /// One line that names the file, the position and the mend.
    pub(crate) fn load(file: &Path) -> Result<Self> {
        let trace = load_trace(file)?;
        let steps = Steps::new(&trace)?;
        Ok(Self {
            argument: file.to_owned(),
            trace,
            steps,
        })
    }
}

/// Loads the trace in a file, or a bundled one named `bundled:NAME`.
///
/// # Errors
/// One line that names the file, the position and the mend.
pub(crate) fn load_trace(file: &Path) -> Result<Trace> {
    match file.to_str().and_then(|name| name.strip_prefix(BUNDLED)) {
        Some(name) => Ok(Trace::from_bytes(bundled(name)?)?),
        None => Ok(Trace::load(file)?),
    }
}

/// The names of all bundled traces, as FILE arguments.
pub(crate) fn bundled_files() -> Vec<PathBuf> {
    let names = TRACES.iter().map(|(name, _)| format!("{BUNDLED}{name}"));
    names.map(PathBuf::from).collect()
}

fn bundled(name: &str) -> Result<&'static [u8]> {
    let found = TRACES.iter().find(|(known, _)| *known == name);
    found.map(|(_, bytes)| *bytes).ok_or_else(|| {
        let known: Vec<_> = TRACES.iter().map(|(known, _)| *known).collect();
        anyhow!(
            "{BUNDLED}{name}: no such bundled trace: known are {}",
            known.join(", ")
        )
    })
}
