//! A bucket: records side by side in one object, so that a record needs none of its own.
//!
//! ```text
//! bytes     bodies    for each record: its deadline, if it has one (8 bytes); then, unless they are
//!                     outside, its key and its text
//!           heads     for each record, in the same order: a head of eight bytes
//!           count     of records, two bytes; a bucket without records has no bytes
//! outside   for each record that has one, in the same order, what is outside
//! ```
//!
//! # Invariants
//! - P1 `bytes` has as many bytes as count and heads say, at most [`MOST`]: it is in one slice.
//!   There are at most [`FULL`] records: each can get a deadline when all texts are outside.
//! - P2 `outside` has as many elements as heads say that they have one.

use surefit_collections::{ByteString, Release, Vec};
use surefit_core::Refused;

use super::head::{At, DEADLINE, Head, Place};
use super::outside::{Body, Heap, Outside, PIECE};
use super::outsides::Outsides;
use crate::reply::Reply;
use crate::store::Kind;

/// The most bytes of a bucket: a piece of the heap's.
pub(super) const MOST: usize = PIECE;

/// The most records of a bucket.
pub(super) const FULL: usize = (MOST - COUNT) / (Head::BYTES + DEADLINE);

/// The most bytes of a key and a text that lie in a body.
pub(super) const MOST_INSIDE: usize = 1000;

/// Bytes of a bucket that are left for deadlines.
const LEFT: usize = 256;

/// The bytes of the count.
pub(super) const COUNT: usize = 2;

/// Zeros that are appended to be written over.
static ZEROS: [u8; MOST] = [0; MOST];

/// Where the value of a new record is.
pub(super) enum Value<'a> {
    Inside(&'a [u8]),
    Outside(Outside),
}

/// The records of one bucket.
#[derive(Default)]
pub(super) struct Bucket {
    pub(super) bytes: Vec<u8>,
    pub(super) outside: Outsides,
}

impl Release<Heap> for Bucket {
    fn release(self, heap: &mut Heap) {
        self.bytes.free(heap);
        self.outside.release(heap);
    }
}

impl Bucket {
    // ---- reading -------------------------------------------------------------------------------

    /// The number of records.
    #[inline]
    pub(super) fn len(&self, heap: &Heap) -> usize {
        count(self.bytes.slice_at(heap, 0))
    }

    /// What the bucket weighs: bytes, as far as they matter for when to split it.
    #[inline]
    pub(super) fn weight(&self, heap: &Heap) -> usize {
        self.bytes.len().saturating_sub(COUNT) + 96 * self.outside.len(heap)
    }

    /// All records, in order.
    #[inline]
    pub(super) fn records<'a>(&'a self, heap: &'a Heap) -> impl Iterator<Item = At> + use<'a> {
        let bytes = self.bytes.slice_at(heap, 0);
        let heads = &bytes[heads_at(bytes)..bytes.len().saturating_sub(COUNT)];
        let (mut start, mut outside) = (0, 0);
        let heads = heads.chunks_exact(Head::BYTES).enumerate();
        heads.map(move |(index, bytes)| {
            let head = Head::from_bytes(bytes.try_into().expect("a head's bytes"));
            let at = At {
                head,
                index,
                start,
                outside,
            };
            start += head.len();
            outside += usize::from(head.has(Head::OUTSIDE));
            at
        })
    }

    /// The record of a key.
    #[inline]
    pub(super) fn find(&self, heap: &Heap, hash: u32, key: &[u8]) -> Option<At> {
        let mut records = self.records(heap);
        records.find(|at| {
            at.head.hash == hash
                && usize::from(at.head.key) == key.len()
                && self.is_of(heap, at, key)
        })
    }

    fn is_of(&self, heap: &Heap, at: &At, key: &[u8]) -> bool {
        match self.outside(heap, at) {
            Some(outside) => outside.is_of(heap, key),
            None => self.inside(heap, at).starts_with(key),
        }
    }

