//! A Cortex-M4, emulated. With `-icount shift=8` an instruction takes 256 ns of the emulator's
//! time, in which a timer ticks 6.4 times.

use core::cell::Cell;
use core::sync::atomic::{Ordering, compiler_fence};

use cortex_m::interrupt::InterruptNumber;
use cortex_m::peripheral::NVIC;
use cortex_m::register::primask;
use cortex_m::{asm, interrupt};
use cortex_m_rt::exception;
use critical_section::Mutex;

/// The board's timers (CMSDK APB), each of 32 bits: 671 million instructions, and so many periods
/// that no call is as long. (The processor's own timer has 24 bits, which is less than a period.)
const RADIO: Timer = Timer(0x4000_0000);
const CLOCK: Timer = Timer(0x4000_1000);

/// A timer that counts down.
#[derive(Clone, Copy)]
struct Timer(usize);

impl Timer {
    /// Of its registers: control, value, what it begins anew with, and whether it has interrupted.
    fn register(self, number: usize) -> *mut u32 {
        core::ptr::with_exposed_provenance_mut::<u32>(self.0).wrapping_add(number)
    }

    fn set(self, registers: [(usize, u32); 5]) {
        for (number, value) in registers {
            // SAFETY: a register of a timer of this board, which only this module uses.
            unsafe { self.register(number).write_volatile(value) };
        }
    }
}

/// Starts the clock.
pub fn start() {
    CLOCK.set([(0, 0), (3, 1), (1, u32::MAX), (2, u32::MAX), (0, 1)]);
}

/// Ticks of the clock. No access to memory moves across.
#[inline(always)]
pub fn now() -> u32 {
    compiler_fence(Ordering::SeqCst);
    // SAFETY: as in `Timer::set`; nothing happens by reading it.
    let now = unsafe { CLOCK.register(1).read_volatile() };
    compiler_fence(Ordering::SeqCst);
    now
}

/// The instructions between two readings of the clock.
pub const fn instructions(from: u32, to: u32) -> u32 {
    let ticks = from.wrapping_sub(to);
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

/// Whether something can interrupt anywhere: a timer does.
pub const INTERRUPTS: bool = true;

/// The interrupt of the board's first timer.
#[derive(Clone, Copy)]
struct Radio;

const NUMBER: u16 = 8;

// SAFETY: the board has this interrupt.
unsafe impl InterruptNumber for Radio {
    fn number(self) -> u16 {
        NUMBER
    }
}

/// Lets the timer interrupt once after so many instructions; 0: never.
fn arm(instructions: u32) {
    let ticks = (u64::from(instructions) * 32 / 5) as u32;
    let control = if instructions > 0 { 0b1001 } else { 0 };
    RADIO.set([(0, 0), (3, 1), (1, ticks), (2, ticks), (0, control)]);
}

/// What the handler runs; it says after how many instructions the next interrupt comes.
type Handler<'w> = dyn FnMut() -> u32 + 'w;

/// The handler's work.
///
/// # Invariants
/// - W1 Whoever put it there takes it away before it ends, and meanwhile does not use it.
#[derive(Clone, Copy)]
struct Work(*mut Handler<'static>);

// SAFETY: W1: only the handler uses it.
unsafe impl Send for Work {}

static WORK: Mutex<Cell<Option<Work>>> = Mutex::new(Cell::new(None));

/// Runs `body` with this work for the handler.
fn with_work(work: &mut Handler<'_>, body: impl FnOnce()) {
    let work: *mut Handler<'_> = work;
    // SAFETY: only the lifetime changes, and W1: it is taken away below. A panic ends the program.
    let work = unsafe { core::mem::transmute::<*mut Handler<'_>, *mut Handler<'static>>(work) };
    let set = |work| critical_section::with(|section| WORK.borrow(section).set(work));
    set(Some(Work(work)));
    // SAFETY: no critical section depends on this interrupt being off.
    unsafe { NVIC::unmask(Radio) };
    body();
    arm(0);
    set(None);
}

/// Runs `work` in the handler of an interrupt that the program raises here.
pub fn in_handler(work: &mut dyn FnMut()) {
    let mut has_run = false;
    let mut once = || {
        work();
        has_run = true;
        0
    };
    with_work(&mut once, || {
        NVIC::pend(Radio);
        asm::dsb();
        asm::isb();
    });
    assert!(has_run, "the handler has run");
}

/// Runs `body` while a timer interrupts it, at any instruction.
pub fn interrupted(work: &mut (dyn FnMut() -> u32 + Send), body: impl FnOnce()) {
    with_work(work, || {
        arm(1000);
        body();
    });
}

/// Every interrupt: there is one.
#[exception]
unsafe fn DefaultHandler(number: i16) {
    assert!(number == NUMBER as i16, "another interrupt");
    let work = critical_section::with(|section| WORK.borrow(section).get());
    if let Some(Work(work)) = work {
        // SAFETY: W1.
        arm(unsafe { (*work)() });
    }
}
