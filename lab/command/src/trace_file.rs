//! Writes a trace to a file, compressed if its name says so.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Error, Result};
use indicatif::{ProgressBar, ProgressStyle};
use surefit_measure::output;
use surefit_trace::{Compressor, Facts, Header, Problem, Sites, Spool, TraceError};

/// The compression level. It is five times as fast as the level of the recorded traces, and its
/// files are five per cent larger.
const LEVEL: i32 = 12;

/// A place for the events of a trace that will go to `path`: a file without a name on the same
/// disk, which shows early whether that is full.
pub(crate) fn spool(path: &Path, has_stacks: bool) -> Result<Spool<File>> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let file = match path.metadata() {
        _ if path == Path::new("-") => tempfile::tempfile(),
        Ok(old) if !old.is_file() => tempfile::tempfile(),
        _ => tempfile::tempfile_in(parent.unwrap_or(Path::new("."))),
    };
    let named = |cause| output::unwritable(&path.display().to_string(), &cause);
    let file = file.map_err(named)?;
    Ok(if has_stacks {
        Spool::with_stacks(file)
    } else {
        Spool::new(file)
    })
}

/// Writes the trace under a name, compressed if the file's name ends in `.zst`, and then with the
/// facts behind it; returns its header and the bytes of the file. The file is complete before it
/// gets its name.
pub(crate) fn write(
    spool: Spool<File>,
    name: &str,
    sites: &Sites,
    facts: Option<&Facts>,
    path: &Path,
) -> Result<(Header, u64)> {
    let mut written = None;
    output::to_file(path, |out| {
        let mut out = Counted { out, bytes: 0 };
        let header = encode(spool, (name, sites, facts), path, &mut out)?;
        written = Some((header, out.bytes));
        Ok(())
    })?;
    // Nothing at all is written only to a pipe that nobody reads.
    Ok(written.unwrap_or_default())
}

fn encode(
    spool: Spool<File>,
    (name, sites, facts): (&str, &Sites, Option<&Facts>),
    path: &Path,
    out: &mut dyn Write,
) -> Result<Header> {
    if path.extension().is_none_or(|extension| extension != "zst") {
        let written = spool.finish_with(name, sites, BufWriter::new(out));
        return written.map_err(cause);
    }
    let progress = progress_bar("compressing", spool.encoded_bytes())?;
    let mut compressor = Compressor::new(out, LEVEL);
    let header = spool.finish_with(name, sites, progress.wrap_write(&mut compressor));
    let header = header.map_err(cause)?;
    let out = compressor.finish()?;
    if let Some(facts) = facts {
        out.write_all(&facts.to_frame())?;
    }
    progress.finish_and_clear();
    Ok(header)
}

/// The error for an event that a spool for `path` did not take.
pub(crate) fn unwritten(error: TraceError, path: &Path) -> Error {
    let error = cause(error);
    match error.downcast_ref::<io::Error>() {
        Some(cause) => output::unwritable(&path.display().to_string(), cause),
        None => error,
    }
}

/// What writing failed with, without the position in a trace, so that the file is named.
fn cause(error: TraceError) -> Error {
    match error.problem() {
        Problem::Write(cause) => match cause.raw_os_error() {
            Some(number) => io::Error::from_raw_os_error(number).into(),
            None => io::Error::new(cause.kind(), cause.to_string()).into(),
        },
        _ => error.into(),
    }
}

/// Counts what is written.
struct Counted<'o> {
    out: &'o mut dyn Write,
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A progress bar on standard error, if that is a terminal.
pub(crate) fn progress_bar(what: &'static str, steps: u64) -> Result<ProgressBar> {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {percent} %  {eta} left")?;
    Ok(ProgressBar::new(steps).with_style(style).with_message(what))
}
