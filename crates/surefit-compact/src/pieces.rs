//! How a byte object is divided into page-blocks. Heaps and certificates both use this one
//! definition.
//!
//! ```text
//! runs(len):   len ≤ q   one block of len bytes                      q: the small piece size
//!              len > q   ⌊len / Q⌋ blocks of Q bytes                 Q: the large piece size
//!                        the rest, below Q: ⌈rest / q⌉ − 1 blocks of q bytes, one of what is left
//!                        and runs(k words), the spine: one word for each of the k
//!                        pieces, rounded up to a power of two bytes
//! ```
//! Large pieces make long objects cheap; small ones at the end keep what is wasted small. With
//! Q = q all pieces but the last have one size.
//!
//! # Bounds
//! Each level of spines is shorter by a factor q / word ≥ 16, so there are at most ⌈log₁₆(len / q)⌉
//! + 1 levels, with three runs each.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

/// The most bytes that a spine has per piece.
const LONGEST_WORD: usize = 4;

/// How byte objects are divided into pieces: the small and the large piece size of a configuration.
///
/// # Examples
/// ```
/// use surefit_compact::pieces::Division;
/// let division = Division::new(Some(4096), 16384);
/// assert_eq!((division.small_bytes(), division.large_bytes()), (4096, 16384));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// The longest contiguous object: the bytes of a small piece.
    small: usize,
    small_shift: u32,
    large_shift: u32,
    /// With fewer large pieces an object has a spine of at most `small` bytes, whatever its small
    /// pieces and the width of words.
    few: usize,
}

impl Division {
    /// No object is in pieces.
    pub const NONE: Self = Self {
        small: usize::MAX,
        small_shift: usize::BITS - 1,
        large_shift: usize::BITS - 1,
        few: 0,
    };

    /// Pieces of `small` and of `large` bytes, both powers of two, for objects of more than `small`
    /// bytes. `None`: no object is in pieces.
    ///
    /// # Panics
    /// If a size is not a power of two, or the large one is below the small one.
    #[must_use]
    pub const fn new(small: Option<usize>, large: usize) -> Self {
        let Some(bytes) = small else {
            return Self::NONE;
        };
        assert!(bytes.is_power_of_two() && large.is_power_of_two() && bytes <= large);
        let (small_shift, large_shift) = (bytes.ilog2(), large.ilog2());
        // Before a large piece's bytes are full there are so many small ones.
        let pieces = 1 << large_shift.abs_diff(small_shift);
        Self {
            small: bytes,
            small_shift,
            large_shift,
            few: (bytes / LONGEST_WORD)
                .saturating_add(1)
                .saturating_sub(pieces),
        }
    }

    /// The longest contiguous object: the bytes of a small piece, or `usize::MAX`.
    #[inline]
    #[must_use]
    pub const fn small_bytes(self) -> usize {
        self.small
    }

    /// The bytes of a large piece.
    #[inline]
    #[must_use]
    pub const fn large_bytes(self) -> usize {
        1 << self.large_shift
    }

    /// Whether an object of this length is in pieces.
    #[inline]
    pub(crate) const fn divides(self, len: usize) -> bool {
        // Without the feature no configuration has pieces: the compiler then leaves them out.
        cfg!(feature = "pieces") && len > self.small
    }

    /// The large pieces of an object in pieces: its first ones.
    #[inline]
    pub(crate) const fn large_pieces(self, len: usize) -> usize {
        len >> self.large_shift
    }

