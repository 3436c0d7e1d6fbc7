//! A bucket: records side by side in few objects, so that a record needs none of its own.
//!
//! ```text
//! heads     a head of eight bytes for each record
//! bodies    for each record, in the same order: its deadline, if it has one (8 bytes); then, unless
//!           they are outside, its key and its text
//! outside   for each record that has one, in the same order, what is outside
//! ```
//!
//! # Invariants
//! - P1 `bodies` has as many bytes as the heads say together, at most [`MOST_BODIES`].
//! - P2 `outside` has as many elements as heads say that they have one.
//! - P3 There are at most [`MOST_RECORDS`] heads. So heads and bodies are each in one slice.

use surefit_collections::{ByteString, Release, Vec};
use surefit_core::Refused;

use super::head::{At, DEADLINE, Head};
use super::outside::{Body, Heap, Outside, PIECE};
use crate::reply::Reply;
use crate::store::Kind;

/// The most records of a bucket.
pub(super) const MOST_RECORDS: usize = 256;

/// The most bytes of all bodies: a piece of the heap's.
pub(super) const MOST_BODIES: usize = PIECE;

/// The most bytes of a key and a text that lie in a body.
const MOST_INSIDE: usize = 512;

/// Bytes of the bodies that are left for deadlines.
const LEFT: usize = 512;

/// Zeros that are appended to be written over.
pub(super) const ZEROS: [u8; MOST_INSIDE + DEADLINE] = [0; MOST_INSIDE + DEADLINE];

/// Where the value of a new record is.
pub(super) enum Value<'a> {
    Inside(&'a [u8]),
    Outside(Outside),
}

/// The records of one bucket.
#[derive(Default)]
pub(super) struct Bucket {
    pub(super) heads: Vec<Head>,
    pub(super) bodies: Vec<u8>,
    pub(super) outside: Vec<Outside>,
}

impl Release<Heap> for Bucket {
    fn release(self, heap: &mut Heap) {
        self.heads.free(heap);
        self.bodies.free(heap);
        self.outside.free(heap);
    }
}

