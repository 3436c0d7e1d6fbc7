//! Jamaica's blocks against a model of what must be free: exact space in any order, bytes kept,
//! links counted.

use proptest::prelude::*;
use surefit_core::Refused;
use surefit_freelist::jamaica::{Array, Bytes, Jamaica, Object, Shape};
use surefit_testkit::{
    JunkRegion, Op, Random, ShadowModel, Shape as Script, ops_from_bytes, script,
};

/// The shapes, in the form that the whole-heap check takes.
trait Checked: Shape {
    fn check<const B: usize>(heap: &mut Jamaica<'_, B>, live: &[&Bytes<Self>]);
}

impl Checked for Object {
    fn check<const B: usize>(heap: &mut Jamaica<'_, B>, live: &[&Bytes<Self>]) {
        let checked = heap.check_objects(live.iter().copied(), std::iter::empty());
        assert_eq!(checked, Ok(()));
    }
}

impl Checked for Array {
    fn check<const B: usize>(heap: &mut Jamaica<'_, B>, live: &[&Bytes<Self>]) {
        let checked = heap.check_objects(std::iter::empty(), live.iter().copied());
        assert_eq!(checked, Ok(()));
    }
}

/// A heap beside a model that knows the bytes of all objects and how many blocks are free.
struct Shadow<'m, S: Shape, const B: usize> {
    heap: Jamaica<'m, B>,
    model: ShadowModel<Bytes<S>>,
    free: usize,
    refused: usize,
}

impl<'m, S: Checked, const B: usize> Shadow<'m, S, B> {
    fn new(region: &'m mut JunkRegion) -> Self {
        let heap = Jamaica::new(region.memory()).expect("large enough");
        Self {
            free: heap.stats().blocks,
            heap,
            model: ShadowModel::new(),
            refused: 0,
        }
    }

    fn run(&mut self, op: Op) {
        match op {
            Op::Alloc { size, .. } => self.alloc(size),
            Op::Free(nth) => {
                if let Some(place) = self.model.place(nth) {
                    let (id, size, bytes) = self.model.remove(place);
                    id.verify(0, &self.read(&bytes, 0)).expect("its bytes");
                    self.heap.free(bytes);
                    self.free += Jamaica::<B>::blocks_for::<S>(size);
                }
            }
            Op::Resize(nth, size) => {
                if let Some(place) = self.model.place(nth) {
                    self.resize(place, size);
                }
            }
        }
        assert_eq!(self.heap.stats().free_blocks, self.free);
    }

    fn alloc(&mut self, size: usize) {
        let needed = Jamaica::<B>::blocks_for::<S>(size);
        let Ok(bytes) = self.heap.alloc(size) else {
            assert!(needed > self.free, "refused though the blocks are there");
            self.refused += 1;
            return;
        };
        assert!(needed <= self.free);
        self.free -= needed;
        assert!(self.read(&bytes, 0).iter().all(|&byte| byte == 0));
        let id = self.model.insert(size, bytes);
        let place = self.model.live_objects() - 1;
        let mut pattern = vec![0; size];
        id.fill(0, &mut pattern);
        self.heap.write_at(self.model.get_mut(place).2, 0, &pattern);
    }

    fn resize(&mut self, place: usize, size: usize) {
        let blocks = Jamaica::<B>::blocks_for::<S>;
        let (id, old, bytes) = self.model.get_mut(place);
        let room = self.free + blocks(old);
        let resized = self.heap.resize(bytes, size);
        assert_eq!(resized.is_ok(), blocks(size) <= room, "{old} -> {size}");
        let now = bytes.len();
        assert_eq!(now, if resized.is_ok() { size } else { old });
        self.free = room - blocks(now);
        let mut held = vec![1; now];
        self.heap.read_at(bytes, 0, &mut held);
        let kept = old.min(now);
        id.verify(0, &held[..kept]).expect("the bytes are kept");
        assert!(held[kept..].iter().all(|&byte| byte == 0), "gained");
        id.fill(kept, &mut held[kept..]);
        self.heap.write_at(bytes, kept, &held[kept..]);
        self.model.resize(place, now);
    }

