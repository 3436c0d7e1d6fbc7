//! A demand in requests, and what it costs in page-blocks, whatever the size-classes of the heap.
//!
//! ```text
//! sizes                            requests of s bytes and more, at most M bytes of them live at once
//!   powers of two                    s, 2·s, … n bytes; s a power of two
//!   multiples of eight               s, s + 8, … n bytes; s a multiple of eight
//!   any                              s, s + 1, … n bytes
//!
//! N = ⌊ρ·M⌋, ρ = max over requests r of page-blocks(r)/r        B = ⌊σ·M⌋, σ = max of their bytes(r)/r
//! ```
//! Requests r1, r2, … that sum up to M have Σ bytes(ri) ≤ Σ σ·ri ≤ σ·M bytes of page-blocks. What a
//! request costs is constant between two *steps*: where its last piece needs a larger class, or one
//! piece more. So the worst request is at a step.
//!
//! Pieces: a request of more than q bytes is j whole pieces, a last one of 1 to q bytes, and a
//! spine of j + 1 words of w bytes. The steps of up to J pieces are all tried. Beyond, a request
//! costs at most j·β(q) + β(q) bytes and its spine, which is a request of (j + 1)·w bytes and so
//! costs at most σ·(j + 1)·w. That is no more than σ·(j·q + 1), at most σ·r, if j·(β(q) + σ·w −
//! σ·q) + β(q) + σ·w − σ ≤ 0; which, holding for j = J > 0 and the bracket not being positive,
//! holds for all above. J is doubled until it does. The same with β = 1 for page-blocks. Large
//! pieces, of L bytes, cost no more: β(L) ≤ (L/q)·β(q), and the spine is shorter.

use anyhow::{Context, Result};
use surefit_compact::certify::{BlockCount, Budget, ClassSet};
use surefit_compact::{Config, Width};

/// Which requests occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// Powers of two.
    Powers,
    /// Multiples of eight bytes.
    Eights,
    /// Any number of bytes.
    Any,
}

/// A demand: any order of such requests, of at most so many bytes each and in sum.
#[derive(Clone, Copy, Debug)]
pub struct Requests {
    /// Which.
    pub sizes: Sizes,
    /// s: bytes of the smallest, at least 1.
    pub smallest: u64,
    /// n: bytes of the largest.
    pub largest: u64,
    /// M: bytes of all that are live.
    pub live: u64,
}

/// The alignment of requests.
const ALIGN: usize = 8;

/// The pieces of the first requests that are tried.
const FIRST_PIECES: u64 = 64;

impl Requests {
    /// What a heap of this configuration must have page-blocks for.
    ///
    /// # Errors
    /// A request has no page-block: it is larger than a page, and not in pieces.
    pub fn budget<W: Width>(self, config: &Config) -> Result<Budget> {
        self.budget_aligned::<W>(config, ALIGN)
    }

    /// As [`Requests::budget`], for requests at alignments of up to `align`, which is at least
    /// eight.
    ///
    /// # Errors
    /// As [`Requests::budget`].
    pub fn budget_aligned<W: Width>(self, config: &Config, align: usize) -> Result<Budget> {
        let worst = self.worst::<W>(config, align)?;
        Ok(Budget {
            objects: worst.blocks.of(self.live),
            block_bytes: worst.bytes.of(self.live),
            classes: self.classes(config, align),
        })
    }

    /// The classes that serve the requests, their pieces and spines.
    fn classes(self, config: &Config, align: usize) -> ClassSet {
        if self.sizes == Sizes::Powers {
            let (geometry, largest) = (config.geometry(), self.contiguous(config));
            let aligns = (ALIGN.ilog2()..=align.ilog2()).map(|log2| 1_usize << log2);
            let classes = aligns.flat_map(|align| {
                let classes = self.powers(largest);
                classes.filter_map(move |bytes| geometry.class_for(bytes, align))
            });
            return classes.fold(ClassSet::EMPTY, ClassSet::with);
        }
        let largest = usize::try_from(self.largest).unwrap_or(usize::MAX);
        ClassSet::of_objects(config, largest, align)
    }

    /// The largest request, or piece of one, that has a page-block of its own.
    fn contiguous(self, config: &Config) -> u64 {
        let piece = config.piece_bytes().map_or(u64::MAX, |bytes| bytes as u64);
        self.largest.min(piece)
    }

