//! Writes a trace to a file, compressed if its name says so.

use std::path::Path;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use surefit_measure::output;
use surefit_trace::Trace;

/// The compression level. It is five times as fast as the level of the recorded traces, and its
/// files are five per cent larger.
const LEVEL: i32 = 12;

/// Writes the trace, compressed if the file's name ends in `.zst`; returns the bytes of the file. It
/// is complete before it gets its name.
pub(crate) fn write(trace: &Trace, path: &Path) -> Result<u64> {
    let bytes = encode(trace, path)?;
    output::to_file(path, |out| Ok(out.write_all(&bytes)?))?;
    Ok(bytes.len() as u64)
}

fn encode(trace: &Trace, path: &Path) -> Result<Vec<u8>> {
    if path.extension().is_none_or(|extension| extension != "zst") {
        return Ok(trace.to_bytes());
    }
    let progress = progress_bar("compressing", trace.header().counts.events)?;
    let mut bytes = Vec::new();
    trace.write_compressed(&mut bytes, LEVEL, |events| progress.set_position(events))?;
    progress.finish_and_clear();
    Ok(bytes)
}

/// A progress bar on standard error, if that is a terminal.
pub(crate) fn progress_bar(what: &'static str, events: u64) -> Result<ProgressBar> {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {percent} %  {eta} left")?;
    Ok(ProgressBar::new(events)
        .with_style(style)
        .with_message(what))
}
