//! Values that do not lie in their bucket, with their keys: long texts, hashes and lists.

use surefit_collections::{ByteString, HashMap, Release, Vec, VecDeque};
use surefit_compact::Handle;
use surefit_compact::os::OsHeap;
use surefit_core::Refused;

use super::hash::Seeded;
use crate::store::Kind;

/// The heap of a shard.
pub(super) type Heap = OsHeap<'static>;

/// The bytes of a piece: a longer string is in several objects of the heap.
pub(super) const PIECE: usize = 4096;

/// The fields of a hash.
pub(super) type Fields = HashMap<ByteString, ByteString, Seeded>;

/// The values of a list.
pub(super) type Values = VecDeque<ByteString>;

/// A value outside its bucket.
pub(super) enum Outside {
    /// The key, and behind it a text.
    Text(ByteString),
    /// The same in two strings, if it is longer than a piece: all whole pieces, and the rest. (One
    /// string would have the room of a whole piece for the rest.)
    Long(Handle<[ByteString; 2]>),
    /// A hash or a list.
    Many(Handle<Many>),
}

/// A key and its values.
pub(super) struct Many {
    pub(super) key: ByteString,
    pub(super) body: Body,
}

/// What takes no room before something is added to it.
pub(super) enum Body {
    Hash(Fields),
    List(Values),
}

impl Release<Heap> for Outside {
    fn release(self, heap: &mut Heap) {
        match self {
            Self::Text(text) => text.free(heap),
            Self::Long(parts) => parts.release(heap),
            Self::Many(many) => many.release(heap),
        }
    }
}

impl Release<Heap> for Many {
    fn release(self, heap: &mut Heap) {
        self.key.free(heap);
        self.body.release(heap);
    }
}

impl Release<Heap> for Body {
    fn release(self, heap: &mut Heap) {
        match self {
            Self::Hash(fields) => fields.free(heap),
            Self::List(values) => values.free(heap),
        }
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::List(Values::new())
    }
}

impl Body {
    pub(super) const fn kind(&self) -> Kind {
        match self {
            Self::Hash(_) => Kind::Hash,
            Self::List(_) => Kind::List,
        }
    }

    pub(super) const fn len(&self) -> usize {
        match self {
            Self::Hash(fields) => fields.len(),
            Self::List(values) => values.len(),
        }
    }
}

impl Outside {
    /// A text behind its key.
    pub(super) fn text(heap: &mut Heap, key: &[u8], text: &[u8]) -> Result<Self, Refused> {
        let len = key.len() + text.len();
        let whole = if len > PIECE {
            len / PIECE * PIECE
        } else {
            len
        };
        let from_text = whole.saturating_sub(key.len());
        let (text, rest) = text.split_at(from_text.min(text.len()));
        let (key, key_rest) = key.split_at(whole.min(key.len()));
        let first = string(heap, [key, text])?;
        if len <= PIECE {
            return Ok(Self::Text(first));
        }
        let second = match string(heap, [key_rest, rest]) {
            Ok(second) => second,
            Err(refused) => {
                first.free(heap);
                return Err(refused);
            }
        };
        heap.insert([first, second])
            .map(Self::Long)
            .map_err(|full| {
                full.value.release(heap);
                full.refused
            })
    }

    /// A hash or a list without values yet.
    pub(super) fn many(heap: &mut Heap, key: &[u8], body: Body) -> Result<Self, Refused> {
        let key = ByteString::from_bytes(heap, key)?;
        heap.insert(Many { key, body })
            .map(Self::Many)
            .map_err(|full| {
                full.value.release(heap);
                full.refused
            })
    }

    pub(super) fn kind(&self, heap: &Heap) -> Kind {
        match self {
            Self::Text(_) | Self::Long(_) => Kind::Text,
            Self::Many(many) => heap.get(many).body.kind(),
        }
    }

    /// The length of key and text.
    pub(super) fn text_len(&self, heap: &Heap) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Long(parts) => heap.get(parts).iter().map(ByteString::len).sum(),
            Self::Many(_) => 0,
        }
    }

    /// The bytes from the key's first one on, in pieces.
    fn slices<'a>(&'a self, heap: &'a Heap) -> impl Iterator<Item = &'a [u8]> {
        let (first, second) = match self {
            Self::Text(text) => (text, None),
            Self::Long(parts) => {
                let [first, second] = heap.get(parts);
                (first, Some(second))
            }
            Self::Many(many) => (&heap.get(many).key, None),
        };
        let second = second.into_iter().flat_map(|rest| rest.slices(heap));
        first.slices(heap).chain(second)
    }

    /// Whether it has this key. The keys have the same length.
    pub(super) fn is_of(&self, heap: &Heap, key: &[u8]) -> bool {
        let mut rest = key;
        self.slices(heap).all(|slice| {
            let (now, later) = rest.split_at(slice.len().min(rest.len()));
            rest = later;
            slice.starts_with(now)
        })
    }

    /// Its key, which has this length, in pieces.
    pub(super) fn key<'a>(&'a self, heap: &'a Heap, len: usize) -> impl Iterator<Item = &'a [u8]> {
        let mut left = len;
        self.slices(heap).map(move |slice| {
            let now = &slice[..slice.len().min(left)];
            left -= now.len();
            now
        })
    }

    /// What is behind a key of this length, in pieces.
    pub(super) fn behind<'a>(
        &'a self,
        heap: &'a Heap,
        len: usize,
    ) -> impl Iterator<Item = &'a [u8]> {
        let mut left = len;
        self.slices(heap).map(move |slice| {
            let rest = &slice[slice.len().min(left)..];
            left -= slice.len() - rest.len();
            rest
        })
    }

    /// Appends to a text.
    pub(super) fn append(&mut self, heap: &mut Heap, more: &[u8]) -> Result<(), Refused> {
        match self {
            Self::Text(text) => text.push_bytes(heap, more),
            Self::Long(parts) => {
                let mut rest = std::mem::take(&mut heap.get_mut(parts)[1]);
                let pushed = rest.push_bytes(heap, more);
                heap.get_mut(parts)[1] = rest;
                pushed
            }
            Self::Many(_) => Ok(()),
        }
    }
}

/// A string of two parts.
fn string(heap: &mut Heap, [first, second]: [&[u8]; 2]) -> Result<ByteString, Refused> {
    let mut bytes = Vec::with_capacity(heap, first.len() + second.len())?;
    // There is room.
    bytes.extend_from_slice(heap, first)?;
    bytes.extend_from_slice(heap, second)?;
    Ok(ByteString::from_vec(bytes))
}
