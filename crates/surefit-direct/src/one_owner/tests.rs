//! Tests of the checker: every field is corrupted once, and `check()` must object.

extern crate alloc;

mod flips;

use alloc::vec;
use alloc::vec::Vec;
use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_core::RawHeap;

use super::demand::DirectDemand;
use super::heap::{DirectHeap, PooledHeap};
use super::memory::{Block, FULL, Page, PageRecord, Unit};
use super::partition::{Class, Standard, Tiny};
use super::pools::tail_of;
use super::tags::{self, FREE, LEN, USED};

/// Two full pages and two not-full ones of 64-byte page-blocks, a page of 1024-byte page-blocks,
/// large objects, and holes between them.
struct Example<'m> {
    heap: DirectHeap<'m>,
    /// The newest not-full page of the class, the one behind it, and a full one.
    pages: [Page; 3],
    class: Class,
    large: Unit,
    free: Unit,
}

fn region() -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::new(0xA5); 256 << 10]
}

fn allocate(heap: &mut DirectHeap<'_>, bytes: usize) -> NonNull<u8> {
    let layout = Layout::from_size_align(bytes, 8).expect("a layout");
    heap.allocate(layout).expect("room")
}

#[expect(unsafe_code, reason = "RawHeap::free")]
fn free(heap: &mut DirectHeap<'_>, object: NonNull<u8>) {
    // SAFETY: S1: the tests free what they allocated; S2: the heap does not read the layout.
    unsafe { heap.free(object, Layout::new::<u8>()) };
}

#[expect(unsafe_code, reason = "the block of an address")]
fn block(heap: &DirectHeap<'_>, object: NonNull<u8>) -> Block {
    // SAFETY: S1: the tests ask for objects of the heap.
    unsafe { heap.memory.block_at(object) }
}

fn example(memory: &mut [MaybeUninit<u8>]) -> Example<'_> {
    let mut heap = DirectHeap::new(memory).expect("a heap");
    let small: Vec<_> = (0..4 * 128).map(|_| allocate(&mut heap, 64)).collect();
    let _page = allocate(&mut heap, 1024);
    let large: Vec<_> = (0..6).map(|_| allocate(&mut heap, 5000)).collect();
    for object in [1, 128, 3, 132, 136, 5].map(|place| small[place]) {
        free(&mut heap, object);
    }
    free(&mut heap, large[1]);
    free(&mut heap, large[3]);
    heap.check().expect("sound");
    let page = |place: usize| block(&heap, small[place]).page;
    let unit = |place: usize| {
        let unit = heap.memory.unit_at(block(&heap, large[place]));
        unit.expect("a run begins at a unit")
    };
    Example {
        pages: [page(128), page(0), page(256)],
        class: heap.memory.record(page(0)).class,
        large: unit(2),
        free: unit(1),
        heap,
    }
}

/// The class above another one.
fn next(class: Class) -> Class {
    Class::corrupt(class.index() as u8 + 1)
}

