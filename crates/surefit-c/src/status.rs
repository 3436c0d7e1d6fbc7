//! What a call answers.

use core::ffi::c_char;

use surefit_core::Refused;

/// What a call answers. Every other answer than `SUREFIT_STATUS_OK` means that nothing has changed,
/// and that no output was written.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum surefit_status {
    /// The call did what it was asked.
    Ok = 0,
    /// A pointer is NULL that must not be.
    Null,
    /// The pointer is not that of a heap, or the heap was overwritten.
    NotAHeap,
    /// The region is too small for this configuration: see surefit_certify.
    Region,
    /// The configuration is not possible, or its words were not compiled in.
    Config,
    /// The alignment is not a power of two, or stricter than a page.
    Align,
    /// The size is more than this heap can ever serve.
    TooLarge,
    /// No page is left for the request: the demand is larger than the region was certified for.
    NoMemory,
    /// No entry is left for another object, and no page for more entries.
    NoEntry,
    /// The key names no live object: it was freed or resized before.
    Stale,
    /// The key is that of another heap.
    Foreign,
    /// The range ends after the object.
    Range,
    /// The demand has no certificate in this configuration.
    Demand,
    /// An invariant of the heap does not hold: memory was overwritten.
    Corrupt,
    /// More heaps were made in this process than can be numbered.
    Heaps,
}

impl surefit_status {
    pub(crate) const fn of(refused: Refused) -> Self {
        match refused {
            Refused::NoHandle => Self::NoEntry,
            Refused::TooLarge { .. } => Self::TooLarge,
            Refused::TooAligned { .. } => Self::Align,
            Refused::ForeignHandle => Self::Foreign,
            Refused::StaleHandle => Self::Stale,
            Refused::Region { .. } => Self::Region,
            Refused::NoHeapId => Self::Heaps,
            _ => Self::NoMemory,
        }
    }
}

/// What the statement of a function answers.
pub(crate) type Answer = Result<(), surefit_status>;

/// The answer as a status.
pub(crate) fn status(answer: Answer) -> surefit_status {
    match answer {
        Ok(()) => surefit_status::Ok,
        Err(status) => status,
    }
}

/// A status in words: a string that lives for ever. O(1).
#[unsafe(no_mangle)]
pub extern "C" fn surefit_strerror(status: surefit_status) -> *const c_char {
    use surefit_status as S;
    let text = match status {
        S::Ok => c"done",
        S::Null => c"a pointer is NULL",
        S::NotAHeap => c"not a heap, or an overwritten one",
        S::Region => c"the region is too small for this configuration",
        S::Config => c"the configuration is not possible, or its words were not compiled in",
        S::Align => c"the alignment is not a power of two, or stricter than a page",
        S::TooLarge => c"the size is more than this heap can ever serve",
        S::NoMemory => c"no page is left: the region is too small for this demand",
        S::NoEntry => c"no entry is left for another object",
        S::Stale => c"the key is stale: its object was freed or resized",
        S::Foreign => c"the key is that of another heap",
        S::Range => c"the range ends after the object",
        S::Demand => c"the demand has no certificate in this configuration",
        S::Corrupt => c"an invariant does not hold: memory was overwritten",
        S::Heaps => c"no number is left for another heap",
    };
    text.as_ptr()
}
