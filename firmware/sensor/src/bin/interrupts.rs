//! A heap that an interrupt handler and the main program share: the handler fills samples, the main
//! program reads and frees them.
#![no_std]
#![no_main]

use core::cell::Cell;

use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_rt::{entry, exception};
use critical_section::Mutex;
use semihosting::{println, process};
use surefit::compact::certify::{Demand, Sharing, shared_region_bytes};
use surefit::compact::shared::{CriticalSection, Local, PerHeap, SharedConfig, SharedHeap};
use surefit::compact::{Handle, Wide};
use surefit::{Page1K, Region};

type Heap = SharedHeap<'static, CriticalSection, PerHeap>;
type Sample = Handle<[u16; 8]>;

static CONFIG: SharedConfig<PerHeap> = SharedConfig::TINY;
/// A sample that the main program reads, and one that the handler fills.
const DEMAND: Demand<'static> =
    Demand::of_requests::<Wide>(CONFIG.config(), 2, size_of::<[u16; 8]>());
/// The main program and the handler.
const THREADS: Sharing = Sharing::new(2);
const BYTES: usize = shared_region_bytes::<CriticalSection, _>(&CONFIG, &THREADS, &DEMAND);
static MEMORY: Region<BYTES, Page1K> = Region::new();

/// The handler's access to the heap, until it takes it.
static FOR_HANDLER: Mutex<Cell<Option<Local<'static, 'static, CriticalSection, PerHeap>>>> =
    Mutex::new(Cell::new(None));
/// A sample on its way from the handler to the main program.
static SAMPLE: Mutex<Cell<Option<Sample>>> = Mutex::new(Cell::new(None));

#[entry]
fn main() -> ! {
    static mut HEAP: Option<Heap> = None;
    let memory = MEMORY.take().expect("taken once");
    let heap = HEAP.insert(SharedHeap::new(memory, &CONFIG).expect("a page fits"));
    let heap: &'static Heap = heap;
    let local = heap.register().expect("of four threads");
    let handler = heap.register().expect("of four threads");
    critical_section::with(|section| FOR_HANDLER.borrow(section).set(Some(handler)));

    let mut timer = cortex_m::Peripherals::take().expect("taken once").SYST;
    timer.set_clock_source(SystClkSource::Core);
    timer.set_reload(10_000);
    timer.enable_counter();
    timer.enable_interrupt();

    let (mut seen, mut sum) = (0_u16, 0_u32);
    while seen < 100 {
        let Some(sample) = critical_section::with(|section| SAMPLE.borrow(section).take()) else {
            continue;
        };
        // No section around the heap: its own are short.
        let values = local.remove(sample).expect("a live object");
        sum += u32::from(values[7]);
        seen += 1;
    }
    println!("{seen} samples, sum {sum}");
    process::exit(0)
}

/// Every few thousand cycles: a sample, unless the last one still waits.
#[exception]
fn SysTick() {
    static mut LOCAL: Option<Local<'static, 'static, CriticalSection, PerHeap>> = None;
    static mut NUMBER: u16 = 0;
    if LOCAL.is_none() {
        *LOCAL = critical_section::with(|section| FOR_HANDLER.borrow(section).take());
    }
    let Some(local) = LOCAL else { return };
    let waits = critical_section::with(|section| {
        let place = SAMPLE.borrow(section);
        let sample = place.take();
        let waits = sample.is_some();
        place.set(sample);
        waits
    });
    if waits {
        return;
    }
    // Only this handler puts samples there, so the place stays empty.
    if let Ok(sample) = local.insert([*NUMBER; 8]) {
        critical_section::with(|section| SAMPLE.borrow(section).set(Some(sample)));
        *NUMBER += 1;
    }
}
