//! The words of each thread that name its instance: where it is, and its number.

use core::ptr::{NonNull, with_exposed_provenance_mut};

use surefit_interpose::thread::ThreadWord;

const OWN: ThreadWord<0> = ThreadWord;
const NUMBER: ThreadWord<2> = ThreadWord;

/// The address of this thread's instance, if it has one.
#[inline]
pub(crate) fn own_address() -> Option<NonNull<u8>> {
    NonNull::new(with_exposed_provenance_mut(OWN.get()))
}

/// The number of this thread's instance; 0 if it has none.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "as it was set")]
pub(crate) fn own_number() -> u16 {
    NUMBER.get() as u16
}

/// Gives this thread an instance, by its address and its number.
pub(crate) fn set_own(own: NonNull<u8>, number: u16) {
    OWN.set(own.as_ptr().expose_provenance());
    NUMBER.set(number.into());
}

/// Takes this thread's instance from it.
pub(crate) fn set_none() {
    OWN.set(0);
    NUMBER.set(0);
}
