//! Where the units of a heap are: all that the fastest free of a process needs to know of it.

use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::chain::Free;
use super::instance::Instance;
use super::memory::Memory;
use super::mixed::{class_in, free_simply};
use super::sizes::Slot;

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

/// The instance of no thread: it has nothing and takes nothing. An allocator of a process names it
/// where a thread has none yet, and its fastest calls need not ask whether the thread has one.
#[derive(Debug)]
pub struct Nobody(Instance);

// SAFETY: it is never written. Its lists have nothing to give and no room, as its batches, of which
// none was begun. It owns no page: no slot names its number, 0, but those of what is no page, of
// which F1 frees nothing (M4).
unsafe impl Sync for Nobody {}

impl Nobody {
    /// The instance of no thread.
    #[must_use]
    pub const fn new() -> Self {
        // SAFETY: zeros are an instance that was never used.
        Self(unsafe { MaybeUninit::zeroed().assume_init() })
    }

    /// As [`Local::into_raw`](super::Local::into_raw), for
    /// [`allocate_from_list`](super::Local::allocate_from_list) and [`put_back`](Units::put_back)
    /// alone.
    #[inline]
    #[must_use]
    pub fn into_raw(&'static self) -> NonNull<u8> {
        NonNull::from(&self.0).cast()
    }
}

impl Default for Nobody {
    fn default() -> Self {
        Self::new()
    }
}

impl<'m> Units<'m> {
    pub(super) const fn of(memory: &'m Memory) -> Self {
        Self(memory)
    }

    /// F0 and F1 alone: frees an object into the free list of its class, if that has room, or into
    /// a page of the instance that holds others and is not full, or into a batch for another
    /// instance that was begun and does not become full. `false`, and nothing was done, if none is
    /// so, it is null, and now and then: ask [`try_free`](super::Local::try_free). O(1).
    ///
    /// # Safety
    /// As there; `own` came from [`into_raw`](super::Local::into_raw), the instance is this
    /// thread's, and of the heap of these units if they are a heap's; or it is [`Nobody`]'s.
    #[inline]
    pub unsafe fn put_back(self, own: NonNull<u8>, object: *mut u8) -> bool {
        // SAFETY: the caller's.
        let own: &Instance = unsafe { own.cast().as_ref() };
        let Some(unit) = self.0.unit_of(object) else {
            return false;
        };
        let list = own.list_at(self.0.slot(unit));
        // SAFETY: inside the region, so not null; the caller's; if it is no such object, it is not
        // used here.
        let block = unsafe { Free::of(NonNull::new_unchecked(object)) };
        let Err(block) = list.put(block) else {
            return true;
        };
        if list.is_run_down() {
            return false;
        }
        // M5: what is no page is owned by 0, as M4 expects of what no instance owns.
        let owner = self.0.owner(unit);
        let put = if owner == own.number() {
            self.0.first_record(unit).put_back(block)
        } else {
            own.send_soon(self.0.slot(unit), owner, block)
        };
        put.is_ok()
    }

    /// F0 and N3 alone: as [`Units::put_back`], of an object in a page that serves several classes,
    /// for what that function did not free. `false` as there, and for all other objects. O(1).
    ///
    /// # Safety
    /// As there.
    #[inline]
    pub unsafe fn put_back_mixed(self, own: NonNull<u8>, object: *mut u8) -> bool {
        // SAFETY: the caller's.
        let own: &Instance = unsafe { own.cast().as_ref() };
        let Some(unit) = self.0.unit_of(object) else {
            return false;
        };
        if self.0.slot(unit) != Slot::MIXED {
            return false;
        }
        let Some(class) = class_in(self.0, unit, object) else {
            return false;
        };
        // SAFETY: as `put_back`.
        let block = unsafe { Free::of(NonNull::new_unchecked(object)) };
        let list = own.free_list(class);
        if list.put(block).is_ok() {
            return true;
        }
        let record = self.0.first_record(unit);
        let is_simple = self.0.owner(unit) == own.number() && !list.is_run_down();
        is_simple && free_simply(self.0, record, unit, class, object)
    }
}
