//! Why a heap refused a request. A request that is refused leaves the heap unchanged.

use core::fmt;

/// Why a request could not be served: what was exhausted, or what was wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// No free page is left, and the size-class has no not-full page. Once objects are freed, the
    /// request may be served.
    NoPage,
    /// No free abstract address is left, and no page to make more of them. As with
    /// [`Refused::NoPage`], frees may help.
    NoHandle,
    /// No free chunk is large enough.
    NoChunk,
    /// The request is larger than the largest that this heap can ever serve, whatever is freed.
    TooLarge {
        /// The largest request, in bytes; of objects in pieces, the bytes of the region, which
        /// also holds the heap's tables.
        limit: usize,
    },
    /// The alignment is stricter than the strictest that this heap can ever give.
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
        /// A size in bytes that is large enough, whatever address the region starts at.
        needed: usize,
    },
    /// No heap number is left in this process.
    NoHeapId,
    /// The instance has reached its quota of bytes, and compaction would not reduce it.
    Quota,
    /// The object already has the most pins that an entry can count.
    TooManyPins,
    /// What is to be changed is in use, or is being destroyed.
    Busy,
    /// The heap would hold more memory of the operating system than its hard limit allows.
    Limit {
        /// The hard limit, in bytes.
        limit: usize,
    },
    /// The most threads that the configuration allows are already registered.
    NoLocal,
    /// Objects of the most types that the configuration allows were already allocated.
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
            Self::TooManyPins => f.write_str("the object has the most pins that can be counted"),
            Self::Busy => f.write_str("it is in use, or is being destroyed"),
            Self::Limit { limit } => write!(
                f,
                "the heap has reached its hard limit of {limit} bytes of resident memory"
            ),
            Self::NoLocal => f.write_str(
                "the most threads that the configuration allows are registered: raise its locals",
            ),
            Self::NoKind => f.write_str(
                "the arena holds objects of the most types that its limits allow: raise their kinds",
            ),
        }
    }
}

impl core::error::Error for Refused {}
