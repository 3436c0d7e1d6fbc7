//! The worst case of each call on a Cortex-M4, in instructions and in bytes of stack.
//!
//! `ci/extra/worst.sh` builds this image for the emulated board mps2-an386, runs it, and compares
//! what it prints with `firmware/worst/cortex-m4.csv`. The emulator counts instructions, not
//! cycles.
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
//! | `marks` | marks in the emulator's log of what runs |
//! | `record` | the worst call of each kind; the line N + C per byte |
//! | `table` | what is printed |
#![no_std]
#![no_main]

mod clock;
mod event;
mod handles;
mod marks;
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
use semihosting::experimental::env;
use semihosting::{eprintln, println, process};
use surefit::{Page16K, Region};

use crate::clock::Clock;
use crate::handles::{Handles, Keys, Micro, Tiny};
use crate::marks::Marks;
use crate::subject::Kind;

static MEMORY: Region<{ (512 << 10) + 1 }, Page16K> = Region::new();

#[entry]
fn main() -> ! {
    let marked = env::args::<64>().is_ok_and(|words| {
        let mut words = words.into_iter();
        words.any(|word| word == Ok("marks"))
    });
    let Some(clock) = Clock::new(!marked) else {
        eprintln!("FAILED: no clock that counts instructions: run with -icount shift=8");
        process::exit(1)
    };
    let Some(memory) = MEMORY.take() else {
        process::exit(1)
    };
    println!("instructions, not cycles; an empty call counts 0");
    let mut all = All {
        clock,
        marked,
        memory,
        heaps: 0,
    };
    all.search::<Handles<Tiny>>();
    all.search::<Keys<Tiny>>();
    all.search::<Handles<Micro>>();
    all.search::<Keys<Micro>>();
    all.search::<pointers::Direct>();
    all.search::<pointers::DirectTiny>();
    all.search::<pointers::PooledTiny>();
    all.search::<pointers::OurTlsf>();
    all.search::<pointers::Segregated>();
    if !marked {
        all.search::<others::Rlsf>();
        all.search::<others::TalcKind>();
        all.search::<others::EmbeddedTlsf>();
        all.search::<others::EmbeddedLlff>();
    }
    println!("all heaps were searched");
    process::exit(0)
}

/// The searches of all heaps.
struct All<'m> {
    clock: Clock,
    /// Whether the emulator's log is marked after each call, and the table is not wanted.
    marked: bool,
    memory: &'m mut [MaybeUninit<u8>],
    /// How many heaps were searched.
    heaps: usize,
}

impl All<'_> {
    /// Searches for the worst calls of one heap, and prints them.
    fn search<K: Kind>(&mut self) {
        let marks = Marks::new(self.heaps, self.marked);
        let record = search::run::<K>(&self.clock, marks, self.memory);
        if self.marked {
            table::print_marks(K::NAME, K::HANDLES, &record, marks);
        } else {
            table::print(K::NAME, K::HANDLES, &record);
        }
        self.heaps += 1;
    }
}

/// A fault: ends the program instead of hanging.
#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    eprintln!("FAILED: a fault of the processor at {:#x}", frame.pc());
    process::exit(2)
}
