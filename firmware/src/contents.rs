//! The model of one object's bytes: two patterns, one before a split and one behind it. So a write
//! to a part of an object is modelled without a second copy of its bytes.

use core::ops::Range;

/// The bytes that one object must hold.
#[derive(Clone, Copy, Debug)]
pub struct Contents {
    front: u32,
    split: usize,
    back: u32,
}

impl Contents {
    /// All bytes are of the pattern `seed`.
    #[must_use]
    pub const fn new(seed: u32) -> Self {
        Self {
            front: seed,
            split: 0,
            back: seed,
        }
    }

    /// Gives a part of an object of `len` bytes another pattern: the bytes before `at` if these end
    /// behind the split, else those from `at` on. Returns the range that is to be written.
    pub const fn change(&mut self, at: usize, len: usize, seed: u32) -> Range<usize> {
        let before = self.split < at;
        self.split = at;
        if before {
            self.front = seed;
            0..at
        } else {
            self.back = seed;
            at..len
        }
    }

    /// The object keeps its first `len` bytes. What is added later is of the second pattern.
    pub fn shorten(&mut self, len: usize) {
        self.split = self.split.min(len);
    }

    /// The byte at `at`.
    #[must_use]
    pub const fn byte(&self, at: usize) -> u8 {
        let seed = if at < self.split {
            self.front
        } else {
            self.back
        };
        let mixed = seed.wrapping_add(at as u32).wrapping_mul(0x9e37_79b1);
        mixed.to_le_bytes()[3]
    }
}
