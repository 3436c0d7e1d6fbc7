//! Writes results to standard output, or to a file that is either complete or absent.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use clap::ValueEnum;

use crate::wrap::wrapped;

/// The form of printed results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table for people.
    #[default]
    Table,
    /// JSON for programs; schemas are in `schemas/`.
    Json,
}

/// Prints to standard output; it is not an error if the reader has closed the pipe.
///
/// # Errors
/// Standard output cannot be written.
pub fn print(text: &str) -> Result<()> {
    to_stdout(|out| Ok(out.write_all(text.as_bytes())?))
}

/// Prints to standard output, with longer lines broken to fit a terminal.
///
/// # Errors
/// As [`print()`].
pub fn print_wrapped(text: &str) -> Result<()> {
    print(&wrapped(text))
}

/// As [`print_wrapped()`], but a pipe or a file has the lines whole: scripts read them.
///
/// # Errors
/// As [`print()`].
pub fn print_lines(text: &str) -> Result<()> {
    match io::stdout().is_terminal() {
        true => print_wrapped(text),
        false => print(text),
    }
}

/// Prints a value as indented JSON, followed by a line break.
///
/// # Errors
/// As [`print()`].
pub fn print_json(value: &impl serde::Serialize) -> Result<()> {
    to_stdout(|out| {
        serde_json::to_writer_pretty(&mut *out, value).map_err(io::Error::from)?;
        Ok(out.write_all(b"\n")?)
    })
}

/// Calls `write` with standard output; if the reader has closed the pipe, the output ends without
/// an error.
///
/// # Errors
/// The error of `write`; it names standard output if that could not be written.
pub fn to_stdout(write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| Ok(out.flush()?)) {
        Err(error) => match error.downcast_ref::<io::Error>() {
            Some(cause) if cause.kind() == ErrorKind::BrokenPipe => Ok(()),
            Some(cause) => Err(unwritable("standard output", cause)),
            None => Err(error),
        },
        done => done,
    }
}

/// Calls `write` with a hidden file in the same directory, and gives the file its name when it is
/// complete. A path that is not a regular file (a pipe, a device) is written directly; `-` is
/// standard output.
///
/// # Errors
/// The error of `write`, or one line that names the path and the remedy. An old file is then
/// unchanged.
pub fn to_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    if path == Path::new("-") {
        return to_stdout(write);
    }
    let written = match path.metadata() {
        Ok(old) if old.is_dir() => Err(io::Error::from(ErrorKind::IsADirectory).into()),
        Ok(old) if !old.is_file() => write_directly(path, write),
        _ => write_beside(path, write),
    };
    written.map_err(|error| match error.downcast_ref::<io::Error>() {
        Some(cause) => unwritable(&path.display().to_string(), cause),
        None => error,
    })
}

/// Checks before long work that [`to_file`] can write a path; leaves nothing behind.
///
/// # Errors
/// One line that names the path and the remedy.
pub fn writable(path: &Path) -> Result<()> {
    let probed = match path.metadata() {
        Ok(old) if old.is_dir() => Err(io::Error::from(ErrorKind::IsADirectory)),
        Ok(old) if !old.is_file() => Ok(()),
        _ => beside(path).map(drop),
    };
    probed.map_err(|cause| unwritable(&path.display().to_string(), &cause))
}

/// The error for a place that cannot be written: one line with its name and the remedy.
#[must_use]
pub fn unwritable(place: &str, cause: &io::Error) -> anyhow::Error {
    let mend = match cause.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free some space, or choose another place"
        }
        _ => "check the path and its permissions",
    };
    anyhow!("{place}: cannot be written: {cause}; {mend}")
}

fn write_directly(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut out = BufWriter::new(File::options().write(true).open(path)?);
    write(&mut out)?;
    Ok(out.flush()?)
}

fn write_beside(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    // a symbolic link stays: the file that it points to is replaced
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let file = beside(&target)?;
    let mut out = BufWriter::new(file.as_file());
    write(&mut out)?;
    out.flush()?;
    file.as_file().sync_all()?;
    drop(out);
    file.persist(target).map_err(|failed| failed.error)?;
    Ok(())
}

/// A hidden file in the same directory; it is deleted unless it gets a name.
fn beside(target: &Path) -> io::Result<tempfile::NamedTempFile> {
    let directory = match target.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    tempfile::Builder::new()
        .prefix(".surefit-")
        .suffix(".tmp")
        .make_in(directory, |path| {
            File::options().write(true).create_new(true).open(path)
        })
}

/// A number with its digits in groups of three: `5,521,990`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{grouped, to_file};

    #[test]
    fn digits_are_grouped_by_three() {
        let numbers = [0, 999, 1000, 31_281_530].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "31,281,530"]);
    }

    fn names(directory: &Path) -> Vec<std::ffi::OsString> {
        let entries = directory.read_dir().expect("a directory");
        entries
            .map(|entry| entry.expect("an entry").file_name())
            .collect()
    }

    #[test]
    fn a_file_that_fails_leaves_the_old_one_and_nothing_else() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("trace.sft");
        to_file(&path, |out| Ok(out.write_all(b"old")?)).expect("a writable directory");
        let failed = to_file(&path, |out| {
            out.write_all(b"half")?;
            anyhow::bail!("stop")
        });
        assert_eq!(failed.expect_err("stopped").to_string(), "stop");
        assert_eq!(std::fs::read(&path).expect("still there"), b"old");
        assert_eq!(names(directory.path()), ["trace.sft"]);
    }

    #[test]
    fn an_unwritable_path_is_one_line_with_a_mend() {
        let error = to_file(Path::new("/nonexistent/x.sft"), |_| Ok(())).expect_err("no directory");
        assert_eq!(
            error.to_string(),
            "/nonexistent/x.sft: cannot be written: No such file or directory (os error 2); \
             check the path and its permissions"
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_one_line_with_a_mend() {
        let full = to_file(Path::new("/dev/full"), |out| {
            Ok(out.write_all(&[0; 100_000])?)
        });
        let line = full.expect_err("a full device").to_string();
        assert!(
            line.starts_with("/dev/full: cannot be written: No space left"),
            "{line}"
        );
        assert!(
            line.ends_with("free some space, or choose another place"),
            "{line}"
        );
    }
}
