//! Cursors as `std::io` knows them, against `std::io::Cursor`.

use std::io::{self, BufRead, IoSlice, Read, Seek, SeekFrom, Write};

use super::*;

fn seeks() -> impl Strategy<Value = Vec<(u8, i64)>> {
    let by = prop_oneof![6 => -3000_i64..3000, 1 => Just(i64::MIN), 1 => Just(i64::MAX)];
    prop::collection::vec((0_u8..5, by), 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_cursor_behaves_as_one_of_the_standard_library(len in 0_usize..3000, seeks in seeks()) {
        let config = config(4, 128, Bound::DEFAULT);
        let mut memory = region(60_000);
        let heap = Heap::<Wide>::new(&mut memory, &config).expect("large enough");
        let (mut bytes, mut model) = object(&heap, len, 5);
        let mut ours = heap.cursor_mut(&mut bytes);
        let mut theirs = io::Cursor::new(&mut model[..]);
        for (step, &(kind, by)) in seeks.iter().enumerate() {
            let count = by.unsigned_abs() as usize % 500;
            match kind {
                0 => {
                    let (mut a, mut b) = (vec![0; count], vec![0; count]);
                    prop_assert_eq!(ours.read(&mut a).unwrap(), theirs.read(&mut b).unwrap());
                    prop_assert_eq!(a, b);
                }
                1 => {
                    let written = pattern(step, count);
                    prop_assert_eq!(ours.write(&written).unwrap(), theirs.write(&written).unwrap());
                    ours.flush().unwrap();
                }
                _ => {
                    let from = match kind {
                        2 => SeekFrom::Start(by.unsigned_abs()),
                        3 => SeekFrom::End(by),
                        _ => SeekFrom::Current(by),
                    };
                    let before = theirs.position();
                    match theirs.seek(from) {
                        Ok(at) if at <= len as u64 => prop_assert_eq!(ours.seek(from).unwrap(), at),
                        _ => {
                            let error = ours.seek(from).unwrap_err();
                            prop_assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
                            theirs.set_position(before);
                        }
                    }
                }
            }
            prop_assert_eq!(ours.position() as u64, theirs.position());
        }
        prop_assert_eq!(content(&heap, &bytes), model);
    }
}

#[test]
fn lines_that_straddle_pieces_are_read_whole() {
    let config = config(4, 64, Bound::DEFAULT);
    let mut memory = region(60_000);
    let heap = Heap::<Wide>::new(&mut memory, &config).expect("large enough");
    let lines: Vec<String> = (0..200).map(|n| "x".repeat(n)).collect();
    let text = lines.join("\n");
    let mut bytes = heap.alloc_zeroed(layout(text.len(), 1)).expect("room");
    heap.cursor_mut(&mut bytes)
        .write_all(text.as_bytes())
        .expect("room");
    let read: io::Result<Vec<String>> = heap.cursor(&bytes).lines().collect();
    assert_eq!(read.expect("UTF-8"), lines);
    let full = heap
        .cursor_mut(&mut bytes)
        .write_all(&vec![0; text.len() + 1]);
    assert_eq!(full.unwrap_err().kind(), io::ErrorKind::WriteZero);
}

#[test]
fn vectors_are_written_and_read_piece_by_piece() {
    let config = config(2, 64, Bound::DEFAULT);
    let mut memory = region(60_000);
    let heap = Heap::<Narrow>::new(&mut memory, &config).expect("large enough");
    for len in [0, 1, 64, 65, 640, 5000] {
        let (mut bytes, expected) = object(&heap, len, len);
        let vectors: Vec<IoSlice<'_>> = heap.chunks(&bytes).io_slices().collect();
        assert_eq!(vectors.len(), len.div_ceil(64));
        let mut written = Vec::new();
        assert_eq!(written.write_vectored(&vectors).expect("a vector"), len);
        assert_eq!(written, expected);
        let source = pattern(77, len);
        let mut vectors: Vec<_> = heap.chunks_mut(&mut bytes).io_slices().collect();
        assert_eq!(
            (&source[..]).read_vectored(&mut vectors).expect("a slice"),
            len
        );
        assert_eq!(content(&heap, &bytes), source);
    }
}

#[test]
fn a_seek_out_of_the_object_is_refused_and_moves_nothing() {
    let config = config(4, 64, Bound::DEFAULT);
    let mut memory = region(60_000);
    let heap = Heap::<Wide>::new(&mut memory, &config).expect("large enough");
    let (bytes, _) = object(&heap, 300, 1);
    let mut cursor = heap.cursor(&bytes);
    assert_eq!(cursor.seek(SeekFrom::End(-10)).expect("inside"), 290);
    for from in [
        SeekFrom::Start(301),
        SeekFrom::Start(u64::MAX),
        SeekFrom::End(1),
        SeekFrom::End(-301),
        SeekFrom::End(i64::MIN),
        SeekFrom::Current(11),
        SeekFrom::Current(i64::MAX),
    ] {
        let kind = cursor.seek(from).expect_err("outside").kind();
        assert_eq!(
            (kind, cursor.position()),
            (io::ErrorKind::InvalidInput, 290)
        );
    }
    assert_eq!(cursor.seek(SeekFrom::Current(10)).expect("the end"), 300);
    assert_eq!(cursor.read(&mut [0; 4]).expect("nothing"), 0);
}
