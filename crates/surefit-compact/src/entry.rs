//! Byte objects named by the number of their entry alone: four bytes, for programs that keep names
//! inside objects, as an index or a linked list does.
//!
//! What `Box::into_raw` and `Box::from_raw` are to boxes: the caller keeps the number and the
//! length, and promises to name only live objects. The number does not change when the object
//! moves; only [`Heap::renumber`] changes it.
//!
//! # Source
//! Ours.

use crate::handle::{Byte, Bytes, Name};
use crate::heap::Heap;
use crate::width::Width;

impl<B: Byte> Bytes<B> {
    /// Gives up a handle for the number of its entry. The object stays live until
    /// [`Bytes::from_entry`] makes a handle again and that handle is freed.
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    #[inline]
    #[must_use = "dropping the number leaks the object"]
    pub fn into_entry<W: Width<Generation = ()>>(self, heap: &Heap<'_, W>) -> u32 {
        assert!(
            heap.own(self.name).is_ok(),
            "the handle belongs to another heap"
        );
        self.name.index()
    }

    /// Makes a handle from the number of an entry, as if it were the one that was given up.
    ///
    /// # Safety
    /// S1: [`Bytes::into_entry`] of this heap returned the number, and the object is live. S2:
    /// `len` is the object's length; for an object that is not in pieces, a smaller length is also
    /// correct. S3: as long as two handles name the object, none of them is freed, resized,
    /// renumbered or used for a mutable access while another is in use. S4: if `B` is `u8`, the
    /// object's first `len` bytes were written.
    #[inline]
    #[must_use = "dropping the handle leaks the object"]
    pub unsafe fn from_entry<W: Width<Generation = ()>>(
        heap: &Heap<'_, W>,
        entry: u32,
        len: usize,
    ) -> Self {
        Self::new(Name::new(entry, heap.id), len)
    }
}
