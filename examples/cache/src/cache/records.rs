//! Records: a key, its value, a deadline and three links, in one object of the store.
//!
//! ```text
//! next  newer  older   names: the chain of a bucket, the order of use
//! flags                widths of the lengths; whether there is a deadline; whether there is a tail
//! key length           1 or 2 bytes
//! value length         1, 2 or 4 bytes
//! deadline             8 bytes, in milliseconds, only if there is one
//! tail                 a name, only if the record is longer than a whole object of the store
//! key                  always in this object
//! value                what does not fit here is in the tail, another object
//! ```
//!
//! # Invariants
//! - R1 Every name that the cache passes here is that of a live record: it came from
//!   [`Records::create`], and was not passed to [`Records::free`] since. The index and the order of
//!   use hold such names only; a record leaves both before it is freed.
//! - R2 Header and key of a record are written when it is made. A record that is shorter than a
//!   whole object, or whose length is exactly that, is contiguous.

use std::ops::Range;

use super::renamed::Renamed;
use crate::store::{Name, Store};

/// The longest key, in bytes: it must fit into one object with the header.
pub const MOST_KEY_BYTES: usize = 2048;

/// The longest value, in bytes: the protocol's own limit.
pub const MOST_VALUE_BYTES: usize = 512 << 20;

const LONG_KEY: u8 = 1;
const VALUE_OF_2: u8 = 2;
const VALUE_OF_4: u8 = 4;
const DEADLINE: u8 = 8;
const TAIL: u8 = 16;

/// The longest header: four names of eight bytes, flags, lengths, deadline.
const MOST_HEADER: usize = 4 * 8 + 1 + 2 + 4 + 8;

/// A link of a record.
#[derive(Clone, Copy, Debug)]
pub(super) enum Link {
    /// The next record of the same bucket.
    Next = 0,
    /// The record that was used after this one.
    Newer = 1,
    /// The record that was used before this one.
    Older = 2,
}

/// Where the parts of a record are.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// The key, in the head.
    pub(super) key: Range<usize>,
    /// When the record expires.
    pub(super) deadline: Option<u64>,
    /// The length of the value.
    pub(super) value_len: usize,
    /// The bytes of the first object.
    head: usize,
    /// The bytes of the second object, or none.
    tail: usize,
    flags: u8,
}

impl Shape {
    /// The shape of a new record.
    pub(super) fn new<S: Store>(key: usize, value: usize, deadline: Option<u64>) -> Self {
        let mut flags = match value {
            0..=0xFF => 0,
            0x100..=0xFFFF => VALUE_OF_2,
            _ => VALUE_OF_4,
        };
        flags |= if key > 0xFF { LONG_KEY } else { 0 };
        flags |= deadline.map_or(0, |_| DEADLINE);
        if header_bytes::<S>(flags) + key + value > S::WHOLE_BYTES {
            flags |= TAIL;
        }
        Self::of::<S>(flags, key, value, deadline)
    }

    fn of<S: Store>(flags: u8, key: usize, value: usize, deadline: Option<u64>) -> Self {
        let start = header_bytes::<S>(flags);
        let total = start + key + value;
        let head = total.min(S::WHOLE_BYTES);
        Self {
            key: start..start + key,
            deadline,
            value_len: value,
            head,
            tail: total - head,
            flags,
        }
    }

    /// The bytes of all objects of the record.
    pub(super) fn bytes(&self) -> usize {
        self.head + self.tail
    }

    /// The header, but for the links, which name nothing yet.
    fn write_header<N: Name>(&self, header: &mut [u8; MOST_HEADER], tail: N) {
        for link in [Link::Next, Link::Newer, Link::Older] {
            N::NIL.save(&mut header[link as usize * N::BYTES..]);
        }
        let mut at = 3 * N::BYTES;
        let mut put = |number: u64, width: usize| {
            header[at..at + width].copy_from_slice(&number.to_le_bytes()[..width]);
            at += width;
        };
        put(self.flags.into(), 1);
        put(self.key.len() as u64, key_width(self.flags));
        put(self.value_len as u64, value_width(self.flags));
        if let Some(deadline) = self.deadline {
            put(deadline, 8);
        }
        if self.flags & TAIL != 0 {
            tail.save(&mut header[at..]);
        }
    }
}

fn key_width(flags: u8) -> usize {
    if flags & LONG_KEY == 0 { 1 } else { 2 }
}

fn value_width(flags: u8) -> usize {
    match flags & (VALUE_OF_2 | VALUE_OF_4) {
        0 => 1,
        VALUE_OF_2 => 2,
        _ => 4,
    }
}

/// The bytes before the key.
fn header_bytes<S: Store>(flags: u8) -> usize {
    let deadline = if flags & DEADLINE == 0 { 0 } else { 8 };
    let tail = if flags & TAIL == 0 { 0 } else { S::Name::BYTES };
    3 * S::Name::BYTES + 1 + key_width(flags) + value_width(flags) + deadline + tail
}

/// A length that a record holds, in one, two or four bytes.
#[inline]
fn length(bytes: &[u8]) -> usize {
    match *bytes {
        [a] => a.into(),
        [a, b] => u16::from_le_bytes([a, b]).into(),
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]) as usize,
        _ => unreachable!("no length has another width"),
    }
}

