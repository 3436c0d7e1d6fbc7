//! Attacks on R1: a stale, foreign or forged name never reads, writes or frees another object.
//!
//! Foreign handles are tried on every method, stale keys for as long as there are any, and keys
//! until all their generations are used up. `ui` has what does not even
//! compile (run by `-p surefit-misuse`).

#[path = "attacks/drops.rs"]
mod drops;
#[path = "attacks/kept.rs"]
mod kept;
#[path = "attacks/numbers.rs"]
mod numbers;
#[path = "attacks/outside.rs"]
mod outside;
#[path = "attacks/spines.rs"]
mod spines;

use core::alloc::Layout;
use core::mem::MaybeUninit;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use surefit_compact::{
    Bound, Bytes, Config, Counted, EntryHeap, Geometry, GeometrySpec, Handle, Heap, Key, KeyHeap,
    Keyed, Medium, Narrow, Spacing, Tail, Wide, Width, layout,
};
use surefit_core::Refused;
use surefit_testkit::{JunkRegion, Op, Shape, script};

static CONFIG: Config = Config::DEFAULT;

fn region(bytes: usize) -> JunkRegion {
    JunkRegion::new(bytes, 16384, 9)
}

// ---- foreign handles ---------------------------------------------------------------------------

/// Two heaps that hold the same objects under the same numbers, and one heap's handles that the
/// other gets.
struct Foreign<'m> {
    heap: Heap<'m>,
    value: Handle<u64>,
    bytes: Bytes<u8>,
    pieces: Bytes<u8>,
}

impl<'m> Foreign<'m> {
    fn new(memory: &'m mut [MaybeUninit<u8>], content: u8) -> Self {
        let heap = Heap::new(memory, &CONFIG).expect("large enough");
        let value = heap.insert(u64::from(content)).expect("room");
        let bytes_of = |len| {
            let layout = Layout::from_size_align(len, 8).expect("valid");
            let mut bytes = heap.alloc_zeroed(layout).expect("room");
            heap.write_at(&mut bytes, 0, &vec![content; len]);
            bytes
        };
        let (bytes, pieces) = (bytes_of(40), bytes_of(10_000));
        Self {
            heap,
            value,
            bytes,
            pieces,
        }
    }

    fn assert_intact(&self, content: u8) {
        self.heap.check().expect("sound");
        assert_eq!(*self.heap.get(&self.value), u64::from(content));
        for bytes in [&self.bytes, &self.pieces] {
            assert!(
                self.heap
                    .chunks(bytes)
                    .flatten()
                    .all(|&byte| byte == content)
            );
        }
    }
}

/// Runs a call that must panic because a handle belongs to another heap.
fn assert_foreign<R>(attack: impl FnOnce() -> R) {
    let panic =
        catch_unwind(AssertUnwindSafe(|| drop(attack()))).expect_err("the attack is noticed");
    let message = panic.downcast_ref::<&str>().copied().unwrap_or_default();
    assert_eq!(message, "the handle belongs to another heap");
}

#[test]
fn foreign_handles_are_refused_by_every_method() {
    let (mut one, mut two) = (region(1 << 20), region(1 << 20));
    let mut ours = Foreign::new(one.memory(), 1);
    let mut theirs = Foreign::new(two.memory(), 2);
    assert_eq!(
        ours.heap.try_get(&theirs.value),
        Err(Refused::ForeignHandle)
    );
    assert_eq!(
        ours.heap.try_get_mut(&mut theirs.value),
        Err(Refused::ForeignHandle)
    );
    assert_foreign(|| *ours.heap.get(&theirs.value));
    assert_foreign(|| *ours.heap.get_mut(&mut theirs.value) = 3);
    for bytes in [&mut theirs.bytes, &mut theirs.pieces] {
        let len = bytes.len();
        assert!(!ours.heap.owns(bytes) && theirs.heap.owns(bytes));
        assert!(!ours.heap.is_whole(bytes, 1) && theirs.heap.is_whole(bytes, 1));
        assert_eq!(ours.heap.division(), ours.heap.config().division());
        assert_foreign(|| ours.heap.chunk(bytes, 0).len());
        assert_foreign(|| ours.heap.chunk(bytes, len).len());
        assert_foreign(|| ours.heap.chunk_start(bytes, 0).1);
        assert_foreign(|| ours.heap.block_start(bytes).is_some());
        assert_foreign(|| ours.heap.chunk_mut(bytes, 0).fill(3));
        assert_foreign(|| ours.heap.chunks(bytes).count());
        assert_foreign(|| ours.heap.chunks_mut(bytes).count());
        assert_foreign(|| ours.heap.read_at(bytes, 0, &mut [0; 4]));
        assert_foreign(|| ours.heap.write_at(bytes, 0, &[3; 4]));
        for new_len in [0, 41, 10_001] {
            let layout = Layout::from_size_align(new_len, 8).expect("valid");
            assert_resize_refused(&mut ours.heap, bytes, layout);
        }
        assert_eq!(bytes.len(), len);
    }
    ours.assert_intact(1);
    theirs.assert_intact(2);
}

