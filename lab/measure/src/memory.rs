//! Refuses work that needs more memory than this machine has, before the work starts. Otherwise the
//! kernel would kill the process.

use anyhow::{Result, anyhow, bail};
use surefit_os::resident;

use crate::sizes::Size;

/// Refuses `what` if it needs more bytes than are available. If the kernel does not report how many
/// are available, nothing is refused.
///
/// # Errors
/// One line that says how much memory is available.
pub fn affordable(what: &str, bytes: u64) -> Result<()> {
    match resident::available_bytes() {
        Ok(available) => within(what, bytes, available as u64),
        Err(_) => Ok(()),
    }
}

/// Refuses a trace with more events than memory can hold. An event needs 16 bytes, 16 more while
/// the list grows, and 16 for replaying.
///
/// # Errors
/// As [`affordable`].
pub fn affordable_events(events: u64) -> Result<()> {
    affordable("a trace in memory", events.saturating_mul(48))
        .map_err(|error| anyhow!("{error}, or use replay --stream"))
}

/// Refuses a trace with more live objects than the tables in memory can hold. Each needs `bytes`
/// bytes, and as many again while the tables grow.
///
/// # Errors
/// As [`affordable`].
pub fn affordable_objects(objects: u64, bytes: u64) -> Result<()> {
    let tables = objects.saturating_mul(2 * bytes);
    affordable("tables of the live objects of the trace", tables)
}

fn within(what: &str, bytes: u64, available: u64) -> Result<()> {
    if bytes > available {
        bail!(
            "{what} of {}: there are {} of memory left; give a smaller one",
            Size(bytes),
            Size(available)
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn what_is_too_large_is_one_line_that_says_how_much_there_is() {
        assert!(within("a heap", 1000, 1000).is_ok());
        let error = within("a heap", 2_000_000, 1000).expect_err("too large");
        assert_eq!(
            error.to_string(),
            "a heap of 2.0 MB: there are 1000 B of memory left; give a smaller one"
        );
    }
}
