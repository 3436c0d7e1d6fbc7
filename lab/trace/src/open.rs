//! Opening files for readers.

use std::fs::File;
use std::path::Path;

use crate::{Position, Problem, TraceError};

/// Opens a file for a reader; the error names it.
///
/// # Errors
/// The file cannot be opened.
pub fn open_file(path: &Path) -> Result<File, TraceError> {
    File::open(path).map_err(|error| Problem::Open(error).at(Position::default()).in_file(path))
}