    /// What is outside of a record.
    #[inline]
    pub(super) fn outside<'a>(&'a self, heap: &'a Heap, at: &At) -> Option<&'a Outside> {
        let number = at.head.has(Head::OUTSIDE).then_some(at.outside)?;
        self.outside.get(heap, number)
    }

    #[inline]
    fn outside_mut<'a>(&'a mut self, heap: &'a Heap, at: &At) -> Option<&'a mut Outside> {
        let number = at.head.has(Head::OUTSIDE).then_some(at.outside)?;
        self.outside.get_mut(heap, number)
    }

    /// The key and the text of a record that has them inside.
    #[inline]
    fn inside<'a>(&'a self, heap: &'a Heap, at: &At) -> &'a [u8] {
        let bytes = self.bytes.slice_at(heap, 0);
        &bytes[at.start + at.head.deadline_len()..at.end()]
    }

    pub(super) fn deadline(&self, heap: &Heap, at: &At) -> Option<u64> {
        let is_mortal = at.head.has(Head::MORTAL);
        let bytes = is_mortal.then(|| self.bytes.slice_at(heap, at.start).first_chunk())?;
        Some(u64::from_le_bytes(*bytes.expect("P1: a deadline")))
    }

    pub(super) fn kind(&self, heap: &Heap, at: &At) -> Kind {
        let outside = self.outside(heap, at);
        outside.map_or(Kind::Text, |outside| outside.kind(heap))
    }

    /// The length of a text.
    pub(super) fn text_len(&self, heap: &Heap, at: &At) -> usize {
        let len = match self.outside(heap, at) {
            Some(outside) => outside.text_len(heap),
            None => self.inside(heap, at).len(),
        };
        len - usize::from(at.head.key)
    }

    /// Replies with a text.
    #[inline]
    pub(super) fn reply(&self, heap: &Heap, at: &At, reply: &mut Reply) {
        let key = usize::from(at.head.key);
        match self.outside(heap, at) {
            None => reply.bulk(&self.inside(heap, at)[key..]),
            Some(outside) => {
                reply.pieces(outside.text_len(heap) - key, outside.behind(heap, key));
            }
        }
    }

    /// A copy of a text.
    pub(super) fn copy(&self, heap: &Heap, at: &At) -> std::vec::Vec<u8> {
        let key = usize::from(at.head.key);
        match self.outside(heap, at) {
            None => self.inside(heap, at)[key..].to_vec(),
            Some(outside) => outside.behind(heap, key).flatten().copied().collect(),
        }
    }

    /// A copy of a key.
    pub(super) fn key(&self, heap: &Heap, at: &At) -> std::vec::Vec<u8> {
        let key = usize::from(at.head.key);
        match self.outside(heap, at) {
            Some(outside) => outside.key(heap, key).flatten().copied().collect(),
            None => self.inside(heap, at)[..key].to_vec(),
        }
    }

    // ---- changing ------------------------------------------------------------------------------

    /// Writes the head of a record.
    pub(super) fn set_head(&mut self, heap: &Heap, index: usize, head: Head) {
        let bytes = self.bytes.slice_at_mut(heap, 0);
        let place = heads_at(bytes) + Head::BYTES * index;
        bytes[place..][..Head::BYTES].copy_from_slice(&head.to_bytes());
    }

    /// Notes that a record was used, in the copy of its head too.
    #[inline]
    pub(super) fn touch(&mut self, heap: &Heap, at: &mut At) {
        at.head.set(Head::USED, true);
        self.set_head(heap, at.index, at.head);
    }

    /// Notes that no record was used.
    pub(super) fn forget_uses(&mut self, heap: &Heap) {
        for index in 0..self.len(heap) {
            let bytes = self.bytes.slice_at(heap, 0);
            let place = heads_at(bytes) + Head::BYTES * index;
            let head = bytes[place..].first_chunk().expect("P1: a head");
            let mut head = Head::from_bytes(*head);
            head.set(Head::USED, false);
            self.set_head(heap, index, head);
        }
    }

