//! Vectors and resizes: what is there stays where it is.

use super::*;

fn addresses<'a>(chunks: impl Iterator<Item = &'a [u8]> + 'a) -> Vec<usize> {
    chunks.map(|chunk| chunk.as_ptr().addr()).collect()
}

/// The number of the spine's entry, as `Debug` shows it.
fn name(shown: &impl core::fmt::Debug) -> String {
    let shown = format!("{shown:?}");
    let (_, from) = shown.split_once("object ").expect("an object");
    from.split_once(' ').expect("a heap").0.to_owned()
}

fn grows_without_copies<W: Width>(config: &Config, pieces: usize) {
    let piece = config.piece_bytes().expect("pieces");
    let mut memory = region(pieces * piece * 2 + 20_000);
    let mut heap = Heap::<W>::new(&mut memory, config).expect("large enough");
    let mut vec = ByteVec::with_capacity(&heap, 0).expect("room");
    let mut model = Vec::new();
    let (mut spines, mut last) = (0, String::new());
    while model.len() < pieces * piece {
        let before = addresses(vec.chunks(&heap));
        let more = pattern(model.len(), 1 + model.len() % (piece + 7));
        vec.extend(&mut heap, &more).expect("room");
        model.extend(more);
        if before.len() > 1 {
            let after = addresses(vec.chunks(&heap));
            assert_eq!(after[..before.len()], before, "a piece was copied");
            let now = name(&vec);
            spines += usize::from(now != last);
            last = now;
        }
        assert!(vec.capacity() - vec.len() < piece.max(33) || vec.capacity() <= piece);
    }
    assert!(vec.chunks(&heap).flatten().eq(&model));
    assert_eq!(heap.stats().moves_total, 0, "nothing was moved for it");
    let classes = config.geometry().class_count();
    assert!(spines <= classes, "the spine was replaced {spines} times");
    let bytes = vec.into_bytes(&mut heap).expect("room");
    assert_eq!(content(&heap, &bytes), model);
    heap.free_bytes(bytes);
    assert_eq!(heap.check(), Ok(()));
    assert_eq!(heap.stats().live_blocks, 0);
}

#[test]
fn a_vector_that_grows_keeps_its_pieces() {
    let pieces = if cfg!(miri) { 40 } else { 400 };
    for piece in [64, 256] {
        grows_without_copies::<Wide>(&config(4, piece, Bound::DEFAULT), pieces);
        grows_without_copies::<Medium>(&config(3, piece, Bound::DEFAULT), pieces);
        grows_without_copies::<Narrow>(&config(2, piece, Bound::Unbounded), pieces);
    }
}

#[test]
fn a_resize_keeps_whole_pieces_and_a_spine_that_serves() {
    let config = config(4, 64, Bound::DEFAULT);
    let mut memory = region(300_000);
    let mut heap = Heap::<Wide>::new(&mut memory, &config).expect("large enough");
    let (mut bytes, mut model) = object(&heap, 65, 1);
    let mut spines = 0;
    for len in (65..if cfg!(miri) { 2000 } else { 40_000 }).step_by(37) {
        let (before, spine) = (addresses(heap.chunks(&bytes)), name(&bytes));
        heap.resize(&mut bytes, layout(len, 1)).expect("room");
        model.resize(len, 0);
        let after = addresses(heap.chunks(&bytes));
        let whole = before.len() - 1;
        assert_eq!(after[..whole], before[..whole]);
        spines += usize::from(name(&bytes) != spine);
    }
    assert_eq!(content(&heap, &bytes), model);
    assert!(spines < 60, "the spine was replaced {spines} times");
    for len in (65..model.len()).rev().step_by(1009) {
        heap.resize(&mut bytes, layout(len, 1)).expect("room");
        model.truncate(len);
        assert_eq!(content(&heap, &bytes), model);
        assert_eq!(heap.check(), Ok(()));
    }
    heap.free_bytes(bytes);
    assert_eq!(heap.stats().live_blocks, 0);
}

/// Resizes between any two lengths around multiples of a large piece: bytes, pieces and counts.
fn resizes_between<W: Width>(config: &Config, lens: &[usize]) {
    for (&old, &new) in lens.iter().flat_map(|a| lens.iter().map(move |b| (a, b))) {
        let mut memory = region(40_000);
        let mut heap = Heap::<W>::new(&mut memory, config).expect("large enough");
        let (mut bytes, mut model) = object(&heap, old, 3);
        let before = addresses(heap.chunks(&bytes));
        heap.resize(&mut bytes, layout(new, 1)).expect("room");
        model.resize(new, 0);
        let pieces: Vec<_> = heap.chunks(&bytes).collect();
        assert_eq!(pieces, split(&model, config), "{old} to {new}");
        if old > 64 && new > 64 {
            let whole = old.min(new) / 1024;
            let after = addresses(heap.chunks(&bytes));
            assert_eq!(after[..whole], before[..whole], "{old} to {new}");
        }
        assert_eq!(heap.check(), Ok(()));
        heap.free_bytes(bytes);
        assert_eq!((heap.stats().live_blocks, heap.check()), (0, Ok(())));
    }
}

