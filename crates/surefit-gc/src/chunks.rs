//! What a request takes of a heap of chunks.
#![deny(unsafe_code)]

use surefit_freelist::Index;

use crate::schedule::Amount;

/// Bytes of the header of a chunk.
pub(crate) const HEADER: usize = 4;

/// Bytes of the chunk for a request, header included.
pub(crate) fn chunk_bytes<I: Index>(bytes: usize) -> u64 {
    let granules = bytes.saturating_add(HEADER).div_ceil(GRANULE).max(2);
    // No heap has more.
    let granules = granules.min(1 << 30) as u32;
    u64::from(I::rounded(granules)) * GRANULE as u64
}

/// What chunks take at most that were cut for this much: what is left of a chunk stays with its
/// object if it is too short for a chunk of its own, which is a granule.
pub(crate) const fn with_rests(amount: Amount) -> Amount {
    let rests = amount.objects.saturating_mul(GRANULE as u64);
    amount.plus(Amount {
        objects: 0,
        bytes: rests,
    })
}

/// Bytes of the unit of chunks.
pub(crate) const GRANULE: usize = 8;
