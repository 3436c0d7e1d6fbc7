//! The tables of a geometry, and the indexes of requests in them.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use super::cast::{byte, word};
use super::class_layout::ClassLayout;
use super::placement::{Page, Placement};
use super::spec::{ClassBits, MAX_CLASSES};

/// Requests up to this many bytes find their class with one load. At most the smallest page.
pub(super) const FINE_BYTES: usize = 1024;
/// One entry for each multiple of eight bytes from 0 to `FINE_BYTES`.
pub(super) const FINE_ENTRIES: usize = FINE_BYTES / 8 + 1;
/// Buckets per power of two above `FINE_BYTES`, as a binary logarithm. Few classes need no more
/// than one.
const COARSE_BITS: u32 = if cfg!(feature = "many-classes") { 5 } else { 0 };
/// Six powers of two of these buckets, and an end; a power of two, so that an index can be masked.
pub(super) const COARSE_ENTRIES: usize = 8 << COARSE_BITS;
/// One entry for each alignment from 16 bytes, the first that a granule may not provide, to 64 KiB,
/// and three spare entries, so that an index can be masked.
pub(super) const ALIGNMENTS: usize = 16;
/// The first of these alignments, as a binary logarithm.
const FIRST_ALIGNMENT: u32 = 4;

/// The index of an alignment in the table of alignments; `align` must be a power of two from 16 to
/// 64 KiB.
#[inline]
pub(super) const fn alignment(align: usize) -> usize {
    debug_assert!(
        align.is_power_of_two() && align >= 1 << FIRST_ALIGNMENT,
        "an alignment of the table"
    );
    align.trailing_zeros().wrapping_sub(FIRST_ALIGNMENT) as usize & (ALIGNMENTS - 1)
}

/// The bucket of a request above `FINE_BYTES`: the bits below the highest bit of the last
/// byte's index.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "asked above 1024 bytes, of which 32 buckets a power of two are counted"
)]
pub(super) const fn bucket(bytes: usize) -> usize {
    let last = bytes - 1;
    let power = (usize::BITS - 1).wrapping_sub(last.leading_zeros());
    let buckets = 1 << COARSE_BITS;
    (last >> (power - COARSE_BITS)) - buckets + ((power - FINE_BYTES.ilog2()) as usize) * buckets
}

/// The smallest request of a bucket, in bytes: the inverse of [`bucket`].
#[expect(
    clippy::arithmetic_side_effects,
    reason = "asked for indices of a table of 256"
)]
const fn bucket_start(bucket: usize) -> usize {
    let buckets = 1 << COARSE_BITS;
    let power = FINE_BYTES.ilog2() + word((bucket / buckets) as u64);
    ((buckets + bucket % buckets) << (power - COARSE_BITS)) + 1
}

/// The layout of every class. After the last class, copies of its layout (G5).
#[expect(
    clippy::arithmetic_side_effects,
    reason = "indices of at most 128 classes, of which there is one at least"
)]
pub(super) const fn layouts(placement: &Placement, page: Page) -> [ClassLayout; MAX_CLASSES] {
    let largest = ClassLayout::new(page, placement.sizes[placement.count - 1]);
    let mut layouts = [largest; MAX_CLASSES];
    let mut class = 0;
    while class < placement.count {
        layouts[class] = ClassLayout::new(page, placement.sizes[class]);
        class += 1;
    }
    layouts
}

/// For each alignment, the classes whose page-blocks are multiples of it. The last class, a page,
/// always is.
#[expect(clippy::arithmetic_side_effects, reason = "indices of tables")]
pub(super) const fn aligned(
    layouts: &[ClassLayout; MAX_CLASSES],
    count: usize,
) -> [ClassBits; ALIGNMENTS] {
    let mut sets = [0; ALIGNMENTS];
    let mut power = 0;
    while power < ALIGNMENTS {
        let mut class = 0;
        while class < count {
            if layouts[class].block_bytes.trailing_zeros() as usize
                >= power + FIRST_ALIGNMENT as usize
            {
                sets[power] |= 1 << class;
            }
            class += 1;
        }
        power += 1;
    }
    sets
}

/// For each multiple of eight bytes up to `FINE_BYTES`, the smallest class that holds it.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "indices of tables; the last class has a page, which holds all"
)]
pub(super) const fn fine(layouts: &[ClassLayout; MAX_CLASSES]) -> [u8; FINE_ENTRIES] {
    let mut table = [0; FINE_ENTRIES];
    let mut class = 0;
    let mut entry = 0;
    while entry < FINE_ENTRIES {
        while (layouts[class].block_bytes as usize) < 8 * entry {
            class += 1;
        }
        table[entry] = byte(class);
        entry += 1;
    }
    table
}

/// For each bucket, the smallest class that holds its smallest request; after the page, the last
/// class.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "indices of tables; there is a class at least"
)]
pub(super) const fn coarse(
    layouts: &[ClassLayout; MAX_CLASSES],
    count: usize,
) -> [u8; COARSE_ENTRIES] {
    let mut table = [0; COARSE_ENTRIES];
    let mut class = 0;
    let mut entry = 0;
    while entry < COARSE_ENTRIES {
        while class < count - 1 && (layouts[class].block_bytes as usize) < bucket_start(entry) {
            class += 1;
        }
        table[entry] = byte(class);
        entry += 1;
    }
    table
}
