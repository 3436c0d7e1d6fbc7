//! The recorded program, replayed on each heap.

use core::fmt;
use core::mem::MaybeUninit;

use surefit::compact::{Heap, Narrow};
use surefit::direct::DirectHeap;
use surefit::freelist::{SegregatedFit, Tlsf};

use crate::bench::Bench;
use crate::failure::Failure;
use crate::pointers::Pointers;
use crate::store::Store;
use crate::suite::{CONFIG, Outcome, Suite, junk};
use crate::{scale, trace};

/// Runs them, and notes each.
///
/// # Errors
/// If the log cannot be written.
pub fn run(memory: &mut [MaybeUninit<u8>], suite: &mut Suite<'_>) -> fmt::Result {
    let part = scale::TRACE_BYTES;
    suite.note("trace-handles", handles(junk(memory)))?;
    suite.note("trace-direct", direct(junk(memory)))?;
    suite.note("trace-tlsf", tlsf(junk(&mut memory[..part])))?;
    suite.note("trace-segregated", segregated(junk(&mut memory[..part])))
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