    /// Whether a key and a text may lie inside, in the place of a record if it is there.
    pub(super) fn is_inside(&self, at: Option<&At>, len: usize) -> bool {
        let other = self.bytes.len() - at.map_or(0, |at| at.head.len());
        len <= MOST_INSIDE && other + Head::BYTES + DEADLINE + len <= MOST - LEFT
    }

    /// Makes room for so many more bytes, and so many more elements outside.
    ///
    /// # Errors
    /// If there is none. Nothing has changed.
    pub(super) fn make_room(
        &mut self,
        heap: &mut Heap,
        bytes: usize,
        outside: usize,
    ) -> Result<(), Refused> {
        if self.bytes.len() + bytes > MOST {
            return Err(Refused::TooLarge { limit: MOST });
        }
        let outside = self.outside.reserve(heap, outside);
        let made = outside.and_then(|()| self.bytes.reserve_exact(heap, bytes));
        if made.is_err() {
            self.outside.trim(heap);
        }
        made
    }

    /// Appends so many bytes, to be written over. There is room.
    pub(super) fn extend(&mut self, heap: &mut Heap, bytes: usize) {
        let appended = self.bytes.extend_from_slice(heap, &ZEROS[..bytes]);
        appended.expect("room was made");
    }

    /// Makes a hole of `new` bytes where `old` ones were. There is room.
    fn splice(&mut self, heap: &mut Heap, start: usize, old: usize, new: usize) {
        if old == new {
            return;
        }
        let (len, end) = (self.bytes.len(), start + old);
        self.extend(heap, new.saturating_sub(old));
        let bytes = self.bytes.slice_at_mut(heap, 0);
        bytes.copy_within(end..len, start + new);
        self.bytes.truncate(heap, len + new - old);
    }

    /// Adds a record behind the others, and counts it. There is room.
    fn push(&mut self, heap: &mut Heap, head: Head, deadline: Option<u64>, inside: [&[u8]; 2]) {
        let bytes = self.bytes.slice_at(heap, 0);
        let (start, records) = (heads_at(bytes), count(bytes));
        let heads = start..start + Head::BYTES * records;
        self.extend(heap, head.len() + self.extra(true));
        let bytes = self.bytes.slice_at_mut(heap, 0);
        let end = heads.end + head.len();
        bytes.copy_within(heads, start + head.len());
        write(&mut bytes[start..][..head.len()], deadline, inside);
        bytes[end..][..Head::BYTES].copy_from_slice(&head.to_bytes());
        set_count(bytes, records + 1);
    }

    /// Whether no record more fits, whatever it has.
    #[inline]
    pub(super) fn is_full(&self, heap: &Heap) -> bool {
        self.len(heap) >= FULL
    }

    /// Frees the bucket; returns what was outside.
    pub(super) fn dissolve(mut self, heap: &mut Heap) -> std::vec::Vec<Outside> {
        self.bytes.free(heap);
        self.outside.take_all(heap)
    }

