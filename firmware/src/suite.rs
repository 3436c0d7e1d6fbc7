//! All tests of a board, one after another over one region, and their log.

use core::fmt::{self, Write};
use core::mem::MaybeUninit;

use surefit::compact::{Config, Heap, KeyHeap, Narrow};
use surefit::direct::{DirectDemand, Tiny, certify};
use surefit::direct::{DirectHeap, PooledHeap};
use surefit::freelist::{SegregatedFit, Tlsf};

use crate::bench::{Bench, Tally};
use crate::certified;
use crate::failure::Failure;
use crate::keys::Keys;
use crate::pointers::Pointers;
use crate::property::{self, Plan};
use crate::scale;
use crate::store::Store;

/// The configuration of the handle heaps.
pub static CONFIG: Config = Config::TINY;

/// What the heap with pools is certified for: it refuses all other lengths.
const POOLS: [DirectDemand; 6] = [
    DirectDemand::new(24, 20),
    DirectDemand::new(48, 10),
    DirectDemand::new(96, 5),
    DirectDemand::new(128, 4),
    DirectDemand::new(300, 3),
    DirectDemand::new(900, 1),
];

/// The bytes of the heap with pools.
const POOL_BYTES: usize = match certify::<Tiny>(&POOLS) {
    Ok(certificate) => certificate.heap_bytes,
    Err(_) => panic!("the demand can be served"),
};
const _: () = assert!(POOL_BYTES <= scale::HEAP_BYTES);

/// The result of one test: what happened, moved objects, and the bytes of the heap.
pub type Outcome = Result<(Tally, u64, usize), Failure>;

/// The log of all tests, and how many passed and failed.
pub struct Suite<'l> {
    log: &'l mut dyn Write,
    passed: u32,
    failed: u32,
}

impl Suite<'_> {
    /// Logs the result of one test.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub fn note(&mut self, name: &str, outcome: Outcome) -> fmt::Result {
        let (tally, moves, bytes) = match outcome {
            Ok(figures) => figures,
            Err(failure) => {
                self.failed += 1;
                return writeln!(self.log, "FAILED {name}: {failure}");
            }
        };
        self.passed += 1;
        let Tally {
            allocated,
            resized,
            refused,
            peak_bytes,
            ..
        } = tally;
        write!(
            self.log,
            "ok {name:<16} {bytes:>6} B: {allocated} allocated, {resized} resized, "
        )?;
        writeln!(
            self.log,
            "{refused} refused, {moves} moved, peak {peak_bytes} B"
        )
    }

    /// Runs all tests.
    fn run(&mut self, memory: &mut [MaybeUninit<u8>]) -> fmt::Result {
        let part = scale::HEAP_BYTES;
        self.note("handles", handles(junk(&mut memory[..part]), false))?;
        self.note("keys", keys(junk(&mut memory[..part])))?;
        self.note("certified", certified(junk(memory)))?;
        #[cfg(not(small))]
        self.note("direct", direct(junk(&mut memory[..part])))?;
        self.note("tiny", tiny(junk(&mut memory[..part])))?;
        self.note("pools", pools(junk(&mut memory[..POOL_BYTES])))?;
        self.note("tlsf", tlsf(junk(&mut memory[..part])))?;
        self.note("segregated", segregated(junk(&mut memory[..part])))?;
        #[cfg(not(small))]
        crate::replays::run(memory, self)?;
        Ok(())
    }

    /// Runs a test in which an object is damaged.
    fn run_damaged(&mut self, memory: &mut [MaybeUninit<u8>]) -> fmt::Result {
        let part = &mut memory[..scale::HEAP_BYTES];
        self.note("handles", handles(junk(part), true))
    }
}

/// Runs all tests, or if `damaged` one that must fail; logs a line for each, and their number.
/// False if one failed.
///
/// # Errors
/// If the log cannot be written.
pub fn run(
    memory: &mut [MaybeUninit<u8>],
    log: &mut dyn Write,
    damaged: bool,
) -> Result<bool, fmt::Error> {
    let mut suite = Suite {
        log,
        passed: 0,
        failed: 0,
    };
    if damaged {
        suite.run_damaged(memory)?;
    } else {
        suite.run(memory)?;
    }
    let Suite { passed, failed, .. } = suite;
    writeln!(log, "{passed} passed; {failed} failed")?;
    Ok(failed == 0)
}

/// Fills memory with junk: a heap must not rely on zeros.
pub fn junk(memory: &mut [MaybeUninit<u8>]) -> &mut [MaybeUninit<u8>] {
    memory.fill(MaybeUninit::new(0xa5));
    memory
}

fn handles(memory: &mut [MaybeUninit<u8>], damaged: bool) -> Outcome {
    let bytes = memory.len();
    let heap: Heap<'_, Narrow> = Heap::new(memory, &CONFIG)?;
    property(heap, bytes, damaged)
}

fn keys(memory: &mut [MaybeUninit<u8>]) -> Outcome {
    let bytes = memory.len();
    property(Keys(KeyHeap::new(memory, &CONFIG)?), bytes, false)
}

fn certified(memory: &mut [MaybeUninit<u8>]) -> Outcome {
    let (tally, moves) = certified::run(memory, scale::CERTIFIED_OPERATIONS)?;
    Ok((tally, moves, certified::BYTES))
}

#[cfg(not(small))]
fn direct(memory: &mut [MaybeUninit<u8>]) -> Outcome {
    let bytes = memory.len();
    property(Pointers(DirectHeap::new(memory)?), bytes, false)
}

fn tiny(memory: &mut [MaybeUninit<u8>]) -> Outcome {
    let bytes = memory.len();
    let heap: DirectHeap<'_, Tiny> = DirectHeap::with(memory)?;
    property(Pointers(heap), bytes, false)
}

fn pools(memory: &mut [MaybeUninit<u8>]) -> Outcome {
    let bytes = memory.len();
    let heap: PooledHeap<'_, Tiny> = PooledHeap::certified(memory, &POOLS)?;
    property(Pointers(heap), bytes, false)
}

fn tlsf(memory: &mut [MaybeUninit<u8>]) -> Outcome {
    let bytes = memory.len();
    property(Pointers(Tlsf::new(memory)?), bytes, false)
}

fn segregated(memory: &mut [MaybeUninit<u8>]) -> Outcome {
    let bytes = memory.len();
    let heap: SegregatedFit<'_> = SegregatedFit::new(memory)?;
    property(Pointers(heap), bytes, false)
}

/// A bench is a large frame: not inlined, so that there is never room for two of them.
#[inline(never)]
fn property<S: Store>(store: S, bytes: usize, damaged: bool) -> Outcome {
    let mut bench: Bench<S, { scale::SLOTS }> = Bench::new(store);
    let plan = Plan {
        rounds: scale::ROUNDS,
        operations: scale::OPERATIONS,
        largest: scale::LARGEST,
        damaged,
    };
    property::run(&mut bench, &plan)?;
    Ok((bench.tally(), bench.store().moves(), bytes))
}
