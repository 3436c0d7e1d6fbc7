//! White-box tests of segregated lists: every combination corrupted, the tree against a model, what
//! each policy merges.

use alloc::collections::BTreeSet;

use super::*;
use crate::bitmap::Bitmap;
use crate::chunk::Header;
use crate::index::Need;
use crate::last_list::{LastList, Linear, Place, Tally};
use crate::lookup::Scan;
use crate::memory::Memory;
use crate::next_hit_table::NextHitTable;
use crate::policy::{Deferred, Immediate, Never};
use crate::segregated::Segregated;
use crate::trie::Tree;

/// Generates the suite for all last lists and policies of one lookup.
macro_rules! all_of {
    ($($module:ident $lookup:ident;)*) => {$(
        mod $module {
            use super::*;
            suite! { never_tree Segregated<$lookup, Never, Tree, 16> }
            suite! { never_linear Segregated<$lookup, Never, Linear, 16> }
            suite! { deferred_tree Segregated<$lookup, Deferred, Tree, 16> }
            suite! { deferred_linear Segregated<$lookup, Deferred, Linear, 16> }
            suite! { immediate_tree Segregated<$lookup, Immediate, Tree, 16> }
            suite! { immediate_linear Segregated<$lookup, Immediate, Linear, 16> }
            suite! { units_of_16 Segregated<$lookup, Immediate, Tree, 17, 16> }
            suite! { deferred_units_of_16 Segregated<$lookup, Deferred, Linear, 17, 16> }
        }
    )*};
}

all_of! { scan Scan; table NextHitTable; bitmap Bitmap; }

#[test]
fn the_checker_objects_to_every_flipped_bit_of_large_tables() {
    fn flip<I: Index>() {
        let mut region = Region([JUNK; 32768]);
        let mut heap = Heap::<I>::new(&mut region.0).expect("large enough");
        fill_with_holes(&mut heap, 20);
        for slot in metadata(&heap) {
            let sound = heap.memory.get(slot);
            for bit in 0..u32::BITS {
                heap.memory.set(slot, sound ^ 1 << bit);
                assert!(heap.check().is_err(), "bit {bit} of word {slot:?}");
            }
            heap.memory.set(slot, sound);
        }
        assert_eq!(heap.check(), Ok(()), "all is as before");
    }
    flip::<Segregated<NextHitTable, Immediate, Tree, 256>>();
    flip::<Segregated<NextHitTable, Never, Linear, 1000>>();
    flip::<Segregated<Bitmap, Deferred, Tree, 1000>>();
}

#[test]
fn the_checker_objects_to_every_wrong_summary_of_a_bitmap() {
    let mut region = Region([JUNK; 32768]);
    let mut heap =
        Heap::<Segregated<Bitmap, Never, Tree, 200>>::new(&mut region.0).expect("large enough");
    fill_small(&mut heap);
    for bit in 0..u64::BITS {
        heap.index.lookup.flip_summary(bit);
        assert_eq!(heap.check().expect_err("B2").invariant, "B2");
        heap.index.lookup.flip_summary(bit);
    }
    assert_eq!(heap.check(), Ok(()));
}

/// Three free neighbours of 200 bytes each (26 granules: in the last list of 16), between two live
/// objects.
fn three_large_neighbours<I: Index>(heap: &mut Heap<'_, I>) -> [NonNull<u8>; 3] {
    let [_fence, a, b, c, _end] = [8, 200, 200, 200, 8].map(|size| allocate(heap, size));
    // The rest of the region, so that it is never the best fit.
    let rest = heap.usage().free_chunk_bytes;
    allocate(heap, rest);
    [a, b, c].map(|object| {
        free(heap, object, 200);
        object
    })
}

#[test]
fn never_merges_nothing() {
    fn claim<T: LastList>() {
        let mut region = Region([JUNK; 8192]);
        let mut heap =
            Heap::<Segregated<Bitmap, Never, T, 16>>::new(&mut region.0).expect("large enough");
        let _ = three_large_neighbours(&mut heap);
        assert_eq!(heap.allocate(bytes(300)), Err(Refused::NoChunk));
        assert_eq!(heap.counters().merges, 0);
        assert_eq!(heap.coalesce(), 2, "on demand all the same");
        allocate(&mut heap, 600);
        assert_eq!(heap.check(), Ok(()));
    }
    claim::<Tree>();
    claim::<Linear>();
}