/// Corrupts an example, and expects that one of these invariants is reported.
fn corrupted(invariants: &[&str], corrupt: impl FnOnce(&mut Example<'_>)) {
    let mut memory = region();
    let mut example = example(&mut memory);
    corrupt(&mut example);
    let corruption = example.heap.check().expect_err("a corruption");
    assert!(
        invariants.contains(&corruption.invariant),
        "{corruption}, not {invariants:?}"
    );
}

fn record<'e>(example: &'e mut Example<'_>, place: usize) -> &'e mut PageRecord {
    let page = example.pages[place];
    example.heap.memory.record_mut(page)
}

#[test]
fn every_field_of_a_record_is_checked() {
    corrupted(&["P2"], |e| record(e, 0).free += 64);
    corrupted(&["P2"], |e| record(e, 0).free += 8);
    corrupted(&["P2"], |e| record(e, 0).free = FULL);
    corrupted(&["P2"], |e| record(e, 0).frontier = 64);
    corrupted(&["P2"], |e| record(e, 0).used += 1);
    corrupted(&["P2"], |e| record(e, 0).used -= 1);
    corrupted(&["P1"], |e| record(e, 0).used = 0);
    corrupted(&["P1"], |e| record(e, 0).used = 129);
    corrupted(&["P1"], |e| record(e, 0).class = Class::corrupt(127));
    corrupted(&["P1"], |e| record(e, 0).class = Class::NONE);
    corrupted(&["P1", "P2"], |e| record(e, 0).class = next(e.class));
    corrupted(&["P3"], |e| record(e, 0).next = Page::NONE);
    corrupted(&["P3"], |e| record(e, 0).next = e.pages[2]);
    corrupted(&["P3"], |e| record(e, 1).next = e.pages[0]);
    corrupted(&["P3"], |e| record(e, 1).previous = Page::NONE);
    corrupted(&["P2"], |e| record(e, 2).used -= 1);
    corrupted(&["P2"], |e| record(e, 2).free = 0);
}

#[test]
fn every_page_without_page_blocks_is_checked() {
    let without = |e: &Example<'_>| {
        let mut pages = e.heap.memory.pages().skip(1);
        pages.find(|page| !e.heap.memory.record(*page).holds_blocks())
    };
    corrupted(&["P1"], |e| {
        let page = without(e).expect("a page");
        e.heap.memory.record_mut(page).used = 2;
    });
    corrupted(&["P1"], |e| {
        let (page, other) = (without(e).expect("a page"), e.pages[2]);
        *e.heap.memory.record_mut(page) = *e.heap.memory.record(other);
    });
    corrupted(&["P4"], |e| e.heap.memory.record_mut(Page::NONE).free = 0);
    corrupted(&["P4"], |e| {
        e.heap.memory.record_mut(Page::NONE).class = Class::corrupt(0)
    });
}

#[test]
fn every_list_of_not_full_pages_is_checked() {
    corrupted(&["P3"], |e| e.heap.memory.set_head(e.class, Page::NONE));
    corrupted(&["P3"], |e| e.heap.memory.set_head(e.class, e.pages[1]));
    corrupted(&["P3"], |e| {
        e.heap.memory.set_head(next(e.class), e.pages[0])
    });
}

#[test]
fn every_free_list_is_checked() {
    for link in [0, 64, 8192 - 64, FULL, 33] {
        corrupted(&["P2"], |e| {
            let page = e.pages[0];
            let offset = e.heap.memory.record(page).free;
            let object = e.heap.memory.address(Block { page, offset });
            e.heap.memory.set_link(object, link);
        });
    }
}

#[test]
fn a_double_free_is_found() {
    let mut memory = region();
    let mut heap = DirectHeap::new(&mut memory).expect("a heap");
    let [a, b, _c] = [40, 40, 40].map(|bytes| allocate(&mut heap, bytes));
    free(&mut heap, a);
    free(&mut heap, b);
    // A second free of `a`, as a release build lets it pass.
    let at = block(&heap, a);
    let record = heap.memory.record_mut(at.page);
    let link = record.free;
    record.free = at.offset;
    heap.memory.set_link(a, link);
    assert_eq!(heap.check().expect_err("found").invariant, "P2");
}

#[test]
fn the_tag_before_the_first_unit_is_checked() {
    for tag in [FREE | 1, FREE | 4, FREE, USED | 1, 1] {
        corrupted(&["R1"], |e| {
            let before = e.heap.memory.back(e.heap.memory.first_unit(), 1);
            e.heap.memory.set_tag(before, tag);
        });
    }
}

