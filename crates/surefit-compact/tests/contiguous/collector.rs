//! Sweeps, and moves that make room, beside contiguous objects.

use surefit_compact::{EntryHeap, Narrow, Wide, Width};
use surefit_core::Refused;
use surefit_testkit::Random;

use super::setup::{PAGE, bounds, config, junk, layout};

/// The words of a set of entries.
fn bits(entries: impl Iterator<Item = u32>) -> Vec<u64> {
    let mut bits = Vec::new();
    for entry in entries {
        let word = entry as usize / 64;
        bits.resize(bits.len().max(word + 1), 0);
        bits[word] |= 1 << (entry % 64);
    }
    bits
}

fn sweep<W: Width<Generation = ()>>(seed: u64, word_bytes: usize) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let config = config(bounds()[random.below(4)], word_bytes);
    let mut memory = junk(60 * (PAGE + 64) + 2048);
    let mut heap: EntryHeap<'_, W> = EntryHeap::new(&mut memory, &config).expect("large enough");
    for _ in 0..if cfg!(miri) { 3 } else { 40 } {
        let mut large = Vec::new();
        while large.len() < 3 + random.below(6) {
            let len = PAGE + 1 + random.below(7 * PAGE);
            match heap.alloc_contiguous_zeroed(layout(len, 1)) {
                Ok(object) => large.push(object),
                Err(_) => break,
            }
            for _ in 0..random.below(20) {
                let _ = heap.allocate_entry(random.below(PAGE));
            }
        }
        heap.check().expect("the invariants hold");
        let live: Vec<_> = heap.live_blocks().map(|block| block.index).collect();
        let kept: Vec<_> = live.iter().filter(|_| random.below(2) == 0).collect();
        // SAFETY: S1: the entries are live; S2: no object is in pieces; S3: all handles are
        // forgotten.
        let looked_at = unsafe { heap.retain(&bits(kept.iter().map(|&&entry| entry))) };
        assert_eq!(looked_at, live.len() as u64);
        heap.check().expect("the invariants hold");
        let mut after: Vec<_> = heap.live_blocks().map(|block| block.index).collect();
        after.sort_unstable();
        assert!(
            after.iter().eq(kept.iter().copied()),
            "kept entries live on"
        );
        let lens = [PAGE, 500, 100];
        let fits = heap.would_fit(&lens);
        assert_eq!(heap.make_room(&lens).is_ok(), fits);
        heap.check().expect("the invariants hold");
    }
    // SAFETY: S1, S2, S3: nothing is kept.
    let _ = unsafe { heap.retain(&[]) };
    heap.check().expect("the invariants hold");
    let stats = heap.stats();
    assert_eq!(
        (stats.live_blocks, stats.pages, stats.freed_pages),
        (0, 0, 0)
    );
}

const SEEDS: u64 = if cfg!(miri) { 1 } else { 60 };

#[test]
fn a_sweep_frees_windows_that_are_not_kept_wide() {
    (0..SEEDS).for_each(|seed| sweep::<Wide>(seed, 4));
}

#[test]
fn a_sweep_frees_windows_that_are_not_kept_narrow() {
    (0..SEEDS).for_each(|seed| sweep::<Narrow>(seed, 2));
}

#[test]
fn windows_keep_pages_from_the_address_table() {
    let config = config(bounds()[0], 4);
    let mut memory = junk(18 * (PAGE + 64));
    let mut heap: EntryHeap<'_> = EntryHeap::new(&mut memory, &config).expect("large enough");
    let pages = heap.stats().fresh_pages as usize;
    let object = heap
        .alloc_contiguous_zeroed(layout(16 * PAGE, 1))
        .expect("served");
    // What is left serves page-blocks, until no entry can be made.
    let mut taken = 0;
    while heap.allocate_entry(16).is_ok() {
        taken += 1;
    }
    assert!(taken > 0);
    let lens = vec![16; 60 * (pages - 16)];
    assert!(!heap.would_fit(&lens));
    let refused = heap.make_room(&lens);
    assert!(matches!(refused, Err(Refused::NoHandle | Refused::NoPage)));
    heap.check().expect("the invariants hold");
    heap.free_contiguous(object);
    assert!(heap.would_fit(&lens));
    assert_eq!(heap.make_room(&lens), Ok(()));
    heap.check().expect("the invariants hold");
}
