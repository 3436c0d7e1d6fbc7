//! Buckets split and merged: what is done with all records of one.

use surefit_collections::Release;
use surefit_core::Refused;

use super::bucket::{Bucket, MOST_BODIES, MOST_RECORDS, Value, ZEROS};
use super::head::{At, Head};
use super::outside::{Heap, Outside};

impl Bucket {
    /// Takes the records out whose hash has a bit, as a bucket of their own.
    ///
    /// # Errors
    /// If there is no room. Nothing has changed.
    pub(super) fn split(&mut self, heap: &mut Heap, bit: u32) -> Result<Self, Refused> {
        let moves = |head: &Head| head.hash & bit != 0;
        let (mut records, mut bodies, mut outside) = (0, 0, 0);
        for head in self.heads(heap).iter().filter(|head| moves(head)) {
            records += 1;
            bodies += head.len();
            outside += usize::from(head.has(Head::OUTSIDE));
        }
        let mut new = Self::default();
        if let Err(refused) = new.make_room_for(heap, records, bodies, outside) {
            new.release(heap);
            return Err(refused);
        }
        let (mut kept, mut kept_bytes, mut moved_bytes, mut number) = (0, 0, 0, 0);
        for index in 0..self.len() {
            let start = kept_bytes + moved_bytes;
            let head = self.heads(heap)[index];
            let end = start + head.len();
            if moves(&head) {
                let source = &self.bodies.slice_at(heap, 0)[start..end];
                new.bodies.slice_at_mut(heap, 0)[moved_bytes..][..head.len()]
                    .copy_from_slice(source);
                new.heads
                    .push_within_capacity(heap, head)
                    .expect("room was made");
                if head.has(Head::OUTSIDE) {
                    let outside = self.outside.remove(heap, number);
                    let pushed = new.outside.push_within_capacity(heap, outside);
                    assert!(pushed.is_ok(), "room was made");
                }
                moved_bytes += head.len();
            } else {
                self.bodies
                    .slice_at_mut(heap, 0)
                    .copy_within(start..end, kept_bytes);
                self.heads_mut(heap)[kept] = head;
                kept += 1;
                kept_bytes += head.len();
                number += usize::from(head.has(Head::OUTSIDE));
            }
        }
        self.heads.truncate(heap, kept);
        self.bodies.truncate(heap, kept_bytes);
        self.trim(heap);
        Ok(new)
    }

    /// Makes room for more records; that for bodies is zeros.
    fn make_room_for(
        &mut self,
        heap: &mut Heap,
        records: usize,
        bodies: usize,
        outside: usize,
    ) -> Result<(), Refused> {
        let (len, limit) = (self.bodies.len() + bodies, MOST_BODIES);
        if len > limit || self.len() + records > MOST_RECORDS {
            return Err(Refused::TooLarge { limit });
        }
        self.heads.reserve_exact(heap, records)?;
        self.outside.reserve_exact(heap, outside)?;
        self.bodies.reserve_exact(heap, bodies)?;
        while self.bodies.len() < len {
            let zeros = &ZEROS[..ZEROS.len().min(len - self.bodies.len())];
            self.bodies.extend_from_slice(heap, zeros)?;
        }
        Ok(())
    }

    /// Moves the record with the most bytes inside to where long ones are, so that the bodies have
    /// room for deadlines; `false` if no record has bytes inside.
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
        self.heads_mut(heap)[at.index].set(Head::USED, at.head.is_used());
        Ok(true)
    }

    /// Takes all records of another bucket, which is empty then.
    ///
    /// # Errors
    /// If there is no room. No record has moved.
    pub(super) fn merge(&mut self, heap: &mut Heap, other: &mut Self) -> Result<(), Refused> {
        let len = self.bodies.len();
        self.make_room_for(heap, other.len(), other.bodies.len(), other.outside.len())?;
        self.bodies.slice_at_mut(heap, 0)[len..].copy_from_slice(other.bodies.slice_at(heap, 0));
        for &head in other.heads(heap) {
            self.heads
                .push_within_capacity(heap, head)
                .expect("room was made");
        }
        while !other.outside.is_empty() {
            let outside = other.outside.remove(heap, 0);
            let pushed = self.outside.push_within_capacity(heap, outside);
            assert!(pushed.is_ok(), "room was made");
        }
        std::mem::take(other).release(heap);
        Ok(())
    }

    /// Verifies the invariants.
    pub(super) fn assert_sound(&self, heap: &Heap) {
        let (bytes, outside) = self.records(heap).fold((0, 0), |(bytes, outside), at| {
            let is_outside = usize::from(at.head.has(Head::OUTSIDE));
            (bytes + at.head.len(), outside + is_outside)
        });
        assert_eq!(
            (bytes, outside),
            (self.bodies.len(), self.outside.len()),
            "P1, P2"
        );
        assert!(bytes <= MOST_BODIES && self.len() <= MOST_RECORDS, "P1, P3");
    }
}
