//! Where an object is, and the words that the arena keeps behind it.
//!
//! ```text
//! | header | value             | ... | link | kind |   a chunk; `...` is left over by rounding
//!          8 bytes * number            the last words of the payload
//! ```
//! `kind` is the number of the object's type. `link` exists only if the object is finalizable: it
//! names the next finalizable object. Both lie at the payload's end. So a node of two references
//! takes 24 bytes; with both before the value, which is aligned to eight, it would take 32.
//!
//! # Invariants
//! - A2: The last word of every live object's payload is the number of its kind. If objects of that
//!   kind are finalizable, the word before it is the number of a finalizable object, or 0. Neither
//!   word is part of the value: `claim` asks for room for them.

use core::ptr::NonNull;

use surefit_freelist::{Heap, Index};

/// Bytes of a word behind a value.
pub(super) const WORD: usize = 4;

/// The payload of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) object: NonNull<u8>,
    pub(super) bytes: usize,
}

impl Place {
    /// Where an object is, by its number.
    ///
    /// # Safety
    /// S1: a live object of the heap has the number.
    #[inline]
    pub(super) unsafe fn of<I: Index>(heap: &Heap<'_, I>, number: u32) -> Self {
        Self {
            // SAFETY: S1.
            object: unsafe { heap.payload(number) },
            // SAFETY: S1.
            bytes: unsafe { heap.payload_bytes(number) },
        }
    }

    /// A word behind the value, counted from the end of the payload.
    ///
    /// # Safety
    /// S1: the payload has at least this many words.
    #[inline]
    unsafe fn word(&self, from_end: usize) -> NonNull<u32> {
        // SAFETY: S1: inside the payload.
        unsafe { self.object.add(self.bytes - from_end * WORD) }.cast()
    }

    /// The number of the object's kind.
    ///
    /// # Safety
    /// S1: the object is live, and its kind was written (A2).
    #[inline]
    pub(super) unsafe fn kind(&self) -> u32 {
        // SAFETY: every payload has at least three words.
        let word = unsafe { self.word(1) };
        // SAFETY: inside a live payload, aligned (payloads end at a multiple of four), written
        // (S1), behind the value (A2).
        unsafe { word.read() }
    }

    /// Writes the number of the object's kind.
    ///
    /// # Safety
    /// S1: the object is live, and its value ends at least a word before the payload does.
    #[inline]
    pub(super) unsafe fn set_kind(&self, kind: u32) {
        // SAFETY: every payload has at least three words.
        let word = unsafe { self.word(1) };
        // SAFETY: inside a live payload, aligned as above, and behind the value (S1), so that
        // nobody refers to it.
        unsafe { word.write(kind) }
    }

    /// The next finalizable object.
    ///
    /// # Safety
    /// S1: the object is live and finalizable, and its link was written (A2).
    #[inline]
    pub(super) unsafe fn link(&self) -> u32 {
        // SAFETY: every payload has at least three words.
        let word = unsafe { self.word(2) };
        // SAFETY: inside a live payload, aligned as above, written (S1), behind the value (A2).
        unsafe { word.read() }
    }

    /// Writes the number of the next finalizable object.
    ///
    /// # Safety
    /// S1: the object is live, and its value ends at least two words before the payload does.
    #[inline]
    pub(super) unsafe fn set_link(&self, next: u32) {
        // SAFETY: every payload has at least three words.
        let word = unsafe { self.word(2) };
        // SAFETY: inside a live payload, aligned as above, and behind the value (S1), so that
        // nobody refers to it.
        unsafe { word.write(next) }
    }
}
