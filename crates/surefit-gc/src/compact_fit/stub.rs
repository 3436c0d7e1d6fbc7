//! The numbers of objects and the entries of the heap; the stub of an object in pieces.

use core::ptr::NonNull;

use crate::object::Object;

/// Bytes of a word of an object.
pub(super) const WORD: usize = 4;

/// Bytes of a stub: the object's words, and the entry of its spine.
pub(super) const STUB: usize = 2 * WORD;

/// An object in pieces that is being freed in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dying {
    /// The entry of its stub.
    pub(super) stub: u32,
    /// How many parts are freed.
    pub(super) freed: usize,
}

/// The number of the object with an entry.
#[inline]
const fn number(entry: u32) -> u32 {
    2 * (entry + 1)
}

/// The object with an entry.
#[inline]
pub(super) fn object(entry: u32) -> Object {
    Object::of(number(entry)).expect("entries are few enough")
}

/// The entry of an object.
#[inline]
pub(super) const fn entry(object: Object) -> u32 {
    object.number() / 2 - 1
}

/// How many words an object in pieces has, and the entry of its spine, as its stub says.
///
/// # Safety
/// S1: `stub` is the page-block of a live stub.
#[inline]
pub(super) unsafe fn read_stub(stub: NonNull<u8>) -> (u32, u32) {
    // SAFETY: S1: `allocate_in_pieces` wrote both, and page-blocks are aligned to 8.
    unsafe { stub.cast::<[u32; 2]>().read() }.into()
}
