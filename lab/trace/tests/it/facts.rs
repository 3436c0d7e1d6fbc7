//! Facts behind a trace: they come back, are skipped by whoever does not know them, and whatever
//! happens to them, the trace stays readable.

use std::path::PathBuf;

use surefit_trace::{
    Beside, Call, CheckedReader, Counts, Event, Facts, Op, Problem, Trace, TraceError, check_bytes,
};

fn trace() -> Trace {
    let alloc = |id| {
        Event::new(
            0,
            Op::Alloc {
                id,
                size: 40,
                call: Call::Malloc,
            },
        )
    };
    Trace::new("tiny", (0..100).map(alloc).collect()).expect("sound")
}

fn facts() -> Facts {
    Facts {
        recorder: Some("surefit record 0.1.0".into()),
        cpu_ns: Some(u64::MAX),
        wall_ns: Some(1),
        peak_resident_bytes: Some(5 << 20),
        grown_bytes: Some(0),
        allocator: Some("/usr/lib/libjemalloc.so.2".into()),
        own_allocator: Some("_rjem_malloc".into()),
        is_malloc_only: true,
        is_whole: Some(true),
    }
}

/// The trace, compressed, with these bytes behind it.
fn followed_by(rest: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let written = trace().write_compressed(&mut bytes, 3, |_| {});
    written.expect("memory does not fail");
    bytes.extend(rest);
    bytes
}

/// A frame with any text.
fn frame(text: &[u8]) -> Vec<u8> {
    let length = |bytes: usize| u32::try_from(bytes).expect("short").to_le_bytes();
    let payload = length(text.len() + 8);
    [
        &b"\x53\x2a\x4d\x18"[..],
        &payload,
        text,
        &length(text.len()),
        b"SFF1",
    ]
    .concat()
}

/// What a reader finds behind the trace, and what is found from the end of the file.
fn found(bytes: &[u8]) -> [Result<Option<Facts>, TraceError>; 2] {
    let mut reader = CheckedReader::new(bytes).expect("a header");
    assert!(reader.facts().expect("not read yet").is_none());
    let events = reader.by_ref().map(|event| event.expect("sound"));
    assert_eq!(events.count(), 100);
    let file = file(bytes);
    [reader.facts(), Facts::load(file.path())]
}

fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), bytes).expect("written");
    file
}

fn is_damaged(found: &Result<Option<Facts>, TraceError>) -> bool {
    matches!(found, Err(error) if matches!(error.problem(), Problem::Facts(_)))
}

#[test]
fn facts_come_back_and_the_trace_is_the_same() {
    for facts in [facts(), Facts::default()] {
        let bytes = followed_by(&facts.to_frame());
        assert_eq!(
            found(&bytes).map(|found| found.expect("sound")),
            [Some(facts.clone()), Some(facts)]
        );
        assert_eq!(Trace::from_bytes(&bytes).expect("sound"), trace());
        let unpacked = oxiarc_zstd::decompress_multi_frame(&bytes).expect("sound");
        assert_eq!(unpacked, trace().to_bytes());
    }
    assert_eq!(facts().to_frame()[..4], frame(b"{}")[..4]);
    assert_eq!(Facts::default().to_frame(), frame(b"{}"));
}

#[test]
fn a_trace_without_facts_has_none() {
    for rest in [
        &b""[..],
        b"\x50\x2a\x4d\x18\x03\0\0\0abc",
        b"\x5f\x2a\x4d\x18\0\0\0\0",
    ] {
        let found = found(&followed_by(rest));
        assert!(
            found.iter().all(|found| matches!(found, Ok(None))),
            "{found:?}"
        );
    }
    let plain = file(&trace().to_bytes());
    assert!(Facts::load(plain.path()).expect("sound").is_none());
    for none in [&b""[..], b"short"] {
        assert!(Facts::load(file(none).path()).expect("read").is_none());
    }
    let missing = Facts::load(PathBuf::from("/no/such/file")).expect_err("there is none");
    assert!(
        missing
            .to_string()
            .starts_with("/no/such/file: cannot be opened")
    );
}

