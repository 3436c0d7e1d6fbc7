//! The instructions and the bytes of stack of one call.
//!
//! With `-icount shift=8`, every instruction takes 256 ns of the emulator's time, in which the
//! board's timer ticks 6.4 times: so a difference of ticks says exactly how many instructions ran.

use core::sync::atomic::{Ordering, compiler_fence};

use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;

/// The timer counts down from here.
const RELOAD: u32 = 0x00ff_ffff;

/// Bytes below the stack pointer that are painted before a call.
const PAINTED: usize = 2048;

const PAINT: u32 = 0xcccc_cccc;

/// What one call cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Instructions, without those of an empty call.
    pub instructions: u32,
    /// Bytes of stack below the caller's.
    pub stack_bytes: u32,
}

/// A timer that was calibrated with loops of known length.
#[derive(Debug)]
pub struct Clock {
    /// Ticks of `LOOP` iterations.
    ticks: u32,
    /// Ticks of an empty call.
    empty: u32,
    /// Words of the stack that are painted.
    paint: usize,
}

/// Iterations of the loop that calibrates, of two instructions each.
const LOOP: u32 = 10_000;

impl Clock {
    /// Starts the timer and calibrates it; `None` if it does not count instructions. The stack
    /// counts 0 if it is not painted.
    pub fn new(paints: bool) -> Option<Self> {
        let mut timer = cortex_m::Peripherals::take()?.SYST;
        timer.set_clock_source(SystClkSource::Core);
        timer.set_reload(RELOAD);
        timer.clear_current();
        timer.enable_counter();
        let paint = if paints {
            PAINTED / size_of::<u32>()
        } else {
            0
        };
        let (_, once, _) = raw(paint, || spin(LOOP));
        let (_, twice, _) = raw(paint, || spin(2 * LOOP));
        let (_, empty, _) = raw(paint, nothing);
        let clock = Self {
            ticks: twice.checked_sub(once)?,
            empty,
            paint,
        };
        let ((), short) = clock.measure(|| spin(100));
        let ((), long) = clock.measure(|| spin(600));
        (long.instructions - short.instructions == 1000).then_some(clock)
    }

    /// Runs a call, and says what it cost.
    ///
    /// # Panics
    /// If it used more stack than is painted.
    pub fn measure<R>(&self, call: impl FnOnce() -> R) -> (R, Cost) {
        let (result, ticks, stack_bytes) = raw(self.paint, call);
        assert!(stack_bytes < PAINTED, "more stack than is painted");
        let ticks = u64::from(ticks.saturating_sub(self.empty));
        let (loops, instructions) = (u64::from(self.ticks), u64::from(2 * LOOP));
        let cost = Cost {
            instructions: ((ticks * instructions + loops / 2) / loops) as u32,
            stack_bytes: stack_bytes as u32,
        };
        (result, cost)
    }
}

/// A loop of two instructions an iteration.
fn spin(iterations: u32) {
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

/// The call that counts 0.
fn nothing() {}

/// Runs a call over so many painted words; its result, ticks and bytes of stack.
#[inline(never)]
fn raw<R>(words: usize, call: impl FnOnce() -> R) -> (R, u32, usize) {
    let lowest = cortex_m::register::msp::read() as usize - words * size_of::<u32>();
    let lowest = lowest as *mut u32;
    for word in 0..words {
        // SAFETY: the stack of this board has megabytes; nothing below its pointer is in use, and
        // this loop calls nothing.
        unsafe { lowest.add(word).write_volatile(PAINT) };
    }
    let before = now();
    let result = apart(call);
    let after = now();
    let mut unused = 0;
    // SAFETY: as above.
    while unused < words && unsafe { lowest.add(unused).read_volatile() } == PAINT {
        unused += 1;
    }
    let ticks = before.wrapping_sub(after) & RELOAD;
    (result, ticks, (words - unused) * size_of::<u32>())
}

/// The timer; no access to memory moves across.
#[inline(always)]
fn now() -> u32 {
    compiler_fence(Ordering::SeqCst);
    let now = SYST::get_current();
    compiler_fence(Ordering::SeqCst);
    now
}

/// A frame of its own for the call, so that its stack is counted.
#[inline(never)]
fn apart<R>(call: impl FnOnce() -> R) -> R {
    core::hint::black_box(call())
}
