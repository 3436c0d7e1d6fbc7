//! What a call answers.

#[cfg(feature = "strerror")]
use core::ffi::{CStr, c_char, c_int};

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
    /// The size is more than this heap can ever serve, whatever is freed: more than the
    /// region, or than a page if the heap has no pieces.
    TooLarge,
    /// No page is left for the request: the demand is larger than the region was certified for.
    /// Frees may help.
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
    /// The heap is shared, and this thread does not hold its lock.
    Unlocked,
    /// This thread holds the lock already, or the heap has one already.
    Locked,
}

impl surefit_status {
    /// One function, because nearly every call needs it, and it is a table.
    #[inline(never)]
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

/// Writes an output.
///
/// # Safety
/// The place is NULL or the caller's.
pub(crate) unsafe fn put<T>(place: *mut T, value: T) -> Answer {
    if place.is_null() {
        return Err(surefit_status::Null);
    }
    // SAFETY: not NULL; the caller's.
    unsafe { place.write_unaligned(value) };
    Ok(())
}

/// What each status says, in their order.
#[cfg(feature = "strerror")]
const TEXTS: [&CStr; 17] = [
    c"done",
    c"a pointer is NULL",
    c"not a heap, or an overwritten one",
    c"the region is too small for this configuration",
    c"the configuration is not possible, or was not compiled in",
    c"the alignment is not a power of two, or stricter than a page",
    c"the size is more than this heap can ever serve",
    c"no page is left: the region is too small for this demand",
    c"no entry is left for another object",
    c"the key or pointer is stale: its object was freed or resized",
    c"the key or pointer is that of another heap",
    c"the range ends after the object",
    c"the demand has no certificate in this configuration",
    c"an invariant does not hold: memory was overwritten",
    c"no number is left for another heap",
    c"the heap is shared, and this thread does not hold its lock",
    c"this thread holds the lock already, or the heap has one",
];
#[cfg(feature = "strerror")]
const _: () = assert!(TEXTS.len() == surefit_status::Locked as usize + 1);

/// A status in words: a string that lives for ever, also for a number that is no status. A library
/// built without the feature `strerror` does not have this function. O(1).
#[cfg(feature = "strerror")]
#[unsafe(no_mangle)]
pub extern "C" fn surefit_strerror(status: c_int) -> *const c_char {
    let text = usize::try_from(status).ok().and_then(|at| TEXTS.get(at));
    text.map_or(c"not a status", |text| *text).as_ptr()
}