    /// Adds a record, or puts it in the place of the one of its key, which lies there by the same
    /// hash; returns what that one had outside.
    ///
    /// # Errors
    /// If there is no room. Nothing has changed; what was to be outside is freed.
    pub(super) fn put(
        &mut self,
        heap: &mut Heap,
        at: Option<&At>,
        place: Place,
        key: &[u8],
        value: Value<'_>,
        deadline: Option<u64>,
    ) -> Result<Option<Outside>, Refused> {
        let (inside, outside): ([&[u8]; 2], _) = match value {
            Value::Inside(text) => ([key, text], None),
            Value::Outside(outside) => ([&[], &[]], Some(outside)),
        };
        let mut head = Head {
            hash: place.hash,
            key: u16::try_from(key.len()).expect("a key's length was verified"),
            word: 0,
        };
        head.set_number(place.number);
        head.set(Head::USED, at.is_some());
        head.set(Head::MORTAL, deadline.is_some());
        head.set(Head::OUTSIDE, outside.is_some());
        head.set_len(head.deadline_len() + inside[0].len() + inside[1].len());
        let was_outside = at.is_some_and(|at| at.head.has(Head::OUTSIDE));
        let more_outside = usize::from(outside.is_some() && !was_outside);
        let old = at.map_or(0, |at| at.head.len());
        let more = head.len().saturating_sub(old) + self.extra(at.is_none());
        let made = match at.is_none() && self.is_full(heap) {
            true => Err(Refused::TooLarge { limit: MOST }),
            false => self.make_room(heap, more, more_outside),
        };
        if let Err(refused) = made {
            outside.release(heap);
            return Err(refused);
        }
        let number = at.map_or_else(|| self.outside.len(heap), |at| at.outside);
        match at {
            None => self.push(heap, head, deadline, inside),
            Some(at) => {
                self.splice(heap, at.start, old, head.len());
                let body = &mut self.bytes.slice_at_mut(heap, at.start)[..head.len()];
                write(body, deadline, inside);
                self.set_head(heap, at.index, head);
            }
        }
        let former = self.put_outside(heap, number, was_outside, outside);
        self.trim(heap);
        Ok(former)
    }

    /// The bytes that a new record needs beside its body.
    const fn extra(&self, is_new: bool) -> usize {
        match (is_new, self.bytes.is_empty()) {
            (false, _) => 0,
            (true, false) => Head::BYTES,
            (true, true) => Head::BYTES + COUNT,
        }
    }

    /// Exchanges the outside of a record, for which there is room; returns the former one.
    fn put_outside(
        &mut self,
        heap: &mut Heap,
        number: usize,
        was_outside: bool,
        outside: Option<Outside>,
    ) -> Option<Outside> {
        let former = was_outside.then(|| self.outside.remove(heap, number));
        if let Some(outside) = outside {
            self.outside.insert(heap, number, outside);
        }
        former
    }

    /// Sets or takes away the deadline of a record.
    ///
    /// # Errors
    /// If there is no room. Nothing has changed.
    pub(super) fn set_deadline(
        &mut self,
        heap: &mut Heap,
        at: &At,
        deadline: Option<u64>,
    ) -> Result<(), Refused> {
        let (mut head, old) = (at.head, at.head.deadline_len());
        head.set(Head::MORTAL, deadline.is_some());
        let new = head.deadline_len();
        head.set_len(at.head.len() - old + new);
        self.make_room(heap, new.saturating_sub(old), 0)?;
        self.splice(heap, at.start, old, new);
        self.set_head(heap, at.index, head);
        if let Some(deadline) = deadline {
            let body = self.bytes.slice_at_mut(heap, at.start);
            body[..DEADLINE].copy_from_slice(&deadline.to_le_bytes());
        }
        Ok(())
    }

    /// Appends to a text that is inside, and stays there.
    ///
    /// # Errors
    /// If there is no room. Nothing has changed.
    pub(super) fn append(&mut self, heap: &mut Heap, at: &At, more: &[u8]) -> Result<(), Refused> {
        self.make_room(heap, more.len(), 0)?;
        self.splice(heap, at.end(), 0, more.len());
        self.bytes.slice_at_mut(heap, 0)[at.end()..][..more.len()].copy_from_slice(more);
        let mut head = at.head;
        head.set_len(head.len() + more.len());
        self.set_head(heap, at.index, head);
        Ok(())
    }

    /// Appends to a text that is outside.
    ///
    /// # Errors
    /// If there is no room. Nothing has changed.
    pub(super) fn append_outside(
        &mut self,
        heap: &mut Heap,
        at: &At,
        more: &[u8],
    ) -> Result<(), Refused> {
        let Some(place) = self.outside_mut(heap, at) else {
            return Ok(());
        };
        // It is taken out for that time: what moves objects needs the heap alone.
        let mut outside = std::mem::replace(place, Outside::Text(ByteString::new()));
        let pushed = outside.append(heap, more);
        if let Some(place) = self.outside_mut(heap, at) {
            *place = outside;
        }
        pushed
    }

