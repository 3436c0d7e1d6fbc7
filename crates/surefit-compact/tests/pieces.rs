//! Byte objects in pieces against `Vec<u8>`: iterators, cursors, growth; refusals that change
//! nothing.

use core::alloc::Layout;
use core::mem::MaybeUninit;

use proptest::prelude::*;
use surefit_compact::{
    Bound, ByteVec, Bytes, Chunks, Config, CursorMut, Geometry, GeometrySpec, Heap, Medium, Narrow,
    Spacing, Stats, Tail, Wide, Width,
};

#[path = "pieces/growth.rs"]
mod growth;
#[path = "pieces/io.rs"]
mod io;
#[path = "pieces/refusals.rs"]
mod refusals;

/// Cases of a property; few under Miri, which takes a thousand times as long.
const CASES: u32 = if cfg!(miri) { 2 } else { 200 };

fn config(width: usize, piece: usize, bound: Bound) -> Config {
    let spec = GeometrySpec {
        page_bytes: 1024,
        granule: 8,
        smallest: 16,
        spacing: Spacing::Fraction(8),
        tail: Tail::BackReferences { bytes: width },
    };
    let config = Config::new(Geometry::new(&spec).expect("valid"), bound).expect("valid");
    config.with_pieces(Some(piece)).expect("valid")
}

/// As `config`, with large pieces of a page.
fn mixed(width: usize, piece: usize, bound: Bound) -> Config {
    let config = config(width, piece, bound);
    config.with_large_pieces(1024).expect("valid")
}

/// The pieces of an object, as the configuration's documentation says.
fn split<'a>(mut bytes: &'a [u8], config: &Config) -> Vec<&'a [u8]> {
    let small = config.piece_bytes().expect("pieces");
    let large = config.division().large_bytes();
    let mut pieces = Vec::new();
    let is_contiguous = bytes.len() <= small;
    while !bytes.is_empty() {
        let next = if is_contiguous || bytes.len() < large {
            small.min(bytes.len())
        } else {
            large
        };
        let (piece, rest) = bytes.split_at(next);
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}

/// The end of the piece that holds a byte of an object of `len` bytes.
fn end_of_piece(len: usize, offset: usize, config: &Config) -> usize {
    let bytes = vec![0; len];
    let ends = split(&bytes, config).into_iter().scan(0, |end, piece| {
        *end += piece.len();
        Some(*end)
    });
    ends.into_iter().find(|&end| end > offset).unwrap_or(len)
}

fn region(bytes: usize) -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::new(0xa5); bytes]
}

fn layout(bytes: usize, align: usize) -> Layout {
    Layout::from_size_align(bytes, align).expect("valid")
}

fn pattern(seed: usize, len: usize) -> Vec<u8> {
    (0..len)
        .map(|i| (seed % 256 * 131 + i * 7 + i / 251) as u8)
        .collect()
}

/// An object of a pattern.
fn object<W: Width>(heap: &Heap<'_, W>, len: usize, seed: usize) -> (Bytes<u8>, Vec<u8>) {
    let mut bytes = heap.alloc_zeroed(layout(len, 1)).expect("room");
    let content = pattern(seed, len);
    heap.write_at(&mut bytes, 0, &content);
    (bytes, content)
}

fn content<W: Width>(heap: &Heap<'_, W>, bytes: &Bytes<u8>) -> Vec<u8> {
    heap.chunks(bytes).flatten().copied().collect()
}

/// Lengths at and beside multiples of a piece, up to spines of three levels.
fn lengths(piece: usize) -> Vec<usize> {
    let mut lengths = vec![0, 1];
    let most = if cfg!(miri) { 40 } else { usize::MAX };
    let pieces = [1, 2, 15, 16, 17, 32, 33, 64, 256, 257, 300, 1030];
    for pieces in pieces.into_iter().filter(|&pieces| pieces < most) {
        lengths.extend([pieces * piece - 1, pieces * piece, pieces * piece + 1]);
    }
    lengths
}

