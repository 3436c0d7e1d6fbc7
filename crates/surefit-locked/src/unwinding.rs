//! Calls that end the program instead of unwinding.
#![deny(unsafe_code)]

/// Dropped only while a panic unwinds. A second panic then ends the program.
struct Ends;

impl Drop for Ends {
    #[cold]
    fn drop(&mut self) {
        panic!("an allocator must not unwind: the program ends");
    }
}

/// Calls `f`. If that panics, the program ends: the contract of global allocators forbids to
/// unwind, and nobody may use a heap that was left in the middle of a change.
#[inline]
pub(crate) fn never<R>(f: impl FnOnce() -> R) -> R {
    let ends = Ends;
    let result = f();
    core::mem::forget(ends);
    result
}
