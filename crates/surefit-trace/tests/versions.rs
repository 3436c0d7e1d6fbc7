//! Old files stay readable: a committed file of each version of the format, its bytes pinned.
//!
//! The files of `versions/` are never written anew. A newer version gets a file of its own.

use surefit_trace::{Align, Call, Event, Op, Problem, Trace, check_bytes};

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
