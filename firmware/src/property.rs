//! The property test: a random sequence of operations beside the model, with everything verified
//! after each one, until the heap refuses, and beyond.

use core::alloc::Layout;

use crate::bench::Bench;
use crate::failure::{Failure, require};
use crate::random::Random;
use crate::store::Store;

/// How long the test runs, and what it asks for.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// How often the heap is filled until it refuses, and emptied.
    pub rounds: u32,
    /// Operations on the full heap, in each round.
    pub operations: u32,
    /// The longest object, in bytes.
    pub largest: usize,
    /// Whether an object is changed behind the model's back in the second round: then the test must
    /// fail.
    pub damaged: bool,
}

/// Runs the test; the heap is empty before and after.
///
/// # Errors
/// What the heap did wrong.
pub fn run<S: Store, const SLOTS: usize>(
    bench: &mut Bench<S, SLOTS>,
    plan: &Plan,
) -> Result<(), Failure> {
    let mut random = Random(0x5eed);
    for round in 0..plan.rounds {
        let before = bench.tally().refused;
        fill(bench, &mut random, plan.largest)?;
        if plan.damaged && round == 1 {
            bench.damage()?;
        }
        for _ in 0..plan.operations {
            step(bench, &mut random, plan.largest)?;
            bench.verify()?;
        }
        require(bench.tally().refused > before, "the heap was never full")?;
        empty(bench, &mut random)?;
    }
    Ok(())
}

/// Allocates until twelve requests in a row were refused: the heap is full for small ones too.
fn fill<S: Store, const SLOTS: usize>(
    bench: &mut Bench<S, SLOTS>,
    random: &mut Random,
    largest: usize,
) -> Result<(), Failure> {
    let mut refused = 0;
    while refused < 12 {
        require(bench.find(0, false).is_some(), "more slots than fit")?;
        let before = bench.tally().refused;
        allocate(bench, random, largest)?;
        bench.verify()?;
        refused = if bench.tally().refused > before {
            refused + 1
        } else {
            0
        };
    }
    Ok(())
}

/// One operation: most are allocations, so that the heap stays full.
fn step<S: Store, const SLOTS: usize>(
    bench: &mut Bench<S, SLOTS>,
    random: &mut Random,
    largest: usize,
) -> Result<(), Failure> {
    let kind = random.below(10);
    let victim = bench.find(random.below(SLOTS), true);
    match (kind, victim) {
        (0..4, _) | (_, None) => allocate(bench, random, largest),
        (4..7, Some(slot)) => bench.free(slot),
        (7..9, Some(slot)) => bench.resize(slot, random.length(largest)).map(drop),
        (_, Some(slot)) => {
            let len = bench.layout(slot).map_or(0, |layout| layout.size());
            bench.write(slot, random.below(len + 1))
        }
    }
}

fn allocate<S: Store, const SLOTS: usize>(
    bench: &mut Bench<S, SLOTS>,
    random: &mut Random,
    largest: usize,
) -> Result<(), Failure> {
    let Some(slot) = bench.find(random.below(SLOTS), false) else {
        return Ok(());
    };
    let layout = Layout::from_size_align(random.length(largest), random.align());
    let layout = layout.map_err(|_| Failure::Other("no layout"))?;
    bench.allocate(slot, layout).map(drop)
}

/// Frees all objects, in random order.
fn empty<S: Store, const SLOTS: usize>(
    bench: &mut Bench<S, SLOTS>,
    random: &mut Random,
) -> Result<(), Failure> {
    while let Some(slot) = bench.find(random.below(SLOTS), true) {
        bench.free(slot)?;
        bench.verify()?;
    }
    require(bench.tally().live_bytes == 0, "objects are left")
}
