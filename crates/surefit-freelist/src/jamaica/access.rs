//! Access to the bytes of objects, by position and by chunk. Every link that is followed is
//! counted.
#![deny(unsafe_code)]

use core::ops::Range;

use super::Jamaica;
use super::handle::Bytes;
use super::shape::Shape;

/// A place in an object: the block, and the number of the part of the object that it holds.
#[derive(Clone, Copy)]
struct Place {
    block: u32,
    nth: usize,
}

impl<const B: usize> Jamaica<'_, B> {
    /// The bytes from `offset` to the end of their block or of the object; empty at the end of the
    /// object.
    ///
    /// # Panics
    /// If the handle belongs to another heap, or `offset` is above the length.
    ///
    /// # Complexity
    /// O(offset) for an [`Object`](super::Object), O(log length) for an [`Array`](super::Array).
    #[must_use]
    pub fn chunk<'a, S: Shape>(&'a self, bytes: &'a Bytes<S>, offset: usize) -> &'a [u8] {
        self.vet(bytes, offset);
        match self.seek(bytes, offset) {
            Some(place) => self.part(bytes, place, offset),
            None => &[],
        }
    }

    /// As [`Jamaica::chunk`], but mutable.
    ///
    /// # Panics
    /// As [`Jamaica::chunk`].
    #[must_use]
    pub fn chunk_mut<'a, S: Shape>(
        &'a mut self,
        bytes: &'a mut Bytes<S>,
        offset: usize,
    ) -> &'a mut [u8] {
        self.vet(bytes, offset);
        match self.seek(bytes, offset) {
            Some(place) => {
                let span = span::<S, B>(place.nth, bytes.len(), offset);
                &mut self.blocks.bytes_mut(place.block)[span]
            }
            None => &mut [],
        }
    }

    /// All bytes in order, one block at a time: an I/O vector.
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    pub fn chunks<'a, S: Shape>(&'a self, bytes: &'a Bytes<S>) -> impl Iterator<Item = &'a [u8]> {
        self.assert_own(bytes);
        let mut place = self.seek(bytes, 0);
        core::iter::from_fn(move || {
            let part = self.part(bytes, place?, 0);
            place = self.step(bytes, place?);
            Some(part)
        })
    }

    /// Copies bytes from the object, from `offset` on.
    ///
    /// # Panics
    /// If the handle belongs to another heap, or the range ends after the object.
    ///
    /// # Complexity
    /// That of [`Jamaica::chunk`] once; then one link per block for an [`Object`](super::Object),
    /// O(log length) per block for an [`Array`](super::Array).
    pub fn read_at<S: Shape>(&self, bytes: &Bytes<S>, offset: usize, target: &mut [u8]) {
        self.vet(bytes, offset.saturating_add(target.len()));
        let mut rest = target;
        let mut place = self.seek_unless(rest.is_empty(), bytes, offset);
        while let Some(here) = place {
            let part = self.part(bytes, here, offset);
            let n = part.len().min(rest.len());
            let (now, later) = rest.split_at_mut(n);
            now.copy_from_slice(&part[..n]);
            rest = later;
            place = if rest.is_empty() {
                None
            } else {
                self.step(bytes, here)
            };
        }
    }

    /// Copies bytes to the object, from `offset` on.
    ///
    /// # Panics
    /// As [`Jamaica::read_at`].
    ///
    /// # Complexity
    /// As [`Jamaica::read_at`].
    pub fn write_at<S: Shape>(&mut self, bytes: &mut Bytes<S>, offset: usize, source: &[u8]) {
        self.vet(bytes, offset.saturating_add(source.len()));
        let mut rest = source;
        let mut place = self.seek_unless(rest.is_empty(), bytes, offset);
        while let Some(here) = place {
            let span = span::<S, B>(here.nth, bytes.len(), offset);
            let (now, later) = rest.split_at(span.len().min(rest.len()));
            self.blocks.bytes_mut(here.block)[span][..now.len()].copy_from_slice(now);
            rest = later;
            place = if rest.is_empty() {
                None
            } else {
                self.step(bytes, here)
            };
        }
    }

    /// Zeroes the bytes of the last block after the object's end.
    pub(super) fn zero_rest<S: Shape>(&mut self, bytes: &Bytes<S>) {
        let within = bytes.len() % (B - S::LEAD);
        if within > 0 || bytes.is_empty() {
            let nth = bytes.len() / (B - S::LEAD);
            let (block, _) = S::seek(&self.blocks, bytes.first, bytes.len(), nth);
            self.blocks.bytes_mut(block)[S::LEAD + within..].fill(0);
        }
    }

    /// The place of a position; `None` at the end of the object.
    fn seek<S: Shape>(&self, bytes: &Bytes<S>, offset: usize) -> Option<Place> {
        self.seek_unless(offset == bytes.len(), bytes, offset)
    }

    fn seek_unless<S: Shape>(&self, not: bool, bytes: &Bytes<S>, offset: usize) -> Option<Place> {
        if not {
            return None;
        }
        let nth = offset / (B - S::LEAD);
        let (block, hops) = S::seek(&self.blocks, bytes.first, bytes.len(), nth);
        self.note(hops);
        Some(Place { block, nth })
    }

    /// The next place; `None` at the end of the object.
    fn step<S: Shape>(&self, bytes: &Bytes<S>, place: Place) -> Option<Place> {
        let nth = place.nth + 1;
        if nth * (B - S::LEAD) >= bytes.len() {
            return None;
        }
        let (block, hops) = S::step(&self.blocks, bytes.first, bytes.len(), place.block, nth);
        self.note(hops);
        Some(Place { block, nth })
    }

    fn note(&self, hops: u64) {
        self.accesses.set(self.accesses.get() + 1);
        self.hops.set(self.hops.get() + hops);
        self.hops_max.set(self.hops_max.get().max(hops));
    }

    fn part<S: Shape>(&self, bytes: &Bytes<S>, place: Place, offset: usize) -> &[u8] {
        &self.blocks.bytes(place.block)[span::<S, B>(place.nth, bytes.len(), offset)]
    }

    fn vet<S: Shape>(&self, bytes: &Bytes<S>, end: usize) {
        self.assert_own(bytes);
        assert!(end <= bytes.len(), "the range goes beyond the object");
    }
}

/// The bytes of the block with the nth part of an object, from `offset` to the end of the block or
/// of the object.
fn span<S: Shape, const B: usize>(nth: usize, len: usize, offset: usize) -> Range<usize> {
    let before = nth * (B - S::LEAD);
    let start = offset.saturating_sub(before);
    let end = (len - before).min(B - S::LEAD);
    S::LEAD + start..S::LEAD + end
}