fn iterators<W: Width>(config: &Config, len: usize) {
    let mut memory = region(200_000);
    let mut heap = Heap::<W>::new(&mut memory, config).expect("large enough");
    if !heap.can_allocate_bytes(len, 1) {
        assert!(len > 60_000, "{len}");
        return;
    }
    let (mut bytes, mut expected) = object(&heap, len, len);
    check_iterators(&heap, &bytes, &expected, config);
    for (number, chunk) in heap.chunks_mut(&mut bytes).enumerate() {
        chunk.fill(number as u8);
    }
    let lens: Vec<_> = split(&expected, config)
        .iter()
        .map(|piece| piece.len())
        .collect();
    let numbered = lens.iter().enumerate();
    expected = numbered
        .flat_map(|(number, &len)| vec![number as u8; len])
        .collect();
    check_iterators(&heap, &bytes, &expected, config);
    let mut all: Vec<_> = heap.chunks_mut(&mut bytes).collect();
    all.iter_mut().for_each(|chunk| chunk[0] = 0xee);
    let firsts = heap.chunks(&bytes).map(|chunk| chunk[0]);
    assert!(firsts.clone().all(|first| first == 0xee));
    assert_eq!(firsts.len(), lens.len());
    heap.free_bytes(bytes);
    assert_eq!((heap.stats().live_blocks, heap.check()), (0, Ok(())));
}

fn check_iterators<W: Width>(
    heap: &Heap<'_, W>,
    bytes: &Bytes<u8>,
    expected: &[u8],
    config: &Config,
) {
    let parts = split(expected, config);
    let piece = config.piece_bytes().expect("pieces");
    let chunks = heap.chunks(bytes);
    assert_eq!(chunks.len(), parts.len());
    assert!(chunks.clone().eq(parts.iter().copied()));
    assert!(chunks.clone().rev().eq(parts.iter().rev().copied()));
    assert_eq!(chunks.clone().count(), parts.len());
    assert_eq!(chunks.clone().last(), parts.last().copied());
    for number in [0, 1, parts.len() / 2, parts.len()] {
        assert_eq!(chunks.clone().nth(number), parts.get(number).copied());
        assert_eq!(
            chunks.clone().nth_back(number),
            parts.iter().rev().nth(number).copied()
        );
    }
    check_both_ends(heap.chunks(bytes), &parts);
    for offset in [0, piece - 1, piece, expected.len() / 2] {
        if offset < expected.len() {
            let end = end_of_piece(expected.len(), offset, config);
            assert_eq!(heap.chunk(bytes, offset), &expected[offset..end]);
        }
    }
    assert!(heap.chunk(bytes, expected.len()).is_empty());
}

/// From both ends in turn: each piece once.
fn check_both_ends<W: Width>(mut both: Chunks<'_, W>, parts: &[&[u8]]) {
    let (mut front, mut back) = (0, 0);
    while let Some(chunk) = both.next() {
        assert_eq!(chunk, parts[front]);
        front += 1;
        if let Some(chunk) = both.next_back() {
            back += 1;
            assert_eq!(chunk, parts[parts.len() - back]);
        }
    }
    assert_eq!(front + back, parts.len());
    assert!(both.next().is_none() && both.next_back().is_none());
}

#[test]
fn iterators_yield_every_piece_once_from_both_ends() {
    for piece in [64, 256] {
        for len in lengths(piece) {
            iterators::<Wide>(&config(4, piece, Bound::DEFAULT), len);
            iterators::<Medium>(&config(3, piece, Bound::DEFAULT), len);
            iterators::<Narrow>(&config(2, piece, Bound::Pages(1)), len);
            iterators::<Wide>(&mixed(4, piece, Bound::DEFAULT), len);
            iterators::<Narrow>(&mixed(2, piece, Bound::Pages(1)), len);
        }
    }
}

