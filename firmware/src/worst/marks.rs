//! Marks in the emulator's log of the code that runs: they say which call ran it.
//!
//! A mark is an address in a row of functions that only return. What the log has between two marks
//! is one call: that of the second mark. `firmware/bound/` reads it.

use core::arch::global_asm;

use crate::event::Event;

/// The numbers of one heap: its events, and a last one for what is no call.
const EACH: usize = 16;

/// The most heaps.
const HEAPS: usize = 9;

global_asm!(
    ".section .text.surefit_marks, \"ax\", %progbits",
    ".global surefit_marks",
    ".type surefit_marks, %function",
    ".thumb_func",
    "surefit_marks:",
    ".rept {all}",
    "bx lr",
    ".endr",
    ".size surefit_marks, . - surefit_marks",
    ".text",
    all = const EACH * HEAPS,
);

unsafe extern "C" {
    /// The first of the functions, of two bytes each.
    safe fn surefit_marks();
}

/// The marks of one heap.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    heap: usize,
    on: bool,
}

impl Marks {
    /// Those of the heap of a number; off, they do nothing.
    ///
    /// # Panics
    /// If there are no marks for so many heaps.
    pub fn new(heap: usize, on: bool) -> Self {
        assert!(!on || heap < HEAPS, "more heaps than marks");
        Self { heap, on }
    }

    /// The number of the mark of an event.
    pub const fn number(self, event: Event) -> usize {
        self.heap * EACH + event as usize
    }

    /// What ran until now was no call.
    pub fn begin(self) {
        self.mark(self.heap * EACH + EACH - 1);
    }

    /// What ran since the last mark was this call.
    pub fn end(self, event: Event) {
        self.mark(self.number(event));
    }

    fn mark(self, number: usize) {
        if !self.on {
            return;
        }
        let first: extern "C" fn() = surefit_marks;
        // SAFETY: `new` has verified that the number is below EACH * HEAPS, and so many functions
        // of two bytes follow each other. None has arguments or changes a register.
        let mark =
            unsafe { core::mem::transmute::<usize, extern "C" fn()>(first as usize + 2 * number) };
        mark();
    }
}
