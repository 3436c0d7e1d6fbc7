//! `Vec`: elements in a byte object of a heap.
//!
//! What reads and writes slots is here, and in `many.rs` what does so with several at once; what
//! only puts these calls together is in `crate::vec`.
//!
//! # Invariants
//! - C1 `bytes` names an object of one heap, aligned to `T`, that holds [`Groups::capacity`]
//!   elements; there is none for elements without bytes. Only this vector names it.
//! - C2 The first `len` slots hold elements, and no slot behind them does.
//! - C3 Nothing moves while a heap is borrowed, and what lends a slice borrows the heap and the
//!   vector as long.

use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_compact::Full;

use crate::heap::ByteHeap;
use crate::names::{Checked, Names};
use crate::release::Release;

use super::groups::Groups;

/// Elements in a heap: what [`Vec`](https://doc.rust-lang.org/std/vec/struct.Vec.html) is to the
/// global allocator.
///
/// Up to the heap's piece size the elements are contiguous, and growing doubles the capacity.
/// Beyond it they are in pieces: growing adds pieces, from a page on a page at a time, and copies
/// at most a page, when small pieces become a large one. No element is in two pieces. So an element
/// has at most the bytes of a piece.
///
/// It is an owning name, as a handle is: it does not borrow the heap, which its methods take.
/// Dropping it leaks the elements; [`Vec::free`] frees it.
///
/// # Panics
/// Every access to an element panics if the vector has an object of another heap, except that what
/// returns [`Refused`](surefit_core::Refused) returns
/// [`Refused::ForeignHandle`](surefit_core::Refused::ForeignHandle). With
/// [`Branded`](crate::Branded) names another heap does not compile.
///
/// # Complexity
/// An access costs a compare, a load and an add; in pieces a look-up for each level of their spine
/// ([`surefit_compact::Heap::alloc`]): two for 4 MiB in pieces of 4 KiB.
///
/// # Examples
/// ```
/// use surefit_collections::Vec;
/// use surefit_compact::{Config, Heap};
///
/// static CONFIG: Config = Config::DEFAULT;
/// let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
/// let mut heap: Heap = Heap::new(&mut memory, &CONFIG)?;
/// let mut squares = Vec::new();
/// for i in 0..1000_u64 {
///     squares.push(&mut heap, i * i)?;
/// }
/// assert_eq!(squares.get(&heap, 30), Some(&900));
/// assert_eq!(squares.iter(&heap).sum::<u64>(), 332_833_500);
/// squares.free(&mut heap);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A reference cannot be kept while objects may move:
/// ```compile_fail
/// # use surefit_collections::Vec;
/// # use surefit_compact::{Config, Heap};
/// # static CONFIG: Config = Config::DEFAULT;
/// # let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
/// # let mut heap: Heap = Heap::new(&mut memory, &CONFIG).unwrap();
/// let (mut one, mut two) = (Vec::new(), Vec::new());
/// one.push(&mut heap, 1).unwrap();
/// let kept = one.get(&heap, 0);
/// two.push(&mut heap, 2).unwrap(); // may move the object of `one`
/// assert_eq!(kept, Some(&1));
/// ```
///
/// A branded vector does not compile with another heap:
/// ```compile_fail
/// # use surefit_collections::Vec;
/// # use surefit_compact::{Config, Heap};
/// # static CONFIG: Config = Config::DEFAULT;
/// # let mut regions = [[const { core::mem::MaybeUninit::uninit() }; 1 << 18]; 2];
/// # let [one, two] = &mut regions;
/// # let mut one: Heap = Heap::new(one, &CONFIG).unwrap();
/// # let mut two: Heap = Heap::new(two, &CONFIG).unwrap();
/// one.branded(|one| {
///     two.branded(|two| {
///         let mut vec = Vec::new();
///         vec.push(one, 1).unwrap();
///         vec.push(two, 2).unwrap();
///     });
/// });
/// ```
#[must_use = "dropping a vector leaks its elements"]
pub struct Vec<T, N: Names = Checked> {
    pub(super) bytes: Option<N::Bytes>,
    pub(super) len: usize,
    elements: PhantomData<T>,
}

impl<T, N: Names> Vec<T, N> {
    /// A vector without elements, and without an object.
    #[inline]
    pub const fn new() -> Self {
        Self {
            bytes: None,
            len: 0,
            elements: PhantomData,
        }
    }

    /// The number of elements.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of elements for which there is room.
    #[inline]
    #[must_use]
    pub fn capacity<H: ByteHeap<Names = N>>(&self, heap: &H) -> usize {
        match &self.bytes {
            Some(bytes) => Groups::<T>::new(heap.piece_bytes()).capacity(N::len(bytes)),
            None if size_of::<T>() == 0 => usize::MAX,
            None => 0,
        }
    }

