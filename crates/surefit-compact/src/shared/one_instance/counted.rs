//! Counted handles: an object has several owners, and the last one frees it.
//!
//! ```text
//! page-block   | count | value |   clone, drop: pin, end a move in flight, change the count, unpin
//! ```
//! The count lies beside the value in the page-block, so objects without a count pay nothing for
//! it. If the count changed while a move copies it, the change would be lost with the old
//! page-block. So a thread that changes the count pins the object, and ends a move in flight first.
//! A clone may therefore wait for one step, min(β, ι) bytes. (In the entry, the count would cost
//! four bytes for every object of the heap, but no pin.)
//!
//! # Invariants
//! - C1 The count is the number of `SharedCounted`s of the object, not counting those inside
//!   `clone` and `drop`.
//! - C2 The thread that decrements the count to zero drops the value, or takes it out; then it
//!   marks the object freed; then it unpins. So only the unpins of `drop` and `clone` claim, and
//!   the value is gone by then. The claimant gives the page-block back, whichever thread it is.
//! - C3 No guard borrows the count.
//!
//! # Source
//! Reference counts are classic. Their place in the page-block is this project's.

use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use lock_api::RawMutex;
use surefit_core::Refused;
use zerocopy::Immutable;

use super::heap::SharedHeap;
use crate::handle::{Full, Name};
use crate::shared::local::Local;
use crate::shared::lock::{Granularity, PerClass};
use crate::shared::machinery::entry::{Entry, State, Unpinned};
use crate::shared::machinery::guard::{Pinned, PinnedMut};
use crate::shared::machinery::objects::{Objects, refused};
use crate::shared::machinery::pool::NO_SLOT;
use crate::shared::machinery::sync::AtomicU32;

/// The most handles of one object: half of what the count holds, so that clones in the course of
/// being refused cannot overflow it.
const MOST: u32 = u32::MAX / 2;

/// Makes a type invariant in `T`.
type Invariant<T> = fn(T) -> T;

/// A value and the number of its handles.
struct Node<T> {
    count: AtomicU32,
    value: T,
}

/// One of several handles of an object, made by [`SharedHeap::insert_counted`]. It is to a handle
/// what `Arc` is to `Box`. It borrows the heap, so any thread can clone and drop it.
///
/// Dropping the last one drops the value outside of any lock, and frees its memory, which may move
/// other objects. If the value owns the last handle of another object, that one is dropped in turn.
/// As with `Arc`, a long chain of them needs one stack frame per object, and overflows the stack
/// unless the values take it apart in a loop ([`SharedCounted::into_inner`]).
///
/// Forgetting a handle, or a guard of one, leaks the object.
///
/// # Examples
/// ```
/// use core::mem::MaybeUninit;
/// use surefit_compact::{Config, shared::{SharedConfig, SharedHeap}};
///
/// static CONFIG: SharedConfig = SharedConfig::new(Config::DEFAULT);
/// let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
/// let heap: SharedHeap<parking_lot::RawMutex> = SharedHeap::new(&mut memory, &CONFIG)?;
/// let one = heap.insert_counted(&heap.register()?, 7_u64)?;
/// let two = one.clone();
/// *one.try_pin_mut()? += 1;
/// std::thread::scope(|threads| {
///     threads.spawn(move || assert_eq!(*two.pin().unwrap(), 8));
/// });
/// assert_eq!(one.count(), 1);
/// drop(one);
/// assert_eq!(heap.stats().live_blocks, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SharedCounted<'h, 'm, T, R: RawMutex, G: Granularity = PerClass> {
    objects: &'h Objects<'m, R, G>,
    name: Name,
    object: PhantomData<(T, Invariant<T>)>,
}

