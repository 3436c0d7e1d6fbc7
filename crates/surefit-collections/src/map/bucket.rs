//! A bucket of a map: its entries, and a byte of the hash of each of the first ones.
//!
//! A bucket without its entries has 128 bytes. A look-up compares 32 tags at a time, and
//! reads only the entries whose tags match. Entries behind the tags are compared one by one: a
//! hasher that is any good leads to so many about once in 10,000 full buckets.
//!
//! A tag also says to which half of a split its entry belongs, so that a split need not hash it
//! again. All entries of a bucket have the same low bits of the hash. The tags begin at or below
//! the first bit that may differ, which a split reads:
//!
//! ```text
//! hash     … h₁₀ h₉ h₈ h₇ h₆ h₅ h₄ h₃ h₂ h₁ h₀
//! tag          └──────── shift 3 ───────┘           bucket …101 of 8: a split reads h₃
//! ```
//! Each split makes one more bit of the tags the same for all. When it would be the third
//! ([`WORN`]), the split hashes the entries again and makes tags that begin higher.
#![deny(unsafe_code)]

use surefit_core::{AT_ONCE, Refused, equal};

use crate::clone::{TryClone, clone_with_capacity};
use crate::heap::ByteHeap;
use crate::lookup::Lookup;
use crate::names::Names;
use crate::release::Release;
use crate::storage::Vec;

/// The rows of tags.
const ROWS: usize = 3;

/// The entries with a tag.
pub(super) const TAGS: usize = ROWS * AT_ONCE;

/// The bytes by which a bucket of few entries grows, unless one is larger or they are many.
const STEP_BYTES: usize = 256;

/// The bits of a tag that may be the same for all entries of a bucket. With seven bits that differ
/// a look-up compares one wrong entry in six, with five it would be two in three.
const WORN: u32 = 2;

/// The entries of one bucket.
pub(super) struct Bucket<K, V, N: Names> {
    /// Bits of the hashes of the first entries.
    tags: [[u8; AT_ONCE]; ROWS],
    /// The lowest bit of a hash that is in its tag (M4).
    shift: u8,
    /// Whether some tags are not known: then all entries are compared.
    is_vague: bool,
    entries: Vec<(K, V), N>,
}

