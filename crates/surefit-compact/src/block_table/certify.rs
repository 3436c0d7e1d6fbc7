//! How many bytes are enough for a block table heap: from a configuration and a demand, without running anything.
//!
//! ```text
//! frames      ⌈F·f / P⌉ pages, exactly, and an entry each
//! table       the rows of at most N objects of at most F frames in sum, in any mix: a joint budget of Compact-fit
//!             rows(N, F) ≤ N·row(1) + slope·(F − N), where slope is the most that a longer row costs for each further
//!             frame
//! resizes     one at a time: the old row and the new one are live at once
//! ```
//! # Complexity
//! Linear in the frames of the largest object, and some 600 passes over the classes.
//!
//! # Source
//! [`crate::certify`] and docs/bounds.md for the table; frames are counted.
#![deny(unsafe_code)]

use super::BlockTableConfig;
use crate::certify::{BlockCount, Budget, Certificate, ClassSet, Demand, Uncertifiable, pages_max};
use crate::layout;
use crate::width::Width;

/// What is live at most: a budget that all objects share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameDemand {
    /// N: the most objects live at once.
    pub objects: u64,
    /// F: the most frames live at once. [`FrameDemand::of_bytes`] counts them for bytes.
    pub frames: u64,
    /// The frames of the largest object.
    pub largest: u64,
    /// The frames of the largest object that is ever resized, at its largest; 0 if none is. At most `largest`.
    pub largest_resized: u64,
}

impl FrameDemand {
    /// At most `objects` objects at once, of `bytes` bytes in sum, none above `largest` bytes, any of them resized.
    ///
    /// An object wastes at most f − 1 bytes of its last frame, and one without bytes has a frame.
    #[must_use]
    pub const fn of_bytes(
        config: &BlockTableConfig,
        objects: u64,
        bytes: u64,
        largest: usize,
    ) -> Self {
        let f = config.frame_bytes() as u64;
        let largest = config.frames_of(largest) as u64;
        let rounded = (bytes + objects * (f - 1)) / f;
        // An object without bytes has a frame, more than its share of what is rounded up.
        let frames = rounded + objects.div_ceil(f);
        Self {
            objects,
            frames: least(frames, largest.saturating_mul(objects)),
            largest,
            largest_resized: largest,
        }
    }
}

/// The bytes that suffice for a demand on a block table heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockTableCertificate {
    /// Bytes of region that suffice, wherever it begins.
    pub heap_bytes: usize,
    /// Of them: frame pages.
    pub frame_bytes: usize,
    /// The certificate of the table alone: its pages, entries, moves.
    pub table: Certificate,
}

/// A certificate for a demand on a heap of width `W`; `const`.
///
/// # Errors
/// Why the demand cannot be served by any heap of this width and configuration.
///
/// # Examples
/// ```
/// use surefit_compact::Wide;
/// use surefit_compact::block_table::certify::{FrameDemand, certify};
/// use surefit_compact::block_table::{BlockTableConfig, BlockTableHeap};
///
/// static CONFIG: BlockTableConfig = BlockTableConfig::DEFAULT;
/// // At most 1000 objects at once, 64 KiB in sum, none above 512 bytes.
/// const DEMAND: FrameDemand = FrameDemand::of_bytes(&CONFIG, 1000, 64 << 10, 512);
/// let certificate = certify::<Wide>(&CONFIG, &DEMAND).expect("a heap can serve it");
/// let mut memory = vec![core::mem::MaybeUninit::uninit(); certificate.heap_bytes];
/// let heap: BlockTableHeap = BlockTableHeap::new(&mut memory, &CONFIG)?;
/// # Ok::<(), surefit_core::Refused>(())
/// ```
#[expect(
    clippy::cast_possible_truncation,
    reason = "pages are checked against the width, so everything is below 2^36 bytes"
)]
pub const fn certify<W: Width>(
    config: &BlockTableConfig,
    demand: &FrameDemand,
) -> Result<BlockTableCertificate, Uncertifiable> {
    let budget = match rows::<W>(config, demand) {
        Ok(budget) => budget,
        Err(error) => return Err(error),
    };
    let table = match crate::certify::certify::<W>(&config.table, &Demand::Joint(budget)) {
        Ok(table) => table,
        Err(error) => return Err(error),
    };
    let page = config.page_bytes() as u64;
    let pages = demand.frames.div_ceil(config.frames_per_page() as u64);
    // The entries of frame pages may need a page of the address table more, and each page has a record.
    let entries = pages * W::ENTRY_BYTES as u64 + 8;
    let limit = pages_max::<W>(config.table.geometry()) - 1;
    let all_pages = pages + (table.aligned_bytes as u64 + entries) / page + 2;
    if all_pages > limit {
        return Err(Uncertifiable::TooManyPages { limit });
    }
    let records = (pages + entries / page + 2) * layout::page_record_bytes::<W>() as u64;
    let frame_bytes = pages * page;
    let heap_bytes = table.heap_bytes + (frame_bytes + entries + records) as usize;
    // The heap refuses a region by its bytes, records included.
    if heap_bytes > config.region_max::<W>() {
        return Err(Uncertifiable::TooManyPages { limit });
    }
    Ok(BlockTableCertificate {
        heap_bytes,
        frame_bytes: frame_bytes as usize,
        table,
    })
}

