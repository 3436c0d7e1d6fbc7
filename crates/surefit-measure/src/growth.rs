//! By how much a replay makes this process grow: its most resident memory, less that of an empty replay before it.
//!
//! The empty replay takes as much memory of our own and makes no call, so the difference is what the malloc holds: the
//! objects, and what it adds to them. That is so only where the malloc has served nothing before (`child`).

use surefit_os::{OsError, resident};

/// The most resident memory of an empty replay.
#[derive(Debug)]
pub(crate) struct Growth(Result<usize, OsError>);

impl Growth {
    /// Runs the empty replay; the growth counts from its end.
    pub(crate) fn over<T>(empty: impl FnOnce() -> T) -> Self {
        let peak = resident::reset_peak().and_then(|()| {
            empty();
            resident::peak_bytes()
        });
        Self(peak.and_then(|bytes| resident::reset_peak().map(|()| bytes)))
    }

    /// By how many bytes the process has grown at most since then; `None` where the kernel does not say.
    pub(crate) fn bytes(self) -> Option<u64> {
        let (before, peak) = (self.0.ok()?, resident::peak_bytes().ok()?);
        Some(peak.saturating_sub(before) as u64)
    }
}
