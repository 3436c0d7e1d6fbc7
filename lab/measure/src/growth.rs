//! How much a replay makes this process grow: its peak resident memory, minus that of an empty
//! replay before it. The empty replay uses the same tables of ours and makes no calls. The
//! difference is therefore what the malloc holds: the objects, and what it adds to them. This is
//! true only if the malloc has served nothing before (`child`).

use surefit_os::{OsError, resident};

/// The peak resident memory of an empty replay.
#[derive(Debug)]
pub(crate) struct Growth(Result<usize, OsError>);

impl Growth {
    /// Runs the empty replay; growth is measured from its end.
    pub(crate) fn over<T>(empty: impl FnOnce() -> T) -> Self {
        let peak = resident::reset_peak().and_then(|()| {
            empty();
            resident::peak_bytes()
        });
        Self(peak.and_then(|bytes| resident::reset_peak().map(|()| bytes)))
    }

    /// The most bytes by which the process has grown since then; `None` if the kernel does not
    /// report them.
    pub(crate) fn bytes(self) -> Option<u64> {
        let (before, peak) = (self.0.ok()?, resident::peak_bytes().ok()?);
        Some(peak.saturating_sub(before) as u64)
    }
}