    /// The steps of requests of one page-block: the least that each class serves, which may be
    /// below the smallest.
    #[must_use]
    pub fn steps(self, config: &Config) -> Vec<u64> {
        let (geometry, largest) = (config.geometry(), self.contiguous(config));
        if self.sizes == Sizes::Powers {
            return self.powers(largest).map(|bytes| bytes as u64).collect();
        }
        let step = if self.sizes == Sizes::Eights { 8 } else { 1 };
        let least = |class| (geometry.smallest_request(class) as u64).max(1);
        let steps = geometry
            .classes()
            .map(|class| least(class).next_multiple_of(step));
        steps.take_while(|bytes| *bytes <= largest).collect()
    }

    fn worst<W: Width>(self, config: &Config, align: usize) -> Result<Worst> {
        let (mut worst, steps) = (Worst::default(), self.steps(config));
        for &bytes in &steps {
            worst.meet::<W>(config, bytes.max(self.smallest), align)?;
        }
        let piece = self.contiguous(config);
        let most = self.largest.saturating_sub(1) / piece;
        let (mut tried, mut pieces) = (0, FIRST_PIECES);
        while tried < most {
            for whole in tried + 1..=pieces.min(most) {
                let requests = steps.iter().map(|last| whole * piece + last);
                for request in requests.take_while(|request| *request <= self.largest) {
                    worst.meet::<W>(config, request, align)?;
                }
            }
            tried = pieces.min(most);
            if worst.holds_beyond::<W>(config, piece, tried, align) {
                break;
            }
            pieces *= 2;
        }
        Ok(worst)
    }

    /// The powers of two from the smallest up to the largest.
    fn powers(self, largest: u64) -> impl Iterator<Item = usize> {
        (self.smallest.ilog2()..=largest.ilog2()).map(|log2| 1_usize << log2)
    }
}

/// The most that a byte of requests costs.
#[derive(Clone, Copy, Debug, Default)]
struct Worst {
    /// ρ.
    blocks: Share,
    /// σ.
    bytes: Share,
}

impl Worst {
    fn meet<W: Width>(&mut self, config: &Config, request: u64, align: usize) -> Result<()> {
        let cost = BlockCount::of::<W>(config, request as usize, align);
        let cost = cost.with_context(|| format!("a request of {request} bytes"))?;
        self.blocks.meet(cost.blocks, request);
        self.bytes.meet(cost.bytes, request);
        Ok(())
    }

    /// Whether no request of more whole pieces than `pieces` is worse.
    fn holds_beyond<W: Width>(
        &self,
        config: &Config,
        piece: u64,
        pieces: u64,
        align: usize,
    ) -> bool {
        let class = config.geometry().class_for(piece as usize, align);
        let block = class.map(|class| u64::from(config.geometry().layout(class).block_bytes));
        let word = W::SPINE_WORD_BYTES as u64;
        self.blocks.holds_beyond(1, piece, word, pieces)
            && block.is_some_and(|block| self.bytes.holds_beyond(block, piece, word, pieces))
    }
}

/// What requests cost: `cost` for `request` bytes.
#[derive(Clone, Copy, Debug)]
struct Share {
    cost: u64,
    request: u64,
}

impl Default for Share {
    fn default() -> Self {
        Self {
            cost: 0,
            request: 1,
        }
    }
}

impl Share {
    fn meet(&mut self, cost: u64, request: u64) {
        if cost * self.request > self.cost * request {
            *self = Self { cost, request };
        }
    }

    /// What requests of so many bytes in sum cost at most.
    fn of(self, live: u64) -> u64 {
        (u128::from(live) * u128::from(self.cost) / u128::from(self.request)) as u64
    }

    /// The inequality of the module, both sides times the request of this share.
    fn holds_beyond(self, block: u64, piece: u64, word: u64, pieces: u64) -> bool {
        let [cost, request, block, piece, word, pieces] =
            [self.cost, self.request, block, piece, word, pieces].map(i128::from);
        let of_piece = block * request + cost * word - cost * piece;
        of_piece <= 0 && pieces * of_piece + block * request + cost * word - cost <= 0
    }
}
