//! What is known of the processes that traces were recorded from, and whether a trace can be its
//! program's at all.

use std::path::Path;

use surefit_trace::{Counts, Facts, TraceError};

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
            is_malloc_only: facts.is_malloc_only,
        })
    }

    /// Why the trace is not the program's heap, and how to record one that is, unless malloc's part
    /// of it was asked for.
    #[must_use]
    pub fn why(&self) -> String {
        if let Some(function) = &self.own_allocator {
            return format!(
                "the program has an allocator of its own ({}), and what that served was not \
                 recorded",
                one_line(function)
            );
        }
        let grew = format!(
            "the process grew by {}, and malloc gave it at most {} at once",
            Size(self.grown_bytes),
            Size(self.recorded_bytes)
        );
        if self.is_malloc_only {
            return format!(
                "{grew}; what it has from an allocator of its own, or maps itself, was not recorded"
            );
        }
        format!(
            "the trace is not the program's heap: {grew}: it has an allocator of its own, or maps \
             memory itself; record a build that allocates by malloc (in Rust: `#[global_allocator] \
             static A: std::alloc::System = std::alloc::System;`), or malloc's part alone, with \
             --malloc-only"
        )
    }
}

#[cfg(test)]
mod tests {
    use surefit_trace::{Counts, Facts};

    use crate::results::BesideMalloc;

    #[test]
    fn nobody_is_sent_where_he_comes_from() {
        let grown = Facts {
            grown_bytes: Some(1 << 30),
            ..Facts::default()
        };
        let named = Facts {
            own_allocator: Some("mi_malloc".into()),
            ..grown.clone()
        };
        let why = |facts: &Facts, is_malloc_only| {
            let facts = Facts {
                is_malloc_only,
                ..facts.clone()
            };
            let beside = BesideMalloc::of(&facts, &Counts::default()).expect("beside malloc");
            assert_eq!(beside.is_malloc_only, is_malloc_only);
            beside.why()
        };
        assert!(why(&grown, false).ends_with("with --malloc-only"));
        assert!(why(&grown, true).starts_with("the process grew by "));
        for said in [why(&grown, true), why(&named, true)] {
            assert!(
                said.ends_with("was not recorded") && !said.contains("--"),
                "{said}"
            );
        }
        assert!(BesideMalloc::of(&Facts::default(), &Counts::default()).is_none());
    }
}