/// The bytes of a region that suffice for a demand, wherever the region begins; for constants.
///
/// # Panics
/// If the demand has no certificate: in a constant, a compile error.
#[must_use]
pub const fn heap_bytes<W: Width>(config: &BlockTableConfig, demand: &FrameDemand) -> usize {
    match certify::<W>(config, demand) {
        Ok(certificate) => certificate.heap_bytes,
        Err(_) => panic!("no heap of this width and configuration serves the demand"),
    }
}

/// The page-blocks of all rows that the demand allows at once.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a row's longest piece is below a page"
)]
const fn rows<W: Width>(
    config: &BlockTableConfig,
    demand: &FrameDemand,
) -> Result<Budget, Uncertifiable> {
    let (mut blocks, mut bytes) = (Slope::NONE, Slope::NONE);
    let one = match row::<W>(config, 1) {
        Ok(one) => one,
        Err(error) => return Err(error),
    };
    let mut frames = 2;
    while frames <= demand.largest {
        let cost = match row::<W>(config, frames) {
            Ok(cost) => cost,
            Err(error) => return Err(error),
        };
        blocks = blocks.or(cost.blocks - one.blocks, frames - 1);
        bytes = bytes.or(cost.bytes - one.bytes, frames - 1);
        frames += 1;
    }
    let resized = match row::<W>(config, demand.largest_resized) {
        Ok(resized) if demand.largest_resized > 0 => resized,
        Ok(_) => BlockCount {
            blocks: 0,
            bytes: 0,
        },
        Err(error) => return Err(error),
    };
    let longest = demand.largest.saturating_mul(W::WORD_BYTES as u64);
    let longest = least(longest, config.piece_bytes() as u64);
    Ok(Budget {
        objects: blocks.most(one.blocks, demand) + resized.blocks,
        block_bytes: bytes.most(one.bytes, demand) + resized.bytes,
        classes: ClassSet::of_requests(config.table.geometry(), longest as usize),
    })
}

/// What a row of so many entries takes.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a row beyond usize is refused as too large by then"
)]
const fn row<W: Width>(
    config: &BlockTableConfig,
    frames: u64,
) -> Result<BlockCount, Uncertifiable> {
    let bytes = frames as usize * W::WORD_BYTES;
    match BlockCount::of::<W>(&config.table, bytes, W::WORD_BYTES) {
        Some(count) => Ok(count),
        None => Err(Uncertifiable::TooLarge {
            limit: config.page_bytes(),
        }),
    }
}

/// The greatest quotient seen.
#[derive(Clone, Copy)]
struct Slope {
    above: u64,
    below: u64,
}

impl Slope {
    const NONE: Self = Self { above: 0, below: 1 };

    const fn or(self, above: u64, below: u64) -> Self {
        if above * self.below > self.above * below {
            return Self { above, below };
        }
        self
    }

    const fn times(self, n: u64) -> u64 {
        (self.above as u128 * n as u128).div_ceil(self.below as u128) as u64
    }

    /// The most that 1 to N rows of F entries in sum take, if a row of one takes `one`: the sum is linear in the number
    /// of rows, so it is greatest with the fewest or with the most of them.
    const fn most(self, one: u64, demand: &FrameDemand) -> u64 {
        let rows = least(demand.objects, demand.frames);
        if rows == 0 {
            return 0;
        }
        let many = rows * one + self.times(demand.frames - rows);
        let few = one + self.times(demand.frames - 1);
        if many > few { many } else { few }
    }
}

const fn least(a: u64, b: u64) -> u64 {
    if a < b { a } else { b }
}
