//! A sweep against freeing the same objects one by one: the same chunks, in every system with
//! boundary tags.

use std::alloc::Layout;
use std::ptr::NonNull;

use surefit_core::{RawHeap, Refused};
use surefit_freelist::{
    Best, Bins, Bitmap, Deferred, First, Heap, Immediate, Index, Linear, Never, Next, NextHitTable,
    PowersOfTwo, Scan, Segregated, SegregatedFit, SingleList, SizeTree, Swept, Tree, TwoLevel,
    Worst,
};
use surefit_testkit::{JunkRegion, Random};

const REGION: usize = 1 << 16;

fn layout(size: usize) -> Layout {
    Layout::from_size_align(size, 8).expect("a valid layout")
}

/// Numbers and sizes of live objects, ascending: allocations until the heap is full, with frees in
/// between.
fn fill<I: Index>(heap: &mut Heap<'_, I>, seed: u64) -> Vec<(u32, usize)> {
    let (mut random, mut live) = (Random(seed), Vec::new());
    loop {
        let size = match random.below(16) {
            0 => random.below(3000),
            _ => random.below(120),
        };
        let Ok(object) = heap.allocate_as_is(size) else {
            live.sort_unstable();
            return live;
        };
        live.push((heap.granule_of(object), size));
        if random.below(3) == 0 {
            let (granule, size) = live.swap_remove(random.below(live.len()));
            free(heap, granule, size);
        }
    }
}

fn free<I: Index>(heap: &mut Heap<'_, I>, granule: u32, size: usize) {
    // SAFETY: a live object of the heap has the number and was allocated with this size.
    unsafe { heap.free(heap.payload(granule), layout(size)) };
}

fn sweep<I: Index>(heap: &mut Heap<'_, I>, kept: &[(u32, usize)]) -> Swept {
    // SAFETY: S1: the tests use no object that is not kept. S2: a search does not panic.
    unsafe { heap.sweep(|granule| kept.binary_search_by_key(&granule, |&(at, _)| at).is_ok()) }
}

fn sweep_leaping<I: Index>(heap: &mut Heap<'_, I>, kept: &[(u32, usize)]) -> Swept {
    let next = |granule| {
        let following = kept.partition_point(|&(at, _)| at < granule);
        kept.get(following).map_or(u32::MAX, |&(at, _)| at)
    };
    // SAFETY: S1: the tests use no object that is not kept. S2: this is the least kept number from
    // `granule` on.
    unsafe { heap.sweep_leaping(next) }
}

/// What a user of a heap can see of it, chunk by chunk.
fn tiling<I: Index>(heap: &Heap<'_, I>) -> (Vec<u32>, Vec<usize>) {
    assert_eq!(heap.check(), Ok(()), "tags, lists and table are sound");
    (heap.objects().collect(), heap.free_sizes().collect())
}

/// Sweeps three equal heaps in three ways and compares; then continues with the swept heaps.
fn same_as_freeing_one_by_one<I: Index>(merges_at_once: bool) {
    for (seed, keep_every) in [(1, 2), (2, 3), (3, 7), (4, 50), (5, 1), (6, usize::MAX)] {
        let mut regions = [1, 2, 3].map(|junk| JunkRegion::new(REGION, 64, junk));
        let [naive, walked, leapt] = &mut regions;
        let mut naive = Heap::<I>::new(naive.memory()).expect("large enough");
        let mut walked = Heap::<I>::new(walked.memory()).expect("large enough");
        let mut leapt = Heap::<I>::new(leapt.memory()).expect("large enough");
        let live = fill(&mut naive, seed);
        assert_eq!(fill(&mut walked, seed), live);
        assert_eq!(fill(&mut leapt, seed), live);
        let chunks = (naive.objects().count() + naive.free_sizes().count()) as u64;
        let is_kept = |nth: usize| keep_every != usize::MAX && (nth * 7919) % keep_every == 0;
        let (mut kept, mut merges) = (Vec::new(), naive.counters().merges);
        for (nth, &(granule, size)) in live.iter().enumerate() {
            match is_kept(nth) {
                true => kept.push((granule, size)),
                false => free(&mut naive, granule, size),
            }
        }
        merges = naive.counters().merges - merges;
        let merges_before = walked.counters().merges;
        let swept = sweep(&mut walked, &kept);
        assert_eq!(walked.counters().merges - merges_before, merges);
        let expected = tiling(&naive);
        assert_eq!(tiling(&walked), expected, "seed {seed}");
        assert_eq!(walked.usage(), naive.usage());
        assert_eq!(walked.live_objects(), kept.len());
        let free_bytes = expected.1.iter().sum::<usize>();
        let largest = expected.1.iter().max().copied().unwrap_or(0);
        let told = Swept {
            live_objects: kept.len() as u64,
            live_bytes: naive.usage().block_bytes,
            freed_objects: (live.len() - kept.len()) as u64,
            free_chunks: expected.1.len() as u64,
            free_bytes,
            largest_free_bytes: largest,
            visited: chunks,
        };
        assert_eq!(swept, told);
        if merges_at_once {
            let visited = kept.len() as u64;
            assert_eq!(sweep_leaping(&mut leapt, &kept), Swept { visited, ..told });
            assert_eq!(tiling(&leapt), expected, "seed {seed}");
        }
        goes_on(walked, kept, seed);
    }
}

