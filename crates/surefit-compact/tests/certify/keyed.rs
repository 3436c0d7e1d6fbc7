//! Heaps of keys: entries whose generations are exhausted retire, and a certificate for a life
//! counts them.

use core::alloc::Layout;

use surefit_compact::certify::{Demand, DemandMeter, certify, certify_for_life};
use surefit_compact::{Bound, Config, Counted, Key, KeyHeap, Keyed, Medium, Narrow, Wide, Width};

use surefit_testkit::ExactMemory;

use crate::{exact, geometry};

type Heap<'m> = KeyHeap<'m, Wide, u8>;

const LIVE: usize = 40;

fn most() -> [u32; 4] {
    let class = Config::DEFAULT.geometry().class_for(16, 8).expect("fits");
    let mut most = [0; 4];
    most[class.index()] = LIVE as u32;
    most
}

/// Frees and inserts until the heap refuses or `frees` are done; returns how many were.
fn churn(heap: &mut Heap<'_>, frees: u64) -> u64 {
    let mut live: Vec<Key<[u64; 2]>> = (0..LIVE as u64)
        .map(|n| heap.insert([n; 2]).expect("certified"))
        .collect();
    for n in 0..frees {
        let slot = &mut live[(n * 7 % 40) as usize];
        heap.remove(*slot).expect("live");
        match heap.insert([n; 2]) {
            Ok(key) => *slot = key,
            Err(_) => return n,
        }
    }
    frees
}

#[test]
fn a_heap_certified_for_its_life_outlives_its_generations() {
    let config = Config::DEFAULT;
    let most = most();
    let demand = Demand::PerClass(&most);
    let certificate = |frees| certify_for_life::<Keyed<Wide, u8>>(&config, &demand, frees);
    for frees in [255, 5000, 60_000, 3_000_000] {
        let certificate = certificate(frees).expect("small");
        assert_eq!(certificate.entries, LIVE as u64 + frees / 255);
        let mut memory = ExactMemory::new();
        let region = exact(&mut memory, &config, certificate.aligned_bytes);
        let mut heap = Heap::new(region, &config).expect("large enough");
        assert_eq!(churn(&mut heap, frees), frees);
        assert!(u64::from(heap.stats().retired_keys) <= frees / 255);
        heap.check().expect("every invariant holds");
    }
}

#[test]
fn a_heap_not_certified_for_its_life_ends() {
    let config = Config::DEFAULT;
    let most = most();
    let certificate = certify::<Keyed<Wide, u8>>(&config, &Demand::PerClass(&most)).expect("small");
    let mut memory = ExactMemory::new();
    let region = exact(&mut memory, &config, certificate.aligned_bytes);
    let mut heap = Heap::new(region, &config).expect("large enough");
    let frees = churn(&mut heap, 10_000_000);
    assert!(frees < 10_000_000, "all generations are used up in the end");
    heap.check().expect("every invariant holds");
}

