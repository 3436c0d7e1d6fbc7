//! A Cortex-M4, emulated. With `-icount shift=8` an instruction takes 256 ns of the emulator's
//! time, in which the timer ticks 6.4 times.

use core::cell::Cell;
use core::sync::atomic::{Ordering, compiler_fence};

use cortex_m::peripheral::syst::SystClkSource;
use cortex_m::peripheral::{SCB, SYST};
use cortex_m::register::primask;
use cortex_m::{asm, interrupt};
use cortex_m_rt::exception;
use critical_section::Mutex;

/// The timer counts down from here.
const RELOAD: u32 = 0x00ff_ffff;

/// Starts the clock.
pub fn start() {
    if let Some(peripherals) = cortex_m::Peripherals::take() {
        let mut timer = peripherals.SYST;
        timer.set_clock_source(SystClkSource::Core);
        timer.set_reload(RELOAD);
        timer.clear_current();
        timer.enable_counter();
    }
}

/// Ticks of the clock. No access to memory moves across.
#[inline(always)]
pub fn now() -> u32 {
    compiler_fence(Ordering::SeqCst);
    let now = SYST::get_current();
    compiler_fence(Ordering::SeqCst);
    now
}

/// The instructions between two readings of the clock.
pub const fn instructions(from: u32, to: u32) -> u32 {
    let ticks = from.wrapping_sub(to) & RELOAD;
    (ticks as u64 * 5 / 32) as u32
}

/// A loop of two instructions an iteration.
pub fn spin(iterations: u32) {
    // SAFETY: it changes one register and the flags.
    unsafe {
        core::arch::asm!(
            "2: subs {n}, #1",
            "bne 2b",
            n = inout(reg) iterations => _,
            options(nomem, nostack)
        );
    }
}

/// Turns interrupts off; whether they were on.
#[inline(always)]
pub fn disable_interrupts() -> bool {
    let were_on = primask::read().is_active();
    interrupt::disable();
    were_on
}

/// Turns interrupts on.
///
/// # Safety
/// S1: no critical section is left.
#[inline(always)]
pub unsafe fn enable_interrupts() {
    // SAFETY: S1.
    unsafe { interrupt::enable() };
}

/// What the handler runs next.
///
/// # Invariants
/// - W1 Whoever put it there waits until the handler has run it.
struct Work(*mut (dyn FnMut() + 'static));

// SAFETY: W1: only the handler uses it, and meanwhile its owner does nothing.
unsafe impl Send for Work {}

static WORK: Mutex<Cell<Option<Work>>> = Mutex::new(Cell::new(None));

/// Runs `work` in the handler of an exception, as if a device had interrupted here.
pub fn in_handler(work: &mut dyn FnMut()) {
    // SAFETY: only the lifetime changes, and W1.
    let work = unsafe {
        core::mem::transmute::<*mut (dyn FnMut() + '_), *mut (dyn FnMut() + 'static)>(work)
    };
    critical_section::with(|section| WORK.borrow(section).set(Some(Work(work))));
    SCB::set_pendsv();
    asm::dsb();
    asm::isb();
    let left = critical_section::with(|section| WORK.borrow(section).take());
    assert!(left.is_none(), "the handler has run");
}

#[exception]
fn PendSV() {
    let work = critical_section::with(|section| WORK.borrow(section).take());
    if let Some(Work(work)) = work {
        // SAFETY: W1: nobody else uses it now, and it is still there.
        unsafe { (*work)() };
    }
}
