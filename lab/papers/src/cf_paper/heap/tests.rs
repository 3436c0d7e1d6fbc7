//! The heap against a model: random calls, every byte of every object, and the account.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use super::super::classes::{Classes, FROM_16, FROM_32, PAGE_BYTES};
use super::Published;

/// A small generator of numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    /// Mostly small, some near the limits of classes, some of several pages.
    fn bytes(&mut self) -> usize {
        match self.below(40) {
            0 => 7_990 + self.below(20),
            1 => 16_190 + self.below(210),
            2 => self.below(60_000),
            3..10 => self.below(4_000),
            _ => self.below(130),
        }
    }
}

/// A live object: its address, its length, and the byte that all its bytes have.
type Live = (NonNull<u8>, usize, u8);

fn fill((object, bytes, byte): Live) {
    // SAFETY: the object is live and has as many bytes.
    unsafe { object.write_bytes(byte, bytes) };
}

fn assert_filled((object, bytes, byte): Live, length: usize) {
    // SAFETY: the object is live, and these bytes were written.
    let held = unsafe { std::slice::from_raw_parts(object.as_ptr(), length.min(bytes)) };
    assert!(held.iter().all(|held| *held == byte), "{bytes}");
}

fn region(pages: usize) -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::uninit(); pages * (PAGE_BYTES + 8) + 8]
}

fn random_calls(classes: &'static Classes, seed: u64) {
    let mut region = region(40);
    let bytes = region.len();
    let mut heap = Published::new(&mut region, classes).expect("forty pages");
    let (mut random, mut live, mut refused) = (Random(seed), Vec::<Live>::new(), 0);
    for call in 0..20_000 {
        let byte = call as u8;
        // the heap fills for a while, and then empties
        let frees = 1 + 2 * (call / 1000 % 2);
        match (random.below(5), live.len()) {
            (0, 1..) => {
                let at = random.below(live.len());
                let (object, old, held) = live[at];
                let new = random.bytes();
                // SAFETY: the object is live and has `old` bytes.
                match unsafe { heap.resize(object, old, new) } {
                    Ok(moved) => {
                        assert_filled((moved, new, held), old);
                        live[at] = (moved, new, byte);
                        fill(live[at]);
                    }
                    Err(_) => assert_filled(live[at], old),
                }
            }
            (dice, 1..) if (1..=frees).contains(&dice) => {
                let (object, bytes, held) = live.swap_remove(random.below(live.len()));
                assert_filled((object, bytes, held), bytes);
                // SAFETY: the object is live and has `bytes` bytes.
                unsafe { heap.free(object, bytes) };
            }
            _ => {
                let bytes = random.bytes();
                match heap.allocate(bytes) {
                    Ok(object) => {
                        assert_eq!(object.addr().get() % 4, 0);
                        live.push((object, bytes, byte));
                        fill((object, bytes, byte));
                    }
                    Err(_) => refused += 1,
                }
            }
        }
        if call % 64 == 0 {
            heap.check().expect("sound");
            let usage = heap.usage();
            assert_eq!(usage.total(), bytes);
            let requested: usize = live.iter().map(|(_, bytes, _)| bytes).sum();
            assert!(usage.block_bytes >= requested);
        }
    }
    assert!(refused > 0, "the region is too small for all of them");
    for (object, bytes, held) in live {
        assert_filled((object, bytes, held), bytes);
        // SAFETY: the object is live and has `bytes` bytes.
        unsafe { heap.free(object, bytes) };
    }
    heap.check().expect("sound");
    assert_eq!(heap.usage().free_page_bytes, 40 * PAGE_BYTES);
}

#[test]
fn random_calls_lose_no_byte_and_no_page() {
    for seed in 1..5 {
        random_calls(&FROM_16, seed);
        random_calls(&FROM_32, seed);
    }
}

#[test]
fn a_page_is_lost_in_the_parts_that_the_papers_name() {
    let mut region = region(2);
    let mut heap = Published::new(&mut region, &FROM_16).expect("two pages");
    heap.allocate(5300).expect("room");
    let usage = heap.usage();
    assert_eq!(usage.block_bytes, 5920);
    assert_eq!(usage.size_class_bytes, 5920);
    assert_eq!(usage.page_internal_bytes, 16_200 - 2 * 5920);
    assert_eq!(usage.free_page_bytes, PAGE_BYTES);
    heap.allocate(16_300).expect("a page without a header");
    let usage = heap.usage();
    assert_eq!((usage.large_tail_bytes, usage.free_page_bytes), (84, 0));
}

#[test]
fn the_oldest_not_full_page_serves_and_the_last_free_page_is_reused() {
    let mut region = region(4);
    let mut heap = Published::new(&mut region, &FROM_16).expect("four pages");
    // two page-blocks per page
    let all: Vec<_> = (0..6).map(|_| heap.allocate(8000).expect("room")).collect();
    for freed in [2, 0] {
        // SAFETY: live, of 8000 bytes.
        unsafe { heap.free(all[freed], 8000) };
    }
    assert_eq!(
        heap.allocate(8000),
        Ok(all[2]),
        "its page is not full longer"
    );
    // SAFETY: live, of 8000 bytes; the page is empty then.
    unsafe { heap.free(all[1], 8000) };
    assert_eq!(heap.allocate(16_000), Ok(all[0]));
}

#[test]
fn the_check_finds_what_is_wrong() {
    let mut memory = region(4);
    let broken = |heap: &Published<'_>| heap.check().expect_err("broken").invariant;
    let mut heap = Published::new(&mut memory, &FROM_16).expect("four pages");
    let object = heap.allocate(100).expect("room");
    // SAFETY: the object is live.
    let (page, _) = unsafe { heap.memory.block_at(object) };
    heap.memory.header_mut(page).used += 1;
    assert_eq!(broken(&heap), "Q1");
    heap.memory.header_mut(page).used -= 1;
    heap.memory.header_mut(page).class = 63;
    assert_eq!(broken(&heap), "Q1");
    heap.memory.header_mut(page).class = FROM_16.of(100).expect("a class");
    heap.check().expect("mended");
    heap.not_full.swap(0, 13);
    assert_eq!(broken(&heap), "Q2");
    heap.not_full.swap(0, 13);
    heap.free.newest = Some(page);
    assert_eq!(broken(&heap), "Q2");
    heap.free.newest = None;
    heap.allocate(40_000).expect("three pages");
    let run = super::Run { pages: 2, tail: 0 };
    heap.memory.set_tail(1, run);
    assert_eq!(broken(&heap), "Q3");
}

#[test]
fn a_region_without_a_page_is_refused() {
    let mut memory = vec![MaybeUninit::uninit(); 16_391];
    assert!(Published::new(&mut memory, &FROM_16).is_err());
}
