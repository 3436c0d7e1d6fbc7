//! Why a heap refused a request; the heap is unchanged whenever one of these is returned.

use core::fmt;

/// A request that could not be served, and what was exhausted or wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// No free page is left, and no not-full page of the size-class.
    NoPage,
    /// No free abstract address is left, and no page for more of them.
    NoHandle,
    /// No free chunk is large enough.
    NoChunk,
    /// The request is larger than this heap can ever serve.
    TooLarge {
        /// The largest request, in bytes.
        limit: usize,
    },
    /// The alignment is stricter than this heap can ever give.
    TooAligned {
        /// The strictest alignment, in bytes.
        limit: usize,
    },
    /// The handle belongs to another heap.
    ForeignHandle,
    /// The handle or key names no live object: stale, forged or retired.
    StaleHandle,
    /// The region is too small, or the configuration does not fit it.
    Region {
        /// Bytes that would do, wherever the region begins.
        needed: usize,
    },
    /// No process-unique heap number is left.
    NoHeapId,
    /// The instance has as many bytes as its quota allows, and compaction would not make it fewer.
    Quota,
    /// The object has as many pins as an entry counts.
    TooManyPins,
    /// Somebody else has pinned the object in a way that excludes this.
    Busy,
    /// As many threads are registered as the configuration says.
    NoLocal,
    /// Objects of as many types were allocated as the configuration says.
    NoKind,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPage => {
                f.write_str("no free page is left: the heap is too small for this demand")
            }
            Self::NoHandle => f.write_str("no free handle is left, and no page for more of them"),
            Self::NoChunk => f.write_str("no free chunk is large enough"),
            Self::TooLarge { limit } => write!(
                f,
                "the request is larger than {limit} bytes, the most this heap serves"
            ),
            Self::TooAligned { limit } => write!(
                f,
                "the alignment is stricter than {limit} bytes, the most this heap gives"
            ),
            Self::ForeignHandle => f.write_str("the handle belongs to another heap"),
            Self::StaleHandle => f.write_str("the handle names no live object"),
            Self::Region { needed } => write!(
                f,
                "the region is too small: at least {needed} bytes are needed"
            ),
            Self::NoHeapId => f.write_str("no heap number is left in this process"),
            Self::Quota => f.write_str("the instance has used up its quota of bytes"),
            Self::TooManyPins => f.write_str("the object has as many pins as can be counted"),
            Self::Busy => f.write_str("the object is pinned by somebody else"),
            Self::NoLocal => f.write_str(
                "as many threads are registered as the configuration allows: raise its locals",
            ),
            Self::NoKind => f.write_str(
                "the arena holds objects of as many types as its limits allow: raise their kinds",
            ),
        }
    }
}

impl core::error::Error for Refused {}
