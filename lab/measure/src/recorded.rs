//! What is known of the processes that traces were recorded from, and whether a trace can be its
//! program's at all.

use std::path::Path;

use surefit_trace::{Beside, Counts, Facts, TraceError};

use crate::error::{complain, one_line};
use crate::results::BesideMalloc;
use crate::sizes::Size;

/// The facts behind the trace in a file; `None` if there are none, as for a bundled one. Damaged
/// facts are named on standard error, and left out.
#[must_use]
pub fn facts(file: &Path) -> Option<Facts> {
    load(file).unwrap_or_else(|error| {
        complain(&one_line(&error.to_string()));
        None
    })
}

/// As [`facts`], without a word on damaged ones: for who loads the trace as well.
#[must_use]
pub fn sound_facts(file: &Path) -> Option<Facts> {
    load(file).ok().flatten()
}

/// What is no regular file cannot be opened twice.
fn load(file: &Path) -> Result<Option<Facts>, TraceError> {
    if file.is_file() {
        Facts::load(file)
    } else {
        Ok(None)
    }
}

impl BesideMalloc {
    /// What of a process came from elsewhere than the recorded malloc; `None` if nothing did, as
    /// far as that is known. `counts` are those of the trace's header.
    #[must_use]
    pub fn of(facts: &Facts, counts: &Counts) -> Option<Self> {
        let is_beside = facts.own_allocator.is_some() || facts.beside(counts).is_some();
        is_beside.then(|| Self {
            grown_bytes: facts.grown_bytes.unwrap_or(0),
            recorded_bytes: counts.peak_bytes,
            own_allocator: facts.own_allocator.clone(),
        })
    }

    /// Why the trace is not the program's heap, and how to record one that is.
    #[must_use]
    pub fn why(&self) -> String {
        match &self.own_allocator {
            Some(function) => format!(
                "the program has an allocator of its own ({}), and what that served was not \
                 recorded",
                one_line(function)
            ),
            None => not_the_programs(Beside {
                grown_bytes: self.grown_bytes,
                recorded_bytes: self.recorded_bytes,
            }),
        }
    }
}

/// Why a trace cannot be its program's, and how to record one that is.
#[must_use]
pub fn not_the_programs(beside: Beside) -> String {
    format!(
        "the trace is not the program's heap: the process grew by {}, and malloc gave it at most \
         {} at once: it has an allocator of its own, or maps memory itself; record a build that \
         allocates by malloc (in Rust: `#[global_allocator] static A: std::alloc::System = \
         std::alloc::System;`), or malloc's part alone, with --malloc-only",
        Size(beside.grown_bytes),
        Size(beside.recorded_bytes)
    )
}
