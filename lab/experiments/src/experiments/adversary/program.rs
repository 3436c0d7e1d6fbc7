//! The programs: Robson's, which every heap that does not move its objects must fail, and his
//! against best fit.
//!
//! # Source
//! Robson, An estimate of the store size necessary for dynamic storage allocation (1971), and
//! Bounds for some functions concerning dynamic storage allocation (1974); Worst case fragmentation
//! of first fit and best fit storage allocation strategies (1977), by way of Knuth, The Art of
//! Computer Programming 1, 2.5, answers 38 to 42.
#![deny(unsafe_code)]

use super::partial::Thinning;
use super::words::{Full, Live, Watched, WordHeap};

/// A program with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    /// P_R: objects of powers of two.
    Robson(Robson),
    /// Objects of five sizes, on which best fit leaves a hole of m - 3 words before each object of
    /// one.
    BestFit(BestFit),
    /// Objects of one word, thinned out until no hole holds the next larger ones.
    Thinning(Thinning),
    /// As many words as there are: the capacity.
    Fill,
}

impl Program {
    /// Runs the program to its end.
    ///
    /// # Errors
    /// [`Full`] if the heap had no room.
    pub(super) fn run<H: WordHeap>(self, heap: &mut Watched<H>) -> Result<(), Full> {
        match self {
            Self::Robson(robson) => robson.run(heap),
            Self::BestFit(best_fit) => best_fit.run(heap),
            Self::Thinning(thinning) => thinning.run(heap),
            Self::Fill => {
                fill(heap);
                Ok(())
            }
        }
    }

    /// What tables call it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Robson(_) => "P_R",
            Self::BestFit(_) => "the program against best fit",
            Self::Thinning(_) => "the thinning program",
            Self::Fill => "filling",
        }
    }

    /// M: the most words live at once; as many as there are, if it fills the heap.
    pub(super) fn live(self) -> u64 {
        match self {
            Self::Robson(robson) => robson.live,
            Self::BestFit(best_fit) => best_fit.live(),
            Self::Thinning(thinning) => thinning.live(),
            Self::Fill => u64::MAX,
        }
    }

    /// The sizes of its objects, in words.
    pub(super) fn sizes(self) -> Vec<u64> {
        match self {
            Self::Robson(robson) => (0..=robson.log2_largest).map(|log2| 1 << log2).collect(),
            Self::BestFit(best_fit) => best_fit.sizes().to_vec(),
            Self::Thinning(thinning) => thinning.sizes(),
            Self::Fill => vec![1],
        }
    }
}

/// The largest objects with which a heap is filled, in words: as large as any of the programs'.
const LARGEST_FILLING: u64 = 256;

/// Allocates the largest objects that fit, down to single words: where small ones and large ones
/// may not lie in the same places, the large ones need more room in one piece.
fn fill<H: WordHeap>(heap: &mut Watched<H>) {
    let mut words = LARGEST_FILLING;
    while words > 0 {
        while heap.allocate(words).is_ok() {}
        words /= 2;
    }
}

/// Robson's program P_R: at most M words live, in objects of 1, 2, 4, … n words.
///
/// ```text
/// allocate M objects of one word; f = 0
/// for i = 1 … log2 n:
///     f = f or f + 2^(i-1): the one for which the objects with a word at an address ≡ f (mod 2^i) lack most to 2^i words each
///     free all objects without such a word: every hole is now shorter than 2^i
///     allocate objects of 2^i words, while M allows
/// ```
/// Addresses count from the first of the M words. A heap that moves objects is asked anew in every
/// round where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Robson {
    /// M: the most words live at once.
    pub(super) live: u64,
    /// The logarithm of n, the largest object.
    pub(super) log2_largest: u32,
}

impl Robson {
    /// M(½ log2 n + 1) − n + 1 words: no heap that never moves an object can do with fewer, and
    /// some can do with these.
    pub(super) const fn bound(self) -> u64 {
        self.live * (self.log2_largest as u64 + 2) / 2 + 1 - (1 << self.log2_largest)
    }

    fn run<H: WordHeap>(self, heap: &mut Watched<H>) -> Result<(), Full> {
        let mut live = Vec::new();
        for _ in 0..self.live {
            live.push(heap.allocate(1)?);
        }
        let first = live.iter().map(|object| object.at).min();
        let mut grid = Grid {
            at: first.unwrap_or(0),
            size: 1,
        };
        for _ in 0..self.log2_largest {
            live.iter_mut().for_each(|object| heap.look(object));
            grid = grid.better_half(&live);
            let size = grid.size;
            for object in std::mem::take(&mut live) {
                if grid.occupies(&object) {
                    live.push(object);
                } else {
                    heap.free(object);
                }
            }
            while heap.live() + size <= self.live {
                live.push(heap.allocate(size)?);
            }
        }
        Ok(())
    }
}

/// Every `size`-th word, of which `at` is one.
#[derive(Clone, Copy)]
struct Grid {
    at: u64,
    size: u64,
}

impl Grid {
    /// Whether an object has a word of the grid.
    const fn occupies<O>(self, object: &Live<O>) -> bool {
        // sizes are powers of two, so wrapping keeps the residue
        self.at.wrapping_sub(object.at) % self.size < object.words
    }

