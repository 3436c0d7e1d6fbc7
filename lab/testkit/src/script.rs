//! Scripts of operations. They are pure data, so any heap can run them, and a failing script can be
//! replayed.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// One operation. It names an object by its place among the live ones, oldest first, modulo their
/// number. It is skipped if nothing lives. So every list of operations is a valid script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Allocates an object.
    Alloc {
        /// The request, in bytes.
        size: usize,
        /// The alignment, in bytes: a power of two.
        align: usize,
    },
    /// Frees the nth live object.
    Free(usize),
    /// Resizes the nth live object, to a size in bytes.
    Resize(usize, usize),
}

/// The kind of load that a script puts on a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Random sizes, victims and operations.
    Random,
    /// A stack that grows and shrinks: the newest object is freed first.
    Lifo,
    /// A queue: the oldest object is freed first.
    Fifo,
    /// Fills, then frees most objects at random, then fills again.
    Sawtooth,
    /// Three sizes, so that holes fit exactly or not at all.
    FewSizes,
    /// Sizes that grow slowly, so that old holes are always a little too small.
    Drift,
    /// Frees every other object, then requests the room of two objects: holes without a neighbour.
    Comb,
}

impl Shape {
    /// Every shape.
    pub const ALL: [Self; 7] = [
        Self::Random,
        Self::Lifo,
        Self::Fifo,
        Self::Sawtooth,
        Self::FewSizes,
        Self::Drift,
        Self::Comb,
    ];
}

/// A script of `length` operations of a shape, with requests of up to `largest` bytes, mostly small
/// ones.
///
/// The same arguments give the same script.
#[must_use]
pub fn script(shape: Shape, seed: u64, length: usize, largest: usize) -> Vec<Op> {
    let mut writer = Writer {
        random: ChaCha8Rng::seed_from_u64(seed),
        ops: Vec::with_capacity(length),
        live: 0,
        largest: largest.max(1),
    };
    while writer.ops.len() < length {
        writer.step(shape, length);
    }
    writer.ops.truncate(length);
    writer.ops
}

struct Writer {
    random: ChaCha8Rng,
    ops: Vec<Op>,
    live: usize,
    largest: usize,
}

impl Writer {
    fn step(&mut self, shape: Shape, length: usize) {
        match shape {
            Shape::Random => self.random_step(),
            Shape::Lifo => self.wave(|live| live - 1),
            Shape::Fifo => self.wave(|_| 0),
            Shape::Sawtooth => self.tooth(length),
            Shape::FewSizes => self.few_sizes(),
            Shape::Drift => self.drift(length),
            Shape::Comb => self.comb(length),
        }
    }

    fn random_step(&mut self) {
        let nth = self.random.random_range(0..self.live.max(1));
        match self.random.random_range(0..10) {
            0..5 => self.alloc_any(),
            5..8 => self.free(nth),
            _ => {
                let size = self.size();
                self.ops.push(Op::Resize(nth, size));
            }
        }
    }

    /// Grows by up to 64 objects, then shrinks by up to 64: `victim` says which object is freed.
    fn wave(&mut self, victim: impl Fn(usize) -> usize) {
        for _ in 0..self.random.random_range(1..=64) {
            self.alloc_any();
        }
        for _ in 0..self.random.random_range(1..=64).min(self.live) {
            self.free(victim(self.live));
        }
    }

    fn tooth(&mut self, length: usize) {
        let height = (length / 8).clamp(8, 2000);
        while self.live < height {
            self.alloc_any();
        }
        while self.live > height / 5 {
            let nth = self.random.random_range(0..self.live);
            self.free(nth);
        }
    }

    fn few_sizes(&mut self) {
        let sizes = [24, 40, self.largest / 3 + 1];
        let size = sizes[self.random.random_range(0..sizes.len())].min(self.largest);
        if self.live < 8 || self.random.random_bool(0.5) {
            self.alloc(size, 8);
        } else {
            let nth = self.random.random_range(0..self.live);
            self.free(nth);
        }
    }