#[test]
fn what_a_newer_recorder_says_is_left_out() {
    let text = br#"{"phase_of_the_moon":[1,{"a":null}],"cpu_ns":7}"#;
    let known = Facts {
        cpu_ns: Some(7),
        ..Facts::default()
    };
    for found in found(&followed_by(&frame(text))) {
        assert_eq!(found.expect("sound"), Some(known.clone()));
    }
}

#[test]
fn a_cut_leaves_the_trace_and_is_named() {
    let whole = facts().to_frame();
    for length in 1..whole.len() {
        let [behind, at_end] = found(&followed_by(&whole[..length]));
        assert!(is_damaged(&behind), "{length}: {behind:?}");
        assert!(matches!(at_end, Ok(None)), "{length}: {at_end:?}");
    }
    let error = found(&followed_by(&whole[..9]))[0]
        .as_ref()
        .expect_err("cut")
        .to_string();
    assert_eq!(
        error,
        "trace: the facts behind the trace are damaged: they are cut short; fetch the file again; \
         without its facts, the trace can be used as it is"
    );
}

#[test]
fn damage_leaves_the_trace_and_is_named() {
    for text in [
        &b""[..],
        b"{",
        b"[]",
        b"{\"cpu_ns\":-1}",
        b"{\"cpu_ns\":\"7\"}",
        b"\xff",
    ] {
        let found = found(&followed_by(&frame(text)));
        assert!(found.iter().all(is_damaged), "{found:?}");
    }
    let whole = facts().to_frame();
    for at in 4..whole.len() {
        for bit in 0..8 {
            let mut broken = whole.clone();
            broken[at] ^= 1 << bit;
            let found = found(&followed_by(&broken));
            let is_text = (8..whole.len() - 8).contains(&at);
            assert!(
                is_text || found.iter().all(|found| !matches!(found, Ok(Some(_)))),
                "{at}"
            );
        }
    }
    // Longer than facts are, by what it claims and by what it has.
    let long = found(&followed_by(&frame(&[b' '; 1 << 17])));
    assert!(is_damaged(&long[0]) && is_damaged(&long[1]), "{long:?}");
}

#[test]
fn nothing_else_may_follow_a_trace() {
    for rest in [
        &b"no frame"[..],
        b"\x63\x2a\x4d\x18",
        b"\x53\x2b",
        &followed_by(b""),
    ] {
        let error = check_bytes(&followed_by(rest)).expect_err("more than a trace");
        assert!(matches!(error.problem(), Problem::BytesAfterEnd), "{error}");
    }
    let mut plain = trace().to_bytes();
    plain.extend(facts().to_frame());
    let error = check_bytes(&plain).expect_err("facts of a trace that is not compressed");
    assert!(matches!(error.problem(), Problem::BytesAfterEnd), "{error}");
}

#[test]
fn a_heap_beside_malloc_is_much_larger_than_all_that_was_recorded() {
    let grown = |bytes| Facts {
        grown_bytes: Some(bytes),
        ..Facts::default()
    };
    let counts = |peak_bytes, peak_objects| Counts {
        peak_bytes,
        peak_objects,
        ..Counts::default()
    };
    let mib = 1_u64 << 20;
    let beside = grown(64 * mib).beside(&counts(mib, 100));
    assert_eq!(
        beside,
        Some(Beside {
            grown_bytes: 64 * mib,
            recorded_bytes: mib
        })
    );
    // Little, much of it recorded, or in many small objects; and nobody looked.
    assert_eq!(grown(16 * mib - 1).beside(&counts(0, 0)), None);
    assert_eq!(grown(64 * mib).beside(&counts(5 * mib, 100)), None);
    assert_eq!(grown(64 * mib).beside(&counts(mib / 4, 1 << 18)), None);
    assert_eq!(Facts::default().beside(&counts(0, 0)), None);
    assert!(
        grown(u64::MAX)
            .beside(&counts(u64::MAX, u64::MAX))
            .is_none()
    );
}
