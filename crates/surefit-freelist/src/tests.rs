//! White-box unit tests: every word of metadata corrupted, every path of every operation taken.

use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
extern crate alloc;
use alloc::vec::Vec;

use surefit_core::{RawHeap, Refused};
use surefit_testkit::Random;

mod binned;
mod large;
mod naive;
mod next_hit;
mod segregated;

use crate::binned::Bins;
use crate::chunk::{Chunk, NOBODYS_WORDS, SMALLEST, payload_bytes};
use crate::half_fit::PowersOfTwo;
use crate::heap::Heap;
use crate::index::Index;
use crate::list::{Best, First, Next, SingleList, Worst};
use crate::memory::Slot;
use crate::policy::When;
use crate::tree_fit::SizeTree;
use crate::two_level::TwoLevel;

const JUNK: MaybeUninit<u8> = MaybeUninit::new(0xA5);

#[repr(align(4096))]
struct Region<const BYTES: usize>([MaybeUninit<u8>; BYTES]);

fn bytes(size: usize) -> Layout {
    Layout::from_size_align(size, 8).expect("a valid layout")
}

fn allocate<I: Index>(heap: &mut Heap<'_, I>, size: usize) -> NonNull<u8> {
    let object = heap.allocate(bytes(size)).expect("there is room");
    // SAFETY: the object is live and that many bytes long.
    unsafe { object.write_bytes(0x5C, size) };
    object
}

fn free<I: Index>(heap: &mut Heap<'_, I>, object: NonNull<u8>, size: usize) {
    // SAFETY: the tests free what they allocated, once.
    unsafe { heap.free(object, bytes(size)) };
}

/// Changes the size of an object from `allocate`.
fn resize<I: Index>(
    heap: &mut Heap<'_, I>,
    object: NonNull<u8>,
    old: usize,
    new: usize,
) -> Result<NonNull<u8>, Refused> {
    // SAFETY: the tests resize what they allocated.
    let resized = unsafe { heap.resize(object, bytes(old), new) };
    if let Ok(object) = resized {
        for offset in 0..old.min(new) {
            // SAFETY: the object is live, so long, and was written by `allocate`.
            let byte = unsafe { object.add(offset).read() };
            assert_eq!(byte, 0x5C, "byte {offset} is kept");
        }
        // SAFETY: the object is live and has the new size.
        unsafe { object.write_bytes(0x5C, new) };
    }
    resized
}

/// Live objects of many sizes with holes of many sizes between them.
fn fill_with_holes<I: Index>(heap: &mut Heap<'_, I>, count: usize) {
    let sizes = (0..count).map(|n| [0, 12, 20, 36, 40, 104, 300, 648, 1500][n % 9] + n / 9 * 8);
    let objects: Vec<_> = sizes.map(|size| (allocate(heap, size), size)).collect();
    for (n, (object, size)) in objects.into_iter().enumerate() {
        if n % 3 != 0 {
            free(heap, object, size);
        }
    }
    heap.check().expect("a sound heap");
}

/// Every word that the heap owns: the table, the headers, and the links and footers of free chunks.
fn metadata<I: Index>(heap: &Heap<'_, I>) -> Vec<Slot> {
    let word = |number: u32| Slot::new(number as usize);
    let mut slots: Vec<_> = (NOBODYS_WORDS as u32..I::table_words(heap.memory.granules()))
        .map(word)
        .collect();
    let mut chunk = heap.first;
    while chunk < heap.end {
        let (granule, header) = (chunk.granule(), heap.memory.header(chunk));
        slots.push(word(2 * granule - 1));
        chunk = chunk.after(header.granules());
        if header.is_free() {
            slots.extend([2 * granule, 2 * granule + 1, 2 * chunk.granule() - 2].map(word));
            slots.extend(I::own_words(&heap.memory, Chunk::at(granule)));
        }
    }
    slots.push(word(2 * heap.end.granule() - 1));
    slots
}

/// Flips each bit of each word of metadata, and swaps words: the checker must object to each.
fn check_objects_to_every_corruption<I: Index>(objects: usize) {
    let mut region = Region([JUNK; 32768]);
    let mut heap = Heap::<I>::new(&mut region.0).expect("large enough");
    fill_with_holes(&mut heap, objects);
    let slots = metadata(&heap);
    let words: Vec<_> = slots.iter().map(|&slot| heap.memory.get(slot)).collect();
    for (&slot, &sound) in slots.iter().zip(&words) {
        for bit in 0..u32::BITS {
            heap.memory.set(slot, sound ^ 1 << bit);
            assert!(heap.check().is_err(), "bit {bit} of word {slot:?}");
        }
        for &other in &words {
            heap.memory.set(slot, other);
            assert_eq!(
                heap.check().is_err(),
                other != sound,
                "{other} in word {slot:?}"
            );
        }
        heap.memory.set(slot, sound);
    }
    for wrong in [heap.live + 1, heap.live - 1] {
        let sound = core::mem::replace(&mut heap.live, wrong);
        assert_eq!(heap.check().expect_err("H5").invariant, "H5");
        heap.live = sound;
    }
    assert_eq!(heap.check(), Ok(()), "all is as before");
}

