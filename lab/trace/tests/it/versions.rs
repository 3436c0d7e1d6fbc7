//! Old files stay readable: a committed file of each version of the format, its bytes pinned.
//!
//! The files of `versions/` are never written anew. A newer version gets a file of its own.

use surefit_trace::{
    Align, Call, Event, Frame, Op, Problem, SitesBuilder, Stack, Trace, check_bytes,
};

/// A trace of version 1 with every record of that version, in short and in long form.
const VERSION_1: &[u8] = include_bytes!("versions/1.sft");

fn events_1() -> Vec<Event> {
    let alloc = |id, size, call| Op::Alloc { id, size, call };
    let align = Align::new(64).expect("a power of two");
    let ops = [
        (0, alloc(0, 40, Call::Malloc)),
        (0, alloc(1, 5, Call::Calloc)),
        (0, alloc(2, 100, Call::Aligned(align))),
        (0, Op::Free { id: 1 }),
        (1, alloc(3, 0, Call::Malloc)),
        (
            1,
            Op::Realloc {
                id: 2,
                size: 70_000,
            },
        ),
        (0, Op::Free { id: 0 }),
        (0, Op::Free { id: 3 }),
        (2, alloc(4, 31, Call::Malloc)),
        (2, Op::Realloc { id: 2, size: 0 }),
    ];
    ops.map(|(thread, op)| Event::new(thread, op)).to_vec()
}

/// The bytes of the file, written out, so that nobody can change it unnoticed.
const PINNED: [u8; 47] = [
    b'S', b'F', b'T', b'1', 1, // version
    9, b'v', b'e', b'r', b's', b'i', b'o', b'n', b' ', b'1', // name
    10, 5, 3, 0x98, 0xa3, 0x04, 3, 2, 0xa0, 0xa4, 0x04, // the seven counters
    0xf8, 0x09, // alloc 31 + 9
    0x29, // zalloc 5
    0x32, 0x64, // aalloc 2^6, 100
    0x0c, // free, age 1
    0x0e, 0x00, // thread 1, alloc 0
    0x0b, 0xf0, 0xa2, 0x04, // realloc, age 1, 70000
    0x06, 0x1c, 0x04, // thread 0, free, age 3, free, age 0
    0x16, 0xf8, 0x00, // thread 2, alloc 31
    0x13, 0x00, // realloc, age 2, 0
    0x07,
];

#[test]
fn version_1_is_read_and_its_bytes_are_pinned() {
    assert_eq!(VERSION_1, PINNED);
    let trace = Trace::from_bytes(VERSION_1).expect("a sound trace of version 1");
    assert_eq!(trace.name(), "version 1");
    assert_eq!(trace.events(), events_1());
    let counts = trace.header().counts.named().map(|(_, count)| count);
    assert_eq!(counts, [10, 5, 3, 70_040, 3, 2, 70_176]);
}

/// A trace of version 2: every kind of request with and without a call site.
const VERSION_2: &[u8] = include_bytes!("versions/2.sft");

/// `main` in a program calls a library whose functions have no names; that calls `main` again. A
/// third place has no file.
fn trace_2() -> Trace {
    let frame = |module, offset, function| Frame {
        module,
        offset,
        function,
    };
    let main = frame("/bin/a", 0x1234, Some("main"));
    let library = frame("/lib/b.so", 7, None);
    let mut builder = SitesBuilder::default();
    let one = builder.stack(&[main]);
    let three = builder.stack(&[main, library, main]);
    let made = builder.stack(&[frame("", u64::MAX, Some("é"))]);
    let none = Stack::UNKNOWN;
    let alloc = |id, size, call| Op::Alloc { id, size, call };
    let align = Align::new(64).expect("a power of two");
    let called = [
        (0, alloc(0, 40, Call::Malloc), one),
        (0, alloc(1, 5, Call::Calloc), three),
        (1, alloc(2, 100, Call::Aligned(align)), made),
        (1, alloc(3, 0, Call::Malloc), none),
        (
            0,
            Op::Realloc {
                id: 2,
                size: 70_000,
            },
            three,
        ),
        (0, Op::Realloc { id: 2, size: 3 }, none),
        (0, Op::Free { id: 0 }, none),
    ];
    let events = called
        .map(|(thread, op, _)| Event::new(thread, op))
        .to_vec();
    let stacks = called.map(|(_, _, stack)| stack).to_vec();
    let trace = Trace::new("version 2", events).expect("sound");
    trace.with_sites(builder.finish(), stacks).expect("known")
}

