//! Call sites: version 2 of the format. Traces without them stay as they were, byte for byte.

use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};

use proptest::prelude::*;
use surefit_trace::{
    Call, Callers, CheckedReader, Compressor, Event, Frame, Op, Problem, Reader, Sites,
    SitesBuilder, Spool, Stack, Trace, Writer, check_bytes,
};

fn frame(module: &str, offset: u64) -> Frame<'_> {
    Frame {
        module,
        offset,
        function: (offset % 3 > 0).then_some("a function"),
    }
}

/// A trace with call sites: some allocations, a reallocation and frees.
fn sample() -> Trace {
    let mut builder = SitesBuilder::default();
    let outer = frame("/bin/program", 7000);
    let stacks: Vec<_> = (0..5)
        .map(|n| builder.stack(&[frame("/lib/libc.so.6", n), frame("", 1 << 60), outer]))
        .collect();
    let call = Call::Malloc;
    let mut called = Vec::new();
    for id in 0..20 {
        let size = u64::from(id) * 10;
        let stack = stacks[id as usize % 5];
        called.push((Op::Alloc { id, size, call }, stack));
    }
    called.push((Op::Realloc { id: 3, size: 1000 }, stacks[4]));
    called.push((Op::Free { id: 3 }, Stack::UNKNOWN));
    let events = called.iter().map(|(op, _)| Event::new(0, *op)).collect();
    let stacks = called.iter().map(|(_, stack)| *stack).collect();
    let trace = Trace::new("with sites", events).expect("sound");
    trace.with_sites(builder.finish(), stacks).expect("known")
}

#[test]
fn a_trace_with_call_sites_is_read_as_it_was_written() {
    let trace = sample();
    let bytes = trace.to_bytes();
    assert_eq!(bytes[4], 2);
    assert_eq!(Trace::from_bytes(&bytes).expect("sound"), trace);
    let mut packed = Vec::new();
    trace
        .write_compressed(&mut packed, 3, |_| {})
        .expect("memory");
    assert_eq!(Trace::from_bytes(&packed).expect("sound"), trace);
    let mut spool = Spool::with_stacks(Cursor::new(Vec::new()));
    for (number, event) in trace.events().iter().enumerate() {
        spool.write_at(*event, trace.stack(number)).expect("sound");
    }
    let mut spooled = Vec::new();
    let sites = trace.sites().expect("there are some");
    spool
        .finish_with("with sites", sites, &mut spooled)
        .expect("memory");
    assert!(spooled == bytes);
    let mut reader = CheckedReader::new(&bytes[..]).expect("a trace");
    let mut number = 0;
    while let Some(event) = reader.next() {
        assert_eq!(event.ok(), Some(trace.events()[number]));
        assert_eq!(reader.stack(), trace.stack(number));
        number += 1;
    }
    let frames: Vec<_> = sites.frames(trace.stack(1)).collect();
    let outer = frame("/bin/program", 7000);
    assert_eq!(
        frames,
        [frame("/lib/libc.so.6", 1), frame("", 1 << 60), outer]
    );
    assert_eq!(sites.frames(Stack::UNKNOWN).count(), 0);
    // Five that call malloc, and the two callers that they share.
    assert_eq!(sites.len(), 7);
}

#[test]
fn a_trace_without_call_sites_is_version_1_as_before() {
    let plain = include_bytes!("frames/plain.sft");
    let trace = Trace::from_bytes(plain).expect("sound");
    assert_eq!((plain[4], trace.sites()), (1, None));
    assert!(trace.to_bytes() == plain);
    let mut spool = Spool::new(Cursor::new(Vec::new()));
    for event in trace.events() {
        spool.write(*event).expect("sound");
    }
    let mut bytes = Vec::new();
    spool.finish(trace.name(), &mut bytes).expect("memory");
    assert!(bytes == plain);
}

#[test]
fn stacks_that_the_table_lacks_are_refused() {
    let trace = sample();
    let short = vec![Stack::UNKNOWN; 3];
    let sites = trace.sites().expect("some").clone();
    assert!(trace.clone().with_sites(sites, short).is_err());
    let stacks = (0..22).map(|number| trace.stack(number)).collect();
    let error = trace
        .clone()
        .with_sites(Sites::default(), stacks)
        .expect_err("none");
    assert!(
        matches!(error.problem(), Problem::UnknownStack(_)),
        "{error}"
    );
}

#[test]
fn every_cut_and_every_changed_byte_is_an_error_or_a_sound_trace() {
    let bytes = sample().to_bytes();
    for length in 0..bytes.len() {
        let error = check_bytes(&bytes[..length]).expect_err("cut short");
        assert!(
            matches!(error.problem(), Problem::Truncated | Problem::Empty),
            "cut to {length}: {error}"
        );
    }
    for place in 0..bytes.len() {
        for change in [1, 0x80, 0xff] {
            let mut bytes = bytes.clone();
            bytes[place] ^= change;
            if let Ok(trace) = Trace::from_bytes(&bytes) {
                assert_eq!(Trace::from_bytes(&trace.to_bytes()).ok(), Some(trace));
            }
        }
    }
}

#[test]
fn a_table_that_claims_more_than_it_has_takes_no_memory() {
    // A header of version 2, and 2^24 texts, of which none is there; then one more than may be.
    for (claimed, told) in [
        (&b"\x80\x80\x80\x08"[..], "cut short"),
        (&b"\x81\x80\x80\x08"[..], "16777216"),
    ] {
        let head = [&b"SFT1\x02\x00\x00\x00\x00\x00\x00\x00\x00"[..], claimed].concat();
        let error = check_bytes(&head).expect_err("no texts");
        assert!(error.to_string().contains(told), "{error}");
    }
}

