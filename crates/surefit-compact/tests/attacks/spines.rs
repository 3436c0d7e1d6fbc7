//! Attacks on the spines of objects in pieces: a callback that rewrites what is being walked,
//! numbers that lead nowhere.
//!
//! A spine has no mark. So `entries_of` is unsafe; it reads each number once, from page-blocks
//! verified just before. Whatever its callback writes into them, it is called only for live
//! entries.

use std::collections::BTreeSet;
use std::mem::MaybeUninit;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::{
    Bound, Config, EntryHeap, Geometry, GeometrySpec, Medium, Narrow, Spacing, Tail, Wide, Width,
};

/// The contents of a region before a heap is made in it. No number of an entry has this byte.
const JUNK: u8 = 0xA5;

fn config(word_bytes: usize, piece: usize) -> Config {
    let spec = GeometrySpec {
        page_bytes: 1024,
        granule: 8,
        smallest: 8,
        spacing: Spacing::Explicit(&[8, 16, 40, 80, 200, 320, 1024]),
        tail: Tail::BackReferences { bytes: word_bytes },
    };
    let config = Config::new(Geometry::new(&spec).expect("valid"), Bound::DEFAULT).expect("valid");
    config.with_pieces(Some(piece)).expect("valid")
}

/// The bytes of a live entry's page-block.
fn block<W: Width<Generation = ()>>(heap: &EntryHeap<'_, W>, entry: u32) -> (*mut u8, usize) {
    // SAFETY: S1: the callers' entries are live.
    let (first, class) = unsafe { heap.entry_block(entry) };
    let bytes = heap.config().geometry().layout(class).block_bytes;
    (first.as_ptr(), bytes as usize)
}

/// Walks an object whose page-blocks, spines and all, are overwritten with numbers from call `from`
/// on.
fn walk_while_writing<W: Width<Generation = ()>>(
    heap: &EntryHeap<'_, W>,
    (entry, len): (u32, usize),
    from: usize,
    random: &mut ChaCha8Rng,
) -> bool {
    let live: BTreeSet<u32> = heap.live_blocks().map(|block| block.index).collect();
    let mut told = Vec::new();
    let mut tell = |entry: u32| {
        assert!(live.contains(&entry), "only live entries are told");
        told.push(entry);
        assert!(told.len() <= 2 * len, "the walk ends");
        if told.len() >= from {
            // Numbers of live entries, close ones and any at all, in every page-block that was
            // told.
            let word = [told[0], told.len() as u32, u32::MAX, random.random()];
            for &written in &told {
                let (first, bytes) = block(heap, written);
                for at in (0..bytes).step_by(W::SPINE_WORD_BYTES) {
                    let number = word[random.random_range(0..4)].to_ne_bytes();
                    // SAFETY: inside a live page-block, into which nobody holds a reference.
                    unsafe { core::ptr::copy(number.as_ptr(), first.add(at), W::SPINE_WORD_BYTES) };
                }
            }
        }
        true
    };
    // SAFETY: S1: `allocate_entry` made all objects; S2: there is no reference into them.
    let whole = unsafe { heap.entries_of(entry, len, &mut tell) };
    heap.check().expect("sound");
    whole
}

fn spines_that_change<W: Width<Generation = ()>>(piece: usize) -> (u32, u32) {
    let config = config(W::WORD_BYTES, piece);
    let mut random = ChaCha8Rng::seed_from_u64(piece as u64);
    let (mut walks, mut stopped) = (0, 0);
    for len in [
        piece + 1,
        8 * piece,
        20 * piece + 3,
        33 * piece,
        150 * piece,
    ] {
        for from in [1, 2, 3, 4, 5, 9, 17, 30, usize::MAX] {
            let mut memory = vec![MaybeUninit::new(JUNK); 120_000];
            let heap: EntryHeap<'_, W> =
                EntryHeap::new(&mut memory, &config).expect("large enough");
            let others: Vec<u32> = (0..20)
                .map_while(|n| heap.allocate_entry(8 * n).ok())
                .collect();
            assert_eq!(others.len(), 20);
            let Ok(entry) = heap.allocate_entry(len) else {
                continue;
            };
            let whole = walk_while_writing(&heap, (entry, len), from, &mut random);
            assert!(whole || from != usize::MAX, "an object left alone is whole");
            walks += 1;
            stopped += u32::from(!whole);
        }
    }
    (walks, stopped)
}

