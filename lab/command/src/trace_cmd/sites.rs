//! `surefit trace stats --sites`: who allocates most, and who holds the peak.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use schemars::JsonSchema;
use serde::Serialize;
use surefit_measure::error::one_line;
use surefit_measure::grid::elided;
use surefit_measure::output::{self, Format, grouped};
use surefit_measure::sizes::per_cent;
use surefit_measure::wrap::columns;
use surefit_trace::{Caller, Callers, Frame, Sites};

use crate::call_sites::CallSite;

use super::open::{CHECKED, COUNTED, open_all};
use super::report::Described;

/// The document of `surefit trace stats --sites --format json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct SitesDocument {
    /// The version of this document: 1.
    schema: u32,
    traces: Vec<TraceSites>,
}

/// The call sites of one trace.
#[derive(Debug, JsonSchema, Serialize)]
struct TraceSites {
    /// The path as given.
    file: String,
    #[serde(flatten)]
    trace: Described,
    /// Stacks that allocated or resized.
    stacks: u64,
    /// The stacks that asked for most bytes, the most first.
    most_requested: Vec<Site>,
    /// The stacks whose objects hold most bytes at the peak, the most first.
    most_at_peak: Vec<Site>,
}

/// What one stack asked for.
#[derive(Debug, JsonSchema, Serialize)]
struct Site {
    /// Allocations and reallocations.
    requests: u64,
    requested_bytes: u64,
    requested_percent: f64,
    live_at_peak_objects: u64,
    live_at_peak_bytes: u64,
    live_at_peak_percent: f64,
    /// The calls, the innermost first; none if nobody knows.
    frames: Vec<SiteFrame>,
}

/// One call of a stack.
#[derive(Debug, JsonSchema, Serialize)]
struct SiteFrame {
    /// The file of the program or library; empty for code without a file.
    module: String,
    /// Where in the file the call returns to.
    offset: u64,
    /// The function; absent if nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<String>,
}

