//! Opens traces: files, and those that are bundled.

use std::io::{Cursor, Read};
use std::path::Path;

use anyhow::{Context, Result};
use surefit_measure::memory::affordable_objects;
use surefit_measure::source;
use surefit_trace::{CheckedReader, Reader, Trace, open_file};

/// Opens a file, or a bundled trace named `bundled:NAME`.
///
/// # Errors
/// One line that names the file and the mend.
pub(super) fn open(file: &Path) -> Result<CheckedReader<Box<dyn Read>>> {
    let input: Box<dyn Read> = if file.to_string_lossy().starts_with("bundled:") {
        Box::new(Cursor::new(source::load_trace(file)?.to_bytes()))
    } else {
        Box::new(open_file(file)?)
    };
    Ok(Reader::named(input, file)?.into())
}

/// Bytes of a live object in the table of a reader that checks, and in those of statistics.
pub(super) const CHECKED: u64 = 8;
pub(super) const COUNTED: u64 = 32;

/// Opens a file that is read to its end, if there is memory for tables of so many bytes an object.
///
/// # Errors
/// As [`open`].
pub(super) fn open_all(file: &Path, object_bytes: u64) -> Result<CheckedReader<Box<dyn Read>>> {
    let reader = open(file)?;
    let objects = reader.header().counts.peak_objects;
    // what claims more is refused by the reader
    if objects <= Trace::MAX_LIVE_OBJECTS {
        affordable_objects(objects, object_bytes).with_context(|| file.display().to_string())?;
    }
    Ok(reader)
}