#[test]
fn deferred_merges_what_the_walk_meets() {
    let mut region = Region([JUNK; 8192]);
    let mut heap =
        Heap::<Segregated<Bitmap, Deferred, Linear, 16>>::new(&mut region.0).expect("large enough");
    let [a, ..] = three_large_neighbours(&mut heap);
    assert_eq!(heap.counters().merges, 0);
    assert_eq!(
        allocate(&mut heap, 200),
        a,
        "all three are one chunk, cut at its front"
    );
    assert_eq!(heap.counters().merges, 2);
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn deferred_merges_the_neighbours_of_what_the_tree_finds() {
    let mut region = Region([JUNK; 8192]);
    let mut heap =
        Heap::<Segregated<Bitmap, Deferred, Tree, 16>>::new(&mut region.0).expect("large enough");
    let [a, _, c] = three_large_neighbours(&mut heap);
    assert_eq!(
        allocate(&mut heap, 200),
        c,
        "the newest fits exactly and is not merged"
    );
    free(&mut heap, c, 200);
    assert_eq!(heap.counters().merges, 0);
    let found = allocate(&mut heap, 180);
    assert!(
        found > a && found < c,
        "{found:?}: merged with one neighbour on each side at most"
    );
    assert_eq!(heap.counters().merges, 1);
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn deferred_merges_everything_when_a_request_finds_nothing() {
    fn claim<T: LastList>() {
        let mut region = Region([JUNK; 8192]);
        let mut heap = Heap::<Segregated<NextHitTable, Deferred, T, 64>>::new(&mut region.0)
            .expect("large enough");
        let small = [(); 20].map(|()| allocate(&mut heap, 40));
        let rest = heap.usage().free_chunk_bytes;
        allocate(&mut heap, rest);
        let _ = small.map(|object| free(&mut heap, object, 40));
        let before = heap.counters();
        assert_eq!((before.merges, before.table_rebuilds), (0, 0));
        assert_eq!(allocate(&mut heap, 900), small[0]);
        let after = heap.counters();
        assert_eq!(
            (after.merges, after.table_rebuilds),
            (19, 1),
            "one pass, not one update a merge"
        );
        assert_eq!(
            after.table_updates - before.table_updates,
            1,
            "the remainder"
        );
        assert_eq!(heap.check(), Ok(()));
        assert_eq!(heap.allocate(bytes(900)), Err(Refused::NoChunk));
    }
    claim::<Tree>();
    claim::<Linear>();
}

/// Requests take whole units. Otherwise a chunk with half a unit more would be in a list that a
/// search for its own size skips.
#[test]
fn a_chunk_serves_the_same_request_again_whatever_the_unit() {
    fn claim<const UNIT: usize>() {
        let mut region = Region([JUNK; 8192]);
        let mut heap = Heap::<Segregated<Bitmap, Never, Tree, 20, UNIT>>::new(&mut region.0)
            .expect("large enough");
        for size in 0..20 * UNIT {
            let [object, fence] = [size, 8].map(|size| allocate(&mut heap, size));
            free(&mut heap, object, size);
            assert_eq!(allocate(&mut heap, size), object, "{size}");
            free(&mut heap, fence, 8);
            free(&mut heap, object, size);
            heap.coalesce();
        }
    }
    claim::<8>();
    claim::<16>();
}

#[test]
fn a_scan_visits_every_list_up_to_the_filled_one() {
    let mut region = Region([JUNK; 8192]);
    let mut heap =
        Heap::<Segregated<Scan, Immediate, Tree, 64>>::new(&mut region.0).expect("large enough");
    let [object, _fence] = [12 * 8 - 4, 12].map(|size| allocate(&mut heap, size));
    free(&mut heap, object, 12 * 8 - 4);
    let before = heap.counters().visits;
    allocate(&mut heap, 5 * 8 - 4);
    assert_eq!(heap.counters().visits - before, 12 - 5 + 1);
}

/// The thesis's examples: the list of a size becomes empty, a remainder fills a smaller one.
#[test]
fn an_allocation_with_a_remainder_updates_the_table_twice() {
    let mut region = Region([JUNK; 8192]);
    let mut heap = Heap::<Segregated<NextHitTable, Immediate, Tree, 64>>::new(&mut region.0)
        .expect("large enough");
    let [object, _fence] = [12 * 8 - 4, 12].map(|size| allocate(&mut heap, size));
    free(&mut heap, object, 12 * 8 - 4);
    let before = heap.counters();
    assert_eq!(allocate(&mut heap, 5 * 8 - 4), object);
    let after = heap.counters();
    assert_eq!(
        after.table_updates - before.table_updates,
        2,
        "list 12 emptied, list 7 filled"
    );
    assert_eq!(after.table_stores - before.table_stores, 13 + 8);
    assert_eq!(after.visits, before.visits, "no list is searched");
}

#[test]
fn a_resize_takes_a_free_neighbour_under_every_policy_and_merges_no_other() {
    let mut region = Region([JUNK; 8192]);
    let mut heap =
        Heap::<Segregated<Bitmap, Never, Tree, 16>>::new(&mut region.0).expect("large enough");
    let [a, b, c, d, _fence] = [100, 100, 100, 100, 8].map(|size| allocate(&mut heap, size));
    let _ = [a, c, d].map(|object| free(&mut heap, object, 100));
    assert_eq!(
        resize(&mut heap, b, 100, 60),
        Ok(b),
        "shrinks beside a free chunk"
    );
    assert_eq!(heap.counters().merges, 0);
    assert_eq!(
        resize(&mut heap, b, 60, 80),
        Ok(b),
        "grows back into its own tail"
    );
    assert_eq!(
        resize(&mut heap, b, 80, 150),
        Ok(b),
        "takes its tail and one"
    );
    assert_eq!(heap.coalesce(), 1, "what is left of that, and the other");
    assert_eq!(
        resize(&mut heap, b, 150, 380),
        Ok(a),
        "slides down, into both"
    );
    assert_eq!(heap.check(), Ok(()));
    assert_eq!(heap.coalesce(), 0);
    free(&mut heap, a, 380);
    assert_eq!(heap.coalesce(), 1);
    assert_eq!(heap.check(), Ok(()));
}

/// When the move is refused, the chunks before are merged: so the first request succeeds if the
/// next one would.
#[test]
fn a_resize_that_finds_nothing_slides_down_into_what_that_merged() {
    fn claim<T: LastList>() {
        let mut region = Region([JUNK; 8192]);
        let mut heap =
            Heap::<Segregated<Bitmap, Deferred, T, 64>>::new(&mut region.0).expect("large enough");
        let [a, b, c, _fence] = [100, 100, 100, 8].map(|size| allocate(&mut heap, size));
        let rest = heap.usage().free_chunk_bytes;
        allocate(&mut heap, rest);
        let _ = [a, b].map(|object| free(&mut heap, object, 100));
        assert_eq!(resize(&mut heap, c, 100, 290), Ok(a));
        assert_eq!(heap.check(), Ok(()));
        assert_eq!(resize(&mut heap, a, 290, 400), Err(Refused::NoChunk));
        assert_eq!(heap.check(), Ok(()));
    }
    claim::<Tree>();
    claim::<Linear>();
}

/// Without merging, the free chunk before an aligned object may follow another free chunk.
#[test]
fn a_lead_behind_a_free_chunk_keeps_its_tags() {
    let mut region = Region([JUNK; 8192]);
    let mut heap =
        Heap::<Segregated<Bitmap, Never, Tree, 16>>::new(&mut region.0).expect("large enough");
    let [small, large, _fence] = [40, 400, 8].map(|size| allocate(&mut heap, size));
    let rest = heap.usage().free_chunk_bytes;
    allocate(&mut heap, rest);
    free(&mut heap, small, 40);
    free(&mut heap, large, 400);
    let layout = Layout::from_size_align(100, 128).expect("a valid layout");
    let aligned = heap.allocate(layout).expect("there is room");
    assert!(aligned > large, "{aligned:?}: cut from within {large:?}");
    assert_eq!(heap.check(), Ok(()));
    // SAFETY: the object is live and has this layout.
    unsafe { heap.free(aligned, layout) };
    assert_eq!(heap.coalesce(), 3, "two holes, the lead and the rest");
    assert_eq!(heap.check(), Ok(()));
}

/// Granules between the chunks in the tree's model. Their sizes overlap, which does not matter to
/// the tree.
const APART: u32 = 8;
const PLACE: Place = Place {
    head: Slot::new(NOBODYS_WORDS),
    least: 16,
    merges: false,
};

/// A tree beside a set of sizes and chunks. Every few steps the whole tree is checked.
fn tree_beside_a_model(seed: u64, steps: usize, largest: u32) {
    let mut region = Region([JUNK; 1 << 17]);
    let mut memory = Memory::new(&mut region.0).expect("a small region");
    memory.set(PLACE.head, 0);
    let (mut model, mut idle) = (BTreeSet::new(), (1..1000).collect::<Vec<u32>>());
    let (mut random, mut tally) = (Random(seed), Tally::default());
    let mut below = |most: u32| random.below(most as usize) as u32;
    let deepest = u64::from(2 * memory.granules().ilog2() + 3);
    for step in 0..steps {
        let granules = 16 + below(largest);
        match below(5) {
            0 | 1 if !idle.is_empty() => {
                let nth = below(idle.len() as u32) as usize;
                let chunk = Chunk::at(idle.swap_remove(nth) * APART);
                memory.set_header(chunk, Header::free(granules, false));
                Tree::insert(&mut memory, PLACE, chunk, granules);
                model.insert((granules, chunk));
            }
            2 => {
                let visits = tally.visits;
                let need = Need::unaligned(granules);
                let taken = Tree::take(&mut memory, PLACE, &need, &mut tally);
                let best = model.range((granules, Chunk::at(0))..).next().copied();
                let size = taken.map(|chunk| memory.header(chunk).granules());
                assert_eq!(size, best.map(|(size, _)| size), "the best fit");
                assert!(tally.visits - visits <= deepest, "bounded");
                if let (Some(chunk), Some(size)) = (taken, size) {
                    assert!(model.remove(&(size, chunk)), "a chunk of the tree");
                    idle.push(chunk.granule() / APART);
                }
            }
            _ => {
                let from = model.range((granules, Chunk::at(0))..).next().copied();
                if let Some((size, chunk)) = from {
                    Tree::remove(&mut memory, PLACE, chunk);
                    model.remove(&(size, chunk));
                    idle.push(chunk.granule() / APART);
                }
            }
        }
        if step % 16 == 0 {
            let listed = Tree::check(&memory, PLACE, model.len());
            assert_eq!(listed, Ok(model.len()));
        }
    }
}

#[test]
fn the_tree_finds_what_a_sorted_set_finds() {
    for seed in 0..8 {
        tree_beside_a_model(seed, 3000, 8000);
        tree_beside_a_model(seed, 3000, 40);
        tree_beside_a_model(seed, 1000, 3);
    }
}

#[test]
fn a_last_list_of_many_sizes_takes_bounded_time() {
    let mut region = Region([JUNK; 1 << 19]);
    let mut heap =
        Heap::<Segregated<Bitmap, Immediate, Tree, 16>>::new(&mut region.0).expect("large enough");
    let mut objects = Vec::new();
    for n in 0.. {
        let size = 200 + n * 37 % 1500;
        match heap.allocate(bytes(size)) {
            Ok(object) => objects.push((object, size)),
            Err(_) => break,
        }
    }
    objects
        .iter()
        .step_by(2)
        .for_each(|&(object, size)| free(&mut heap, object, size));
    for size in (200..1700).step_by(7) {
        let before = heap.counters().visits;
        let _ = heap.allocate(bytes(size));
        assert!(heap.counters().visits - before <= 2 * 16 + 3, "{size}");
    }
    assert_eq!(heap.check(), Ok(()));
}
