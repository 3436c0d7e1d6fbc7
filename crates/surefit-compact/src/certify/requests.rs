//! A demand in requests: so many objects, each of up to a length.
//!
//! ```text
//! N = n·k, B = n·b         n objects; k, b: the most page-blocks and bytes that one of them takes
//! ```
//! An object takes most at the greatest length, or, in pieces, at the greatest that has one large
//! piece less: it may have more small ones. Its spine is longest where its pieces are most. So each
//! level is counted at its own worst length, and k and b are no less than what any length takes.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::demand::{BlockCount, Budget, ClassSet, Demand, most_pieces, shorter};
use super::uncertifiable::Uncertifiable;
use crate::config::Config;
use crate::pieces::Pieces;
use crate::width::Width;

/// The alignment of requests that state none.
pub(super) const ALIGN: usize = 8;

impl Demand<'static> {
    /// At most `objects` objects live at once, each requested with up to `longest` bytes, in any
    /// mix of lengths, at alignments of up to 8.
    ///
    /// Byte objects, or values of a type no larger than a small piece ([`Config::piece_bytes`]).
    /// While an object is resized, it counts twice: leave room for one more. For constants;
    /// [`Budget::of_requests`] returns what this panics for.
    ///
    /// Other alignments, and longer values, are a budget of n times [`BlockCount::most`] and of the
    /// classes of [`ClassSet::of_objects`], as in the second example. For values, both count in a
    /// configuration without pieces (`config.with_pieces(None)`): a value is never in pieces.
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
    /// // Eight messages of up to 300 bytes.
    /// const DEMAND: Demand<'static> = Demand::of_requests::<Narrow>(&CONFIG, 8, 300);
    /// static MEMORY: Region<{ region_bytes::<Narrow>(&CONFIG, &DEMAND) }, Page1K> = Region::new();
    /// let mut heap: Heap<Narrow> = Heap::new(MEMORY.take().expect("taken once"), &CONFIG)?;
    /// let layout = core::alloc::Layout::array::<u8>(300)?;
    /// let messages: Result<Vec<Bytes>, _> = (0..8).map(|_| heap.alloc_zeroed(layout)).collect();
    /// assert!(messages.is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// Eight messages of up to 300 bytes, each aligned to 64:
    /// ```
    /// use surefit_compact::certify::{BlockCount, Budget, ClassSet, Demand, heap_bytes};
    /// use surefit_compact::{Config, Narrow};
    ///
    /// const CONFIG: Config = Config::TINY;
    /// const EACH: BlockCount = BlockCount::most::<Narrow>(&CONFIG, 300, 64).expect("fits");
    /// const DEMAND: Demand<'static> = Demand::Joint(Budget {
    ///     objects: 8 * EACH.blocks,
    ///     block_bytes: 8 * EACH.bytes,
    ///     classes: ClassSet::of_objects(&CONFIG, 300, 64),
    /// });
    /// const BYTES: usize = heap_bytes::<Narrow>(&CONFIG, &DEMAND);
    /// assert!(BYTES > 8 * 300);
    /// ```
    #[must_use]
    pub const fn of_requests<W: Width>(config: &Config, objects: u64, longest: usize) -> Self {
        match Budget::of_requests::<W>(config, objects, longest) {
            Ok(budget) => Self::Joint(budget),
            Err(error) => panic!("{}", error.message()),
        }
    }

    /// Objects of several kinds at once: of each `(objects, longest)`, as [`Demand::of_requests`]
    /// counts them.
    ///
    /// # Panics
    /// As [`Demand::of_requests`]; [`Budget::of_kinds`] returns what this panics for.
    ///
    /// # Examples
    /// ```
    /// use surefit_compact::certify::{Demand, heap_bytes};
    /// use surefit_compact::{Config, Narrow};
    ///
    /// const CONFIG: Config = Config::TINY;
    /// // 40 messages of up to 300 bytes, 100 timers of up to 24, and four buffers of up to 1,000.
    /// const KINDS: [(u64, usize); 3] = [(40, 300), (100, 24), (4, 1000)];
    /// const DEMAND: Demand<'static> = Demand::of_kinds::<Narrow>(&CONFIG, &KINDS);
    /// // In one kind, all 144 would be of up to 1,000 bytes.
    /// const ONE: Demand<'static> = Demand::of_requests::<Narrow>(&CONFIG, 144, 1000);
    /// const BYTES: usize = heap_bytes::<Narrow>(&CONFIG, &DEMAND);
    /// assert!(BYTES < heap_bytes::<Narrow>(&CONFIG, &ONE) / 3);
    /// ```
    #[must_use]
    pub const fn of_kinds<W: Width>(config: &Config, kinds: &[(u64, usize)]) -> Self {
        match Budget::of_kinds::<W>(config, kinds) {
            Ok(budget) => Self::Joint(budget),
            Err(error) => panic!("{}", error.message()),
        }
    }
}

