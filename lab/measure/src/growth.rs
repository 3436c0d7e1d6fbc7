//! How much a replay makes this process grow: its peak resident memory, minus that of an empty
//! replay before it. The empty replay uses the same tables of ours and makes no calls. The
//! difference is therefore what the malloc holds: the objects, and what it adds to them. This is
//! true only if the malloc has served nothing before (`child`).

use surefit_os::{OsError, resident};

/// The kernel counts pages in batches, one for each processor: so far a count may be off.
const BATCHES: u64 = 1 << 20;

/// The growth, if so many bytes of live objects fit in it.
fn possible(growth: u64, least: u64) -> Option<u64> {
    (growth + BATCHES >= least).then_some(growth)
}

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

    /// The most bytes by which the process has grown since then. `None` if the kernel does not
    /// report them, or if they cannot be: `least` bytes of objects were written and live at once.
    pub(crate) fn bytes(self, least: u64) -> Option<u64> {
        let (before, peak) = (self.0.ok()?, resident::peak_bytes().ok()?);
        possible(peak.saturating_sub(before) as u64, least)
    }
}

#[cfg(test)]
mod tests {
    use super::{BATCHES, possible};

    #[test]
    fn less_than_what_lives_cannot_be() {
        let live = 23_400_000;
        assert_eq!(possible(33_000_000, live), Some(33_000_000));
        assert_eq!(possible(live - BATCHES, live), Some(live - BATCHES));
        assert_eq!(possible(21_600_000, live), None);
    }
}