impl<'m, R: RawMutex, G: Granularity> SharedHeap<'m, R, G> {
    /// Moves a value into the heap, for several owners. The count takes four bytes, plus padding
    /// for the alignment of the value. `local` must belong to this heap.
    ///
    /// # Errors
    /// As [`Local::insert`]; [`Refused::ForeignHandle`] if `local` belongs to another heap.
    pub fn insert_counted<T: Send + Sync + 'static>(
        &self,
        local: &Local<'_, 'm, R, G>,
        value: T,
    ) -> Result<SharedCounted<'_, 'm, T, R, G>, Full<T>> {
        let objects = &self.objects;
        if !core::ptr::eq(local.objects, objects) {
            let refused = Refused::ForeignHandle;
            return Err(Full { value, refused });
        }
        let count = AtomicU32::new(1);
        let node = Node { count, value };
        match objects.insert(local.slot, local.instance(), node) {
            Ok(handle) => Ok(SharedCounted {
                objects,
                name: handle.name,
                object: PhantomData,
            }),
            Err(full) => Err(Full {
                value: full.value.value,
                refused: full.refused,
            }),
        }
    }
}

/// A pin during work on the count. The object is not in motion.
struct Touch<'h, 'm, R: RawMutex, G: Granularity> {
    objects: &'h Objects<'m, R, G>,
    entry: &'m Entry,
    index: u32,
    location: u32,
}

impl<R: RawMutex, G: Granularity> Touch<'_, '_, R, G> {
    /// The count of the pinned object.
    ///
    /// # Safety
    /// S1: the object is a `Node<T>`.
    unsafe fn count<T>(&self) -> &AtomicU32 {
        let node = self.objects.address::<Node<T>>(self.location);
        // SAFETY: S1. The object is live, because the caller's handle is counted (C1), and stays in
        // place while it is pinned. Only the count is borrowed, to which nobody has a mutable
        // reference (C3).
        unsafe { &*core::ptr::addr_of!((*node.as_ptr()).count) }
    }
}

impl<R: RawMutex, G: Granularity> Drop for Touch<'_, '_, R, G> {
    fn drop(&mut self) {
        let_go(self.objects, self.entry.unpin(), self.index);
    }
}

/// Gives back the page-block of an object that an unpin claimed (C2).
fn let_go<R: RawMutex, G: Granularity>(
    objects: &Objects<'_, R, G>,
    unpinned: Unpinned,
    index: u32,
) {
    if let Unpinned::Released(_) = unpinned {
        objects.engine.free_claimed(NO_SLOT, index);
    }
}

/// An object whose value is being dropped. It is marked freed even if the drop panics.
struct Ending<'m>(&'m Entry);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        // The pin of the caller prevents a claim; its unpin, or another one, claims the object.
        let _ = self.0.free_pinned();
    }
}

impl<'h, 'm, T, R: RawMutex, G: Granularity> SharedCounted<'h, 'm, T, R, G> {
    /// The number of handles of the object at this moment.
    #[must_use]
    pub fn count(&self) -> u32 {
        let touch = self.touch();
        // SAFETY: S1: the handle's type.
        unsafe { touch.count::<T>() }.load(Relaxed)
    }

