//! Elements that are taken out of a vector one by one.
#![deny(unsafe_code)]

use core::fmt;

use crate::heap::ByteHeap;
use crate::release::Release;
use crate::storage::Vec;

/// The elements that [`Vec::drain`] takes out.
pub struct Drain<'a, T: Release<H>, H: ByteHeap> {
    vec: &'a mut Vec<T, H::Names>,
    heap: &'a mut H,
    /// The elements that stay.
    kept: usize,
}

impl<'a, T: Release<H>, H: ByteHeap> Drain<'a, T, H> {
    /// Takes out what is behind the first `kept` elements, the last first.
    pub(crate) const fn new(vec: &'a mut Vec<T, H::Names>, heap: &'a mut H, kept: usize) -> Self {
        Self { vec, heap, kept }
    }
}

impl<T: Release<H>, H: ByteHeap> Iterator for Drain<'_, T, H> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.vec.len() == self.kept {
            return None;
        }
        self.vec.pop(self.heap)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.vec.len() - self.kept;
        (left, Some(left))
    }
}

impl<T: Release<H>, H: ByteHeap> ExactSizeIterator for Drain<'_, T, H> {}

impl<T: Release<H>, H: ByteHeap> Drop for Drain<'_, T, H> {
    fn drop(&mut self) {
        // If a release panics, the rest stays in the vector, which is whole.
        self.vec.truncate(self.heap, self.kept);
    }
}

impl<T: Release<H>, H: ByteHeap> fmt::Debug for Drain<'_, T, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Drain({} left)", self.len())
    }
}
