//! The elements of a vector, one contiguous slice at a time.

use core::fmt;

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