/// Prints the call sites of traces, `top` of each order.
pub(super) fn run(files: &[PathBuf], top: usize, format: Format) -> Result<ExitCode> {
    let mut traces = Vec::new();
    let mut text = String::new();
    for file in files {
        let callers = Callers::read(open_all(file, CHECKED + COUNTED)?)?;
        let Some(sites) = &callers.sites else {
            bail!(
                "{}: has no call sites: record the program with --stacks",
                file.display()
            );
        };
        match format {
            Format::Table => text += &tables(&callers, sites, top, columns()),
            Format::Json => traces.push(TraceSites::new(
                file.display().to_string(),
                &callers,
                sites,
                top,
            )),
        }
    }
    match format {
        Format::Table => output::print(&text)?,
        Format::Json => output::print_json(&SitesDocument { schema: 1, traces })?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What a figure is of: all requested bytes, or those live at the peak.
type Figure = fn(&Caller) -> u64;
const REQUESTED: Figure = |caller| caller.requested_bytes;
const AT_PEAK: Figure = |caller| caller.live_at_peak_bytes;

impl TraceSites {
    fn new(file: String, callers: &Callers, sites: &Sites, top: usize) -> Self {
        let most = |figure: Figure| {
            let mut all = callers.callers.clone();
            all.sort_by_key(|caller| (Reverse(figure(caller)), caller.stack));
            all.retain(|caller| figure(caller) > 0);
            all.truncate(top);
            let site = |caller: &Caller| Site::new(caller, callers, sites);
            all.iter().map(site).collect()
        };
        Self {
            file,
            trace: Described::new(&callers.header, callers.peak),
            stacks: callers.callers.len() as u64,
            most_requested: most(REQUESTED),
            most_at_peak: most(AT_PEAK),
        }
    }
}

impl Site {
    fn new(caller: &Caller, callers: &Callers, sites: &Sites) -> Self {
        let frame = |frame: Frame<'_>| SiteFrame {
            module: frame.module.to_owned(),
            offset: frame.offset,
            function: frame.function.map(str::to_owned),
        };
        let counts = callers.header.counts;
        Self {
            requests: caller.requests,
            requested_bytes: caller.requested_bytes,
            requested_percent: per_cent(caller.requested_bytes, counts.total_bytes),
            live_at_peak_objects: caller.live_at_peak_objects,
            live_at_peak_bytes: caller.live_at_peak_bytes,
            live_at_peak_percent: per_cent(caller.live_at_peak_bytes, counts.peak_bytes),
            frames: sites.frames(caller.stack).map(frame).collect(),
        }
    }
}

/// The longest name of a function that is printed, in characters.
const NAME_CHARS: usize = 34;

/// Columns before the names.
const FIGURES: usize = 33;

/// The tables in lines of at most `width` columns; a call that is longer has a line of its own.
fn tables(callers: &Callers, sites: &Sites, top: usize, width: usize) -> String {
    let mut lines: HashMap<String, Caller> = HashMap::new();
    for caller in &callers.callers {
        let called = CallSite::of(sites, caller.stack, NAME_CHARS).short;
        let line = lines.entry(called).or_default();
        line.requests += caller.requests;
        line.requested_bytes += caller.requested_bytes;
        line.live_at_peak_objects += caller.live_at_peak_objects;
        line.live_at_peak_bytes += caller.live_at_peak_bytes;
    }
    let counts = callers.header.counts;
    let mut text = format!("{}\n", elided(&one_line(&callers.header.name), width));
    let orders: [(&str, Figure, Figure, u64); 2] = [
        (
            "requested bytes",
            REQUESTED,
            |line| line.requests,
            counts.total_bytes,
        ),
        (
            "bytes at peak",
            AT_PEAK,
            |line| line.live_at_peak_objects,
            counts.peak_bytes,
        ),
    ];
    for (what, bytes, number, of) in orders {
        let mut all: Vec<_> = lines.iter().filter(|(_, line)| bytes(line) > 0).collect();
        all.sort_by_key(|(called, line)| (Reverse(bytes(line)), *called));
        text += &format!("{what:>15}      %    number  called from\n");
        for (called, line) in all.into_iter().take(top) {
            let share = per_cent(bytes(line), of);
            text += &format!(
                "{:>15}  {share:>5.1}  {:>8}  {}\n",
                grouped(bytes(line)),
                grouped(number(line)),
                below(called, width)
            );
        }
        text.push('\n');
    }
    text
}

/// Calls in a column behind the figures; those that do not fit are in further lines.
fn below(called: &str, width: usize) -> String {
    let mut text = String::new();
    let mut used = FIGURES + 1;
    for (number, call) in called.split(" < ").enumerate() {
        let letters = call.chars().count();
        if number > 0 && used + 3 + letters > width {
            text += &format!("\n{}  <", " ".repeat(FIGURES));
            used = FIGURES + 3;
        } else if number > 0 {
            text += " <";
            used += 2;
        }
        text += &format!("{}{call}", if number > 0 { " " } else { "" });
        used += letters + 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use surefit_trace::{Call, Callers, CheckedReader, Event, Frame, Op, SitesBuilder, Trace};

    use super::tables;

    #[test]
    fn the_committed_schema_is_that_of_the_type() {
        surefit_measure::schema::is_committed::<super::SitesDocument>("trace-sites.json");
    }

    #[test]
    fn tables_fit_80_columns_and_names_from_files_are_plain() {
        let mut builder = SitesBuilder::default();
        let name = format!("a\n\u{1b}{}", "é".repeat(90));
        let frame = |offset, function| Frame {
            module: "/usr/bin/program",
            offset,
            function,
        };
        let stack = builder.stack(&[frame(1, Some(&name)), frame(2, None), frame(3, Some(&name))]);
        let (id, size, call) = (0, 1 << 50, Call::Malloc);
        let events = vec![Event::new(0, Op::Alloc { id, size, call })];
        let trace = Trace::new(&name, events).expect("sound");
        let trace = trace
            .with_sites(builder.finish(), vec![stack])
            .expect("known");
        let bytes = trace.to_bytes();
        let reader = CheckedReader::new(&bytes[..]).expect("a trace");
        let callers = Callers::read(reader).expect("sound");
        let text = tables(&callers, callers.sites.as_ref().expect("some"), 5, 80);
        assert!(
            text.contains("…\n") && text.contains("  < program+0x2\n"),
            "{text}"
        );
        assert!(text.contains("1,125,899,906,842,624  100.0"), "{text}");
        for line in text.lines() {
            assert!(
                line.chars().count() <= 80 && !line.contains('\u{1b}'),
                "{line}"
            );
        }
    }
}
