//! Byte strings and strings.
#![deny(unsafe_code)]

use core::convert::Infallible;
use core::fmt;
use core::hash::Hasher;

use surefit_core::{Corruption, Refused, ensure};

use crate::clone::TryClone;
use crate::heap::ByteHeap;
use crate::lookup::Lookup;
use crate::names::{Checked, Names};
use crate::release::Release;
use crate::shown::Shown;
use crate::storage::{Slices, Vec};

/// Bytes in a heap that grow at their end.
///
/// It is an owning name, as [`Vec`] is: dropping it leaks the bytes.
///
/// # Examples
/// ```
/// use surefit_collections::ByteString;
/// use surefit_compact::{Config, Heap};
///
/// static CONFIG: Config = Config::DEFAULT;
/// let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
/// let mut heap: Heap = Heap::new(&mut memory, &CONFIG)?;
/// let mut text = ByteString::from_bytes(&heap, b"sure")?;
/// text.push_bytes(&mut heap, b"fit")?;
/// assert!(text.equals(&heap, b"surefit"));
/// text.free(&mut heap);
/// # Ok::<(), surefit_core::Refused>(())
/// ```
#[must_use = "dropping a byte string leaks its bytes"]
pub struct ByteString<N: Names = Checked> {
    bytes: Vec<u8, N>,
}

/// UTF-8 in a heap that grows at its end.
///
/// It is an owning name, as [`Vec`] is: dropping it leaks the text.
///
/// # Examples
/// ```
/// use surefit_collections::String;
/// use surefit_compact::{Config, Heap};
///
/// static CONFIG: Config = Config::DEFAULT;
/// let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
/// let mut heap: Heap = Heap::new(&mut memory, &CONFIG)?;
/// let mut text = String::from_text(&heap, "grüß")?;
/// text.push_str(&mut heap, " Gott")?;
/// assert_eq!(text.as_str(&heap), Some("grüß Gott"));
/// assert_eq!(text.display(&heap).to_string(), "grüß Gott");
/// text.free(&mut heap);
/// # Ok::<(), surefit_core::Refused>(())
/// ```
#[must_use = "dropping a string leaks its text"]
pub struct String<N: Names = Checked> {
    /// UTF-8.
    bytes: ByteString<N>,
}

/// The traits of both, by their bytes. `$slice` is what is equal to them outside a heap.
macro_rules! text {
    ($name:ident, $slice:ty) => {
        impl<N: Names> Default for $name<N> {
            fn default() -> Self {
                Self::new()
            }
        }

        impl<N: Names> fmt::Debug for $name<N> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({} bytes)", stringify!($name), self.len())
            }
        }

        impl<N: Names, H: ByteHeap<Names = N>> Release<H> for $name<N> {
            fn release(self, heap: &mut H) {
                self.free(heap);
            }

            fn belongs_to(&self, heap: &H) -> bool {
                self.bytes.belongs_to(heap)
            }
        }

        impl<N: Names, H: ByteHeap<Names = N>> TryClone<H> for $name<N> {
            type Partial = Infallible;

            fn try_clone_in(&self, heap: &H) -> Result<Self, (Option<Infallible>, Refused)> {
                self.try_clone(heap).map_err(|refused| (None, refused))
            }
        }

        impl<N: Names, H: ByteHeap<Names = N>> Lookup<H, $slice> for $name<N> {
            #[inline]
            fn hash_of<S: Hasher>(query: &$slice, heap: &H, state: &mut S) {
                hash(core::iter::once(query), heap, state);
            }

            #[inline]
            fn is(&self, query: &$slice, heap: &H) -> bool {
                self.equals(heap, query)
            }
        }

        impl<N: Names, H: ByteHeap<Names = N>> Lookup<H, Self> for $name<N> {
            #[inline]
            fn hash_of<S: Hasher>(query: &Self, heap: &H, state: &mut S) {
                hash(query.vec().slices(heap), heap, state);
            }

            #[inline]
            fn is(&self, query: &Self, heap: &H) -> bool {
                is_same(self.vec(), query.vec(), heap)
            }
        }
    };
}

text!(ByteString, [u8]);
text!(String, str);

/// Whether both have the same bytes.
fn is_same<N: Names, H: ByteHeap<Names = N>>(a: &Vec<u8, N>, b: &Vec<u8, N>, heap: &H) -> bool {
    // One of them may have its bytes in longer pieces.
    let piece = heap.piece_bytes();
    let pieces = a.slices(heap).flat_map(|slice| slice.chunks(piece));
    let others = b.slices(heap).flat_map(|slice| slice.chunks(piece));
    a.len() == b.len() && pieces.zip(others).all(|(a, b)| a == b)
}

/// A copy of slices of `len` bytes, without room for more.
fn copy<H: ByteHeap>(
    heap: &H,
    len: usize,
    slices: impl Iterator<Item: AsRef<[u8]>>,
) -> Result<Vec<u8, H::Names>, Refused> {
    let mut bytes = Vec::with_capacity(heap, len)?;
    for slice in slices {
        bytes.fill_from_slice(heap, slice.as_ref());
    }
    Ok(bytes)
}

