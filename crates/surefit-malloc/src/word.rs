//! The word of each thread that names its instance.

use core::ptr::{NonNull, with_exposed_provenance_mut};

use surefit_interpose::thread::ThreadWord;

const OWN: ThreadWord<0> = ThreadWord;

/// The address of this thread's instance, if it has one.
#[inline]
pub(crate) fn own_address() -> Option<NonNull<u8>> {
    NonNull::new(with_exposed_provenance_mut(OWN.get()))
}

/// Gives this thread an instance, by its address.
pub(crate) fn set_own(own: NonNull<u8>) {
    OWN.set(own.as_ptr().expose_provenance());
}

/// Takes this thread's instance from it.
pub(crate) fn set_none() {
    OWN.set(0);
}
