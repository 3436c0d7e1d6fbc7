//! The configuration of a block table heap: frame size, page size, and the compaction bound of the
//! table.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use core::fmt;

use surefit_compact::certify::pages_max;
use surefit_compact::pieces::{Division, Pieces};
use surefit_compact::{
    Bound, Config, ConfigError, Geometry, GeometryError, GeometrySpec, PageOrder, Spacing, Tail,
    Wide, Width,
};

use super::words::tag;

/// The smallest frame, in bytes.
pub const MIN_FRAME_BYTES: usize = 16;

/// The largest frame, in bytes.
pub const MAX_FRAME_BYTES: usize = 4096;

/// A valid configuration of a block table heap.
#[derive(Clone, Debug)]
pub struct BlockTableConfig {
    /// The configuration of the heap that holds the rows.
    pub(super) table: Config,
    pub(super) frame_shift: u32,
}

/// Why a configuration of a block table heap is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockTableConfigError {
    /// The frame size is not a power of two from 16 to 4096 bytes, or exceeds a page.
    FrameBytes {
        /// The requested frame size, in bytes.
        frame_bytes: usize,
    },
    /// The pages of the table are invalid.
    Geometry(GeometryError),
    /// The compaction bound is invalid.
    Bound(ConfigError),
}

impl fmt::Display for BlockTableConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FrameBytes { frame_bytes } => write!(
                f,
                "a frame of {frame_bytes} bytes: it must be a power of two from {MIN_FRAME_BYTES} to {MAX_FRAME_BYTES}, at most a page"
            ),
            Self::Geometry(error) => error.fmt(f),
            Self::Bound(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for BlockTableConfigError {}

impl BlockTableConfig {
    /// Frames of 32 bytes, pages of 4 KiB, the default hole bound.
    ///
    /// With these sizes, seven recorded programs complete in the smallest regions (see the module).
    pub const DEFAULT: Self = match Self::new(32, Bound::DEFAULT) {
        Ok(config) => config,
        Err(_) => panic!("the default configuration is valid"),
    };

    /// The bytes of a page, unless [`BlockTableConfig::with_pages`] sets another number.
    pub const PAGE_BYTES: usize = 4096;

    /// A configuration with frames of `frame_bytes`, in pages of [`Self::PAGE_BYTES`], for words of
    /// four bytes.
    ///
    /// # Errors
    /// Which of the values is invalid.
    pub const fn new(frame_bytes: usize, bound: Bound) -> Result<Self, BlockTableConfigError> {
        Self::with_pages::<Wide>(frame_bytes, bound, Self::PAGE_BYTES)
    }

    /// A configuration with frames of `frame_bytes`, in pages of `page_bytes`, for words of width
    /// `W`, of two or four bytes: another width does not compile.
    ///
    /// The same pages serve for frames, and as abstract pages of the table.
    ///
    /// # Errors
    /// Which of the values is invalid.
    pub const fn with_pages<W: Width>(
        frame_bytes: usize,
        bound: Bound,
        page_bytes: usize,
    ) -> Result<Self, BlockTableConfigError> {
        const {
            assert!(
                W::WORD_BYTES.is_power_of_two(),
                "rows have words of two or four bytes"
            )
        };
        let in_range = frame_bytes >= MIN_FRAME_BYTES && frame_bytes <= MAX_FRAME_BYTES;
        if !frame_bytes.is_power_of_two() || !in_range || frame_bytes > page_bytes {
            return Err(BlockTableConfigError::FrameBytes { frame_bytes });
        }
        let geometry = match Geometry::new(&GeometrySpec {
            page_bytes,
            granule: 8,
            smallest: 8,
            spacing: Spacing::Fraction(8),
            tail: Tail::BackReferences {
                bytes: W::WORD_BYTES,
            },
        }) {
            Ok(geometry) => geometry,
            Err(error) => return Err(BlockTableConfigError::Geometry(error)),
        };
        let config = match Config::new(geometry, bound) {
            Ok(config) => config,
            Err(error) => return Err(BlockTableConfigError::Bound(error)),
        };
        // A page that becomes frames is one page-block. Rows have pieces of their own.
        match config.with_pieces(Some(page_bytes)) {
            Ok(table) => Ok(Self {
                table,
                frame_shift: frame_bytes.trailing_zeros(),
            }),
            Err(error) => Err(BlockTableConfigError::Bound(error)),
        }
    }

    /// Sets the page order of the table, an option of [`Bound::Pages`].
    ///
    /// # Errors
    /// [`ConfigError::OrderNeedsPages`], wrapped.
    pub const fn with_order(self, order: PageOrder) -> Result<Self, BlockTableConfigError> {
        match self.table.with_order(order) {
            Ok(table) => Ok(Self {
                table,
                frame_shift: self.frame_shift,
            }),
            Err(error) => Err(BlockTableConfigError::Bound(error)),
        }
    }

    /// f: bytes of a frame.
    #[inline]
    #[must_use]
    pub const fn frame_bytes(&self) -> usize {
        1 << self.frame_shift
    }

    /// Bytes of a page.
    #[must_use]
    pub const fn page_bytes(&self) -> usize {
        self.table.geometry().page_bytes()
    }

    /// The compaction bound of every size-class of the table.
    #[must_use]
    pub const fn bound(&self) -> Bound {
        self.table.bound()
    }

    /// The number of frames of an object of `len` bytes: ⌈len / f⌉, and one for an object without
    /// bytes.
    #[expect(clippy::arithmetic_side_effects, reason = "above zero")]
    #[inline]
    #[must_use]
    pub const fn frames_of(&self, len: usize) -> usize {
        match len {
            0 => 1,
            _ => ((len - 1) >> self.frame_shift) + 1,
        }
    }

    /// The largest region that words of width `W` can divide into pages and frames, in bytes.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "no more than what usize counts"
    )]
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "at most 2^25 pages of 2^16 bytes, 2^31 frames of 2^12 bytes, in 64 bits"
    )]
    pub const fn region_max<W: Width>(&self) -> usize {
        let pages = pages_max::<W>(self.table.geometry()) * self.page_bytes() as u64;
        let frames = (tag::<W>() as u64 - 1) << self.frame_shift;
        let most = if pages < frames { pages } else { frames };
        if most < usize::MAX as u64 {
            most as usize
        } else {
            usize::MAX
        }
    }

    /// The most bytes of a row that are contiguous: a quarter of a page. Longer rows are in pieces
    /// of this length.
    pub(super) const fn piece_bytes(&self) -> usize {
        self.page_bytes() / 4
    }

    /// The page-blocks of a row of so many words: its pieces, and its spines.
    pub(super) const fn row_blocks<W: Width>(&self, words: usize) -> Pieces {
        let piece = self.piece_bytes();
        let bytes = words.saturating_mul(W::WORD_BYTES);
        Pieces::new(
            bytes,
            W::WORD_BYTES,
            Division::new(Some(piece), piece),
            W::WORD_BYTES,
        )
    }

    /// Frames per page.
    pub(super) const fn frames_per_page(&self) -> usize {
        self.page_bytes() >> self.frame_shift
    }
}

impl Default for BlockTableConfig {
    fn default() -> Self {
        Self::DEFAULT
    }
}
