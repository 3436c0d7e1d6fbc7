//! Guards of keyed objects, and the end of an object: the last unpin of a freed object ends it.
//!
//! ```text
//! free ──▶ FREED, pinned by others ──▶ last unpin: claim ──▶ drop the value ─▶ deferred ─▶ drained
//!   └────▶ FREED, pinned by nobody ──▶ claim ──▶ drop the value ─▶ released in the same call
//! ```
//! The last pin may be one that a stale key of another type has put on the entry for an instant. So
//! a value that must be dropped carries its *glue*, the function that drops it, in the last bytes
//! of its page-block. Moves copy it along. A flag of the generation says that the glue is there.
//!
//! # Invariants
//! - K1 Only an unpin claims a keyed object, never the end of a move: the caller that marks it
//!   freed has pinned it before, and unpins it after its move has ended. So no value is dropped
//!   under a lock (R4).
//! - K2 The page-block of a claimed object is given back after its value is dropped. Victim
//!   searches leave it alone while the flag of the generation is set.
//!
//! # Bounds
//! An unpin is one atomic subtraction. The unpin that ends an object also drops the value, and
//! pushes the entry on a lock-free list.

use core::alloc::Layout;
use core::fmt;
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, needs_drop};
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

use lock_api::RawMutex;

use crate::shared::lock::Granularity;
use crate::shared::machinery::entry::{Entry, State, Unpinned};
use crate::shared::machinery::generation::Generation;
use crate::shared::machinery::objects::Objects;
use crate::shared::machinery::pool::Slot;

/// Drops the value at an address.
type Glue = unsafe fn(NonNull<u8>);

/// Drops a `T`.
///
/// # Safety
/// S1: a `T` lies at the address, and nobody uses it any more.
unsafe fn drop_value<T>(object: NonNull<u8>) {
    // SAFETY: S1.
    unsafe { object.cast::<T>().drop_in_place() }
}

/// The layout that a keyed `T` needs: its own, and room for its glue if it must be dropped.
pub(crate) fn keyed_layout<T>() -> Layout {
    let layout = Layout::new::<T>();
    if !needs_drop::<T>() {
        return layout;
    }
    let size = layout.size().saturating_add(size_of::<Glue>());
    // A size that exceeds every layout already exceeds every page.
    Layout::from_size_align(size, layout.align()).unwrap_or(layout)
}

impl<'m, R: RawMutex, G: Granularity> Objects<'m, R, G> {
    /// Where the glue of an object is: the last bytes of its page-block.
    fn glue_at(&self, group: u32, location: u32) -> NonNull<Glue> {
        let engine = &self.engine;
        let layout = engine.pages.geometry.layout(engine.class_of(group));
        let offset = layout.block_bytes as usize - size_of::<Glue>();
        // SAFETY: the page-block lies inside the region (E1), and `keyed_layout` reserved room for
        // the glue.
        unsafe { self.address::<u8>(location).add(offset) }.cast()
    }

    /// Writes a value, and its glue if it must be dropped.
    ///
    /// # Safety
    /// S1: the page-block at `location`, of `group`, was allocated for `keyed_layout::<T>()`, and
    /// is under construction.
    pub(crate) unsafe fn write_keyed<T>(&self, group: u32, location: u32, value: T) {
        // SAFETY: S1: large and aligned enough; nobody refers to it, and nobody moves it.
        unsafe { self.address::<T>(location).write(value) };
        if needs_drop::<T>() {
            // SAFETY: S1: the last bytes are behind the value.
            unsafe {
                self.glue_at(group, location)
                    .write_unaligned(drop_value::<T>)
            };
        }
    }

    /// Ends a keyed object if an unpin claimed it: drops the value, and leaves the entry to later
    /// operations of its group.
    pub(crate) fn let_go(&self, unpinned: Unpinned, index: u32) {
        if let Unpinned::Released(state) = unpinned {
            self.end(state, index, None);
        }
    }

