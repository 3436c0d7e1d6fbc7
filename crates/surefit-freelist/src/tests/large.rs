//! Both ends of a region against a naive model: every invariant after every operation, every word
//! corrupted.

use alloc::collections::BTreeMap;

use super::*;
use crate::bitmap::Bitmap;
use crate::chunk::granules_for;
use crate::last_list::Linear;
use crate::lookup::Scan;
use crate::next_hit_table::NextHitTable;
use crate::policy::{Deferred, Immediate, Never};
use crate::segregated::Segregated;
use crate::sweep::Swept;
use crate::trie::Tree;

/// Live objects by number: the granules of the chunk, whether it was allocated as a large one, and
/// its pattern.
type Living = BTreeMap<u32, (u32, bool, u32)>;

/// A heap, and the objects that should live in it.
struct Model<'m, I> {
    heap: Heap<'m, I>,
    living: Living,
    patterns: u32,
}

impl<I: Index> Model<'_, I> {
    /// Records a new object and fills it.
    fn learn(&mut self, payload: NonNull<u8>, is_large: bool) {
        let number = self.heap.granule_of(payload);
        let granules = self.heap.memory.header(Chunk::at(number)).granules();
        self.patterns += 1;
        let older = (number, (granules, is_large, self.patterns));
        assert!(self.living.insert(older.0, older.1).is_none());
        for (_, word) in self.words(number) {
            // SAFETY: a word of the payload of a live object, aligned to four.
            unsafe { word.write(self.patterns) };
        }
    }

    /// The words of an object.
    fn words(&self, number: u32) -> impl Iterator<Item = (usize, NonNull<u32>)> + use<I> {
        // SAFETY: a live object has the number.
        let (payload, length) = unsafe {
            (
                self.heap.payload(number).cast::<u32>(),
                self.heap.payload_bytes(number),
            )
        };
        // SAFETY: the word lies inside the payload.
        (0..length / 4).map(move |nth| (nth, unsafe { payload.add(nth) }))
    }

    /// The gaps between large objects from the highest to the lowest: where each begins and ends.
    fn gaps(&self) -> Vec<(u32, u32)> {
        let (mut above, mut gaps) = (self.heap.memory.granules(), Vec::new());
        let large = self.living.iter().rev().take_while(|(_, living)| living.1);
        for (&number, &(length, ..)) in large {
            gaps.push((number + length, above));
            above = number;
        }
        gaps
    }

    /// The chunk that an object of `granules` granules should get, unless it is placed below the
    /// lowest: from the highest gap or, for a displaced object, from the next one.
    fn expected_gap(&self, granules: u32, is_displaced: bool) -> Option<u32> {
        let mut gaps = self.gaps();
        if is_displaced {
            let next = self.heap.large.next.granule();
            gaps.sort_by_key(|(start, _)| (*start < next, *start));
        }
        let fits = |(start, end): &(u32, u32)| end - start >= granules;
        let (start, end) = gaps.into_iter().find(fits)?;
        let is_cut = end - start - granules >= SMALLEST;
        Some(if is_cut { end - granules } else { start })
    }

    fn allocate_large(&mut self, size: usize, is_displaced: bool) {
        let granules = granules_for(size);
        let expected = self.expected_gap(granules, is_displaced);
        let is_first = self.living.values().all(|&(_, is_large, _)| !is_large);
        let last_free = match self.heap.memory.header(self.heap.end).is_before_free() {
            true => self.heap.memory.granules_before(self.heap.end),
            false => 0,
        };
        let has_room = last_free + self.heap.spare() >= granules + u32::from(is_first);
        let floor = self.heap.large.floor;
        let allocated = match is_displaced {
            true => self.heap.allocate_displaced(size),
            false => self.heap.allocate_large(size),
        };
        match allocated {
            Ok(payload) => {
                let number = self.heap.granule_of(payload);
                match expected {
                    Some(expected) => assert_eq!(number, expected),
                    None => assert!(has_room && number == self.heap.large.floor + 1),
                }
                self.learn(payload, true);
            }
            Err(Refused::NoChunk) => {
                assert!(expected.is_none() && !has_room);
                assert_eq!(self.heap.large.floor, floor);
            }
            Err(refused) => assert_eq!(
                (refused, size > self.heap.largest_large_request()),
                (
                    Refused::TooLarge {
                        limit: self.heap.largest_large_request()
                    },
                    true
                )
            ),
        }
    }

    /// The end of the lists moves down as far as it should and can.
    fn reserve(&mut self, size: usize) {
        let (unused, last) = (self.heap.unused_granules(), self.heap.last_free());
        let spare = self.heap.spare();
        let gave = self.heap.reserve_large(size);
        let reserve = (size / 8) as u32;
        let expected = reserve.clamp(unused - spare, unused + last);
        let now = self.heap.unused_granules();
        assert!(now.abs_diff(expected) <= 1, "{now}, not {expected}");
        assert_eq!(gave, now < unused);
    }

    fn free_small(&mut self, random: &mut Random) {
        let small = self.living.iter().filter(|(_, living)| !living.1);
        let Some(&number) = small.map(|(number, _)| number).nth(random.below(20)) else {
            return;
        };
        self.living.remove(&number);
        // SAFETY: a live object has the number; a heap does not ask for its size.
        unsafe { self.heap.free(self.heap.payload(number), bytes(0)) };
    }

    /// Frees an object of either end, and compares what is free then.
    fn free_numbered(&mut self, random: &mut Random) {
        let nth = random.below(self.living.len() + 1);
        let Some((&number, &(granules, ..))) = self.living.iter().nth(nth) else {
            return;
        };
        let free =
            |heap: &Heap<'_, I>| heap.limit() - heap.usage().block_bytes - 4 * heap.live_objects();
        let before = free(&self.heap);
        self.living.remove(&number);
        // SAFETY: S1: a live object has the number, and is forgotten.
        unsafe { self.heap.free_numbered(number) };
        assert_eq!(free(&self.heap), before + granules as usize * 8);
    }

    /// Merges in parts, and allocates in between.
    fn coalesce_in_parts(&mut self, random: &mut Random) {
        let (mut from, mut merged, merges) = (Some(0), 0, self.heap.counters().merges);
        while let Some(number) = from {
            // SAFETY: S1: the last call returned it, and in between there are only allocations.
            let (next, has_merged) = unsafe { self.heap.coalesce_part(number) };
            (from, merged) = (next, merged + u64::from(has_merged));
            assert!(next.is_none_or(|place| self.heap.check_part(place).is_ok()));
            if random.below(4) > 0 {
                continue;
            }
            match random.below(4) {
                0 => self.allocate_large(random.below(1500), false),
                1 => self.reserve(random.below(2000)),
                2 => drop(self.heap.grow(random.below(3000), random.below(500))),
                _ => {
                    if let Ok(payload) = self.heap.allocate_as_is(random.below(150)) {
                        self.learn(payload, false);
                    }
                }
            }
            assert_eq!(self.heap.check(), Ok(()));
            assert!(next.is_none_or(|place| self.heap.check_part(place).is_ok()));
        }
        assert!(self.heap.counters().merges >= merges + merged);
        let is_deferred = I::COALESCING == When::Deferred;
        assert!(is_deferred || I::COALESCING == When::Never || merged == 0);
    }

    /// Keeps some objects, and compares the results of the sweep.
    fn sweep(&mut self, random: &mut Random, leaps: bool) {
        let before = self.living.len();
        let keep = random.below(4);
        self.living.retain(|_, _| random.below(4) < keep);
        let living = &self.living;
        let next = |number: u32| living.range(number..).next().map_or(u32::MAX, |(&n, _)| n);
        let swept = if leaps {
            // SAFETY: S1: what was forgotten is not used again. S2: the least kept number from
            // `number` on.
            unsafe { self.heap.sweep_leaping(next) }
        } else {
            // SAFETY: S1: what was forgotten is not used again. S2: a look-up does not panic.
            unsafe { self.heap.sweep(|number| living.contains_key(&number)) }
        };
        let sizes: Vec<_> = self.heap.free_sizes().collect();
        let expected = Swept {
            live_objects: living.len() as u64,
            live_bytes: self.heap.usage().block_bytes,
            freed_objects: (before - living.len()) as u64,
            free_chunks: sizes.len() as u64,
            free_bytes: sizes.iter().sum(),
            largest_free_bytes: sizes.iter().max().copied().unwrap_or(0),
            visited: swept.visited,
        };
        assert_eq!(swept, expected);
    }

    /// One operation.
    fn step(&mut self, random: &mut Random, leaps: bool) {
        match random.below(46) {
            0..18 => {
                if let Ok(payload) = self.heap.allocate_as_is(random.below(150)) {
                    self.learn(payload, false);
                }
            }
            18..28 => self.allocate_large(random.below(1500), false),
            28 => self.allocate_large(random.below(20_000), false),
            39..44 => self.allocate_large(random.below(300), true),
            29..33 => self.free_small(random),
            33..35 => self.free_numbered(random),
            35 => self.coalesce_in_parts(random),
            36 => drop(self.heap.coalesce()),
            37 => {
                let limit = self.heap.limit();
                let usage = self.heap.usage();
                let grew = self.heap.grow(random.below(3000), random.below(500));
                assert_eq!(
                    grew,
                    self.heap.limit() > limit || self.heap.usage() != usage
                );
                let (unused, reserve) = (usage.free_page_bytes, self.heap.large.reserve);
                let moved = unused > self.heap.usage().free_page_bytes;
                assert!(!grew || moved || unused <= reserve as usize * 8 + 8);
            }
            38 => self.reserve(random.below(3) * random.below(2000)),
            _ => self.sweep(random, leaps),
        }
    }

    /// Verifies all invariants; that all objects are where they should be, disjoint and unchanged;
    /// and that the bytes are within the limit.
    fn verify(&self, region: usize) {
        assert_eq!(self.heap.check(), Ok(()));
        assert!(self.heap.objects().eq(self.living.keys().copied()));
        assert_eq!(self.heap.live_objects(), self.living.len());
        let (mut end, mut large_began) = (0, false);
        for (&number, &(granules, is_large, pattern)) in &self.living {
            assert!(number >= end, "chunks are apart");
            assert!(is_large || !large_began, "small ones first");
            (end, large_began) = (number + granules, is_large);
            let is_kept = |word: NonNull<u32>| {
                // SAFETY: a word of a live object, which `learn` wrote.
                let found = unsafe { word.read() };
                found == pattern
            };
            assert!(self.words(number).all(|(_, word)| is_kept(word)));
        }
        let usage = self.heap.usage();
        assert_eq!(usage.total(), region);
        assert!(usage.block_bytes + usage.free_chunk_bytes <= self.heap.limit());
    }
}

