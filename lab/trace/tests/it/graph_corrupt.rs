//! Whatever is wrong with a recorded graph is one line that says where and how to mend it.

use std::io::{Cursor, Read, repeat};

use crate::common::{bundled, graph, packed, unpacked};
use surefit_trace::graph::{Reader, Step};
use surefit_trace::{Problem, TraceError};

/// A class object, its class of two fields, two instances, and a walk that begins.
const BEGINNING: &[u8] = b"H\x01\x00\x60\x00C\x01\x02\x03LA;A\x01\x18A\x01\x18S\x01\x02\x30";

fn error(bytes: &[u8]) -> TraceError {
    let mut reader = match Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return error,
    };
    let error = reader.find_map(Result::err).expect("an error");
    assert!(reader.next().is_none(), "it stops");
    error
}

fn after_beginning(records: &[u8]) -> TraceError {
    error(&[BEGINNING, records].concat())
}

#[test]
fn every_problem_has_its_line() {
    let lines: [(&[u8], u64, &str); 17] = [
        (b"E\x02\x01\x07\x00R.D\x00E\x02\x00", 9, "E outside a walk"),
        (b"A\x01\x18", 0, "A inside a walk"),
        (b"X", 0, "unknown letter 'X'"),
        (b"E\x07\x00D\x00", 0, "names object 7"),
        (b"E\x02\x01\x07\x05D\x00", 0, "names object -1"),
        (b"E\x02\x02\x07\x00\x00\x00D\x00", 0, "twice"),
        (
            b"E\x02\x03\x07\x00\x01\x00\x01\x00D\x00",
            0,
            "sets slot 9 of object 2, which has no room for it among 2",
        ),
        (b"H\x05\x00\x10\x00", 0, "finds object 5 where 4 is next"),
        (
            b"Z\x02\x18\x04",
            0,
            "finds object 2 again, which is not dead",
        ),
        (b"D\x02\x00S\x02\x02\x30Z\x02\x10\x04", 7, "but it had 24"),
        (b"R+\x02.R+\x02.", 4, "already"),
        (b"R-\x02.", 0, "not"),
        (b"R+\x02.D\x02\x00", 4, "which is a root"),
        (
            b"D\x02\x00S\x02\x02\x31",
            3,
            "the walk says bytes = 49, but the records give 48",
        ),
        (b"D\x00C\x01\x00\x01L", 2, "declares class 1 twice"),
        (b"D\x00A\x02\x18", 2, "class 2"),
        (
            b"D\x00A\x01\x10",
            2,
            "16 bytes, too small for a header and 2 references",
        ),
    ];
    for (records, byte, part) in lines {
        let error = after_beginning(records);
        let line = error.to_string();
        assert!(line.contains(part), "{line}");
        assert!(!line.contains('\n') && line.contains("; "), "{line}");
        assert_eq!(
            error.position().byte,
            Some(BEGINNING.len() as u64 + byte),
            "{line}"
        );
    }
}

#[test]
fn files_that_are_no_graphs_say_so() {
    assert!(matches!(error(b"").problem(), Problem::Empty));
    assert_eq!(
        error(b"H\x01\x00").to_string(),
        "trace: unpacked byte 0: ends too soon: it was cut short; fetch the file again, or record the program again"
    );
    let other_trace = std::fs::read(bundled("emacs")).expect("a readable trace");
    assert!(matches!(error(&other_trace).problem(), Problem::NotAGraph));
    assert_eq!(
        error(b"#!/bin/sh").to_string(),
        "trace: unpacked byte 0: is not an object graph: it begins with no record of one; give a .sfg or .sfg.zst file"
    );
    let two_frames = [packed(b"H\x01\x00\x60\x00"), packed(b"more")].concat();
    assert!(matches!(
        error(&two_frames).problem(),
        Problem::BytesAfterEnd
    ));
}

#[test]
fn a_file_is_named() {
    let error = Reader::open("no/such/file.sfg.zst").expect_err("no file");
    assert!(
        error
            .to_string()
            .starts_with("no/such/file.sfg.zst: cannot be opened")
    );
}

#[test]
fn absurd_counts_cost_no_memory() {
    let huge = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    let edges = [b"E\x02", &huge[..]].concat();
    assert!(matches!(
        after_beginning(&edges).problem(),
        Problem::Truncated
    ));
    let class = [b"D\x00C\x02\x00", &huge[..]].concat();
    assert!(matches!(
        after_beginning(&class).problem(),
        Problem::HugeClass { .. }
    ));
    let object = [b"D\x00A\x01", &huge[..]].concat();
    assert!(matches!(
        after_beginning(&object).problem(),
        Problem::HugeObject(_)
    ));
    let found = [b"H", &huge[..]].concat();
    assert!(matches!(
        after_beginning(&found).problem(),
        Problem::UnknownObject(_)
    ));
}

#[test]
fn a_walk_that_never_ends_is_refused_before_memory_does() {
    // one object dies again and again
    let input = Cursor::new([BEGINNING, b"D\x02"].concat()).chain(repeat(1));
    let problem = Reader::new(input).expect("not empty").find_map(Result::err);
    let problem = problem.expect("an error");
    assert!(
        matches!(problem.problem(), Problem::TooMany { .. }),
        "{problem}"
    );
}

/// Positions spread over `length`, denser at both ends.
fn positions(length: usize) -> impl Iterator<Item = usize> {
    let ends = (0..length.min(8)).chain(length.saturating_sub(4)..length);
    ends.chain((0..length).step_by((length / 12).max(1)))
}

#[test]
fn a_bundled_recording_cut_anywhere_is_refused() {
    let packed = std::fs::read(graph("raytrace")).expect("a readable recording");
    for length in positions(packed.len()) {
        let line = error(&packed[..length]).to_string();
        assert!(line.contains("; ") && !line.contains('\n'), "{line}");
    }
}

#[test]
fn a_flipped_bit_of_a_bundled_recording_never_panics() {
    let plain = unpacked(&graph("raytrace"));
    for position in positions(plain.len()) {
        let mut damaged = plain.clone();
        damaged[position] ^= 1 << (position % 8);
        let steps = Reader::new(&damaged[..]).expect("not empty");
        let walks = steps
            .filter(|step| matches!(step, Ok(Step::Walk(_))))
            .count();
        assert!(walks <= 74, "{walks} walks");
    }
}
