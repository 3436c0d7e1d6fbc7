//! The image: load and certificate are constants, and so is the size of the heap's region. The log
//! goes to the debugger (semihosting), and so does the exit status: 0 if the flight is as it must
//! be.

use core::fmt;

use semihosting::experimental::env;
use semihosting::io::{self, Stdout, Write};
use semihosting::{eprintln, println, process};
use surefit::{Page1K, Region};

use super::clock::timed;
use super::machine;
use crate::kinds::{BESIDE_BYTES, Options, Regions};
use crate::load::Load;
use crate::plan::Plan;
use crate::report::Logged;
use crate::stack;

/// The load of the image, which `build.rs` has read.
const LOAD: Load = {
    use crate::load::{Process, Verb::*};
    include!(concat!(env!("OUT_DIR"), "/load.rs"))
};

/// One certificate for all processes. A load that is not certified does not compile.
const PLAN: Plan = match Plan::new(&LOAD) {
    Ok(plan) => plan,
    Err(invalid) => panic!("{}", invalid.what),
};

static MEMORY: Region<{ PLAN.region_bytes }, Page1K> = Region::new();

/// For the collector, or for the table of a heap of pointers.
static BESIDE: Region<{ BESIDE_BYTES + 1 }, Page1K> = Region::new();

/// The log, to the debugger.
struct Log(Stdout);

impl fmt::Write for Log {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write_all(text.as_bytes()).map_err(|_| fmt::Error)
    }
}

/// Flies, and ends the program.
pub fn run() -> ! {
    machine::start();
    let passed = counts_instructions() && fly();
    let (bytes, used) = stack::bytes();
    println!("stack: {used} of {bytes} B");
    process::exit(if passed && used < bytes { 0 } else { 1 })
}

/// Flies as the arguments say: see [`Options::take`]. The first word is the program's name.
fn fly() -> bool {
    let mut options = Options::DEFAULT;
    if let Ok(words) = env::args::<128>() {
        for word in words.into_iter().flatten().skip(1) {
            if !options.take(word) {
                eprintln!("FAILED: this image knows no \"{word}\"");
                return false;
            }
        }
    }
    let (Ok(log), Some(heap), Some(beside)) = (io::stdout(), MEMORY.take(), BESIDE.take()) else {
        return false;
    };
    let flight = Logged {
        out: &mut Log(log),
        load: &LOAD,
        plan: &PLAN,
        options,
    };
    flight.fly(Regions { heap, beside })
}

/// Whether the clock counts instructions, also more than a period has: loops of known lengths are
/// compared.
fn counts_instructions() -> bool {
    let count = |iterations| timed(|| machine::spin(iterations)).1;
    let (short, long, longest) = (count(1000), count(6000), count(1000 + LOAD.period));
    let counts = (9_995..=10_005).contains(&long.wrapping_sub(short))
        && longest.wrapping_sub(short).abs_diff(2 * LOAD.period) <= 5;
    if !counts {
        eprintln!(
            "FAILED: the clock does not count instructions ({short}, {long}, {longest}): give the emulator -icount"
        );
    }
    counts
}

/// Ends the program after a fault of the processor; `cause` is what it says.
pub fn fault(cause: usize) -> ! {
    eprintln!("FAILED: a fault of the processor: {cause:#x}");
    process::exit(2)
}
