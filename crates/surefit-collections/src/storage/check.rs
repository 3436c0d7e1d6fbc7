//! Whether a vector is what it says.
#![deny(unsafe_code)]

use surefit_core::{Corruption, ensure};

use super::elements::Vec;
use crate::heap::ByteHeap;
use crate::names::Names;

impl<T, N: Names> Vec<T, N> {
    /// Verifies what a vector relies on: its object belongs to the heap, has live page-blocks for
    /// all its pieces and spines, aligned, and room for the elements; the slices have all elements.
    /// It cannot know whether slots hold elements, or whether another vector names the object.
    ///
    /// # Errors
    /// The first invariant that does not hold, C1 or C2.
    ///
    /// # Complexity
    /// O(pieces × levels of spines).
    pub fn check<H: ByteHeap<Names = N>>(&self, heap: &H) -> Result<(), Corruption> {
        let Some(bytes) = &self.bytes else {
            let has_none = self.len == 0 || size_of::<T>() == 0;
            return ensure(has_none, "C2", "there are elements but no object", self.len);
        };
        let len = N::len(bytes);
        ensure(
            size_of::<T>() > 0,
            "C1",
            "elements without bytes have an object",
            len,
        )?;
        let is_whole = heap.is_whole(bytes, align_of::<T>());
        ensure(
            is_whole,
            "C1",
            "the object is not whole, or of another heap",
            len,
        )?;
        let has_room = self.len <= self.capacity(heap);
        ensure(
            has_room,
            "C2",
            "there are more elements than slots",
            self.len,
        )?;
        let listed: usize = self.slices(heap).map(<[T]>::len).sum();
        ensure(
            listed == self.len,
            "C2",
            "slices have another number of elements",
            listed,
        )
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::vec;
    use core::mem::MaybeUninit;

    use surefit_compact::{Config, Heap};

    use crate::Vec;

    static CONFIG: Config = Config::DEFAULT;

    fn broken(vec: &Vec<u64>, heap: &Heap<'_>) -> Result<(), &'static str> {
        vec.check(heap).map_err(|found| found.invariant)
    }

    #[test]
    fn a_vector_that_says_anything_else_is_found_out() {
        let mut memory = [(); 2].map(|()| vec![MaybeUninit::uninit(); 1 << 20]);
        let [one, two] = &mut memory;
        let mut heap: Heap<'_> = Heap::new(one, &CONFIG).expect("large enough");
        let other: Heap<'_> = Heap::new(two, &CONFIG).expect("large enough");
        for len in [1, 300, 512, 513, 20_000] {
            let mut vec = Vec::new();
            vec.extend(&mut heap, 0..len).expect("room");
            assert_eq!(broken(&vec, &heap), Ok(()));
            assert_eq!(broken(&vec, &other), Err("C1"));
            let len = vec.len;
            vec.len = vec.capacity(&heap) + 1;
            assert_eq!(broken(&vec, &heap), Err("C2"));
            vec.len = len;
            let object = vec.bytes.take();
            assert_eq!(broken(&vec, &heap), Err("C2"));
            vec.bytes = object;
            vec.free(&mut heap);
        }
        assert_eq!(heap.live_blocks().count(), 0);
    }
}
