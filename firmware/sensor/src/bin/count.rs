//! For how many instructions a shared heap keeps interrupts off: the longest of its critical
//! sections in each kind of call, over many calls. The emulator counts (`-icount shift=8`).
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use cortex_m::interrupt;
use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m::register::primask;
use cortex_m_rt::entry;
use critical_section::RawRestoreState;
use semihosting::{println, process};
use surefit::compact::Handle;
use surefit::compact::shared::{CriticalSection, PerHeap, SharedConfig, SharedHeap};
use surefit::{Page1K, Region};

static WHOLE: SharedConfig<PerHeap> = SharedConfig::TINY;
static STEPS: SharedConfig<PerHeap> = match SharedConfig::TINY.with_increment(64) {
    Ok(config) => config,
    Err(_) => panic!("a multiple of 16"),
};
static MEMORY: Region<{ 24 << 10 }, Page1K> = Region::new();

/// The longest section, in ticks of the timer, and when the present one began.
static LONGEST: AtomicU32 = AtomicU32::new(0);
static BEGAN: AtomicU32 = AtomicU32::new(0);
static IS_CALL: AtomicBool = AtomicBool::new(false);

struct Counted;
critical_section::set_impl!(Counted);

// SAFETY: interrupts are off from `acquire` to the outermost `release`, on the only core.
unsafe impl critical_section::Impl for Counted {
    unsafe fn acquire() -> RawRestoreState {
        let were_on = primask::read().is_active();
        interrupt::disable();
        if were_on {
            BEGAN.store(SYST::get_current(), Relaxed);
        }
        were_on
    }

    unsafe fn release(were_on: RawRestoreState) {
        if !were_on {
            return;
        }
        let ticks = BEGAN.load(Relaxed).wrapping_sub(SYST::get_current()) & 0x00ff_ffff;
        if IS_CALL.load(Relaxed) {
            LONGEST.fetch_max(ticks, Relaxed);
        }
        // SAFETY: they were on before the section.
        unsafe { interrupt::enable() };
    }
}

/// A call; the ticks of its longest section.
fn counted<R>(most: &mut u32, call: impl FnOnce() -> R) -> R {
    LONGEST.store(0, Relaxed);
    IS_CALL.store(true, Relaxed);
    let result = call();
    IS_CALL.store(false, Relaxed);
    *most = LONGEST.load(Relaxed).max(*most);
    result
}

/// The ticks that so many instructions take more than none.
fn ticks_of(instructions: u32) -> u32 {
    let ticks = |cycles| {
        let began = SYST::get_current();
        cortex_m::asm::delay(cycles);
        began.wrapping_sub(SYST::get_current()) & 0x00ff_ffff
    };
    ticks(2 * instructions) - ticks(instructions)
}

#[entry]
fn main() -> ! {
    let mut timer = cortex_m::Peripherals::take().expect("taken once").SYST;
    timer.set_clock_source(SystClkSource::Core);
    timer.set_reload(0x00ff_ffff);
    timer.clear_current();
    timer.enable_counter();
    let per_thousand = ticks_of(1000);
    let memory = MEMORY.take().expect("taken once");
    let mut longest = [[0; 5]; 2];
    for (config, longest) in [&WHOLE, &STEPS].into_iter().zip(&mut longest) {
        // With room for all objects, and without.
        for bytes in [memory.len(), 16 << 10] {
            let heap: SharedHeap<CriticalSection, PerHeap> =
                SharedHeap::new(&mut memory[..bytes], config).expect("a page fits");
            run(&heap, longest);
        }
    }
    println!("instructions with interrupts off, at most: insert, free, pin_mut, unpin, refusal");
    for (name, longest) in ["whole moves", "steps of 64"].into_iter().zip(longest) {
        let [insert, free, pin, unpin, refusal] = longest.map(|ticks| ticks * 1000 / per_thousand);
        println!("{name}: {insert} {free} {pin} {unpin} {refusal}");
    }
    process::exit(0)
}

/// Objects of two lengths, in an order that leaves holes everywhere.
fn run(heap: &SharedHeap<'_, CriticalSection, PerHeap>, longest: &mut [u32; 5]) {
    let local = heap.register().expect("of four threads");
    let mut short: [Option<Handle<[u32; 6]>>; 64] = [const { None }; 64];
    let mut long: [Option<Handle<[u32; 60]>>; 64] = [const { None }; 64];
    let mut random = 1_u32;
    for _ in 0..4000 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let place = (random >> 8) as usize % 64;
        if random >> 31 == 0 {
            call(&local, heap, &mut short[place], longest);
        } else {
            call(&local, heap, &mut long[place], longest);
        }
    }
}

/// Frees the object of a place, or makes one there.
fn call<const WORDS: usize>(
    local: &surefit::compact::shared::Local<'_, '_, CriticalSection, PerHeap>,
    heap: &SharedHeap<'_, CriticalSection, PerHeap>,
    place: &mut Option<Handle<[u32; WORDS]>>,
    [insert, free, pin, unpin, refusal]: &mut [u32; 5],
) {
    if let Some(object) = place.take() {
        counted(free, || local.free(object)).expect("a live object");
        return;
    }
    let mut ticks = 0;
    match counted(&mut ticks, || local.insert([7; WORDS])) {
        Ok(mut object) => {
            *insert = ticks.max(*insert);
            let pinned = counted(pin, || heap.pin_mut(&mut object)).expect("a live object");
            counted(unpin, || drop(pinned));
            *place = Some(object);
        }
        Err(_) => *refusal = ticks.max(*refusal),
    }
}
