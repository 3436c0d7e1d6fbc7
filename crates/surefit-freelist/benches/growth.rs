//! The instructions of every call beside few and beside many objects, free chunks, and sizes of
//! free chunks: `docs/growth/freelist.md`. Needs valgrind.
//!
//! `cargo bench -p surefit-freelist --bench growth` compares with the table, and with `-- --write`
//! writes it anew.
#![allow(missing_docs, reason = "a benchmark")]

use core::alloc::Layout;
use core::hint::black_box;
use core::ptr::NonNull;
use std::mem::MaybeUninit;
use std::path::Path;
use std::process::ExitCode;

use surefit_core::RawHeap;
use surefit_freelist::{
    BestFit, BinnedFit, Bitmap, Buddy, Deferred, FirstFit, HalfFit, Immediate, Linear, Never,
    NextFit, NextHitTable, Scan, SegregatedFit, Tlsf, TreeFit, WorstFit,
};
use surefit_testkit::growth::{Grows, Table, main as counted};

const OBJECTS: (&str, [usize; 2]) = ("objects", [100, 100_000]);
const CHUNKS: (&str, [usize; 2]) = ("free chunks", [100, 10_000]);

const TITLE: &str = "\
# How the calls of the free-list heaps grow

Instructions of one call on x86-64, counted by callgrind. Beside objects: of 40 bytes, one of ten freed. Beside
free chunks: of 400 to 3,600 bytes, each between two objects. `cargo bench -p surefit-freelist --bench growth`
counts them, and fails if a call grows that is documented not to.";

type Live = (NonNull<u8>, Layout);

struct Scene<H> {
    heap: H,
    live: Vec<Live>,
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 8).expect("small")
}

fn region(bytes: usize) -> &'static mut [MaybeUninit<u8>] {
    Box::leak(Box::new_uninit_slice(bytes))
}

impl<H: RawHeap> Scene<H> {
    fn allocate(&mut self, bytes: usize) {
        let layout = layout(bytes);
        let object = self.heap.allocate(layout).expect("room");
        self.live.push((object, layout));
    }

    fn free(&mut self, index: usize) {
        let (object, layout) = self.live[index];
        // SAFETY: it is live, of this layout, and freed once.
        unsafe { self.heap.free(object, layout) };
    }

    /// Objects of 40 bytes, one of ten freed.
    fn objects(heap: H, objects: usize) -> Self {
        let live = Vec::with_capacity(objects + 8);
        let mut scene = Self { heap, live };
        (0..objects).for_each(|_| scene.allocate(40));
        (8..objects).step_by(10).for_each(|freed| scene.free(freed));
        scene
    }

    /// No room is left for 5000 bytes.
    fn full(mut self) -> Self {
        while self.heap.allocate(layout(5000)).is_ok() {}
        self
    }

    /// So many free chunks of many sizes, each between two objects.
    fn chunks(heap: H, chunks: usize) -> Self {
        let live = Vec::with_capacity(2 * chunks + 8);
        let mut scene = Self { heap, live };
        for chunk in 0..chunks {
            scene.allocate(400 + chunk % 101 * 32);
            scene.allocate(40);
        }
        (0..chunks).for_each(|chunk| scene.free(2 * chunk));
        scene
    }
}

/// The documented growth of a system's allocation, of its refusal and of its free, with free
/// chunks.
struct Documented {
    allocation: Grows,
    refusal: Grows,
    free: Grows,
}

/// Of a system whose long chunks are in a tree.
const IN_A_TREE: Documented = Documented {
    refusal: Grows::With("the depth of the tree of long chunks, at most the bits of a size"),
    ..CONSTANT
};

const CONSTANT: Documented = Documented {
    allocation: Grows::No,
    refusal: Grows::No,
    free: Grows::No,
};