    fn drift(&mut self, length: usize) {
        let progress = self.ops.len() * self.largest / length.max(1);
        let size = 1 + progress / 2 + self.random.random_range(0..=progress / 8 + 8);
        self.alloc(size.min(self.largest), 8);
        if self.live > 64 {
            let nth = self.random.random_range(0..self.live);
            self.free(nth);
        }
    }

    fn comb(&mut self, length: usize) {
        let teeth = (length / 10).clamp(4, 500);
        let size = self.size();
        (0..teeth).for_each(|_| self.alloc(size, 8));
        let newest = self.live;
        for tooth in 0..teeth / 2 {
            self.free(newest - teeth + tooth);
        }
        (0..teeth / 4).for_each(|_| self.alloc((2 * size).min(self.largest), 8));
        while self.live > teeth {
            self.free(0);
        }
    }

    fn alloc_any(&mut self) {
        let size = self.size();
        let align = match self.random.random_range(0..32) {
            0 => 1 << self.random.random_range(0..13),
            1..4 => 16,
            _ => 8,
        };
        self.alloc(size, align);
    }

    fn alloc(&mut self, size: usize, align: usize) {
        self.ops.push(Op::Alloc { size, align });
        self.live += 1;
    }

    fn free(&mut self, nth: usize) {
        self.ops.push(Op::Free(nth));
        self.live = self.live.saturating_sub(1);
    }

    /// A size whose logarithm is uniform, from 0 to the largest.
    fn size(&mut self) -> usize {
        let bits = self.random.random_range(0..=self.largest.ilog2() + 1);
        let bound = 1_usize.checked_shl(bits).unwrap_or(usize::MAX);
        self.random.random_range(0..bound).min(self.largest)
    }
}

/// Reads a script from arbitrary bytes, five per operation, so that a fuzzer can drive a heap.
///
/// Requests have up to `largest` bytes, alignments are up to 4096. An incomplete operation at the
/// end is ignored.
#[must_use]
pub fn ops_from_bytes(bytes: &[u8], largest: usize) -> Vec<Op> {
    bytes
        .chunks_exact(5)
        .map(|op| op_from_bytes([op[0], op[1], op[2], op[3], op[4]], largest))
        .collect()
}

/// Byte 0: kind (2 bits), logarithm of the alignment (4 bits), scale of sizes (2 bits). Bytes 1-2
/// and 3-4: numbers.
fn op_from_bytes(op: [u8; 5], largest: usize) -> Op {
    let nth = usize::from(u16::from_le_bytes([op[1], op[2]]));
    let number = usize::from(u16::from_le_bytes([op[3], op[4]]));
    let size = match op[0] >> 6 {
        0 => number % 64,
        1 => number % 1024,
        2 => number,
        _ => ((number as u64 * largest as u64) >> 16) as usize,
    };
    let size = size.min(largest);
    match op[0] & 3 {
        0 | 1 => Op::Alloc {
            size,
            align: 1 << (op[0] >> 2 & 15).min(12),
        },
        2 => Op::Free(nth),
        _ => Op::Resize(nth, size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_have_their_length_and_are_reproducible() {
        for shape in Shape::ALL {
            let ops = script(shape, 3, 1000, 4096);
            assert_eq!(ops.len(), 1000, "{shape:?}");
            assert_eq!(ops, script(shape, 3, 1000, 4096), "{shape:?}");
            assert_ne!(ops, script(shape, 4, 1000, 4096), "{shape:?}");
        }
    }

    #[test]
    fn scripts_keep_to_the_largest_request() {
        for shape in Shape::ALL {
            for op in script(shape, 5, 2000, 100) {
                if let Op::Alloc { size, .. } | Op::Resize(_, size) = op {
                    assert!(size <= 100, "{shape:?}: {size}");
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_a_script() {
        let bytes: Vec<u8> = (0..=255).cycle().take(1283).collect();
        let ops = ops_from_bytes(&bytes, 1 << 20);
        assert_eq!(ops.len(), 1283 / 5);
        for op in ops {
            if let Op::Alloc { size, align } = op {
                assert!(size <= 1 << 20 && align.is_power_of_two() && align <= 4096);
            }
        }
    }
}
