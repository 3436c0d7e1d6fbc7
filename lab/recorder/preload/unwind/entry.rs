//! Where the program called this library.
//!
//! # Invariants
//! - Every function of this library keeps a frame pointer (build.rs has the compiler do so), so
//!   that those lead from any of its frames to the one that the program called.

use core::arch::asm;
use core::sync::atomic::{AtomicUsize, Ordering};

use super::objects;

/// A call that the program made: where it returns to, and the stack pointer and the frame pointer
/// that the program then has.
#[derive(Clone, Copy)]
pub(crate) struct Registers {
    pub(crate) pc: usize,
    pub(crate) sp: usize,
    pub(crate) fp: usize,
}

/// The frames of this library between the program and who asks, at most.
const OWN_FRAMES: usize = 16;

/// The call by which the program came here.
#[inline]
pub(super) fn called() -> Option<Registers> {
    let mut frame = frame_pointer();
    for _ in 0..OWN_FRAMES {
        let at = core::ptr::with_exposed_provenance::<usize>(frame);
        // SAFETY: a frame of this library: the caller's frame pointer and the return address.
        let (fp, pc) = unsafe { (at.read(), at.add(1).read()) };
        if !is_ours(pc) {
            let sp = frame + 16;
            return Some(Registers { pc, sp, fp });
        }
        frame = fp;
    }
    None
}

#[inline(always)]
pub(super) fn frame_pointer() -> usize {
    let frame: usize;
    // SAFETY: it reads a register.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!("mov {}, rbp", out(reg) frame, options(nomem, nostack, preserves_flags));
        #[cfg(target_arch = "aarch64")]
        asm!("mov {}, x29", out(reg) frame, options(nomem, nostack, preserves_flags));
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        {
            frame = 0;
        }
    }
    frame
}

/// Where this library is, once somebody asked.
static START: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

/// Whether an address is in this library.
#[inline]
pub(super) fn is_ours(address: usize) -> bool {
    let bytes = match BYTES.load(Ordering::Acquire) {
        0 => find_range(),
        bytes => bytes,
    };
    address.wrapping_sub(START.load(Ordering::Relaxed)) < bytes
}

#[cold]
fn find_range() -> usize {
    let (start, bytes) = objects::range_of((&raw const START).addr()).unwrap_or_default();
    START.store(start, Ordering::Relaxed);
    // No less than one byte, so that nobody asks again.
    let bytes = bytes.max(1);
    BYTES.store(bytes, Ordering::Release);
    bytes
}
