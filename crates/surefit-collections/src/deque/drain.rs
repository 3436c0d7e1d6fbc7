//! Elements that are taken out of a deque one by one.
#![deny(unsafe_code)]

use core::fmt;
use core::ops::RangeBounds;

use super::ends::End;
use super::queue::VecDeque;
use crate::heap::ByteHeap;
use crate::names::Names;
use crate::range::bounds;
use crate::release::Release;

/// The elements that [`VecDeque::drain`] takes out.
pub struct DrainDeque<'a, T: Release<H>, H: ByteHeap> {
    deque: &'a mut VecDeque<T, H::Names>,
    heap: &'a mut H,
    /// Where the elements are that are taken out.
    end: End,
    /// How many are left.
    left: usize,
}

impl<T, N: Names> VecDeque<T, N> {
    /// Takes a range of elements out, in order; those behind it move down. What is not taken is
    /// released when the iterator is dropped. An iterator that is forgotten leaves it in the deque,
    /// perhaps behind the others. May move objects.
    ///
    /// # Panics
    /// If the range ends above the length, or before it begins; or if the deque has an object of
    /// another heap.
    ///
    /// # Complexity
    /// O(elements that are taken), if the range begins with the first element; else O(elements from
    /// its beginning on).
    pub fn drain<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a mut H,
        range: impl RangeBounds<usize>,
    ) -> DrainDeque<'a, T, H>
    where
        T: Release<H>,
    {
        assert!(self.is_of(heap), "the deque belongs to another heap");
        let (start, end) = bounds(&range, self.len);
        let left = end - start;
        if start > 0 && left > 0 {
            // What is taken comes last, the first of it last of all: so `pop_back` takes it in
            // order.
            self.reverse(heap, start, self.len);
            self.reverse(heap, start, self.len - left);
        }
        DrainDeque {
            deque: self,
            heap,
            end: if start > 0 { End::Back } else { End::Front },
            left,
        }
    }
}

impl<T: Release<H>, H: ByteHeap> Iterator for DrainDeque<'_, T, H> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        match self.end {
            End::Front => self.deque.pop_front(self.heap),
            End::Back => self.deque.pop_back(self.heap),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T: Release<H>, H: ByteHeap> ExactSizeIterator for DrainDeque<'_, T, H> {}

impl<T: Release<H>, H: ByteHeap> Drop for DrainDeque<'_, T, H> {
    fn drop(&mut self) {
        // If a release panics, the rest stays in the deque, which is whole.
        while let Some(value) = self.next() {
            value.release(self.heap);
        }
    }
}

impl<T: Release<H>, H: ByteHeap> fmt::Debug for DrainDeque<'_, T, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DrainDeque({} left)", self.left)
    }
}
