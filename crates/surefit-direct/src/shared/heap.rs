//! The heap itself: a region, and the threads that join it.

use core::fmt;
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit, forget};
use core::ptr::NonNull;

use lock_api::RawMutex;
use surefit_core::{Corruption, Refused};

use super::common::{Common, GROUPS};
use super::instance::{Instance, State};
use super::local::Local;
use super::memory::{DIVISION_BYTES, Memory, Record, SLOT_BYTES, Span};
use super::sizes::UNIT_BYTES;
use super::source::{Fixed, Source};
use super::units::Units;

/// What a shared direct heap is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The most threads that can have an instance of their own at once, up to 65,527.
    pub threads: u32,
    /// Whether each free is checked for the misuse that [`Misuse`](super::Misuse) names, whichever
    /// thread frees. A free is then O(π), and all allocations and frees take one lock.
    pub checks: bool,
    /// Milliseconds before free memory goes back to its source; `u32::MAX` is never.
    pub delay: u32,
}

/// CF(∞) without abstract addresses for many threads: raw pointers, objects that never move, and
/// for each thread an instance of its own (n-CF).
///
/// Dropping the heap frees nothing: its memory is the region's.
///
/// # Examples
/// ```
/// use core::mem::MaybeUninit;
/// use surefit_direct::shared::{Settings, SharedDirect};
///
/// let mut region = vec![MaybeUninit::uninit(); 1 << 20];
/// let settings = Settings { threads: 2, checks: false, delay: u32::MAX };
/// let heap: SharedDirect<'_, parking_lot::RawMutex> = SharedDirect::new(&mut region, settings)?;
/// std::thread::scope(|threads| {
///     for _ in 0..2 {
///         threads.spawn(|| {
///             let mine = heap.join().unwrap();
///             let object = mine.allocate(100, 16).unwrap();
///             // SAFETY: the object is live.
///             unsafe { mine.free(object) };
///         });
///     }
/// });
/// assert_eq!(heap.stats().instances, 0);
/// # Ok::<(), surefit_core::Refused>(())
/// ```
///
/// # Source
/// Craciunas et al. (2009): the optimised non-compacting variant, n-CF.
pub struct SharedDirect<'m, L, S = Fixed> {
    common: NonNull<Common<L, S>>,
    region: PhantomData<&'m mut [MaybeUninit<u8>]>,
}

// SAFETY: what it leads to is `Sync`, and is not bound to a thread.
unsafe impl<L: RawMutex + Sync, S: Sync> Sync for SharedDirect<'_, L, S> {}
// SAFETY: as above.
unsafe impl<L: RawMutex + Send + Sync, S: Send + Sync> Send for SharedDirect<'_, L, S> {}

impl<L, S> fmt::Debug for SharedDirect<'_, L, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedDirect").finish_non_exhaustive()
    }
}

/// The largest pages that a source may have.
const RECORDS_ALIGN: usize = 64 << 10;

/// Where the tables of a region lie.
#[derive(Clone, Copy, Debug)]
struct Plan {
    places_at: usize,
    records_at: usize,
    slots_at: usize,
    divisions_at: usize,
    places: u16,
    units: u32,
    first: u32,
}

impl Plan {
    /// The tables for so many units and threads; `None` if they leave no unit for objects.
    fn of<L, S: Source>(units: usize, threads: u32) -> Option<Self> {
        let places = places(threads)?;
        let units = units.min((1 << 31) - 1);
        let places_at = size_of::<Common<L, S>>().next_multiple_of(align_of::<Instance>());
        let places_bytes = size_of::<Instance>() * usize::from(places);
        // The tables of a source that takes pages of its own do not share one.
        let apart = if S::PURGES { RECORDS_ALIGN } else { 1 };
        let records_at = places_at
            .checked_add(places_bytes)?
            .checked_next_multiple_of(apart)?;
        let records_bytes = size_of::<Record>().checked_mul(units + 1)?;
        let slots_at = records_at
            .checked_add(records_bytes)?
            .checked_next_multiple_of(apart)?;
        let slots_bytes = SLOT_BYTES.checked_mul(units + 1)?;
        let divisions_at = slots_at
            .checked_add(slots_bytes)?
            .checked_next_multiple_of(apart)?;
        let divisions_bytes = if S::PURGES {
            DIVISION_BYTES.checked_mul(units + 1)?
        } else {
            0
        };
        let first = divisions_at
            .checked_add(divisions_bytes)?
            .checked_next_multiple_of(apart)?
            .div_ceil(UNIT_BYTES);
        let plan = Self {
            places_at,
            records_at,
            slots_at,
            divisions_at,
            places,
            units: u32::try_from(units).ok()?,
            first: u32::try_from(first).ok()?,
        };
        (first < units).then_some(plan)
    }