    /// The pieces of an object in pieces.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the rest is below a large piece, and the pieces no more than the bytes"
    )]
    #[inline]
    pub(crate) const fn count(self, len: usize) -> usize {
        let rest = len & (self.large_bytes() - 1);
        self.large_pieces(len) + ((rest + (self.small - 1)) >> self.small_shift)
    }

    /// The piece that holds a byte of an object in pieces, and the byte's place in it.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the offset lies in the object, so the number is below the pieces"
    )]
    #[inline]
    pub(crate) const fn find(self, len: usize, offset: usize) -> (usize, usize) {
        let (number, within) = (
            offset >> self.large_shift,
            offset & (self.large_bytes() - 1),
        );
        if number < self.large_pieces(len) {
            return (number, within);
        }
        (
            number + (within >> self.small_shift),
            within & (self.small - 1),
        )
    }

    /// As [`Division::find`], if the byte is in a large piece, and there are so few that the spine
    /// is contiguous: the common case of a long object, which takes few instructions.
    #[expect(clippy::arithmetic_side_effects, reason = "a large piece has bytes")]
    #[inline]
    pub(crate) const fn find_large(self, len: usize, offset: usize) -> Option<(usize, usize)> {
        let (number, large) = (offset >> self.large_shift, self.large_pieces(len));
        if number < large && large < self.few {
            return Some((number, offset & (self.large_bytes() - 1)));
        }
        None
    }

    /// As [`Division::find`], and the bytes from there to the end of the piece, if there are so few
    /// large pieces that the spine is contiguous, and the offset lies in the object.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "pieces have bytes, and the offset lies in the object"
    )]
    #[inline]
    pub(crate) const fn find_in_few(
        self,
        len: usize,
        offset: usize,
    ) -> Option<(usize, usize, usize)> {
        if let Some((number, within)) = self.find_large(len, offset) {
            return Some((number, within, self.large_bytes() - within));
        }
        if self.large_pieces(len) >= self.few || offset >= len {
            return None;
        }
        let (number, within) = self.find(len, offset);
        let room = least(self.small - within, len - offset);
        Some((number, within, room))
    }

    /// The offset at which a piece of an object in pieces begins; that of the end for the number of
    /// pieces, if the last piece is whole.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the number is at most that of the pieces, which lie in the object"
    )]
    #[inline]
    pub(crate) const fn start(self, len: usize, number: usize) -> usize {
        let large = self.large_pieces(len);
        if number < large {
            return number << self.large_shift;
        }
        (large << self.large_shift) + ((number - large) << self.small_shift)
    }

    /// The bytes of a piece of an object in pieces.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a piece begins inside the object"
    )]
    #[inline]
    pub(crate) const fn piece_len(self, len: usize, number: usize) -> usize {
        if number < self.large_pieces(len) {
            return self.large_bytes();
        }
        least(len - self.start(len, number), self.small)
    }

    /// The last piece that begins at one offset in two objects in pieces. The pieces before it have
    /// one length in both; its own may differ.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "an object in pieces has at least one"
    )]
    pub(crate) const fn last_common(self, a: usize, b: usize) -> usize {
        let last = least(self.count(a), self.count(b)) - 1;
        if self.large_pieces(a) == self.large_pieces(b) {
            return last;
        }
        least(last, least(self.large_pieces(a), self.large_pieces(b)))
    }
}

impl Division {
    /// The leading pieces that a resize keeps, as a heap does it and a certificate counts it.
    /// `None` if the object is replaced as a whole: if one of the lengths is not in pieces, or the
    /// page-blocks of whole pieces do not serve the new alignment.
    ///
    /// `serves(number, len)`: whether the page-block of a piece of the old object serves the piece
    /// of that number of an object of `len` bytes, at the new alignment.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "one more than the number of a piece"
    )]
    pub(crate) fn kept(
        self,
        old: usize,
        new: usize,
        serves: impl Fn(usize, usize) -> bool,
    ) -> Option<usize> {
        if !self.divides(old) || !self.divides(new) {
            return None;
        }
        let last = self.last_common(old, new);
        let first_small = self.large_pieces(old);
        if !serves(0, old) || first_small < last && !serves(first_small, old) {
            return None;
        }
        // By its alignment a small piece may lie in a block of a large one's class.
        let stays = serves(last, new) && self.is_alike(old, new, last);
        Some(last + usize::from(stays))
    }

    /// Whether a piece that begins at one offset in two objects in pieces holds the same bytes of
    /// both, as far as the shorter one goes: it is not large in one of them and small in the other.
    const fn is_alike(self, a: usize, b: usize, number: usize) -> bool {
        self.large_bytes() == self.small
            || (number < self.large_pieces(a)) == (number < self.large_pieces(b))
    }
}