#[test]
fn a_callback_that_rewrites_spines_is_told_live_entries_only() {
    let mut sums = (0, 0);
    let mut add = |(walks, stopped): (u32, u32)| sums = (sums.0 + walks, sums.1 + stopped);
    for piece in [64, 128, 256] {
        add(spines_that_change::<Wide>(piece));
        add(spines_that_change::<Medium>(piece));
        add(spines_that_change::<Narrow>(piece));
    }
    assert!(sums.0 > 200 && sums.1 > 100, "(walks, stopped) {sums:?}");
}

/// S1 requires that page-blocks are written: `allocate_entry` writes each to its end, including
/// spines and last pieces.
#[test]
fn no_byte_of_an_entrys_page_blocks_is_left_unwritten() {
    fn check<W: Width<Generation = ()>>(piece: usize) {
        let config = config(W::WORD_BYTES, piece);
        for len in [0, 1, 9, 63, 64, 65, 300, 1000, 1025, 3001, 20 * piece + 3] {
            let mut memory = vec![MaybeUninit::new(JUNK); 60_000];
            let heap: EntryHeap<'_, W> =
                EntryHeap::new(&mut memory, &config).expect("large enough");
            let Ok(entry) = heap.allocate_entry(len) else {
                assert!(len > 1024 || !heap.is_split(len));
                continue;
            };
            let mut told = BTreeSet::new();
            // SAFETY: S1: `allocate_entry` made the object; S2: there is no reference into it.
            assert!(unsafe { heap.entries_of(entry, len, &mut |entry| told.insert(entry)) });
            assert_eq!(told.len(), heap.live_blocks().count());
            for entry in told {
                let (first, bytes) = block(&heap, entry);
                // SAFETY: a live page-block, all of whose bytes lie in the region, which was
                // written before.
                let content = unsafe { core::slice::from_raw_parts(first, bytes) };
                assert!(!content.contains(&JUNK), "{len} bytes in pieces of {piece}");
            }
        }
    }
    for piece in [64, 128, 256, 512] {
        check::<Wide>(piece);
        check::<Medium>(piece);
        check::<Narrow>(piece);
    }
}

/// Numbers and lengths that fit no object are rejected, not followed.
#[test]
fn numbers_that_name_no_object_lead_nowhere() {
    let config = config(4, 64);
    let mut memory = vec![MaybeUninit::new(JUNK); 60_000];
    let heap: EntryHeap = EntryHeap::new(&mut memory, &config).expect("large enough");
    let entry = heap.allocate_entry(2000).expect("room");
    let lens = [
        0,
        1,
        64,
        65,
        1999,
        2000,
        2049,
        4096,
        1 << 20,
        usize::try_from(1_u64 << 40).unwrap_or(1 << 30),
        usize::MAX,
    ];
    for number in (0..100).chain([u32::MAX - 1, u32::MAX]) {
        for len in lens {
            let mut told = 0;
            // SAFETY: S1: `allocate_entry` made all objects; S2: there is no reference into them.
            let whole = unsafe {
                heap.entries_of(number, len, &mut |_| {
                    told += 1;
                    true
                })
            };
            assert!(told <= 64, "{number}, {len}");
            let is_object = number == entry && heap.config().geometry().class_for(len, 8).is_none();
            assert!(
                !is_object || !whole || (1985..=2048).contains(&len),
                "{number}, {len}"
            );
        }
    }
}