    /// Bytes of what is shared and of the instances that groups have.
    fn first_bytes(&self) -> usize {
        self.places_at + GROUPS * size_of::<Instance>()
    }
}

impl<'m, L: RawMutex + Sync> SharedDirect<'m, L, Fixed> {
    /// A heap over a region. It uses whole units of 8 KiB.
    ///
    /// # Errors
    /// [`Refused::Region`] if the region does not hold the tables and one unit.
    ///
    /// # Complexity
    /// Linear in the region's tables, which it clears: 40 bytes a unit and some 2 KiB a thread.
    pub fn new(region: &'m mut [MaybeUninit<u8>], settings: Settings) -> Result<Self, Refused> {
        let needed = least_bytes::<L, Fixed>(settings.threads);
        let skipped = region.as_ptr().align_offset(UNIT_BYTES).min(region.len());
        let region = &mut region[skipped..];
        let units = region.len() / UNIT_BYTES;
        let plan =
            Plan::of::<L, Fixed>(units, settings.threads).ok_or(Refused::Region { needed })?;
        region[..plan.first as usize * UNIT_BYTES].fill(MaybeUninit::new(0));
        let base = NonNull::from(region).cast();
        // SAFETY: the region is this heap's for 'm, usable, aligned, and its tables were cleared.
        unsafe { Self::planned(base, plan, settings, Fixed) }.ok_or(Refused::Region { needed })
    }
}

