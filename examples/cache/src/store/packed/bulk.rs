//! Buckets split, merged and relieved: what is done with many records of one.

use surefit_collections::Release;
use surefit_core::Refused;

use super::bucket::{Bucket, COUNT, MOST, Value, heads_at};
use super::head::{At, Head};
use super::outside::{Heap, Outside};

impl Bucket {
    /// Takes the records out whose hash has a bit, as a bucket of their own.
    ///
    /// # Errors
    /// If there is no room. Nothing has changed.
    pub(super) fn split(&mut self, heap: &mut Heap, bit: u32) -> Result<Self, Refused> {
        let moves = |at: &At| at.head.hash & bit != 0;
        let (mut bytes, mut outside) = (0, 0);
        for at in self.records(heap).filter(moves) {
            bytes += at.head.len() + Head::BYTES;
            outside += usize::from(at.head.has(Head::OUTSIDE));
        }
        let mut new = Self::default();
        if bytes == 0 {
            return Ok(new);
        }
        if let Err(refused) = new.make_room(heap, bytes + COUNT, outside) {
            new.release(heap);
            return Err(refused);
        }
        loop {
            let next = self.records(heap).filter(moves).last();
            let Some(at) = next else { break };
            self.hand_over(heap, &at, &mut new);
        }
        self.trim(heap);
        Ok(new)
    }

    /// Takes all records of another bucket, which is empty then. What does not fit moves outside.
    ///
    /// # Errors
    /// If there is no room. No record has moved to another bucket.
    pub(super) fn merge(&mut self, heap: &mut Heap, other: &mut Self) -> Result<(), Refused> {
        while self.bytes.len() + other.bytes.len() > MOST {
            let (larger, smaller) = match self.bytes.len() >= other.bytes.len() {
                true => (&mut *self, &mut *other),
                false => (&mut *other, &mut *self),
            };
            if !larger.move_outside(heap)? && !smaller.move_outside(heap)? {
                break;
            }
        }
        let outside = other.outside.len(heap);
        self.make_room(heap, other.bytes.len(), outside)?;
        loop {
            let next = other.records(heap).last();
            let Some(at) = next else { break };
            other.hand_over(heap, &at, self);
        }
        std::mem::take(other).release(heap);
        Ok(())
    }

    /// Moves a record to another bucket, which has room for it.
    fn hand_over(&mut self, heap: &mut Heap, at: &At, to: &mut Self) {
        if to.bytes.is_empty() {
            to.splice(heap, 0, 0, COUNT);
        }
        let end = heads_at(to.bytes.slice_at(heap, 0));
        to.splice(heap, end, 0, at.head.len());
        let body = &self.bytes.slice_at(heap, at.start)[..at.head.len()];
        to.bytes.slice_at_mut(heap, end)[..body.len()].copy_from_slice(body);
        to.add_head(heap, at.head);
        if at.head.has(Head::OUTSIDE) {
            let outside = self.outside.remove(heap, at.outside);
            let number = to.outside.len(heap);
            to.outside.insert(heap, number, outside);
        }
        self.cut(heap, at);
    }

    /// Moves the record with the most bytes inside to where long ones are; `false` if no record has
    /// bytes inside.
    ///
    /// # Errors
    /// If there is no room. Nothing has changed.
    pub(super) fn move_outside(&mut self, heap: &mut Heap) -> Result<bool, Refused> {
        // None if the record is outside.
        let inside = |at: &At| at.head.len() - at.head.deadline_len();
        let largest = self.records(heap).max_by_key(inside);
        let Some(at) = largest.filter(|at| inside(at) > 0) else {
            return Ok(false);
        };
        let (key, text) = (self.key(heap, &at), self.copy(heap, &at));
        let (deadline, outside) = (self.deadline(heap, &at), Outside::text(heap, &key, &text)?);
        let value = Value::Outside(outside);
        self.put(heap, Some(&at), at.head.hash, &key, value, deadline)?;
        let mut now = self.records(heap).nth(at.index).expect("it is there");
        now.head.set(Head::USED, at.head.has(Head::USED));
        self.set_head(heap, now.index, now.head);
        Ok(true)
    }

    /// Verifies the invariants.
    pub(super) fn assert_sound(&self, heap: &Heap) {
        let (bytes, outside) = self.records(heap).fold((0, 0), |(bytes, outside), at| {
            let is_outside = usize::from(at.head.has(Head::OUTSIDE));
            (bytes + at.head.len() + Head::BYTES, outside + is_outside)
        });
        let count = if bytes == 0 { 0 } else { COUNT };
        assert_eq!(
            (bytes + count, outside),
            (self.bytes.len(), self.outside.len(heap)),
            "P1, P2"
        );
        assert!(self.bytes.len() <= MOST, "P1");
    }
}