/// `resize` may return an error or, like its neighbours, panic.
fn assert_resize_refused(heap: &mut Heap<'_>, bytes: &mut Bytes<u8>, layout: Layout) {
    let answer = catch_unwind(AssertUnwindSafe(|| heap.resize(bytes, layout)));
    assert!(matches!(answer, Err(_) | Ok(Err(Refused::ForeignHandle))));
}

#[test]
fn foreign_handles_free_nothing() {
    let (mut one, mut two) = (region(1 << 20), region(1 << 20));
    let mut ours = Foreign::new(one.memory(), 1);
    let theirs = Foreign::new(two.memory(), 2);
    let bytes = theirs
        .heap
        .alloc_zeroed(Layout::new::<[u8; 40]>())
        .expect("room");
    let before = (ours.heap.stats(), theirs.heap.stats());
    assert_foreign(|| ours.heap.free_bytes(theirs.bytes));
    assert_foreign(|| ours.heap.free_bytes(theirs.pieces));
    assert_foreign(|| ours.heap.remove(theirs.value));
    assert_foreign(|| bytes.into_entry(&ours.heap));
    let another = theirs.heap.insert(4_u64).expect("room");
    assert_foreign(|| ours.heap.free(another));
    theirs.heap.check().expect("sound");
    assert_eq!(ours.heap.stats(), before.0);
    assert_eq!(
        theirs.heap.stats().live_blocks,
        before.1.live_blocks + 1,
        "it leaks, no more"
    );
    ours.assert_intact(1);
}

/// A handle of a heap that is gone is foreign to a new heap in the same memory.
#[test]
fn handles_do_not_outlive_their_heap() {
    let mut memory = region(1 << 20);
    let mut stale = Vec::new();
    let mut keys = Vec::new();
    for round in 0..20_u64 {
        let heap: Heap = Heap::new(memory.memory(), &CONFIG).expect("large enough");
        let fresh = heap.insert(round).expect("room");
        for handle in &stale {
            assert_eq!(heap.try_get(handle), Err(Refused::ForeignHandle));
        }
        assert_eq!(*heap.get(&fresh), round);
        stale.push(fresh);
        let heap: KeyHeap = KeyHeap::new(memory.memory(), &CONFIG).expect("large enough");
        let fresh = heap.insert(round).expect("room");
        for &key in &keys {
            assert_eq!(heap.get(key), Err(Refused::ForeignHandle));
            assert!(!heap.contains(key));
        }
        keys.push(fresh);
    }
}

// ---- values ------------------------------------------------------------------------------------

static DROPPED: AtomicUsize = AtomicUsize::new(0);

/// Equally large with every word width, so that the same objects move.
struct Noisy(
    String,
    #[allow(dead_code, reason = "it takes room on 32 bits")] Room,
);

type Room = [usize; if cfg!(target_pointer_width = "64") {
    0
} else {
    3
}];