/// Overwrites several words of metadata at once, with words from elsewhere, numbers of granules and
/// noise. The checker must object, stay inside the region (M2 is asserted at every word) and
/// finish.
fn the_checker_stays_inside<I: Index>() {
    let mut region = Region([JUNK; 16384]);
    let mut heap = Heap::<I>::new(&mut region.0).expect("large enough");
    fill_with_holes(&mut heap, 30);
    let slots = metadata(&heap);
    let words: Vec<_> = slots.iter().map(|&slot| heap.memory.get(slot)).collect();
    let mut random = Random(1);
    let mut below = |most: usize| random.below(most);
    for round in 0..3000 {
        for _ in 0..=below(5) {
            let wrong = match below(4) {
                0 => words[below(words.len())],
                1 => words[below(words.len())] ^ 1 << below(32),
                2 => below(2 * heap.end.granule() as usize) as u32,
                _ => (below(1 << 16) << 16 | below(1 << 16)) as u32,
            };
            heap.memory.set(slots[below(slots.len())], wrong);
        }
        let is_sound =
            (slots.iter().zip(&words)).all(|(&slot, &sound)| heap.memory.get(slot) == sound);
        assert_eq!(heap.check().is_ok(), is_sound, "round {round}");
        assert_eq!(heap.usage().total(), 16384);
        for (&slot, &sound) in slots.iter().zip(&words) {
            heap.memory.set(slot, sound);
        }
    }
    assert_eq!(heap.check(), Ok(()), "all is as before");
}

fn exhaustion_is_a_refusal_and_passes<I: Index>() {
    let mut region = Region([JUNK; 32768]);
    let mut heap = Heap::<I>::new(&mut region.0).expect("large enough");
    let all = heap.largest_request();
    assert_eq!(
        heap.allocate(bytes(all + 1)),
        Err(Refused::TooLarge { limit: all })
    );
    // No stricter layout exists where words have 32 bits.
    #[cfg(target_pointer_width = "64")]
    assert_eq!(
        heap.allocate(Layout::from_size_align(1, 1 << 31).expect("a valid layout")),
        Err(Refused::TooAligned { limit: 1 << 30 })
    );
    let strict = Layout::from_size_align(1, 1 << 30).expect("a valid layout");
    assert_eq!(heap.allocate(strict), Err(Refused::NoChunk));
    for size in [all, 5, 100] {
        let mut objects = Vec::new();
        while let Ok(object) = heap.allocate(bytes(size)) {
            objects.push(object);
        }
        assert_eq!(heap.allocate(bytes(size)), Err(Refused::NoChunk));
        assert_eq!(heap.check(), Ok(()));
        // If nothing is ever merged, chunks that were cut stay cut.
        let is_whole = I::COALESCING != When::Never || size < 16;
        let least = if is_whole { all / (size + 16) } else { 0 };
        assert!(objects.len() >= least, "{} of {size}", objects.len());
        let Some(&last) = objects.last() else {
            continue;
        };
        let refused = resize(&mut heap, last, 0, all);
        assert_eq!(refused.is_err(), size != all);
        objects
            .into_iter()
            .for_each(|object| free(&mut heap, object, size));
        assert_eq!(heap.check(), Ok(()));
        assert_eq!(heap.usage().block_bytes, 0);
    }
}

fn objects_are_aligned_and_leave_no_holes<I: Index>() {
    let mut region = Region([JUNK; 65536]);
    let mut heap = Heap::<I>::new(&mut region.0[24..]).expect("large enough");
    let empty = heap.usage();
    for round in 0..50 {
        let mut objects = Vec::new();
        for align in (0..13).map(|log2| 1 << log2) {
            let layout = Layout::from_size_align(round * 7 % 100, align).expect("a valid layout");
            let object = heap.allocate(layout).expect("there is room");
            assert_eq!(object.addr().get() % align, 0);
            objects.push((object, layout));
        }
        assert_eq!(heap.check(), Ok(()));
        for (object, layout) in objects {
            // SAFETY: the object was allocated above with this layout.
            unsafe { heap.free(object, layout) };
        }
        heap.coalesce();
        assert_eq!(heap.check(), Ok(()));
        assert_eq!(heap.usage(), empty);
    }
}