    /// Changes a hash or a list; `None` if the record is a text.
    pub(super) fn change<R>(
        &mut self,
        heap: &mut Heap,
        at: &At,
        change: impl FnOnce(&mut Body, &mut Heap) -> R,
    ) -> Option<R> {
        // As in `append_outside`.
        let mut body = std::mem::take(self.body_mut(heap, at)?);
        let result = change(&mut body, heap);
        *self.body_mut(heap, at)? = body;
        Some(result)
    }

    fn body_mut<'a>(&'a mut self, heap: &'a Heap, at: &At) -> Option<&'a mut Body> {
        match self.outside_mut(heap, at)? {
            Outside::Text(_) | Outside::Long(_) => None,
            Outside::Many(many) => Some(&mut heap.get_mut(many).body),
        }
    }

    /// A hash or a list; `None` if the record is a text.
    pub(super) fn body<'a>(&'a self, heap: &'a Heap, at: &At) -> Option<&'a Body> {
        match self.outside(heap, at)? {
            Outside::Text(_) | Outside::Long(_) => None,
            Outside::Many(many) => Some(&heap.get(many).body),
        }
    }

    /// Removes a record; returns what it had outside.
    pub(super) fn remove(&mut self, heap: &mut Heap, at: &At) -> Option<Outside> {
        let outside = self.put_outside(heap, at.outside, at.head.has(Head::OUTSIDE), None);
        self.cut(heap, at);
        self.trim(heap);
        outside
    }

    /// Removes the body and the head of a record.
    fn cut(&mut self, heap: &mut Heap, at: &At) {
        let bytes = self.bytes.slice_at_mut(heap, 0);
        let (len, left) = (bytes.len(), count(bytes) - 1);
        let head = heads_at(bytes) + Head::BYTES * at.index;
        set_count(bytes, left);
        bytes.copy_within(at.end()..head, at.start);
        bytes.copy_within(head + Head::BYTES.., head - at.head.len());
        let rest = len - at.head.len() - Head::BYTES;
        self.bytes.truncate(heap, if left == 0 { 0 } else { rest });
    }

    /// Gives back room that is not needed, as far as that is not refused.
    pub(super) fn trim(&mut self, heap: &mut Heap) {
        let (len, room) = (self.bytes.len(), self.bytes.capacity(heap));
        if room - len > len / 32 {
            let _ = self.bytes.shrink_to_fit(heap);
        }
        self.outside.trim(heap);
    }
}

/// The number of records of a bucket with these bytes.
#[inline]
pub(super) fn count(bytes: &[u8]) -> usize {
    bytes
        .last_chunk()
        .map_or(0, |count| usize::from(u16::from_le_bytes(*count)))
}

pub(super) fn set_count(bytes: &mut [u8], count: usize) {
    let place = bytes.last_chunk_mut().expect("P1: a count");
    *place = u16::try_from(count).expect("P1: few records").to_le_bytes();
}

/// Where the heads begin in a bucket with these bytes.
#[inline]
pub(super) fn heads_at(bytes: &[u8]) -> usize {
    bytes
        .len()
        .saturating_sub(COUNT + Head::BYTES * count(bytes))
}

/// Writes the body of a record.
fn write(body: &mut [u8], deadline: Option<u64>, inside: [&[u8]; 2]) {
    let mut rest = body;
    let deadline = deadline.map(u64::to_le_bytes);
    let parts = [
        deadline.as_ref().map_or(&[][..], |it| it),
        inside[0],
        inside[1],
    ];
    for part in parts {
        let (now, later) = rest.split_at_mut(part.len());
        now.copy_from_slice(part);
        rest = later;
    }
}
