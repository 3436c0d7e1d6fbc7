//! What is known of the process that a trace was recorded from, for people and for documents.

use schemars::JsonSchema;
use serde::Serialize;
use surefit_measure::error::one_line;
use surefit_measure::results::BesideMalloc;
use surefit_measure::sizes::Size;
use surefit_trace::{Counts, Facts};

/// What is known of the process that a trace was recorded from. What is not known is absent.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Process {
    /// What recorded it, and its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorder: Option<String>,
    /// The processor time of the process and its threads, user and system, until the recording
    /// ended. The recorder's own work is part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_ns: Option<u64>,
    /// The time from the program's begin until the recording ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    wall_ns: Option<u64>,
    /// The most resident memory that was seen, without the recorder's log.
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_resident_bytes: Option<u64>,
    /// By how much the resident anonymous memory had grown since the program began, where the most
    /// was seen: heaps, however the program got them, and stacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    grown_bytes: Option<u64>,
    /// The library that the program's malloc is in; absent if that is the C library.
    #[serde(skip_serializing_if = "Option::is_none")]
    allocator: Option<String>,
    /// A function of an allocator that the program brings beside malloc. What it serves was not
    /// recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    own_allocator: Option<String>,
    /// Whether malloc's part of the program was asked for, whatever else serves it.
    is_malloc_only: bool,
    /// Whether the calls of all of the process are in the trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_whole: Option<bool>,
    /// Whether nearly all of the program's memory came from elsewhere than the recorded malloc, so
    /// that no advice on the trace is advice on the program.
    is_beside_malloc: bool,
}

impl Process {
    pub(crate) fn new(facts: &Facts, counts: &Counts) -> Self {
        let Facts {
            recorder,
            cpu_ns,
            wall_ns,
            peak_resident_bytes,
            grown_bytes,
            allocator,
            own_allocator,
            is_malloc_only,
            is_whole,
        } = facts.clone();
        Self {
            recorder,
            cpu_ns,
            wall_ns,
            peak_resident_bytes,
            grown_bytes,
            allocator,
            own_allocator,
            is_malloc_only,
            is_whole,
            is_beside_malloc: facts.beside(counts).is_some(),
        }
    }
}

/// The facts of a trace in a few lines, each with an end.
pub(super) fn lines(name: &str, facts: &Facts, counts: &Counts) -> String {
    let recorder = facts.recorder.as_deref().unwrap_or("an unknown recorder");
    let recorder = format!("{} was recorded by {recorder}", one_line(name));
    let mut lines = vec![one_line(&recorder)];
    let taken = taken(facts);
    if !taken.is_empty() {
        lines.push(format!("  {taken}"));
    }
    if let Some(library) = &facts.allocator {
        lines.push(format!("  its malloc: {}", one_line(library)));
    }
    if facts.is_whole == Some(false) {
        lines.push("  the recording ended before the process did".to_owned());
    }
    if let Some(beside) = BesideMalloc::of(facts, counts) {
        lines.push(format!("  {}", beside.why()));
    }
    lines.join("\n") + "\n"
}

/// Time and memory of a process, as far as they are known.
pub(crate) fn taken(facts: &Facts) -> String {
    let seconds = |ns: u64| format!("{:.2} s", ns as f64 / 1e9);
    let cpu = facts
        .cpu_ns
        .map(|ns| format!("{} of processor time", seconds(ns)));
    let times: Vec<_> = cpu.into_iter().chain(facts.wall_ns.map(seconds)).collect();
    let times = Some(times.join(" in ")).filter(|times| !times.is_empty());
    let resident = facts.peak_resident_bytes;
    let resident = resident.map(|bytes| format!("peak resident {}", Size(bytes)));
    times
        .into_iter()
        .chain(resident)
        .collect::<Vec<_>>()
        .join(", ")
}