fn rows<H: RawHeap>(
    table: &mut Table,
    name: &'static str,
    new: fn(usize) -> H,
    documented: &Documented,
) {
    table.heap(name);
    let objects = |n: usize| Scene::objects(new(n * 96 + (1 << 20)), n);
    let chunks = |n: usize| Scene::chunks(new(n * 4608 + (1 << 20)), n);
    table.row(
        "allocate 40 bytes",
        OBJECTS,
        documented.allocation,
        objects,
        |s| {
            black_box(s.heap.allocate(layout(40)).expect("room"));
        },
    );
    table.row("free", OBJECTS, documented.free, objects, |s| s.free(51));
    table.row(
        "free, beside a free one",
        OBJECTS,
        documented.free,
        objects,
        |s| s.free(47),
    );
    let all = Grows::With("the objects and the free chunks");
    table.row("usage", OBJECTS, all, objects, |s| {
        black_box(s.heap.usage());
    });
    table.row(
        "allocate 2000 bytes",
        CHUNKS,
        documented.allocation,
        chunks,
        |s| {
            black_box(s.heap.allocate(layout(2000)).expect("room"));
        },
    );
    table.row(
        "allocate, refused",
        CHUNKS,
        documented.refusal,
        |n| chunks(n).full(),
        |s| {
            assert!(s.heap.allocate(layout(5000)).is_err());
        },
    );
    table.row(
        "free, between two free ones",
        CHUNKS,
        documented.free,
        chunks,
        |s| s.free(51),
    );
}

/// The rows of a system by its type.
macro_rules! system {
    ($table:ident, $name:literal, $heap:ty, $documented:expr) => {
        rows(
            $table,
            $name,
            |bytes| <$heap>::new(region(bytes)).expect("large enough"),
            &$documented,
        );
    };
}

type Segregated<L, C> = SegregatedFit<'static, L, C>;

fn main() -> ExitCode {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/growth/freelist.md");
    let chunks = Grows::With("the free chunks");
    let walks = |allocation| Documented {
        allocation,
        refusal: chunks,
        free: Grows::No,
    };
    let merges_all = |allocation| Documented {
        allocation,
        refusal: Grows::With("the heap: it merges what was freed"),
        free: Grows::No,
    };
    let deferred = || merges_all(Grows::With("the heap, if nothing fits until it merged"));
    counted(&file, TITLE, |table: &mut Table| {
        system!(table, "Next Hit Table, immediate", Segregated<NextHitTable, Immediate>, IN_A_TREE);
        system!(table, "Next Hit Table, deferred", Segregated<NextHitTable, Deferred>, deferred());
        system!(table, "Next Hit Table, never", Segregated<NextHitTable, Never>, IN_A_TREE);
        system!(table, "bitmap, immediate", Segregated<Bitmap, Immediate>, IN_A_TREE);
        system!(table, "bitmap, deferred", Segregated<Bitmap, Deferred>, deferred());
        system!(table, "bitmap, never", Segregated<Bitmap, Never>, IN_A_TREE);
        system!(table, "scan, immediate", Segregated<Scan, Immediate>, IN_A_TREE);
        system!(
            table,
            "bitmap, immediate, linear last list",
            SegregatedFit<'static, Bitmap, Immediate, Linear>,
            walks(chunks)
        );
        system!(table, "TLSF", Tlsf<'static>, CONSTANT);
        system!(table, "half-fit", HalfFit<'static>, CONSTANT);
        system!(table, "first fit", FirstFit<'static>, walks(chunks));
        system!(table, "best fit", BestFit<'static>, walks(chunks));
        system!(table, "worst fit", WorstFit<'static>, walks(chunks));
        system!(table, "next fit", NextFit<'static>, walks(chunks));
        system!(table, "binned fit", BinnedFit<'static>, walks(chunks));
        let logarithm = Grows::With("the logarithm of the free chunks");
        let tree = Documented {
            allocation: logarithm,
            refusal: logarithm,
            free: logarithm,
        };
        system!(table, "tree fit", TreeFit<'static>, tree);
        let merges = Documented {
            free: Grows::With("the logarithm of the region"),
            ..CONSTANT
        };
        system!(table, "buddy", Buddy<'static>, merges);
    })
}