/// Random operations at both ends of a heap that may grow.
fn both_ends_beside_a_model<I: Index>() {
    let steps = if cfg!(miri) { 60 } else { 3000 };
    let may_leap = I::COALESCING == When::Immediate;
    for (seed, limit) in [(1, usize::MAX), (2, 4000), (3, 0), (4, 16_000)] {
        let mut region = Region([JUNK; 24 << 10]);
        let mut heap = Heap::<I>::new(&mut region.0).expect("large enough");
        heap.limit_to(limit);
        assert!(heap.limit() <= limit);
        let mut model = Model {
            heap,
            living: Living::new(),
            patterns: 0,
        };
        let mut random = Random(seed);
        for step in 0..steps {
            model.step(&mut random, may_leap && step % 2 == 0);
            model.verify(24 << 10);
        }
        model.living.clear();
        model.heap.reserve_large(0);
        // SAFETY: S1: nothing is used again. S2: it does not panic.
        unsafe { model.heap.sweep(|_| false) };
        while model.heap.grow(0, 1000) {}
        model.heap.coalesce();
        let whole = model.heap.usage().free_chunk_bytes;
        let mut region = Region([JUNK; 24 << 10]);
        let new = Heap::<I>::new(&mut region.0).expect("large enough");
        assert_eq!(new.usage().free_chunk_bytes, whole, "nothing was lost");
    }
}