impl<L: RawMutex + Sync, S: Source> SharedDirect<'_, L, S> {
    /// A heap over memory of a source, which commits what is used of it. `base` is the first of
    /// `bytes` bytes.
    ///
    /// # Safety
    /// The memory is this heap's alone for as long as the heap and its objects are used, and `base`
    /// is a multiple of [`UNIT_BYTES`]. The source commits memory that is zero ([`Source::ZEROED`]
    /// is true).
    ///
    /// # Errors
    /// [`Refused::Region`] if the memory is too small, or the source cannot commit the first
    /// tables.
    pub unsafe fn over(
        base: NonNull<u8>,
        bytes: usize,
        settings: Settings,
        source: S,
    ) -> Result<Self, Refused> {
        let needed = least_bytes::<L, S>(settings.threads);
        let plan = Plan::of::<L, S>(bytes / UNIT_BYTES, settings.threads)
            .ok_or(Refused::Region { needed })?;
        debug_assert!(S::ZEROED && base.addr().get() % UNIT_BYTES == 0);
        // SAFETY: the caller's.
        unsafe { Self::planned(base, plan, settings, source) }.ok_or(Refused::Region { needed })
    }

    unsafe fn planned(
        base: NonNull<u8>,
        plan: Plan,
        settings: Settings,
        source: S,
    ) -> Option<Self> {
        // SAFETY: the plan's tables lie in the administrative units, one behind another; all are
        // zero.
        let records = unsafe { base.add(plan.records_at) };
        // SAFETY: as above.
        let slots = unsafe { base.add(plan.slots_at) };
        // SAFETY: as above.
        let divisions = unsafe { base.add(plan.divisions_at) };
        // SAFETY: the caller's: the region's first bytes.
        let usable = unsafe { source.commit(base, plan.first_bytes()) }
            // SAFETY: as above, and the records of no unit and of the first one.
            && unsafe { source.commit(records, 2 * size_of::<Record>()) }
            // SAFETY: as above, and their slots.
            && unsafe { source.commit(slots, 2 * SLOT_BYTES) }
            // SAFETY: as above, and how they are divided.
            && (!S::PURGES || unsafe { source.commit(divisions, 2 * DIVISION_BYTES) });
        if !usable {
            return None;
        }
        let common: NonNull<Common<L, S>> = base.cast();
        // Units are counted from the last administrative one: those before it need no records.
        let before = plan.first - 1;
        // SAFETY: the administrative units lie in the memory.
        let last = unsafe { base.add(before as usize * UNIT_BYTES) };
        // SAFETY: as above.
        let memory =
            unsafe { Memory::new(last, plan.units - before, 1, records, slots, divisions) };
        // SAFETY: as above.
        let places = unsafe { base.add(plan.places_at) }.cast();
        // SAFETY: as above; nobody else knows the places yet.
        let shared = unsafe {
            Common::new(
                memory,
                places,
                plan.places,
                settings.checks,
                settings.delay,
                source,
            )
        };
        // SAFETY: the first table, aligned to a unit, usable.
        unsafe { common.write(shared) };
        Some(Self {
            common,
            region: PhantomData,
        })
    }

    #[inline]
    pub(super) fn common(&self) -> &Common<L, S> {
        // SAFETY: written by `planned`; it lives as long as the region, and only shared references
        // are made.
        unsafe { self.common.as_ref() }
    }

    /// An instance of this thread's own: one whose thread has left, with all its pages, or a new
    /// one. Dropping it leaves it to the next one.
    ///
    /// # Errors
    /// [`Refused::NoLocal`] if all are taken, or the source has no memory for another one: use
    /// [`grouped`](SharedDirect::grouped). All are never taken while the threads that have one,
    /// join or leave one are at most [`Settings::threads`], and no instance was lost in a fork.
    ///
    /// # Complexity
    /// Linear in the number of instances. It waits for threads that serve an idle instance, which
    /// is linear in what they free.
    pub fn join(&self) -> Result<Local<'_, L, S>, Refused> {
        let common = self.common();
        let own = common.claim().ok_or(Refused::NoLocal)?;
        Ok(Local::new(common, own))
    }

    /// Calls a function with the instance of a group, under the group's lock: for threads that
    /// share an instance (the paper's sharing degree), have none, or are about to end. Groups are
    /// numbered modulo [`GROUPS`]. The function must not ask for a group again: it would wait for
    /// itself, or for a thread that waits for it.
    pub fn grouped<R>(&self, group: usize, call: impl FnOnce(&Local<'_, L, S>) -> R) -> R {
        let common = self.common();
        let group = group % GROUPS;
        let guard = common.groups[group].lock();
        let own = common.of_group(group);
        // Never dropped, also if the call unwinds: the instance stays the group's.
        let local = ManuallyDrop::new(Local::new(common, own));
        let result = call(&local);
        common.deliver_all(own);
        drop(guard);
        common.tell();
        result
    }

    /// Where its units are.
    #[must_use]
    pub fn units(&self) -> Units<'_> {
        Units::of(self.common().memory())
    }

    /// The bytes of a live object, all of which the program may use; `None` if no object begins
    /// there, as far as the heap can tell. O(1).
    pub fn usable_bytes(&self, object: *mut u8) -> Option<usize> {
        self.common().usable_bytes(object)
    }

    /// Sets the most bytes that pages and large objects may hold, free ones that were not given
    /// back included. Calls that would need more are refused. A limit below what is held now
    /// refuses all that needs units.
    ///
    /// # Complexity
    /// O(1). A call that would exceed the limit first gives all free memory back, which is linear
    /// in the free runs that hold some.
    pub fn set_limit(&self, bytes: usize) {
        let units = u64::try_from(bytes / UNIT_BYTES).unwrap_or(u64::MAX);
        self.common().pool.lock().set_limit(units);
    }

    /// Sets the bytes of pages and large objects above which the source is told
    /// ([`Source::above`]): once, until they have fallen by 1/32 below it. `usize::MAX` is never.
    pub fn set_soft_limit(&self, bytes: usize) {
        let units = u64::try_from(bytes / UNIT_BYTES).unwrap_or(u64::MAX);
        self.common().pool.lock().set_soft_limit(units);
    }

    /// Sets the milliseconds before free memory goes back to its source; `u32::MAX` is never.
    pub fn set_delay(&self, delay: u32) {
        self.common().pool.lock().set_delay(delay);
    }

    /// Gives all free memory back to the source at once, and what idle instances and groups keep.
    /// Returns the bytes of free runs that went back. It waits for calls of groups, so the function
    /// of [`grouped`](SharedDirect::grouped) must not call it.
    ///
    /// # Complexity
    /// Linear in the free runs and instances, and in what other threads freed of them.
    #[expect(
        clippy::must_use_candidate,
        reason = "the bytes are for who wants to know"
    )]
    pub fn purge(&self) -> usize {
        let common = self.common();
        for instance in common.joined() {
            common.tidy(instance);
        }
        common.trim_groups();
        let units = common
            .pool
            .lock()
            .purge_all(common.memory(), &common.source);
        usize::try_from(units)
            .unwrap_or(usize::MAX)
            .saturating_mul(UNIT_BYTES)
    }

    /// Call it before a fork. Until [`after_fork`](SharedDirect::after_fork), in both processes, no
    /// other thread is in the middle of a change that the child needs whole.
    pub fn before_fork(&self) {
        let common = self.common();
        for group in &common.groups {
            forget(group.lock());
        }
        forget(common.serving.lock());
        forget(common.checked.lock());
        forget(common.pool.lock());
    }

    /// After a fork, in the parent, and in the child with `child`: there, instances of other
    /// threads are lost, because they may have been in the middle of a call. What they hold stays
    /// as it is, and is never used again.
    ///
    /// # Complexity
    /// O(1) in the parent, linear in the instances in the child.
    ///
    /// # Safety
    /// [`before_fork`](SharedDirect::before_fork) was called by this thread, and this was not
    /// called since. `own` is the instance of this thread, if it has one.
    pub unsafe fn after_fork(&self, child: bool, own: Option<&Local<'_, L, S>>) {
        let common = self.common();
        if child {
            let own = own.map(Local::number);
            for instance in common.joined().skip(GROUPS) {
                if instance.state() == State::Owned && Some(instance.number()) != own {
                    instance.set_state(State::Lost);
                }
            }
        }
        // SAFETY: locked by `before_fork`.
        unsafe { common.pool.force_unlock() };
        // SAFETY: as above.
        unsafe { common.checked.force_unlock() };
        // SAFETY: as above.
        unsafe { common.serving.force_unlock() };
        for group in common.groups.iter().rev() {
            // SAFETY: as above.
            unsafe { group.force_unlock() };
        }
    }

    /// Bytes of tables that are committed: what is shared, instances, and the records and slots of
    /// units that hold objects.
    pub(super) fn table_bytes(&self) -> usize {
        let memory = self.common().memory();
        let records = memory.record_place(Span::NONE).addr().get() - self.common.addr().get();
        // Of a source, places are taken as they are used.
        let unused = if S::PURGES {
            self.common().unused() * size_of::<Instance>()
        } else {
            0
        };
        let units = memory.committed() - memory.first().number() + 1;
        records - unused + units as usize * (size_of::<Record>() + SLOT_BYTES)
    }

    /// Verifies the invariants of the whole heap. `&mut` ensures that no other thread is in a
    /// call.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    ///
    /// # Complexity
    /// Linear in the region and in what is on its way to instances, and quadratic in the instances.
    pub fn check(&mut self) -> Result<(), Corruption> {
        super::check::check(self.common())
    }

    /// As [`check`](SharedDirect::check), while threads have instances but are in no call.
    ///
    /// # Safety
    /// No other thread is in a call, and none begins one meanwhile.
    ///
    /// # Errors
    /// As there.
    pub unsafe fn check_between_calls(&self) -> Result<(), Corruption> {
        super::check::check(self.common())
    }
}

