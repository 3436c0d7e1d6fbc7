//! What one thread does with a shared direct heap: allocate, free, resize.

use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

use lock_api::RawMutex;

use super::chain::Free;
use super::common::{Common, GROUPS};
use super::division::GRANULES;
use super::free_list::FreeList;
use super::instance::Instance;
use super::memory::{Kind, Record, Span};
use super::misuse::Misuse;
use super::mixed::{object_bytes, used_at};
use super::sizes::{Class, GRANULE, Slot, UNIT_BYTES};
use super::source::{Fixed, Source};

/// A thread's own instance of a [`SharedDirect`](super::SharedDirect). It belongs to the thread
/// that has this value. Dropping it leaves the instance, with the objects in it, to a thread that
/// joins later; as [`trim`](Local::trim), that is linear in what is freed and given back.
pub struct Local<'h, L: RawMutex, S: Source = Fixed> {
    common: &'h Common<L, S>,
    own: &'h Instance,
    one_thread: PhantomData<*mut ()>,
}

// SAFETY: the instance is whoever's has the value (S2 of `common`); nothing in it is bound to a
// thread.
unsafe impl<L: RawMutex + Sync, S: Source> Send for Local<'_, L, S> {}

impl<L: RawMutex, S: Source> fmt::Debug for Local<'_, L, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local")
            .field("number", &self.number())
            .finish_non_exhaustive()
    }
}

impl<L: RawMutex, S: Source> Drop for Local<'_, L, S> {
    fn drop(&mut self) {
        self.common.leave(self.own);
    }
}

impl<'h, L: RawMutex, S: Source> Local<'h, L, S> {
    #[inline]
    pub(super) fn new(common: &'h Common<L, S>, own: &'h Instance) -> Self {
        Self {
            common,
            own,
            one_thread: PhantomData,
        }
    }

    /// M2 and M3 alone: an object of up to 1,024 bytes from the free list of its class, in an
    /// instance that is named by its address. `None` if that list is empty: ask
    /// [`allocate`](Local::allocate).
    ///
    /// # Safety
    /// `own` came from [`into_raw`](Local::into_raw), and the instance is this thread's; or it is
    /// [`Nobody`](super::Nobody)'s.
    #[inline]
    #[must_use]
    pub unsafe fn allocate_from_list(own: NonNull<u8>, bytes: usize) -> Option<NonNull<u8>> {
        // SAFETY: the caller's.
        let own: &Instance = unsafe { own.cast().as_ref() };
        let block = own.list_at(Slot::of_small(bytes)?).pop()?;
        Some(block.into_object())
    }

