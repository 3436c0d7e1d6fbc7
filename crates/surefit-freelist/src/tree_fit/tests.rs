//! The tree against a naive best fit with the same ties, its balance, and every word of it corrupted.
#![allow(unsafe_code, reason = "the tests free what they allocated")]

extern crate alloc;
use alloc::vec::Vec;
use core::alloc::Layout;

use surefit_core::{Corruption, RawHeap, Refused};
use surefit_testkit::{JunkRegion, Op, Shape, script};

use super::SizeTree;
use super::avl::{MOST_LEVELS, ROOT};
use crate::chunk::{Chunk, NOBODYS_WORDS};
use crate::heap::Heap;
use crate::index::{Index, Need};
use crate::list::{Best, SingleList};
use crate::memory::{Memory, Slot};

/// Best fit by its definition: of all free chunks that fit the smallest, of several the one with the least address.
struct Naive(SingleList<Best>);

impl Index for Naive {
    fn table_words(granules: u32) -> u32 {
        SingleList::<Best>::table_words(granules)
    }

    fn new(memory: &mut Memory<'_>) -> Self {
        Self(SingleList::new(memory))
    }

    fn insert(&mut self, memory: &mut Memory<'_>, chunk: Chunk, granules: u32) {
        self.0.insert(memory, chunk, granules);
    }

    fn remove(&mut self, memory: &mut Memory<'_>, chunk: Chunk) {
        self.0.remove(memory, chunk);
    }

    fn take(&mut self, _memory: &mut Memory<'_>, _granules: u32) -> Option<Chunk> {
        None
    }

    fn take_fitting(
        &mut self,
        memory: &mut Memory<'_>,
        need: &Need,
        visits: &mut u64,
    ) -> Option<Chunk> {
        let mut fitting = Vec::new();
        let mut link = Slot::new(NOBODYS_WORDS);
        while let Some(chunk) = memory.linked(link) {
            *visits += 1;
            if memory.fits(need, chunk) {
                fitting.push((memory.header(chunk).granules(), chunk));
            }
            link = chunk.next();
        }
        let (_, best) = fitting.into_iter().min()?;
        self.remove(memory, best);
        Some(best)
    }

    fn check(&self, memory: &Memory<'_>, free_chunks: usize) -> Result<(), Corruption> {
        self.0.check(memory, free_chunks)
    }
}

/// Runs a script; returns what became of each operation, as an offset in the region or a refusal.
fn outcomes<I: Index>(
    heap: &mut Heap<'_, I>,
    start: usize,
    ops: &[Op],
) -> Vec<Result<usize, Refused>> {
    let mut live = Vec::new();
    let mut outcomes = Vec::new();
    for &op in ops {
        let outcome = match op {
            Op::Alloc { size, .. } => {
                let object = heap.allocate(bytes(size));
                live.extend(object.map(|object| (object, bytes(size))));
                object
            }
            Op::Free(_) | Op::Resize(..) if live.is_empty() => continue,
            Op::Free(nth) => {
                let (object, layout) = live.remove(nth % live.len());
                // SAFETY: the object is live and has this layout; it is forgotten here.
                unsafe { heap.free(object, layout) };
                Ok(object)
            }
            Op::Resize(nth, size) => {
                let place = nth % live.len();
                let (object, layout) = live[place];
                // SAFETY: the object is live and has this layout.
                let resized = unsafe { heap.resize(object, layout, size) };
                if let Ok(object) = resized {
                    live[place] = (object, bytes(size));
                }
                resized
            }
        };
        outcomes.push(outcome.map(|object| object.addr().get() - start));
    }
    outcomes
}

fn bytes(size: usize) -> Layout {
    Layout::from_size_align(size, 8).expect("a valid layout")
}

fn is_refusal(outcome: &Result<usize, Refused>) -> bool {
    outcome.is_err()
}

#[test]
fn the_tree_chooses_the_addresses_of_naive_best_fit() {
    let mut refusals = 0;
    for shape in Shape::ALL {
        for (seed, kib, largest) in [(1, 16, 600), (2, 64, 2000), (3, 256, 20_000), (4, 512, 90)] {
            let ops = script(shape, seed, 4000, largest);
            let mut regions = [seed, seed + 100].map(|junk| JunkRegion::new(kib << 10, 64, junk));
            let starts = [&regions[0], &regions[1]].map(|region| region.span().start);
            let [first, second] = &mut regions;
            let mut tree = Heap::<SizeTree>::new(first.memory()).expect("large enough");
            let mut naive = Heap::<Naive>::new(second.memory()).expect("large enough");
            let chosen = outcomes(&mut tree, starts[0], &ops);
            assert_eq!(chosen, outcomes(&mut naive, starts[1], &ops), "{shape:?}");
            assert_eq!(tree.parts(), naive.parts());
            assert_eq!((tree.check(), naive.check()), (Ok(()), Ok(())));
            refusals += chosen.iter().filter(|outcome| is_refusal(outcome)).count();
        }
    }
    assert!(refusals > 100, "{refusals}: full heaps were compared too");
}

/// Holes of `sizes` granules between live chunks, made in this order.
fn make_holes(heap: &mut Heap<'_, SizeTree>, sizes: impl Iterator<Item = usize>) -> usize {
    let holes: Vec<_> = sizes
        .map(|granules| {
            let hole = heap
                .allocate(bytes(8 * granules - 4))
                .expect("there is room");
            heap.allocate(bytes(8)).expect("there is room");
            (hole, 8 * granules - 4)
        })
        .collect();
    for &(hole, size) in &holes {
        // SAFETY: the hole was allocated above, once.
        unsafe { heap.free(hole, bytes(size)) };
    }
    holes.len()
}