/// Feeds bytes to a hasher: in pieces of the heap's, so that it makes no difference whether they
/// lie in pieces.
#[inline]
fn hash<H: ByteHeap, S: Hasher>(slices: impl Iterator<Item: AsRef<[u8]>>, heap: &H, state: &mut S) {
    let mut len = 0;
    for slice in slices {
        let slice = slice.as_ref();
        for piece in slice.chunks(heap.piece_bytes()) {
            state.write(piece);
        }
        len += slice.len();
    }
    state.write_usize(len);
}

impl<N: Names> ByteString<N> {
    /// No bytes, and no object.
    pub const fn new() -> Self {
        Self::from_vec(Vec::new())
    }

    /// A copy of these bytes, without room for more. Moves nothing.
    ///
    /// # Errors
    /// What was exhausted.
    pub fn from_bytes<H: ByteHeap<Names = N>>(heap: &H, source: &[u8]) -> Result<Self, Refused> {
        copy(heap, source.len(), core::iter::once(source)).map(Self::from_vec)
    }

    /// The length in bytes.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are no bytes.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Appends bytes. May move objects.
    ///
    /// # Errors
    /// As [`Vec::reserve`]; the string is unchanged.
    pub fn push_bytes<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        source: &[u8],
    ) -> Result<(), Refused> {
        self.bytes.extend_from_slice(heap, source)
    }

    /// All bytes in one slice; `None` if they are in pieces.
    #[inline]
    #[must_use]
    pub fn as_slice<'a, H: ByteHeap<Names = N>>(&'a self, heap: &'a H) -> Option<&'a [u8]> {
        self.bytes.as_slice(heap)
    }

    /// All bytes in order, one contiguous slice at a time.
    pub const fn slices<'a, H: ByteHeap<Names = N>>(&'a self, heap: &'a H) -> Slices<'a, u8, H> {
        self.bytes.slices(heap)
    }

    /// Whether these are the bytes of a slice.
    #[must_use]
    pub fn equals<H: ByteHeap<Names = N>>(&self, heap: &H, other: &[u8]) -> bool {
        if self.len() != other.len() {
            return false;
        }
        let mut rest = other;
        self.slices(heap).all(|slice| {
            let (now, later) = rest.split_at(slice.len());
            rest = later;
            slice == now
        })
    }

    #[inline]
    const fn vec(&self) -> &Vec<u8, N> {
        &self.bytes
    }

    /// The vector of these bytes.
    pub fn into_vec(self) -> Vec<u8, N> {
        self.bytes
    }

    /// The bytes of a vector.
    pub const fn from_vec(bytes: Vec<u8, N>) -> Self {
        Self { bytes }
    }

    /// A copy. Moves nothing.
    ///
    /// # Errors
    /// What was exhausted, or [`Refused::ForeignHandle`].
    pub fn try_clone<H: ByteHeap<Names = N>>(&self, heap: &H) -> Result<Self, Refused> {
        if !self.bytes.is_of(heap) {
            return Err(Refused::ForeignHandle);
        }
        copy(heap, self.len(), self.slices(heap)).map(Self::from_vec)
    }

    /// Frees the bytes. May move objects.
    ///
    /// # Panics
    /// If they belong to another heap.
    pub fn free<H: ByteHeap<Names = N>>(self, heap: &mut H) {
        self.bytes.free(heap);
    }

    /// Verifies the vector of these bytes.
    ///
    /// # Errors
    /// As [`Vec::check`].
    ///
    /// # Complexity
    /// As [`Vec::check`].
    pub fn check<H: ByteHeap<Names = N>>(&self, heap: &H) -> Result<(), Corruption> {
        self.bytes.check(heap)
    }
}

impl<N: Names> String<N> {
    /// No text, and no object.
    pub const fn new() -> Self {
        Self {
            bytes: ByteString::new(),
        }
    }

    /// A copy of a text, without room for more. Moves nothing.
    ///
    /// # Errors
    /// What was exhausted.
    pub fn from_text<H: ByteHeap<Names = N>>(heap: &H, text: &str) -> Result<Self, Refused> {
        let bytes = ByteString::from_bytes(heap, text.as_bytes())?;
        Ok(Self { bytes })
    }

