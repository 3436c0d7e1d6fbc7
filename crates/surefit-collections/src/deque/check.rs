//! Verifies a deque.
#![deny(unsafe_code)]

use surefit_core::{Corruption, ensure};

use super::queue::VecDeque;
use crate::heap::ByteHeap;
use crate::names::Names;

impl<T, N: Names> VecDeque<T, N> {
    /// Verifies every numbered invariant of the deque (D) and of its ring (R).
    ///
    /// # Errors
    /// The first invariant that does not hold; C1 if an object belongs to another heap.
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
        let (per, runs) = (Self::per(heap.piece_bytes()), self.ring.len());
        self.ring.check(heap)?;
        if runs == 0 {
            ensure(
                self.only.len() == self.len && self.only.capacity(heap) <= per,
                "D1",
                "the only run has other elements",
                self.len,
            )?;
            return Ok(());
        }
        ensure(
            runs > 1 && self.only.capacity(heap) == if size_of::<T>() == 0 { per } else { 0 },
            "D1",
            "a ring of one run, or elements beside it",
            runs,
        )?;
        let mut len = 0;
        for number in 0..runs {
            let run = self.ring.get(heap, number);
            ensure(
                run.capacity(heap) == per
                    && (number == 0 || run.start() == 0)
                    && (number == runs - 1 || run.end() == per),
                "D2",
                "a run with a gap",
                number,
            )?;
            len += run.len();
        }
        let is_counted = len == self.len && self.head == self.ring.get(heap, 0).start();
        ensure(is_counted, "D3", "another number of elements", len)
    }
}