#[test]
fn a_resize_replaces_small_pieces_by_large_ones_and_back() {
    let edges = (1..6).flat_map(|n| [n * 1024 - 1, n * 1024, n * 1024 + 1, n * 1024 + 500]);
    let mut lens: Vec<_> = [1, 64, 65, 128, 129, 600, 960, 961]
        .into_iter()
        .chain(edges)
        .collect();
    if cfg!(miri) {
        lens = vec![64, 65, 1023, 1024, 1025, 3000];
    }
    resizes_between::<Wide>(&mixed(4, 64, Bound::DEFAULT), &lens);
    resizes_between::<Narrow>(&mixed(2, 64, Bound::Pages(1)), &lens);
    resizes_between::<Wide>(&mixed(4, 256, Bound::Unbounded), &lens);
    // A large piece of two on a page, which moves.
    let half = config(4, 64, Bound::DEFAULT)
        .with_large_pieces(512)
        .expect("valid");
    resizes_between::<Wide>(&half, &lens);
}

/// At the alignment of a page every piece has a page, whatever its length.
#[test]
fn pieces_of_one_class_are_replaced_if_they_hold_other_bytes() {
    let config = mixed(4, 64, Bound::DEFAULT);
    let mut memory = region(200_000);
    let mut heap = Heap::<Wide>::new(&mut memory, &config).expect("large enough");
    let mut bytes = heap.alloc_zeroed(layout(1024, 1024)).expect("room");
    let mut model = pattern(5, 1024);
    heap.write_at(&mut bytes, 0, &model);
    for len in [
        1023, 1024, 2048, 1025, 960, 3000, 1024, 65, 2047, 2048, 1023,
    ] {
        heap.resize(&mut bytes, layout(len, 1024)).expect("room");
        let kept = model.len();
        model.resize(len, 0);
        assert_eq!(content(&heap, &bytes), model, "{kept} to {len}");
        let fresh = pattern(len, len);
        heap.write_at(&mut bytes, 0, &fresh);
        model = fresh;
        assert_eq!(heap.check(), Ok(()));
    }
    heap.free_bytes(bytes);
    assert_eq!(heap.stats().live_blocks, 0);
}

#[test]
fn a_vector_that_was_truncated_holds_what_is_left_and_grows_again() {
    let config = config(4, 64, Bound::DEFAULT);
    let mut memory = region(60_000);
    let mut heap = Heap::<Wide>::new(&mut memory, &config).expect("large enough");
    let mut pair = (ByteVec::with_capacity(&heap, 0).expect("room"), Vec::new());
    for len in [1500, 1499, 1024, 1000, 65, 64, 63, 1, 0] {
        let more = 1500 - pair.1.len();
        extend(&mut heap, &mut pair, &pattern(len, more));
        let capacity = pair.0.capacity();
        pair.0.truncate(usize::MAX);
        pair.0.truncate(len);
        pair.1.truncate(len);
        assert_eq!((pair.0.capacity(), pair.0.is_empty()), (capacity, len == 0));
        assert_eq!(pair.0.chunks(&heap).len(), len.div_ceil(64));
        check(&heap, &pair);
        write(&heap, &mut pair, len / 2, &config);
        check(&heap, &pair);
    }
    replace(&mut heap, &mut pair, 0, true);
    pair.0.free(&mut heap);
    assert_eq!((heap.stats().live_blocks, heap.check()), (0, Ok(())));
}

#[derive(Clone, Debug)]
enum Op {
    Extend(usize, usize),
    Push(usize),
    Truncate(usize, usize),
    Reserve(usize, usize),
    Replace(usize),
    Finish(usize),
    Write(usize),
    Compact,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let size = prop_oneof![4 => 0_usize..100, 2 => 100_usize..1000, 1 => 1000_usize..8000];
    let which = any::<usize>();
    let one = prop_oneof![
        6 => (which, size.clone()).prop_map(|(which, n)| Op::Extend(which, n)),
        3 => which.prop_map(Op::Push),
        2 => (which, size.clone()).prop_map(|(which, n)| Op::Truncate(which, n)),
        1 => (which, size).prop_map(|(which, n)| Op::Reserve(which, n)),
        2 => which.prop_map(Op::Replace),
        1 => which.prop_map(Op::Finish),
        2 => which.prop_map(Op::Write),
        1 => Just(Op::Compact),
    ];
    prop::collection::vec(one, 1..if cfg!(miri) { 30 } else { 150 })
}

/// A vector of the heap, and what it holds.
type Pair = (ByteVec, Vec<u8>);