    /// Whether two handles name the same object.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.name == other.name
    }

    /// Pins an object without interior mutability. Never waits.
    ///
    /// # Errors
    /// [`Refused::Busy`] if it is pinned exclusively; [`Refused::TooManyPins`] if it has 32767 pins
    /// already.
    ///
    /// # Complexity
    /// One atomic addition, and one atomic subtraction when the guard is dropped.
    #[inline]
    pub fn pin(&self) -> Result<Pinned<'_, T>, Refused>
    where
        T: Immutable,
    {
        let (entry, _, location) = self.pin_shared()?;
        // SAFETY: pinned; E4: nobody writes while there is a shared pin; the guard borrows a
        // counted handle.
        Ok(unsafe { Pinned::new(self.value(location), entry) })
    }

    /// Pins an object that may change behind a shared reference. If the object is in motion, the
    /// call takes the lock of its size-class once, and ends the move. Other threads hold that lock
    /// for at most min(β, ι) copied bytes at a time.
    ///
    /// # Errors
    /// As [`SharedCounted::pin`].
    pub fn pin_settled(&self) -> Result<Pinned<'_, T>, Refused> {
        let (entry, state, location) = self.pin_shared()?;
        self.settle(state);
        // SAFETY: as in `pin`; its move has ended, and none begins while it is pinned.
        Ok(unsafe { Pinned::new(self.value(location), entry) })
    }

    /// Pins an object exclusively, to change it. No other pin may exist; even a clone or a drop of
    /// a handle in progress makes it busy. Waits as [`SharedCounted::pin_settled`] does.
    ///
    /// # Errors
    /// [`Refused::Busy`] if there is any other pin.
    pub fn try_pin_mut(&self) -> Result<CountedMut<'_, T>, Refused> {
        let entry = self.entry();
        let (state, location) = entry.pin_exclusive().map_err(refused)?;
        self.settle(state);
        Ok(CountedMut {
            object: self.value(location),
            entry,
            exclusive: PhantomData,
        })
    }

    /// Pins an object to change it, if this is its only handle.
    ///
    /// # Errors
    /// [`Refused::Busy`] if the object has other handles; [`Refused::TooManyPins`] if 32767 guards
    /// were forgotten.
    pub fn get_mut(&mut self) -> Result<PinnedMut<'_, T>, Refused> {
        {
            let touch = self.touch();
            // Acquire: what the owners of dropped handles did to the value.
            // SAFETY: S1: the
            // handle's type.
            if unsafe { touch.count::<T>() }.load(Acquire) != 1 {
                return Err(Refused::Busy);
            }
        }
        let (entry, location) = self.objects.pin_settled(self.name)?;
        // SAFETY: pinned, not in motion; the only handle is borrowed exclusively, so there is no
        // guard and no clone.
        Ok(unsafe { PinnedMut::new(self.value(location), entry) })
    }

    /// Gives a handle up. The last one takes the value out of the heap, and frees its memory as a
    /// drop does. If several handles are given up at the same time, one of them gets the value, as
    /// with `Arc::into_inner`.
    ///
    /// # Complexity
    /// As a drop, plus the read of the value.
    ///
    /// # Examples
    /// A list of any length, taken apart in a loop:
    /// ```
    /// use core::mem::MaybeUninit;
    /// use surefit_compact::{Config, shared::{SharedConfig, SharedCounted, SharedHeap}};
    ///
    /// type Heap = SharedHeap<'static, parking_lot::RawMutex>;
    /// type Link = Option<SharedCounted<'static, 'static, Node, parking_lot::RawMutex>>;
    /// struct Node {
    ///     next: Link,
    /// }
    ///
    /// impl Drop for Node {
    ///     fn drop(&mut self) {
    ///         let mut next = self.next.take();
    ///         while let Some(link) = next {
    ///             next = link.into_inner().and_then(|mut node| node.next.take());
    ///         }
    ///     }
    /// }
    ///
    /// static CONFIG: SharedConfig = SharedConfig::new(Config::DEFAULT);
    /// let memory = Vec::leak(vec![MaybeUninit::uninit(); 1 << 20]);
    /// let heap: &Heap = Box::leak(Box::new(SharedHeap::new(memory, &CONFIG)?));
    /// let local = heap.register()?;
    /// let mut list = None;
    /// for _ in 0..1000 {
    ///     let node = Node { next: list };
    ///     list = Some(heap.insert_counted(&local, node).map_err(|full| full.refused)?);
    /// }
    /// drop(list); // one level deep, not a thousand
    /// assert_eq!(heap.stats().live_blocks, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "the value is dropped otherwise"]
    pub fn into_inner(self) -> Option<T> {
        let this = ManuallyDrop::new(self);
        let touch = this.touch();
        // Release and acquire: as in `drop`. SAFETY: S1: the handle's type.
        if unsafe { touch.count::<T>() }.fetch_sub(1, AcqRel) != 1 {
            return None;
        }
        let _ending = Ending(touch.entry);
        // SAFETY: C1: no handle is left, so there is no guard, and nobody reads the bits again;
        // pinned and settled, so they stay in place.
        Some(unsafe { this.value(touch.location).read() })
    }

    #[inline]
    fn pin_shared(&self) -> Result<(&'m Entry, State, u32), Refused> {
        let entry = self.entry();
        match entry.pin_shared() {
            Ok((state, location)) => Ok((entry, state, location)),
            Err(not) => {
                let_go(self.objects, not.undone, self.name.index());
                Err(refused(not.why))
            }
        }
    }

    /// The number of the object's entry.
    #[cfg(test)]
    pub(crate) fn index(&self) -> u32 {
        self.name.index()
    }

    #[inline]
    fn entry(&self) -> &'m Entry {
        self.objects.engine.entry(self.name.index())
    }

    /// Ends the move of the pinned object, if one was in flight.
    fn settle(&self, state: State) {
        if state.is_moving() {
            let engine = &self.objects.engine;
            engine.revoke(NO_SLOT, state.group(), self.name.index());
        }
    }

    /// Pins the object for work on its count.
    fn touch(&self) -> Touch<'h, 'm, R, G> {
        let entry = self.entry();
        let (state, location) = entry.pin_anyway();
        let touch = Touch {
            objects: self.objects,
            entry,
            index: self.name.index(),
            location,
        };
        self.settle(state);
        touch
    }

    /// The value of the object at a location.
    #[inline]
    fn value(&self, location: u32) -> NonNull<T> {
        let node = self.objects.address::<Node<T>>(location);
        // SAFETY: the object is a `Node<T>`; the place inside it is not null.
        unsafe { NonNull::new_unchecked(core::ptr::addr_of_mut!((*node.as_ptr()).value)) }
    }
}

