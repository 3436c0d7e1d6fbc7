//! Before the first collection: figure 3-2 has one chunk, in the last list, so a walk looks at
//! every head from the request's own list on.

use surefit_clients::lists::Lists;
use surefit_vm::Sample;

use super::samples::{around_the_first, before_the_first};

/// Bytes of a chunk's header.
const HEADER: u32 = 4;

/// Bytes of a unit, in which lists differ.
const UNIT: u32 = 8;

/// Units of the smallest chunk.
const SMALLEST: u32 = 2;

/// The allocations before the first collection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    /// Visits per allocation.
    pub(super) visits: f64,
    /// The heads from the request's own list on, and the chunk in the last list, on average.
    pub(super) heads: f64,
}

impl Before {
    /// From the sizes and the samples of a run that collects; `None` if it does at once.
    pub(super) fn new(sizes: &[u32], samples: &[Sample]) -> Option<Self> {
        let allocations = before_the_first(samples)?.allocations;
        let sizes = sizes.iter().take(allocations as usize);
        let looks: u64 = sizes.map(|bytes| u64::from(looks(*bytes))).sum();
        Some(Self {
            visits: around_the_first(samples).0?,
            heads: looks as f64 / allocations.max(1) as f64,
        })
    }
}

/// The looks of a walk from a request's list to the only chunk.
fn looks(bytes: u32) -> u32 {
    let units = (bytes + HEADER).div_ceil(UNIT).max(SMALLEST);
    Lists::USUAL_COUNT.saturating_sub(units) + 1
}

#[cfg(test)]
mod tests {
    use super::looks;

    #[test]
    fn a_walk_looks_at_the_heads_above_and_at_the_chunk() {
        // 24 bytes and a header are 4 units: lists 4 to 255, and the chunk
        assert_eq!(looks(24), 253);
        assert_eq!((looks(1), looks(2044), looks(4000)), (255, 1, 1));
    }
}
