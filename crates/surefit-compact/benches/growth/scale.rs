//! What there are few and many of, and the memory.

use std::mem::MaybeUninit;

/// An object of 40 bytes.
pub(crate) type Object = [u64; 5];

/// A few and many of what there may be many of.
pub(crate) const OBJECTS: (&str, [usize; 2]) = ("objects", [1000, 100_000]);
pub(crate) const RUNS: (&str, [usize; 2]) = ("free runs", [100, 10_000]);
pub(crate) const THREADS: (&str, [usize; 2]) = ("threads", [2, 200]);
pub(crate) const INSTANCES: (&str, [usize; 2]) = ("instances", [2, 60]);

/// Memory that begins at 16 KiB, so that two heaps of one size are divided alike. It is not
/// touched.
pub(crate) fn region(bytes: usize) -> &'static mut [MaybeUninit<u8>] {
    let memory = Box::leak(Box::new_uninit_slice(bytes + (16 << 10)));
    let first = memory.as_ptr().align_offset(16 << 10);
    &mut memory[first..][..bytes]
}