/// As above: its bytes, written out.
const PINNED_2: [u8; 104] = [
    b'S', b'F', b'T', b'1', 2, // version
    9, b'v', b'e', b'r', b's', b'i', b'o', b'n', b' ', b'2', // name
    7, 4, 2, 0x9d, 0xa3, 0x04, 4, 3, 0x84, 0xa4, 0x04, // the seven counters
    5,    // texts
    6, b'/', b'b', b'i', b'n', b'/', b'a', //
    4, b'm', b'a', b'i', b'n', //
    9, b'/', b'l', b'i', b'b', b'/', b'b', b'.', b's', b'o', //
    0, 2, 0xc3, 0xa9, //
    3,    // frames: module, offset, function + 1
    0, 0xb4, 0x24, 2, //
    2, 7, 0, //
    3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 5, //
    4, // stacks: frame, caller
    0, 0, 1, 1, 0, 2, 2, 0, //
    0xf8, 0x09, 0x02, // alloc 31 + 9, stack 1
    0x29, 0x04, // zalloc 5, stack 3
    0x0e, 0x32, 0x64, 0x02, // thread 1, aalloc 2^6, 100, stack 4
    0x00, 0x07, // alloc 0, unknown
    0x06, 0x0b, 0xf0, 0xa2, 0x04, 0x06, // thread 0, realloc, age 1, 70000, stack 3
    0x0b, 0x03, 0x05, // realloc, age 1, 3, unknown
    0x05, // free of the predicted object
    0x07,
];

#[test]
fn version_2_is_read_and_its_bytes_are_pinned() {
    assert_eq!(VERSION_2, PINNED_2);
    let trace = Trace::from_bytes(VERSION_2).expect("a sound trace of version 2");
    assert_eq!(trace, trace_2());
    assert_eq!(trace.to_bytes(), VERSION_2);
    let counts = trace.header().counts.named().map(|(_, count)| count);
    assert_eq!(counts, [7, 4, 2, 70_045, 4, 3, 70_148]);
    let sites = trace.sites().expect("call sites");
    let frames: Vec<_> = sites.frames(trace.stack(4)).collect();
    assert_eq!((frames.len(), frames[1].module), (3, "/lib/b.so"));
    assert_eq!(frames[0], frames[2]);
}

/// Whoever raises the version keeps this: what version 1 can say is written in version 1.
#[test]
fn the_lowest_version_that_can_say_it_is_written() {
    let trace = Trace::new("version 1", events_1()).expect("sound");
    assert_eq!(trace.to_bytes(), VERSION_1);
}

#[test]
fn versions_that_are_not_known_are_refused_before_anything_else_is_read() {
    for (version, bytes) in [
        (0, &[0][..]),
        (127, &[127]),
        (u64::MAX, &[255, 255, 255, 255, 255, 255, 255, 255, 255, 1]),
    ] {
        let file = [b"SFT1", bytes].concat();
        let error = check_bytes(&file).expect_err("an unknown version");
        assert!(matches!(error.problem(), Problem::Version(found) if *found == version));
        let line = error.to_string();
        let says =
            format!("has version {version} of the format; this surefit reads versions up to ");
        assert!(line.contains(&says) && !line.contains('\n'), "{line}");
        assert_eq!(line.contains("newer surefit"), version > 0, "{line}");
    }
}
