//! Where the units of a heap are: all that the fastest free of a process needs to know of it.

use core::ptr::NonNull;

use super::chain::Free;
use super::instance::Instance;
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

    /// F0 and F1 alone: frees an object into the free list of its class, if that has room, or into
    /// a page of the instance that holds others and is not full. `false`, and nothing was done, if
    /// neither is so, it is null, and now and then: ask [`try_free`](super::Local::try_free). O(1).
    ///
    /// # Safety
    /// As there; `own` came from [`into_raw`](super::Local::into_raw), the instance is this
    /// thread's, and of the heap of these units if they are a heap's.
    #[inline]
    pub unsafe fn put_back(self, own: NonNull<u8>, object: *mut u8) -> bool {
        // SAFETY: the caller's.
        let own: &Instance = unsafe { own.cast().as_ref() };
        let Some(unit) = self.0.record_of(object) else {
            return false;
        };
        // SAFETY: inside the region, so not null; the caller's; if it is no such object, it is not
        // used here.
        let block = unsafe { Free::of(NonNull::new_unchecked(object)) };
        let Err(block) = own.keep(unit, block) else {
            return true;
        };
        let record = self.0.first_record(unit);
        // M4: what is no page is owned by 0.
        record.owner() == own.number() && !own.is_run_down(unit) && record.put_back(block).is_ok()
    }
}
