//! Compressed frames that zstd's library in C wrote, and one of ours that it reads;
//! `frames/README.md` says where each comes from.

use std::io::{self, Read};

use crate::common::{bundled, packed};
use surefit_trace::graph::compressed;
use surefit_trace::{Problem, Trace, check_bytes};

const PLAIN: &[u8] = include_bytes!("frames/plain.sft");
const FRAMES: [(&str, &[u8]); 4] = [
    ("fast", include_bytes!("frames/fast.sft.zst")),
    ("unchecked", include_bytes!("frames/unchecked.sft.zst")),
    ("streamed", include_bytes!("frames/streamed.sft.zst")),
    ("long", include_bytes!("frames/long.sft.zst")),
];

#[test]
fn frames_of_the_library_in_c_are_read() {
    for (name, frame) in FRAMES {
        let trace = Trace::from_bytes(frame).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(trace.to_bytes() == PLAIN, "{name}");
    }
}

#[test]
fn what_is_written_is_what_the_library_in_c_read() {
    let written = include_bytes!("frames/written.sft.zst");
    assert!(
        compressed(PLAIN, 12).expect("memory") == written,
        "the compressor changed: check that the command zstd unpacks its frame, then replace the file"
    );
    assert!(Trace::from_bytes(written).expect("sound").to_bytes() == PLAIN);
}

/// The stream in as many frames as there are parts.
fn in_frames(parts: &[&[u8]]) -> Vec<u8> {
    let frame = |part: &&[u8]| compressed(part, 3).expect("memory");
    parts.iter().flat_map(frame).collect()
}

#[test]
fn a_stream_in_several_frames_is_read_as_one() {
    let end = PLAIN.len();
    for cut in [0, 1, 4, 40, 1000, end / 2, end - 1, end] {
        let (first, second) = PLAIN.split_at(cut);
        let trace = Trace::from_bytes(&in_frames(&[first, second]));
        // Where END is in the first frame, nothing may follow, not even nothing.
        if cut == end {
            let error = trace.expect_err("a frame behind END");
            assert!(matches!(error.problem(), Problem::BytesAfterEnd), "{error}");
        } else {
            assert!(trace.expect("sound").to_bytes() == PLAIN, "cut at {cut}");
        }
        let (third, fourth) = second.split_at(second.len() / 2);
        if third.len() < second.len() && cut > 0 {
            let parts = in_frames(&[first, third, fourth]);
            assert!(Trace::from_bytes(&parts).expect("sound").to_bytes() == PLAIN);
            let error = check_bytes(&in_frames(&[first, third])).expect_err("one is missing");
            assert!(matches!(error.problem(), Problem::Truncated), "{error}");
            let mut broken = in_frames(&[first]);
            broken.extend(b"no frame");
            assert!(check_bytes(&broken).is_err());
        }
    }
    let error = check_bytes(&in_frames(&[PLAIN, PLAIN])).expect_err("two traces");
    assert!(matches!(error.problem(), Problem::BytesAfterEnd), "{error}");
}

#[test]
fn levels_outside_the_scale_are_the_nearest() {
    let at = |level| compressed(PLAIN, level).expect("memory");
    assert!(at(i32::MIN) == at(1) && at(0) == at(1));
    assert!(at(20) == at(19) && at(i32::MAX) == at(19));
    assert!(at(19).len() < at(1).len() && at(1).len() < PLAIN.len() / 2);
}

#[test]
fn a_window_of_more_than_128_mib_is_refused() {
    let error = check_bytes(include_bytes!("frames/longer.sft.zst")).expect_err("256 MiB");
    assert!(matches!(error.problem(), Problem::Damaged(_)), "{error}");
    let line = error.to_string();
    assert!(line.contains("268435456") && !line.contains('\n'), "{line}");
}

#[test]
fn every_cut_of_a_frame_is_reported_as_a_cut() {
    for (name, frame) in FRAMES {
        for length in 4..frame.len() {
            let error = check_bytes(&frame[..length]).expect_err("cut short");
            let is_cut = matches!(error.problem(), Problem::Truncated);
            assert!(is_cut, "{name} cut to {length}: {error}");
        }
    }
}

#[test]
fn what_stands_before_a_cut_is_read() {
    let frame = std::fs::read(bundled("emacs")).expect("a bundled trace");
    let error = check_bytes(&frame[..frame.len() / 2]).expect_err("cut short");
    assert!(matches!(error.problem(), Problem::Truncated), "{error}");
    assert!(
        error.position().event.is_some_and(|event| event > 250_000),
        "{error}"
    );
}

/// Gives one byte at a time, and before each one says that it was interrupted.
struct Haltingly<'b> {
    bytes: &'b [u8],
    interrupts: bool,
}

impl Read for Haltingly<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.interrupts = !self.interrupts;
        if self.interrupts {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let room = buffer.len().min(1);
        self.bytes.read(&mut buffer[..room])
    }
}

#[test]
fn a_frame_that_comes_in_single_bytes_is_read() {
    for bytes in FRAMES.map(|(_, frame)| frame).into_iter().chain([PLAIN]) {
        let source = Haltingly {
            bytes,
            interrupts: false,
        };
        assert!(Trace::read(source).expect("sound").to_bytes() == PLAIN);
    }
}

/// Gives some bytes and then fails.
struct Failing<'b>(&'b [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.is_empty() {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => self.0.read(buffer),
        }
    }
}

#[test]
fn a_source_that_fails_is_not_taken_for_damage() {
    let whole = packed(PLAIN);
    for bytes in [&whole[..], &whole[..100], &PLAIN[..100]] {
        let error = Trace::read(Failing(bytes)).expect_err("it fails");
        assert!(matches!(error.problem(), Problem::Read(_)), "{error}");
    }
}