    fn read(&self, bytes: &Bytes<S>, offset: usize) -> Vec<u8> {
        let mut read = vec![1; bytes.len() - offset];
        self.heap.read_at(bytes, offset, &mut read);
        read
    }

    fn verify(&mut self, region_bytes: usize) {
        assert_eq!(self.heap.check(), Ok(()));
        let live: Vec<_> = self.model.iter().map(|(_, _, bytes)| bytes).collect();
        S::check(&mut self.heap, &live);
        assert_eq!(self.heap.usage().total(), region_bytes);
        assert!(self.heap.usage().block_bytes >= self.model.live_bytes());
        for (id, size, bytes) in self.model.iter() {
            let joined: Vec<u8> = self.heap.chunks(bytes).flatten().copied().collect();
            assert_eq!(joined.len(), size);
            id.verify(0, &joined).expect("its bytes");
        }
    }
}

/// Runs a script; returns how many requests were refused.
fn run<S: Checked, const B: usize>(
    region: &mut JunkRegion,
    ops: &[Op],
    check_every: usize,
) -> usize {
    let region_bytes = region.span().len();
    let mut shadow = Shadow::<S, B>::new(region);
    for (number, &op) in ops.iter().enumerate() {
        shadow.run(op);
        if number % check_every == 0 {
            shadow.verify(region_bytes);
        }
    }
    while shadow.model.live_objects() > 0 {
        shadow.run(Op::Free(0));
    }
    shadow.verify(region_bytes);
    let stats = shadow.heap.stats();
    assert_eq!((stats.free_blocks, stats.live_objects), (stats.blocks, 0));
    shadow.refused
}

#[test]
fn requests_are_refused_only_if_too_few_blocks_are_free() {
    let mut refused = 0;
    for shape in Script::ALL {
        let ops = script(shape, 3, 3000, 2000);
        for bytes in [10_000, 30_001, 100_002] {
            refused += run::<Object, 32>(&mut JunkRegion::misaligned(bytes, 64, 3, 1), &ops, 97);
            refused += run::<Array, 32>(&mut JunkRegion::misaligned(bytes, 64, 5, 2), &ops, 97);
        }
    }
    assert!(refused > 100, "{refused}: full heaps were tried");
}

