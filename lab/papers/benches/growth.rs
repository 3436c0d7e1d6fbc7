//! The instructions of every call of the block table beside few and many objects:
//! `lab/papers/docs/growth.md`. Needs valgrind.
//!
//! `cargo bench -p surefit-papers --bench growth` compares with the table, and with `-- --write`
//! writes it anew.
#![allow(missing_docs, reason = "a benchmark")]

use std::alloc::Layout;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::path::Path;
use std::process::ExitCode;

use surefit_papers::block_table::{BlockTableConfig, BlockTableHeap, Bytes};
use surefit_testkit::growth::{Grows, Table, main as counted};

static BLOCK_TABLE: BlockTableConfig = BlockTableConfig::DEFAULT;

/// A few and many of what there may be many of.
const OBJECTS: (&str, [usize; 2]) = ("objects", [1000, 100_000]);

const TITLE: &str = "\
# How the calls of the block table grow

Instructions of one call on x86-64, counted by callgrind, in a heap with few and with many objects.
`cargo bench -p surefit-papers --bench growth` counts them, and fails if a call grows that is documented not to.";

/// Memory that begins at 16 KiB, so that two heaps of one size are divided alike. It is not
/// touched.
fn region(bytes: usize) -> &'static mut [MaybeUninit<u8>] {
    let memory = Box::leak(Box::new_uninit_slice(bytes + (16 << 10)));
    let first = memory.as_ptr().align_offset(16 << 10);
    &mut memory[first..][..bytes]
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 1).expect("a layout")
}

/// A heap of the paper's block table.
struct Rows {
    heap: BlockTableHeap<'static>,
    objects: Vec<Option<Bytes<u8>>>,
}

fn rows(objects: usize) -> Rows {
    let bytes = objects * 120 + (4 << 20);
    let heap: BlockTableHeap =
        BlockTableHeap::new(region(bytes), &BLOCK_TABLE).expect("large enough");
    let alloc = |_| Some(heap.alloc_zeroed(layout(40)).expect("fits"));
    let mut objects: Vec<_> = (0..objects).map(alloc).collect();
    for freed in objects.iter_mut().skip(7).step_by(10) {
        heap.free_bytes(freed.take().expect("once"));
    }
    heap.compact(u64::MAX);
    Rows { heap, objects }
}

fn block_table(table: &mut Table) {
    table.heap("BlockTableHeap");
    let mut constant = |name, call: fn(&mut Rows)| {
        table.row(name, OBJECTS, Grows::No, rows, call);
    };
    constant("alloc, 40 bytes", |s| {
        let _ = black_box(s.heap.alloc(layout(40)).expect("fits"));
    });
    constant("free_bytes, 40 bytes", |s| {
        let object = s.objects[51].take().expect("once");
        s.heap.free_bytes(object);
    });
    constant("resize, 40 to 200 bytes", |s| {
        let object = s.objects[51].as_mut().expect("there");
        s.heap.resize(object, layout(200)).expect("fits");
    });
    constant("chunk", |s| {
        let object = s.objects[51].as_ref().expect("there");
        black_box(s.heap.chunk(object, 20).len());
    });
    constant("compact, nothing to move", |s| {
        black_box(s.heap.compact(1));
    });
    constant("stats", |s| {
        black_box(s.heap.stats());
    });
    constant("usage", |s| {
        black_box(s.heap.usage());
    });
    constant("can_allocate", |s| {
        black_box(s.heap.can_allocate(40, 8));
    });
    let search = Grows::With("the frame pages that fit");
    table.row("largest_free", OBJECTS, search, rows, |s| {
        black_box(s.heap.largest_free());
    });
    let all = Grows::With("the region and its objects");
    table.row("check", OBJECTS, all, rows, |s| {
        s.heap.check().expect("sound");
    });
}

fn main() -> ExitCode {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/growth.md");
    counted(&file, TITLE, block_table)
}