fn resize_uses_what_lies_free_beside<I: Index>() {
    let mut region = Region([JUNK; 8192]);
    let mut heap = Heap::<I>::new(&mut region.0).expect("large enough");
    let [before, object, after, _fence] = [100, 100, 100, 100].map(|n| allocate(&mut heap, n));
    assert_eq!(
        resize(&mut heap, object, 100, 97),
        Ok(object),
        "the same chunk"
    );
    assert_eq!(
        resize(&mut heap, object, 100, 20),
        Ok(object),
        "shrinks in place"
    );
    assert_eq!(
        resize(&mut heap, object, 20, 100),
        Ok(object),
        "grows back into its tail"
    );
    free(&mut heap, after, 100);
    assert_eq!(
        resize(&mut heap, object, 100, 150),
        Ok(object),
        "grows into what lies after"
    );
    assert_eq!(
        resize(&mut heap, object, 100, 100),
        Ok(object),
        "gives it back"
    );
    free(&mut heap, before, 100);
    assert_eq!(
        resize(&mut heap, object, 100, 300),
        Ok(before),
        "slides down, into both"
    );
    assert_eq!(heap.check(), Ok(()));
    let moved = resize(&mut heap, before, 100, 1000).expect("there is room");
    assert!(moved > before, "moves where there is room");
    assert_eq!(heap.check(), Ok(()));
    assert_eq!(heap.live_objects(), 2);
}

/// Generates the test suite for one index.
macro_rules! suite {
    ($module:ident $index:ty) => {
        mod $module {
            use super::*;

            #[test]
            fn the_checker_objects_to_every_corruption() {
                check_objects_to_every_corruption::<$index>(60);
            }

            #[test]
            fn the_checker_never_leaves_the_region() {
                the_checker_stays_inside::<$index>();
            }

            #[test]
            fn a_heap_that_was_exhausted_serves_again() {
                exhaustion_is_a_refusal_and_passes::<$index>();
            }

            #[test]
            fn alignments_to_4096_leave_no_holes() {
                objects_are_aligned_and_leave_no_holes::<$index>();
            }

            #[test]
            fn resizing_stays_in_place_where_it_can() {
                resize_uses_what_lies_free_beside::<$index>();
            }
        }
    };
}

use suite;

suite! { two_levels TwoLevel }
suite! { first_fit SingleList<First> }
suite! { best_fit SingleList<Best> }
suite! { worst_fit SingleList<Worst> }
suite! { next_fit SingleList<Next> }
suite! { half_fit PowersOfTwo }
suite! { tree_fit SizeTree }
suite! { bins Bins }

/// Four holes of 200, 100, 48 and 100 bytes, in this order of addresses and of becoming free.
fn holes<I: Index>(heap: &mut Heap<'_, I>) -> [NonNull<u8>; 4] {
    let sizes = [200, 100, 48, 100];
    let fenced = sizes.map(|size| (allocate(heap, size), allocate(heap, 8)).0);
    for (object, size) in fenced.into_iter().zip(sizes) {
        free(heap, object, size);
    }
    fenced
}

#[test]
fn first_fit_takes_the_chunk_that_became_free_first() {
    let mut region = Region([JUNK; 8192]);
    let mut heap = Heap::<SingleList<First>>::new(&mut region.0).expect("large enough");
    let [large, medium, small, _] = holes(&mut heap);
    let _end = allocate(&mut heap, 300);
    assert_eq!(allocate(&mut heap, 150), large);
    assert_eq!(allocate(&mut heap, 40), medium);
    assert_eq!(allocate(&mut heap, 40), small);
}

#[test]
fn best_fit_takes_the_smallest_that_fits_and_the_first_of_several() {
    let mut region = Region([JUNK; 8192]);
    let mut heap = Heap::<SingleList<Best>>::new(&mut region.0).expect("large enough");
    let [large, medium, small, other] = holes(&mut heap);
    assert_eq!(allocate(&mut heap, 40), small);
    assert_eq!(allocate(&mut heap, 90), medium);
    assert_eq!(allocate(&mut heap, 100), other);
    assert_eq!(allocate(&mut heap, 100), large);
}

