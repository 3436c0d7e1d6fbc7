//! Who called: the return addresses on the stack of this thread.
//!
//! Nothing here allocates. The unwinder of libgcc may, when it is first used, and so may who asks where
//! the stack is; that is not recorded.

use core::arch::asm;
use core::ffi::{c_int, c_void};

use surefit_interpose::system;
use surefit_interpose::thread::ThreadWord;

use crate::log::MOST_FRAMES;

/// Return addresses, the innermost first: those of this library too.
pub(crate) struct Addresses {
    all: [usize; MOST_FRAMES],
    len: usize,
    most: usize,
}

impl Addresses {
    pub(crate) fn as_slice(&self) -> &[usize] {
        &self.all[..self.len]
    }

    /// Appends one; whether there is room for another.
    fn push(&mut self, address: usize) -> bool {
        if self.len < self.most {
            self.all[self.len] = address;
            self.len += 1;
        }
        self.len < self.most
    }
}

/// The stack of this thread, at most so many frames of it.
#[inline]
pub(crate) fn addresses(most: usize, by_frame_pointers: bool) -> Addresses {
    let mut found = Addresses {
        all: [0; MOST_FRAMES],
        len: 0,
        most: most.min(MOST_FRAMES),
    };
    if by_frame_pointers {
        follow(&mut found);
    } else {
        // SAFETY: `step` takes what is given to it here; both live until the call returns.
        unsafe { _Unwind_Backtrace(step, (&raw mut found).cast()) };
    }
    found
}

/// What the unwinder says of a frame.
enum Context {}

unsafe extern "C" {
    fn _Unwind_Backtrace(
        each: unsafe extern "C" fn(*mut Context, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut Context) -> usize;
}

/// Go on with the caller.
const NO_REASON: c_int = 0;
/// Do not.
const END_OF_STACK: c_int = 5;

unsafe extern "C" fn step(context: *mut Context, found: *mut c_void) -> c_int {
    // SAFETY: what `addresses` gave.
    let found = unsafe { &mut *found.cast::<Addresses>() };
    // SAFETY: the unwinder's own.
    let address = unsafe { _Unwind_GetIP(context) };
    if address != 0 && found.push(address) {
        NO_REASON
    } else {
        END_OF_STACK
    }
}

/// Follows the frame pointers while they lead up this thread's stack. In code without them the register
/// holds anything; what it points at is read only inside the stack.
#[inline]
fn follow(found: &mut Addresses) {
    let (low, high) = stack();
    let mut frame = frame_pointer();
    let mut least = low;
    while frame >= least && frame <= high.saturating_sub(16) && frame % 8 == 0 {
        let frame_at = core::ptr::with_exposed_provenance::<usize>(frame);
        // SAFETY: two words inside the stack of this thread, which lie above what is in use now.
        let (caller, address) = unsafe { (frame_at.read(), frame_at.add(1).read()) };
        if address == 0 || !found.push(address) {
            return;
        }
        least = frame + 16;
        frame = caller;
    }
}

#[inline(always)]
fn frame_pointer() -> usize {
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

/// Where the stack of this thread begins and ends, once it is known.
static LOW: ThreadWord = ThreadWord::new();
static HIGH: ThreadWord = ThreadWord::new();

/// The part of this thread's stack that is in use; empty if this is another stack than the thread's
/// own, or if nobody knows.
#[inline]
fn stack() -> (usize, usize) {
    let here = frame_pointer();
    if HIGH.get() == 0 {
        find_stack();
    }
    let (low, high) = (LOW.get(), HIGH.get());
    // Below the frame of this library nothing is of interest.
    if (low..high).contains(&here) {
        (here, high)
    } else {
        (0, 0)
    }
}

#[cold]
fn find_stack() {
    let mut attributes = system::Attributes([0; 16]);
    let (mut at, mut bytes) = (core::ptr::null_mut(), 0);
    // SAFETY: places for the answers, larger than any C library's.
    let found = unsafe {
        if system::pthread_getattr_np(system::pthread_self(), &raw mut attributes) == 0 {
            let found =
                system::pthread_attr_getstack(&raw const attributes, &raw mut at, &raw mut bytes);
            system::pthread_attr_destroy(&raw mut attributes);
            found == 0
        } else {
            false
        }
    };
    let (low, high) = if found {
        (at.addr(), at.addr() + bytes)
    } else {
        (1, 1)
    };
    LOW.set(low);
    HIGH.set(high);
}
