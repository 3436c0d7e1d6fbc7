//! Buckets split, merged and relieved: what is done with many records of one.

use surefit_collections::Release;
use surefit_core::Refused;

use super::bucket::{Bucket, COUNT, FULL, MOST, Value, count, heads_at, set_count};
use super::head::{At, Head};
use super::outside::{Heap, Outside};

impl Bucket {
    /// Takes the records out whose hash has a bit, as a bucket of their own.
    ///
    /// # Errors
    /// If there is no room. Nothing has changed.
    pub(super) fn split(&mut self, heap: &mut Heap, bit: u32) -> Result<Self, Refused> {
        let (mut records, mut bytes, mut outside) = (0, COUNT, Vec::new());
        for at in self.records(heap).filter(|at| at.head.hash & bit != 0) {
            records += 1;
            bytes += at.head.len() + Head::BYTES;
            outside.extend(at.head.has(Head::OUTSIDE).then_some(at.outside));
        }
        let mut new = Self::default();
        if records == 0 {
            return Ok(new);
        }
        if let Err(refused) = new.make_room(heap, bytes, outside.len()) {
            new.release(heap);
            return Err(refused);
        }
        // The last one first: those before it keep their numbers.
        for number in outside.into_iter().rev() {
            let outside = self.outside.remove(heap, number);
            new.outside.insert(heap, 0, outside);
        }
        new.extend(heap, bytes);
        set_count(new.bytes.slice_at_mut(heap, 0), records);
        let to = new.bytes.slice_at_mut(heap, 0);
        let (mut end, mut heads) = (0, heads_at(to));
        let goes = |_, head: Head| head.hash & bit != 0;
        let left = self.take_out(heap, goes, |body, head| {
            to[end..][..body.len()].copy_from_slice(body);
            to[heads..][..Head::BYTES].copy_from_slice(head);
            (end, heads) = (end + body.len(), heads + Head::BYTES);
        });
        self.bytes.truncate(heap, left);
        self.trim(heap);
        Ok(new)
    }

    /// Removes records, which are given in their order; returns what was outside.
    pub(super) fn remove_all(&mut self, heap: &mut Heap, gone: &[At]) -> Vec<Outside> {
        let outside = gone.iter().filter(|at| at.head.has(Head::OUTSIDE));
        // The last one first: those before it keep their numbers.
        let outside = outside
            .rev()
            .map(|at| self.outside.remove(heap, at.outside));
        let outside = outside.collect();
        let mut gone = gone.iter().peekable();
        let goes = |index, _| gone.next_if(|at| at.index == index).is_some();
        let left = self.take_out(heap, goes, |_, _| ());
        self.bytes.truncate(heap, left);
        self.trim(heap);
        outside
    }

    /// Takes the bodies and heads of some records out, of which nothing is outside any more;
    /// returns how many bytes are left, to which the bucket is to be cut off.
    fn take_out(
        &mut self,
        heap: &Heap,
        mut goes: impl FnMut(usize, Head) -> bool,
        mut each: impl FnMut(&[u8], &[u8; Head::BYTES]),
    ) -> usize {
        let from = self.bytes.slice_at_mut(heap, 0);
        let (records, heads) = (count(from), heads_at(from));
        let (mut start, mut end, mut stay) = (0, 0, 0);
        for index in 0..records {
            let place = heads + Head::BYTES * index;
            let bytes = *from[place..].first_chunk().expect("P1: a head");
            let head = Head::from_bytes(bytes);
            let body = start..start + head.len();
            start = body.end;
            if goes(index, head) {
                each(&from[body], &bytes);
            } else {
                from.copy_within(body, end);
                // Among the heads, because bodies that are still to be moved lie before them.
                from[heads + Head::BYTES * stay..][..Head::BYTES].copy_from_slice(&bytes);
                (end, stay) = (end + head.len(), stay + 1);
            }
        }
        if stay == 0 {
            return 0;
        }
        from.copy_within(heads..heads + Head::BYTES * stay, end);
        let left = end + Head::BYTES * stay + COUNT;
        set_count(&mut from[..left], stay);
        left
    }

    /// Takes all records of another bucket, which is empty then. What does not fit moves outside.
    ///
    /// # Errors
    /// If there is no room. No record has moved to another bucket.
    pub(super) fn merge(&mut self, heap: &mut Heap, other: &mut Self) -> Result<(), Refused> {
        if self.len(heap) + other.len(heap) > FULL {
            return Err(Refused::TooLarge { limit: MOST });
        }
        // There is one count then.
        while self.bytes.len() + other.bytes.len() > MOST + COUNT {
            let (larger, smaller) = match self.bytes.len() >= other.bytes.len() {
                true => (&mut *self, &mut *other),
                false => (&mut *other, &mut *self),
            };
            if !larger.move_outside(heap)? && !smaller.move_outside(heap)? {
                break;
            }
        }
        if self.bytes.is_empty() {
            std::mem::swap(self, other);
        }
        if !other.bytes.is_empty() {
            self.make_room(heap, other.bytes.len() - COUNT, other.outside.len(heap))?;
            self.append_all(heap, other);
        }
        std::mem::take(other).release(heap);
        Ok(())
    }

    /// Appends all records of another bucket. Both have some, and there is room.
    fn append_all(&mut self, heap: &mut Heap, other: &mut Self) {
        self.outside.append(heap, &mut other.outside);
        let bytes = self.bytes.slice_at(heap, 0);
        let (start, heads, records) = (heads_at(bytes), bytes.len() - COUNT, count(bytes));
        self.extend(heap, other.bytes.len() - COUNT);
        let from = other.bytes.slice_at(heap, 0);
        let (bodies, others) = from[..from.len() - COUNT].split_at(heads_at(from));
        let to = self.bytes.slice_at_mut(heap, 0);
        to.copy_within(start..heads, start + bodies.len());
        to[start..][..bodies.len()].copy_from_slice(bodies);
        to[heads + bodies.len()..][..others.len()].copy_from_slice(others);
        set_count(to, records + count(from));
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
        let former = self.put(heap, Some(&at), at.head.place(), &key, value, deadline)?;
        former.release(heap);
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
        assert!(self.bytes.len() <= MOST && self.len(heap) <= FULL, "P1");
    }
}