#[test]
fn two_levels_take_the_newest_of_the_smallest_that_fit() {
    let mut region = Region([JUNK; 8192]);
    let mut heap = Heap::<TwoLevel>::new(&mut region.0).expect("large enough");
    let [large, medium, small, other] = holes(&mut heap);
    assert_eq!(allocate(&mut heap, 40), small);
    assert_eq!(allocate(&mut heap, 100), other);
    assert_eq!(allocate(&mut heap, 100), medium);
    assert_eq!(allocate(&mut heap, 100), large);
}

#[test]
fn searches_of_two_levels_do_not_grow_with_the_holes() {
    let mut region = Region([JUNK; 1 << 17]);
    let mut heap = Heap::<TwoLevel>::new(&mut region.0).expect("large enough");
    let mut objects = Vec::new();
    while let Ok(object) = heap.allocate(bytes(1100)) {
        objects.push(object);
    }
    // The last one stays: it would merge with what is left behind it.
    objects.pop();
    for (n, object) in objects.into_iter().enumerate() {
        if n % 2 == 0 {
            free(&mut heap, object, 1100);
        }
    }
    let before = heap.counters().visits;
    assert_eq!(heap.allocate(bytes(1110)), Err(Refused::NoChunk));
    assert!(heap.counters().visits - before <= 18);
}

#[test]
fn a_chunk_of_the_own_list_that_fits_is_found() {
    let mut region = Region([JUNK; 32768]);
    let mut heap = Heap::<TwoLevel>::new(&mut region.0).expect("large enough");
    let all = heap.largest_request();
    for request in all - 64..=all {
        let object = allocate(&mut heap, request);
        free(&mut heap, object, request);
    }
}

#[test]
fn the_checker_objects_to_a_wrong_tail() {
    let mut region = Region([JUNK; 8192]);
    let mut heap = Heap::<SingleList<First>>::new(&mut region.0).expect("large enough");
    fill_small(&mut heap);
    heap.index
        .set_tail(Chunk::at(heap.first.granule() + SMALLEST).next());
    assert_eq!(heap.check().expect_err("L3").invariant, "L3");
}

#[test]
fn worst_fit_takes_the_largest_and_the_first_of_several() {
    let mut region = Region([JUNK; 8192]);
    let mut heap = Heap::<SingleList<Worst>>::new(&mut region.0).expect("large enough");
    let [large, medium, small, other] = holes(&mut heap);
    let rest = heap.usage().free_chunk_bytes - payload_bytes(26 + 13 + 7 + 13) + 3 * 4;
    allocate(&mut heap, rest - 8);
    assert_eq!(allocate(&mut heap, 190), large);
    assert_eq!(allocate(&mut heap, 90), medium);
    assert_eq!(allocate(&mut heap, 90), other);
    assert_eq!(allocate(&mut heap, 40), small);
}

#[test]
fn next_fit_goes_on_where_the_last_search_ended() {
    let mut region = Region([JUNK; 8192]);
    let mut heap = Heap::<SingleList<Next>>::new(&mut region.0).expect("large enough");
    let [large, medium, small, other] = holes(&mut heap);
    // The list starts with the rest of the region, then come the holes.
    assert!(allocate(&mut heap, 8) > other);
    assert_eq!(allocate(&mut heap, 190), large);
    assert_eq!(allocate(&mut heap, 48), medium, "not from the head");
    assert_eq!(allocate(&mut heap, 100), other, "past what is too small");
    assert_eq!(heap.check(), Ok(()));
    let rest = heap.usage().free_chunk_bytes - payload_bytes(7) - payload_bytes(6);
    allocate(&mut heap, rest);
    assert_eq!(allocate(&mut heap, 48), small, "from the head again");
}

/// The rover is the `next` of a hole that was too small; then that hole is merged and leaves the
/// list.
#[test]
fn the_rover_is_repaired_when_its_chunk_leaves_the_list() {
    for merged in [2, 4] {
        let mut region = Region([JUNK; 8192]);
        let mut heap = Heap::<SingleList<Next>>::new(&mut region.0).expect("large enough");
        let sizes = [40, 40, 40, 40, 40, 100, 40];
        let objects = sizes.map(|size| allocate(&mut heap, size));
        let rest = heap.usage().free_chunk_bytes;
        allocate(&mut heap, rest);
        for hole in [1, 3, 5] {
            free(&mut heap, objects[hole], sizes[hole]);
        }
        assert_eq!(allocate(&mut heap, 100), objects[5], "past two holes");
        free(&mut heap, objects[merged], 40);
        assert_eq!(heap.check(), Ok(()), "object {merged}");
        assert_eq!(allocate(&mut heap, 88), objects[merged - 1]);
        assert_eq!(heap.check(), Ok(()));
    }
}

