//! Random calls against the model: contents, invariants, refusals and the most bytes of a call.

use surefit_compact::{Medium, Narrow, Stats, Wide, Width};
use surefit_core::Refused;
use surefit_testkit::Random;

use super::setup::{Checked, PAGE, bounds, config, junk};

/// Pages of the slot of an object of so many pages.
fn slot(pages: usize) -> usize {
    pages.next_power_of_two()
}

/// Sizes of slots below `slot` that objects of the heap use.
fn smaller_slots<W: Width>(checked: &Checked<'_, W>, slot_pages: usize) -> usize {
    let large = checked.large.iter().map(|(object, _)| object.len());
    let slots = large
        .filter(|&len| len > PAGE)
        .map(|len| slot(len.div_ceil(PAGE)));
    let mut slots: Vec<_> = slots.filter(|&slot| slot < slot_pages).collect();
    slots.sort_unstable();
    slots.dedup();
    slots.len()
}

/// A random call; `len` is the length of what it allocates. Returns the most pages that it may
/// move.
fn call<W: Width>(checked: &mut Checked<'_, W>, random: &mut Random, len: usize) -> usize {
    let slots =
        |checked: &Checked<'_, W>, pages| 2 * smaller_slots(checked, slot(pages)) * slot(pages);
    match random.below(10) {
        0..=2 => {
            alloc_large(checked, len, 1 << random.below(11));
            let pages = len.div_ceil(PAGE);
            if pages < 2 {
                0
            } else {
                pages + slots(checked, pages)
            }
        }
        3 | 4 if !checked.large.is_empty() => {
            let at = random.below(checked.large.len());
            let pages = checked.large[at].0.len().div_ceil(PAGE);
            let most = 2 * slot(pages) + slots(checked, pages);
            checked.free_large(at);
            most
        }
        5 if !checked.large.is_empty() => {
            let at = random.below(checked.large.len());
            let _ = checked.resize_large(at, len);
            usize::MAX / PAGE
        }
        6..=8 => {
            let _ = checked.alloc_small(1 + len % PAGE);
            0
        }
        _ => {
            let frees = random.below(4).min(checked.small.len());
            for _ in 0..frees {
                checked.free_small(random.below(checked.small.len()));
            }
            2 * frees
        }
    }
}

/// What a caller sees of the counters: before a heap refuses, it gives back what is parked, and so
/// pages that nobody uses.
fn visible(stats: Stats) -> Stats {
    Stats {
        pages: stats.pages + stats.freed_pages,
        freed_pages: 0,
        not_full_pages: 0,
        holes: 0,
        ..stats
    }
}

/// Allocates an object. If it is refused, asserts that the heap is unchanged, and had no room.
fn alloc_large<W: Width>(checked: &mut Checked<'_, W>, len: usize, align: usize) {
    let is_strict = len % 2 == 0;
    if is_strict {
        checked.heap.compact(0); // gives back what is parked
    }
    let (before, shape) = (checked.heap.stats(), checked.shape());
    let Err(refused) = checked.alloc_large(len, align) else {
        return;
    };
    let after = checked.heap.stats();
    assert_eq!(visible(after), visible(before), "a refusal changes nothing");
    if is_strict {
        assert_eq!(
            (after, checked.shape()),
            (before, shape),
            "a refusal changes nothing"
        );
    }
    let (pages, free) = (len.div_ceil(PAGE), checked.free_pages());
    if pages < 2 {
        return;
    }
    let large = checked.large.iter().map(|(object, _)| object.len());
    let slots = large.filter(|&len| len > PAGE);
    let end: usize = slots.map(|len| slot(len.div_ceil(PAGE))).sum();
    let total = before.pages as usize + free;
    // An entry may need a page.
    let has_room = pages < free && end + slot(pages) < total;
    let no_entry = refused == Refused::NoHandle && before.fresh_pages == 0;
    assert!(
        !has_room || no_entry,
        "{pages} pages of {free}, {end} of {total}: {refused}"
    );
}

fn run<W: Width>(seed: u64, calls: usize, word_bytes: usize) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let config = config(bounds()[random.below(4)], word_bytes);
    let pages = 6 + random.below(40);
    let mut memory = junk(pages * (PAGE + 64) + 2048);
    let mut checked: Checked<'_, W> = Checked::new(&mut memory, &config);
    let most = 1 + random.below(10 * PAGE);
    for _ in 0..calls {
        let before = checked.heap.stats().moved_bytes_total;
        let len = 1 + random.below(most);
        let limit = call(&mut checked, &mut random, len);
        let moved = checked.heap.stats().moved_bytes_total - before;
        assert!(
            moved <= (limit * PAGE) as u64,
            "{moved} bytes are more than {limit} pages"
        );
        checked.check();
    }
    while !checked.large.is_empty() {
        checked.free_large(random.below(checked.large.len()));
    }
    while !checked.small.is_empty() {
        checked.free_small(random.below(checked.small.len()));
    }
    checked.check();
    assert_eq!(checked.heap.stats().pages, 0);
}

const SEEDS: u64 = if cfg!(miri) { 1 } else { 40 };
const CALLS: usize = if cfg!(miri) { 60 } else { 1000 };

#[test]
fn objects_keep_their_bytes_wide() {
    (0..SEEDS).for_each(|seed| run::<Wide>(seed, CALLS, 4));
}

#[test]
fn objects_keep_their_bytes_medium() {
    (0..SEEDS).for_each(|seed| run::<Medium>(seed, CALLS, 3));
}

#[test]
fn objects_keep_their_bytes_narrow() {
    (0..SEEDS).for_each(|seed| run::<Narrow>(seed, CALLS, 2));
}