const fn least(a: usize, b: usize) -> usize {
    if a < b { a } else { b }
}

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
/// use surefit_compact::pieces::{Division, Pieces, Run};
/// let division = Division::new(Some(4096), 16384);
/// let runs: Vec<Run> = Pieces::new(40_000, 8, division, 4).collect();
/// let run = |bytes, align, count| Run { bytes, align, count };
/// assert_eq!(runs, [run(16384, 8, 2), run(4096, 8, 1), run(3136, 8, 1), run(16, 4, 1)]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Pieces {
    division: Division,
    /// The length of this level: of the object, of its spine, of the spine's spine.
    len: usize,
    /// The bytes of this level whose runs were returned before.
    done: usize,
    align: usize,
    word: usize,
    has_spine: bool,
    is_done: bool,
}

impl Pieces {
    /// The blocks of an object of `len` bytes at an alignment, with spines of `word_bytes` per
    /// piece.
    ///
    /// # Panics
    /// If a word has no bytes, or a piece does not hold two words. A configuration's pieces have at
    /// least 64 bytes.
    #[must_use]
    pub const fn new(len: usize, align: usize, division: Division, word_bytes: usize) -> Self {
        assert!(word_bytes > 0, "a word has bytes");
        assert!(
            word_bytes <= division.small_bytes() / 2,
            "a piece holds several words"
        );
        Self {
            division,
            len,
            done: 0,
            align,
            word: word_bytes,
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
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "what is done is at most the length, and a run ends inside the object"
    )]
    pub const fn next_run(&mut self) -> Option<Run> {
        if self.is_done {
            return None;
        }
        if !self.division.divides(self.len) {
            self.is_done = true;
            return Some(self.run(self.len, 1));
        }
        let small = self.division.small_bytes();
        let large = self.division.large_pieces(self.len);
        let rest = self.len - self.done;
        let run = if self.done == 0 && large > 0 {
            self.run(self.division.large_bytes(), large)
        } else if rest > small {
            self.run(small, (rest - 1) / small)
        } else {
            self.run(rest, 1)
        };
        self.done += run.bytes * run.count;
        if self.done == self.len {
            // A piece has at least two words, so the spine is shorter than what it describes.
            self.len = self.division.count(self.len) * self.word;
            self.align = self.word;
            self.done = 0;
            self.is_done = !self.has_spine;
        }
        Some(run)
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
    use super::{Division, LONGEST_WORD, Pieces};
    extern crate alloc;
    use alloc::vec::Vec;

    /// The lengths of the pieces of an object, by the definition.
    fn naive_pieces(len: usize, small: usize, large: usize) -> Vec<usize> {
        let mut rest = len;
        let mut pieces = Vec::new();
        while rest > 0 {
            let next = if rest >= large {
                large
            } else {
                rest.min(small)
            };
            pieces.push(next);
            rest -= next;
        }
        pieces
    }

    /// The definition, recursively: blocks and bytes requested.
    fn naive(len: usize, (small, large): (usize, usize), word: usize) -> (usize, usize) {
        if len <= small {
            return (1, len);
        }
        let pieces = naive_pieces(len, small, large).len();
        let (blocks, bytes) = naive(pieces * word, (small, large), word);
        (pieces + blocks, len + bytes)
    }

    const SIZES: [(usize, usize, usize); 6] = [
        (64, 64, 4),
        (64, 1024, 2),
        (4096, 4096, 4),
        (4096, 16384, 4),
        (256, 256, 8),
        (256, 512, 4),
    ];

    #[test]
    fn runs_are_those_of_the_definition() {
        for (small, large, word) in SIZES {
            let edges = (1..9).flat_map(|n| [n * small, n * large, n * large + 1, n * large - 1]);
            for len in (0..200_000).step_by(37).chain(edges) {
                let runs = Pieces::new(len, 8, Division::new(Some(small), large), word);
                let sum = runs.fold((0, 0), |(blocks, bytes), run| {
                    assert!(run.bytes <= large && run.count > 0);
                    (blocks + run.count, bytes + run.count * run.bytes)
                });
                assert_eq!(sum, naive(len, (small, large), word), "{len} in {small}");
            }
        }
    }

    #[test]
    fn every_byte_is_found_in_its_piece() {
        for (small, large, _) in SIZES {
            let division = Division::new(Some(small), large);
            for len in (small + 1..5 * large).step_by(61).chain([large, 3 * large]) {
                if len <= small {
                    continue;
                }
                let pieces = naive_pieces(len, small, large);
                assert_eq!(division.count(len), pieces.len(), "{len}");
                let mut start = 0;
                for (number, &bytes) in pieces.iter().enumerate() {
                    assert_eq!(division.start(len, number), start);
                    assert_eq!(division.piece_len(len, number), bytes);
                    for within in [0, bytes / 2, bytes - 1] {
                        assert_eq!(division.find(len, start + within), (number, within));
                        if let Some(found) = division.find_large(len, start + within) {
                            assert_eq!(found, (number, within));
                            assert!(bytes == large && pieces.len() * LONGEST_WORD <= small);
                        }
                    }
                    start += bytes;
                }
            }
        }
    }

    #[test]
    fn large_pieces_are_found_at_once_in_all_but_the_longest_objects() {
        let division = Division::new(Some(4096), 16384);
        for len in [16384, 16385, 40_000, 15 << 20] {
            assert_eq!(division.find_large(len, 16383), Some((0, 16383)));
        }
        let few = 16384 * 1020;
        assert_eq!(division.find_large(few, few - 1), Some((1019, 16383)));
        assert_eq!(division.find_large(few + 16384, few - 1), None);
        assert_eq!(division.find_large(40_000, 32768), None, "in a small piece");
        assert_eq!(division.find_large(40_000, usize::MAX), None, "nowhere");
        assert_eq!(Division::NONE.find_large(40_000, 0), None);
    }

    #[test]
    fn what_is_found_in_few_pieces_is_what_is_found_in_any() {
        for (small, large, _) in SIZES {
            let division = Division::new(Some(small), large);
            for len in (small + 1..5 * large).step_by(61) {
                let offsets = (0..len).step_by(1 + len / 50).chain([len - 1]);
                for offset in offsets {
                    let (number, within) = division.find(len, offset);
                    let room = division.piece_len(len, number) - within;
                    let is_short = division.count(len) * LONGEST_WORD <= small;
                    let found = division.find_in_few(len, offset);
                    assert!(found.is_none_or(|it| is_short && it == (number, within, room)));
                }
            }
        }
    }

    #[test]
    fn small_pieces_are_found_too_where_the_spine_is_contiguous() {
        let division = Division::new(Some(4096), 16384);
        let few = 16384 * 1020;
        assert_eq!(division.find_in_few(few, few - 1), Some((1019, 16383, 1)));
        assert_eq!(division.find_in_few(few + 16384, 0), None);
        // Two large pieces, and 7,232 bytes in two small ones.
        assert_eq!(division.find_in_few(40_000, 32768), Some((2, 0, 4096)));
        assert_eq!(division.find_in_few(40_000, 36870), Some((3, 6, 3130)));
        assert_eq!(division.find_in_few(5000, 4999), Some((1, 903, 1)));
        for nowhere in [40_000, 40_001, usize::MAX] {
            assert_eq!(division.find_in_few(40_000, nowhere), None);
        }
        assert_eq!(Division::NONE.find_in_few(40_000, 0), None);
        // The spine of an object in pieces of 64 bytes is in pieces itself.
        let many = Division::new(Some(64), 16384);
        assert_eq!(many.find_in_few(5000, 100), None);
    }

    #[test]
    fn two_objects_share_the_pieces_before_the_last_common_one() {
        for (small, large, _) in SIZES {
            let division = Division::new(Some(small), large);
            let lens = (1..60).map(|n| small + n * large / 7);
            let lens: Vec<_> = lens.chain([large, 2 * large, 3 * large]).collect();
            for (&a, &b) in lens.iter().flat_map(|a| lens.iter().map(move |b| (a, b))) {
                if !division.divides(a) || !division.divides(b) {
                    continue;
                }
                let pieces = [a, b].map(|len| naive_pieces(len, small, large));
                let alike = pieces[0].iter().zip(&pieces[1]);
                let alike = alike.take_while(|(a, b)| a == b).count();
                let last = division.last_common(a, b);
                assert!(
                    last == alike || last + 1 == alike,
                    "{a} and {b}: {last}, {alike}"
                );
            }
        }
    }

    #[test]
    fn without_pieces_there_is_one_block() {
        let mut runs = Pieces::new(1 << 30, 64, Division::new(None, 16384), 4);
        let run = runs.next_run().expect("one run");
        assert_eq!((run.bytes, run.align, run.count), (1 << 30, 64, 1));
        assert_eq!(runs.next_run(), None);
        assert!(!Division::new(None, 16384).divides(usize::MAX));
    }
}