#[test]
fn the_checker_objects_to_every_wrong_rover() {
    let mut region = Region([JUNK; 8192]);
    let mut heap = Heap::<SingleList<Next>>::new(&mut region.0).expect("large enough");
    fill_small(&mut heap);
    let links = metadata(&heap).into_iter().filter(|slot| {
        let granule = slot.number() / 2;
        slot.number() % 2 == 0
            && heap
                .memory
                .free_chunk(granule)
                .is_some_and(|c| c.next() == *slot)
    });
    let links: Vec<_> = links.collect();
    for slot in metadata(&heap) {
        let sound = heap.index.set_rover(slot);
        let is_link = slot == Slot::new(NOBODYS_WORDS) || links.contains(&slot);
        if !is_link {
            assert_eq!(heap.check().expect_err("L4").invariant, "L4", "{slot:?}");
        }
        heap.index.set_rover(sound);
    }
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn half_fit_takes_what_surely_fits_and_refuses_what_only_might() {
    let mut region = Region([JUNK; 8192]);
    let mut heap = Heap::<PowersOfTwo>::new(&mut region.0).expect("large enough");
    // Chunks of 26, 13, 7 and 13 granules: in lists 4, 3, 2 and 3.
    let [large, medium, small, other] = holes(&mut heap);
    assert_eq!(
        allocate(&mut heap, 8 * 8 - 4),
        other,
        "the newest of list 3"
    );
    assert_eq!(allocate(&mut heap, 8 * 8 - 4), medium);
    assert_eq!(
        allocate(&mut heap, 4 * 8 - 4),
        rest_of(medium),
        "five granules are left"
    );
    assert_eq!(allocate(&mut heap, 4 * 8 - 4), rest_of(other));
    assert_eq!(allocate(&mut heap, 4 * 8 - 4), small);
    assert_eq!(allocate(&mut heap, 16 * 8 - 4), large);
    assert_eq!(heap.check(), Ok(()));
}

/// The rest of a chunk after eight granules.
fn rest_of(object: NonNull<u8>) -> NonNull<u8> {
    // SAFETY: the chunk is 13 granules long.
    unsafe { object.add(64) }
}

#[test]
fn half_fit_uses_memory_incompletely() {
    let mut region = Region([JUNK; 8192]);
    let mut heap = Heap::<PowersOfTwo>::new(&mut region.0).expect("large enough");
    let [object, _fence] = [30 * 8 - 4, 8].map(|size| allocate(&mut heap, size));
    while heap.allocate(bytes(8)).is_ok() {}
    free(&mut heap, object, 30 * 8 - 4);
    let refused = heap.allocate(bytes(30 * 8 - 4));
    assert_eq!(
        refused,
        Err(Refused::NoChunk),
        "although that chunk is free"
    );
    assert_eq!(allocate(&mut heap, 16 * 8 - 4), object);
    assert_eq!(
        heap.counters().visits,
        2,
        "no search, but a second look at the bits when refused"
    );
}

#[test]
fn the_checker_objects_to_every_wrong_summary() {
    let mut region = Region([JUNK; 8192]);
    let mut heap = Heap::<TwoLevel>::new(&mut region.0).expect("large enough");
    fill_small(&mut heap);
    for bit in 0..u32::BITS {
        heap.index.flip_summary(bit);
        assert_eq!(heap.check().expect_err("T2").invariant, "T2");
        heap.index.flip_summary(bit);
    }
    assert_eq!(heap.check(), Ok(()));
}

fn fill_small<I: Index>(heap: &mut Heap<'_, I>) {
    let objects: Vec<_> = (0..20).map(|n| (allocate(heap, 8 * n), 8 * n)).collect();
    for (object, size) in objects.into_iter().step_by(2) {
        free(heap, object, size);
    }
    heap.check().expect("a sound heap");
}

#[test]
fn a_heap_can_be_sent_to_another_thread() {
    fn sends<T: Send>(_: &T) {}
    let mut region = Region([JUNK; 8192]);
    sends(&Heap::<TwoLevel>::new(&mut region.0).expect("large enough"));
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "S1: the object is not live")]
fn freeing_twice_is_caught_in_debug_builds() {
    let mut region = Region([JUNK; 8192]);
    let mut heap = Heap::<TwoLevel>::new(&mut region.0).expect("large enough");
    let [object, _fence] = [40, 40].map(|size| allocate(&mut heap, size));
    free(&mut heap, object, 40);
    free(&mut heap, object, 40);
}