impl<L: RawMutex, S: Source> Local<'_, L, S> {
    /// The instance that [`into_raw`](Local::into_raw) gave.
    ///
    /// # Safety
    /// `own` came from there, of this heap, and nobody else has the instance meanwhile; the result
    /// is forgotten, or the address is not used again.
    #[inline]
    #[must_use]
    pub unsafe fn from_raw(heap: &SharedDirect<'_, L, S>, own: NonNull<u8>) -> ManuallyDrop<Self>
    where
        L: Sync,
    {
        // SAFETY: the region outlives its instances' use, as the caller promises.
        let (common, own) = unsafe { (&*core::ptr::from_ref(heap.common()), own.cast().as_ref()) };
        ManuallyDrop::new(Self::new(common, own))
    }
}

/// Instances for so many threads and the groups; `None` if there are not so many numbers.
pub(super) fn places(threads: u32) -> Option<u16> {
    #[expect(clippy::cast_possible_truncation, reason = "8")]
    let places = threads.checked_add(GROUPS as u32)?;
    u16::try_from(places).ok()
}

/// The least bytes of a region for so many threads, or for the most that there can be, wherever it
/// begins.
fn least_bytes<L, S: Source>(threads: u32) -> usize {
    let places = places(threads).unwrap_or(u16::MAX);
    #[expect(clippy::cast_possible_truncation, reason = "8")]
    let threads = u32::from(places) - GROUPS as u32;
    let mut tables = size_of::<Common<L, S>>() + size_of::<Instance>() * (usize::from(places) + 1);
    if S::PURGES {
        tables = tables.next_multiple_of(RECORDS_ALIGN);
    }
    let mut units = tables.div_ceil(UNIT_BYTES);
    while Plan::of::<L, S>(units, threads).is_none() && units < 1 << 31 {
        units += 1;
    }
    (units + 1) * UNIT_BYTES
}

/// The bytes of a region, wherever it begins, with tables for so many threads and `units` units
/// behind them.
pub(super) fn region_bytes<L>(units: usize, threads: u32) -> Option<usize> {
    let places = places(threads)?;
    let fixed = size_of::<Common<L, Fixed>>() + size_of::<Instance>() * (usize::from(places) + 1);
    // A unit of tables holds the records and slots of 204 units.
    let each = UNIT_BYTES / (size_of::<Record>() + SLOT_BYTES);
    let tables = fixed.div_ceil(UNIT_BYTES) + units / (each - 1) + 2;
    let all = units.checked_add(tables)?;
    let plan = Plan::of::<L, Fixed>(all, threads)?;
    let enough = all - plan.first as usize >= units && all < 1 << 31;
    enough.then(|| (all + 1).checked_mul(UNIT_BYTES))?
}