impl Bucket {
    // ---- reading -------------------------------------------------------------------------------

    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.heads.len()
    }

    /// What the bucket weighs: bytes, as far as they matter for when to split it.
    #[inline]
    pub(super) const fn weight(&self) -> usize {
        self.bodies.len() + 16 * self.heads.len() + 112 * self.outside.len()
    }

    #[inline]
    pub(super) fn heads<'a>(&'a self, heap: &'a Heap) -> &'a [Head] {
        self.heads.slice_at(heap, 0)
    }

    pub(super) fn heads_mut<'a>(&'a mut self, heap: &'a Heap) -> &'a mut [Head] {
        self.heads.slice_at_mut(heap, 0)
    }

    /// All records, in order.
    #[inline]
    pub(super) fn records<'a>(&'a self, heap: &'a Heap) -> impl Iterator<Item = At> + use<'a> {
        let (mut start, mut outside) = (0, 0);
        self.heads(heap)
            .iter()
            .enumerate()
            .map(move |(index, &head)| {
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
    pub(super) fn outside_mut<'a>(
        &'a mut self,
        heap: &'a Heap,
        at: &At,
    ) -> Option<&'a mut Outside> {
        let number = at.head.has(Head::OUTSIDE).then_some(at.outside)?;
        self.outside.get_mut(heap, number)
    }

    /// The key and the text of a record that has them inside.
    #[inline]
    fn inside<'a>(&'a self, heap: &'a Heap, at: &At) -> &'a [u8] {
        let bodies = self.bodies.slice_at(heap, 0);
        &bodies[at.start + at.head.deadline_len()..at.end()]
    }

    pub(super) fn deadline(&self, heap: &Heap, at: &At) -> Option<u64> {
        let is_mortal = at.head.has(Head::MORTAL);
        let bytes = is_mortal.then(|| self.bodies.slice_at(heap, at.start).first_chunk())?;
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

    /// Notes that a record was used, in the copy of its head too.
    #[inline]
    pub(super) fn touch(&mut self, heap: &Heap, at: &mut At) {
        at.head.word |= Head::USED;
        self.heads_mut(heap)[at.index] = at.head;
    }

    /// Notes that no record was used.
    pub(super) fn forget_uses(&mut self, heap: &Heap) {
        let heads = self.heads_mut(heap).iter_mut();
        heads.for_each(|head| head.set(Head::USED, false));
    }

    // ---- changing ------------------------------------------------------------------------------

    /// Whether a key and a text may lie inside, in the place of a record if it is there.
    pub(super) fn is_inside(&self, at: Option<&At>, len: usize) -> bool {
        let other = self.bodies.len() - at.map_or(0, |at| at.head.len());
        len <= MOST_INSIDE && other + DEADLINE + len <= MOST_BODIES - LEFT
    }

    /// Makes a hole of `new` bytes in the bodies where `old` ones were.
    ///
    /// # Errors
    /// If there is no room. Nothing has changed. Never if the hole is not larger.
    fn splice(
        &mut self,
        heap: &mut Heap,
        start: usize,
        old: usize,
        new: usize,
    ) -> Result<(), Refused> {
        let (len, end) = (self.bodies.len(), start + old);
        if new > old {
            if len + new - old > MOST_BODIES {
                return Err(Refused::TooLarge { limit: MOST_BODIES });
            }
            self.bodies.reserve_exact(heap, new - old)?;
            self.bodies.extend_from_slice(heap, &ZEROS[..new - old])?;
        }
        let bodies = self.bodies.slice_at_mut(heap, 0);
        bodies.copy_within(end..len, start + new);
        self.bodies.truncate(heap, len + new - old);
        Ok(())
    }

    /// Adds a record, or puts it in the place of the one of its key.
    ///
    /// # Errors
    /// If there is no room. Nothing has changed; what was to be outside is freed.
    pub(super) fn put(
        &mut self,
        heap: &mut Heap,
        at: Option<&At>,
        hash: u32,
        key: &[u8],
        value: Value<'_>,
        deadline: Option<u64>,
    ) -> Result<(), Refused> {
        let (inside, outside): ([&[u8]; 2], _) = match value {
            Value::Inside(text) => ([key, text], None),
            Value::Outside(outside) => ([&[], &[]], Some(outside)),
        };
        let was_outside = at.is_some_and(|at| at.head.has(Head::OUTSIDE));
        let place = at.copied().unwrap_or(At {
            head: Head {
                hash,
                key: 0,
                word: 0,
            },
            index: self.len(),
            start: self.bodies.len(),
            outside: self.outside.len(),
        });
        let mut head = Head {
            hash,
            word: 0,
            ..place.head
        };
        head.key = u16::try_from(key.len()).expect("a key's length was verified");
        head.set(Head::USED, at.is_some());
        head.set(Head::MORTAL, deadline.is_some());
        head.set(Head::OUTSIDE, outside.is_some());
        head.set_len(head.deadline_len() + inside[0].len() + inside[1].len());
        let is_room = self.make_room(heap, at.is_none(), outside.is_some() && !was_outside);
        let spliced =
            is_room.and_then(|()| self.splice(heap, place.start, place.head.len(), head.len()));
        if let Err(refused) = spliced {
            outside.release(heap);
            return Err(refused);
        }
        let body = &mut self.bodies.slice_at_mut(heap, 0)[place.start..][..head.len()];
        write(body, deadline, inside);
        match at {
            Some(_) => self.heads_mut(heap)[place.index] = head,
            None => self
                .heads
                .push_within_capacity(heap, head)
                .expect("room was made"),
        }
        self.put_outside(heap, place.outside, was_outside, outside);
        self.trim(heap);
        Ok(())
    }

    /// Makes room for a head and an outside.
    fn make_room(
        &mut self,
        heap: &mut Heap,
        is_new: bool,
        is_outside: bool,
    ) -> Result<(), Refused> {
        if is_new && self.len() == MOST_RECORDS {
            return Err(Refused::TooLarge {
                limit: MOST_RECORDS,
            });
        }
        if is_new && self.len() == self.heads.capacity(heap) {
            self.heads.reserve_exact(heap, 4)?;
        }
        if is_outside && self.outside.len() == self.outside.capacity(heap) {
            self.outside.reserve_exact(heap, 2)?;
        }
        Ok(())
    }

    /// Exchanges the outside of a record, for which there is room.
    fn put_outside(
        &mut self,
        heap: &mut Heap,
        number: usize,
        was_outside: bool,
        outside: Option<Outside>,
    ) {
        let former = was_outside.then(|| self.outside.remove(heap, number));
        if let Some(outside) = outside {
            let inserted = self.outside.insert(heap, number, outside);
            inserted
                .map_err(|full| full.refused)
                .expect("room was made");
        }
        former.release(heap);
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
        head.set_len(at.head.len() - old + head.deadline_len());
        self.splice(heap, at.start, old, head.deadline_len())?;
        self.heads_mut(heap)[at.index] = head;
        if let Some(deadline) = deadline {
            let body = self.bodies.slice_at_mut(heap, at.start);
            body[..DEADLINE].copy_from_slice(&deadline.to_le_bytes());
        }
        Ok(())
    }

    /// Appends to a text that is inside, and stays there.
    ///
    /// # Errors
    /// If there is no room. Nothing has changed.
    pub(super) fn append(&mut self, heap: &mut Heap, at: &At, more: &[u8]) -> Result<(), Refused> {
        self.splice(heap, at.end(), 0, more.len())?;
        self.bodies.slice_at_mut(heap, 0)[at.end()..][..more.len()].copy_from_slice(more);
        self.heads_mut(heap)[at.index].set_len(at.head.len() + more.len());
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

    /// Removes a record.
    pub(super) fn remove(&mut self, heap: &mut Heap, at: &At) {
        self.splice(heap, at.start, at.head.len(), 0)
            .expect("it becomes shorter");
        self.heads.remove(heap, at.index);
        self.put_outside(heap, at.outside, at.head.has(Head::OUTSIDE), None);
        self.trim(heap);
    }

    /// Gives back room that is not needed, as far as that is not refused.
    pub(super) fn trim(&mut self, heap: &mut Heap) {
        let (len, room) = (self.bodies.len(), self.bodies.capacity(heap));
        if room - len > len / 32 {
            let _ = self.bodies.shrink_to_fit(heap);
        }
        if self.heads.capacity(heap) - self.len() >= 8 || self.len() == 0 {
            let _ = self.heads.shrink_to(heap, self.len().next_multiple_of(4));
        }
        let len = self.outside.len();
        if self.outside.capacity(heap) - len >= 4 || len == 0 {
            let _ = self.outside.shrink_to_fit(heap);
        }
    }
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
