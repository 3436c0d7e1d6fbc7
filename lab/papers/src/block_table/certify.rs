//! How many bytes are enough for a block table heap, computed from a configuration and a demand
//! without running anything.
//!
//! ```text
//! frames      ⌈F·f / P⌉ pages, exactly, and one entry each
//! table       the rows of at most N objects of at most F frames in sum, in any mix: a joint budget
//!             of Compact-fit; rows(N, F) ≤ N·row(1) + slope·(F − N), where slope is the most that
//!             a longer row costs per additional frame
//! resizes     one at a time: the old row and the new one are both live
//! ```
//! A row of f frames, with m ≥ 1 whole pieces of q frames, a rest of r frames and a spine of m + 1
//! words, costs c(f) = m·c(q) + c(r) + c(m + 1). Let s be the slope of the rows shorter than f.
//! Then c(r) ≤ c(1) + s·(r − 1) and c(m + 1) ≤ c(1) + s·m, so that
//!
//! ```text
//! (c(f) − c(1)) / (f − 1)  ≤  (m·(c(q) + s) + c(1) + s·(r − 1)) / (m·q + r − 1)
//!                          ≤  max((c(q) + s + c(1)/m) / q, s)
//! ```
//! So once (c(q) + s + c(1)/m) / q is at most s, no longer row has a greater slope, and the search
//! ends.
//!
//! # Numbers
//! A demand may consist of any numbers. Sums saturate; a saturated sum is refused.
//!
//! # Complexity
//! Linear in the frames of the largest object, but at most in those of a few pieces; plus about 600
//! passes over the classes.
//!
//! # Source
//! [`surefit_compact::certify`] and [the bounds, section
//! 4](surefit_compact::bounds#4-from-pages-to-bytes) for the table. The frames are exact.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use surefit_compact::certify::{
    BlockCount, Budget, Certificate, ClassSet, Demand, Uncertifiable, pages_max,
};
use surefit_compact::{Width, layout};

use super::config::BlockTableConfig;

/// The most that is live at once: a budget that all objects share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameDemand {
    /// N: the most objects live at once.
    pub objects: u64,
    /// F: the most frames live at once. [`FrameDemand::of_bytes`] computes it from bytes.
    pub frames: u64,
    /// The most frames of one object.
    pub largest: u64,
    /// The most frames of an object that is ever resized, at its largest; 0 if none is. At most
    /// `largest`.
    pub largest_resized: u64,
}

impl FrameDemand {
    /// A demand of at most `objects` objects at once, of `bytes` bytes in sum, none above `largest`
    /// bytes. Any of them may be resized.
    ///
    /// An object wastes at most f − 1 bytes of its last frame. An object without bytes has one
    /// frame.
    #[must_use]
    pub const fn of_bytes(
        config: &BlockTableConfig,
        objects: u64,
        bytes: u64,
        largest: usize,
    ) -> Self {
        let largest = config.frames_of(largest) as u64;
        let frames = frames_rounded(config.frame_bytes() as u128, objects as u128, bytes as u128);
        Self {
            objects,
            frames: least(frames, largest.saturating_mul(objects)),
            largest,
            largest_resized: largest,
        }
    }
}

/// The number of frames of f bytes that `objects` objects of `bytes` bytes in sum take; `u64::MAX`
/// if it is greater.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "numbers of 64 bits, and a frame of at most 2^12 bytes, in 128 bits"
)]
const fn frames_rounded(f: u128, objects: u128, bytes: u128) -> u64 {
    let rounded = (bytes + objects * (f - 1)) / f;
    // An object without bytes has one frame, more than its share of what is rounded up.
    capped(rounded + objects.div_ceil(f))
}

/// A number as 64 bits; `u64::MAX` if it is greater.
#[expect(clippy::cast_possible_truncation, reason = "no more than u64::MAX")]
const fn capped(number: u128) -> u64 {
    if number < u64::MAX as u128 {
        number as u64
    } else {
        u64::MAX
    }
}

/// The bytes that are enough for a demand on a block table heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockTableCertificate {
    /// Bytes of a region that are enough, wherever the region begins.
    pub heap_bytes: usize,
    /// Of these, bytes of frame pages.
    pub frame_bytes: usize,
    /// The certificate of the table alone: its pages, entries and moves.
    pub table: Certificate,
}