#[test]
fn slices_of_elements_are_whole_and_aligned() {
    let config = config(4, 64, Bound::DEFAULT);
    let mut memory = region(100_000);
    let heap = Heap::<Wide>::new(&mut memory, &config).expect("large enough");
    for count in [0, 1, 7, 8, 9, 100, 1000] {
        let mut bytes = heap.alloc_zeroed(layout(count * 8, 8)).expect("room");
        let numbers = heap.chunks_mut(&mut bytes).slices::<u64>().flatten();
        numbers.zip(0..).for_each(|(number, n)| *number = n * n);
        let slices = heap.chunks(&bytes).slices::<u64>();
        assert_eq!(slices.len(), count.div_ceil(8));
        let numbers: Vec<u64> = slices.flatten().copied().collect();
        assert!(numbers.into_iter().eq((0..count as u64).map(|n| n * n)));
        let last = heap.chunks(&bytes).slices::<u64>().next_back();
        let elements = (0..count).collect::<Vec<_>>();
        assert_eq!(
            last.map(<[u64]>::len),
            elements.chunks(8).last().map(<[usize]>::len)
        );
    }
}

#[test]
#[should_panic(expected = "whole elements, aligned")]
fn elements_that_straddle_pieces_are_refused() {
    let config = config(4, 64, Bound::DEFAULT);
    let mut memory = region(100_000);
    let heap = Heap::<Wide>::new(&mut memory, &config).expect("large enough");
    let bytes = heap.alloc_zeroed(layout(240, 8)).expect("room");
    heap.chunks(&bytes).slices::<[u8; 24]>().for_each(|_| ());
}

// ---- cursors ------------------------------------------------------------------------------------

#[derive(Clone, Debug)]
enum Move {
    Read(usize),
    Write(usize),
    Set(usize),
    Advance(usize),
    Chunk,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let count = prop_oneof![4 => 0_usize..20, 2 => 20_usize..400, 1 => 400_usize..5000];
    let one = prop_oneof![
        4 => count.clone().prop_map(Move::Read),
        4 => count.clone().prop_map(Move::Write),
        2 => any::<usize>().prop_map(Move::Set),
        2 => count.prop_map(Move::Advance),
        1 => Just(Move::Chunk),
    ];
    prop::collection::vec(one, 1..60)
}

/// Makes one move of a cursor and of its model: a position in a vector.
fn make<W: Width>(
    cursor: &mut CursorMut<'_, W>,
    (model, at): (&mut [u8], &mut usize),
    action: &Move,
    config: &Config,
) {
    let (from, len) = (*at, model.len());
    match *action {
        Move::Read(count) => {
            let mut read = vec![0; count];
            *at += cursor.read_into(&mut read);
            assert_eq!(*at, len.min(from + count));
            assert_eq!(read[..*at - from], model[from..*at]);
        }
        Move::Write(count) => {
            let written = pattern(from, count);
            *at += cursor.write_from(&written);
            assert_eq!(*at, len.min(from + count));
            model[from..*at].copy_from_slice(&written[..*at - from]);
        }
        Move::Set(to) => {
            *at = to % (len + 1);
            cursor.set_position(*at);
        }
        Move::Advance(by) => {
            *at = len.min(from + by);
            cursor.advance(*at - from);
        }
        Move::Chunk => {
            let end = end_of_piece(len, from, config);
            assert_eq!(cursor.chunk(), &model[from..end]);
            cursor.chunk_mut().fill(from as u8);
            model[from..end].fill(from as u8);
        }
    }
}

