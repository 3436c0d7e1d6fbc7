//! Whatever is wrong with a trace is one line that says where; nothing panics and nothing unsound
//! passes.

use crate::common::{bundled, decode, packed, unpacked};
use surefit_trace::{Align, Call, Event, Op, Problem, Reader, Trace, TraceError, check_bytes};

const MALLOC: Call = Call::Malloc;

/// A header named `t` with these counters, and the bytes that follow.
fn trace(counts: [u8; 7], records: &[u8]) -> Vec<u8> {
    let mut bytes = b"SFT1\x01\x01t".to_vec();
    bytes.extend(counts);
    bytes.extend(records);
    bytes
}

/// The problem of a trace of three allocations of 1, 2 and 3 bytes with these records behind them.
fn problem(more: &[u8]) -> TraceError {
    let mut records = vec![1 << 3, 2 << 3, 3 << 3];
    records.extend(more);
    check_bytes(&trace([9, 4, 1, 6, 3, 3, 6], &records)).expect_err("unsound")
}

fn assert_one_line(error: &TraceError) {
    let line = error.to_string();
    assert!(!line.contains('\n') && line.contains("; "), "{line}");
}

#[test]
fn a_sound_trace_passes() {
    let bytes = trace([3, 2, 1, 3, 2, 1, 3], &[1 << 3, 2 << 3, 4, 7]);
    let header = check_bytes(&bytes).expect("sound");
    assert_eq!(header.counts.live_at_end, 1);
    assert_eq!(check_bytes(&packed(&bytes)).expect("sound"), header);
}

#[test]
fn files_that_are_no_traces_say_so() {
    let kind = |bytes: &[u8]| match check_bytes(bytes).expect_err("no trace").problem() {
        Problem::Empty => "empty",
        Problem::NotATrace => "other",
        Problem::Truncated => "truncated",
        Problem::Version(_) => "version",
        Problem::NameTooLong(5000) => "name",
        Problem::NameNotUtf8 => "utf8",
        other => panic!("{other}"),
    };
    assert_eq!(kind(b""), "empty");
    assert_eq!(kind(b"SFT"), "truncated");
    assert_eq!(kind(b"#!/bin/sh"), "other");
    assert_eq!(kind(b"hi"), "other");
    assert_eq!(kind(b"SFT1\0"), "version");
    assert_eq!(kind(b"SFT1\x03"), "version");
    assert_eq!(kind(b"SFT1\x02"), "truncated");
    assert_eq!(kind(b"SFT1\x01\x88\x27"), "name");
    assert_eq!(kind(b"SFT1\x01\x01\xff\0\0\0\0\0\0\0\x07"), "utf8");
    assert_eq!(kind(&packed(b"")), "truncated");
}

#[test]
fn a_path_that_cannot_be_opened_is_named() {
    let error = Trace::load("no/such/file.sft.zst").expect_err("no file");
    assert!(matches!(error.problem(), Problem::Open(_)));
    assert_eq!(
        error.to_string(),
        "no/such/file.sft.zst: cannot be opened: No such file or directory (os error 2); \
         check the path and its permissions"
    );
}

#[test]
fn a_dead_object_is_named_with_its_place() {
    // frees object 1 (age 1) twice
    let error = problem(&[1 << 3 | 4, 1 << 3 | 4, 7]);
    assert!(matches!(error.problem(), Problem::NotLive { id: 1 }));
    assert_eq!(error.position().event, Some(4));
    assert_eq!(error.position().byte, Some(14 + 4));
    assert_eq!(
        error.to_string(),
        "trace: event 4 (unpacked byte 18): names object 1, which is not live; \
         the file is damaged or its writer is at fault: record the program again"
    );
    let realloc = problem(&[4, 3, 9, 7]);
    assert!(matches!(realloc.problem(), Problem::NotLive { id: 2 }));
}

#[test]
fn objects_that_never_were_are_refused() {
    for record in [
        &[3 << 3 | 4][..],
        &[3 << 3 | 3, 1],
        &[6 << 3 | 5],
        &[1 << 3 | 5],
    ] {
        let error = problem(record);
        assert!(
            matches!(error.problem(), Problem::NeverAllocated),
            "{error}"
        );
    }
    let first_is_free = check_bytes(&trace([1, 0, 1, 0, 0, 0, 0], &[4, 7]));
    assert!(matches!(
        first_is_free.expect_err("unsound").problem(),
        Problem::NeverAllocated
    ));
}

