//! The elements of a vector, one contiguous slice at a time; and runs, which are one slice with
//! room at both ends.

use core::fmt;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_core::{Corruption, Refused, ensure};

use super::elements::Vec;
use crate::heap::ByteHeap;
use crate::names::Names;

/// The elements of a vector in order, one contiguous slice at a time. [`Vec::slices`] makes it.
pub struct Slices<'a, T, H: ByteHeap> {
    vec: &'a Vec<T, H::Names>,
    heap: &'a H,
    next: usize,
}

/// The elements of a vector in order, one contiguous mutable slice at a time. [`Vec::slices_mut`]
/// makes it.
pub struct SlicesMut<'a, T, H: ByteHeap> {
    vec: &'a mut Vec<T, H::Names>,
    heap: &'a H,
    next: usize,
}

impl<T, N: Names> Vec<T, N> {
    /// All elements in order, one contiguous slice at a time: one slice if they are not in pieces.
    ///
    /// # Complexity
    /// A look-up for each piece.
    #[inline]
    pub const fn slices<'a, H: ByteHeap<Names = N>>(&'a self, heap: &'a H) -> Slices<'a, T, H> {
        Slices {
            vec: self,
            heap,
            next: 0,
        }
    }

    /// As [`Vec::slices`], but mutable.
    #[inline]
    pub const fn slices_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
    ) -> SlicesMut<'a, T, H> {
        SlicesMut {
            vec: self,
            heap,
            next: 0,
        }
    }
}

impl<'a, T, H: ByteHeap> Iterator for Slices<'a, T, H> {
    type Item = &'a [T];

    #[inline]
    fn next(&mut self) -> Option<&'a [T]> {
        if self.next >= self.vec.len() {
            return None;
        }
        let slice = self.vec.slice_at(self.heap, self.next);
        self.next += slice.len();
        Some(slice)
    }
}

impl<'a, T, H: ByteHeap> Iterator for SlicesMut<'a, T, H> {
    type Item = &'a mut [T];

    #[inline]
    fn next(&mut self) -> Option<&'a mut [T]> {
        if self.next >= self.vec.len() {
            return None;
        }
        let slice: *mut [T] = self.vec.slice_at_mut(self.heap, self.next);
        self.next += slice.len();
        // SAFETY: C2, C3: elements of the vector, which is borrowed exclusively for `'a`, as is its
        // heap shared; every element is in one slice only, because the next one begins behind it.
        Some(unsafe { &mut *slice })
    }
}

impl<T, H: ByteHeap> Clone for Slices<'_, T, H> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<T, H: ByteHeap> fmt::Debug for Slices<'_, T, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Slices(from {} of {:?})", self.next, self.vec)
    }
}

impl<T, H: ByteHeap> fmt::Debug for SlicesMut<'_, T, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SlicesMut(from {} of {:?})", self.next, self.vec)
    }
}

/// Elements that are contiguous, with room before and behind them: a part of a deque. It is never
/// in pieces.
///
/// # Invariant
/// - C4 The slots from `start` to the end of `slots` hold elements, and no slot before them does.
pub(crate) struct Run<T, N: Names> {
    slots: Vec<MaybeUninit<T>, N>,
    start: usize,
}