fn drive_cursor<W: Width>(config: &Config, len: usize, moves: &[Move]) {
    let mut memory = region(60_000);
    let heap = Heap::<W>::new(&mut memory, config).expect("large enough");
    let (mut bytes, mut model) = object(&heap, len, 1);
    let mut cursor = heap.cursor_mut(&mut bytes);
    let mut at = 0;
    for action in moves {
        make(&mut cursor, (&mut model, &mut at), action, config);
        assert_eq!((cursor.position(), cursor.remaining()), (at, len - at));
    }
    assert_eq!(content(&heap, &bytes), model);
    let mut reader = heap.cursor(&bytes);
    let mut read = vec![0; len + 1];
    assert_eq!(reader.read_into(&mut read), len);
    assert_eq!(read[..len], model);
    assert!(reader.chunk().is_empty() && reader.remaining() == 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cursors_read_and_write_what_a_vector_holds(
        len in prop_oneof![1 => Just(0_usize), 3 => 1_usize..200, 3 => 200_usize..20_000, 1 => (1_usize..300).prop_map(|n| n * 64)],
        moves in moves(),
        piece in prop_oneof![Just(64_usize), Just(512)],
    ) {
        drive_cursor::<Wide>(&config(4, piece, Bound::DEFAULT), len, &moves);
        drive_cursor::<Medium>(&config(3, piece, Bound::DEFAULT), len, &moves);
        drive_cursor::<Narrow>(&config(2, piece, Bound::Pages(1)), len, &moves);
        drive_cursor::<Wide>(&mixed(4, piece, Bound::DEFAULT), len, &moves);
    }
}

#[test]
fn cursors_say_which_they_are_and_where() {
    let config = config(4, 64, Bound::DEFAULT);
    let mut memory = region(60_000);
    let heap = Heap::<Wide>::new(&mut memory, &config).expect("large enough");
    let (mut bytes, _) = object(&heap, 200, 1);
    let mut writer = heap.cursor_mut(&mut bytes);
    writer.advance(70);
    assert_eq!(format!("{writer:?}"), "CursorMut(70 of 200 bytes)");
    let reader = heap.cursor(&bytes);
    assert_eq!(format!("{reader:?}"), "Cursor(0 of 200 bytes)");
}

#[test]
fn positions_are_kept_over_pieces() {
    let moves = [
        Move::Write(70),
        Move::Set(60),
        Move::Chunk,
        Move::Read(10),
        Move::Write(0),
        Move::Advance(64),
        Move::Chunk,
        Move::Read(5000),
        Move::Read(1),
        Move::Write(1),
        Move::Set(3),
        Move::Write(5000),
    ];
    for len in [0, 3, 64, 65, 128, 1000] {
        drive_cursor::<Wide>(&config(4, 64, Bound::DEFAULT), len, &moves);
        drive_cursor::<Medium>(&config(3, 64, Bound::DEFAULT), len, &moves);
        drive_cursor::<Narrow>(&config(2, 64, Bound::DEFAULT), len, &moves);
    }
    let config = config(4, 64, Bound::DEFAULT);
    let mut memory = region(60_000);
    let heap = Heap::<Wide>::new(&mut memory, &config).expect("large enough");
    let (bytes, expected) = object(&heap, 300, 8);
    let mut cursor = heap.cursor(&bytes);
    cursor.advance(70);
    let mut copy = cursor.clone();
    cursor.set_position(299);
    assert_eq!((copy.position(), cursor.remaining()), (70, 1));
    assert_eq!(
        (copy.chunk(), cursor.chunk()),
        (&expected[70..128], &expected[299..])
    );
    assert_eq!(format!("{copy:?}"), "Cursor(70 of 300 bytes)");
}

#[test]
fn a_cursor_does_not_leave_its_object() {
    let config = config(4, 64, Bound::DEFAULT);
    let mut memory = region(100_000);
    let heap = Heap::<Wide>::new(&mut memory, &config).expect("large enough");
    for len in [0, 60, 64, 1000] {
        let (mut bytes, _) = object(&heap, len, 3);
        let mut beyond = |action: &mut dyn FnMut(&mut CursorMut<'_, Wide>)| {
            let mut cursor = heap.cursor_mut(&mut bytes);
            let act = core::panic::AssertUnwindSafe(|| action(&mut cursor));
            assert!(std::panic::catch_unwind(act).is_err(), "{len}");
        };
        beyond(&mut |cursor| cursor.set_position(len + 1));
        beyond(&mut |cursor| cursor.set_position(usize::MAX));
        beyond(&mut |cursor| cursor.advance(len + 1));
        beyond(&mut |cursor| {
            cursor.set_position(len);
            cursor.advance(usize::MAX);
        });
    }
}