/// A deadline that a record holds.
fn deadline(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

/// The records of a cache, and the store that holds them and the index.
#[derive(Debug)]
pub(super) struct Records<S> {
    pub(super) store: S,
    /// The lengths of all objects of records.
    pub(super) bytes: usize,
}

impl<S: Store> Records<S> {
    pub(super) fn new(store: S) -> Self {
        Self { store, bytes: 0 }
    }

    /// Makes a record without links, or returns `None` if the store has no room.
    pub(super) fn create(&mut self, shape: &Shape, key: &[u8], value: &[u8]) -> Option<S::Name> {
        let head = self.store.allocate(shape.head)?;
        let tail = if shape.tail == 0 {
            S::Name::NIL
        } else if let Some(tail) = self.store.allocate(shape.tail) {
            tail
        } else {
            // SAFETY: it was just allocated with this length.
            unsafe { self.store.free(head, shape.head) };
            return None;
        };
        let mut header = [0; MOST_HEADER];
        shape.write_header(&mut header, tail);
        let (inner, outer) = value.split_at(shape.head - shape.key.end);
        // SAFETY: both objects were just allocated with these lengths; the key ends in the head.
        unsafe {
            let header = &header[..shape.key.start];
            self.store.write(head, shape.head, 0, header);
            self.store.write(head, shape.head, shape.key.start, key);
            self.store.write(head, shape.head, shape.key.end, inner);
            if shape.tail > 0 {
                self.store.write(tail, shape.tail, 0, outer);
            }
        }
        self.bytes += shape.bytes();
        Some(head)
    }

    /// Frees a record that nothing links to any more.
    pub(super) fn free(&mut self, name: S::Name) {
        let shape = self.shape(name);
        let tail = self.tail(name, &shape);
        // SAFETY: R1; the lengths are those with which the objects were made.
        unsafe {
            if shape.tail > 0 {
                self.store.free(tail, shape.tail);
            }
            self.store.free(name, shape.head);
        }
        self.bytes -= shape.bytes();
    }

    /// The first bytes of a record's head.
    #[inline]
    fn start(&self, name: S::Name, len: usize) -> &[u8] {
        // SAFETY: R1 and R2: the callers ask for no more than the record has, and what was written.
        unsafe { self.store.read(name, len, 0) }
    }

    pub(super) fn shape(&self, name: S::Name) -> Shape {
        let at = 3 * S::Name::BYTES;
        // No record is shorter than the links, the flags, and two lengths of a byte.
        let flags = self.start(name, at + 3)[at];
        let header = self.start(name, header_bytes::<S>(flags));
        let key_at = at + 1;
        let value_at = key_at + key_width(flags);
        let deadline_at = value_at + value_width(flags);
        let deadline =
            (flags & DEADLINE != 0).then(|| deadline(&header[deadline_at..deadline_at + 8]));
        let (key, value) = (
            length(&header[key_at..value_at]),
            length(&header[value_at..deadline_at]),
        );
        Shape::of::<S>(flags, key, value, deadline)
    }

    fn tail(&self, name: S::Name, shape: &Shape) -> S::Name {
        if shape.tail == 0 {
            return S::Name::NIL;
        }
        let end = shape.key.start;
        S::Name::load(&self.start(name, end)[end - S::Name::BYTES..])
    }

    /// The objects of a record, with their lengths.
    pub(super) fn objects(&self, name: S::Name) -> impl Iterator<Item = (S::Name, usize)> + use<S> {
        let shape = self.shape(name);
        let tail = (shape.tail > 0).then(|| (self.tail(name, &shape), shape.tail));
        std::iter::once((name, shape.head)).chain(tail)
    }

    /// Replaces the names in a record by others of the same objects.
    pub(super) fn rename(&mut self, name: S::Name, renamed: &Renamed<S::Name>) {
        for link in [Link::Next, Link::Newer, Link::Older] {
            self.set_link(name, link, renamed.get(self.link(name, link)));
        }
        let shape = self.shape(name);
        if shape.tail > 0 {
            let tail = renamed.get(self.tail(name, &shape));
            let end = shape.key.start;
            // SAFETY: R1 and R2: the tail's name ends the header.
            let header = unsafe { self.store.edit(name, end, 0) };
            tail.save(&mut header[end - S::Name::BYTES..]);
        }
    }

    pub(super) fn key<'a>(&'a self, name: S::Name, shape: &Shape) -> &'a [u8] {
        &self.start(name, shape.head)[shape.key.clone()]
    }

    /// The value, piece by piece.
    pub(super) fn value<'a>(
        &'a self,
        name: S::Name,
        shape: &Shape,
    ) -> impl Iterator<Item = &'a [u8]> + use<'a, S> {
        let head = &self.start(name, shape.head)[shape.key.end..];
        let (tail, len, mut at) = (self.tail(name, shape), shape.tail, 0);
        let rest = std::iter::from_fn(move || {
            if at == len {
                return None;
            }
            // SAFETY: R1; the tail was made with this length and written.
            let piece = unsafe { self.store.read(tail, len, at) };
            at += piece.len();
            Some(piece)
        });
        std::iter::once(head).chain(rest)
    }

    #[inline]
    pub(super) fn link(&self, name: S::Name, link: Link) -> S::Name {
        let at = link as usize * S::Name::BYTES;
        S::Name::load(&self.start(name, 3 * S::Name::BYTES)[at..])
    }

    #[inline]
    pub(super) fn set_link(&mut self, name: S::Name, link: Link, to: S::Name) {
        let at = link as usize * S::Name::BYTES;
        // SAFETY: R1 and R2: every record begins with its links.
        let links = unsafe { self.store.edit(name, 3 * S::Name::BYTES, 0) };
        to.save(&mut links[at..]);
    }
}
