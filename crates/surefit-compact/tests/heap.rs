//! The handle heap against a naive model, with every invariant checked after every operation.

use core::alloc::Layout;
use core::mem::MaybeUninit;

use proptest::prelude::*;
use surefit_compact::{
    Bound, Bytes, Config, Fraction, Geometry, GeometrySpec, Heap, Medium, Narrow, PageOrder,
    Spacing, Tail, Wide, Width,
};

/// Memory that starts with junk.
fn junk(bytes: usize) -> Vec<MaybeUninit<u8>> {
    (0..bytes)
        .map(|i| MaybeUninit::new((i * 151 + 89) as u8))
        .collect()
}

fn geometry(page_bytes: usize, width: usize) -> Geometry {
    Geometry::new(&GeometrySpec {
        page_bytes,
        granule: 8,
        smallest: 16,
        spacing: Spacing::Fraction(8),
        tail: Tail::BackReferences { bytes: width },
    })
    .expect("valid")
}

fn holes(base: u32, numerator: u32, denominator: u32) -> Bound {
    let fraction = Fraction::new(numerator, denominator).expect("at most one half");
    Bound::Holes { base, fraction }
}

fn configs(page_bytes: usize, width: usize) -> Vec<Config> {
    let bounds = [
        Bound::Pages(1),
        Bound::Pages(3),
        Bound::Unbounded,
        Bound::DEFAULT,
        holes(0, 0, 1),
        holes(0, 1, 2),
        holes(3, 2, 5),
    ];
    let mut configs: Vec<Config> = bounds
        .iter()
        .map(|&bound| Config::new(geometry(page_bytes, width), bound).expect("valid"))
        .collect();
    let original = Config::new(geometry(page_bytes, width), Bound::Pages(2)).expect("valid");
    configs.push(original.with_order(PageOrder::Original).expect("valid"));
    configs
}

#[derive(Clone, Debug)]
enum Op {
    Alloc { size: usize, align: usize },
    Free(usize),
    Resize(usize, usize),
    Compact(u64),
}

fn op() -> impl Strategy<Value = Op> {
    let size = prop_oneof![
        6 => 0_usize..200,
        3 => 200_usize..2000,
        1 => 2000_usize..40_000,
    ];
    prop_oneof![
        6 => (size.clone(), prop_oneof![8 => Just(8_usize), 1 => Just(64), 1 => Just(512)])
            .prop_map(|(size, align)| Op::Alloc { size, align }),
        5 => any::<usize>().prop_map(Op::Free),
        2 => (any::<usize>(), size).prop_map(|(which, size)| Op::Resize(which, size)),
        1 => (0_u64..20).prop_map(Op::Compact),
    ]
}

/// An object of the model: its handle and the bytes it must hold.
struct Object {
    handle: Bytes<u8>,
    content: Vec<u8>,
    align: usize,
}

fn pattern(seed: usize, len: usize) -> Vec<u8> {
    (0..len).map(|i| (seed * 31 + i * 7) as u8).collect()
}

fn contents<W: Width>(heap: &Heap<'_, W>, object: &Object) -> Vec<u8> {
    heap.chunks(&object.handle).flatten().copied().collect()
}

/// Allocates zeros, checks them if the heap promises them, and writes over them.
fn allocate<W: Width>(
    heap: &Heap<'_, W>,
    size: usize,
    align: usize,
    step: usize,
) -> Option<Object> {
    let layout = Layout::from_size_align(size, align).expect("valid");
    let (before, promised) = (heap.stats(), heap.can_allocate_bytes(size, align));
    let got = heap.alloc_zeroed(layout);
    assert_eq!(got.is_ok(), promised, "the promise is exact");
    let after = heap.stats();
    assert_eq!(after.moves_total, before.moves_total, "alloc never moves");
    let Ok(mut handle) = got else {
        assert_eq!(after.live_blocks, before.live_blocks);
        return None;
    };
    assert!(heap.chunks(&handle).flatten().all(|&b| b == 0));
    let aligned = |chunk: &[u8]| chunk.as_ptr().align_offset(align) == 0;
    assert!(heap.chunks(&handle).all(aligned));
    let content = pattern(step, size);
    heap.write_at(&mut handle, 0, &content);
    Some(Object {
        handle,
        content,
        align,
    })
}

fn apply<W: Width>(heap: &mut Heap<'_, W>, live: &mut Vec<Object>, step: usize, op: &Op) {
    match *op {
        Op::Alloc { size, align } => live.extend(allocate(heap, size, align, step)),
        Op::Free(which) if !live.is_empty() => {
            let object = live.swap_remove(which % live.len());
            assert_eq!(contents(heap, &object), object.content);
            heap.free_bytes(object.handle);
        }
        Op::Resize(which, size) if !live.is_empty() => {
            let which = which % live.len();
            let object = &mut live[which];
            let layout = Layout::from_size_align(size, object.align).expect("valid");
            if heap.resize(&mut object.handle, layout).is_ok() {
                object.content.resize(size, 0);
            }
        }
        Op::Compact(budget) => assert!(heap.compact(budget) <= budget),
        _ => {}
    }
}

