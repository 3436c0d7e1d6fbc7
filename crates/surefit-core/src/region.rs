//! A region of memory in a `static`, to be handed to one heap.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use core::cell::UnsafeCell;
use core::fmt;
use core::mem::MaybeUninit;

use crate::once::claim;

mod sealed {
    pub trait Sealed {}
}

/// A zero-sized marker with the alignment of a page. [`Region`] holds no bytes of it, but takes its
/// alignment.
pub trait PageAlign: sealed::Sealed + Copy {
    /// The alignment, in bytes.
    const BYTES: usize;
}

macro_rules! page_align {
    ($($name:ident $bytes:literal)*) => {$(
        #[doc = concat!("Aligns a [`Region`] to ", stringify!($bytes), " bytes.")]
        #[derive(Clone, Copy, Debug, Default)]
        #[repr(align($bytes))]
        pub struct $name;
        impl sealed::Sealed for $name {}
        impl PageAlign for $name {
            const BYTES: usize = $bytes;
        }
    )*};
}

page_align! { Page1K 1024 Page4K 4096 Page16K 16384 Page64K 65536 }

/// `BYTES` bytes for one heap, aligned to a page, usually in a `static`. All bytes are zero until
/// they are taken, so that the region takes no space in the program's image.
///
/// The last byte records whether the region was taken. So the region is not one page longer than
/// its contents.
///
/// # Examples
/// ```
/// use surefit_core::{Page16K, Region};
/// static MEMORY: Region<{ 1 << 20 }, Page16K> = Region::new();
/// let bytes = MEMORY.take().expect("taken once");
/// assert_eq!(bytes.len(), (1 << 20) - 1);
/// assert!(MEMORY.take().is_none());
/// ```
#[repr(C)]
pub struct Region<const BYTES: usize, A: PageAlign> {
    align: [A; 0],
    bytes: UnsafeCell<[MaybeUninit<u8>; BYTES]>,
}

// SAFETY: only `take` gives access to the bytes; it gives them out once, guarded by a claim on the
// last one. `A` is a marker.
unsafe impl<const BYTES: usize, A: PageAlign> Sync for Region<BYTES, A> {}

impl<const BYTES: usize, A: PageAlign> fmt::Debug for Region<BYTES, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Region")
            .field("bytes", &BYTES)
            .field("align", &A::BYTES)
            .finish()
    }
}

impl<const BYTES: usize, A: PageAlign> Region<BYTES, A> {
    const NOT_EMPTY: () = assert!(
        BYTES > 0,
        "a region holds at least the byte that says whether it was taken"
    );

    /// A region that nobody has taken.
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "a region is a static; a default value has no use"
    )]
    pub const fn new() -> Self {
        let () = Self::NOT_EMPTY;
        Self {
            align: [],
            bytes: UnsafeCell::new([MaybeUninit::new(0); BYTES]),
        }
    }

    /// Takes all bytes except the last, or returns `None` if they were taken before.
    ///
    /// On a target without compare-and-exchange, and without the feature `portable-atomic`, two
    /// calls that meet within the same few instructions (one interrupts the other, or runs on
    /// another core) may both return `None`, even for different regions. Then nobody ever gets
    /// those bytes. Two callers never get the same bytes.
    #[must_use]
    #[expect(
        clippy::mut_from_ref,
        reason = "the flag lets one caller have the bytes"
    )]
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a region has a byte (NOT_EMPTY)"
    )]
    pub fn take(&'static self) -> Option<&'static mut [MaybeUninit<u8>]> {
        let first = self.bytes.get().cast::<MaybeUninit<u8>>();
        // SAFETY: BYTES > 0 (NOT_EMPTY), so the last byte lies inside the array.
        let last = unsafe { first.add(BYTES - 1) };
        // SAFETY: the last byte is initialised to zero, lies in a static, and only `claim` ever
        // accesses it.
        if !unsafe { claim(last.cast()) } {
            return None;
        }
        // SAFETY: the claim lets at most one caller come here, and the slice excludes the flag's
        // byte.
        Some(unsafe { core::slice::from_raw_parts_mut(first, BYTES - 1) })
    }
}