    /// Ends a keyed object that the caller has claimed: drops the value, then releases the object,
    /// with the moves that this may require. Without a slot it leaves that to later operations.
    pub(crate) fn end(&self, state: State, index: u32, slot: Option<Slot>) {
        let ending = Ending {
            objects: self,
            state,
            index,
            slot,
        };
        if ending.objects.generation(index).has_glue() {
            let location = self.engine.entry(index).location(state);
            // SAFETY: the flag says that `write_keyed` wrote the glue. K2: the page-block is still
            // the object's, and the claim has acquired every use of it.
            let glue = unsafe { self.glue_at(state.group(), location).read_unaligned() };
            // SAFETY: S1 of `drop_value`: the glue is that of the value's type, and only the
            // claimant uses the object.
            unsafe { glue(self.address(location)) };
        }
    }

    /// The generation of an entry.
    #[inline]
    pub(crate) fn generation(&self, index: u32) -> &'m Generation {
        self.engine
            .table
            .generation(&self.engine.pages.memory, index)
    }
}

/// A claimed object whose value is being dropped. Its memory is given back even if the drop panics.
struct Ending<'o, 'm, R: RawMutex, G: Granularity> {
    objects: &'o Objects<'m, R, G>,
    state: State,
    index: u32,
    slot: Option<Slot>,
}

impl<R: RawMutex, G: Granularity> Drop for Ending<'_, '_, R, G> {
    fn drop(&mut self) {
        self.objects.generation(self.index).drop_glue();
        let engine = &self.objects.engine;
        match self.slot {
            Some(slot) => engine.free_claimed(slot, self.index),
            None => engine.defer(self.state.group(), self.index),
        }
    }
}

/// A pin of a keyed object, exclusive or not. Dropping it unpins the object.
pub(crate) struct Hold<'h, 'm, R: RawMutex, G: Granularity, const EXCLUSIVE: bool> {
    pub(crate) objects: &'h Objects<'m, R, G>,
    pub(crate) entry: &'m Entry,
    pub(crate) index: u32,
}

impl<R: RawMutex, G: Granularity, const EXCLUSIVE: bool> Hold<'_, '_, R, G, EXCLUSIVE> {
    fn unpin(&self) -> Unpinned {
        if EXCLUSIVE {
            self.entry.unpin_exclusive()
        } else {
            self.entry.unpin()
        }
    }

    /// Frees the object of a key that the caller has retired. `before` is the state of the entry at
    /// the pin. If there are other pins, the last of them ends the object, and this call frees
    /// objects that such pins have left.
    pub(crate) fn free(self, before: State, slot: Slot) {
        let hold = ManuallyDrop::new(self);
        let engine = &hold.objects.engine;
        // The pin of the caller prevents a claim (K1).
        let _ = hold.entry.free_pinned();
        if before.is_moving() {
            engine.revoke(slot, before.group(), hold.index);
        }
        match hold.unpin() {
            Unpinned::Released(state) => hold.objects.end(state, hold.index, Some(slot)),
            Unpinned::Held if engine.groups[before.group() as usize].has_deferred() => {
                engine.free_deferred(slot, before.group());
            }
            Unpinned::Held => {}
        }
    }
}

impl<R: RawMutex, G: Granularity, const EXCLUSIVE: bool> Drop for Hold<'_, '_, R, G, EXCLUSIVE> {
    #[inline]
    fn drop(&mut self) {
        let unpinned = self.unpin();
        self.objects.let_go(unpinned, self.index);
    }
}

/// A pinned object of a [`SharedKeyHeap`](crate::shared::SharedKeyHeap), borrowed. It stays alive
/// and in place as long as the guard, even if its key is freed meanwhile.
///
/// Dropping the guard is one atomic subtraction. The last guard of a freed object also drops the
/// value.
#[must_use = "the object is pinned as long as the guard lives"]
pub struct KeyPinned<'h, 'm, T, R: RawMutex, G: Granularity> {
    object: NonNull<T>,
    _hold: Hold<'h, 'm, R, G, false>,
}

