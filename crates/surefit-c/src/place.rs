//! Control structures at the end of the caller's regions.

use core::mem::{MaybeUninit, align_of, size_of};
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::status::surefit_status;

/// What tells a control structure from other bytes: a number that it holds as long as it is one.
///
/// Atomic, because a thread reads it while it waits for a heap that another thread ends. It says
/// nothing about other memory, so no order is needed.
#[derive(Debug)]
pub(crate) struct Magic(AtomicUsize);

impl Magic {
    /// The number of a structure, cut to a word.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the low half of a number tells as much as a short word can"
    )]
    pub(crate) const fn new(number: u64) -> Self {
        Self(AtomicUsize::new(number as usize))
    }

    /// Whether the structure is one of those with this number.
    #[allow(clippy::cast_possible_truncation, reason = "as in `new`")]
    pub(crate) fn is(&self, number: u64) -> bool {
        self.0.load(Ordering::Relaxed) == number as usize
    }

    /// Ends the structure: now its bytes are any bytes.
    pub(crate) fn end(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// The bytes that a control structure takes at the end of a region, at most.
pub(crate) const fn control_bytes<T>() -> usize {
    size_of::<T>() + align_of::<T>() - 1
}

/// The place of a `T` at the end of a region, aligned, and the bytes before it: they begin where
/// the region does. The `T` is for the caller to write.
///
/// # Errors
/// `Null`, `TooLarge` for bytes that no memory has, `Region` if there is no room.
///
/// # Safety
/// The region is NULL, or has so many bytes, which are the caller's, and the `T`'s from here on.
pub(crate) unsafe fn place<T>(
    region: *mut u8,
    bytes: usize,
) -> Result<(&'static mut [MaybeUninit<u8>], *mut T), surefit_status> {
    if region.is_null() {
        return Err(surefit_status::Null);
    }
    if isize::try_from(bytes).is_err() || region.addr().checked_add(bytes).is_none() {
        return Err(surefit_status::TooLarge);
    }
    let control = (region.addr() + bytes)
        .checked_sub(size_of::<T>())
        .map(|at| at & !(align_of::<T>() - 1))
        .filter(|at| *at > region.addr())
        .ok_or(surefit_status::Region)?;
    let before = control - region.addr();
    // SAFETY: behind those bytes, inside the region.
    let control = unsafe { region.add(before) }.cast::<T>();
    // SAFETY: the bytes are the caller's, and the heap's from here on.
    let bytes = unsafe { core::slice::from_raw_parts_mut(region.cast(), before) };
    Ok((bytes, control))
}