#[test]
fn integers_of_more_than_64_bits_are_refused() {
    let long = |bytes: &[u8]| {
        let mut record = vec![31 << 3 | 4];
        record.extend(bytes);
        matches!(problem(&record).problem(), Problem::LongInteger)
    };
    assert!(long(&[0xff; 10]));
    assert!(long(&[
        0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2
    ]));
    // 2^64 - 1 fits, but not with the 31 that the first byte stands for
    assert!(long(&[
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1
    ]));
}

#[test]
fn extremes_of_every_record_are_errors() {
    let most = [0xe0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]; // 2^64 - 1 - 31
    for op in 0..8 {
        let mut record = vec![31 << 3 | op];
        record.extend(most);
        record.extend(most);
        assert_one_line(&problem(&record));
    }
}

#[test]
fn alignments_and_sizes_beyond_reason_are_refused() {
    assert!(matches!(
        problem(&[31 << 3 | 2, 0, 1]).problem(),
        Problem::Align(31)
    ));
    let size = problem(&[31 << 3, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1]);
    assert!(matches!(size.problem(), Problem::Size(_)), "{size}");
}

#[test]
fn reserved_records_and_skipped_threads_are_refused() {
    assert!(matches!(
        problem(&[2 << 3 | 7]).problem(),
        Problem::ReservedRecord(2)
    ));
    let many = problem(&[31 << 3 | 6, 0xff, 0xff, 0x7f]);
    assert!(matches!(
        many.problem(),
        Problem::TooMany {
            what: "threads",
            ..
        }
    ));
    let skipped = problem(&[2 << 3 | 6, 0, 7]);
    assert!(matches!(
        skipped.problem(),
        Problem::Thread {
            number: 2,
            appeared: 1
        }
    ));
}

#[test]
fn each_wrong_counter_is_named() {
    let right = [3, 2, 1, 3, 2, 1, 3];
    let names = [
        "n_events",
        "n_objects",
        "n_threads",
        "peak_bytes",
        "peak_objects",
        "live_at_end",
        "total_bytes",
    ];
    for (place, name) in names.into_iter().enumerate() {
        for wrong in [right[place] - 1, right[place] + 1] {
            let mut counts = right;
            counts[place] = wrong;
            let bytes = trace(counts, &[1 << 3, 2 << 3, 4, 7]);
            let error = check_bytes(&bytes).expect_err("a wrong counter");
            let named = matches!(error.problem(), Problem::Counter { field, .. } if *field == name);
            assert!(named, "{error}");
            assert_one_line(&error);
        }
    }
}

#[test]
fn bytes_after_the_end_are_refused() {
    let mut bytes = trace([3, 2, 1, 3, 2, 1, 3], &[1 << 3, 2 << 3, 4, 7]);
    let mut after_frame = packed(&bytes);
    let two_frames = [after_frame.clone(), packed(b"more")].concat();
    after_frame.push(0);
    bytes.push(0);
    for bytes in [bytes.clone(), packed(&bytes), after_frame, two_frames] {
        let error = check_bytes(&bytes).expect_err("bytes after END");
        assert!(matches!(error.problem(), Problem::BytesAfterEnd), "{error}");
    }
}

#[test]
fn a_wrong_checksum_is_found() {
    let mut bytes = packed(&trace([3, 2, 1, 3, 2, 1, 3], &[1 << 3, 2 << 3, 4, 7]));
    *bytes.last_mut().expect("not empty") ^= 1;
    let error = check_bytes(&bytes).expect_err("a wrong checksum");
    assert!(matches!(error.problem(), Problem::Damaged(_)), "{error}");
    assert_one_line(&error);
}

