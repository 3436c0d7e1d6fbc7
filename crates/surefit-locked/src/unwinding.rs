//! Calls that end the program instead of unwinding.

use core::sync::atomic::{AtomicBool, Ordering};

/// Whether the program prints its last message.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Ends the program without a word. A second panic would: with `std` it prints the names of a whole
/// backtrace, for which it allocates megabytes from the heap in question. If these are refused,
/// `std` waits for ever for the lock of backtraces, which it holds.
#[cold]
fn end() -> ! {
    #[cfg(any(unix, windows))]
    {
        unsafe extern "C" {
            fn abort() -> !;
        }
        // SAFETY: the C library's function, declared as it is. It asks nothing of its caller.
        unsafe { abort() }
    }
    // No such function on a board, but no backtrace either.
    #[cfg(not(any(unix, windows)))]
    panic!("an allocator must not unwind: the program ends")
}

/// Dropped only while a panic unwinds.
struct Ends;

impl Drop for Ends {
    fn drop(&mut self) {
        end();
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

/// Ends the program with a message. If that needs more memory than there is, the program ends too.
#[cold]
pub(crate) fn end_with(message: core::fmt::Arguments<'_>) -> ! {
    ENDING.store(true, Ordering::Relaxed);
    never(|| panic!("{message}"))
}

/// To be called when a heap refuses a request: ends a program whose last message needs the memory
/// ([`end`]).
#[cold]
pub(crate) fn refused() {
    if cfg!(any(unix, windows)) && ENDING.load(Ordering::Relaxed) {
        end();
    }
}