impl Drop for Noisy {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

/// A value is dropped once, wherever moves have carried it; a refused value is returned.
#[test]
fn values_are_dropped_once() {
    let mut memory = region(200_000);
    let mut heap: Heap = Heap::new(memory.memory(), &CONFIG).expect("large enough");
    let mut live = Vec::new();
    let mut inserted = 0;
    for op in script(Shape::Sawtooth, 21, 6000, 100) {
        match op {
            Op::Alloc { size, .. } => {
                match heap.insert(Noisy(format!("{inserted:>size$}"), Room::default())) {
                    Ok(handle) => {
                        live.push((handle, inserted));
                        inserted += 1;
                    }
                    Err(full) => core::mem::forget(full.value),
                }
            }
            Op::Free(nth) if !live.is_empty() => {
                let (handle, number) = live.swap_remove(nth % live.len());
                assert_eq!(heap.get(&handle).0.trim(), number.to_string());
                heap.free(handle);
                assert_eq!(DROPPED.load(Ordering::Relaxed), inserted - live.len());
            }
            _ => {}
        }
    }
    assert!(heap.stats().moves_total > 100, "objects moved");
    for (handle, number) in live {
        assert_eq!(heap.remove(handle).0.trim(), number.to_string());
    }
    assert_eq!(DROPPED.load(Ordering::Relaxed), inserted);
}

/// Compiles only if the type is not `Sync`: there would be two candidates.
macro_rules! assert_not_sync {
    ($($t:ty)*) => {$({
        trait Candidate<A> {
            fn is_candidate() {}
        }
        struct Second;
        impl<T: ?Sized> Candidate<()> for T {}
        impl<T: ?Sized + Sync> Candidate<Second> for T {}
        <$t as Candidate<_>>::is_candidate();
    })*};
}

#[test]
fn heaps_may_be_sent_but_not_shared() {
    fn assert_send<T: Send>() {}
    assert_send::<Heap>();
    assert_send::<Heap<'_, Narrow>>();
    assert_send::<KeyHeap>();
    assert_not_sync!(Heap<'_> Heap<'_, Narrow> KeyHeap<'_> Handle<std::cell::Cell<u8>>);
}

// ---- keys --------------------------------------------------------------------------------------

fn small_pages(word_bytes: usize, bound: Bound) -> Config {
    let spec = GeometrySpec {
        page_bytes: 1024,
        granule: 8,
        smallest: 16,
        spacing: Spacing::Explicit(&[16, 32, 128, 1024]),
        tail: Tail::BackReferences { bytes: word_bytes },
    };
    Config::new(Geometry::new(&spec).expect("valid"), bound).expect("valid")
}

/// Every key that ever existed, on a heap that is used and moves: the live keys name their objects,
/// all others nothing.
fn stale_keys_stay_stale<W: Width<Generation = ()>, G: Counted>() {
    let config = small_pages(W::WORD_BYTES, Bound::Pages(1));
    let mut memory = region(20_000);
    let mut heap = KeyHeap::<W, G>::new(memory.memory(), &config).expect("large enough");
    let mut live: Vec<(Key<u64>, u64)> = Vec::new();
    let mut stale: Vec<Key<u64>> = Vec::new();
    for (number, op) in script(Shape::Random, 4, 3000, 64).into_iter().enumerate() {
        let number = number as u64;
        match op {
            Op::Alloc { .. } => live.extend(heap.insert(number).ok().map(|key| (key, number))),
            Op::Free(nth) if !live.is_empty() => {
                let (key, value) = live.swap_remove(nth % live.len());
                assert_eq!(heap.remove(key), Ok(value));
                stale.push(key);
            }
            Op::Resize(nth, _) if !stale.is_empty() => {
                let key = stale[nth % stale.len()];
                assert_eq!(heap.remove(key), Err(Refused::StaleHandle));
                assert_eq!(heap.get_mut(key), Err(Refused::StaleHandle));
            }
            _ => {}
        }
        if number % 64 == 0 {
            heap.check().expect("sound");
            assert!(stale.iter().all(|&key| !heap.contains(key)));
            assert!(
                stale
                    .iter()
                    .all(|&key| heap.get(key) == Err(Refused::StaleHandle))
            );
            assert!(live.iter().all(|&(key, value)| heap.get(key) == Ok(&value)));
        }
    }
    assert!(stale.len() > 500 && heap.stats().moves_total > 0);
}

#[test]
fn stale_keys_name_nothing_for_ever() {
    stale_keys_stay_stale::<Wide, u8>();
    stale_keys_stay_stale::<Wide, u32>();
    stale_keys_stay_stale::<Medium, u16>();
    stale_keys_stay_stale::<Narrow, u8>();
    stale_keys_stay_stale::<Narrow, u16>();
}

#[test]
fn foreign_keys_are_refused_by_every_method() {
    let (mut one, mut two) = (region(1 << 20), region(1 << 20));
    let mut ours: KeyHeap = KeyHeap::new(one.memory(), &CONFIG).expect("large enough");
    let theirs: KeyHeap = KeyHeap::new(two.memory(), &CONFIG).expect("large enough");
    let (kept, key) = (
        ours.insert(1_u64).expect("room"),
        theirs.insert(2_u64).expect("room"),
    );
    assert!(!ours.contains(key));
    assert_eq!(ours.get(key), Err(Refused::ForeignHandle));
    assert_eq!(ours.get_mut(key), Err(Refused::ForeignHandle));
    assert_eq!(ours.remove(key), Err(Refused::ForeignHandle));
    assert_eq!((ours.get(kept), theirs.get(key)), (Ok(&1), Ok(&2)));
}

/// The number of one-page-block objects that a heap can hold with `retired` retired entries: the
/// table takes what the pages leave.
fn capacity<W: Width>(config: &Config, region: usize, retired: usize) -> usize {
    let geometry = config.geometry();
    let (page, classes) = (geometry.page_bytes(), geometry.class_count());
    let pages = layout::pages_in::<W>(region, page, classes);
    let rest = region - layout::fixed_bytes::<W>(classes, pages) - pages * page;
    let class = geometry.class_for(16, 8).expect("a class");
    let blocks = usize::from(geometry.layout(class).blocks);
    let objects = |table_pages: usize| {
        let entries = (rest + table_pages * page) / W::ENTRY_BYTES;
        entries
            .saturating_sub(retired)
            .min((pages - table_pages) * blocks)
    };
    (0..=pages).map(objects).max().unwrap_or(0)
}

const UINT8_GENERATIONS: usize = 255;

/// Retires `retired` entries one by one; every key differs from all before.
fn retire<W: Width<Generation = ()>>(
    heap: &mut KeyHeap<'_, W, u8>,
    entries: usize,
) -> HashSet<String> {
    let mut keys = HashSet::new();
    for number in 0..entries * UINT8_GENERATIONS {
        assert_eq!(
            heap.stats().retired_keys as usize,
            number / UINT8_GENERATIONS
        );
        let key = heap.insert([number; 2]).expect("room");
        assert!(keys.insert(format!("{key:?}")), "no key is given twice");
        assert_eq!(heap.remove(key), Ok([number; 2]));
        assert_eq!(heap.get(key), Err(Refused::StaleHandle));
    }
    assert_eq!(heap.stats().retired_keys as usize, entries);
    keys
}

/// Retired entries are counted, never reused, and reduce the capacity by exactly their number.
fn capacity_shrinks_by_what_is_retired<W: Width<Generation = ()>>() {
    let config = small_pages(W::WORD_BYTES, Bound::DEFAULT);
    let bytes = 12_000;
    let mut last = usize::MAX;
    for retired in [0, 1, 2, 7, 60, 200, 400] {
        let mut memory = JunkRegion::new(bytes, 1024, 9);
        let mut heap = KeyHeap::<W, u8>::new(memory.memory(), &config).expect("large enough");
        let mut keys = retire(&mut heap, retired);
        let mut held = 0;
        let refused = loop {
            match heap.insert([held; 2]) {
                Ok(key) => assert!(
                    keys.insert(format!("{key:?}")),
                    "no retired entry is reused"
                ),
                Err(full) => break full.refused,
            }
            held += 1;
        };
        assert!(matches!(refused, Refused::NoPage | Refused::NoHandle));
        assert_eq!(
            held,
            capacity::<Keyed<W, u8>>(&config, bytes, retired),
            "{retired} retired"
        );
        assert!(held <= last, "capacity never grows");
        last = held;
        heap.check().expect("sound");
        assert_eq!(heap.usage().total(), bytes);
    }
}

#[test]
fn capacity_shrinks_by_exactly_what_is_retired() {
    capacity_shrinks_by_what_is_retired::<Wide>();
    capacity_shrinks_by_what_is_retired::<Medium>();
    capacity_shrinks_by_what_is_retired::<Narrow>();
}

/// Uses up every generation of every entry for which the region has room. Then the heap is empty,
/// and refuses.
fn exhaust<W: Width<Generation = ()>>() {
    let config = small_pages(W::WORD_BYTES, Bound::DEFAULT);
    let bytes = 6000;
    let pages = layout::pages_in::<Keyed<W, u8>>(bytes, 1024, 4);
    let top = bytes - layout::fixed_bytes::<Keyed<W, u8>>(4, pages);
    let entries = (top - 1024) / Keyed::<W, u8>::ENTRY_BYTES;
    let mut memory = JunkRegion::new(bytes, 1024, 9);
    let mut heap = KeyHeap::<W, u8>::new(memory.memory(), &config).expect("large enough");
    let mut used = 0_usize;
    let refused = loop {
        match heap.insert(used) {
            Ok(key) => assert_eq!(heap.remove(key), Ok(used)),
            Err(full) => break full.refused,
        }
        used += 1;
    };
    assert_eq!(
        used,
        entries * UINT8_GENERATIONS,
        "every generation was used once"
    );
    assert_eq!(heap.stats().retired_keys as usize, entries);
    assert_eq!(refused, Refused::NoHandle);
    assert_eq!(heap.stats().live_blocks, 0);
    heap.check().expect("sound");
}

#[test]
fn a_heap_whose_generations_are_used_up_refuses() {
    exhaust::<Wide>();
    exhaust::<Medium>();
    exhaust::<Narrow>();
}
