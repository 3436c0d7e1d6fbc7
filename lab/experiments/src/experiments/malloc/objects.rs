//! Objects of the malloc that is measured: the C library's, or a preloaded one. This file alone
//! calls it; everything else that the process allocates comes from elsewhere (`main`).
//!
//! # Invariants
//! - O1: the address of an object is that of a live object of malloc with `bytes` bytes and this
//!   alignment, and nobody else has it.
//! - O2: all its bytes are written, each with the object's tag.

use std::alloc::Layout;
use std::hint::black_box;
use std::ptr::NonNull;

use surefit_os::platform;

/// A live object. It is freed by [`Object::free`] only.
#[derive(Debug)]
#[must_use = "an object that is not freed is lost"]
pub(super) struct Object {
    address: NonNull<u8>,
    bytes: u32,
    align_log2: u8,
    tag: u8,
}

const _: () = assert!(size_of::<Option<Object>>() == 16);

// SAFETY: an object is memory that nobody else has (O1), and malloc serves all threads.
unsafe impl Send for Object {}

/// malloc returned NULL. A child that prints this has failed.
const NO_MEMORY: &str = "malloc returned NULL";

impl Object {
    /// Allocates an object and writes all of it.
    ///
    /// # Panics
    /// malloc returned NULL.
    #[inline]
    pub(super) fn new(bytes: u32, tag: u8) -> Self {
        Self::aligned(bytes, 0, tag)
    }

    /// As [`Object::new`], at a multiple of 2^`align_log2` bytes.
    ///
    /// # Panics
    /// malloc returned NULL.
    #[inline]
    pub(super) fn aligned(bytes: u32, align_log2: u8, tag: u8) -> Self {
        let address = platform::allocate(layout(bytes, align_log2)).expect(NO_MEMORY);
        Self::written(address, bytes, align_log2, tag)
    }

    /// Allocates an object with calloc, looks at its ends, and writes all of it.
    ///
    /// # Panics
    /// calloc returned NULL, or bytes that are not zero.
    pub(super) fn zeroed(bytes: u32, align_log2: u8, tag: u8) -> Self {
        let address = platform::allocate_zeroed(layout(bytes, align_log2)).expect(NO_MEMORY);
        if bytes > 0 {
            // SAFETY: the object has `bytes` bytes, and calloc wrote them all.
            let ends = unsafe { (address.read(), address.add(bytes as usize - 1).read()) };
            assert_eq!(ends, (0, 0), "calloc returned bytes that are not zero");
        }
        Self::written(address, bytes, align_log2, tag)
    }

    /// An object of which malloc gave the address.
    #[inline]
    fn written(address: NonNull<u8>, bytes: u32, align_log2: u8, tag: u8) -> Self {
        // SAFETY: malloc gave so many bytes.
        unsafe { address.write_bytes(tag, bytes as usize) };
        Self {
            address,
            bytes,
            align_log2,
            tag,
        }
    }

    /// Its size as requested.
    #[inline]
    pub(super) const fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Changes its size with realloc, and writes what is new.
    ///
    /// # Panics
    /// realloc returned NULL.
    #[inline]
    pub(super) fn resized(self, bytes: u32) -> Self {
        let old = layout(self.bytes, self.align_log2);
        // SAFETY: the object is live and has this layout (O1); it is gone after this.
        let address = unsafe { platform::resize(self.address, old, bytes as usize) };
        let address = address.expect(NO_MEMORY);
        if let Some(more) = bytes.checked_sub(self.bytes) {
            // SAFETY: the object now has `bytes` bytes, and these are the last of them.
            unsafe {
                let end = address.add(self.bytes as usize);
                end.write_bytes(self.tag, more as usize);
            }
        }
        Self {
            address,
            bytes,
            ..self
        }
    }

    /// Increments its first byte `times` times, each time in memory, and then writes it as it was.
    ///
    /// # Panics
    /// The object has no bytes.
    #[inline]
    pub(super) fn beat(&mut self, times: u32) {
        assert!(self.bytes > 0, "an object of no bytes has none to write");
        let first = self.address.as_ptr();
        for _ in 0..times {
            // SAFETY: the object is live and has a first byte, which is written (O1, O2).
            unsafe { first.write_volatile(first.read_volatile().wrapping_add(1)) };
        }
        // SAFETY: as before.
        unsafe { first.write_volatile(self.tag) };
    }

    /// Reads it from end to end: the sum of its bytes.
    #[inline]
    pub(super) fn read(&self) -> u64 {
        // SAFETY: the object is live, and all of it is written (O1, O2).
        let bytes =
            unsafe { NonNull::slice_from_raw_parts(self.address, self.bytes as usize).as_ref() };
        bytes.iter().map(|byte| u64::from(*byte)).sum()
    }

    /// Frees it, and returns a number that depends on its size and on its first and last byte:
    /// another one if somebody else wrote to it.
    #[inline]
    pub(super) fn free(self) -> u64 {
        let mut found = u64::from(self.bytes) << 16;
        if self.bytes > 0 {
            // SAFETY: these are bytes of the object, and they are written (O1, O2).
            let ends = unsafe {
                let last = self.address.add(self.bytes as usize - 1);
                (self.address.read(), last.read())
            };
            found |= u64::from(ends.0) << 8 | u64::from(ends.1);
        }
        // SAFETY: the object is live (O1); it is gone after this.
        unsafe { platform::free(self.address) };
        found.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// The layout of a request.
#[inline]
fn layout(bytes: u32, align_log2: u8) -> Layout {
    Layout::from_size_align(bytes as usize, 1 << align_log2).expect("below 4 GiB")
}

/// Allocates and frees an object of so many bytes, and writes its first word: the shortest use of
/// malloc.
///
/// # Panics
/// malloc returned NULL.
#[inline]
pub(super) fn pair(layout: Layout) {
    let object = platform::allocate(layout).expect(NO_MEMORY);
    // SAFETY: callers ask for a word at least; malloc aligns for it.
    unsafe { object.cast::<u64>().write(1) };
    // SAFETY: it is live and nobody else has it.
    unsafe { platform::free(black_box(object)) };
}

/// What [`pair`] does beside its two calls.
#[inline]
pub(super) fn no_pair(word: &mut u64) {
    *black_box(&mut *word) = 1;
    black_box(word);
}

#[cfg(test)]
mod tests {
    use super::Object;

    #[test]
    fn what_is_freed_tells_what_was_written() {
        let found = |bytes, tag| Object::new(bytes, tag).free();
        assert_eq!(found(10, 1), found(10, 1));
        assert_ne!(found(10, 1), found(10, 2));
        assert_ne!(found(10, 1), found(11, 1));
        assert_eq!(found(0, 1), found(0, 2));
        let mut beaten = Object::new(10, 255);
        beaten.beat(300);
        assert_eq!(beaten.read(), 2550);
        assert_eq!(beaten.free(), found(10, 255));
    }

    #[test]
    fn a_resized_object_is_written_to_its_end() {
        let fresh = Object::new(5000, 9).free();
        assert_eq!(Object::new(10, 9).resized(5000).free(), fresh);
        assert_eq!(Object::aligned(9000, 10, 9).resized(5000).free(), fresh);
        assert_eq!(Object::zeroed(0, 0, 9).resized(5000).free(), fresh);
        let other = Object::zeroed(5000, 6, 9);
        assert_eq!(other.address.addr().get() % 64, 0);
        assert_eq!(other.free(), fresh);
    }
}