impl<T, N: Names> Run<T, N> {
    /// A run without elements, and without an object.
    pub(crate) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            start: 0,
        }
    }

    /// An empty run with so many slots, which are at most those of a piece.
    pub(crate) fn with_capacity<H: ByteHeap<Names = N>>(
        heap: &H,
        capacity: usize,
    ) -> Result<Self, Refused> {
        let slots = Vec::with_capacity(heap, capacity)?;
        Ok(Self { slots, start: 0 })
    }

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.slots.len() - self.start
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.slots.len() == self.start
    }

    /// The slots before the first element.
    #[inline]
    pub(crate) const fn start(&self) -> usize {
        self.start
    }

    /// The slots up to the last element.
    #[inline]
    pub(crate) const fn end(&self) -> usize {
        self.slots.len()
    }

    /// The slots of a run whose elements have no bytes.
    pub(crate) const WITHOUT_BYTES: usize = 1024;

    /// All slots.
    #[inline]
    pub(crate) fn capacity<H: ByteHeap<Names = N>>(&self, heap: &H) -> usize {
        match size_of::<T>() {
            0 => Self::WITHOUT_BYTES,
            _ => self.slots.capacity(heap),
        }
    }

    #[inline]
    pub(crate) fn is_of<H: ByteHeap<Names = N>>(&self, heap: &H) -> bool {
        self.slots.is_of(heap)
    }

    /// The place of the first slot; those of the others lie behind it.
    #[inline]
    fn first<H: ByteHeap<Names = N>>(&self, heap: &H) -> NonNull<T> {
        let first = self.slots.block(heap);
        first.expect("a run is contiguous").cast()
    }

    /// The elements.
    #[inline]
    pub(crate) fn as_slice<'a, H: ByteHeap<Names = N>>(&'a self, heap: &'a H) -> &'a [T] {
        // SAFETY: C4: the slots from `start` on hold elements, and lie in one block (C1). The run is
        // borrowed, and nothing moves (C3).
        unsafe {
            let first = self.first(heap).add(self.start);
            NonNull::slice_from_raw_parts(first, self.len()).as_ref()
        }
    }

    /// The elements, mutable.
    #[inline]
    pub(crate) fn as_slice_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
    ) -> &'a mut [T] {
        // SAFETY: as in `as_slice`, and the run is borrowed exclusively.
        unsafe {
            let first = self.first(heap).add(self.start);
            NonNull::slice_from_raw_parts(first, self.len()).as_mut()
        }
    }

    /// Makes room for so many slots in all. May move objects.
    pub(crate) fn reserve<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        capacity: usize,
    ) -> Result<(), Refused> {
        let more = capacity.saturating_sub(self.slots.len());
        self.slots.reserve_exact(heap, more)
    }

    /// Gives back the slots behind the last element. May move objects.
    pub(crate) fn shrink<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) -> Result<(), Refused> {
        self.slots.shrink_to_fit(heap)
    }

    /// Moves the elements so that so many slots are before them.
    ///
    /// # Panics
    /// If there are not so many slots, or if the run belongs to another heap.
    pub(crate) fn shift<H: ByteHeap<Names = N>>(&mut self, heap: &H, start: usize) {
        let (former, len) = (self.start, self.len());
        let end = start.max(former) + len;
        self.slots.set_len(heap, end);
        // C4, without elements, if one of the calls below panics.
        self.start = end;
        let slots = self.slots.slice_at_mut(heap, start.min(former));
        match start < former {
            true => slots.rotate_left(former - start),
            false => slots.rotate_right(start - former),
        }
        self.slots.set_len(heap, start + len);
        self.start = start;
    }

    /// Appends an element, for which there is room behind the others.
    #[inline]
    pub(crate) fn push_back<H: ByteHeap<Names = N>>(&mut self, heap: &H, value: T)
    where
        T: Send,
    {
        let end = self.slots.len;
        assert!(end < self.slots.capacity(heap), "there is room");
        // SAFETY: C1, C4: a slot of the run, which is borrowed exclusively, with no element.
        unsafe { self.first(heap).add(end).write(value) };
        self.slots.len = end + 1;
    }

    /// Puts an element before the others, where there is room.
    #[inline]
    pub(crate) fn push_front<H: ByteHeap<Names = N>>(&mut self, heap: &H, value: T)
    where
        T: Send,
    {
        let start = self.start.checked_sub(1).expect("there is room");
        // SAFETY: as in `push_back`.
        unsafe { self.first(heap).add(start).write(value) };
        self.start = start;
    }

    /// Takes the last element out.
    #[inline]
    pub(crate) fn pop_back<H: ByteHeap<Names = N>>(&mut self, heap: &H) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let last = self.slots.len - 1;
        // SAFETY: C4: it is the last slot, and holds an element; the length says that it does no
        // more.
        let value = unsafe { self.first(heap).add(last).read() };
        self.slots.len = last;
        Some(value)
    }

    /// Takes the first element out.
    #[inline]
    pub(crate) fn pop_front<H: ByteHeap<Names = N>>(&mut self, heap: &H) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        // SAFETY: C4: it is the first slot with an element; `start` says that it has none then.
        let value = unsafe { self.first(heap).add(self.start).read() };
        self.start += 1;
        Some(value)
    }

    /// Verifies that the slots are whole, as [`Vec::check`] does, and that no more of them are
    /// before the first element than there are.
    pub(crate) fn check<H: ByteHeap<Names = N>>(&self, heap: &H) -> Result<(), Corruption> {
        self.slots.check(heap)?;
        let is_inside = self.start <= self.slots.len();
        ensure(
            is_inside,
            "C4",
            "a run that begins behind its end",
            self.start,
        )
    }

    /// Frees the object of a run without elements. May move objects.
    pub(crate) fn free<H: ByteHeap<Names = N>>(mut self, heap: &mut H) {
        debug_assert!(self.is_empty(), "elements would leak");
        self.slots.set_len(heap, 0);
        // An object without elements is freed, which is not refused.
        let _ = self.slots.shrink_to_fit(heap);
    }
}

impl<T, N: Names> Default for Run<T, N> {
    fn default() -> Self {
        Self::new()
    }
}