#[test]
fn every_tag_is_checked() {
    corrupted(&["R1", "R2"], |e| e.heap.memory.set_tag(e.large, 0));
    corrupted(&["R1", "R2"], |e| {
        let tag = e.heap.memory.tag(e.large);
        e.heap.memory.set_tag(e.large, tag + 1);
    });
    corrupted(&["R2"], |e| {
        let last = e
            .heap
            .memory
            .after(e.large, tags::used_units(&e.heap.memory, e.large) - 1);
        e.heap.memory.set_tag(last, 1024);
    });
    corrupted(&["R2"], |e| {
        let last = e.heap.memory.back(e.large, 1);
        e.heap.memory.set_tag(last, 0);
    });
    corrupted(&["R1"], |e| {
        let first = e.heap.memory.first_unit();
        let guard = e
            .heap
            .memory
            .after(first, e.heap.memory.units() - first.number());
        e.heap.memory.set_tag(guard, 0);
    });
    corrupted(&["R3"], |e| {
        let (free, units) = (e.free, tags::used_units(&e.heap.memory, e.large));
        let next = e.heap.memory.after(free, units - 2);
        tags::set_free(&mut e.heap.memory, free, units - 2);
        tags::set_free(&mut e.heap.memory, next, 2);
    });
}

#[test]
fn every_list_of_runs_is_checked() {
    corrupted(&["R4"], |e| {
        let [next, _] = e.heap.memory.run_links(e.free);
        e.heap.memory.set_run_links(e.free, [next, e.free]);
    });
    corrupted(&["R4"], |e| {
        let [_, previous] = e.heap.memory.run_links(e.free);
        e.heap.memory.set_run_links(e.free, [e.free, previous]);
    });
    corrupted(&["R4"], |e| {
        let [_, previous] = e.heap.memory.run_links(e.free);
        e.heap.memory.set_run_links(e.free, [e.large, previous]);
    });
    for (what, invariant) in ["R5", "R5", "R5", "R4"].iter().enumerate() {
        corrupted(&[invariant], |e| {
            e.heap.space.corrupt(&mut e.heap.memory, what, e.large)
        });
    }
}

/// A heap with pools: two pages of 24-byte page-blocks, a free page, runs of 3 and 8 units, of both
/// one that is free, and budgets left.
struct Pooled<'m> {
    heap: PooledHeap<'m, Tiny>,
    /// A page of page-blocks, and the free one.
    pages: [Unit; 2],
    /// Of three units, used and free; of eight units, used and free.
    runs: [Unit; 4],
}

fn pooled(memory: &mut [MaybeUninit<u8>]) -> Pooled<'_> {
    let demand = [
        DirectDemand::new(24, 50),
        DirectDemand::new(128, 10),
        DirectDemand::new(190, 3),
        DirectDemand::new(500, 3),
    ];
    let mut heap = PooledHeap::<Tiny>::certified(memory, &demand).expect("enough");
    let mut take = |bytes: usize| {
        let layout = Layout::from_size_align(bytes, 8).expect("a layout");
        heap.allocate(layout).expect("room")
    };
    let small: Vec<_> = (0..30).map(|_| take(24)).collect();
    let emptied = take(128);
    let runs = [190, 190, 500, 500].map(take);
    for object in [emptied, runs[1], runs[3]] {
        free_pooled(&mut heap, object);
    }
    heap.check().expect("sound");
    let unit = |object| {
        let unit = heap.memory.unit_at(block_of(&heap, object));
        unit.expect("a run begins at a unit")
    };
    let page = |object| heap.memory.first_unit_of(block_of(&heap, object).page);
    Pooled {
        pages: [page(small[0]), page(emptied)],
        runs: runs.map(unit),
        heap,
    }
}

#[expect(unsafe_code, reason = "the block of an address")]
fn block_of(heap: &PooledHeap<'_, Tiny>, object: NonNull<u8>) -> Block {
    // SAFETY: S1: the tests ask for objects of the heap.
    unsafe { heap.memory.block_at(object) }
}

#[expect(unsafe_code, reason = "RawHeap::free")]
fn free_pooled(heap: &mut PooledHeap<'_, Tiny>, object: NonNull<u8>) {
    // SAFETY: S1: the tests free what they allocated; S2: the heap does not read the layout.
    unsafe { heap.free(object, Layout::new::<u8>()) };
}