/// Merged in parts, without anything in between, a heap is as if merged at once.
#[test]
fn merging_in_parts_merges_all() {
    let mut region = Region([JUNK; 24 << 10]);
    let mut heap =
        Heap::<Segregated<Scan, Deferred, Linear, 16>>::new(&mut region.0).expect("large");
    let objects: Vec<_> = (0..60)
        .map(|nth| heap.allocate_as_is(nth * 7 % 50).expect("room"))
        .collect();
    for object in objects.iter().skip(1) {
        // SAFETY: S1: the object is live, and not used again.
        unsafe { heap.free_numbered(heap.granule_of(*object)) };
    }
    assert_eq!(heap.free_sizes().count(), 60, "59 and what was never used");
    let (mut from, mut calls) = (Some(0), 0);
    while let Some(number) = from {
        // SAFETY: S1: the last call returned it.
        from = unsafe { heap.coalesce_part(number) }.0;
        calls += 1;
    }
    assert_eq!((heap.free_sizes().count(), heap.check()), (1, Ok(())));
    assert_eq!(calls, 59 + 2, "each merge, and two chunks");
    assert_eq!(heap.coalesce(), 0);
}

/// A heap with small objects, holes, large objects and gaps.
fn fill_both_ends<I: Index>(heap: &mut Heap<'_, I>) {
    fill_with_holes(heap, 20);
    let sizes = [1000, 2004, 500, 300, 3000, 44, 1204];
    let large = sizes.map(|size| heap.allocate_large(size).expect("room"));
    let large = large.map(|payload| heap.granule_of(payload));
    let end = heap.end.granule();
    // SAFETY: S1: the tests use nothing of what dies. S2: it does not panic.
    unsafe {
        heap.sweep(|number| number < end || large.iter().step_by(2).any(|&kept| kept == number))
    };
    assert_eq!((heap.check(), heap.large.objects), (Ok(()), 4));
}

