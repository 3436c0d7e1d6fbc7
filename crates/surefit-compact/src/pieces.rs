//! How a byte object is divided into page-blocks. Heaps and certificates both use this one
//! definition.
//!
//! ```text
//! runs(len):   len ≤ q   one block of len bytes                               q: the piece size
//!              len > q   k − 1 blocks of q bytes, one of the rest (1 ..= q bytes); k = ⌈len / q⌉
//!                        and runs(k words), the spine: one word per piece
//! ```
//! # Bounds
//! Each level of spines is shorter by a factor q / word ≥ 16, so there are at most ⌈log₁₆(len / q)⌉
//! + 1 levels, with two runs each.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

/// Page-blocks of one request size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The request of each block, in bytes.
    pub bytes: usize,
    /// The alignment of each block, in bytes.
    pub align: usize,
    /// The number of blocks.
    pub count: usize,
}

/// The page-blocks of one byte object, run by run: first pieces, then spines.
///
/// # Examples
/// ```
/// use surefit_compact::pieces::{Pieces, Run};
/// let runs: Vec<Run> = Pieces::new(10_000, 8, Some(4096), 4).collect();
/// let run = |bytes, align, count| Run { bytes, align, count };
/// assert_eq!(runs, [run(4096, 8, 2), run(1808, 8, 1), run(12, 4, 1)]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Pieces {
    len: usize,
    align: usize,
    piece: usize,
    word: usize,
    /// The last piece of the level whose whole pieces were returned before.
    last: Option<Run>,
    has_spine: bool,
    is_done: bool,
}

impl Pieces {
    /// The blocks of an object of `len` bytes at an alignment, with pieces of `piece_bytes`
    /// (`None`: not in pieces) and spines of `word_bytes` per piece.
    ///
    /// # Panics
    /// If a word has no bytes, or a piece does not hold two words. A configuration's pieces have at
    /// least 64 bytes.
    #[must_use]
    pub const fn new(
        len: usize,
        align: usize,
        piece_bytes: Option<usize>,
        word_bytes: usize,
    ) -> Self {
        let piece = match piece_bytes {
            Some(bytes) => bytes,
            None => usize::MAX,
        };
        assert!(word_bytes > 0, "a word has bytes");
        assert!(word_bytes <= piece / 2, "a piece holds several words");
        Self {
            len,
            align,
            piece,
            word: word_bytes,
            last: None,
            has_spine: true,
            is_done: false,
        }
    }

    /// The same pieces without spines.
    #[must_use]
    pub const fn without_spine(self) -> Self {
        Self {
            has_spine: false,
            ..self
        }
    }

    /// The next run; `const`, unlike [`Iterator::next`].
    pub const fn next_run(&mut self) -> Option<Run> {
        if let Some(last) = self.last {
            self.last = None;
            return Some(last);
        }
        if self.is_done {
            return None;
        }
        if self.len <= self.piece {
            self.is_done = true;
            return Some(self.run(self.len, 1));
        }
        let (whole, last) = self.divided();
        self.last = Some(self.run(last, 1));
        let run = self.run(self.piece, whole);
        // A piece has at least two words, so the spine is shorter than what it describes, and
        // nothing saturates.
        self.len = whole.saturating_add(1).saturating_mul(self.word);
        self.align = self.word;
        self.is_done = !self.has_spine;
        Some(run)
    }

    /// The number of whole pieces before the last piece, and the bytes of the last piece.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "asked where len > piece >= 2: 1 <= whole pieces < len / piece + 1, and all of them are below len"
    )]
    const fn divided(&self) -> (usize, usize) {
        let whole = (self.len - 1) / self.piece;
        (whole, self.len - whole * self.piece)
    }

    const fn run(&self, bytes: usize, count: usize) -> Run {
        Run {
            bytes,
            align: self.align,
            count,
        }
    }
}

impl Iterator for Pieces {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        self.next_run()
    }
}

#[cfg(test)]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "tests panic where a number overflows"
)]
mod tests {
    use super::Pieces;

    /// The definition, recursively: blocks and bytes requested.
    fn naive(len: usize, piece: usize, word: usize) -> (usize, usize) {
        if len <= piece {
            return (1, len);
        }
        let pieces = len.div_ceil(piece);
        let (blocks, bytes) = naive(pieces * word, piece, word);
        (pieces + blocks, len + bytes)
    }

    #[test]
    fn runs_are_those_of_the_definition() {
        for (piece, word) in [(64, 4), (64, 2), (4096, 4), (256, 8)] {
            for len in (0..200_000).step_by(37).chain((1..9).map(|n| n * piece)) {
                let runs = Pieces::new(len, 8, Some(piece), word);
                let sum = runs.fold((0, 0), |(blocks, bytes), run| {
                    assert!(run.bytes <= piece && run.count > 0);
                    (blocks + run.count, bytes + run.count * run.bytes)
                });
                assert_eq!(sum, naive(len, piece, word), "{len} in {piece}");
            }
        }
    }

    #[test]
    fn without_pieces_there_is_one_block() {
        let mut runs = Pieces::new(1 << 30, 64, None, 4);
        let run = runs.next_run().expect("one run");
        assert_eq!((run.bytes, run.align, run.count), (1 << 30, 64, 1));
        assert_eq!(runs.next_run(), None);
    }
}
