//! A bucket of a map: its entries, and a byte of the hash of each of the first ones.
//!
//! A bucket without its entries has 64 bytes, a cache line. A look-up compares the tags eight at a
//! time, and reads only the entries whose tags match. Entries behind the tags are compared one by
//! one: a hasher that is any good leads to so many about once in 60,000 full buckets.
#![deny(unsafe_code)]

use surefit_core::Refused;

use crate::clone::{TryClone, clone_with_capacity};
use crate::heap::ByteHeap;
use crate::lookup::Lookup;
use crate::names::Names;
use crate::release::Release;
use crate::storage::Vec;

/// The entries with a tag.
pub(super) const TAGS: usize = 39;

/// The bytes by which the entries grow, unless one is larger or they are many.
const STEP_BYTES: usize = 256;

/// The entries of one bucket.
pub(super) struct Bucket<K, V, N: Names> {
    /// The tags. The last byte is not zero if some of them are not known: then all entries are
    /// compared.
    tags: [u8; TAGS + 1],
    entries: Vec<(K, V), N>,
}

impl<K, V, N: Names> Default for Bucket<K, V, N> {
    fn default() -> Self {
        Self {
            tags: [0; TAGS + 1],
            entries: Vec::new(),
        }
    }
}

impl<K, V, N: Names> Bucket<K, V, N> {
    /// The entries by which a bucket grows.
    pub(super) const STEP: usize = match STEP_BYTES.checked_div(size_of::<(K, V)>()) {
        Some(0) => 1,
        Some(step @ 1..8) => step,
        _ => 8,
    };

    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub(super) const fn entries(&self) -> &Vec<(K, V), N> {
        &self.entries
    }

    #[inline]
    pub(super) const fn entries_mut(&mut self) -> &mut Vec<(K, V), N> {
        &mut self.entries
    }

    /// The entry that a query asks for.
    #[inline]
    pub(super) fn find<H: ByteHeap<Names = N>, Q: ?Sized>(
        &self,
        heap: &H,
        tag: u8,
        query: &Q,
    ) -> Option<usize>
    where
        K: Lookup<H, Q>,
    {
        if self.is_vague() {
            return self.find_from(heap, 0, query);
        }
        let tagged = self.len().min(TAGS);
        for (number, word) in self.tags.chunks_exact(8).enumerate() {
            let start = number * 8;
            if start >= tagged {
                break;
            }
            let word = u64::from_le_bytes(word.try_into().expect("eight bytes"));
            let mut candidates = candidates(word, tag);
            while candidates != 0 {
                let index = start + (candidates.trailing_zeros() / 8) as usize;
                if index < tagged && self.is_at(heap, index, query) {
                    return Some(index);
                }
                candidates &= candidates - 1;
            }
        }
        self.find_from(heap, TAGS, query)
    }

    /// The entry that a query asks for, from one on.
    fn find_from<H: ByteHeap<Names = N>, Q: ?Sized>(
        &self,
        heap: &H,
        start: usize,
        query: &Q,
    ) -> Option<usize>
    where
        K: Lookup<H, Q>,
    {
        (start..self.len()).find(|&index| self.is_at(heap, index, query))
    }

    #[inline]
    fn is_at<H: ByteHeap<Names = N>, Q: ?Sized>(&self, heap: &H, index: usize, query: &Q) -> bool
    where
        K: Lookup<H, Q>,
    {
        let entry = self.entries.get(heap, index);
        entry.is_some_and(|(key, _)| key.is(query, heap))
    }

    /// Whether some tags are not known.
    #[inline]
    const fn is_vague(&self) -> bool {
        self.tags[TAGS] != 0
    }

    fn tag(&self, index: usize) -> Option<u8> {
        (index < TAGS && !self.is_vague()).then(|| self.tags[index])
    }

    fn set_tag(&mut self, index: usize, tag: Option<u8>) {
        match tag {
            _ if index >= TAGS => {}
            Some(tag) => self.tags[index] = tag,
            None => self.tags[TAGS] = 1,
        }
    }

    /// Learns the tags of all entries.
    pub(super) fn learn(&mut self, tags: &[u8]) {
        if self.is_vague() && tags.len() == self.len() {
            let known = tags.len().min(TAGS);
            self.tags[..known].copy_from_slice(&tags[..known]);
            self.tags[TAGS] = 0;
        }
    }

    // ---- changes -------------------------------------------------------------------------------