#[test]
fn absurd_counters_cost_no_memory() {
    let mut bytes = b"SFT1\x01\x01t".to_vec();
    for _ in 0..7 {
        bytes.extend([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]);
    }
    bytes.push(7);
    let load = Trace::from_bytes(&bytes).expect_err("too large for memory");
    assert!(matches!(
        load.problem(),
        Problem::TooMany { what: "events", .. }
    ));
    let check = check_bytes(&bytes).expect_err("wrong counters");
    assert!(matches!(check.problem(), Problem::Counter { .. }));
}

#[test]
fn the_sum_of_all_requests_may_overflow() {
    let huge = Op::Alloc {
        id: 0,
        size: surefit_trace::MAX_SIZE,
        call: MALLOC,
    };
    let again = Op::Realloc {
        id: 0,
        size: surefit_trace::MAX_SIZE,
    };
    let mut events = vec![Event::new(0, huge)];
    events.resize(256, Event::new(0, again));
    let error = Trace::new("huge", events).expect_err("2^64 bytes");
    assert!(matches!(error.problem(), Problem::SumOverflow));
    assert_eq!(error.position().event, Some(255));
}

#[test]
fn a_writer_takes_no_unsound_event() {
    let alloc = |id| {
        let call = Call::Aligned(Align::new(64).expect("a power of two"));
        Op::Alloc { id, size: 8, call }
    };
    for (ops, is_sound) in [
        (vec![alloc(0), alloc(1)], true),
        (vec![alloc(1)], false),
        (
            vec![alloc(0), Op::Free { id: 0 }, Op::Free { id: 0 }],
            false,
        ),
        (vec![Op::Realloc { id: 0, size: 1 }], false),
    ] {
        let events = ops.into_iter().map(|op| Event::new(0, op)).collect();
        assert_eq!(Trace::new("t", events).is_ok(), is_sound);
    }
    assert!(Trace::new(&"n".repeat(5000), Vec::new()).is_err());
    let late_thread = vec![Event::new(1, alloc(0))];
    assert!(Trace::new("t", late_thread).is_err());
}

/// Positions spread over `length`, denser at both ends.
fn positions(length: usize) -> impl Iterator<Item = usize> {
    let ends = (0..length.min(64)).chain(length.saturating_sub(32)..length);
    ends.chain((0..length).step_by((length / 60).max(1)))
}

#[test]
fn a_bundled_trace_cut_anywhere_is_refused() {
    let packed = std::fs::read(bundled("emacs")).expect("a readable trace");
    for length in positions(packed.len()) {
        let error = check_bytes(&packed[..length]).expect_err("cut short");
        assert_one_line(&error);
    }
    let plain = unpacked(&bundled("emacs"));
    for length in positions(plain.len()) {
        let error = check_bytes(&plain[..length]).expect_err("cut short");
        let cut = matches!(error.problem(), Problem::Truncated | Problem::Empty);
        assert!(cut, "{length}: {error}");
    }
}

#[test]
fn a_bundled_trace_with_a_flipped_bit_is_refused_or_the_same() {
    let packed = std::fs::read(bundled("emacs")).expect("a readable trace");
    let plain = decode(&packed);
    for position in positions(packed.len()) {
        let mut damaged = packed.clone();
        damaged[position] ^= 1 << (position % 8);
        match check_bytes(&damaged) {
            Err(error) => assert_one_line(&error),
            // some bits of a frame are unused: the trace inside is then the same
            Ok(_) => assert!(decode(&damaged) == plain, "byte {position}"),
        }
    }
}

#[test]
fn a_flipped_bit_of_the_plain_stream_never_panics() {
    let plain = unpacked(&bundled("emacs"));
    let counters = 12..35;
    for position in positions(plain.len()) {
        let mut damaged = plain.clone();
        damaged[position] ^= 1 << (position % 7);
        match check_bytes(&damaged) {
            Err(error) => assert_one_line(&error),
            Ok(_) => assert!(!counters.contains(&position), "byte {position}"),
        }
    }
}

#[test]
fn a_reader_stops_after_its_first_error() {
    let bytes = trace([3, 2, 1, 3, 2, 1, 3], &[1 << 3]);
    let mut reader = Reader::new(&bytes[..]).expect("a header");
    assert!(reader.next().is_some_and(|event| event.is_ok()));
    assert!(reader.next().is_some_and(|event| event.is_err()));
    assert!(reader.next().is_none());
}