/// The certificate for a demand on a heap of width `W`. A `const fn`.
///
/// # Errors
/// Why no heap of this width and configuration can serve the demand.
///
/// # Examples
/// ```
/// use surefit_compact::Wide;
/// use surefit_papers::block_table::certify::{FrameDemand, certify};
/// use surefit_papers::block_table::{BlockTableConfig, BlockTableHeap};
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
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "pages are checked against the width, so everything is below 2^36 bytes, and then against a region's"
)]
pub const fn certify<W: Width>(
    config: &BlockTableConfig,
    demand: &FrameDemand,
) -> Result<BlockTableCertificate, Uncertifiable> {
    let page = config.page_bytes() as u64;
    let limit = pages_max::<W>(config.table.geometry()).saturating_sub(1);
    let pages = demand.frames.div_ceil(config.frames_per_page() as u64);
    if pages > limit {
        return Err(Uncertifiable::TooManyPages { limit });
    }
    let budget = match rows::<W>(config, demand) {
        Ok(budget) => budget,
        Err(error) => return Err(error),
    };
    let table = match surefit_compact::certify::certify::<W>(&config.table, &Demand::Joint(budget))
    {
        Ok(table) => table,
        Err(error) => return Err(error),
    };
    // The entries of frame pages may need one more page of the address table, and each page has a
    // record.
    let entries = pages * W::ENTRY_BYTES as u64 + 8;
    let all_pages = pages + (table.aligned_bytes as u64 + entries) / page + 2;
    if all_pages > limit {
        return Err(Uncertifiable::TooManyPages { limit });
    }
    let records = (pages + entries / page + 2) * layout::page_record_bytes::<W>() as u64;
    let frame_bytes = pages * page;
    let heap_bytes = table.heap_bytes as u64 + frame_bytes + entries + records;
    // The heap refuses a region by its bytes, which include the records.
    let region_max = least(config.region_max::<W>() as u64, isize::MAX as u64);
    if heap_bytes > region_max {
        let limit = region_max / page;
        return Err(Uncertifiable::TooManyPages { limit });
    }
    Ok(BlockTableCertificate {
        heap_bytes: heap_bytes as usize,
        frame_bytes: frame_bytes as usize,
        table,
    })
}

/// The bytes of a region that are enough for a demand, wherever the region begins. For constants.
///
/// # Panics
/// If the demand has no certificate. In a constant, that is a compile error.
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
    let one = match row::<W>(config, 1) {
        Ok(one) => one,
        Err(error) => return Err(error),
    };
    // No object has more frames than the demand.
    let resized = least(demand.largest_resized, demand.frames);
    let largest = least(demand.largest, demand.frames);
    let largest = if largest < resized { resized } else { largest };
    let (blocks, bytes) = match slopes::<W>(config, one, largest) {
        Ok(slopes) => slopes,
        Err(error) => return Err(error),
    };
    let resized = match row::<W>(config, resized) {
        Ok(count) if resized > 0 => count,
        Ok(_) => BlockCount {
            blocks: 0,
            bytes: 0,
        },
        Err(error) => return Err(error),
    };
    let longest = largest.saturating_mul(W::WORD_BYTES as u64);
    let longest = least(longest, config.piece_bytes() as u64);
    Ok(Budget {
        objects: blocks
            .most(one.blocks, demand)
            .saturating_add(resized.blocks),
        block_bytes: bytes.most(one.bytes, demand).saturating_add(resized.bytes),
        classes: ClassSet::of_requests(config.table.geometry(), longest as usize),
    })
}

/// The slopes in page-blocks and in bytes, of rows of up to `largest` frames.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "a longer row costs no less; no row has more frames than pages hold"
)]
const fn slopes<W: Width>(
    config: &BlockTableConfig,
    one: BlockCount,
    largest: u64,
) -> Result<(Slope, Slope), Uncertifiable> {
    let piece = (config.piece_bytes() / W::WORD_BYTES) as u64;
    let mut whole = one;
    let (mut blocks, mut bytes) = (Slope::NONE, Slope::NONE);
    let mut frames = 2;
    while frames <= largest {
        let cost = match row::<W>(config, frames) {
            Ok(cost) => cost,
            Err(error) => return Err(error),
        };
        blocks = blocks.or(cost.blocks - one.blocks, frames - 1);
        bytes = bytes.or(cost.bytes - one.bytes, frames - 1);
        if frames == piece {
            whole = cost;
        }
        // Before each whole piece: whether rows of more pieces have no greater slope.
        let pieces = frames / piece;
        if frames % piece == 0
            && blocks.is_last(whole.blocks, one.blocks, pieces, piece)
            && bytes.is_last(whole.bytes, one.bytes, pieces, piece)
        {
            break;
        }
        frames += 1;
    }
    Ok((blocks, bytes))
}

/// What a row of so many entries costs.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "no more page-blocks than bytes, of which there are less than 2^32 times a page"
)]
const fn row<W: Width>(
    config: &BlockTableConfig,
    frames: u64,
) -> Result<BlockCount, Uncertifiable> {
    let limit = pages_max::<W>(config.table.geometry()).saturating_sub(1);
    let bytes = frames.saturating_mul(W::WORD_BYTES as u64);
    if bytes > usize::MAX as u64 {
        return Err(Uncertifiable::TooManyPages { limit });
    }
    #[expect(clippy::cast_possible_truncation, reason = "it was compared")]
    let mut runs = config.row_blocks::<W>(frames as usize);
    let (mut blocks, mut block_bytes) = (0, 0);
    while let Some(run) = runs.next_run() {
        let geometry = config.table.geometry();
        let Some(class) = geometry.class_for(run.bytes, run.align) else {
            return Err(Uncertifiable::TooLarge {
                limit: config.page_bytes(),
            });
        };
        blocks += run.count as u64;
        block_bytes += run.count as u64 * geometry.layout(class).block_bytes as u64;
    }
    Ok(BlockCount {
        blocks,
        bytes: block_bytes,
    })
}

