//! What was measured of one system on one trace.

use super::counts::Counts;
use crate::shared::threads::figures;
use surefit_clients::lists::Lists;
use surefit_measure::results::{AllocatorResult, Ratio};

/// One system on one trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    /// `None` is TLSF.
    pub(super) system: Option<Lists>,
    /// Nanoseconds of a malloc and its free, round by round; none if the heap refused a request.
    pub(super) pair_ns: Vec<f64>,
    /// Instructions of a malloc.
    pub(super) malloc: Option<f64>,
    /// Instructions of a free.
    pub(super) free: Option<f64>,
    /// What the lists did.
    pub(super) counts: Option<Counts>,
}

impl Row {
    pub(super) fn new(
        system: Option<Lists>,
        result: AllocatorResult,
        counts: Option<Counts>,
    ) -> Self {
        Self {
            system,
            pair_ns: result.pair_ns_rounds.unwrap_or_default(),
            malloc: result.instructions_per_malloc,
            free: result.instructions_per_free,
            counts,
        }
    }

    /// Nanoseconds of a malloc and its free: the median, and the ends.
    pub(super) fn time(&self) -> Option<Ratio> {
        (!self.pair_ns.is_empty()).then(|| figures::spread(&self.pair_ns))
    }

    /// Instructions of a malloc and a free.
    pub(super) fn instructions(&self) -> Option<f64> {
        Some(self.malloc? + self.free?)
    }

    /// Its time over another's, taken inside each round.
    pub(super) fn over(&self, other: &Self) -> Option<Ratio> {
        let both = !self.pair_ns.is_empty() && !other.pair_ns.is_empty();
        both.then(|| figures::ratio(&self.pair_ns, &other.pair_ns))
    }
}

/// The row of a system.
pub(super) fn find(rows: &[Row], system: Lists) -> Option<&Row> {
    rows.iter().find(|row| row.system == Some(system))
}
