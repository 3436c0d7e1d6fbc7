//! The heap under the cache: objects of bytes, each named by a word of four or eight bytes.
//!
//! The cache keeps names inside its objects, so a name is plain data. It does not own its object,
//! and nothing checks whether the object is live: that is the contract of the unsafe functions.

pub mod malloc;
pub mod surefit;
pub mod tlsf;

use std::fmt::Debug;

/// A name of an object, as the cache stores it in bytes.
pub trait Name: Copy + Ord + Debug {
    /// Names no object.
    const NIL: Self;
    /// The bytes of a name in memory.
    const BYTES: usize;

    /// Reads a name from the first [`Name::BYTES`] bytes.
    fn load(bytes: &[u8]) -> Self;

    /// Writes the name to the first [`Name::BYTES`] bytes.
    fn save(self, bytes: &mut [u8]);
}

impl Name for u32 {
    const NIL: Self = u32::MAX;
    const BYTES: usize = 4;

    #[inline]
    fn load(bytes: &[u8]) -> Self {
        u32::from_le_bytes(*bytes.first_chunk().expect("a name has four bytes"))
    }

    #[inline]
    fn save(self, bytes: &mut [u8]) {
        bytes[..4].copy_from_slice(&self.to_le_bytes());
    }
}

/// A heap of byte objects.
pub trait Store: 'static {
    /// What names an object.
    type Name: Name;

    /// The key of this store in options and in reports.
    const KEY: &'static str;

    /// The longest object that is always contiguous, in bytes.
    const WHOLE_BYTES: usize;

    /// Allocates an object of `len` bytes, or returns `None` if there is no room. Its bytes are not
    /// initialised.
    fn allocate(&mut self, len: usize) -> Option<Self::Name>;

    /// Frees an object.
    ///
    /// # Safety
    /// S1: [`Store::allocate`] of this store returned `name` for `len`, and it is live.
    unsafe fn free(&mut self, name: Self::Name, len: usize);

    /// The bytes of an object from `offset` to its end, or to the end of the piece that holds them.
    /// An object up to [`Store::WHOLE_BYTES`] is one piece.
    ///
    /// # Panics
    /// If `offset` is above `len`.
    ///
    /// # Safety
    /// S1: `name` is live. S2: `len` is the length with which it was allocated or, if that is at
    /// most [`Store::WHOLE_BYTES`], a smaller one. S3: the bytes were written.
    unsafe fn read(&self, name: Self::Name, len: usize, offset: usize) -> &[u8];

    /// As [`Store::read`], for bytes that are changed.
    ///
    /// # Panics
    /// If `offset` is above `len`.
    ///
    /// # Safety
    /// As [`Store::read`].
    unsafe fn edit(&mut self, name: Self::Name, len: usize, offset: usize) -> &mut [u8];

    /// Writes bytes to an object, from `offset` on.
    ///
    /// # Panics
    /// If the bytes go beyond `len`.
    ///
    /// # Safety
    /// S1, S2 as for [`Store::read`].
    unsafe fn write(&mut self, name: Self::Name, len: usize, offset: usize, bytes: &[u8]);

    /// The bytes of memory that the store holds for live objects, its own tables included, as far
    /// as it knows: `INFO memory` shows them.
    fn held_bytes(&self) -> usize;

    /// Housekeeping between commands, at `now` in milliseconds: gives memory back that was not used
    /// for a while.
    fn tick(&mut self, _now: u64) {}

    /// Whether [`Store::renumber`] does anything.
    const RENUMBERS: bool = false;

    /// Gives live objects, with their lengths, other names if that makes the store's tables
    /// smaller. From then on their old names name nothing.
    ///
    /// # Safety
    /// S1: [`Store::allocate`] of this store returned each name for the length beside it, it is
    /// live, and none stands there twice.
    unsafe fn renumber(&mut self, _objects: &mut [(Self::Name, usize)]) {}

    /// Gives back what can be given back at once.
    fn purge(&mut self) {}
}
