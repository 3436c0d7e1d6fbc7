//! Why a geometry is not possible, and what would be.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use core::fmt;

/// A [`GeometrySpec`](super::GeometrySpec) that describes no geometry.
///
/// Every variant says what is wrong; its `Display` text says how to fix it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GeometryError {
    /// The page is not a power of two from 1 KiB to 64 KiB.
    PageBytes {
        /// The requested page, in bytes.
        page_bytes: usize,
    },
    /// The granule is neither 8 nor 16 bytes.
    Granule {
        /// The requested granule, in bytes.
        granule: usize,
    },
    /// The smallest page-block is zero, not a multiple of the granule, or larger than a page.
    Smallest {
        /// The requested smallest page-block, in bytes.
        smallest: usize,
    },
    /// The fraction of a power of two is outside 1/1 to 1/64.
    Fraction {
        /// The requested denominator.
        fraction: u32,
    },
    /// A back-reference has fewer than 2 bytes or more than 4.
    BackReference {
        /// The requested back-reference, in bytes.
        bytes: usize,
    },
    /// A size of an explicit list is zero or not a multiple of the granule.
    NotMultiple {
        /// Its place in the list, from zero.
        index: usize,
        /// The size, in bytes.
        block_bytes: u32,
    },
    /// A size of an explicit list is not larger than the one before it.
    NotAscending {
        /// Its place in the list, from zero.
        index: usize,
        /// The size, in bytes.
        block_bytes: u32,
    },
    /// A size of an explicit list is larger than a page.
    OverPage {
        /// Its place in the list, from zero.
        index: usize,
        /// The size, in bytes.
        block_bytes: u32,
    },
    /// There are more than [`MAX_CLASSES`](super::MAX_CLASSES) size-classes, including the
    /// page-sized one.
    TooManyClasses,
    /// A page would have more than [`MAX_BLOCKS`](super::MAX_BLOCKS) page-blocks.
    TooManyBlocks {
        /// The smallest page-block, in bytes.
        block_bytes: usize,
        /// How many of them a page would hold.
        blocks: usize,
    },
}

impl GeometryError {
    /// What is wrong and how to fix it, without the values: for `panic!` in a `const`.
    #[must_use]
    pub const fn message(&self) -> &'static str {
        match self {
            Self::PageBytes { .. } => "a page must be a power of two from 1024 to 65536 bytes",
            Self::Granule { .. } => "the granule must be 8 or 16 bytes",
            Self::Smallest { .. } => {
                "the smallest page-block must be a multiple of the granule, above zero, and fit in a page"
            }
            Self::Fraction { .. } => "the spacing must be 1/1 to 1/64 of a power of two",
            Self::BackReference { .. } => {
                "a back-reference must be 2, 3 or 4 bytes; use Tail::None for none"
            }
            Self::NotMultiple { .. } => {
                "every page-block size must be a multiple of the granule, above zero"
            }
            Self::NotAscending { .. } => "page-block sizes must ascend, each at most once",
            Self::OverPage { .. } => {
                "no page-block may be larger than a page: drop it or take larger pages"
            }
            Self::TooManyClasses => {
                "there are at most 128 size-classes (32 without the feature `many-classes`), the page-sized one included: take a coarser spacing or fewer sizes"
            }
            Self::TooManyBlocks { .. } => {
                "a page has at most 4096 page-blocks: take a larger smallest page-block or smaller pages"
            }
        }
    }
}

impl fmt::Display for GeometryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())?;
        match *self {
            Self::PageBytes { page_bytes: bytes }
            | Self::Granule { granule: bytes }
            | Self::Smallest { smallest: bytes }
            | Self::BackReference { bytes } => write!(f, " (not {bytes})"),
            Self::Fraction { fraction } => write!(f, " (not 1/{fraction})"),
            Self::NotMultiple { index, block_bytes }
            | Self::NotAscending { index, block_bytes }
            | Self::OverPage { index, block_bytes } => {
                write!(f, " (size {block_bytes} at index {index})")
            }
            Self::TooManyClasses => Ok(()),
            Self::TooManyBlocks {
                block_bytes,
                blocks,
            } => write!(f, " ({blocks} of {block_bytes} bytes)"),
        }
    }
}

impl core::error::Error for GeometryError {}
