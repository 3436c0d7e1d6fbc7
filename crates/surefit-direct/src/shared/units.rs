//! Where the units of a heap are: all that the fastest free of a process needs to know of it.

use core::ptr::NonNull;

use super::chain::Free;
use super::memory::Memory;

/// Where the units of a [`SharedDirect`](super::SharedDirect) are, or of no heap: an allocator of a
/// process can free with it before there is a heap, without a look at whether there is one.
#[derive(Clone, Copy, Debug)]
pub struct Units<'m>(&'m Memory);

/// The memory of no heap.
struct Nowhere(Memory);

// SAFETY: it is never written, since it has no unit; nothing lies behind its addresses.
unsafe impl Sync for Nowhere {}

static NOWHERE: Nowhere = Nowhere(Memory::nowhere());

impl Units<'static> {
    /// The units of no heap: nothing that is freed lies there.
    #[must_use]
    pub const fn none() -> Self {
        Self(&NOWHERE.0)
    }

    /// As an address, for a word of the process.
    #[inline]
    #[must_use]
    pub const fn into_raw(self) -> *mut u8 {
        core::ptr::from_ref(self.0).cast_mut().cast()
    }

    /// The units that [`into_raw`](Units::into_raw) named.
    ///
    /// # Safety
    /// The address came from there.
    #[inline]
    #[must_use]
    pub unsafe fn from_raw(units: *mut u8) -> Self {
        // SAFETY: the caller's: it came from a reference that lives as long as the process.
        Self(unsafe { NonNull::new_unchecked(units).cast().as_ref() })
    }
}

impl<'m> Units<'m> {
    pub(super) const fn of(memory: &'m Memory) -> Self {
        Self(memory)
    }

    /// F1 alone: frees an object of the instance with a [number](super::Local::number), in a page
    /// that holds others and is not full. `false`, and nothing was done, if that is not so, or it
    /// is null: ask [`try_free`](super::Local::try_free). O(1).
    ///
    /// # Safety
    /// As there; the instance is this thread's, or the number 0.
    #[inline]
    pub unsafe fn put_back(self, own: u16, object: *mut u8) -> bool {
        let Some(record) = self.0.record_around(object) else {
            return false;
        };
        // SAFETY: inside the region, so not null; the caller's; if it is no such object, it is not
        // used here.
        let block = unsafe { Free::of(NonNull::new_unchecked(object)) };
        // M4: what is no page is owned by 0, and F1 is never enough for it.
        record.owner() == own && record.put_back(block).is_ok()
    }
}
