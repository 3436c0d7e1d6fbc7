//! `Vec`: elements in a byte object of a heap.
//!
//! What reads and writes slots is here; what only puts these calls together is in `crate::vec`.
//!
//! # Invariants
//! - C1 `bytes` names an object of one heap, aligned to `T`, that holds [`Groups::capacity`]
//!   elements; there is none for elements without bytes. Only this vector names it.
//! - C2 The first `len` slots hold elements, and no slot behind them does.
//! - C3 Nothing moves while a heap is borrowed, and what lends a slice borrows the heap and the
//!   vector as long.

use core::alloc::Layout;
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use surefit_compact::Full;
use surefit_core::Refused;

use crate::heap::ByteHeap;
use crate::names::{Checked, Names};
use crate::release::Release;

use super::groups::Groups;

/// The fewest elements for which growing makes room.
pub(super) const LEAST: usize = 4;

/// Elements in a heap: what [`Vec`](https://doc.rust-lang.org/std/vec/struct.Vec.html) is to the
/// global allocator.
///
/// Up to the heap's piece size the elements are contiguous, and growing doubles the capacity.
/// Beyond it they are in pieces: growing adds pieces, and copies at most a page, when small pieces
/// become a large one. No element is in two pieces. So an element has at most the bytes of a piece.
///
/// It is an owning name, as a handle is: it does not borrow the heap, which its methods take.
/// Dropping it leaks the elements; [`Vec::free`] frees it.
///
/// # Panics
/// Every access to an element panics if the vector has an object of another heap, except that what
/// returns [`Refused`] returns [`Refused::ForeignHandle`]. With
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
    bytes: Option<N::Bytes>,
    len: usize,
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

    // ---- room ----------------------------------------------------------------------------------

    /// Makes room for at least `additional` more elements. May move objects.
    ///
    /// # Errors
    /// What was exhausted, or [`Refused::ForeignHandle`]; [`Refused::TooLarge`] if a piece does not
    /// hold one element. The vector is unchanged.
    ///
    /// # Complexity
    /// As [`surefit_compact::Heap::resize`].
    #[inline]
    pub fn reserve<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        additional: usize,
    ) -> Result<(), Refused> {
        if !self.is_of(heap) {
            return Err(Refused::ForeignHandle);
        }
        if additional <= self.capacity(heap) - self.len {
            return Ok(());
        }
        self.grow(heap, additional)
    }

    #[inline(never)]
    fn grow<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        additional: usize,
    ) -> Result<(), Refused> {
        let needed = self.len.checked_add(additional);
        let needed = needed.ok_or(Refused::TooLarge {
            limit: isize::MAX as usize,
        })?;
        // Without pieces an object has at most a page, and twice the capacity may be too much.
        let doubled = self.capacity(heap).saturating_mul(2).max(LEAST);
        let doubled = doubled.min(Groups::<T>::new(heap.piece_bytes()).per());
        if doubled > needed && self.resize(heap, doubled).is_ok() {
            return Ok(());
        }
        self.resize(heap, needed)
    }

    /// Makes room for exactly `additional` more elements, as far as pieces allow. May move objects.
    ///
    /// # Errors
    /// As [`Vec::reserve`].
    pub fn reserve_exact<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        additional: usize,
    ) -> Result<(), Refused> {
        if !self.is_of(heap) {
            return Err(Refused::ForeignHandle);
        }
        let needed = self.len.checked_add(additional);
        let needed = needed.ok_or(Refused::TooLarge {
            limit: isize::MAX as usize,
        })?;
        if needed <= self.capacity(heap) {
            return Ok(());
        }
        self.resize(heap, needed)
    }

    /// Gives back the room for more than `capacity` elements, or than there are. May move objects.
    ///
    /// # Errors
    /// As [`surefit_compact::Heap::resize`]: even a shorter object may be refused. The vector is
    /// unchanged.
    pub fn shrink_to<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        capacity: usize,
    ) -> Result<(), Refused> {
        if !self.is_of(heap) {
            return Err(Refused::ForeignHandle);
        }
        let capacity = capacity.max(self.len);
        if self.bytes.is_none() || capacity >= self.capacity(heap) {
            return Ok(());
        }
        if capacity == 0 {
            self.free_object(heap);
            return Ok(());
        }
        self.resize(heap, capacity)
    }

    /// As [`Vec::shrink_to`], to the elements that there are.
    ///
    /// # Errors
    /// As [`Vec::shrink_to`].
    pub fn shrink_to_fit<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) -> Result<(), Refused> {
        self.shrink_to(heap, 0)
    }

    /// Changes the object so that it holds `capacity` elements, which is no less than there are.
    fn resize<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        capacity: usize,
    ) -> Result<(), Refused> {
        let layout = Self::layout(heap, capacity)?;
        match &mut self.bytes {
            Some(bytes) => heap.resize(bytes, layout),
            none => {
                *none = Some(heap.alloc(layout)?);
                Ok(())
            }
        }
    }

    /// An empty vector with room for `capacity` elements. Moves nothing.
    ///
    /// # Errors
    /// As [`Vec::reserve`].
    pub fn with_capacity<H: ByteHeap<Names = N>>(
        heap: &H,
        capacity: usize,
    ) -> Result<Self, Refused> {
        let mut vec = Self::new();
        if capacity > 0 && size_of::<T>() > 0 {
            vec.bytes = Some(heap.alloc(Self::layout(heap, capacity)?)?);
        }
        Ok(vec)
    }

    fn layout<H: ByteHeap<Names = N>>(heap: &H, capacity: usize) -> Result<Layout, Refused> {
        let bytes = Groups::<T>::new(heap.piece_bytes()).bytes(capacity)?;
        Layout::from_size_align(bytes, align_of::<T>()).map_err(|_| Refused::TooLarge {
            limit: isize::MAX as usize,
        })
    }

    /// Frees the object of a vector without elements.
    fn free_object<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) {
        debug_assert!(self.len == 0, "elements would leak");
        if let Some(bytes) = self.bytes.take() {
            heap.free_bytes(bytes);
        }
    }

    // ---- slots ---------------------------------------------------------------------------------

    /// The slots of a vector without an object: as many as there may be, if they have no bytes.
    const NO_BYTES: usize = if size_of::<T>() == 0 { usize::MAX } else { 0 };

    /// The slots from `index`, which is below the capacity, to the end of their group.
    #[inline]
    fn slots<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
        index: usize,
    ) -> &'a [MaybeUninit<T>] {
        let Some(bytes) = &self.bytes else {
            // SAFETY: a slice of no bytes may be anywhere that is aligned.
            return unsafe { core::slice::from_raw_parts(core::ptr::dangling(), Self::NO_BYTES) };
        };
        let groups = Groups::<T>::new(heap.piece_bytes());
        debug_assert!(index < groups.capacity(N::len(bytes)), "C1: a slot");
        let place = groups.place(N::len(bytes), index);
        let (first, bytes) = heap.chunk(bytes, place.offset);
        let count = place.room.min(bytes / size_of::<T>());
        // SAFETY: C1: the object, or each of its pieces, is aligned to `T`, and the offset in it is
        // a multiple of its size; the chunk has the bytes of `count` slots, which need not be
        // initialised. C3 for the lifetime. The pointer comes from no reference to shared bytes:
        // elements may change behind one, as a `Cell` does.
        unsafe { core::slice::from_raw_parts(first.as_ptr().cast(), count) }
    }

    /// As `slots`, but mutable.
    #[inline]
    fn slots_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
        index: usize,
    ) -> &'a mut [MaybeUninit<T>] {
        let Some(bytes) = &mut self.bytes else {
            let anywhere = core::ptr::dangling_mut();
            // SAFETY: a slice of no bytes may be anywhere that is aligned.
            return unsafe { core::slice::from_raw_parts_mut(anywhere, Self::NO_BYTES) };
        };
        let groups = Groups::<T>::new(heap.piece_bytes());
        debug_assert!(index < groups.capacity(N::len(bytes)), "C1: a slot");
        let place = groups.place(N::len(bytes), index);
        let chunk = heap.chunk_mut(bytes, place.offset);
        let count = place.room.min(chunk.len() / size_of::<T>());
        // SAFETY: as in `slots`, and the chunk is borrowed exclusively. The callers write elements
        // only.
        unsafe { core::slice::from_raw_parts_mut(chunk.as_mut_ptr().cast(), count) }
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

    // ---- elements ------------------------------------------------------------------------------

    /// An element.
    #[inline]
    #[must_use]
    pub fn get<'a, H: ByteHeap<Names = N>>(&'a self, heap: &'a H, index: usize) -> Option<&'a T> {
        self.slice_at(heap, index).first()
    }

    /// An element, mutable.
    #[inline]
    #[must_use]
    pub fn get_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
        index: usize,
    ) -> Option<&'a mut T> {
        self.slice_at_mut(heap, index).first_mut()
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
    /// The element, if the vector is full.
    #[inline]
    pub fn push_within_capacity<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &H,
        value: T,
    ) -> Result<(), T>
    where
        T: Send,
    {
        if self.len == self.capacity(heap) {
            return Err(value);
        }
        self.write(heap, value);
        Ok(())
    }

    /// Appends an element for which there is room.
    #[inline]
    fn write<H: ByteHeap<Names = N>>(&mut self, heap: &H, value: T) {
        let len = self.len;
        self.slots_mut(heap, len)[0].write(value);
        self.len = len + 1;
    }

    /// Takes the last element out. Moves nothing: the capacity stays.
    #[inline]
    pub fn pop<H: ByteHeap<Names = N>>(&mut self, heap: &H) -> Option<T> {
        let last = self.len.checked_sub(1)?;
        let slot = &self.slots(heap, last)[0];
        // SAFETY: C2: the slot holds an element; the length below says that it does no more.
        let value = unsafe { slot.assume_init_read() };
        self.len = last;
        Some(value)
    }

    /// Takes an element out, and puts the last one into its place. Moves no object.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline]
    pub fn swap_remove<H: ByteHeap<Names = N>>(&mut self, heap: &H, index: usize) -> T {
        let len = self.len;
        assert!(index < len, "there is no element {index}: there are {len}");
        let last = &self.slots(heap, len - 1)[0];
        // SAFETY: C2: the slot holds an element; the length below says that it does no more.
        let last = unsafe { last.assume_init_read() };
        self.len = len - 1;
        if index == len - 1 {
            return last;
        }
        let slot = &mut self.slots_mut(heap, index)[0];
        // SAFETY: C2: the slot holds an element; it is another one's from here on.
        let value = unsafe { slot.assume_init_read() };
        slot.write(last);
        value
    }

    /// Exchanges two elements.
    ///
    /// # Panics
    /// If there are not so many elements.
    pub fn swap<H: ByteHeap<Names = N>>(&mut self, heap: &H, a: usize, b: usize) {
        assert!(
            a < self.len && b < self.len,
            "there are {} elements",
            self.len
        );
        let read = |index| {
            // SAFETY: C2: the slot holds an element. Below it holds another one, and nothing panics
            // until then: the heap is the vector's, as the first read showed.
            unsafe { self.slots(heap, index)[0].assume_init_read() }
        };
        let (first, second) = (read(a), read(b));
        self.slots_mut(heap, a)[0].write(second);
        self.slots_mut(heap, b)[0].write(first);
    }

    /// Appends copies of all elements of a slice. May move objects.
    ///
    /// # Errors
    /// What [`Vec::reserve`] returned; the vector is unchanged.
    pub fn extend_from_slice<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        source: &[T],
    ) -> Result<(), Refused>
    where
        T: Copy + Send,
    {
        self.reserve(heap, source.len())?;
        self.fill_from_slice(heap, source);
        Ok(())
    }

    /// Appends copies of elements for which there is room.
    pub(crate) fn fill_from_slice<H: ByteHeap<Names = N>>(&mut self, heap: &H, source: &[T])
    where
        T: Copy + Send,
    {
        debug_assert!(source.len() <= self.capacity(heap) - self.len);
        let mut rest = source;
        while !rest.is_empty() {
            let len = self.len;
            let slots = self.slots_mut(heap, len);
            let (now, later) = rest.split_at(slots.len().min(rest.len()));
            for (slot, value) in slots.iter_mut().zip(now) {
                slot.write(*value);
            }
            self.len = len + now.len();
            rest = later;
        }
    }

    /// Frees the vector, and releases its elements, the last first. May move objects.
    ///
    /// # Panics
    /// If the vector has an object of another heap: it leaks. If the release of an element panics:
    /// the others are released, and the object is freed; a second panic ends the process.
    pub fn free<H: ByteHeap<Names = N>>(self, heap: &mut H)
    where
        T: Release<H>,
    {
        assert!(self.is_of(heap), "the vector belongs to another heap");
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
