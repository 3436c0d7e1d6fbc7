//! The word of each thread that names its instance.
//!
//! While a thread has none, it names [`NOBODY`]: the fastest calls find nothing there, and ask no
//! question of their own.

use core::ptr::{NonNull, with_exposed_provenance_mut};

use surefit_direct::shared::Nobody;

static NOBODY: Nobody = Nobody::new();

#[cfg(target_arch = "x86_64")]
surefit_interpose::thread_word!(mod kept at first NOBODY, "surefit_malloc_own");

#[cfg(not(target_arch = "x86_64"))]
mod kept {
    use surefit_interpose::thread::ThreadWord;

    const OWN: ThreadWord<0> = ThreadWord;

    #[inline]
    pub(super) fn get() -> usize {
        match OWN.get() {
            0 => super::nobody(),
            own => own,
        }
    }

    pub(super) fn set(own: usize) {
        OWN.set(own);
    }
}

/// What the word says while a thread has no instance.
fn nobody() -> usize {
    NOBODY.into_raw().as_ptr().expose_provenance()
}

/// The address of this thread's instance, or that of nobody's.
#[inline]
pub(crate) fn own_or_nobody() -> NonNull<u8> {
    // SAFETY: the word begins with an address, and only addresses are written.
    unsafe { NonNull::new_unchecked(with_exposed_provenance_mut(kept::get())) }
}

/// The address of this thread's instance, if it has one.
#[inline]
pub(crate) fn own_address() -> Option<NonNull<u8>> {
    let own = own_or_nobody();
    (own != NOBODY.into_raw()).then_some(own)
}

/// Gives this thread an instance, by its address.
pub(crate) fn set_own(own: NonNull<u8>) {
    kept::set(own.as_ptr().expose_provenance());
}

/// Takes this thread's instance from it.
pub(crate) fn set_none() {
    kept::set(nobody());
}