impl<K, V, N: Names> Default for Bucket<K, V, N> {
    fn default() -> Self {
        Self {
            tags: [[0; AT_ONCE]; ROWS],
            shift: 0,
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

    /// An empty bucket whose tags begin at a bit of the hash.
    pub(super) fn with_shift(shift: u8) -> Self {
        Self {
            shift,
            ..Self::default()
        }
    }

    /// The lowest bit of a hash that is in its tag.
    #[inline]
    pub(super) const fn shift(&self) -> u8 {
        self.shift
    }

    /// The tag of a hash.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the low bits")]
    const fn tag_of(&self, hash: u64) -> u8 {
        (hash >> self.shift) as u8
    }

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
        hash: u64,
        query: &Q,
    ) -> Option<(usize, &'a (K, V))>
    where
        K: Lookup<H, Q>,
    {
        let tag = self.tag_of(hash);
        let Some(entries) = self.entries.contiguous(heap) else {
            return self.find_in_pieces(heap, tag, query);
        };
        let mut left = self.candidates(tag);
        while left != 0 {
            let index = left.trailing_zeros() as usize;
            // Behind the last entry are tags of former ones.
            let Some(entry) = entries.get(index) else {
                break;
            };
            if entry.0.is(query, heap) {
                return Some((index, entry));
            }
            left &= left - 1;
        }
        if self.is_vague || entries.len() > 2 * AT_ONCE {
            return self.find_behind(heap, tag, query);
        }
        None
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
        let mut left = self.candidates(tag);
        while left != 0 {
            let index = left.trailing_zeros() as usize;
            match self.entries.get(heap, index) {
                Some(entry) if entry.0.is(query, heap) => return Some((index, entry)),
                Some(_) => left &= left - 1,
                None => break,
            }
        }
        self.find_behind(heap, tag, query)
    }

    /// The entry that a query asks for, among those behind two rows of tags, or among all if some
    /// tags are not known.
    #[inline(never)]
    fn find_behind<'a, H: ByteHeap<Names = N>, Q: ?Sized>(
        &'a self,
        heap: &'a H,
        tag: u8,
        query: &Q,
    ) -> Option<(usize, &'a (K, V))>
    where
        K: Lookup<H, Q>,
    {
        let [_, _, third] = &self.tags;
        let (mut left, tagged) = match self.is_vague {
            true => (0, 0),
            false => (equal(third, tag), TAGS),
        };
        while left != 0 {
            let index = 2 * AT_ONCE + left.trailing_zeros() as usize;
            match self.entries.get(heap, index) {
                Some(entry) if entry.0.is(query, heap) => return Some((index, entry)),
                Some(_) => left &= left - 1,
                None => return None,
            }
        }
        let mut others = self.entries.iter(heap).enumerate().skip(tagged);
        others.find(|(_, (key, _))| key.is(query, heap))
    }

    /// A bit for each of the first two rows' tags that is this one. Most buckets have no more
    /// entries. Both rows are compared without a branch, because nobody can foresee where the tag
    /// is.
    #[inline]
    fn candidates(&self, tag: u8) -> u64 {
        let [first, second, _] = &self.tags;
        u64::from(equal(first, tag)) | u64::from(equal(second, tag)) << AT_ONCE
    }

    fn tag(&self, index: usize) -> Option<u8> {
        let tags = self.tags.as_flattened();
        tags.get(index).copied().filter(|_| !self.is_vague)
    }

    fn set_tag(&mut self, index: usize, tag: Option<u8>) {
        match tag {
            _ if index >= TAGS => {}
            Some(tag) => self.tags.as_flattened_mut()[index] = tag,
            None => self.is_vague = true,
        }
    }

    /// Whether the tags are worth little after a split by this bit of the hash.
    pub(super) const fn is_worn(&self, bit: u32) -> bool {
        bit - self.shift as u32 >= WORN
    }

    /// A bit of the hash of `count` entries from `first` on, as far as all their tags say it.
    pub(super) fn bits(&self, first: usize, count: usize, bit: u32) -> Option<u64> {
        let place = bit.checked_sub(u32::from(self.shift))?;
        if place >= u8::BITS || self.is_vague {
            return None;
        }
        let tags = self.tags.as_flattened().get(first..first + count)?;
        let tags = tags.iter().enumerate();
        Some(tags.fold(0, |bits, (at, tag)| {
            bits | u64::from(tag >> place & 1) << at
        }))
    }

    /// Learns all tags anew, from the hashes of all entries.
    pub(super) fn learn(&mut self, hashes: &[u64], shift: u8) {
        debug_assert!(hashes.len() == self.len());
        (self.shift, self.is_vague) = (shift, false);
        let tags = self.tags.as_flattened_mut().iter_mut();
        #[expect(clippy::cast_possible_truncation, reason = "the low bits")]
        tags.zip(hashes)
            .for_each(|(tag, hash)| *tag = (hash >> shift) as u8);
    }

    /// Makes the tags begin at a bit no higher than this one. All hashes have the low bits of
    /// `number`, at least those below the bit where the tags began.
    pub(super) fn lower(&mut self, shift: u8, number: usize) {
        if shift < self.shift {
            let from = self.shift;
            let tags = self.tags.as_flattened_mut().iter_mut();
            tags.for_each(|tag| *tag = lowered(*tag, from, shift, number));
            self.shift = shift;
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
        hash: u64,
        entry: (K, V),
    ) -> Result<usize, (K, V)>
    where
        K: Send,
        V: Send,
    {
        let index = self.len();
        self.entries.push_within_capacity(heap, entry)?;
        self.set_tag(index, Some(self.tag_of(hash)));
        Ok(index)
    }

    /// Moves the entries `first + bit` whose bits are set to another bucket, which has room for
    /// them, and whose tags do not begin higher; the last first. The last one of all takes the
    /// place of each. Their hashes have the low bits of `number`, at least those below the bit
    /// where the tags begin here.
    pub(super) fn give<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &H,
        target: &mut Self,
        first: usize,
        which: u64,
        number: usize,
    ) where
        K: Send,
        V: Send,
    {
        debug_assert!(target.shift <= self.shift);
        let (mut left, mut last, mut end) = (which, self.len(), target.len());
        while let Some(bit) = left.checked_ilog2() {
            left ^= 1 << bit;
            last -= 1;
            let index = first + bit as usize;
            let tag = self.tag(index);
            target.set_tag(
                end,
                tag.map(|tag| lowered(tag, self.shift, target.shift, number)),
            );
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
        let entry = self.entries.swap_remove(heap, index);
        let (last, tags) = (self.len(), self.tags.as_flattened_mut());
        if last < TAGS {
            tags[index] = tags[last];
        } else if index < TAGS {
            self.is_vague = true;
        }
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

/// A tag that begins at bit `from`, as one that begins at `to`, which is no higher: of a hash with
/// the low bits of `number`.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low bits")]
const fn lowered(tag: u8, from: u8, to: u8, number: usize) -> u8 {
    let below = number as u64 & ((1 << from) - 1);
    (((tag as u64) << from | below) >> to) as u8
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
            shift: self.shift,
            is_vague: self.is_vague,
            entries,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Bucket, lowered};
    use crate::Checked;

    #[test]
    fn a_bucket_is_two_cache_lines() {
        if size_of::<usize>() == 8 {
            assert_eq!(size_of::<Bucket<u64, u64, Checked>>(), 128);
        }
    }

    #[test]
    fn a_lowered_tag_is_that_of_the_hash() {
        for hash in [0, 0x0123_4567_89AB_CDEF, u64::MAX, 1 << 57, u64::MAX << 20] {
            let tag = |shift: u8| (hash >> shift) as u8;
            for from in 0..=63 {
                // A bucket has the low bits of its hashes.
                let number = (hash & !(u64::MAX << from)) as usize;
                for to in 0..=from {
                    assert_eq!(lowered(tag(from), from, to, number), tag(to));
                }
            }
        }
    }
}