/// Resizes one object to the lengths in turn, in exactly the bytes of a heap certified for what a
/// meter counts, and for as many generations as there are resizes. Returns how often the entry
/// changed.
fn resize_in_turn<W: Width<Generation = ()>, G: Counted>(lens: &[usize], resizes: usize) -> usize {
    let config = Config::new(geometry(1024, W::WORD_BYTES), Bound::DEFAULT).expect("valid");
    let config = config.with_pieces(Some(64)).expect("valid");
    let turns = || lens.iter().copied().cycle().take(resizes + 1);
    let mut meter = DemandMeter::new::<Keyed<W, G>>(&config);
    meter.allocate(lens[0], 8).expect("fits");
    for (old, new) in turns().zip(turns().skip(1)) {
        meter.resize((old, 8), (new, 8)).expect("fits");
    }
    let (demand, frees) = (meter.per_class(), resizes as u64);
    let certificate = certify_for_life::<Keyed<W, G>>(&config, &demand, frees).expect("small");
    let mut memory = ExactMemory::new();
    let region = exact(&mut memory, &config, certificate.aligned_bytes);
    let mut heap = KeyHeap::<W, G>::new(region, &config).expect("large enough");
    let layout = |len| Layout::from_size_align(len, 8).expect("valid");
    let mut key = heap.alloc_zeroed(layout(lens[0])).expect("certified");
    heap.write_at(key, 0, b"kept").expect("live");
    let (mut entries, mut stale) = (0, Vec::new());
    for (turn, (old, new)) in turns().zip(turns().skip(1)).enumerate() {
        let before = heap.chunk(key, 0).expect("live").as_ptr();
        let moves = heap.stats().moves_total;
        let fresh = heap.resize(key, layout(new));
        let fresh =
            fresh.unwrap_or_else(|error| panic!("resize {turn} from {old} to {new}: {error}"));
        let first = heap.chunk(fresh, 0).expect("live");
        assert_eq!(&first[..4], b"kept");
        // Above a piece the first one stays, unless a freed one moves it, and so does an object
        // whose length does.
        if (old == new || old.min(new) > 64) && heap.stats().moves_total == moves {
            assert_eq!(first.as_ptr(), before, "resize {turn} from {old} to {new}");
        }
        entries += usize::from(fresh.to_parts().0 != key.to_parts().0);
        stale.push(key);
        key = fresh;
        if turn % 64 == 0 {
            heap.check().expect("every invariant holds");
            assert!(stale.iter().all(|&key| !heap.contains_bytes(key)));
        }
    }
    heap.check().expect("every invariant holds");
    assert!(stale.iter().all(|&key| !heap.contains_bytes(key)));
    heap.free_bytes(key).expect("live");
    heap.check().expect("every invariant holds");
    entries
}

#[test]
fn resizes_take_one_generation_of_their_object_and_no_bytes() {
    for (lens, resizes) in [
        // In its page-block; from one to another; between one and pieces.
        (&[50, 50][..], 1500),
        (&[20, 40], 1500),
        (&[40, 100, 60], 1500),
        // In pieces: in place, with fewer pieces, with many of them and a spine of their own.
        (&[300, 301], 1500),
        (&[300, 250, 200, 130], 1500),
        (&[5000, 100, 2000, 5000, 5001], 1500),
    ] {
        resize_in_turn::<Wide, u8>(lens, resizes);
        resize_in_turn::<Medium, u8>(lens, resizes);
        resize_in_turn::<Narrow, u8>(lens, resizes);
    }
    // An object that stays changes its entry once per 255 resizes, and in no other way.
    assert_eq!(resize_in_turn::<Wide, u8>(&[300, 301], 255 * 4), 4);
    assert_eq!(resize_in_turn::<Wide, u8>(&[50, 50], 255 * 4 - 1), 3);
    assert_eq!(resize_in_turn::<Narrow, u32>(&[300, 301], 2000), 0);
}

/// Every second resize frees a piece: its entry ends no generation.
#[test]
fn an_object_outlives_the_generations_of_two_bytes() {
    let config = Config::new(geometry(1024, 4), Bound::DEFAULT).expect("valid");
    let config = config.with_pieces(Some(64)).expect("valid");
    let mut meter = DemandMeter::new::<Keyed<Wide, u16>>(&config);
    meter.allocate(300, 8).expect("fits");
    meter.resize((300, 8), (330, 8)).expect("fits");
    meter.resize((330, 8), (300, 8)).expect("fits");
    let resizes = 65_535 + 100;
    let certificate =
        certify_for_life::<Keyed<Wide, u16>>(&config, &meter.per_class(), resizes).expect("small");
    let mut memory = ExactMemory::new();
    let region = exact(&mut memory, &config, certificate.aligned_bytes);
    let mut heap = KeyHeap::<Wide, u16>::new(region, &config).expect("large enough");
    let layout = |len| Layout::from_size_align(len, 8).expect("valid");
    let mut key = heap.alloc_zeroed(layout(300)).expect("certified");
    for turn in 0..resizes {
        let len = if turn % 2 == 0 { 330 } else { 300 };
        key = heap.resize(key, layout(len)).expect("certified");
    }
    assert_eq!(heap.stats().retired_keys, 1);
    heap.check().expect("every invariant holds");
}
