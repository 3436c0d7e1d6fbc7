//! A bucket of a map: its entries, and a byte of the hash of each of the first ones.
//!
//! A bucket without its entries has 128 bytes. A look-up compares 32 tags at a time, and
//! reads only the entries whose tags match. Entries behind the tags are compared one by one: a
//! hasher that is any good leads to so many about once in 10,000 full buckets.
#![deny(unsafe_code)]

use surefit_core::Refused;

use crate::clone::{TryClone, clone_with_capacity};
use crate::heap::ByteHeap;
use crate::lookup::Lookup;
use crate::names::Names;
use crate::release::Release;
use crate::storage::Vec;

/// The entries with a tag.
pub(super) const TAGS: usize = 96;

/// The tags that are compared at once: without a branch, because nobody can foresee which one
/// matches.
const AT_ONCE: usize = 32;

/// The bytes by which a bucket of few entries grows, unless one is larger or they are many.
const STEP_BYTES: usize = 256;

/// The entries of one bucket.
pub(super) struct Bucket<K, V, N: Names> {
    tags: [u8; TAGS],
    /// Whether some tags are not known: then all entries are compared.
    is_vague: bool,
    entries: Vec<(K, V), N>,
}

impl<K, V, N: Names> Default for Bucket<K, V, N> {
    fn default() -> Self {
        Self {
            tags: [0; TAGS],
            is_vague: false,
            entries: Vec::new(),
        }
    }
}

impl<K, V, N: Names> Bucket<K, V, N> {
    /// The entries by which a bucket of few entries grows.
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

    /// The entry that a query asks for, and its index.
    #[inline]
    pub(super) fn find<'a, H: ByteHeap<Names = N>, Q: ?Sized>(
        &'a self,
        heap: &'a H,
        tag: u8,
        query: &Q,
    ) -> Option<(usize, &'a (K, V))>
    where
        K: Lookup<H, Q>,
    {
        let Some(entries) = self.entries.contiguous(heap) else {
            return self.find_in_pieces(heap, tag, query);
        };
        let index = self.search(tag, |index| entries[index].0.is(query, heap))?;
        Some((index, &entries[index]))
    }

    /// As `find`, of a bucket whose entries are in pieces.
    #[inline(never)]
    fn find_in_pieces<'a, H: ByteHeap<Names = N>, Q: ?Sized>(
        &'a self,
        heap: &'a H,
        tag: u8,
        query: &Q,
    ) -> Option<(usize, &'a (K, V))>
    where
        K: Lookup<H, Q>,
    {
        let entry = |index| self.entries.get(heap, index);
        let index = self.search(tag, |index| {
            entry(index).is_some_and(|(key, _)| key.is(query, heap))
        })?;
        entry(index).map(|entry| (index, entry))
    }

    /// The first entry for which a function returns `true`, of those that may have a tag.
    #[inline]
    fn search(&self, tag: u8, is: impl Fn(usize) -> bool) -> Option<usize> {
        let tagged = match self.is_vague {
            true => 0,
            false => self.len().min(TAGS),
        };
        for (number, block) in self.tags.chunks_exact(AT_ONCE).enumerate() {
            let start = number * AT_ONCE;
            if start >= tagged {
                break;
            }
            let known = u32::MAX >> (AT_ONCE - (tagged - start).min(AT_ONCE));
            let mut candidates = candidates(block, tag) & known;
            while candidates != 0 {
                let index = start + candidates.trailing_zeros() as usize;
                if is(index) {
                    return Some(index);
                }
                candidates &= candidates - 1;
            }
        }
        (tagged..self.len()).find(|&index| is(index))
    }

    fn tag(&self, index: usize) -> Option<u8> {
        (index < TAGS && !self.is_vague).then(|| self.tags[index])
    }

    fn set_tag(&mut self, index: usize, tag: Option<u8>) {
        match tag {
            _ if index >= TAGS => {}
            Some(tag) => self.tags[index] = tag,
            None => self.is_vague = true,
        }
    }

    /// Learns the tags of all entries.
    pub(super) fn learn(&mut self, tags: &[u8]) {
        if self.is_vague && tags.len() == self.len() {
            let known = tags.len().min(TAGS);
            self.tags[..known].copy_from_slice(&tags[..known]);
            self.is_vague = false;
        }
    }

    // ---- changes -------------------------------------------------------------------------------

    /// The entries for which a bucket of so many has room. In a map of few buckets twice as many as
    /// in the next smaller one, so that few size-classes are used, each of which takes a page; else
    /// up to an eighth more than are needed. A bucket in pieces grows by pieces.
    fn room(needed: usize, is_small: bool) -> usize {
        let eighth = needed.next_power_of_two() >> if is_small { 0 } else { 3 };
        needed.next_multiple_of(eighth.clamp(Self::STEP, TAGS))
    }

    /// Makes room for more entries.
    pub(super) fn reserve<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        more: usize,
        is_small: bool,
    ) -> Result<(), Refused> {
        let room = Self::room(self.len() + more, is_small) - self.len();
        match self.entries.reserve_exact(heap, room) {
            Ok(()) => Ok(()),
            Err(_) => self.entries.reserve_exact(heap, more),
        }
    }

    /// Adds an entry, and returns its index.
    ///
    /// # Errors
    /// The entry, if there is no room for it.
    #[inline]
    pub(super) fn push<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &H,
        tag: u8,
        entry: (K, V),
    ) -> Result<usize, (K, V)>
    where
        K: Send,
        V: Send,
    {
        let index = self.len();
        self.entries.push_within_capacity(heap, entry)?;
        self.set_tag(index, Some(tag));
        Ok(index)
    }

    /// Moves the entries `first + bit` whose bits are set to another bucket, which has room for
    /// them, the last first. The last one of all takes the place of each. `tags` are those of the
    /// entries from `first` on, as far as the caller knows them.
    pub(super) fn give<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &H,
        target: &mut Self,
        first: usize,
        which: u64,
        tags: &[u8],
    ) where
        K: Send,
        V: Send,
    {
        let (mut left, mut last, mut end) = (which, self.len(), target.len());
        while let Some(bit) = left.checked_ilog2() {
            left ^= 1 << bit;
            last -= 1;
            let index = first + bit as usize;
            let tag = tags.get(bit as usize).copied();
            target.set_tag(end, tag.or_else(|| self.tag(index)));
            end += 1;
            self.set_tag(index, self.tag(last));
        }
        self.entries.give(heap, &mut target.entries, first, which);
        self.forget_tags();
    }

    /// Without entries, all tags are known.
    #[inline]
    const fn forget_tags(&mut self) {
        self.is_vague &= self.len() > 0;
    }

    /// Takes an entry out; the last one takes its place.
    #[inline]
    pub(super) fn take<H: ByteHeap<Names = N>>(&mut self, heap: &H, index: usize) -> (K, V) {
        let tag = self.tag(self.len() - 1);
        let entry = self.entries.swap_remove(heap, index);
        self.set_tag(index, tag);
        self.forget_tags();
        entry
    }

    /// Takes the last entry out.
    pub(super) fn pop<H: ByteHeap<Names = N>>(&mut self, heap: &H) -> Option<(K, V)> {
        let entry = self.entries.pop(heap)?;
        self.forget_tags();
        Some(entry)
    }

    /// Whether much more room is left than is needed.
    #[inline]
    pub(super) fn is_roomy<H: ByteHeap<Names = N>>(&self, heap: &H) -> bool {
        size_of::<(K, V)>() > 0
            && self.entries.capacity(heap) - self.len() > self.len().max(2 * Self::STEP)
    }

    /// Gives back what is more than a little room, if that is not refused.
    pub(super) fn shrink<H: ByteHeap<Names = N>>(&mut self, heap: &mut H, is_small: bool) {
        let room = Self::room(self.len() + Self::STEP / 2, is_small);
        let _ = self.entries.shrink_to(heap, room);
    }
}

