//! Verifies a deque.
#![deny(unsafe_code)]

use surefit_core::{Corruption, ensure};

use super::queue::VecDeque;
use crate::heap::ByteHeap;
use crate::names::Names;

impl<T, N: Names> VecDeque<T, N> {
    /// Verifies every numbered invariant of the deque (D) and of its ring (R), and that each run is
    /// whole ([`Vec::check`](crate::Vec::check)).
    ///
    /// # Errors
    /// The first invariant that does not hold; C1 if an object is not whole, or belongs to another
    /// heap.
    ///
    /// # Complexity
    /// O(slots of the ring).
    pub fn check<H: ByteHeap<Names = N>>(&self, heap: &H) -> Result<(), Corruption> {
        ensure(
            self.is_of(heap),
            "C1",
            "an object of another heap",
            self.len,
        )?;
        let (per, others) = (Self::per(heap.piece_bytes()), self.ring.len());
        self.first.check(heap)?;
        self.ring.check(heap)?;
        self.last.check(heap)?;
        ensure(
            match self.is_one() {
                true => others == 0 && (size_of::<T>() == 0 || self.first.capacity() == 0),
                false => !self.last.is_empty(),
            },
            "D1",
            "a first or last run without elements beside others",
            others,
        )?;
        let last = self.last.capacity();
        ensure(
            last <= per && (self.is_one() || (last == per && self.last.start() == 0)),
            "D2",
            "a last run with a gap",
            last,
        )?;
        ensure(
            self.is_one() || (self.first.capacity() == per && self.first.end() == per),
            "D2",
            "a first run with a gap",
            self.first.end(),
        )?;
        let mut len = self.first.len() + self.last.len();
        for number in 0..others {
            self.ring.get(heap, number).check(heap)?;
            len += per;
        }
        ensure(len == self.len, "D3", "another number of elements", len)
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::vec;
    use core::mem::MaybeUninit;

    use surefit_compact::{Config, Heap};

    use crate::VecDeque;

    static CONFIG: Config = Config::DEFAULT;

    #[test]
    fn a_run_of_another_heap_is_found_out() {
        let mut memory = [(); 2].map(|()| vec![MaybeUninit::uninit(); 1 << 20]);
        let [one, two] = &mut memory;
        let mut one: Heap<'_> = Heap::new(one, &CONFIG).expect("large enough");
        let mut two: Heap<'_> = Heap::new(two, &CONFIG).expect("large enough");
        let (mut deque, mut other) = (VecDeque::<u64>::new(), VecDeque::<u64>::new());
        deque.extend(&mut one, 0..5000).expect("room");
        other.extend(&mut two, 0..5000).expect("room");
        let exchange = |deque: &mut VecDeque<u64>, other: &mut VecDeque<u64>| {
            let (here, there) = (deque.ring.get_mut(&one, 3), other.ring.get_mut(&two, 3));
            core::mem::swap(here, there);
        };
        exchange(&mut deque, &mut other);
        for found in [deque.check(&one), other.check(&two)] {
            assert_eq!(found.map_err(|found| found.invariant), Err("C1"));
        }
        exchange(&mut deque, &mut other);
        assert_eq!((deque.check(&one), other.check(&two)), (Ok(()), Ok(())));
        deque.free(&mut one);
        other.free(&mut two);
        assert_eq!(one.live_blocks().count(), 0);
    }
}