    /// Whether the vector has no object of another heap.
    #[inline]
    pub(crate) fn is_of<H: ByteHeap<Names = N>>(&self, heap: &H) -> bool {
        self.bytes.as_ref().is_none_or(|bytes| heap.owns(bytes))
    }

    // ---- slots ---------------------------------------------------------------------------------

    /// The slots of a vector without an object: as many as there may be, if they have no bytes.
    const NO_BYTES: usize = if size_of::<T>() == 0 { usize::MAX } else { 0 };

    /// The first of the slots from `index`, which is below the capacity, to the end of their group,
    /// and how many there are.
    #[inline]
    pub(super) fn slots_from<H: ByteHeap<Names = N>>(
        &self,
        heap: &H,
        index: usize,
    ) -> (NonNull<MaybeUninit<T>>, usize) {
        let Some(bytes) = &self.bytes else {
            return (NonNull::dangling(), Self::NO_BYTES);
        };
        let groups = Groups::<T>::new(heap.piece_bytes());
        debug_assert!(index < groups.capacity(N::len(bytes)), "C1: a slot");
        let place = groups.place(N::len(bytes), index);
        let (first, bytes) = heap.chunk(bytes, place.offset);
        (first.cast(), place.room.min(bytes / size_of::<T>()))
    }

    /// The slot of an index below the capacity.
    #[inline]
    pub(super) fn slot<H: ByteHeap<Names = N>>(
        &self,
        heap: &H,
        index: usize,
    ) -> NonNull<MaybeUninit<T>> {
        self.slots_from(heap, index).0
    }

    /// The first slot, if the object is not in pieces: all others lie behind it.
    #[inline]
    pub(super) fn block<H: ByteHeap<Names = N>>(
        &self,
        heap: &H,
    ) -> Option<NonNull<MaybeUninit<T>>> {
        match &self.bytes {
            Some(bytes) => heap.block(bytes).map(NonNull::cast),
            None => Some(NonNull::dangling()),
        }
    }

