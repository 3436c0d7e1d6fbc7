//! All tests of a board, one after another over one region.

use core::fmt::{self, Write};
use core::mem::MaybeUninit;

use surefit::Region;
use surefit::compact::{Heap, KeyHeap, Narrow};
use surefit::direct::{DirectDemand, Tiny, certify};
use surefit::direct::{DirectHeap, PooledHeap};
use surefit::freelist::{SegregatedFit, Tlsf};

use crate::bench::Bench;
use crate::certified;
use crate::keys::Keys;
use crate::log::{Log, Outcome};
use crate::pointers::Pointers;
use crate::property::{self, Plan};
use crate::scale::{self, CONFIG, junk};
use crate::store::Store;

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

static MEMORY: Region<{ scale::REGION_BYTES }, scale::Aligned> = Region::new();

/// Runs all tests.
fn run(memory: &mut [MaybeUninit<u8>], log: &mut Log<'_>) -> fmt::Result {
    let part = scale::HEAP_BYTES;
    log.note("handles", handles(junk(&mut memory[..part]), false))?;
    log.note("keys", keys(junk(&mut memory[..part])))?;
    log.note("certified", certified(junk(memory)))?;
    #[cfg(not(small))]
    log.note("direct", direct(junk(&mut memory[..part])))?;
    log.note("tiny", tiny(junk(&mut memory[..part])))?;
    log.note("pools", pools(junk(&mut memory[..POOL_BYTES])))?;
    log.note("tlsf", tlsf(junk(&mut memory[..part])))?;
    log.note("segregated", segregated(junk(&mut memory[..part])))?;
    #[cfg(not(small))]
    crate::replays::run(memory, log)?;
    Ok(())
}

/// Runs a test in which an object is damaged.
fn run_damaged(memory: &mut [MaybeUninit<u8>], log: &mut Log<'_>) -> fmt::Result {
    let part = &mut memory[..scale::HEAP_BYTES];
    log.note("handles", handles(junk(part), true))
}

/// Runs all tests, or if `damaged` one that must fail: it changes an object behind the model's
/// back. Logs a line for each, and their number. False if one failed, or if the log cannot be
/// written.
pub fn tests(log: &mut dyn Write, damaged: bool) -> bool {
    let Some(memory) = MEMORY.take() else {
        return false;
    };
    let mut log = Log::new(log);
    let run = match damaged {
        true => run_damaged(memory, &mut log),
        false => run(memory, &mut log),
    };
    run.and_then(|()| log.end()).unwrap_or(false)
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
