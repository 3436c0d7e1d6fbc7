//! `surefit trace head`: shows the header and the first events.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use surefit_trace::Peak;

use super::open::open;
use super::report::{Described, EventRow, HeadDocument, TraceHead};
use super::stats::table;
use surefit_measure::error::one_line;
use surefit_measure::output::Format;
use surefit_measure::output::{self, grouped};
use surefit_measure::sizes::Size;

pub(super) fn run(files: &[PathBuf], events: u64, format: Format) -> Result<ExitCode> {
    let heads = files.iter().map(|file| read(file, events));
    let heads: Vec<TraceHead> = heads.collect::<Result<_>>()?;
    match format {
        Format::Table => {
            output::print_wrapped(&heads.iter().map(text).collect::<Vec<_>>().join("\n"))?
        }
        Format::Json => output::print_json(&HeadDocument::new(heads))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path, events: u64) -> Result<TraceHead> {
    let mut reader = open(file)?;
    let mut first_events = Vec::new();
    for number in 0..events {
        match reader.next().transpose()? {
            Some(event) => first_events.push(EventRow::new(number, event)),
            None => break,
        }
    }
    Ok(TraceHead {
        file: file.display().to_string(),
        trace: Described {
            peak_event: None,
            peak_event_live_objects: None,
            ..Described::new(reader.header(), Peak::default())
        },
        first_events,
    })
}

fn text(head: &TraceHead) -> String {
    let columns = ["event", "thread", "call", "object", "size", "align"];
    let mut table = table(columns.map(str::to_owned).to_vec());
    for row in &head.first_events {
        table.add_row([
            grouped(row.event),
            row.thread.to_string(),
            row.call.to_owned(),
            row.object.to_string(),
            row.size_bytes.map_or_else(String::new, grouped),
            row.align_bytes.map_or_else(String::new, grouped),
        ]);
    }
    let name = one_line(&head.trace.name);
    let summary = summary(&head.trace);
    format!("{} ({name}): {summary}\n{}\n", head.file, table.trim_fmt())
}

/// A trace in one line.
pub(crate) fn summary(trace: &Described) -> String {
    format!(
        "{} events, {} objects, {} thread{}, peak {} live",
        grouped(trace.events),
        grouped(trace.objects),
        trace.threads,
        if trace.threads == 1 { "" } else { "s" },
        Size(trace.peak_live_bytes),
    )
}