fn extend<W: Width>(heap: &mut Heap<'_, W>, (vec, model): &mut Pair, more: &[u8]) {
    let before = heap.stats();
    match vec.extend(heap, more) {
        Ok(()) => model.extend(more),
        // What is parked went back before the heap refused: holes and not-full pages may differ.
        Err(_) => {
            let after = heap.stats();
            assert_eq!(after.live_blocks, before.live_blocks);
            assert_eq!(after.moves_total, before.moves_total);
        }
    }
}

fn reserve<W: Width>(heap: &mut Heap<'_, W>, (vec, model): &mut Pair, count: usize) {
    if vec.reserve(heap, count).is_ok() {
        assert!(vec.capacity() >= model.len() + count);
    }
}

/// Frees a vector, as a byte object if `finishes`, and makes an empty one.
fn replace<W: Width>(heap: &mut Heap<'_, W>, pair: &mut Pair, capacity: usize, finishes: bool) {
    let Ok(fresh) = ByteVec::with_capacity(heap, capacity) else {
        return;
    };
    let (vec, model) = core::mem::replace(pair, (fresh, Vec::new()));
    if !finishes {
        return vec.free(heap);
    }
    match vec.into_bytes(heap) {
        Ok(bytes) => {
            assert_eq!((bytes.len(), content(heap, &bytes)), (model.len(), model));
            heap.free_bytes(bytes);
        }
        Err(full) => {
            assert!(full.value.chunks(heap).flatten().eq(&model));
            full.value.free(heap);
        }
    }
}

fn write<W: Width>(heap: &Heap<'_, W>, (vec, model): &mut Pair, at: usize, config: &Config) {
    let at = at.checked_rem(model.len()).unwrap_or(0);
    let source = pattern(at, 100);
    let mut cursor = vec.cursor_mut(heap);
    cursor.set_position(at);
    let got = cursor.write_from(&source);
    model[at..at + got].copy_from_slice(&source[..got]);
    vec.chunks_mut(heap).for_each(|chunk| chunk[0] ^= 1);
    // The pieces are those of the capacity.
    let mut start = 0;
    for piece in split(&vec![0; vec.capacity()], config) {
        model.get_mut(start).into_iter().for_each(|byte| *byte ^= 1);
        start += piece.len();
    }
}

fn apply<W: Width>(heap: &mut Heap<'_, W>, live: &mut [Pair; 3], op: &Op, config: &Config) {
    match *op {
        Op::Extend(which, count) => extend(heap, &mut live[which % 3], &pattern(which, count)),
        Op::Push(which) => {
            let (vec, model) = &mut live[which % 3];
            if vec.push(heap, which as u8).is_ok() {
                model.push(which as u8);
            }
        }
        Op::Truncate(which, len) => {
            let (vec, model) = &mut live[which % 3];
            vec.truncate(len);
            model.truncate(len);
        }
        Op::Reserve(which, count) => reserve(heap, &mut live[which % 3], count),
        Op::Replace(which) => replace(heap, &mut live[which % 3], which % 500, false),
        Op::Finish(which) => replace(heap, &mut live[which % 3], 0, true),
        Op::Write(which) => write(heap, &mut live[which % 3], which / 3, config),
        Op::Compact => assert!(heap.compact(5) <= 5),
    }
}

fn check<W: Width>(heap: &Heap<'_, W>, (vec, model): &Pair) {
    assert_eq!((vec.len(), vec.is_empty()), (model.len(), model.is_empty()));
    assert!(vec.capacity() >= vec.len());
    assert!(vec.chunks(heap).flatten().eq(model));
    let mut read = vec![0; model.len()];
    assert_eq!(vec.cursor(heap).read_into(&mut read), model.len());
    assert_eq!(&read, model);
}

fn drive<W: Width>(config: &Config, ops: &[Op]) {
    let mut memory = region(40_000);
    let mut heap = Heap::<W>::new(&mut memory, config).expect("large enough");
    let empty = |capacity| ByteVec::with_capacity(&heap, capacity).expect("room");
    let mut live = [0, 60, 120].map(|capacity| (empty(capacity), Vec::new()));
    for op in ops {
        apply(&mut heap, &mut live, op, config);
        assert_eq!(heap.check(), Ok(()));
        live.iter().for_each(|pair| check(&heap, pair));
    }
    live.into_iter().for_each(|(vec, _)| vec.free(&mut heap));
    assert_eq!((heap.stats().live_blocks, heap.check()), (0, Ok(())));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn vectors_hold_what_vectors_of_the_standard_library_hold(ops in ops()) {
        drive::<Wide>(&config(4, 64, Bound::DEFAULT), &ops);
        drive::<Medium>(&config(3, 64, Bound::DEFAULT), &ops);
        drive::<Narrow>(&config(2, 128, Bound::Pages(1)), &ops);
        drive::<Wide>(&mixed(4, 64, Bound::DEFAULT), &ops);
        drive::<Narrow>(&mixed(2, 128, Bound::Pages(1)), &ops);
    }
}