fn run<W: Width>(config: &Config, bytes: usize, ops: &[Op]) {
    let mut memory = junk(bytes);
    let mut heap = Heap::<W>::new(&mut memory, config).expect("the region is large enough");
    let mut live: Vec<Object> = Vec::new();
    for (step, op) in ops.iter().enumerate() {
        apply(&mut heap, &mut live, step, op);
        heap.check()
            .unwrap_or_else(|e| panic!("step {step} {op:?}: {e}"));
        for object in &live {
            assert_eq!(contents(&heap, object), object.content, "step {step}");
        }
    }
    for object in live {
        heap.free_bytes(object.handle);
    }
    heap.check().expect("empty");
    assert_eq!((heap.stats().live_blocks, heap.stats().pages), (0, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn wide_heaps_keep_every_byte(ops in prop::collection::vec(op(), 1..150)) {
        for config in configs(4096, 4) {
            run::<Wide>(&config, 200_000, &ops);
        }
        for config in configs(16384, 4) {
            run::<Wide>(&config, 500_000, &ops);
        }
    }

    #[test]
    fn medium_heaps_keep_every_byte(ops in prop::collection::vec(op(), 1..150)) {
        for config in configs(4096, 3) {
            run::<Medium>(&config, 200_000, &ops);
            let config = config.with_pieces(Some(64)).expect("valid");
            run::<Medium>(&config, 100_000, &ops);
        }
    }

    #[test]
    fn narrow_heaps_keep_every_byte(ops in prop::collection::vec(op(), 1..150)) {
        for config in configs(1024, 2) {
            run::<Narrow>(&config, 100_000, &ops);
        }
        for config in configs(1024, 2) {
            let config = config.with_pieces(None).expect("valid");
            run::<Narrow>(&config, 60_000, &ops);
        }
    }
}

#[test]
fn a_bound_beyond_every_count_never_moves() {
    let bound = holes(u32::MAX, 1, 2);
    let config = Config::new(geometry(4096, 4), bound).expect("valid");
    let mut memory = junk(400_000);
    let mut heap = Heap::<Wide>::new(&mut memory, &config).expect("large enough");
    let handles: Vec<_> = (0..2000_u64)
        .map(|i| heap.insert(i).expect("fits"))
        .collect();
    for (i, handle) in handles.into_iter().enumerate() {
        if i % 3 != 0 {
            heap.free(handle);
        }
    }
    heap.check().expect("sound");
    assert_eq!(heap.stats().moves_total, 0);
}

#[test]
fn what_is_called_free_can_be_allocated() {
    let config = Config::new(geometry(16384, 4), Bound::DEFAULT).expect("valid");
    let mut memory = junk(300_000);
    let heap = Heap::<Wide>::new(&mut memory, &config).expect("large enough");
    let layout = |size| Layout::from_size_align(size, 8).expect("valid");
    let _one = heap.alloc(layout(1000)).expect("fits");
    loop {
        let free = heap.details().largest_free_bytes();
        assert!(heap.can_allocate_bytes(free, 1), "{free}");
        if heap.alloc(layout(4096)).is_err() {
            break;
        }
    }
    assert_eq!(heap.details().largest_free_bytes(), 1016);
}

#[test]
fn a_free_block_above_the_piece_size_is_no_free_piece() {
    let config = Config::new(geometry(4096, 4), Bound::DEFAULT).expect("valid");
    let config = config.with_pieces(Some(256)).expect("valid");
    let mut memory = junk(40_000);
    let heap = Heap::<Wide>::new(&mut memory, &config).expect("large enough");
    let _large = heap.insert([0_u8; 1000]).expect("fits");
    let layout = Layout::from_size_align(256, 8).expect("valid");
    while heap.alloc(layout).is_ok() {}
    assert!(
        heap.details().largest_free() > 256,
        "in the page of the large object"
    );
    assert_eq!(heap.details().largest_free_bytes(), 0);
}

#[test]
fn objects_in_the_smallest_pieces_have_spines_of_many_levels() {
    for piece in [64, 128] {
        let config = Config::new(geometry(1024, 4), Bound::DEFAULT).expect("valid");
        let config = config.with_pieces(Some(piece)).expect("valid");
        let mut memory = junk(3 << 20);
        let mut heap = Heap::<Wide>::new(&mut memory, &config).expect("large enough");
        let entries = usize::try_from((1 << 32) * piece as u64 - 1).unwrap_or(usize::MAX);
        for len in [usize::MAX, isize::MAX as usize, entries] {
            assert!(!heap.can_allocate_bytes(len, 64), "{len}");
        }
        let layout = Layout::from_size_align(1 << 20, 64).expect("valid");
        let mut bytes = heap.alloc_zeroed(layout).expect("fits");
        heap.write_at(&mut bytes, (1 << 20) - 3, &[1, 2, 3]);
        assert_eq!(
            heap.chunks(&bytes)
                .flatten()
                .map(|&b| u32::from(b))
                .sum::<u32>(),
            6
        );
        heap.check().expect("sound");
        heap.free_bytes(bytes);
        assert_eq!(heap.stats().live_blocks, 0);
    }
}
