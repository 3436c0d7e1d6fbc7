//! The traces that are tuned on and judged on, and the smallest heaps of allocators on them.

use std::path::Path;

use anyhow::{Context, Result, bail};
use surefit_measure::passes::min_heap::min_heap;
use surefit_measure::registry::Kind;
use surefit_measure::results::AllocatorResult;
use surefit_measure::single::{self, Setting};
use surefit_measure::sizes::HeapSize;
use surefit_measure::source::load_for_advice;

use surefit_measure::spec::{Choice, Spec};
use surefit_measure::steps::Steps;
use surefit_trace::Trace;

use super::live::Run;

/// A trace, prepared for replays and for counts.
#[derive(Debug)]
pub(super) struct Subject {
    /// What it is called in the report.
    pub(super) name: String,
    pub(super) steps: Steps,
    pub(super) run: Run,
}

impl Subject {
    /// Loads a file or a bundled trace.
    ///
    /// # Errors
    /// One line that names the file.
    pub(super) fn load(file: &Path) -> Result<Self> {
        Self::new(&load_for_advice(file)?, file.display().to_string())
    }

    /// Prepares a trace.
    ///
    /// # Errors
    /// The trace has no live byte, or a request of 4 GiB or more.
    pub(super) fn new(trace: &Trace, name: String) -> Result<Self> {
        let steps = Steps::new(trace)?;
        if steps.peak_live_bytes == 0 {
            bail!("{name}: nothing is ever live; there is nothing to tune: record a longer run");
        }
        let run = Run::new(&steps);
        Ok(Self { name, steps, run })
    }

    /// Bytes over the peak of live bytes.
    pub(super) fn over_live(&self, bytes: u64) -> f64 {
        bytes as f64 / self.steps.peak_live_bytes as f64
    }

    /// The smallest region in which an allocator completes the trace; `None` if there is none.
    ///
    /// # Errors
    /// The operating system has not enough memory.
    pub(super) fn smallest(&self, spec: &Spec, guess: u64) -> Result<Option<u64>> {
        let Some(kind) = kind(spec) else {
            return Ok(None);
        };
        let found = min_heap(kind, &self.steps, usize::try_from(guess)?)?;
        Ok(found.map(|bytes| bytes as u64))
    }

    /// A replay in a region of so many bytes: where each byte is at the peak, and what moved.
    ///
    /// # Errors
    /// The allocator broke a rule, or the operating system has not enough memory.
    pub(super) fn account(&self, spec: &Spec, region: u64) -> Result<AllocatorResult> {
        let kind = kind(spec).with_context(|| format!("{spec}: has no region"))?;
        let setting = Setting {
            heap: HeapSize::Bytes(usize::try_from(region)?),
            touch: false,
        };
        single::check(spec, kind, &self.steps, setting)
    }
}

/// The allocator of a spec, if it is in this process.
pub(super) fn kind(spec: &Spec) -> Option<&Kind> {
    match &spec.choice {
        Choice::InProcess(kind) => Some(kind),
        Choice::Preload(_) => None,
    }
}

/// The smallest region of an allocator for each subject; `None` if it cannot complete one of them.
///
/// # Errors
/// The operating system has not enough memory.
pub(super) fn smallest_of_all(
    subjects: &[&Subject],
    spec: &Spec,
    guess_over_live: f64,
) -> Result<Option<Vec<u64>>> {
    let mut all = Vec::new();
    for subject in subjects {
        let guess = subject.steps.peak_live_bytes as f64 * guess_over_live;
        match subject.smallest(spec, guess as u64)? {
            Some(bytes) => all.push(bytes),
            None => return Ok(None),
        }
    }
    Ok(Some(all))
}

/// The mean over the subjects of bytes over live bytes.
pub(super) fn mean_over_live(subjects: &[&Subject], bytes: &[u64]) -> f64 {
    let each = subjects.iter().zip(bytes);
    let sum: f64 = each.map(|(subject, bytes)| subject.over_live(*bytes)).sum();
    sum / subjects.len() as f64
}

/// Bytes that one free copies on average, in regions of these sizes; `None` if nothing can move.
///
/// # Errors
/// The allocator broke a rule, or the operating system has not enough memory.
pub(super) fn moved_per_free(
    subjects: &[&Subject],
    spec: &Spec,
    regions: &[u64],
) -> Result<Option<f64>> {
    let (mut moved, mut frees) = (0, 0);
    for (subject, region) in subjects.iter().zip(regions) {
        let row = subject.account(spec, *region)?;
        let Some(bytes) = row.moved_bytes_total else {
            return Ok(None);
        };
        moved += bytes;
        frees += row.frees + row.reallocs;
    }
    Ok(Some(moved as f64 / frees.max(1) as f64))
}