/// Corrupts a heap with pools, and expects that this invariant is reported.
fn corrupted_pools(invariant: &str, corrupt: impl FnOnce(&mut Pooled<'_>)) {
    let mut memory = region();
    let mut pooled = pooled(&mut memory);
    corrupt(&mut pooled);
    let corruption = pooled.heap.check().expect_err("a corruption");
    assert_eq!(corruption.invariant, invariant, "{corruption}");
}

#[test]
fn every_count_of_pools_is_checked() {
    // Budgets of classes, then the lengths and the budgets of two pools.
    let mut memory = region();
    let (counts, lists) = {
        let heap = pooled(&mut memory).heap;
        (heap.memory.counts(), heap.memory.lists())
    };
    assert_eq!(lists, 2);
    let changed = |count: usize, by: u32, invariant: &str| {
        corrupted_pools(invariant, |e| {
            let value = e.heap.memory.count(count);
            e.heap.memory.set_count(count, value + by);
        });
    };
    (0..counts - 4).for_each(|count| changed(count, 1, "Q1"));
    (counts - 4..counts).for_each(|count| changed(count, 1, "Q2"));
    changed(counts - 4, 5, "Q3");
}

#[test]
fn every_list_of_pools_is_checked() {
    for list in 0..2 {
        corrupted_pools("Q2", |e| e.heap.memory.set_list(list, Unit::NONE));
    }
    corrupted_pools("Q2", |e| e.heap.memory.set_list(0, e.runs[0]));
    corrupted_pools("Q2", |e| e.heap.memory.set_list(0, e.runs[3]));
    corrupted_pools("Q2", |e| e.heap.memory.set_list(1, e.pages[1]));
    corrupted_pools("Q2", |e| {
        e.heap
            .memory
            .set_run_links(e.runs[1], [e.runs[1], Unit::NONE]);
    });
    corrupted_pools("Q2", |e| e.heap.memory.set_tag(e.runs[2], 0));
    corrupted_pools("Q2", |e| tags::set_used(&mut e.heap.memory, e.runs[1], 3));
    corrupted_pools("Q2", |e| tags::set_used(&mut e.heap.memory, e.runs[2], 3));
    for (run, tags) in [(0, [3 * 64, USED, FREE | 3]), (1, [0, 3, USED | 3])] {
        for tag in tags {
            corrupted_pools("Q2", |e| {
                let last = e.heap.memory.after(e.runs[run], 2);
                e.heap.memory.set_tag(last, tag);
            });
        }
    }
}

#[test]
fn a_tail_of_a_gibibyte_is_no_flag_of_a_tag() {
    let gibibyte = 1 << 20; // units of a standard heap
    for (length, units, tail) in [
        (gibibyte, 1, 0),
        (gibibyte + 1, 1, 0),
        (gibibyte + 1, 1, 1023),
        (u32::MAX >> 2, 1, 1023),
    ] {
        let cut = tail_of::<Standard>(length, units, tail);
        let exact = u64::from(length - units) * 1024 + u64::from(tail);
        assert_eq!(u64::from(cut), exact.min(LEN.into()));
    }
}

#[test]
fn every_page_of_pools_is_checked() {
    corrupted_pools("Q1", |e| {
        e.heap
            .memory
            .set_run_links(e.pages[1], [e.pages[1], Unit::NONE]);
    });
    corrupted_pools("Q1", |e| {
        e.heap
            .memory
            .set_run_links(e.pages[1], [e.pages[0], Unit::NONE]);
    });
    corrupted_pools("Q1", |e| {
        let page = e.heap.memory.page_at(e.pages[0]).expect("a page");
        *e.heap.memory.record_mut(page) = PageRecord::NOT_BLOCKS;
    });
    corrupted_pools("Q1", |e| {
        // A page that was never carved.
        let page = e.heap.memory.page_from(e.heap.memory.after(e.pages[1], 8));
        let other = e.heap.memory.page_at(e.pages[0]).expect("a page");
        *e.heap.memory.record_mut(page) = *e.heap.memory.record(other);
    });
}