impl Budget {
    /// The budget of at most `objects` objects, each requested with up to `longest` bytes, in any
    /// mix of lengths, at alignments of up to 8.
    ///
    /// While an object is resized, it counts twice. What it does not take is counted as
    /// [`Demand::of_requests`] says.
    ///
    /// # Errors
    /// [`Uncertifiable::TooLarge`] if a heap of this configuration holds no object of `longest`
    /// bytes: it would be longer than a page and is not in pieces, or its bytes exceed 64 bits.
    ///
    /// # Complexity
    /// One pass for each level of spines: at most 16.
    pub const fn of_requests<W: Width>(
        config: &Config,
        objects: u64,
        longest: usize,
    ) -> Result<Self, Uncertifiable> {
        let Some(each) = BlockCount::most::<W>(config, longest, ALIGN) else {
            return Err(Uncertifiable::TooLarge {
                limit: config.geometry().page_bytes(),
            });
        };
        Ok(Self {
            objects: objects.saturating_mul(each.blocks),
            block_bytes: objects.saturating_mul(each.bytes),
            classes: ClassSet::of_objects(config, longest, ALIGN),
        })
    }

    /// The budget of objects of several kinds at once: the sum of [`Budget::of_requests`] of each
    /// `(objects, longest)`.
    ///
    /// # Errors
    /// As [`Budget::of_requests`].
    pub const fn of_kinds<W: Width>(
        config: &Config,
        kinds: &[(u64, usize)],
    ) -> Result<Self, Uncertifiable> {
        let (mut sum, mut others) = (Self::NONE, kinds);
        while let Some((&(objects, longest), left)) = others.split_first() {
            sum = match Self::of_requests::<W>(config, objects, longest) {
                Ok(kind) => sum.and(kind),
                Err(error) => return Err(error),
            };
            others = left;
        }
        Ok(sum)
    }

    /// This and another budget at once.
    const fn and(self, other: Self) -> Self {
        Self {
            objects: self.objects.saturating_add(other.objects),
            block_bytes: self.block_bytes.saturating_add(other.block_bytes),
            classes: self.classes.and(other.classes),
        }
    }
}

impl BlockCount {
    /// The most that a byte object of up to `len` bytes at an alignment of up to `align` takes:
    /// page-blocks, and their bytes. In pieces, a shorter object may take more than one of `len`
    /// bytes ([`BlockCount::of`]).
    ///
    /// `None` as in [`BlockCount::of`].
    #[must_use]
    pub const fn most<W: Width>(config: &Config, len: usize, align: usize) -> Option<Self> {
        let division = config.division();
        let (mut sum, mut len, mut align) = (Self::NONE, len, align);
        loop {
            let Some(level) = most_of_level(config, len, align, W::SPINE_WORD_BYTES) else {
                return None;
            };
            sum = match sum.and_bytes(level.blocks, level.bytes) {
                Some(sum) => sum,
                None => return None,
            };
            if !division.divides(len) {
                return Some(sum);
            }
            let pieces = most_pieces(division, len);
            len = pieces.saturating_mul(W::SPINE_WORD_BYTES);
            align = W::SPINE_WORD_BYTES;
        }
    }
}

/// The most that a level of up to `len` bytes takes, without its spine.
const fn most_of_level(
    config: &Config,
    len: usize,
    align: usize,
    word_bytes: usize,
) -> Option<BlockCount> {
    let longest = level(config, len, align, word_bytes);
    let shorter = level(config, shorter(config.division(), len), align, word_bytes);
    match (longest, shorter) {
        (Some(a), Some(b)) => Some(BlockCount {
            blocks: if a.blocks > b.blocks {
                a.blocks
            } else {
                b.blocks
            },
            bytes: if a.bytes > b.bytes { a.bytes } else { b.bytes },
        }),
        _ => None,
    }
}

/// What a level of `len` bytes takes, without its spine.
const fn level(config: &Config, len: usize, align: usize, word_bytes: usize) -> Option<BlockCount> {
    let pieces = Pieces::new(len, align, config.division(), word_bytes);
    BlockCount::of_pieces(config, pieces.without_spine())
}