/// The greatest quotient seen.
#[derive(Clone, Copy)]
struct Slope {
    above: u64,
    below: u64,
}

impl Slope {
    const NONE: Self = Self { above: 0, below: 1 };

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "products of 64 bits, in 128 bits"
    )]
    const fn or(self, above: u64, below: u64) -> Self {
        if above as u128 * self.below as u128 > self.above as u128 * below as u128 {
            return Self { above, below };
        }
        self
    }

    /// ⌈n times the slope⌉; `u64::MAX` if it is greater.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a product of 64 bits, in 128 bits; no quotient is by zero"
    )]
    const fn times(self, n: u64) -> u64 {
        capped((self.above as u128 * n as u128).div_ceil(self.below as u128))
    }

    /// Whether (c(q) + s + c(1)/m) / q ≤ s for this slope s. If so, no row of m or more whole
    /// pieces of q frames has a greater slope.
    ///
    /// Multiplied by m and the slope's divisor: m·(c(q)·below + above) + c(1)·below ≤ m·q·above.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "costs and frames of rows that pages hold are below 2^40, and pieces of a row below 2^32: sums below 2^120"
    )]
    const fn is_last(self, whole: u64, one: u64, pieces: u64, piece: u64) -> bool {
        let (above, below) = (self.above as u128, self.below as u128);
        let (pieces, piece) = (pieces as u128, piece as u128);
        pieces * (whole as u128 * below + above) + one as u128 * below <= pieces * piece * above
    }

    /// The most that 1 to N rows of F entries in sum cost, if a row of one entry costs `one`. The
    /// sum is linear in the number of rows, so it is greatest with the fewest or with the most of
    /// them.
    const fn most(self, one: u64, demand: &FrameDemand) -> u64 {
        let rows = least(demand.objects, demand.frames);
        if rows == 0 {
            return 0;
        }
        // There are no more rows than frames.
        let many = self.times(demand.frames.saturating_sub(rows));
        let many = many.saturating_add(rows.saturating_mul(one));
        let few = self.times(demand.frames.saturating_sub(1));
        let few = few.saturating_add(one);
        if many > few { many } else { few }
    }
}

const fn least(a: u64, b: u64) -> u64 {
    if a < b { a } else { b }
}

#[cfg(test)]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "tests panic where a number overflows"
)]
mod tests {
    use surefit_compact::{Bound, Narrow, Wide};

    use super::*;

    /// The slopes, over all rows.
    fn naive<W: Width>(config: &BlockTableConfig, largest: u64) -> (Slope, Slope) {
        let one = row::<W>(config, 1).expect("short");
        let none = (Slope::NONE, Slope::NONE);
        (2..=largest).fold(none, |(blocks, bytes), frames| {
            let cost = row::<W>(config, frames).expect("short");
            let (more_blocks, more_bytes) = (cost.blocks - one.blocks, cost.bytes - one.bytes);
            (
                blocks.or(more_blocks, frames - 1),
                bytes.or(more_bytes, frames - 1),
            )
        })
    }

    fn check<W: Width>(page_bytes: usize) {
        let config = BlockTableConfig::with_pages::<W>(16, Bound::DEFAULT, page_bytes);
        let config = config.expect("valid");
        let one = row::<W>(&config, 1).expect("short");
        let near = [64, 128, 256, 512, 1024, 2048, 4096, 8192_u64];
        let near = near.into_iter().flat_map(|n| n - 2..n + 3);
        for largest in (0..200).chain(near).chain([100_000]) {
            let (blocks, bytes) = slopes::<W>(&config, one, largest).expect("short");
            let (all_blocks, all_bytes) = naive::<W>(&config, largest);
            for (found, all) in [(blocks, all_blocks), (bytes, all_bytes)] {
                assert_eq!(
                    found.above * all.below,
                    all.above * found.below,
                    "{largest}"
                );
            }
        }
    }

    #[test]
    fn the_search_for_the_slopes_ends_early_and_finds_those_of_all_rows() {
        for page_bytes in [1024, 4096, 16384] {
            check::<Wide>(page_bytes);
            check::<Narrow>(page_bytes);
        }
    }

    #[test]
    fn rows_of_any_number_of_frames_are_searched_at_once() {
        let config = BlockTableConfig::DEFAULT;
        let one = row::<Wide>(&config, 1).expect("short");
        let few = slopes::<Wide>(&config, one, 10_000).expect("short");
        let most = slopes::<Wide>(&config, one, 1 << 30).expect("no longer");
        assert_eq!((few.0.above, few.1.above), (most.0.above, most.1.above));
    }
}
