//! The instructions of an allocation and of a free, counted by valgrind. The counts are exact and
//! the same on every run. A child replays the trace under callgrind, once for allocations and once
//! for frees. Callgrind counts only inside one function, which makes one call to the allocator and
//! nothing else.

use std::process::Command;

use anyhow::{Result, bail};

use crate::child;
use crate::passes::counted;
use crate::source::Source;

/// The mean instructions of an allocation and of a free.
#[derive(Clone, Copy, Debug)]
pub struct PerCall {
    /// Of an allocation.
    pub malloc: Option<f64>,
    /// Of a free.
    pub free: Option<f64>,
}

/// Returns an error if valgrind is not installed.
///
/// # Errors
/// One line that says what to install.
pub fn available() -> Result<()> {
    let version = Command::new("valgrind").arg("--version").output();
    match version {
        Ok(output) if output.status.success() => Ok(()),
        _ => bail!("--count instructions needs valgrind: install it, or leave the option out"),
    }
}

/// Counts the calls of one allocator on one trace.
///
/// # Errors
/// Valgrind failed, or printed no count.
pub fn count(allocator: &str, heap_bytes: u64, source: &Source) -> Result<PerCall> {
    let mallocs = source.steps.calls.mallocs;
    Ok(PerCall {
        malloc: mean(allocator, heap_bytes, source, (counted::MALLOC, mallocs))?,
        free: per_free(allocator, heap_bytes, source)?,
    })
}

/// The mean instructions of a free of one allocator on one trace; `None` if it frees nothing.
///
/// # Errors
/// As [`count`].
pub fn per_free(allocator: &str, heap_bytes: u64, source: &Source) -> Result<Option<f64>> {
    let frees = source.steps.calls.frees;
    mean(allocator, heap_bytes, source, (counted::FREE, frees))
}

/// The mean over so many calls of a function; `None` if there are none.
fn mean(
    allocator: &str,
    heap_bytes: u64,
    source: &Source,
    (function, times): (&str, u64),
) -> Result<Option<f64>> {
    if times == 0 {
        return Ok(None);
    }
    let total = collected(allocator, heap_bytes, source, function)?;
    Ok(Some(total as f64 / times as f64))
}

/// The total of the instructions inside a function.
fn collected(allocator: &str, heap_bytes: u64, source: &Source, function: &str) -> Result<u64> {
    let mut command = Command::new("valgrind");
    command.args([
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        "--collect-atstart=no",
    ]);
    command.arg(format!("--toggle-collect=*{function}*"));
    command.arg(std::env::current_exe()?);
    command.args(child::counting_arguments(allocator, heap_bytes, source));
    let output = child::output(&mut command)?;
    child::succeeded(allocator, &output)?;
    let log = String::from_utf8_lossy(&output.stderr);
    match parse(&log) {
        Some(count) => Ok(count),
        None => bail!("{allocator}: valgrind printed no count"),
    }
}

/// The number in valgrind's line `==123== Collected : 4567`.
fn parse(log: &str) -> Option<u64> {
    let line = log.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn the_count_is_read_from_valgrinds_log() {
        let log =
            "==9== \n==9== Events    : Ir\n==9== Collected : 123456\n==9== I   refs:      9\n";
        assert_eq!(parse(log), Some(123_456));
        assert_eq!(parse("==9== nothing"), None);
    }
}
