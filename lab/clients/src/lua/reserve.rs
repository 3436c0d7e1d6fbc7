//! Memory that is kept in long pieces, for what finds no room although most of a heap is free.
//!
//! ```text
//! start:    a third of the heap is expected to be needed
//! expect:   an array or a buffer was requested: a longer one may follow
//! forget:   a collection ended: a little less is expected, but not less than may follow
//! halve:    small objects need the memory: at most half as much is expected from now on
//! fill:     free all pieces; take the longest ones that the heap has, in all what is expected
//! release:  free all pieces
//! ```
//! No object moves, so that those that survive collections lie all over the heap. After a while no
//! free chunk is as long as the array of a table that grows, or as a buffer of Lua's libraries.
//! The pieces stay free of small objects. What is lent from them lies at the front of a piece, and
//! grows there.
//!
//! Lua doubles arrays, whose lengths are powers of two. A buffer grows by half, and then becomes a
//! string that is no longer: three times its length. Hash parts of tables and stacks, of other
//! lengths, are taken for buffers.
//!
//! # Invariants
//! - V1: each of the first `count` pieces is a live object of the heap that Lua never received,
//!   allocated with the layout of its bytes.
//!
//! # Bounds
//! At most [`PIECES`] pieces. `fill` makes at most `STEPS + PIECES` requests of the heap.

use core::ptr::NonNull;

use surefit_core::RawHeap;

use super::layout::layout;

/// The most pieces.
const PIECES: usize = 8;
/// The lengths of pieces are multiples of this part of what is expected.
const STEPS: usize = 8;
/// What is expected at least, as a part of the heap. With less, programs that need long arrays end
/// in fewer heaps; with more, all collect more often.
const LEAST_PART: usize = 13;
/// What is expected at most, and in the beginning, as a part of the heap. With less, a long array
/// that is requested early finds no room later.
const MOST_PART: usize = 3;
/// After each collection this part of what is expected is forgotten.
const FORGOTTEN_PART: usize = 8;
/// What headers and alignment take of a piece, in bytes.
const ROUNDING: usize = 64;
/// The shortest piece, in bytes: anything shorter is found without it.
const SHORTEST: usize = 512;

/// The pieces.
#[derive(Debug)]
pub(super) struct Reserve {
    pieces: [(NonNull<u8>, usize); PIECES],
    count: usize,
    /// What is to be kept, in bytes.
    expected: usize,
    /// The least that is expected, in bytes.
    least: usize,
    /// The most that is expected, in bytes.
    most: usize,
}

impl Reserve {
    /// Nothing is kept.
    pub(super) const fn none() -> Self {
        Self {
            pieces: [(NonNull::dangling(), 0); PIECES],
            count: 0,
            expected: 0,
            least: 0,
            most: 0,
        }
    }

    /// From now on a third of the heap is kept, and less after each collection.
    pub(super) fn start(&mut self, heap: &mut impl RawHeap) {
        let heap_bytes = heap.usage().total();
        self.least = heap_bytes / LEAST_PART;
        self.most = heap_bytes / MOST_PART;
        self.expected = self.most;
        self.fill(heap);
    }

    /// An array or a buffer of so many bytes was requested. Returns whether more is to be kept than
    /// before. One that is longer than all that may be kept changes nothing: it may never be
    /// served.
    pub(super) fn expect(&mut self, bytes: usize) -> bool {
        if bytes > self.most {
            return false;
        }
        let times = if bytes.is_power_of_two() { 2 } else { 3 };
        let expected = bytes.saturating_mul(times).saturating_add(ROUNDING);
        self.least = self.least.max(expected.min(self.most));
        let is_more = self.least > self.expected;
        self.expected = self.expected.max(self.least);
        is_more
    }

    /// A collection ended: less is expected, but not less than was requested.
    pub(super) fn forget(&mut self) {
        let forgotten = self.expected / FORGOTTEN_PART;
        self.expected = self.least.max(self.expected - forgotten);
    }

    /// Small objects need the memory: at most half as much is kept from now on.
    pub(super) fn halve(&mut self) {
        self.most /= 2;
        self.least = self.least.min(self.most);
        self.expected = self.expected.min(self.most);
    }

    /// The bytes that are kept.
    pub(super) fn bytes(&self) -> usize {
        self.pieces[..self.count]
            .iter()
            .map(|(_, bytes)| bytes)
            .sum()
    }

    /// Whether less is kept than is expected.
    pub(super) fn lacks(&self) -> bool {
        self.bytes() + SHORTEST < self.expected && self.count < PIECES
    }

    /// Frees all pieces.
    pub(super) fn release(&mut self, heap: &mut impl RawHeap) {
        for (piece, bytes) in &self.pieces[..self.count] {
            if let Some(layout) = layout(*bytes) {
                // SAFETY: V1: it is live, of this heap, and was allocated with this layout.
                unsafe { heap.free(*piece, layout) };
            }
        }
        self.count = 0;
    }

    /// Keeps what is expected, in the longest pieces that the heap has.
    pub(super) fn fill(&mut self, heap: &mut impl RawHeap) {
        self.release(heap);
        let mut left = self.expected;
        for step in (1..=STEPS).rev() {
            let bytes = self.expected / STEPS * step;
            if bytes < SHORTEST {
                return;
            }
            while left >= bytes && self.count < PIECES {
                let Some(piece) = layout(bytes).and_then(|layout| heap.allocate(layout).ok())
                else {
                    break;
                };
                self.pieces[self.count] = (piece, bytes);
                self.count += 1;
                left -= bytes;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use core::mem::MaybeUninit;
    use std::vec;

    use surefit_core::RawHeap;
    use surefit_freelist::Tlsf;

    use super::{PIECES, Reserve, SHORTEST};

    #[test]
    fn what_is_kept_is_what_is_expected() {
        let mut memory = vec![MaybeUninit::uninit(); 128 << 10];
        let mut heap = Tlsf::new(&mut memory).expect("large enough");
        let mut reserve = Reserve::none();
        assert!(!reserve.lacks() && reserve.bytes() == 0);
        reserve.start(&mut heap);
        let (first, total) = (reserve.bytes(), heap.usage().total());
        assert!(
            first > total / 3 - total / 24 && first <= total / 3,
            "{first}"
        );
        assert!(reserve.count <= PIECES);
        for _ in 0..100 {
            reserve.forget();
        }
        reserve.fill(&mut heap);
        let least = reserve.bytes();
        assert!(
            least <= total / 13 && least + SHORTEST > total / 13 / 8 * 7,
            "{least}"
        );
        // An impossible request changes nothing, one that grows does.
        assert!(!reserve.expect(usize::MAX) && !reserve.expect(total));
        assert!(reserve.expect(total / 8) && reserve.lacks());
        reserve.fill(&mut heap);
        assert!(reserve.bytes() > least);
        for _ in 0..64 {
            reserve.halve();
        }
        reserve.fill(&mut heap);
        assert_eq!((reserve.bytes(), reserve.expect(1)), (0, false));
        reserve.release(&mut heap);
    }
}
