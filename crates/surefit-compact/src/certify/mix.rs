//! A demand in requests and their bytes: any mix of lengths up to the longest.
//!
//! ```text
//! N = min(n·k, ⌊ρ·M⌋), ρ = max over lengths r of page-blocks(r)/r     n objects, M bytes of requests
//! B = min(n·b, ⌊σ·M⌋), σ = max over lengths r of bytes(r)/r           k, b: most of one object
//! ```
//! Requests r1, r2, … that sum up to M have Σ bytes(ri) ≤ Σ σ·ri ≤ σ·M bytes of page-blocks. What a
//! request costs is constant between two *steps*. So the worst request is at a step: where its last
//! piece needs a larger class, or one piece more; or at a multiple of L, the bytes of a large
//! piece, where one takes the place of small ones. A large piece may cost far more than these, so
//! this step counts even if no longer request is allowed.
//!
//! Small pieces of q bytes: the steps up to (J + 1)·q bytes are tried, and with them all multiples
//! of q, of which L is one. Beyond, a request of more than j·q bytes, and no more than (j + 1)·q,
//! costs at most j·β + β bytes and its spine, a request of up to (j + 1)·w bytes, which costs at
//! most σ·(j + 1)·w. Here β is the page-block of a small piece, or q/L of that of a large one if
//! that is more. The sum is at most σ·(j·q + 1) if j·(β + σ·w − σ·q) + β + σ·w − σ ≤ 0. If this
//! holds for j = J, and the bracket is not positive, it holds for all above. Otherwise σ is raised
//! until it does: a greater σ is a budget of more. The same for ρ, with β = 1.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::demand::{BlockCount, Budget, Demand};
use super::limits::{least, most};
use super::requests::ALIGN;
use super::uncertifiable::Uncertifiable;
use crate::config::Config;
use crate::width::Width;

/// A shorter request counts as one of so many bytes: it has a page-block, too.
const SHORTEST: usize = 16;

/// J: the most small pieces before the last one that are tried.
const TRIED: usize = 16;

impl Demand<'static> {
    /// At most `objects` objects live at once, each requested with up to `longest` bytes, and all
    /// together with up to `bytes`, in any mix of lengths, at alignments of up to 8. A request of
    /// fewer than 16 bytes counts as 16.
    ///
    /// Byte objects, or values of a type no larger than a small piece ([`Config::piece_bytes`]).
    /// While an object is resized, it counts twice, at its old length and at its new one. Other
    /// alignments and longer values are counted as [`Demand::of_requests`] says. For constants;
    /// [`Budget::of_mix`] returns what this panics for.
    ///
    /// # Panics
    /// If a heap of this configuration holds no object of `longest` bytes. In a constant this is a
    /// compile error that gives the reason.
    ///
    /// # Examples
    /// ```
    /// use surefit_compact::certify::{Demand, region_bytes};
    /// use surefit_compact::{Bytes, Config, Heap, Narrow};
    /// use surefit_core::{Page1K, Region};
    ///
    /// static CONFIG: Config = Config::TINY;
    /// // Up to 200 messages of up to 256 bytes, 8 KiB in all: of 40 bytes each, or 32 of 256.
    /// const DEMAND: Demand<'static> = Demand::of_mix::<Narrow>(&CONFIG, 200, 256, 8 << 10);
    /// static MEMORY: Region<{ region_bytes::<Narrow>(&CONFIG, &DEMAND) }, Page1K> = Region::new();
    /// let mut heap: Heap<Narrow> = Heap::new(MEMORY.take().expect("taken once"), &CONFIG)?;
    /// let layout = core::alloc::Layout::array::<u8>(256)?;
    /// let messages: Result<Vec<Bytes>, _> = (0..32).map(|_| heap.alloc_zeroed(layout)).collect();
    /// assert!(messages.is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn of_mix<W: Width>(
        config: &Config,
        objects: u64,
        longest: usize,
        bytes: u64,
    ) -> Self {
        match Budget::of_mix::<W>(config, objects, longest, bytes) {
            Ok(budget) => Self::Joint(budget),
            Err(error) => panic!("{}", error.message()),
        }
    }
}