    /// The slots from `index`, which is below the capacity, to the end of their group.
    #[inline]
    fn slots<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
        index: usize,
    ) -> &'a [MaybeUninit<T>] {
        let (first, count) = self.slots_from(heap, index);
        // SAFETY: C1: the object, or each of its pieces, is aligned to `T`, and the offset in it is
        // a multiple of its size; the chunk has the bytes of `count` slots, which need not be
        // initialised, and without an object there are none. C3 for the lifetime. The pointer comes
        // from no reference to shared bytes: elements may change behind one, as a `Cell` does.
        unsafe { NonNull::slice_from_raw_parts(first, count).as_ref() }
    }

    /// As `slots`, but mutable.
    #[inline]
    pub(super) fn slots_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
        index: usize,
    ) -> &'a mut [MaybeUninit<T>] {
        let (first, count) = self.slots_from(heap, index);
        // SAFETY: as in `slots`, and the vector is borrowed exclusively. The callers write elements
        // only.
        unsafe { NonNull::slice_from_raw_parts(first, count).as_mut() }
    }

    /// The elements from `index` to the end of their group; none from the end on.
    #[inline]
    #[must_use]
    pub fn slice_at<'a, H: ByteHeap<Names = N>>(&'a self, heap: &'a H, index: usize) -> &'a [T] {
        if index >= self.len {
            return &[];
        }
        let slots = self.slots(heap, index);
        let count = slots.len().min(self.len - index);
        // SAFETY: C2: these slots hold elements.
        unsafe { core::slice::from_raw_parts(slots.as_ptr().cast(), count) }
    }

    /// As [`Vec::slice_at`], but mutable.
    #[inline]
    #[must_use]
    pub fn slice_at_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
        index: usize,
    ) -> &'a mut [T] {
        if index >= self.len {
            return &mut [];
        }
        let left = self.len - index;
        let slots = self.slots_mut(heap, index);
        let count = slots.len().min(left);
        // SAFETY: as in `slice_at`, and the slots are borrowed exclusively.
        unsafe { core::slice::from_raw_parts_mut(slots.as_mut_ptr().cast(), count) }
    }

    /// All elements, if their object is not in pieces.
    #[inline]
    pub(crate) fn contiguous<'a, H: ByteHeap<Names = N>>(&'a self, heap: &'a H) -> Option<&'a [T]> {
        let first = self.block(heap)?.cast();
        // SAFETY: as in `slots`, of one block: C2: the first `len` slots hold elements.
        Some(unsafe { NonNull::slice_from_raw_parts(first, self.len).as_ref() })
    }

    // ---- elements ------------------------------------------------------------------------------

    /// An element.
    #[inline]
    #[must_use]
    pub fn get<'a, H: ByteHeap<Names = N>>(&'a self, heap: &'a H, index: usize) -> Option<&'a T> {
        if index >= self.len {
            return None;
        }
        // SAFETY: as in `slots`, and C2: the slot holds an element.
        Some(unsafe { self.slot(heap, index).cast().as_ref() })
    }

    /// An element, mutable.
    #[inline]
    #[must_use]
    pub fn get_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
        index: usize,
    ) -> Option<&'a mut T> {
        if index >= self.len {
            return None;
        }
        // SAFETY: as in `slots_mut`, and C2: the slot holds an element.
        Some(unsafe { self.slot(heap, index).cast().as_mut() })
    }

    /// Appends an element. May move objects.
    ///
    /// # Errors
    /// The element, and what [`Vec::reserve`] returned; the vector is unchanged.
    ///
    /// # Complexity
    /// O(1) in the mean, and O(page) at most.
    #[inline]
    pub fn push<H: ByteHeap<Names = N>>(&mut self, heap: &mut H, value: T) -> Result<(), Full<T>>
    where
        T: Send,
    {
        match &self.bytes {
            Some(bytes) if heap.owns(bytes) && self.len < self.capacity(heap) => {
                self.write(heap, value);
                Ok(())
            }
            _ => self.push_in_new_room(heap, value),
        }
    }

    /// As [`Vec::push`], where there may be no room.
    #[inline(never)]
    fn push_in_new_room<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        value: T,
    ) -> Result<(), Full<T>> {
        match self.reserve(heap, 1) {
            Ok(()) => {
                self.write(heap, value);
                Ok(())
            }
            Err(refused) => Err(Full { value, refused }),
        }
    }

    /// Appends an element if there is room for it. Moves nothing.
    ///
    /// # Errors
    /// The element, if the vector is full, or of another heap.
    #[inline]
    pub fn push_within_capacity<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &H,
        value: T,
    ) -> Result<(), T>
    where
        T: Send,
    {
        if self.len == self.capacity(heap) || !self.is_of(heap) {
            return Err(value);
        }
        self.write(heap, value);
        Ok(())
    }

    /// Appends an element for which there is room.
    #[inline]
    pub(super) fn write<H: ByteHeap<Names = N>>(&mut self, heap: &H, value: T) {
        let slot = self.slot(heap, self.len);
        // SAFETY: C1, C3: a slot of this vector, which is borrowed exclusively, with no element.
        unsafe { slot.cast().write(value) };
        self.len += 1;
    }

    /// Takes the last element out. Moves nothing: the capacity stays.
    #[inline]
    pub fn pop<H: ByteHeap<Names = N>>(&mut self, heap: &H) -> Option<T> {
        let last = self.len.checked_sub(1)?;
        // SAFETY: C2: the slot holds an element; the length below says that it does no more.
        let value = unsafe { self.slot(heap, last).cast().read() };
        self.len = last;
        Some(value)
    }

    /// Forgets all elements from `len` on: what they own leaks.
    pub(crate) fn forget_from(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Frees the vector, and releases its elements, the last first. May move objects.
    ///
    /// # Panics
    /// If the vector has an object of another heap: it leaks. If the release of an element panics:
    /// the others are released, and the object is freed; a second panic ends the process.
    ///
    /// # Complexity
    /// O(elements), or O(pieces) if they own nothing ([`Release::OWNS_NOTHING`]).
    pub fn free<H: ByteHeap<Names = N>>(mut self, heap: &mut H)
    where
        T: Release<H>,
    {
        assert!(self.is_of(heap), "the vector belongs to another heap");
        if T::OWNS_NOTHING {
            self.forget_from(0);
            return self.free_object(heap);
        }
        let mut freed = Freed { vec: self, heap };
        while let Some(value) = freed.vec.pop(freed.heap) {
            value.release(freed.heap);
        }
    }
}

impl<T, N: Names> Vec<MaybeUninit<T>, N> {
    /// Makes the length another one, up to the capacity: slots that need not be initialised are
    /// elements of this type.
    pub(super) fn set_len<H: ByteHeap<Names = N>>(&mut self, heap: &H, len: usize) {
        assert!(len <= self.capacity(heap), "{len} is above the capacity");
        self.len = len;
    }
}

/// A vector that is freed, also if the release of an element panics.
struct Freed<'a, T: Release<H>, H: ByteHeap> {
    vec: Vec<T, H::Names>,
    heap: &'a mut H,
}

impl<T: Release<H>, H: ByteHeap> Drop for Freed<'_, T, H> {
    fn drop(&mut self) {
        while let Some(value) = self.vec.pop(self.heap) {
            value.release(self.heap);
        }
        self.vec.free_object(self.heap);
    }
}

impl<T: Release<H>, N: Names, H: ByteHeap<Names = N>> Release<H> for Vec<T, N> {
    fn release(self, heap: &mut H) {
        self.free(heap);
    }

    fn belongs_to(&self, heap: &H) -> bool {
        self.is_of(heap)
    }
}

impl<T, N: Names> Default for Vec<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, N: Names> fmt::Debug for Vec<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Vec({} elements, {:?})", self.len, self.bytes)
    }
}
