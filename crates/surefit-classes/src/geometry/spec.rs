//! What a geometry is described with: size-classes, tails, spacings.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

/// The most size-classes that a geometry can have: 128, or 32 without the feature `many-classes`,
/// because every geometry has tables for so many.
///
/// This is a power of two, so that a mask replaces the bounds check in the table of layouts.
pub const MAX_CLASSES: usize = ClassBits::BITS as usize;

/// A bit for each size-class.
#[cfg(feature = "many-classes")]
pub(super) type ClassBits = u128;
/// A bit for each size-class.
#[cfg(not(feature = "many-classes"))]
pub(super) type ClassBits = u32;

/// The most page-blocks that a page can have: 64 bitmap words of 64 bits.
pub const MAX_BLOCKS: usize = 4096;

/// The most page-blocks with bitmap and back-references in the record of the page, not in the page.
pub const INLINE_BLOCKS: usize = 8;

/// The page-blocks that one word of a bitmap describes.
pub const WORD_BLOCKS: usize = 64;

/// The index of a size-class, counted from the smallest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct SizeClass(pub(super) u8);

impl SizeClass {
    /// The class as an index below [`MAX_CLASSES`].
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a page keeps in itself besides page-blocks and bitmap leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tail {
    /// Nothing: raw pointers; no object ever moves.
    None,
    /// One index per page-block, in pages of more than [`INLINE_BLOCKS`] page-blocks.
    BackReferences {
        /// 2, 3 or 4.
        bytes: usize,
    },
}

/// Where page-block sizes lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spacing<'a> {
    /// This many sizes in each power of two, from 1 to 64. With 8, a size is at most 1/8 larger
    /// than the one below it, with two exceptions: neighbours are at least a granule apart, and
    /// sizes of which at most eight fit in a page are P/8 ... P/1.
    Fraction(u32),
    /// Exactly these sizes, which ascend and are multiples of the granule. The page-sized class is
    /// appended if it is missing. [`GeometrySpec::smallest`] is ignored.
    Explicit(&'a [u32]),
}

/// A description from which a [`Geometry`](crate::Geometry) is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GeometrySpec<'a> {
    /// P, bytes of a page: a power of two from 1 KiB to 64 KiB.
    pub page_bytes: usize,
    /// 8 or 16: every page-block size is a multiple of it, so every page-block is aligned to it.
    pub granule: usize,
    /// The smallest page-block, in bytes: a multiple of the granule.
    pub smallest: usize,
    /// Where the sizes above it lie.
    pub spacing: Spacing<'a>,
    /// What a page keeps besides page-blocks.
    pub tail: Tail,
}

impl GeometrySpec<'static> {
    /// Pages of 16 KiB, multiples of 8 from 16 bytes, 1/8 spacing, back-references of 4 bytes.
    pub const DEFAULT: Self = Self {
        page_bytes: 16 << 10,
        granule: 8,
        smallest: 16,
        spacing: Spacing::Fraction(8),
        tail: Tail::BackReferences { bytes: 4 },
    };
}

impl Default for GeometrySpec<'static> {
    fn default() -> Self {
        Self::DEFAULT
    }
}