/// Allocates until the heap is full again, frees all, and finds one chunk.
fn goes_on<I: Index>(mut heap: Heap<'_, I>, mut live: Vec<(u32, usize)>, seed: u64) {
    live.extend(fill(&mut heap, seed + 100));
    assert_eq!(heap.objects().count(), live.len());
    tiling(&heap);
    sweep(&mut heap, &[]);
    heap.coalesce();
    assert_eq!(
        tiling(&heap),
        (Vec::new(), vec![heap.usage().free_chunk_bytes])
    );
}

macro_rules! systems {
    ($($name:ident $index:ty, $merges_at_once:expr;)*) => {$(
        #[test]
        fn $name() {
            same_as_freeing_one_by_one::<$index>($merges_at_once);
        }
    )*};
}

systems! {
    scan_never Segregated<Scan, Never, Linear, 64>, false;
    scan_deferred Segregated<Scan, Deferred, Linear, 64>, false;
    scan_immediate Segregated<Scan, Immediate, Linear, 64>, true;
    table_never Segregated<NextHitTable, Never, Tree, 64>, false;
    table_deferred Segregated<NextHitTable, Deferred, Linear, 300>, false;
    table_immediate Segregated<NextHitTable, Immediate, Tree, 256>, true;
    bitmap_never Segregated<Bitmap, Never, Linear, 256>, false;
    bitmap_deferred Segregated<Bitmap, Deferred, Tree, 16>, false;
    bitmap_immediate Segregated<Bitmap, Immediate, Tree, 256>, true;
    units_of_16_never Segregated<Scan, Never, Linear, 16, 16>, false;
    units_of_16_immediate Segregated<Bitmap, Immediate, Tree, 128, 16>, true;
    first_fit SingleList<First>, true;
    next_fit SingleList<Next>, true;
    best_fit SingleList<Best>, true;
    worst_fit SingleList<Worst>, true;
    half_fit PowersOfTwo, true;
    tlsf TwoLevel, true;
    tree_fit SizeTree, true;
    bins Bins, true;
}

#[test]
fn allocation_as_is_merges_nothing_and_coalescing_mends_it() {
    let mut region = JunkRegion::new(1 << 14, 64, 1);
    let mut heap = SegregatedFit::<NextHitTable, Deferred, Linear, 64>::new(region.memory())
        .expect("large enough");
    let objects: Vec<NonNull<u8>> = core::iter::from_fn(|| heap.allocate_as_is(60).ok()).collect();
    for object in objects {
        // SAFETY: the object is live and was allocated with this size.
        unsafe { heap.free(object, layout(60)) };
    }
    let chunks = heap.free_sizes().count();
    assert_eq!(heap.allocate_as_is(2000), Err(Refused::NoChunk));
    assert_eq!(heap.free_sizes().count(), chunks, "nothing was merged");
    assert!(heap.coalesce() > 0);
    heap.allocate_as_is(2000).expect("merged now");
    let limit = heap.largest_request();
    let too_large = heap.allocate_as_is(limit + 1);
    assert_eq!(too_large, Err(Refused::TooLarge { limit }));
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn a_tree_keeps_its_visits_over_a_sweep() {
    let mut region = JunkRegion::new(1 << 14, 64, 1);
    let mut heap = Heap::<SizeTree>::new(region.memory()).expect("large enough");
    heap.allocate_as_is(100).expect("room");
    let before = heap.tree_visits();
    sweep(&mut heap, &[]);
    assert!(heap.tree_visits() >= before);
}

#[test]
#[should_panic(expected = "leaps are for indexes that merge at once")]
fn leaps_are_refused_where_free_chunks_stay_apart() {
    let mut region = JunkRegion::new(1 << 14, 64, 1);
    let mut heap =
        SegregatedFit::<Scan, Never, Linear, 64>::new(region.memory()).expect("large enough");
    sweep_leaping(&mut heap, &[]);
}
