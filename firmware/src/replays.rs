//! The recorded program, replayed on each heap.

use core::fmt;
use core::mem::MaybeUninit;

use surefit::compact::{Heap, Narrow};
use surefit::direct::DirectHeap;
use surefit::freelist::{SegregatedFit, Tlsf};

use crate::bench::Bench;
use crate::failure::Failure;
use crate::log::{Log, Outcome};
use crate::pointers::Pointers;
use crate::scale::{self, CONFIG, junk};
use crate::store::Store;
use crate::trace;

/// Runs them, and notes each.
///
/// # Errors
/// If the log cannot be written.
pub fn run(memory: &mut [MaybeUninit<u8>], log: &mut Log<'_>) -> fmt::Result {
    let part = scale::TRACE_BYTES;
    log.note("trace-handles", handles(junk(memory)))?;
    log.note("trace-direct", direct(junk(memory)))?;
    log.note("trace-tlsf", tlsf(junk(&mut memory[..part])))?;
    log.note("trace-segregated", segregated(junk(&mut memory[..part])))
}

/// In exactly the bytes that are certified for the recording.
fn handles(memory: &mut [MaybeUninit<u8>]) -> Outcome {
    let bytes = trace::certified_bytes::<Narrow>(&CONFIG)?;
    let memory = memory
        .get_mut(..bytes)
        .ok_or(Failure::Other("more than the region"))?;
    let heap: Heap<'_, Narrow> = Heap::new(memory, &CONFIG)?;
    replay(heap, bytes)
}

fn direct(memory: &mut [MaybeUninit<u8>]) -> Outcome {
    let bytes = memory.len();
    replay(Pointers(DirectHeap::new(memory)?), bytes)
}

fn tlsf(memory: &mut [MaybeUninit<u8>]) -> Outcome {
    let bytes = memory.len();
    replay(Pointers(Tlsf::new(memory)?), bytes)
}

fn segregated(memory: &mut [MaybeUninit<u8>]) -> Outcome {
    let bytes = memory.len();
    let heap: SegregatedFit<'_> = SegregatedFit::new(memory)?;
    replay(Pointers(heap), bytes)
}

#[inline(never)]
fn replay<S: Store>(store: S, bytes: usize) -> Outcome {
    let mut bench: Bench<S, { scale::TRACE_SLOTS }> = Bench::new(store);
    trace::replay(&mut bench)?;
    Ok((bench.tally(), bench.store().moves(), bytes))
}
