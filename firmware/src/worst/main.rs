//! The worst case of each call on a Cortex-M4, in instructions and in bytes of stack.
//!
//! `ci/extra/worst.sh` builds this image for the emulated board mps2-an386, runs it, and compares
//! what it prints with `firmware/worst/cortex-m4.csv`. The emulator counts instructions, not cycles.
//!
//! | file | holds |
//! | --- | --- |
//! | `clock` | the instructions and the stack of one call |
//! | `event` | the kinds of calls that are told apart |
//! | `subject` | one interface for all heaps, and what a call did |
//! | `handles`, `pointers`, `others` | the heaps |
//! | `stage` | a heap, its objects, and each call measured |
//! | `program` | a random sequence of calls, and its mutations |
//! | `search` | hill climbing on the worst call of each kind, and scripted extremes |
//! | `record` | the worst call of each kind; the line N + C per byte |
//! | `table` | what is printed |
#![no_std]
#![no_main]

mod clock;
mod event;
mod handles;
mod others;
mod pointers;
mod program;
#[path = "../random.rs"]
#[expect(dead_code, reason = "lengths and alignments are for the tests")]
mod random;
mod record;
mod search;
mod stage;
mod subject;
mod table;

use core::mem::MaybeUninit;

use cortex_m_rt::{ExceptionFrame, entry, exception};
use semihosting::{eprintln, println, process};
use surefit::{Page16K, Region};

use crate::clock::Clock;
use crate::subject::Kind;

static MEMORY: Region<{ (512 << 10) + 1 }, Page16K> = Region::new();

#[entry]
fn main() -> ! {
    let Some(clock) = Clock::new() else {
        eprintln!("FAILED: no clock that counts instructions: run with -icount shift=8");
        process::exit(1)
    };
    let Some(memory) = MEMORY.take() else {
        process::exit(1)
    };
    println!("instructions, not cycles; an empty call counts 0");
    of::<handles::Handles>(&clock, memory);
    of::<handles::Keys>(&clock, memory);
    of::<pointers::Direct>(&clock, memory);
    of::<pointers::DirectTiny>(&clock, memory);
    of::<pointers::PooledTiny>(&clock, memory);
    of::<pointers::OurTlsf>(&clock, memory);
    of::<pointers::Segregated>(&clock, memory);
    of::<others::Rlsf>(&clock, memory);
    of::<others::EmbeddedTlsf>(&clock, memory);
    of::<others::EmbeddedLlff>(&clock, memory);
    process::exit(0)
}

/// Searches for the worst calls of one heap, and prints them.
fn of<K: Kind>(clock: &Clock, memory: &mut [MaybeUninit<u8>]) {
    let record = search::run::<K>(clock, memory);
    table::print(K::NAME, K::HANDLES, &record);
}

/// A fault: ends the program instead of hanging.
#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    eprintln!("FAILED: a fault of the processor at {:#x}", frame.pc());
    process::exit(2)
}