#[test]
fn every_order_of_insertions_and_removals_keeps_the_balance() {
    let sizes = 3..203;
    let orders: [Vec<usize>; 4] = [
        sizes.clone().collect(),
        sizes.clone().rev().collect(),
        sizes.clone().map(|n| 3 + n * 77 % 199).collect(),
        sizes.map(|n| 3 + n % 2).collect(),
    ];
    for insertions in &orders {
        for removals in &orders {
            let mut region = JunkRegion::new(1 << 18, 64, 1);
            let mut heap = Heap::<SizeTree>::new(region.memory()).expect("large enough");
            make_holes(&mut heap, insertions.iter().copied());
            assert_eq!(heap.check(), Ok(()));
            for granules in removals {
                let object = heap.allocate(bytes(8 * granules - 4));
                assert!(object.is_ok());
                assert_eq!(heap.check(), Ok(()));
            }
        }
    }
}

#[test]
fn visits_grow_with_the_logarithm_of_the_free_chunks() {
    for holes in [10_usize, 100, 1000, 3000] {
        let mut region = JunkRegion::new(64 << 20, 64, 1);
        let mut heap = Heap::<SizeTree>::new(region.memory()).expect("large enough");
        assert_eq!(make_holes(&mut heap, 3..3 + holes), holes);
        let levels = (1.4405 * (holes as f64 + 3.0).log2() - 0.3277).floor() as u64;
        let mut most = [0; 2];
        for granules in (4..3 + holes).step_by(3) {
            let before = [heap.counters().visits, heap.tree_visits()];
            let object = heap.allocate(bytes(8 * granules - 4)).expect("a hole");
            // SAFETY: the object was just allocated.
            unsafe { heap.free(object, bytes(8 * granules - 4)) };
            let after = [heap.counters().visits, heap.tree_visits()];
            most = [0, 1].map(|n: usize| most[n].max(after[n] - before[n]));
        }
        assert!(
            most[0] <= levels,
            "{holes} holes: {} visits in a search",
            most[0]
        );
        let changes = 3 * levels;
        assert!(
            most[1] <= changes,
            "{holes} holes: {} visits in a pair",
            most[1]
        );
        assert!(most[0] * 2 > levels, "the bound is not far away");
    }
}

#[test]
fn of_equal_sizes_the_least_address_is_chosen() {
    let mut region = JunkRegion::new(1 << 16, 64, 1);
    let mut heap = Heap::<SizeTree>::new(region.memory()).expect("large enough");
    let objects: Vec<_> = (0..40)
        .map(|_| heap.allocate(bytes(60)).expect("room"))
        .collect();
    for n in [30, 10, 20] {
        // SAFETY: each of these objects is freed once.
        unsafe { heap.free(objects[n], bytes(60)) };
    }
    for n in [10, 20, 30] {
        assert_eq!(heap.allocate(bytes(57)), Ok(objects[n]));
    }
}

#[test]
fn an_aligned_request_takes_a_hole_that_happens_to_fit() {
    let mut region = JunkRegion::new(1 << 16, 4096, 1);
    let mut heap = Heap::<SizeTree>::new(region.memory()).expect("large enough");
    let layout = Layout::from_size_align(500, 512).expect("a valid layout");
    let aligned: Vec<_> = (0..8)
        .map(|_| heap.allocate(layout).expect("room"))
        .collect();
    // SAFETY: the object was just allocated.
    unsafe { heap.free(aligned[3], layout) };
    assert_eq!(heap.allocate(layout), Ok(aligned[3]));
    assert_eq!(heap.check(), Ok(()));
}

/// The links of the tree: the root, and both words of every free chunk.
fn links(heap: &Heap<'_, SizeTree>) -> Vec<Slot> {
    let mut links = alloc::vec![ROOT];
    let mut chunk = heap.first;
    while chunk < heap.end {
        if heap.memory.header(chunk).is_free() {
            let left = chunk.next().number() as usize;
            links.extend([Slot::new(left), Slot::new(left + 1)]);
        }
        chunk = chunk.after(heap.memory.header(chunk).granules());
    }
    links
}

#[test]
fn the_checker_objects_to_every_wrong_link() {
    let mut region = JunkRegion::new(1 << 15, 64, 1);
    let mut heap = Heap::<SizeTree>::new(region.memory()).expect("large enough");
    make_holes(&mut heap, (0..50).map(|n| 3 + n * 7 % 20));
    let links = links(&heap);
    let words: Vec<_> = links.iter().map(|&link| heap.memory.get(link)).collect();
    for (&link, &sound) in links.iter().zip(&words) {
        let flipped = (0..u32::BITS).map(|bit| sound ^ 1 << bit);
        for wrong in flipped.chain(words.iter().copied()) {
            heap.memory.set(link, wrong);
            let found = heap.check();
            assert_eq!(found.is_err(), wrong != sound, "{wrong:#x} in {link:?}");
            let known = found
                .err()
                .is_none_or(|c| ["A1", "A2", "A3", "A4"].contains(&c.invariant));
            assert!(known);
        }
        heap.memory.set(link, sound);
    }
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn the_levels_suffice_for_the_largest_region() {
    let bound = 1.4405 * (f64::from(1_u32 << 29) + 2.0).log2() - 0.3277;
    assert_eq!(bound.ceil() as usize, MOST_LEVELS);
}
