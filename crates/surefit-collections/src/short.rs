//! Names of objects whose length is known elsewhere.

use core::mem::MaybeUninit;

use surefit_compact::branded::{BrandedBytes, BrandedName};
use surefit_compact::{Bytes, BytesName};

/// A name without the length of its object, which `Bytes` has too.
#[allow(
    unreachable_pub,
    reason = "the bound of a hidden type; Rust 1.85 does not count that as reached"
)]
pub trait ShortName<Bytes> {
    /// A second name of the object, with its length.
    ///
    /// # Safety
    /// S1: the object has this length, or the returned name is only asked for its heap. S2: as long
    /// as both names are there, what is done with one of them is also right for the other.
    unsafe fn with_len(&self, len: usize) -> Bytes;
}

impl ShortName<Bytes<MaybeUninit<u8>>> for BytesName<MaybeUninit<u8>> {
    #[inline]
    unsafe fn with_len(&self, len: usize) -> Bytes<MaybeUninit<u8>> {
        // SAFETY: a name frees nothing when it is dropped. S1, S2.
        unsafe { core::ptr::read(self).with_len(len) }
    }
}

impl<B> ShortName<BrandedBytes<B, MaybeUninit<u8>>> for BrandedName<B, MaybeUninit<u8>> {
    #[inline]
    unsafe fn with_len(&self, len: usize) -> BrandedBytes<B, MaybeUninit<u8>> {
        // SAFETY: as above.
        unsafe { core::ptr::read(self).with_len(len) }
    }
}
