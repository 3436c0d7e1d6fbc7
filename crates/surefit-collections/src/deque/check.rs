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
        let (per, others) = (Self::per(heap.piece_bytes()), self.ring.len());
        self.ring.check(heap)?;
        ensure(
            others == 0 || !self.last.is_empty(),
            "D1",
            "a last run without elements behind others",
            others,
        )?;
        let last = self.last.capacity(heap);
        ensure(
            last <= per && (others == 0 || (last == per && self.last.start() == 0)),
            "D2",
            "a last run with a gap",
            last,
        )?;
        let mut len = self.last.len();
        for number in 0..others {
            let run = self.ring.get(heap, number);
            ensure(
                run.capacity(heap) == per && (number == 0 || run.start() == 0) && run.end() == per,
                "D2",
                "a run with a gap",
                number,
            )?;
            len += run.len();
        }
        let has_head = others == 0 || self.head == self.ring.get(heap, 0).start();
        ensure(
            has_head && len == self.len,
            "D3",
            "another number of elements",
            len,
        )
    }
}