    /// The words that the objects on the grid lack to the grid's size each.
    fn value<O>(self, live: &[Live<O>]) -> u64 {
        let occupying = live.iter().filter(|object| self.occupies(object));
        occupying.map(|object| self.size - object.words).sum()
    }

    /// The better of the two grids of twice the size that this one consists of; the one with `at`
    /// if they are equal.
    fn better_half<O>(self, live: &[Live<O>]) -> Self {
        let [same, other] = [0, self.size].map(|offset| Self {
            at: self.at + offset,
            size: 2 * self.size,
        });
        if other.value(live) > same.value(live) {
            other
        } else {
            same
        }
    }
}

/// Robson's program against best fit: the pattern `R(m-2) (F(m-3) R(1))^k` at the beginning of the
/// heap grows from k to k + 1, `R` in use and `F` free.
///
/// ```text
/// allocate m-2 and m-2 at the end; free the last R(1) and the first of them                    … F(2m-4) R(m-2)
/// allocate m, m-5, 1 there; free the m and the last m-2                                        … F(m) R(m-5) R(1)
/// for each F(m-3) R(1) from the last to the first, and at last for R(m-2):
///     allocate m-2 and 2 in F(m); free what is left of it and the m-2                F(2m-4) R(2) R(m-5) R(1)
///     allocate m, m-5, 1 there; free the m, the 2, the old m-5             F(m) R(m-5) R(1) F(m-3) R(1)
/// free the m-5; allocate m-2 in its place                                            R(m-2) F(m-3) R(1) …
/// ```
///
/// At last `tail` objects of m - 2 words, which fit nowhere but at the end. The growth needs an end
/// that is larger than any hole: in a heap that ends earlier, best fit takes the end for a hole,
/// and the pattern breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BestFit {
    /// m: the largest object, at least 6 words.
    pub(super) largest: u64,
    /// k at the end of the growth, at least 2.
    pub(super) units: u64,
    /// Objects of m - 2 words after it.
    pub(super) tail: u64,
}

impl BestFit {
    /// With as many objects at last as it takes that the growth is undisturbed in a heap that is
    /// too small by a word: the end has 4(m - 2) words or more when the pattern grows for the last
    /// time.
    pub(super) const fn in_a_region(largest: u64, units: u64) -> Self {
        Self {
            largest,
            units,
            tail: 4,
        }
    }

    /// M, the most words live at once: k + 4m - 10 while the pattern grows for the last time, or
    /// all that is live at last.
    pub(super) fn live(self) -> u64 {
        let growing = self.units + 4 * self.largest - 10;
        growing.max(self.units + (self.tail + 1) * (self.largest - 2))
    }

    /// (k + 1 + tail)(m - 2) words: the pattern and what follows it, which best fit cannot avoid.
    ///
    /// With M for k: (M - 4m + 11)(m - 2) without a tail, (M - 5m + 15)(m - 2) with one of four.
    pub(super) const fn bound(self) -> u64 {
        (self.units + 1 + self.tail) * (self.largest - 2)
    }

    /// (M - 4m + 11)(m - 2) words: Robson's bound of what best fit needs, with an endgame that is
    /// not repeated here.
    pub(super) fn robsons_bound(self) -> u64 {
        (self.live() + 11 - 4 * self.largest) * (self.largest - 2)
    }

    /// The sizes of its objects, in words.
    const fn sizes(self) -> [u64; 5] {
        let m = self.largest;
        [1, 2, m - 5, m - 2, m]
    }

    fn run<H: WordHeap>(self, heap: &mut Watched<H>) -> Result<(), Full> {
        // what is in use, from left to right: the m-2, then every R(1)
        let mut pattern = vec![heap.allocate(self.largest - 2)?];
        for _ in 0..self.units {
            pattern = self.grow(heap, pattern)?;
        }
        for _ in 0..self.tail {
            pattern.push(heap.allocate(self.largest - 2)?);
        }
        Ok(())
    }

    fn grow<H: WordHeap>(
        self,
        heap: &mut Watched<H>,
        mut left: Vec<Live<H::Object>>,
    ) -> Result<Vec<Live<H::Object>>, Full> {
        let first = heap.allocate(self.largest - 2)?;
        let guard = heap.allocate(self.largest - 2)?;
        left.pop().into_iter().for_each(|last| heap.free(last));
        heap.free(first);
        let [mut stop, mut one] = self.cut(heap)?;
        heap.free(guard);
        let mut right = Vec::new();
        while let Some(neighbour) = left.pop() {
            let filler = heap.allocate(self.largest - 2)?;
            let rest = heap.allocate(2)?;
            heap.free(neighbour);
            heap.free(filler);
            let [next_stop, next_one] = self.cut(heap)?;
            heap.free(rest);
            heap.free(std::mem::replace(&mut stop, next_stop));
            right.push(std::mem::replace(&mut one, next_one));
        }
        heap.free(stop);
        right.push(one);
        right.push(heap.allocate(self.largest - 2)?);
        right.reverse();
        Ok(right)
    }

    /// Makes `F(m) R(m-5) R(1)` of `F(2m-4)`; returns the two.
    fn cut<H: WordHeap>(self, heap: &mut Watched<H>) -> Result<[Live<H::Object>; 2], Full> {
        let hole = heap.allocate(self.largest)?;
        let stop = heap.allocate(self.largest - 5)?;
        let one = heap.allocate(1)?;
        heap.free(hole);
        Ok([stop, one])
    }
}
