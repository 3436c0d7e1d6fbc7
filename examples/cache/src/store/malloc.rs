//! The C library's malloc, or one that is preloaded in its place.
//!
//! An object's name is its address, eight bytes.

use std::alloc::Layout;
use std::ptr::NonNull;

use surefit_os::platform;

use super::{Name, Store};

/// An object's address; null names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address(*mut u8);

impl Name for Address {
    const NIL: Self = Self(std::ptr::null_mut());
    const BYTES: usize = 8;

    #[inline]
    fn load(bytes: &[u8]) -> Self {
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[..8]);
        let address =
            usize::try_from(u64::from_le_bytes(word)).expect("an address of this machine");
        Self(std::ptr::with_exposed_provenance_mut(address))
    }

    #[inline]
    fn save(self, bytes: &mut [u8]) {
        let address = self.0.expose_provenance() as u64;
        bytes[..8].copy_from_slice(&address.to_le_bytes());
    }
}

/// The platform's malloc.
#[derive(Debug, Default)]
pub struct Malloc {
    /// The lengths of all live objects.
    live_bytes: usize,
}

impl Store for Malloc {
    type Name = Address;
    const KEY: &'static str = "malloc";
    const WHOLE_BYTES: usize = usize::MAX;

    #[inline]
    fn allocate(&mut self, len: usize) -> Option<Address> {
        let object = platform::allocate(Layout::from_size_align(len, 8).ok()?)?;
        self.live_bytes += len;
        Some(Address(object.as_ptr()))
    }

    #[inline]
    unsafe fn free(&mut self, name: Address, len: usize) {
        self.live_bytes -= len;
        if let Some(object) = NonNull::new(name.0) {
            // SAFETY: S1.
            unsafe { platform::free(object) };
        }
    }

    #[inline]
    unsafe fn read(&self, name: Address, len: usize, offset: usize) -> &[u8] {
        // SAFETY: S1 to S3: `len` written bytes of a live object, while the store is borrowed.
        let all = unsafe { std::slice::from_raw_parts(name.0, len) };
        &all[offset..]
    }

    #[inline]
    unsafe fn edit(&mut self, name: Address, len: usize, offset: usize) -> &mut [u8] {
        // SAFETY: as in `read`; the store is borrowed mutably.
        let all = unsafe { std::slice::from_raw_parts_mut(name.0, len) };
        &mut all[offset..]
    }

    #[inline]
    unsafe fn write(&mut self, name: Address, len: usize, offset: usize, bytes: &[u8]) {
        let is_inside = offset
            .checked_add(bytes.len())
            .is_some_and(|end| end <= len);
        assert!(is_inside, "the bytes go beyond the object");
        // SAFETY: inside a live object, by the assertion and S1; no reference to it exists while
        // the store is borrowed mutably, so the ranges do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), name.0.add(offset), bytes.len()) };
    }

    fn held_bytes(&self) -> usize {
        self.live_bytes
    }
}
