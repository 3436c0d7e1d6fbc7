//! What a vector does by reading, writing and exchanging its elements: no `unsafe` here.
#![deny(unsafe_code)]

use core::fmt;
use core::ops::RangeBounds;

use surefit_compact::Full;
use surefit_core::Refused;

use crate::clone::TryClone;
use crate::drain::Drain;
use crate::heap::ByteHeap;
use crate::names::Names;
use crate::range::bounds;
use crate::release::Release;
use crate::shown::Shown;
use crate::storage::Vec;

impl<T, N: Names> Vec<T, N> {
    /// All elements in one slice; `None` if they are in pieces.
    #[inline]
    #[must_use]
    pub fn as_slice<'a, H: ByteHeap<Names = N>>(&'a self, heap: &'a H) -> Option<&'a [T]> {
        let slice = self.slice_at(heap, 0);
        (slice.len() == self.len()).then_some(slice)
    }

    /// As [`Vec::as_slice`], but mutable: for `sort`, say.
    #[inline]
    #[must_use]
    pub fn as_slice_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
    ) -> Option<&'a mut [T]> {
        let len = self.len();
        let slice = self.slice_at_mut(heap, 0);
        (slice.len() == len).then_some(slice)
    }

    /// All elements in order.
    #[inline]
    pub fn iter<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
    ) -> impl Iterator<Item = &'a T> + use<'a, T, N, H> {
        self.slices(heap).flatten()
    }

    /// All elements in order, mutable.
    #[inline]
    pub fn iter_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
    ) -> impl Iterator<Item = &'a mut T> + use<'a, T, N, H> {
        self.slices_mut(heap).flatten()
    }

    /// The first element.
    #[must_use]
    pub fn first<'a, H: ByteHeap<Names = N>>(&'a self, heap: &'a H) -> Option<&'a T> {
        self.get(heap, 0)
    }

    /// The last element.
    #[must_use]
    pub fn last<'a, H: ByteHeap<Names = N>>(&'a self, heap: &'a H) -> Option<&'a T> {
        self.get(heap, self.len().checked_sub(1)?)
    }

    /// Inserts an element before that of an index; those behind it move up. May move objects.
    ///
    /// # Errors
    /// The element, and what [`Vec::reserve`] returned; the vector is unchanged.
    ///
    /// # Panics
    /// If the index is above the length; the element is released.
    ///
    /// # Complexity
    /// O(elements behind it).
    pub fn insert<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        index: usize,
        value: T,
    ) -> Result<(), Full<T>>
    where
        T: Release<H> + Send,
    {
        if index > self.len() {
            value.release(heap);
            panic!("{index} is above the length {}", self.len());
        }
        if let Err(refused) = self.reserve(heap, 1) {
            return Err(Full { value, refused });
        }
        self.insert_within_capacity(heap, index, value);
        Ok(())
    }

    /// Inserts an element for which there is room.
    pub(crate) fn insert_within_capacity<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &H,
        index: usize,
        value: T,
    ) where
        T: Send,
    {
        let mut carried = match self.insert_in_block(heap, index, value) {
            Ok(()) => return,
            Err(value) => value,
        };
        // Each group takes what the one before it pushed out.
        let mut at = index;
        while at < self.len() {
            let slice = self.slice_at_mut(heap, at);
            slice.rotate_right(1);
            core::mem::swap(&mut slice[0], &mut carried);
            at += slice.len();
        }
        let pushed = self.push_within_capacity(heap, carried);
        debug_assert!(pushed.is_ok(), "room was made");
    }

    /// Takes an element out; those behind it move down. Moves no object.
    ///
    /// # Panics
    /// If there is no such element.
    ///
    /// # Complexity
    /// O(elements behind it).
    pub fn remove<H: ByteHeap<Names = N>>(&mut self, heap: &H, index: usize) -> T {
        let len = self.len();
        assert!(index < len, "there is no element {index}: there are {len}");
        if let Some(value) = self.remove_from_block(heap, index) {
            return value;
        }
        // The removed element goes to the end of its group, and from there group by group.
        let mut at = index;
        while at < len {
            let slice = self.slice_at_mut(heap, at);
            slice.rotate_left(1);
            let end = at + slice.len();
            if at > index {
                self.swap(heap, at - 1, end - 1);
            }
            at = end;
        }
        self.pop(heap).expect("it is the last now")
    }

    /// Releases all elements from `len` on, the last first. The capacity stays.
    ///
    /// # Panics
    /// If the release of an element panics: those that are left are still there.
    ///
    /// # Complexity
    /// O(released elements), or O(1) if they own nothing ([`Release::OWNS_NOTHING`]).
    pub fn truncate<H: ByteHeap<Names = N>>(&mut self, heap: &mut H, len: usize)
    where
        T: Release<H>,
    {
        assert!(self.is_of(heap), "the vector belongs to another heap");
        if T::OWNS_NOTHING {
            return self.forget_from(len);
        }
        while self.len() > len {
            if let Some(value) = self.pop(heap) {
                value.release(heap);
            }
        }
    }

    /// Releases all elements. The capacity stays.
    ///
    /// # Panics
    /// As [`Vec::truncate`].
    pub fn clear<H: ByteHeap<Names = N>>(&mut self, heap: &mut H)
    where
        T: Release<H>,
    {
        self.truncate(heap, 0);
    }

    /// Appends values until there are no more. May move objects.
    ///
    /// # Errors
    /// The value for which there was no room, and what [`Vec::reserve`] returned. Those before it
    /// are appended, and those behind it were not taken: pass `values.by_ref()` to keep them.
    pub fn extend<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        values: impl IntoIterator<Item = T>,
    ) -> Result<(), Full<T>>
    where
        T: Send,
    {
        let mut values = values.into_iter().fuse();
        // Only a hint: what is refused here may be served one by one.
        let _ = self.reserve(heap, values.size_hint().0);
        loop {
            if self.is_of(heap) {
                self.fill(heap, &mut values);
            }
            let Some(value) = values.next() else {
                return Ok(());
            };
            self.push(heap, value)?;
        }
    }

    /// Keeps the elements for which `keep` returns `true`, in their order, and releases the others.
    ///
    /// # Panics
    /// If `keep` or the release of an element panics: every element that was not released is still
    /// there, in some order.
    ///
    /// # Complexity
    /// O(elements).
    pub fn retain<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        mut keep: impl FnMut(&mut T) -> bool,
    ) where
        T: Release<H>,
    {
        let (mut kept, mut index) = (0, 0);
        while index < self.len() {
            let slice = self.slice_at_mut(heap, index);
            let (mut front, seen) = (0, slice.len());
            for at in 0..seen {
                if keep(&mut slice[at]) {
                    slice.swap(front, at);
                    front += 1;
                }
            }
            if kept < index {
                (0..front).for_each(|at| self.swap(heap, kept + at, index + at));
            }
            (kept, index) = (kept + front, index + seen);
        }
        self.truncate(heap, kept);
    }

    /// Takes a range of elements out, in order; those behind it move down. What is not taken is
    /// released when the iterator is dropped. An iterator that is forgotten leaves it in the
    /// vector, behind the others.
    ///
    /// # Panics
    /// If the range ends above the length, or before it begins.
    ///
    /// # Complexity
    /// O(elements from its beginning on).
    pub fn drain<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a mut H,
        range: impl RangeBounds<usize>,
    ) -> Drain<'a, T, H>
    where
        T: Release<H>,
    {
        let len = self.len();
        let (start, end) = bounds(&range, len);
        // What is taken comes last, the first of it last of all: so `pop` takes it in order.
        self.reverse(heap, start, len);
        self.reverse(heap, start, len - (end - start));
        Drain::new(self, heap, len - (end - start))
    }

    /// Reverses the order of the elements from `start` to `end`.
    pub(crate) fn reverse<H: ByteHeap<Names = N>>(&mut self, heap: &H, start: usize, end: usize) {
        let slice = self.slice_at_mut(heap, start);
        if let Some(slice) = slice.get_mut(..end - start) {
            return slice.reverse();
        }
        for offset in 0..(end - start) / 2 {
            self.swap(heap, start + offset, end - 1 - offset);
        }
    }

    /// A copy of the vector and of its elements. Moves nothing unless it is refused.
    ///
    /// # Errors
    /// What was exhausted, or [`Refused::ForeignHandle`]; what was copied before is released.
    ///
    /// # Panics
    /// If the copy of an element does: then what was copied before leaks.
    pub fn try_clone<H: ByteHeap<Names = N>>(&self, heap: &mut H) -> Result<Self, Refused>
    where
        T: TryClone<H, Partial: Release<H>> + Release<H> + Send,
    {
        crate::clone::try_clone(self, heap)
    }

    /// The elements, for `{:?}`.
    pub fn debug<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
    ) -> impl fmt::Debug + use<'a, T, N, H>
    where
        T: fmt::Debug,
    {
        Shown(move |f: &mut fmt::Formatter<'_>| f.debug_list().entries(self.iter(heap)).finish())
    }
}