impl Budget {
    /// The budget of at most `objects` objects, each requested with up to `longest` bytes, and all
    /// together with up to `bytes`, in any mix of lengths, at alignments of up to 8. A request of
    /// fewer than 16 bytes counts as 16.
    ///
    /// While an object is resized, it counts twice, at its old length and at its new one.
    ///
    /// # Errors
    /// As [`Budget::of_requests`].
    ///
    /// # Complexity
    /// O(size-classes); with pieces 16 times that.
    pub const fn of_mix<W: Width>(
        config: &Config,
        objects: u64,
        longest: usize,
        bytes: u64,
    ) -> Result<Self, Uncertifiable> {
        // Nothing is longer than all that is live.
        let longest = if bytes < longest as u64 {
            low(bytes)
        } else {
            longest
        };
        let each = match Self::of_requests::<W>(config, objects, longest) {
            Ok(each) => each,
            Err(error) => return Err(error),
        };
        let Some((blocks, of_blocks)) = worst::<W>(config, longest) else {
            return Err(Uncertifiable::TooLarge {
                limit: config.geometry().page_bytes(),
            });
        };
        Ok(Self {
            objects: least(each.objects, blocks.of(bytes)),
            block_bytes: least(each.block_bytes, of_blocks.of(bytes)),
            classes: each.classes,
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "called with less than some usize"
)]
const fn low(bytes: u64) -> usize {
    bytes as usize
}

/// ρ and σ.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "few pieces of at most 64 KiB, and as many bytes"
)]
const fn worst<W: Width>(config: &Config, longest: usize) -> Option<(Share, Share)> {
    let (division, mut worst, mut whole) = (config.division(), Worst::NONE, 0);
    let small = division.small_bytes();
    let most_whole = if division.divides(longest) {
        (longest - 1) / small
    } else if config.geometry().class_for(longest, ALIGN).is_some() {
        0
    } else {
        return None;
    };
    while whole <= most_whole && whole <= TRIED {
        let mut classes = config.geometry().each_class();
        while let Some(class) = classes.next_class() {
            let first = config.geometry().smallest_request(class);
            let request = whole * small + if first == 0 { 1 } else { first };
            let is_one = whole == 0 && first <= 1;
            if first > small || request > longest && !is_one {
                continue;
            }
            worst = match worst.or::<W>(config, request) {
                Some(worst) => worst,
                None => return None,
            };
        }
        whole += 1;
        if whole * small <= longest {
            worst = match worst.or::<W>(config, whole * small) {
                Some(worst) => worst,
                None => return None,
            };
        }
    }
    let Worst { blocks, bytes } = worst;
    if most_whole <= TRIED {
        return Some((blocks, bytes));
    }
    let Some(block_bytes) = piece_block_bytes(config) else {
        return None;
    };
    let (piece, word) = (small as u64, W::SPINE_WORD_BYTES as u64);
    Some((
        blocks.beyond(1, piece, word),
        bytes.beyond(block_bytes, piece, word),
    ))
}

/// The worst of the requests that were tried.
#[derive(Clone, Copy)]
struct Worst {
    blocks: Share,
    bytes: Share,
}

impl Worst {
    const NONE: Self = Self {
        blocks: Share::NONE,
        bytes: Share::NONE,
    };

    /// With one more request. `None` if no heap holds it.
    const fn or<W: Width>(self, config: &Config, request: usize) -> Option<Self> {
        let request = if request < SHORTEST {
            SHORTEST
        } else {
            request
        };
        let Some(cost) = BlockCount::of::<W>(config, request, ALIGN) else {
            return None;
        };
        Some(Self {
            blocks: self.blocks.or(cost.blocks, request as u64),
            bytes: self.bytes.or(cost.bytes, request as u64),
        })
    }
}

/// β: the page-block of a small piece, or the share of one in that of a large piece.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "page-blocks and pieces have at most 64 KiB"
)]
const fn piece_block_bytes(config: &Config) -> Option<u64> {
    let division = config.division();
    let (small, large) = (division.small_bytes(), division.large_bytes());
    let geometry = config.geometry();
    let (Some(of_small), Some(of_large)) = (
        geometry.class_for(small, ALIGN),
        geometry.class_for(large, ALIGN),
    ) else {
        return None;
    };
    let of_small = geometry.layout(of_small).block_bytes as u64;
    let of_large = geometry.layout(of_large).block_bytes as u64;
    Some(most(
        of_small,
        (of_large * small as u64).div_ceil(large as u64),
    ))
}

/// What requests cost: `cost` for `request` bytes.
#[derive(Clone, Copy)]
struct Share {
    cost: u64,
    request: u64,
}

#[expect(
    clippy::arithmetic_side_effects,
    reason = "requests of few pieces: below 2^32 each, and in 128 bits with what is live"
)]
impl Share {
    const NONE: Self = Self {
        cost: 0,
        request: 1,
    };

    /// The greater of this share and another.
    const fn or(self, cost: u64, request: u64) -> Self {
        if cost * self.request > self.cost * request {
            Self { cost, request }
        } else {
            self
        }
    }

    /// What requests of so many bytes in sum cost at most.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "what is above 64 bits is capped"
    )]
    const fn of(self, live: u64) -> u64 {
        let cost = live as u128 * self.cost as u128 / self.request as u128;
        if cost > u64::MAX as u128 {
            u64::MAX
        } else {
            cost as u64
        }
    }

    /// The share that also holds for more pieces than were tried.
    const fn beyond(mut self, block: u64, piece: u64, word: u64) -> Self {
        while !self.holds_beyond(block, piece, word) {
            self.cost += self.cost / 32 + 1;
        }
        self
    }

    /// The inequality of the module, both sides times the request of this share.
    const fn holds_beyond(self, block: u64, piece: u64, word: u64) -> bool {
        let (gain, cost) = (self.cost * piece, block * self.request + self.cost * word);
        gain >= cost && TRIED as u64 * (gain - cost) + self.cost >= cost
    }
}
