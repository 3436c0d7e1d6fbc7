//! Objects of bytes in a heap with handles that threads share.

use core::hint::black_box;

use surefit_compact::Bytes;
use surefit_testkit::growth::{Grows, Table};
use surefit_testkit::layout;

use crate::scale::OBJECTS;
use crate::shared::{Scene, Shared, of_objects};

/// Beside objects, one in pieces and one that is not.
struct Texts {
    beside: Scene<Shared>,
    long: Option<Bytes<u8>>,
    short: Option<Bytes<u8>>,
}

fn texts(objects: usize) -> Texts {
    let beside = of_objects(objects);
    let insert = |bytes| Some(beside.local.alloc_zeroed(layout(bytes)).expect("fits"));
    let (long, short) = (insert(5000), insert(100));
    Texts {
        beside,
        long,
        short,
    }
}

pub(crate) fn rows(table: &mut Table) {
    let mut constant = |name, call: fn(&mut Texts)| {
        table.row(name, OBJECTS, Grows::No, texts, call);
    };
    constant("alloc_zeroed, 3000 bytes", |s| {
        black_box(
            s.beside
                .local
                .alloc_zeroed(layout(3000))
                .expect("fits")
                .len(),
        );
    });
    constant("free_bytes, 5000 bytes", |s| {
        let long = s.long.take().expect("once");
        s.beside.local.free_bytes(long).expect("ours");
    });
    constant("resize, 5000 to 9000 bytes", |s| {
        let long = s.long.as_mut().expect("there");
        s.beside.local.resize(long, layout(9000)).expect("fits");
    });
    constant("pin_bytes and unpin", |s| {
        let short = s.short.as_ref().expect("there");
        black_box(s.beside.heap.pin_bytes(short).expect("a pin")[2]);
    });
    constant("pin_bytes_mut and unpin", |s| {
        let short = s.short.as_mut().expect("there");
        s.beside.heap.pin_bytes_mut(short).expect("a pin")[2] = 7;
    });
    constant("chunk and unpin", |s| {
        let long = s.long.as_ref().expect("there");
        black_box(s.beside.heap.chunk(long, 4321).expect("a pin").len());
    });
    constant("chunk_mut and unpin", |s| {
        let long = s.long.as_mut().expect("there");
        s.beside.heap.chunk_mut(long, 4321).expect("a pin")[0] = 7;
    });
    constant("read_at, 100 bytes", |s| {
        let long = s.long.as_ref().expect("there");
        let read = s.beside.heap.read_at(long, 4321, &mut [0; 100]);
        read.expect("a pin");
    });
    constant("write_at, 100 bytes", |s| {
        let long = s.long.as_mut().expect("there");
        let written = s.beside.heap.write_at(long, 4321, &[7; 100]);
        written.expect("a pin");
    });
}