    /// The instance's number, from 1 on.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.own.number()
    }

    /// The instance as an address, for a thread-local word. Nothing is dropped: the instance stays
    /// this thread's, and [`from_raw`](Local::from_raw) takes it back.
    #[must_use]
    pub fn into_raw(self) -> NonNull<u8> {
        let own = NonNull::from(self.own).cast();
        core::mem::forget(self);
        own
    }

    /// An object of `bytes` bytes aligned to `align`, a power of two (16 at least is given). `None`
    /// if there is no memory, or `align` is no power of two.
    ///
    /// # Complexity
    /// O(1), but for what other threads freed of this instance, which is taken back before a page
    /// is opened, for memory that goes back to the source, and for memory that went back: if only
    /// runs of free units that hold memory and runs that do not are long enough together, it is
    /// linear in those that it joins until one is. Where there is no unit for a page, it is linear
    /// in the size-classes, and in the lines of the pages that it looks at.
    #[inline]
    #[must_use]
    pub fn allocate(&self, bytes: usize, align: usize) -> Option<NonNull<u8>> {
        if !matches!(align, 1 | 2 | 4 | 8 | GRANULE) {
            return self.allocate_aligned(bytes, align);
        }
        match Class::of(bytes) {
            Some(class) => self.allocate_block(class),
            None => self.allocate_run(bytes, 1, false),
        }
    }

    /// As [`allocate`](Local::allocate), for an object whose bytes are all zero.
    #[must_use]
    pub fn allocate_zeroed(&self, bytes: usize, align: usize) -> Option<NonNull<u8>> {
        if !align.is_power_of_two() {
            return None;
        }
        let Some(class) = Class::of_aligned(bytes, align) else {
            return self.allocate_run(bytes, align, true);
        };
        let object = self.allocate_block(class)?;
        // SAFETY: it was just allocated, and has so many bytes.
        unsafe { self.common.memory().clear(object, bytes) };
        Some(object)
    }

    #[inline]
    fn allocate_block(&self, class: Class) -> Option<NonNull<u8>> {
        match self.own.free_list(class).pop() {
            Some(block) => Some(block.into_object()),
            None => self.refill(class),
        }
    }

    #[cold]
    #[inline(never)]
    fn refill(&self, class: Class) -> Option<NonNull<u8>> {
        let nobody_else = self.common.checking();
        let block = self.common.refill(self.own, class);
        drop(nobody_else);
        self.common.look(self.own);
        self.tell();
        block.map(Free::into_object)
    }

    /// Tells the source that the soft limit was passed. A thread with a group's lock does this
    /// after it unlocked.
    fn tell(&self) {
        if self.number() as usize > GROUPS {
            self.common.tell();
        }
    }

    #[cold]
    #[inline(never)]
    fn allocate_aligned(&self, bytes: usize, align: usize) -> Option<NonNull<u8>> {
        if !align.is_power_of_two() {
            return None;
        }
        match Class::of_aligned(bytes, align) {
            Some(class) => self.allocate_block(class),
            None => self.allocate_run(bytes, align, false),
        }
    }

    #[cold]
    #[inline(never)]
    fn allocate_run(&self, bytes: usize, align: usize, zero: bool) -> Option<NonNull<u8>> {
        let units = u32::try_from(bytes.max(1).div_ceil(UNIT_BYTES)).ok()?;
        let taken = self.common.take_units(units, align, zero)?;
        self.tell();
        let object = self.common.memory().address(taken.start);
        if zero && !taken.zero {
            // SAFETY: it was just allocated, and has so many bytes.
            unsafe { self.common.memory().clear(object, bytes) };
        }
        Some(object)
    }

    /// Frees an object of this heap, whichever thread allocated it. Misuse that is found is
    /// ignored.
    ///
    /// # Safety
    /// [`try_free`](Local::try_free)'s.
    #[inline]
    pub unsafe fn free(&self, object: NonNull<u8>) {
        // SAFETY: the caller's.
        let _found = unsafe { self.try_free(object) };
    }

    /// Frees an object of this heap, whichever thread allocated it. O(1) without checks.
    ///
    /// # Safety
    /// The object is live, and nobody uses it afterwards; except for the misuse that is found.
    ///
    /// # Errors
    /// The misuse that was found, and then nothing was done.
    #[inline]
    pub unsafe fn try_free(&self, object: NonNull<u8>) -> Result<(), Misuse> {
        let memory = self.common.memory();
        let Some(unit) = memory.unit_of(object.as_ptr()) else {
            return Err(Misuse::Foreign);
        };
        let slot = memory.slot(unit);
        let list = self.own.list_at(slot);
        // SAFETY: the caller's; what is found to be misuse is not linked.
        let block = unsafe { Free::of(object) };
        let Err(block) = list.put(block) else {
            return Ok(());
        };
        if slot == Slot::MIXED {
            return self.common.free_mixed(self.own, unit, block);
        }
        if list.is_run_down() {
            return self.free_and_look(list, block);
        }
        let owner = memory.owner(unit);
        if owner != self.own.number() {
            return match self.own.send_soon(slot, owner, block) {
                Ok(()) => Ok(()),
                Err(block) => self.common.free_elsewhere(self.own, unit, block),
            };
        }
        let record = memory.first_record(unit);
        match record.put_back(block) {
            Ok(()) => Ok(()),
            Err(block) => self.common.free_slowly(self.own, record, block),
        }
    }

    /// Frees a page-block into the free list that is run down, and looks whether memory is due.
    #[cold]
    #[inline(never)]
    fn free_and_look(&self, list: FreeList<'_>, block: Free) -> Result<(), Misuse> {
        list.wind_up();
        let kept = list.put(block);
        self.common.look(self.own);
        // It has room.
        kept.map_err(|_| Misuse::NoObject)
    }

    /// Changes the size of an object of this heap to `bytes`, and keeps the alignment `align` that
    /// it was allocated with. `None` if there is no memory: the object stays as it is.
    ///
    /// It stays in place if its page-block serves the new size, and one that a new object of that
    /// size and alignment would get is at most a quarter shorter; or if its units do, or the units
    /// behind a large object are free.
    ///
    /// # Complexity
    /// O(1) in place, and otherwise linear in the bytes that are copied; but for memory that goes
    /// back to the source, and for what [`allocate`](Local::allocate) says of a new place.
    ///
    /// # Safety
    /// As [`try_free`](Local::try_free), if the result is another address. `align` is at most what
    /// the object was allocated with: one that stays in place keeps its address.
    ///
    /// # Errors
    /// The misuse that was found.
    pub unsafe fn resize(
        &self,
        object: NonNull<u8>,
        bytes: usize,
        align: usize,
    ) -> Result<Option<NonNull<u8>>, Misuse> {
        let memory = self.common.memory();
        let record = memory.record_around(object.as_ptr());
        let record = record.ok_or(Misuse::Foreign)?;
        let had = object_bytes(memory, record, object.as_ptr());
        let had = had.ok_or(Misuse::NoObject)?;
        if align.is_power_of_two() && self.resize_in_place(record, had, bytes, align) {
            return Ok(Some(object));
        }
        let Some(new) = self.allocate(bytes, align) else {
            return Ok((bytes <= had).then_some(object));
        };
        // SAFETY: both are live, different, and hold the lesser size.
        unsafe { self.common.memory().copy(object, new, had.min(bytes)) };
        // SAFETY: the caller's.
        unsafe { self.try_free(object) }?;
        Ok(Some(new))
    }

    #[inline]
    fn resize_in_place(&self, record: &Record, had: usize, bytes: usize, align: usize) -> bool {
        let class = Class::of_aligned(bytes, align);
        if record.kind() != Kind::Run {
            return class.is_some_and(|class| class.fills(had));
        }
        let start = self.common.memory().span_of(record);
        class.is_none() && self.resize_run(start, had / UNIT_BYTES, bytes)
    }

    fn resize_run(&self, start: Span, had: usize, bytes: usize) -> bool {
        let common = self.common;
        let (Ok(had), Ok(units)) = (
            u32::try_from(had),
            u32::try_from(bytes.max(1).div_ceil(UNIT_BYTES)),
        ) else {
            return false;
        };
        if units > had {
            let extended = common.extend(start, units);
            self.tell();
            return extended;
        }
        if units < had {
            common.shorten(start, units);
        }
        true
    }

    /// Whether the program should move the object to a new place, if it can: its size-class has
    /// more than `most` not-full pages here (κ; 0 counts as 1), and the object lies in one that new
    /// objects of the class will not fill next. Of mixed pages, those of all classes count, and a
    /// quarter must be free in one where no new object fits. Large objects and those of other
    /// instances: `false`. O(`most`); the first question about a class also empties its free list
    /// into pages, and from then on this thread's frees of the class go there.
    ///
    /// See [`DirectHeap::defrag_hint`](crate::DirectHeap::defrag_hint).
    #[must_use]
    pub fn defrag_hint(&self, object: NonNull<u8>, most: u32) -> bool {
        let memory = self.common.memory();
        let Some(page) = memory.around(object.as_ptr()) else {
            return false;
        };
        let record = memory.record(page);
        if memory.owner(page) != self.own.number() {
            return false;
        }
        let (class, is_mixed) = match record.kind() {
            Kind::Page(class) => (Some(class), false),
            Kind::Mixed => (used_at(memory, object.as_ptr()), true),
            _ => (None, false),
        };
        let Some(class) = class else {
            return false;
        };
        let _nobody_else = self.common.checking();
        if !self.own.free_list(class).is_passed_by() {
            // Else the new place would be what was freed last, in a page like this one.
            self.common.empty_free_list(self.own, class);
            self.own.free_list(class).pass_by();
        }
        match is_mixed {
            true => self.is_worth_emptying(page, record, most),
            false => {
                self.own.lists(class, page, record)
                    && self.is_behind(self.own.first(class), page, most.max(1))
            }
        }
    }

    /// Whether a mixed page is none of those that are divided next, or has much free in runs that
    /// are too short.
    fn is_worth_emptying(&self, page: Span, record: &Record, most: u32) -> bool {
        if !self.own.lists_mixed(page, record) {
            let granules = record.units.get() as usize * GRANULES;
            return usize::from(record.opened.get()) * 4 <= granules * 3;
        }
        self.is_behind(self.own.first_mixed(), page, most.max(1))
    }

    /// Whether a page is none of the `most` of a list that come next.
    fn is_behind(&self, first: Span, page: Span, most: u32) -> bool {
        let mut next = first;
        for _ in 0..most {
            if next == page || next == Span::NONE {
                return false;
            }
            next = self.common.memory().record(next).next.get();
        }
        true
    }

    /// Delivers this thread's remote frees, and gives back the memory that its own instance keeps
    /// without objects.
    ///
    /// # Complexity
    /// Linear in what is freed and given back.
    pub fn trim(&self) {
        self.common.empty_free_lists(self.own);
        self.common.deliver_all(self.own);
        let _nobody_else = self.common.checking();
        self.common.trim(self.own);
    }
}
