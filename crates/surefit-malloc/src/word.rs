//! The word of each thread that names its instance.

use core::ptr::{NonNull, with_exposed_provenance_mut};

use surefit_interpose::thread::ThreadWord;

const OWN: ThreadWord<0> = ThreadWord;

/// The address of this thread's instance, if it has one.
#[inline]
pub(crate) fn own_address() -> Option<NonNull<u8>> {
    NonNull::new(with_exposed_provenance_mut(OWN.get()))
}

/// Makes an instance this thread's, or none.
pub(crate) fn set_own(own: Option<NonNull<u8>>) {
    OWN.set(own.map_or(0, |own| own.as_ptr().expose_provenance()));
}
