//! What a map needs of its heap, for the certificate.
#![deny(unsafe_code)]

use surefit_compact::certify::{BlockCount, Budget, ClassSet};
use surefit_compact::{Config, Width};

use super::bucket::Bucket;
use super::grow::{MOST, MOVED_AT_ONCE};
use super::table::HashMap;
use crate::demand::both;
use crate::names::Checked;
use crate::storage::Vec;

/// The largest alignment that budgets of any mix count.
const ALIGN: usize = 8;

impl<K, V, S> HashMap<K, V, S, Checked> {
    /// The page-blocks of a map of up to `entries` entries, as it grows and shrinks, with any
    /// hasher, also one that puts all entries into one bucket: what certifies a heap for it, with
    /// words of width `W`. What keys and values own is not counted. It is also enough for
    /// [`Branded`](crate::Branded) names.
    ///
    /// `None` if no heap of this configuration holds so many, if its pieces have fewer than 128
    /// bytes, or if entries are aligned to more than 8.
    ///
    /// # Complexity
    /// O(size-classes × levels of spines).
    #[must_use]
    pub fn for_demand<W: Width>(config: &Config, entries: usize) -> Option<Budget> {
        let buckets = entries / MOST + 2;
        let directory = Vec::<Bucket<K, V, Checked>>::for_demand::<W>(config, buckets)?;
        if entries == 0 || size_of::<(K, V)>() == 0 {
            return Some(directory);
        }
        if align_of::<(K, V)>() > ALIGN {
            return None;
        }
        // A bucket has room for twice its entries and two steps more, at most; one in pieces, up to
        // a piece more. Entries that go to another bucket have room in both for a moment.
        let (share, per, piece) = Vec::<(K, V)>::shares(config)?;
        let spare = buckets.checked_mul(2 * Bucket::<K, V, Checked>::STEP + 1)?;
        let slots = entries.checked_add(entries.min(MOVED_AT_ONCE))?;
        let slots = slots.checked_mul(2)?.checked_add(spare)?;
        let ends = buckets
            .min(slots / per)
            .checked_mul(piece.min(isize::MAX as usize));
        let bytes = slots.checked_mul(share)?.checked_add(ends?)?;
        let longest = match piece == usize::MAX {
            true => {
                // One bucket may have all entries, and no object is longer than a page.
                let page = config.geometry().page_bytes();
                if entries.checked_mul(size_of::<(K, V)>())? > page {
                    return None;
                }
                bytes.min(page)
            }
            false => bytes,
        };
        let mix = Budget::of_mix::<W>(config, buckets as u64, longest, bytes as u64).ok()?;
        let resized = BlockCount::in_resize::<W>(config, longest, ALIGN)?;
        let resized = Budget {
            objects: resized.blocks,
            block_bytes: resized.bytes,
            classes: ClassSet::EMPTY,
        };
        both(config, directory, both(config, mix, resized)?)
    }
}