const LOW: u64 = u64::from_ne_bytes([1; 8]);
const HIGH: u64 = LOW << 7;
const GATHER: u64 = 0x0002_0408_1020_4081;

/// A bit for every byte that is the tag, and perhaps for one behind it that is not.
#[inline]
fn candidates(bytes: &[u8], tag: u8) -> u32 {
    let words = bytes.chunks_exact(8).enumerate();
    words.fold(0, |bits, (number, word)| {
        let word = u64::from_le_bytes(word.try_into().expect("eight bytes"));
        let differs = word ^ (LOW * u64::from(tag));
        let equal = differs.wrapping_sub(LOW) & !differs & HIGH;
        // The highest bits of all bytes, side by side in the highest byte.
        let highest = (equal.wrapping_mul(GATHER) >> 56) as u32;
        bits | (highest << (8 * number))
    })
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
        let capacity = Self::room(self.len(), false);
        let entries = clone_with_capacity(&self.entries, heap, capacity)?;
        Ok(Self {
            tags: self.tags,
            is_vague: self.is_vague,
            entries,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{AT_ONCE, Bucket, candidates};
    use crate::Checked;

    #[test]
    fn a_bucket_is_two_cache_lines() {
        if size_of::<usize>() == 8 {
            assert_eq!(size_of::<Bucket<u64, u64, Checked>>(), 128);
        }
    }

    #[test]
    fn every_byte_that_matches_is_found() {
        for tag in [0, 1, 2, 127, 128, 255] {
            for at in 0..AT_ONCE {
                for other in [tag ^ 1, tag ^ 128, !tag] {
                    let mut bytes = [other; AT_ONCE];
                    bytes[at] = tag;
                    let found = candidates(&bytes, tag);
                    assert_eq!(found.trailing_zeros() as usize, at);
                    assert!(found.count_ones() == 1 || other == tag ^ 1);
                    bytes[0] = tag;
                    assert_eq!(candidates(&bytes, tag) & found & !1, found & !1);
                }
            }
        }
    }
}