#[test]
fn every_size_of_blocks_serves() {
    for shape in [Script::Random, Script::Sawtooth] {
        let ops = script(shape, 4, 2000, 3000);
        let region = || JunkRegion::new(50_000, 64, 1);
        run::<Object, 16>(&mut region(), &ops, 101);
        run::<Array, 16>(&mut region(), &ops, 101);
        run::<Object, 64>(&mut region(), &ops, 101);
        run::<Array, 64>(&mut region(), &ops, 101);
        run::<Object, 128>(&mut region(), &ops, 101);
        run::<Array, 128>(&mut region(), &ops, 101);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_scripts_keep_space_and_bytes(
        bytes in prop::collection::vec(any::<u8>(), 0..1000),
        size in 200_usize..20_000,
    ) {
        let ops = ops_from_bytes(&bytes, size / 4);
        run::<Object, 32>(&mut JunkRegion::new(size, 16, 1), &ops, 5);
        run::<Array, 32>(&mut JunkRegion::new(size, 16, 1), &ops, 5);
    }
}

/// The parts of a heap with live objects of these sizes, allocated in an order with others in
/// between.
fn parts_after(sizes: &[usize], seed: u64) -> surefit_core::Usage {
    let mut region = JunkRegion::new(1 << 20, 64, seed);
    let mut heap = Jamaica::<32>::new(region.memory()).expect("large enough");
    let mut dice = Random(seed);
    let mut order = sizes.to_vec();
    dice.shuffle(&mut order);
    let mut passing = Vec::new();
    for size in order {
        for _ in 0..dice.below(3) {
            let len = dice.below(500);
            passing.push(heap.alloc::<Object>(len).expect("room"));
        }
        let kept = if size % 2 == 0 {
            heap.alloc::<Object>(size).map(drop)
        } else {
            heap.alloc::<Array>(size).map(drop)
        };
        kept.expect("room");
        dice.shuffle(&mut passing);
        passing
            .drain(passing.len() / 2..)
            .for_each(|bytes| heap.free(bytes));
    }
    passing.into_iter().for_each(|bytes| heap.free(bytes));
    assert_eq!(heap.check(), Ok(()));
    heap.usage()
}

#[test]
fn fragmentation_does_not_depend_on_the_order_of_operations() {
    let sizes: Vec<usize> = (0..200).map(|n| n * n % 1009).collect();
    let expected = parts_after(&sizes, 0);
    for seed in 1..20 {
        assert_eq!(parts_after(&sizes, seed), expected, "seed {seed}");
    }
}

#[test]
fn all_that_is_free_can_be_one_object() {
    let mut region = JunkRegion::new(200_000, 64, 1);
    let mut heap = Jamaica::<32>::new(region.memory()).expect("large enough");
    let mut dice = Random(9);
    for _ in 0..20 {
        let mut small = Vec::new();
        while let Ok(bytes) = heap.alloc::<Object>(dice.below(300)) {
            small.push(bytes);
        }
        dice.shuffle(&mut small);
        let kept = small.split_off(small.len() / 3);
        small.into_iter().for_each(|bytes| heap.free(bytes));
        let free = heap.stats().free_blocks;
        let refused = heap.alloc::<Object>(free * 28 + 1);
        assert_eq!(refused.expect_err("one block too many"), Refused::NoChunk);
        let all = heap.alloc::<Object>(free * 28).expect("every free block");
        assert_eq!(heap.stats().free_blocks, 0);
        assert_eq!(heap.check(), Ok(()));
        heap.free(all);
        kept.into_iter().for_each(|bytes| heap.free(bytes));
    }
}

#[test]
fn access_is_linear_in_objects_and_logarithmic_in_arrays() {
    let mut region = JunkRegion::new(4 << 20, 64, 1);
    let mut heap = Jamaica::<32>::new(region.memory()).expect("large enough");
    for len in [
        1,
        28,
        29,
        32,
        33,
        256,
        257,
        2048,
        2049,
        1 << 14,
        (1 << 14) + 1,
        1 << 20,
    ] {
        let object = heap.alloc::<Object>(len).expect("room");
        let array = heap.alloc::<Array>(len).expect("room");
        let leaves = len.div_ceil(32);
        let levels = (0..)
            .find(|&levels| 8_usize.pow(levels) >= leaves)
            .expect("some");
        for offset in [0, len / 3, len / 2, len - 1] {
            let before = heap.stats();
            assert!(!heap.chunk(&object, offset).is_empty());
            let between = heap.stats();
            assert_eq!(between.hops - before.hops, (offset / 28) as u64);
            assert!(!heap.chunk(&array, offset).is_empty());
            let after = heap.stats();
            assert_eq!(
                after.hops - between.hops,
                u64::from(levels),
                "{len} at {offset}"
            );
            assert_eq!(after.accesses - before.accesses, 2);
        }
        heap.free(object);
        heap.free(array);
    }
    assert_eq!(heap.stats().hops_max, ((1 << 20) - 1) / 28);
}

#[test]
fn a_sequential_read_of_an_object_follows_each_link_once() {
    let mut region = JunkRegion::new(1 << 20, 64, 1);
    let mut heap = Jamaica::<32>::new(region.memory()).expect("large enough");
    let object = heap.alloc::<Object>(280_000).expect("room");
    heap.read_at(&object, 0, &mut vec![0; 280_000]);
    assert_eq!(heap.stats().hops, 9999);
    assert_eq!(heap.chunks(&object).count(), 10_000);
    assert_eq!(heap.stats().hops, 2 * 9999);
}

#[test]
fn reads_and_writes_of_any_range_meet() {
    fn claim<S: Shape>() {
        let mut region = JunkRegion::new(1 << 16, 64, 1);
        let mut heap = Jamaica::<16>::new(region.memory()).expect("large enough");
        let mut bytes = heap.alloc::<S>(200).expect("room");
        let mut expected = vec![0; 200];
        for (start, end) in (0..400).map(|n| (n * 7 % 200, n * 13 % 201)) {
            let source: Vec<u8> = (start..end).map(|n| (n * 31 + end) as u8).collect();
            if start <= end {
                heap.write_at(&mut bytes, start, &source);
                expected[start..end].copy_from_slice(&source);
                let mut read = source.clone();
                heap.read_at(&bytes, start / 2, &mut read);
                assert_eq!(read, expected[start / 2..][..read.len()]);
            }
            let chunk = heap.chunk_mut(&mut bytes, start);
            chunk.fill(end as u8);
            let len = chunk.len();
            expected[start..][..len].fill(end as u8);
            assert_eq!(heap.chunk(&bytes, start).len(), len);
        }
        assert!(heap.chunk(&bytes, 200).is_empty());
        let all: Vec<u8> = heap.chunks(&bytes).flatten().copied().collect();
        assert_eq!(all, expected);
    }
    claim::<Object>();
    claim::<Array>();
}

#[test]
fn limits_are_refusals_that_say_what_would_do() {
    let needed = match Jamaica::<64>::new(&mut []) {
        Err(Refused::Region { needed }) => needed,
        other => panic!("{other:?}"),
    };
    let mut region = JunkRegion::new(needed + 64, 64, 1);
    for start in 0..64 {
        let enough = &mut region.memory()[start..][..needed];
        let mut heap = Jamaica::<64>::new(enough).expect("enough");
        assert!(heap.alloc::<Array>(64).is_ok());
    }
    let mut region = JunkRegion::new(10_000, 64, 1);
    let mut heap = Jamaica::<32>::new(region.memory()).expect("large enough");
    let limit = heap.largest_request::<Array>();
    let too_large = heap
        .alloc::<Array>(limit + 1)
        .expect_err("beyond the region");
    assert_eq!(too_large, Refused::TooLarge { limit });
    let most = heap
        .alloc::<Array>(usize::MAX)
        .expect_err("beyond the region");
    assert_eq!(most, Refused::TooLarge { limit });
    let mut array = heap.alloc::<Array>(limit).expect("the largest");
    let beyond = heap.resize(&mut array, limit + 1);
    assert_eq!(beyond, Err(Refused::TooLarge { limit }));
    assert_eq!((heap.check(), array.len()), (Ok(()), limit));
}

fn two_heaps(claim: impl FnOnce(&mut Jamaica<'_>, Bytes<Object>)) {
    let mut regions = [1, 2].map(|seed| JunkRegion::new(4096, 64, seed));
    let [first, second] = &mut regions;
    let mut owner = Jamaica::<32>::new(first.memory()).expect("large enough");
    let mut other = Jamaica::<32>::new(second.memory()).expect("large enough");
    other.alloc::<Object>(10).map(drop).expect("room");
    claim(&mut other, owner.alloc(10).expect("room"));
}

#[test]
fn a_foreign_handle_is_a_typed_error() {
    two_heaps(|other, mut foreign| {
        let refused = other.resize(&mut foreign, 20);
        assert_eq!(refused, Err(Refused::ForeignHandle));
    });
}

#[test]
#[should_panic(expected = "the handle belongs to another heap")]
fn a_foreign_handle_frees_nothing() {
    two_heaps(|other, foreign| other.free(foreign));
}

#[test]
#[should_panic(expected = "the handle belongs to another heap")]
fn a_foreign_handle_reads_nothing() {
    two_heaps(|other, foreign| drop(other.chunk(&foreign, 0).to_vec()));
}

#[test]
#[should_panic(expected = "the range goes beyond the object")]
fn a_range_that_wraps_around_is_refused() {
    let mut region = JunkRegion::new(4096, 64, 1);
    let mut heap = Jamaica::<32>::new(region.memory()).expect("large enough");
    let bytes = heap.alloc::<Object>(10).expect("room");
    heap.read_at(&bytes, usize::MAX, &mut [0; 5]);
}