    /// The length in bytes.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there is no text.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Appends a text. May move objects.
    ///
    /// # Errors
    /// As [`Vec::reserve`]; the string is unchanged.
    pub fn push_str<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        text: &str,
    ) -> Result<(), Refused> {
        self.bytes.push_bytes(heap, text.as_bytes())
    }

    /// The text in one slice; `None` if it is in pieces.
    ///
    /// # Complexity
    /// O(length): it is verified that it is UTF-8.
    ///
    /// # Panics
    /// If the text belongs to another heap.
    #[must_use]
    pub fn as_str<'a, H: ByteHeap<Names = N>>(&'a self, heap: &'a H) -> Option<&'a str> {
        let bytes = self.bytes.as_slice(heap)?;
        Some(core::str::from_utf8(bytes).expect("only text was appended"))
    }

    /// Whether this is a text. Does not verify it.
    #[must_use]
    pub fn equals<H: ByteHeap<Names = N>>(&self, heap: &H, other: &str) -> bool {
        self.bytes.equals(heap, other.as_bytes())
    }

    #[inline]
    const fn vec(&self) -> &Vec<u8, N> {
        &self.bytes.bytes
    }

    /// The bytes of the text.
    pub const fn as_bytes(&self) -> &ByteString<N> {
        &self.bytes
    }

    /// The bytes of the text.
    pub fn into_bytes(self) -> ByteString<N> {
        self.bytes
    }

    /// The text, for `{}` and `{:?}`, also if it is in pieces.
    pub fn display<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
    ) -> impl fmt::Display + fmt::Debug + use<'a, N, H> {
        Shown(move |f: &mut fmt::Formatter<'_>| self.write_to(heap, f))
    }

    fn write_to<H: ByteHeap<Names = N>>(
        &self,
        heap: &H,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        self.characters(heap, |text| f.write_str(text)).map(drop)
    }

    /// Passes the text to a function, part by part, up to the first bytes that are no text; returns
    /// whether all are.
    fn characters<H: ByteHeap<Names = N>, E>(
        &self,
        heap: &H,
        mut see: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<bool, E> {
        // The beginning of a character that goes on in the next piece.
        let (mut begun, mut count) = ([0; 4], 0);
        for slice in self.bytes.slices(heap) {
            let mut rest = slice;
            while count > 0 && !rest.is_empty() {
                if count == begun.len() {
                    return Ok(false);
                }
                begun[count] = rest[0];
                (count, rest) = (count + 1, &rest[1..]);
                if let Ok(character) = core::str::from_utf8(&begun[..count]) {
                    see(character)?;
                    count = 0;
                }
            }
            let (whole, is_text) = match core::str::from_utf8(rest) {
                Ok(text) => (text.len(), true),
                Err(error) => (error.valid_up_to(), error.error_len().is_none()),
            };
            let (text, next) = rest.split_at(whole);
            see(core::str::from_utf8(text).expect("it was verified"))?;
            if !is_text {
                return Ok(false);
            }
            begun[count..count + next.len()].copy_from_slice(next);
            count += next.len();
        }
        Ok(count == 0)
    }

    /// A copy. Moves nothing.
    ///
    /// # Errors
    /// What was exhausted, or [`Refused::ForeignHandle`].
    pub fn try_clone<H: ByteHeap<Names = N>>(&self, heap: &H) -> Result<Self, Refused> {
        let bytes = self.bytes.try_clone(heap)?;
        Ok(Self { bytes })
    }

    /// Frees the text. May move objects.
    ///
    /// # Panics
    /// If it belongs to another heap.
    pub fn free<H: ByteHeap<Names = N>>(self, heap: &mut H) {
        self.bytes.free(heap);
    }

    /// Verifies the bytes, and that they are UTF-8.
    ///
    /// # Errors
    /// As [`Vec::check`]; S1 if the bytes are no text.
    ///
    /// # Complexity
    /// As [`Vec::check`], and O(length).
    pub fn check<H: ByteHeap<Names = N>>(&self, heap: &H) -> Result<(), Corruption> {
        self.bytes.check(heap)?;
        let is_text = self.characters(heap, |_| Ok::<(), Infallible>(()));
        ensure(
            is_text == Ok(true),
            "S1",
            "the bytes are no text",
            self.len(),
        )
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::vec;
    use core::mem::MaybeUninit;

    use surefit_compact::{Config, Heap};

    use super::{ByteString, String};

    static CONFIG: Config = match Config::DEFAULT.with_pieces(Some(64)) {
        Ok(config) => config,
        Err(_) => panic!("a power of two"),
    };

    #[test]
    fn bytes_that_are_no_text_are_found_out() {
        let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
        let mut heap: Heap<'_> = Heap::new(&mut memory, &CONFIG).expect("large enough");
        for len in [0, 20, 61, 62, 63, 64, 200] {
            for (tail, is_text) in [
                (&b"\xE2\x82\xAC"[..], true), // the sign of the euro
                (b"\xE2\x82", false),
                (b"\xE2\x82\xE2\x82\xAC", false),
                (b"\xFF", false),
                (b"\x80a", false),
                (b"\xF0\x9F\xA6\x80", true),
            ] {
                let mut bytes = ByteString::from_bytes(&heap, &vec![b'a'; len]).expect("room");
                bytes.push_bytes(&mut heap, tail).expect("room");
                assert_eq!(bytes.check(&heap), Ok(()));
                let text = String { bytes };
                let found = text.check(&heap).map_err(|found| found.invariant);
                let expected = if is_text { Ok(()) } else { Err("S1") };
                assert_eq!(found, expected, "{tail:?} behind {len}");
                text.free(&mut heap);
            }
        }
        assert_eq!(heap.live_blocks().count(), 0);
    }
}
