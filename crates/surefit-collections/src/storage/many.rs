//! Several elements of a vector at once: what exchanges them, moves them, or appends many.

use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_core::Refused;

use super::elements::Vec;
use crate::heap::ByteHeap;
use crate::names::Names;

impl<T, N: Names> Vec<T, N> {
    /// The slots of two indices below the capacity.
    #[inline]
    fn two_slots<H: ByteHeap<Names = N>>(
        &self,
        heap: &H,
        a: usize,
        b: usize,
    ) -> [NonNull<MaybeUninit<T>>; 2] {
        if let Some(first) = self.block(heap) {
            // SAFETY: both slots lie in the object, which is one block.
            return [a, b].map(|index| unsafe { first.add(index) });
        }
        [a, b].map(|index| self.slot(heap, index))
    }

    /// Takes an element out, and puts the last one into its place. Moves no object.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline]
    pub fn swap_remove<H: ByteHeap<Names = N>>(&mut self, heap: &H, index: usize) -> T {
        let len = self.len;
        assert!(index < len, "there is no element {index}: there are {len}");
        let [slot, last] = self.two_slots(heap, index, len - 1);
        // SAFETY: C2: both slots hold elements. The element of the last one goes to the other; the
        // length below says that the last slot holds none.
        let value = unsafe {
            let value = slot.cast().read();
            slot.write(last.read());
            value
        };
        self.len = len - 1;
        value
    }

    /// Inserts an element before that of an index, no larger than the length; those behind it move
    /// up. `Err` if there is no room for it, or if the elements are in pieces.
    #[inline]
    pub(crate) fn insert_in_block<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &H,
        index: usize,
        value: T,
    ) -> Result<(), T>
    where
        T: Send,
    {
        if self.len == self.capacity(heap) || index > self.len {
            return Err(value);
        }
        let Some(first) = self.block(heap) else {
            return Err(value);
        };
        // SAFETY: C1: there is room for one more element, and the slots lie in one block. Those from
        // `index` on move up by one (C2), and the new one takes the place that is free then. They
        // are borrowed exclusively (C3).
        unsafe {
            let slot = first.add(index);
            slot.copy_to(slot.add(1), self.len - index);
            slot.cast().write(value);
        }
        self.len += 1;
        Ok(())
    }

    /// Takes an element out; those behind it move down. `None` if there is no such element, or if
    /// they are in pieces.
    #[inline]
    pub(crate) fn remove_from_block<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &H,
        index: usize,
    ) -> Option<T> {
        if index >= self.len {
            return None;
        }
        let first = self.block(heap)?;
        // SAFETY: the slot lies in the block, because the index is below the length.
        let slot = unsafe { first.add(index) };
        // SAFETY: C2: the slot holds an element, and so do those behind it, in one block (C1), which
        // move down by one. They are borrowed exclusively (C3); the length below says that the last
        // slot holds none.
        let value = unsafe {
            let value = slot.cast().read();
            slot.add(1).copy_to(slot, self.len - 1 - index);
            value
        };
        self.len -= 1;
        Some(value)
    }

    /// Exchanges two elements.
    ///
    /// # Panics
    /// If there are not so many elements.
    pub fn swap<H: ByteHeap<Names = N>>(&mut self, heap: &H, a: usize, b: usize) {
        let len = self.len;
        assert!(a < len && b < len, "there are {len} elements");
        let [a, b] = self.two_slots(heap, a, b);
        // SAFETY: C1, C3: two slots of this vector, or twice the same, which is borrowed
        // exclusively.
        unsafe { a.swap(b) };
    }

    /// Moves elements to the end of another vector, which has room for them: each `first + bit`
    /// whose bit is set in `which`, the last of them first. The last element of all takes the place
    /// of each.
    ///
    /// # Panics
    /// If there are not so many elements, or not so much room.
    pub(crate) fn give<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &H,
        target: &mut Self,
        first: usize,
        which: u64,
    ) where
        T: Send,
    {
        let Some(highest) = which.checked_ilog2() else {
            return;
        };
        let count = which.count_ones() as usize;
        let (end, room) = (first + highest as usize, target.capacity(heap) - target.len);
        assert!(
            end < self.len && count <= room,
            "elements, and room for them"
        );
        let (from, elements) = self.slots_from(heap, 0);
        let (to, slots) = target.slots_from(heap, 0);
        let is_contiguous = self.len <= elements && target.len + count <= slots;
        let mut left = which;
        while let Some(bit) = left.checked_ilog2() {
            left ^= 1 << bit;
            let index = first + bit as usize;
            if !is_contiguous {
                let value = self.swap_remove(heap, index);
                target.write(heap, value);
                continue;
            }
            // SAFETY: `index` is no larger than `end`, which is below the length; each turn takes
            // the highest index that is left, and shortens the vector by one. So both slots are
            // among the first `elements`, and hold elements (C2). The slot of the other vector is
            // among the first `slots`, and holds none. They are two objects (C1), and nothing moves
            // (C3). As in `swap_remove`, the lengths below say which slots hold elements.
            unsafe {
                let slot = from.add(index);
                to.add(target.len).write(slot.read());
                slot.write(from.add(self.len - 1).read());
            }
            self.len -= 1;
            target.len += 1;
        }
    }

    /// Appends values until there are no more, or there is no more room: then some may be left.
    pub(crate) fn fill<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &H,
        values: &mut impl Iterator<Item = T>,
    ) where
        T: Send,
    {
        loop {
            let room = self.capacity(heap) - self.len;
            if room == 0 {
                return;
            }
            let (first, count) = self.slots_from(heap, self.len);
            for offset in 0..count.min(room) {
                let Some(value) = values.next() else {
                    return;
                };
                // SAFETY: C1, C3: the slot behind the last element, of a vector that is borrowed
                // exclusively. It counts from now on, also if the next value panics.
                unsafe { first.add(offset).cast().write(value) };
                self.len += 1;
            }
        }
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
}
