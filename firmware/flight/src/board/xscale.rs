//! An XScale (PXA270), emulated. With `-icount shift=10` an instruction takes 1,024 ns of the
//! emulator's time, in which the timer of 3.25 MHz ticks 3.328 times.

use core::arch::{asm, global_asm};
use core::sync::atomic::{Ordering, compiler_fence};

// What fences call on a processor without an instruction for them; no library provides it here. The
// only core sees its own accesses in order, and the call keeps the compiler from changing it.
global_asm!(
    ".section .text.sync, \"ax\"",
    ".arm",
    ".global __sync_synchronize",
    ".type __sync_synchronize, %function",
    "__sync_synchronize:",
    "bx lr",
);

/// Whether something can interrupt anywhere: no device does here.
pub const INTERRUPTS: bool = false;

/// The operating system timer's counter.
const COUNTER: usize = 0x40a0_0010;

/// Turns interrupts on, of which no device has any. The clock runs already.
pub fn start() {
    // SAFETY: the program begins, in no critical section.
    unsafe { enable_interrupts() };
}

/// Ticks of the clock. No access to memory moves across.
#[inline(always)]
pub fn now() -> u32 {
    compiler_fence(Ordering::SeqCst);
    let counter = core::ptr::with_exposed_provenance::<u32>(COUNTER);
    // SAFETY: a register of this processor, which may always be read.
    let now = unsafe { counter.read_volatile() };
    compiler_fence(Ordering::SeqCst);
    now
}

/// The instructions between two readings of the clock.
pub const fn instructions(from: u32, to: u32) -> u32 {
    let ticks = to.wrapping_sub(from);
    // 2³² / 3.328: a division would take longer than what is measured.
    ((ticks as u64 * 1_290_555_077) >> 32) as u32
}

/// A loop of two instructions an iteration.
pub fn spin(iterations: u32) {
    // SAFETY: it changes one register and the flags.
    unsafe {
        asm!(
            "2: subs {n}, {n}, #1",
            "bne 2b",
            n = inout(reg) iterations => _,
            options(nomem, nostack)
        );
    }
}

/// The bit of the status register that keeps interrupts off.
const OFF: u32 = 0x80;

/// Turns interrupts off; whether they were on.
#[inline(always)]
pub fn disable_interrupts() -> bool {
    let status: u32;
    // SAFETY: the program runs in a mode that may; memory accesses stay behind it.
    unsafe {
        asm!(
            "mrs {status}, cpsr",
            "orr {off}, {status}, #0x80",
            "msr cpsr_c, {off}",
            status = out(reg) status,
            off = out(reg) _,
            options(nostack)
        );
    }
    status & OFF == 0
}

/// Turns interrupts on.
///
/// # Safety
/// S1: no critical section is left.
#[inline(always)]
pub unsafe fn enable_interrupts() {
    // SAFETY: S1; memory accesses stay before it.
    unsafe {
        asm!(
            "mrs {status}, cpsr",
            "bic {status}, {status}, #0x80",
            "msr cpsr_c, {status}",
            status = out(reg) _,
            options(nostack)
        );
    }
}

/// Runs `work` as the handler of an interrupt does: interrupts are off.
pub fn in_handler(work: &mut dyn FnMut()) {
    let were_on = disable_interrupts();
    work();
    if were_on {
        // SAFETY: they were on, so no critical section was left.
        unsafe { enable_interrupts() };
    }
}

/// Runs `body`; nothing interrupts it.
pub fn interrupted(_: &mut (dyn FnMut() -> u32 + Send), body: impl FnOnce()) {
    body();
}
