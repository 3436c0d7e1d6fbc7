//! What is known of the processes that traces were recorded from, and whether a trace can be its
//! program's at all.

use std::path::Path;

use anyhow::{Result, bail};
use surefit_trace::{Beside, Facts, Trace};

use crate::error::{complain, one_line};
use crate::sizes::Size;
use crate::source::load_trace;

/// The facts behind the trace in a file; `None` if there are none, as for a bundled one. Damaged
/// facts are named on standard error, and left out.
#[must_use]
pub fn facts(file: &Path) -> Option<Facts> {
    if !file.is_file() {
        return None;
    }
    Facts::load(file).unwrap_or_else(|error| {
        complain(&one_line(&error.to_string()));
        None
    })
}

/// Loads a trace for advice on its program.
///
/// # Errors
/// As [`load_trace`]; the program's memory came from elsewhere than the recorded malloc.
pub fn load_for_advice(file: &Path) -> Result<Trace> {
    let trace = load_trace(file)?;
    let counts = trace.header().counts;
    match facts(file).and_then(|facts| facts.beside(&counts)) {
        Some(beside) => bail!("{}: {}", file.display(), not_the_programs(beside)),
        None => Ok(trace),
    }
}

/// Why a trace cannot be its program's, and how to record one that is.
#[must_use]
pub fn not_the_programs(beside: Beside) -> String {
    format!(
        "the trace is not the program's heap: the process grew by {}, and malloc gave it at most \
         {} at once; record a build that allocates by malloc (in Rust: `#[global_allocator] static \
         A: std::alloc::System = std::alloc::System;`)",
        Size(beside.grown_bytes),
        Size(beside.recorded_bytes)
    )
}
