//! A heap in exactly its certified bytes: nothing inside the demand is refused, and nothing is
//! written beside the heap.

use core::alloc::Layout;
use core::mem::MaybeUninit;

use surefit::compact::certify::{Budget, ClassSet, Demand, region_bytes};
use surefit::compact::{Config, Heap, Narrow};

use crate::bench::{Bench, Tally};
use crate::failure::{Failure, require};
use crate::random::Random;
use crate::scale;
use crate::store::Store;

static CONFIG: Config = Config::TINY;

const BUDGET: Budget = Budget {
    objects: scale::CERTIFIED_OBJECTS as u64,
    block_bytes: scale::CERTIFIED_BLOCK_BYTES as u64,
    classes: ClassSet::of_requests(CONFIG.geometry(), scale::CERTIFIED_LARGEST),
};

/// The bytes that are enough; `region_bytes` counts one more, for the claim on a region.
pub const BYTES: usize = region_bytes::<Narrow>(&CONFIG, &Demand::Joint(BUDGET)) - 1;

/// Bytes behind the heap that nobody may write to.
const FENCE: usize = 64;

const _: () = assert!(BYTES + FENCE < scale::REGION_BYTES, "the region has room");

const SLOTS: usize = scale::CERTIFIED_OBJECTS;

/// The page-blocks that are live, as the demand counts them.
#[derive(Clone, Copy, Debug, Default)]
struct Live {
    blocks: u64,
    bytes: u64,
    peak: u64,
}

impl Live {
    /// Whether a block more stays within the budget.
    const fn admits(&self, block: u64) -> bool {
        self.blocks < BUDGET.objects && self.bytes + block <= BUDGET.block_bytes
    }

    fn add(&mut self, block: u64) {
        self.blocks += 1;
        self.bytes += block;
        self.peak = self.peak.max(self.bytes);
    }

    const fn remove(&mut self, block: u64) {
        self.blocks -= 1;
        self.bytes -= block;
    }
}

/// Runs random operations that stay within the budget.
///
/// # Errors
/// What the heap did wrong; a refusal is wrong.
#[inline(never)]
pub fn run(memory: &mut [MaybeUninit<u8>], operations: u32) -> Result<(Tally, u64), Failure> {
    let (memory, behind) = memory.split_at_mut(BYTES);
    let fence = &mut behind[..FENCE];
    fence.fill(MaybeUninit::new(0xa5));
    let heap: Heap<'_, Narrow> = Heap::new(memory, &CONFIG)?;
    let mut bench: Bench<_, SLOTS> = Bench::new(heap);
    let (mut random, mut live) = (Random(0xce), Live::default());
    for _ in 0..operations {
        step(&mut bench, &mut random, &mut live)?;
        bench.verify()?;
    }
    require(bench.tally().refused == 0, "refused what is certified")?;
    let nearly = BUDGET.block_bytes - scale::CERTIFIED_LARGEST as u64;
    require(live.peak >= nearly, "the budget was never used up")?;
    // SAFETY: all bytes were filled, and whoever wrote to them since wrote bytes.
    let intact = fence
        .iter()
        .all(|byte| unsafe { byte.assume_init() } == 0xa5);
    require(intact, "something was written behind the heap")?;
    Ok((bench.tally(), bench.store().moves()))
}

/// Allocates if the budget admits it, else frees; in one of four cases resizes.
fn step<S: Store>(
    bench: &mut Bench<S, SLOTS>,
    random: &mut Random,
    live: &mut Live,
) -> Result<(), Failure> {
    let layout = Layout::from_size_align(random.length(scale::CERTIFIED_LARGEST), 8);
    let layout = layout.map_err(|_| Failure::Other("no layout"))?;
    let gained = block_bytes(layout)?;
    let victim = bench.find(random.below(SLOTS), true);
    let admitted = live.admits(gained);
    if let (0, true, Some(slot)) = (random.below(4), admitted, victim) {
        let lost = block_bytes_of(bench, slot)?;
        live.add(gained);
        bench.resize(slot, layout.size())?;
        live.remove(lost);
    } else if let (true, Some(slot)) = (admitted, bench.find(0, false)) {
        live.add(gained);
        bench.allocate(slot, layout)?;
    } else if let Some(slot) = victim {
        live.remove(block_bytes_of(bench, slot)?);
        bench.free(slot)?;
    }
    Ok(())
}

fn block_bytes_of<S: Store>(bench: &Bench<S, SLOTS>, slot: usize) -> Result<u64, Failure> {
    block_bytes(bench.layout(slot).ok_or(Failure::Other("no object"))?)
}

/// The bytes of the page-block that serves a layout.
fn block_bytes(layout: Layout) -> Result<u64, Failure> {
    let geometry = CONFIG.geometry();
    let class = geometry.class_for(layout.size(), layout.align());
    let class = class.ok_or(Failure::Other("no class"))?;
    Ok(u64::from(geometry.layout(class).block_bytes))
}
