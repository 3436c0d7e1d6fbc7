//! Byte strings and strings.
#![deny(unsafe_code)]

use core::convert::Infallible;
use core::fmt;
use core::hash::Hasher;

use surefit_core::Refused;

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

impl<N: Names> ByteString<N> {
    /// No bytes, and no object.
    pub const fn new() -> Self {
        Self { bytes: Vec::new() }
    }

    /// A copy of these bytes, without room for more. Moves nothing.
    ///
    /// # Errors
    /// What was exhausted.
    pub fn from_bytes<H: ByteHeap<Names = N>>(heap: &H, source: &[u8]) -> Result<Self, Refused> {
        let mut bytes = Vec::with_capacity(heap, source.len())?;
        bytes.fill_from_slice(heap, source);
        Ok(Self { bytes })
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
        let mut bytes = Vec::with_capacity(heap, self.len())?;
        for slice in self.slices(heap) {
            bytes.fill_from_slice(heap, slice);
        }
        Ok(Self { bytes })
    }

    /// Frees the bytes. May move objects.
    ///
    /// # Panics
    /// If they belong to another heap.
    pub fn free<H: ByteHeap<Names = N>>(self, heap: &mut H) {
        self.bytes.free(heap);
    }

    /// Feeds bytes to a hasher: in pieces of the heap's, so that it makes no difference whether
    /// they lie in pieces.
    fn hash<H: ByteHeap, S: Hasher>(
        slices: impl Iterator<Item: AsRef<[u8]>>,
        heap: &H,
        state: &mut S,
    ) {
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
}

impl<N: Names> Default for ByteString<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<N: Names> fmt::Debug for ByteString<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ByteString({} bytes)", self.len())
    }
}

impl<N: Names, H: ByteHeap<Names = N>> Release<H> for ByteString<N> {
    fn release(self, heap: &mut H) {
        self.free(heap);
    }
}

impl<N: Names, H: ByteHeap<Names = N>> TryClone<H> for ByteString<N> {
    type Partial = Infallible;

    fn try_clone_in(&self, heap: &H) -> Result<Self, (Option<Infallible>, Refused)> {
        self.try_clone(heap).map_err(|refused| (None, refused))
    }
}

impl<N: Names, H: ByteHeap<Names = N>> Lookup<H, [u8]> for ByteString<N> {
    #[inline]
    fn hash_of<S: Hasher>(query: &[u8], heap: &H, state: &mut S) {
        Self::hash(core::iter::once(query), heap, state);
    }

    #[inline]
    fn is(&self, query: &[u8], heap: &H) -> bool {
        self.equals(heap, query)
    }
}

impl<N: Names, H: ByteHeap<Names = N>> Lookup<H, Self> for ByteString<N> {
    #[inline]
    fn hash_of<S: Hasher>(query: &Self, heap: &H, state: &mut S) {
        Self::hash(query.slices(heap), heap, state);
    }

    #[inline]
    fn is(&self, query: &Self, heap: &H) -> bool {
        let piece = heap.piece_bytes();
        let pieces = self.slices(heap).flat_map(|slice| slice.chunks(piece));
        let others = query.slices(heap).flat_map(|slice| slice.chunks(piece));
        self.len() == query.len() && pieces.zip(others).all(|(a, b)| a == b)
    }
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
        // The beginning of a character that goes on in the next piece.
        let (mut begun, mut count) = ([0; 4], 0);
        for slice in self.bytes.slices(heap) {
            let mut rest = slice;
            while count > 0 && !rest.is_empty() {
                begun[count] = rest[0];
                (count, rest) = (count + 1, &rest[1..]);
                if let Ok(character) = core::str::from_utf8(&begun[..count]) {
                    f.write_str(character)?;
                    count = 0;
                }
            }
            let whole = match core::str::from_utf8(rest) {
                Ok(text) => text.len(),
                Err(error) => error.valid_up_to(),
            };
            let (text, next) = rest.split_at(whole);
            f.write_str(core::str::from_utf8(text).expect("it was verified"))?;
            begun[count..count + next.len()].copy_from_slice(next);
            count += next.len();
        }
        Ok(())
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
}

impl<N: Names> Default for String<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<N: Names> fmt::Debug for String<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "String({} bytes)", self.len())
    }
}

impl<N: Names, H: ByteHeap<Names = N>> Release<H> for String<N> {
    fn release(self, heap: &mut H) {
        self.free(heap);
    }
}

impl<N: Names, H: ByteHeap<Names = N>> TryClone<H> for String<N> {
    type Partial = Infallible;

    fn try_clone_in(&self, heap: &H) -> Result<Self, (Option<Infallible>, Refused)> {
        self.try_clone(heap).map_err(|refused| (None, refused))
    }
}

impl<N: Names, H: ByteHeap<Names = N>> Lookup<H, str> for String<N> {
    #[inline]
    fn hash_of<S: Hasher>(query: &str, heap: &H, state: &mut S) {
        <ByteString<N> as Lookup<H, [u8]>>::hash_of(query.as_bytes(), heap, state);
    }

    #[inline]
    fn is(&self, query: &str, heap: &H) -> bool {
        self.equals(heap, query)
    }
}

impl<N: Names, H: ByteHeap<Names = N>> Lookup<H, Self> for String<N> {
    #[inline]
    fn hash_of<S: Hasher>(query: &Self, heap: &H, state: &mut S) {
        <ByteString<N> as Lookup<H, ByteString<N>>>::hash_of(&query.bytes, heap, state);
    }

    #[inline]
    fn is(&self, query: &Self, heap: &H) -> bool {
        <ByteString<N> as Lookup<H, ByteString<N>>>::is(&self.bytes, &query.bytes, heap)
    }
}