    /// Makes room for more entries: for a multiple of a step, so that few size-classes are used.
    pub(super) fn reserve<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        more: usize,
    ) -> Result<(), Refused> {
        let needed = self.len() + more;
        if needed > TAGS {
            return self.entries.reserve(heap, more);
        }
        let rounded = needed.next_multiple_of(Self::STEP) - self.len();
        match self.entries.reserve_exact(heap, rounded) {
            Ok(()) => Ok(()),
            Err(_) => self.entries.reserve_exact(heap, more),
        }
    }

    #[inline]
    pub(super) fn is_full<H: ByteHeap<Names = N>>(&self, heap: &H) -> bool {
        self.len() == self.entries.capacity(heap)
    }

    /// Adds an entry for which there is room.
    #[inline]
    pub(super) fn push<H: ByteHeap<Names = N>>(&mut self, heap: &H, tag: Option<u8>, entry: (K, V))
    where
        K: Send,
        V: Send,
    {
        let index = self.len();
        let pushed = self.entries.push_within_capacity(heap, entry);
        debug_assert!(pushed.is_ok(), "room was made");
        self.set_tag(index, tag);
    }

    /// Takes an entry out; the last one takes its place.
    #[inline]
    pub(super) fn take<H: ByteHeap<Names = N>>(&mut self, heap: &H, index: usize) -> (K, V) {
        let tag = self.tag(self.len() - 1);
        let entry = self.entries.swap_remove(heap, index);
        if index < self.len() {
            self.set_tag(index, tag);
        } else if self.len() == 0 {
            self.tags[TAGS] = 0;
        }
        entry
    }

    /// Takes the last entry out, with its tag.
    pub(super) fn pop<H: ByteHeap<Names = N>>(&mut self, heap: &H) -> Option<(Option<u8>, (K, V))> {
        let last = self.len().checked_sub(1)?;
        let tag = self.tag(last);
        Some((tag, self.take(heap, last)))
    }

    /// Whether much more room is left than is needed.
    #[inline]
    pub(super) fn is_roomy<H: ByteHeap<Names = N>>(&self, heap: &H) -> bool {
        size_of::<(K, V)>() > 0
            && self.entries.capacity(heap) - self.len() > self.len().max(2 * Self::STEP)
    }

    /// Gives back what is more than a little room, if that is not refused.
    pub(super) fn shrink<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) {
        let room = (self.len() + Self::STEP / 2).next_multiple_of(Self::STEP);
        let _ = self.entries.shrink_to(heap, room);
    }
}

const LOW: u64 = u64::from_ne_bytes([1; 8]);
const HIGH: u64 = LOW << 7;

/// The highest bit of every byte that is the tag, and perhaps of one above it that is not.
#[inline]
const fn candidates(word: u64, tag: u8) -> u64 {
    let differs = word ^ (LOW * tag as u64);
    differs.wrapping_sub(LOW) & !differs & HIGH
}

impl<K: Release<H>, V: Release<H>, N: Names, H: ByteHeap<Names = N>> Release<H>
    for Bucket<K, V, N>
{
    fn release(self, heap: &mut H) {
        self.entries.free(heap);
    }
}

impl<K, V, N: Names, H: ByteHeap<Names = N>> TryClone<H> for Bucket<K, V, N>
where
    K: TryClone<H> + Send,
    V: TryClone<H> + Send,
{
    type Partial = <Vec<(K, V), N> as TryClone<H>>::Partial;

    fn try_clone_in(&self, heap: &H) -> Result<Self, (Option<Self::Partial>, Refused)> {
        let capacity = self.len().next_multiple_of(Self::STEP);
        let entries = clone_with_capacity(&self.entries, heap, capacity)?;
        Ok(Self {
            tags: self.tags,
            entries,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Bucket, candidates};
    use crate::Checked;

    #[test]
    fn a_bucket_is_a_cache_line() {
        if size_of::<usize>() == 8 {
            assert_eq!(size_of::<Bucket<u64, u64, Checked>>(), 64);
        }
    }

    #[test]
    fn every_byte_that_matches_is_found() {
        for tag in [0, 1, 2, 127, 128, 255] {
            for at in 0..8 {
                for other in [tag ^ 1, tag ^ 128, !tag] {
                    let mut word = [other; 8];
                    word[at] = tag;
                    let found = candidates(u64::from_le_bytes(word), tag);
                    assert_eq!(found.trailing_zeros() as usize / 8, at);
                }
            }
        }
    }
}
