//! Words in memory as registers: `core`'s atomic words, or single instructions on Arm, where `core`
//! may have none.

use core::cell::UnsafeCell;
use core::fmt;

use super::entry::{Register, Splitter, count, named};

/// The name of the last caller at the splitter of any region. All regions share it, so that a
/// region needs no bytes for it.
static LAST: Word = Word::new();

/// Claims a byte that was zero at first. At most one caller gets true (D1); the first one does if
/// no other claim, of any byte, meets it.
///
/// # Safety
/// S1: the byte is initialised, outlives the call, and only this function ever accesses it.
pub(crate) unsafe fn claim(byte: *mut u8) -> bool {
    let splitter = Splitter {
        last: &LAST,
        closed: &Byte(byte),
    };
    named(|me| splitter.enter(me, || ()).is_some())
}

/// Counts up from one; gives no number twice (D2).
pub(crate) struct Counter {
    last: Word,
    closed: Word,
    next: Word,
}

impl Counter {
    pub(crate) const fn new() -> Self {
        Self {
            last: Word::new(),
            closed: Word::new(),
            next: Word::new(),
        }
    }

    pub(crate) fn next(&self) -> Option<u32> {
        let splitter = Splitter {
            last: &self.last,
            closed: &self.closed,
        };
        named(|me| count(&splitter, &self.next, me))
    }
}

/// A word, zero at first.
struct Word(UnsafeCell<usize>);

// SAFETY: only `access` accesses the word; its loads and stores are single instructions.
unsafe impl Sync for Word {}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Word").field(&self.load()).finish()
    }
}

impl Word {
    const fn new() -> Self {
        Self(UnsafeCell::new(0))
    }
}

impl Register for Word {
    fn load(&self) -> usize {
        // SAFETY: the cell's word is aligned and initialised, and only `access` accesses it.
        unsafe { access::load_word(self.0.get()) }
    }

    fn store(&self, value: usize) {
        // SAFETY: as in `load`.
        unsafe { access::store_word(self.0.get(), value) }
    }
}

/// A caller's byte, as S1 of `claim` describes it.
struct Byte(*mut u8);

impl Register for Byte {
    fn load(&self) -> usize {
        // SAFETY: S1 of `claim`.
        usize::from(unsafe { access::load_byte(self.0) })
    }

    fn store(&self, value: usize) {
        // SAFETY: S1 of `claim`.
        unsafe { access::store_byte(self.0, u8::from(value != 0)) }
    }
}

/// Each access is one load or store of the processor: nobody sees half of it, and all see one
/// order.
#[cfg(not(target_arch = "arm"))]
mod access {
    use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

    /// # Safety
    /// S2: the word is aligned, initialised, outlives the call, and only this module ever accesses
    /// it.
    pub(super) unsafe fn load_word(word: *mut usize) -> usize {
        // SAFETY: S2.
        unsafe { AtomicUsize::from_ptr(word) }.load(Ordering::SeqCst)
    }

    /// # Safety
    /// S2 of `load_word`.
    pub(super) unsafe fn store_word(word: *mut usize, value: usize) {
        // SAFETY: S2.
        unsafe { AtomicUsize::from_ptr(word) }.store(value, Ordering::SeqCst);
    }

    /// # Safety
    /// S2 of `load_word`, for a byte.
    pub(super) unsafe fn load_byte(byte: *mut u8) -> u8 {
        // SAFETY: S2.
        unsafe { AtomicU8::from_ptr(byte) }.load(Ordering::SeqCst)
    }

    /// # Safety
    /// S2 of `load_word`, for a byte.
    pub(super) unsafe fn store_byte(byte: *mut u8, value: u8) {
        // SAFETY: S2.
        unsafe { AtomicU8::from_ptr(byte) }.store(value, Ordering::SeqCst);
    }
}

/// The same for Arm: before ARMv6, `core` has no atomic words at all, not even to load and store.
///
/// The compiler moves no access over an `asm!` block that may touch memory, and neither do the
/// cores. ARMv4 and ARMv5 are alone in their machines. The cores of ARMv6-M (Cortex-M0, M0+, M1),
/// some of which share one memory in pairs, access memory in program order. ARMv7 has
/// compare-and-exchange and does not use this module.
#[cfg(target_arch = "arm")]
mod access {
    use core::arch::asm;

    /// # Safety
    /// S2: the word is aligned, initialised, outlives the call, and only this module ever accesses
    /// it.
    pub(super) unsafe fn load_word(word: *mut usize) -> usize {
        let value;
        // SAFETY: S2.
        unsafe {
            asm!("ldr {}, [{}]", out(reg) value, in(reg) word, options(nostack, preserves_flags))
        };
        value
    }

    /// # Safety
    /// S2 of `load_word`.
    pub(super) unsafe fn store_word(word: *mut usize, value: usize) {
        // SAFETY: S2.
        unsafe {
            asm!("str {}, [{}]", in(reg) value, in(reg) word, options(nostack, preserves_flags))
        };
    }

    /// # Safety
    /// S2 of `load_word`, for a byte.
    pub(super) unsafe fn load_byte(byte: *mut u8) -> u8 {
        let value: u32;
        // SAFETY: S2.
        unsafe {
            asm!("ldrb {}, [{}]", out(reg) value, in(reg) byte, options(nostack, preserves_flags))
        };
        value as u8
    }

    /// # Safety
    /// S2 of `load_word`, for a byte.
    pub(super) unsafe fn store_byte(byte: *mut u8, value: u8) {
        // SAFETY: S2.
        unsafe {
            asm!("strb {}, [{}]", in(reg) u32::from(value), in(reg) byte, options(nostack, preserves_flags))
        };
    }
}
