//! The upper bound of docs/free-lists.md: within it no system that merges at once refuses a request.

use std::alloc::Layout;
use std::ptr::NonNull;

use surefit_core::RawHeap;
use surefit_freelist::{
    Best, Bins, Bitmap, First, Heap, Immediate, Index, Next, NextHitTable, PowersOfTwo, Segregated,
    SingleList, SizeTree, Tree, TwoLevel, Worst,
};
use surefit_testkit::{JunkRegion, Random};

/// Granules of a chunk that serves `bytes`: a header of four bytes, and at least two granules.
const fn granules(bytes: usize) -> usize {
    let granules = (bytes + 4).div_ceil(8);
    if granules < 2 { 2 } else { granules }
}

/// The most objects of up to `largest` bytes that are never refused in a heap of so many granules, if a free chunk of
/// `found` granules is never missed: N with N·g + (N + 1)·(found − 1) ≤ all.
fn objects(all: usize, largest: usize, found: usize) -> usize {
    all.saturating_sub(found - 1) / (granules(largest) + found - 1)
}

struct Program<'m, I> {
    heap: Heap<'m, I>,
    live: Vec<(NonNull<u8>, Layout)>,
    objects: usize,
}

impl<I: Index> Program<'_, I> {
    fn allocate(&mut self, bytes: usize) {
        if self.live.len() == self.objects {
            return;
        }
        let layout = Layout::from_size_align(bytes, 4).expect("a layout");
        let place = self.heap.allocate(layout);
        let place = place.unwrap_or_else(|refused| panic!("{bytes}: {refused}"));
        self.live.push((place, layout));
    }

    fn free(&mut self, which: usize) {
        if !self.live.is_empty() {
            let (place, layout) = self.live.swap_remove(which % self.live.len());
            // SAFETY: S1, S2: live, with its layout.
            unsafe { self.heap.free(place, layout) };
        }
    }

    /// Fills the heap with the smallest objects, frees all but every k-th, and asks for the largest: the worst for
    /// systems that do not move. Then any mix.
    fn run(&mut self, largest: usize, random: &mut Random) {
        for k in [2, 3, 7] {
            (0..self.objects).for_each(|_| self.allocate(1));
            let mut kept = 0;
            self.live.sort_unstable_by_key(|(place, _)| *place);
            while kept < self.live.len() {
                for _ in 1..k {
                    if kept + 1 < self.live.len() {
                        let (place, layout) = self.live.remove(kept + 1);
                        // SAFETY: S1, S2: live, with its layout.
                        unsafe { self.heap.free(place, layout) };
                    }
                }
                kept += 1;
            }
            (0..self.objects).for_each(|_| self.allocate(largest));
            self.heap.check().expect("sound");
            (0..self.objects).for_each(|_| self.free(0));
        }
        for step in 0..4000 {
            if random.below(5) < 3 {
                self.allocate(1 + random.below(largest));
            } else {
                self.free(random.below(1 << 20));
            }
            if step % 64 == 0 {
                self.heap.check().expect("sound");
            }
        }
        (0..self.objects).for_each(|_| self.allocate(largest));
    }
}

/// Runs programs of the most objects that the bound allows, in a region of 64 KiB.
fn never_refused<I: Index>(found: impl Fn(usize) -> usize) {
    for largest in [12, 28, 60, 250, 1000] {
        let mut region = JunkRegion::new(64 << 10, 8, 3);
        let heap = Heap::<I>::new(region.memory()).expect("a heap");
        let parts = heap.parts();
        // One granule belongs to the chunk that ends the region.
        let all = (parts.total() - parts.administrative_bytes) / 8 - 1;
        let objects = objects(all, largest, found(granules(largest)));
        assert!(objects > 5, "{largest}: {objects}");
        let mut program = Program {
            heap,
            live: Vec::new(),
            objects,
        };
        program.run(largest, &mut Random(largest as u64));
    }
}

#[test]
fn no_fit_refuses_within_the_bound() {
    never_refused::<SingleList<First>>(|request| request);
    never_refused::<SingleList<Best>>(|request| request);
    never_refused::<SingleList<Worst>>(|request| request);
    never_refused::<SingleList<Next>>(|request| request);
    never_refused::<SizeTree>(|request| request);
    never_refused::<Bins>(|request| request);
}

#[test]
fn segregated_lists_do_not_refuse_within_the_bound() {
    type Thesis = Segregated<NextHitTable, Immediate, Tree, 256, 8>;
    type Bits = Segregated<Bitmap, Immediate, Tree, 256, 8>;
    never_refused::<Thesis>(|request| request);
    never_refused::<Bits>(|request| request);
}

#[test]
fn two_levels_do_not_refuse_within_the_bound() {
    // A list's largest chunk is at most 1/64 longer than its smallest.
    never_refused::<TwoLevel>(|request| request + request.div_ceil(64));
}

#[test]
fn powers_of_two_do_not_refuse_within_the_bound() {
    never_refused::<PowersOfTwo>(usize::next_power_of_two);
}