impl<T, R: RawMutex, G: Granularity> Clone for SharedCounted<'_, '_, T, R, G> {
    /// Makes one more handle of the object. Waits as [`SharedCounted::pin_settled`] does.
    ///
    /// # Panics
    /// If the object has 2³¹ − 1 handles already.
    fn clone(&self) -> Self {
        let touch = self.touch();
        // SAFETY: S1: the handle's type.
        let count = unsafe { touch.count::<T>() };
        // Relaxed: a thread that has a handle may make another; the last drop acquires.
        if count.fetch_add(1, Relaxed) >= MOST {
            count.fetch_sub(1, Relaxed);
            panic!("an object has as many handles as can be counted");
        }
        Self {
            objects: self.objects,
            name: self.name,
            object: PhantomData,
        }
    }
}

impl<T, R: RawMutex, G: Granularity> Drop for SharedCounted<'_, '_, T, R, G> {
    fn drop(&mut self) {
        let touch = self.touch();
        // Release: what this owner did to the value; acquire: what all others did.
        // SAFETY: S1: the
        // handle's type.
        if unsafe { touch.count::<T>() }.fetch_sub(1, AcqRel) == 1 {
            let _ending = Ending(touch.entry);
            // SAFETY: C1: no handle is left, so there is no guard; pinned and settled, so the value
            // stays in place.
            unsafe { self.value(touch.location).drop_in_place() };
        }
    }
}

impl<T, R: RawMutex, G: Granularity> fmt::Debug for SharedCounted<'_, '_, T, R, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedCounted({})", self.name)
    }
}

/// An object with counted handles, pinned exclusively.
#[must_use = "the object is pinned as long as the guard lives"]
pub struct CountedMut<'a, T> {
    object: NonNull<T>,
    entry: &'a Entry,
    exclusive: PhantomData<&'a mut T>,
}

impl<T> Deref for CountedMut<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: E4: no other pin gives access to the value; the handle that the guard borrows
        // keeps it alive.
        unsafe { self.object.as_ref() }
    }
}

impl<T> DerefMut for CountedMut<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; the guard is borrowed exclusively.
        unsafe { self.object.as_mut() }
    }
}

impl<T> Drop for CountedMut<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // The handle is borrowed, so nobody has freed the object, and nothing is released.
        let _ = self.entry.unpin_exclusive();
    }
}

impl<T: fmt::Debug> fmt::Debug for CountedMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

// SAFETY: a guard is an exclusive borrow of the object, and an unpin, which any thread may do.
unsafe impl<T: Send> Send for CountedMut<'_, T> {}
// SAFETY: as above; a shared guard gives only `&T`.
unsafe impl<T: Sync> Sync for CountedMut<'_, T> {}