/// The headers of the large-object space.
fn large_headers<I: Index>(heap: &Heap<'_, I>) -> Vec<Slot> {
    let headers = heap.walk_large();
    headers
        .map(|(chunk, _)| Slot::new(2 * chunk.granule() as usize - 1))
        .collect()
}

#[test]
fn the_checker_objects_to_every_corruption_of_large_objects() {
    let mut region = Region([JUNK; 32768]);
    let mut heap = Heap::<TwoLevel>::new(&mut region.0).expect("large enough");
    fill_both_ends(&mut heap);
    let slots = large_headers(&heap);
    assert_eq!(slots.len(), 7, "gaps between four objects");
    let words: Vec<_> = slots.iter().map(|&slot| heap.memory.get(slot)).collect();
    for (&slot, &sound) in slots.iter().zip(&words) {
        for wrong in (0..32)
            .map(|bit| sound ^ 1 << bit)
            .chain(words.iter().copied())
        {
            heap.memory.set(slot, wrong);
            assert_eq!(heap.check().is_err(), wrong != sound, "{wrong} in {slot:?}");
            assert_eq!(heap.usage().total(), 32768);
        }
        heap.memory.set(slot, sound);
    }
    assert_eq!(heap.check(), Ok(()), "all is as before");
}

/// Every number that is kept outside the region, plus one and minus one.
#[test]
fn the_checker_objects_to_wrong_ends() {
    let mut region = Region([JUNK; 32768]);
    let mut heap = Heap::<TwoLevel>::new(&mut region.0).expect("large enough");
    fill_both_ends(&mut heap);
    for by in [1, u32::MAX, 2, 1000, 1 << 20] {
        let (floor, end, limit, objects) =
            (heap.large.floor, heap.end, heap.limit, heap.large.objects);
        heap.large.floor = floor.wrapping_add(by);
        assert!(matches!(
            heap.check().expect_err("floor").invariant,
            "W1" | "W2" | "W3"
        ));
        heap.large.floor = floor;
        heap.end = Chunk::at(end.granule().wrapping_add(by));
        assert!(matches!(
            heap.check().expect_err("end").invariant,
            "W1" | "H1"
        ));
        heap.end = end;
        heap.limit = limit.wrapping_add(by);
        assert_eq!(heap.check().expect_err("limit").invariant, "W1");
        heap.limit = limit;
        heap.large.objects = objects.wrapping_add(by as i32 as usize);
        assert_eq!(heap.check().expect_err("objects").invariant, "W4");
        heap.large.objects = objects;
    }
    let (gaps_below, gaps) = (heap.large.gaps_below, heap.walk_large());
    let gaps = gaps.filter(|(_, header)| header.is_free());
    let longest = gaps.map(|(_, header)| header.granules()).max();
    heap.large.gaps_below = longest.expect("gaps");
    assert_eq!(heap.check().expect_err("a gap").invariant, "W5");
    heap.large.gaps_below = gaps_below;
    heap.large.next = Chunk::at(heap.large.floor);
    assert_eq!(heap.check().expect_err("no gap").invariant, "W6");
    heap.large.next = heap.top();
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn the_checker_stays_inside_with_large_objects() {
    let mut region = Region([JUNK; 32768]);
    let mut heap = Heap::<TwoLevel>::new(&mut region.0).expect("large enough");
    fill_both_ends(&mut heap);
    let mut slots = metadata(&heap);
    slots.extend(large_headers(&heap));
    let words: Vec<_> = slots.iter().map(|&slot| heap.memory.get(slot)).collect();
    let mut random = Random(1);
    for round in 0..3000 {
        for _ in 0..=random.below(5) {
            let wrong = match random.below(3) {
                0 => words[random.below(words.len())],
                1 => words[random.below(words.len())] ^ 1 << random.below(32),
                _ => random.below(1 << 31) as u32,
            };
            heap.memory.set(slots[random.below(slots.len())], wrong);
        }
        let is_sound =
            (slots.iter().zip(&words)).all(|(&slot, &sound)| heap.memory.get(slot) == sound);
        assert_eq!(heap.check().is_ok(), is_sound, "round {round}");
        assert_eq!(heap.usage().total(), 32768);
        for (&slot, &sound) in slots.iter().zip(&words) {
            heap.memory.set(slot, sound);
        }
    }
}

/// No more than a granule is lost, and only while there are large objects.
#[test]
fn a_large_object_may_be_all_of_the_region_but_a_granule() {
    let mut region = Region([JUNK; 8192]);
    let mut heap = Heap::<TwoLevel>::new(&mut region.0).expect("large enough");
    let whole = heap.usage().free_chunk_bytes;
    let limit = heap.largest_large_request();
    assert_eq!(limit + 8, whole);
    assert_eq!(
        heap.allocate_large(limit + 1),
        Err(Refused::TooLarge { limit })
    );
    let object = heap.allocate_large(limit).expect("the whole region");
    assert_eq!(heap.check(), Ok(()));
    assert_eq!(heap.allocate_as_is(1), Err(Refused::NoChunk));
    assert_eq!(heap.allocate_large(1), Err(Refused::NoChunk));
    assert_eq!(
        heap.objects().collect::<Vec<_>>(),
        [heap.granule_of(object)]
    );
    // SAFETY: S1: nothing is used again. S2: it does not panic.
    unsafe { heap.sweep_leaping(|_| u32::MAX) };
    assert_eq!(heap.usage().free_chunk_bytes, whole);
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn a_region_of_one_chunk_has_no_room_for_large_objects() {
    let needed = match Heap::<SingleList<First>>::new(&mut []) {
        Err(Refused::Region { needed }) => needed,
        other => panic!("{other:?}"),
    };
    let mut region = Region([JUNK; 8192]);
    let mut heap = Heap::<SingleList<First>>::new(&mut region.0[..needed - 7]).expect("enough");
    assert_eq!(heap.largest_large_request(), 0);
    for size in [0, 1] {
        assert!(heap.allocate_large(size).is_err());
    }
    assert_eq!(heap.check(), Ok(()));
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "S1: a large object is freed by its number")]
fn freeing_a_large_object_is_caught_in_debug_builds() {
    let mut region = Region([JUNK; 8192]);
    let mut heap = Heap::<TwoLevel>::new(&mut region.0).expect("large enough");
    let object = heap.allocate_large(1000).expect("room");
    free(&mut heap, object, 1000);
}

macro_rules! beside_a_model {
    ($($name:ident $index:ty;)*) => {$(
        #[test]
        fn $name() {
            both_ends_beside_a_model::<$index>();
        }
    )*};
}

beside_a_model! {
    scan_never Segregated<Scan, Never, Linear, 64>;
    scan_deferred Segregated<Scan, Deferred, Linear, 64>;
    scan_immediate Segregated<Scan, Immediate, Linear, 64>;
    table_never Segregated<NextHitTable, Never, Tree, 64>;
    table_deferred Segregated<NextHitTable, Deferred, Tree, 64>;
    table_immediate Segregated<NextHitTable, Immediate, Tree, 64>;
    bitmap_never Segregated<Bitmap, Never, Linear, 64>;
    bitmap_deferred Segregated<Bitmap, Deferred, Tree, 16>;
    bitmap_immediate Segregated<Bitmap, Immediate, Tree, 256>;
    units_of_16_never Segregated<Scan, Never, Linear, 16, 16>;
    units_of_16_immediate Segregated<Bitmap, Immediate, Tree, 128, 16>;
    first_fit SingleList<First>;
    next_fit SingleList<Next>;
    best_fit SingleList<Best>;
    worst_fit SingleList<Worst>;
    half_fit PowersOfTwo;
    tlsf TwoLevel;
    tree_fit SizeTree;
    bins Bins;
}
