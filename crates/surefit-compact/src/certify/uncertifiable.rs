//! Why a demand has no certificate.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use core::fmt;

/// Why a demand has no certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Uncertifiable {
    /// The back-references of the geometry do not have the width of the heap's words.
    Width,
    /// The demand names a size-class that the geometry lacks.
    NoSuchClass,
    /// More entries than a word can number.
    TooManyEntries {
        /// The most there can be.
        limit: u64,
    },
    /// More pages than a heap of this width, or a region on this machine, can have.
    TooManyPages {
        /// The most there can be.
        limit: u64,
    },
    /// An object that must be contiguous is larger than a page, or aligned beyond a page.
    TooLarge {
        /// Bytes of a page.
        limit: usize,
    },
    /// A contiguous object of at most a page is a page-block, and counts among page-blocks.
    WithinPage {
        /// Bytes of a page.
        limit: usize,
    },
    /// More objects of a shared heap can be pinned at once than its configuration allows.
    TooManyPins {
        /// The configured pins.
        limit: u32,
    },
    /// A shared heap with these size-classes cannot have this many instances.
    TooManyInstances {
        /// The most there can be.
        limit: u32,
    },
    /// A region has fewer bytes than the demand needs.
    TooSmall {
        /// What it needs.
        needed: usize,
    },
    /// An object is freed or resized that was never counted, or not with this length and alignment.
    NotCounted,
}

impl Uncertifiable {
    pub(super) const fn message(self) -> &'static str {
        match self {
            Self::Width => {
                "the geometry's back-references do not have the width of the heap's words"
            }
            Self::NoSuchClass => "the demand names a size-class that the geometry lacks",
            Self::TooManyEntries { .. } => "the demand needs more entries than a word can number",
            Self::TooManyPages { .. } => {
                "the demand needs more pages than a heap of this width can have"
            }
            Self::TooLarge { .. } => "a contiguous object is larger than a page",
            Self::WithinPage { .. } => {
                "a contiguous object that belongs among page-blocks is no longer than a page"
            }
            Self::TooManyPins { .. } => "guards and other threads pin more than is configured",
            Self::TooManyInstances { .. } => {
                "the instances have more size-classes than can be numbered"
            }
            Self::TooSmall { .. } => "the region has fewer bytes than the demand needs",
            Self::NotCounted => {
                "an object is freed or resized that was not allocated with this length and alignment"
            }
        }
    }
}

impl fmt::Display for Uncertifiable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())?;
        match self {
            Self::TooManyEntries { limit } | Self::TooManyPages { limit } => {
                write!(f, ": at most {limit}")
            }
            Self::TooLarge { limit } | Self::WithinPage { limit } => {
                write!(f, " of {limit} bytes")
            }
            Self::TooManyPins { limit } | Self::TooManyInstances { limit } => {
                write!(f, ": at most {limit}")
            }
            Self::TooSmall { needed } => write!(f, ": {needed}"),
            _ => Ok(()),
        }
    }
}

impl core::error::Error for Uncertifiable {}