#[test]
fn texts_are_cut_where_a_letter_ends() {
    let long = "é".repeat(Sites::MAX_TEXT_BYTES);
    let mut builder = SitesBuilder::default();
    let stack = builder.stack(&[frame(&long, 3)]);
    let sites = builder.finish();
    let module = sites.frames(stack).next().expect("a frame").module.len();
    assert_eq!(module, Sites::MAX_TEXT_BYTES);
}

/// A sink and a file that takes so many bytes and then fails.
#[derive(Debug, Default)]
struct Short(Cursor<Vec<u8>>, usize);

impl Write for Short {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.get_ref().len() + bytes.len() > self.1 {
            return Err(io::Error::other("full"));
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Short {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl Seek for Short {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

#[test]
fn stacks_of_another_table_lead_nowhere() {
    let others = sample();
    let last = others.sites().and_then(|sites| sites.stacks().last());
    let last = last.expect("some");
    assert!(last.is_known() && last.number() == 7 && !Stack::UNKNOWN.is_known());
    let mut builder = SitesBuilder::default();
    // Numbered as the next one of this table would be: it would be its own caller.
    let next = others.sites().and_then(|sites| sites.stacks().next());
    assert_eq!(builder.called(next.expect("some"), frame("a", 1)), None);
    assert_eq!(builder.called(last, frame("a", 1)), None);
    let known = builder.called(Stack::UNKNOWN, frame("a", 1));
    let sites = builder.finish();
    assert_eq!(known.map(|stack| sites.frames(stack).count()), Some(1));
    assert_eq!((sites.frames(last).count(), sites.len()), (0, 1));
    assert!(Sites::default().is_empty() && !sites.is_empty());
    assert_eq!(others.stack(usize::MAX), Stack::UNKNOWN);
    // No writer makes a trace of them that nobody reads.
    let header = others.header().clone();
    let mut writer = Writer::with_sites(Vec::new(), &header, Some(&sites)).expect("memory");
    let refused = writer.write_at(others.events()[0], last);
    let refused = refused.expect_err("of another table");
    assert!(matches!(refused.problem(), Problem::UnknownStack(7)));
    let mut spool = Spool::with_stacks(Cursor::new(Vec::new()));
    spool.write_at(others.events()[0], last).expect("sound");
    let refused = spool.finish_with("x", &sites, Vec::new());
    let refused = refused.expect_err("of another table");
    assert!(matches!(refused.problem(), Problem::UnknownStack(7)));
}

#[test]
fn files_and_sinks_of_any_length_end_in_an_error_or_a_trace() {
    let trace = sample();
    let sites = trace.sites().expect("some");
    let bytes = trace.to_bytes();
    for room in 0..=bytes.len() {
        let mut spool = Spool::with_stacks(Short(Cursor::default(), room));
        for (number, event) in trace.events().iter().enumerate() {
            spool.write_at(*event, trace.stack(number)).expect("kept");
        }
        assert_eq!(spool.counts(), trace.header().counts);
        assert_eq!(spool.peak(), trace.peak());
        let records = spool.encoded_bytes() as usize + 1;
        let done = spool.finish_with("with sites", sites, Short(Cursor::default(), room));
        assert_eq!(done.is_ok(), room == bytes.len(), "{room}");
        assert!(records < bytes.len());
        let mut packed = Compressor::new(Short(Cursor::default(), room), i32::MIN);
        let written = packed.write_all(&bytes).and_then(|()| packed.finish());
        if let Ok(Short(packed, _)) = written {
            assert_eq!(
                Trace::read(&packed.into_inner()[..]).ok(),
                Some(trace.clone())
            );
        }
    }
    let name = "x".repeat(5000);
    let spool = Spool::new(Cursor::new(Vec::new()));
    assert!(spool.finish(&name, Vec::new()).is_err());
}

#[test]
fn any_changed_byte_has_callers_or_an_error() {
    let bytes = sample().to_bytes();
    for place in 0..bytes.len() {
        for change in [1, 0x80, 0xff] {
            let mut bytes = bytes.clone();
            bytes[place] ^= change;
            let Ok(reader) = CheckedReader::new(&bytes[..]) else {
                continue;
            };
            let sites = reader.sites().map_or(0, Sites::len);
            if let Ok(callers) = Callers::read(reader) {
                assert!(callers.callers.len() <= sites + 1);
            }
            let mut reader = Reader::new(&bytes[..]).expect("as before");
            while let Some(Ok(_)) = reader.next() {
                let stack = reader.stack().number() as usize;
                assert!(stack <= reader.sites().map_or(0, Sites::len));
            }
        }
    }
}

proptest! {
    #[test]
    fn stacks_have_the_frames_that_they_were_made_of(
        all in prop::collection::vec(prop::collection::vec((0_usize..4, 0_u64..9), 1..9), 1..50)
    ) {
        const MODULES: [&str; 4] = ["", "a", "b", "libc.so.6"];
        let frames: Vec<Vec<_>> = all
            .iter()
            .map(|stack| stack.iter().map(|(module, offset)| frame(MODULES[*module], *offset)).collect())
            .collect();
        let mut builder = SitesBuilder::default();
        let stacks: Vec<_> = frames.iter().map(|frames| builder.stack(frames)).collect();
        let again: Vec<_> = frames.iter().map(|frames| builder.stack(frames)).collect();
        prop_assert_eq!(&stacks, &again);
        let sites = builder.finish();
        for (stack, frames) in stacks.iter().zip(&frames) {
            prop_assert_eq!(&sites.frames(*stack).collect::<Vec<_>>(), frames);
        }
    }
}