/// A pinned object of a [`SharedKeyHeap`](crate::shared::SharedKeyHeap), borrowed mutably. Nobody
/// else has it pinned.
///
/// What is written through the guard must live as long as the object:
/// ```compile_fail
/// use surefit_compact::shared::{KeyPinnedMut, PerClass};
/// type Guard<'h, 'm, T> = KeyPinnedMut<'h, 'm, T, parking_lot::RawMutex, PerClass>;
/// fn shorter<'h, 'm, 's>(guard: Guard<'h, 'm, &'static str>) -> Guard<'h, 'm, &'s str> {
///     guard
/// }
/// ```
#[must_use = "the object is pinned as long as the guard lives"]
pub struct KeyPinnedMut<'h, 'm, T, R: RawMutex, G: Granularity> {
    object: NonNull<T>,
    _hold: Hold<'h, 'm, R, G, true>,
    /// Makes the guard invariant in `T`, as a mutable borrow is.
    exclusive: PhantomData<&'h mut T>,
}

impl<'h, 'm, T, R: RawMutex, G: Granularity> KeyPinned<'h, 'm, T, R, G> {
    /// A guard of a pinned object.
    ///
    /// # Safety
    /// S1: a live `T` lies at `location`: the object that `hold` pins. S2: if others change it
    /// behind shared references, its move has ended.
    #[inline]
    pub(crate) unsafe fn new(hold: Hold<'h, 'm, R, G, false>, location: u32) -> Self {
        Self {
            object: hold.objects.address(location),
            _hold: hold,
        }
    }
}

impl<'h, 'm, T, R: RawMutex, G: Granularity> KeyPinnedMut<'h, 'm, T, R, G> {
    /// A guard of an exclusively pinned object.
    ///
    /// # Safety
    /// S1: a live `T` lies at `location`: the object that `hold` pins; it is not in motion.
    #[inline]
    pub(crate) unsafe fn new(hold: Hold<'h, 'm, R, G, true>, location: u32) -> Self {
        Self {
            object: hold.objects.address(location),
            _hold: hold,
            exclusive: PhantomData,
        }
    }
}

impl<T, R: RawMutex, G: Granularity> Deref for KeyPinned<'_, '_, T, R, G> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: S1 of `new`; E4: nobody writes while there is a shared pin.
        unsafe { self.object.as_ref() }
    }
}

impl<T, R: RawMutex, G: Granularity> Deref for KeyPinnedMut<'_, '_, T, R, G> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: S1 of `new`; E4: the pin is the only one.
        unsafe { self.object.as_ref() }
    }
}

impl<T, R: RawMutex, G: Granularity> DerefMut for KeyPinnedMut<'_, '_, T, R, G> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; the guard is borrowed exclusively.
        unsafe { self.object.as_mut() }
    }
}

impl<T: fmt::Debug, R: RawMutex, G: Granularity> fmt::Debug for KeyPinned<'_, '_, T, R, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: fmt::Debug, R: RawMutex, G: Granularity> fmt::Debug for KeyPinnedMut<'_, '_, T, R, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

// SAFETY: a guard is a shared borrow of the object and an unpin, which may drop the object.
unsafe impl<T: Send + Sync, R: RawMutex + Send + Sync, G: Granularity> Send
    for KeyPinned<'_, '_, T, R, G>
{
}
// SAFETY: as above; a shared guard gives only `&T`.
unsafe impl<T: Sync, R: RawMutex + Send + Sync, G: Granularity> Sync
    for KeyPinned<'_, '_, T, R, G>
{
}
// SAFETY: a guard is an exclusive borrow of the object and an unpin, which may drop the object.
unsafe impl<T: Send, R: RawMutex + Send + Sync, G: Granularity> Send
    for KeyPinnedMut<'_, '_, T, R, G>
{
}
// SAFETY: as above; a shared guard gives only `&T`.
unsafe impl<T: Sync, R: RawMutex + Send + Sync, G: Granularity> Sync
    for KeyPinnedMut<'_, '_, T, R, G>
{
}
