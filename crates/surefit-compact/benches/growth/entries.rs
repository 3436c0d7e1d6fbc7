//! What a collector calls, and contiguous objects over a page.

use core::alloc::Layout;
use core::hint::black_box;

use surefit_compact::{Bound, Bytes, Config, Contiguous, EntryHeap, Geometry};
use surefit_testkit::growth::{Grows, Table};

use crate::scale::{OBJECTS, region};

/// Each has seven pages, in a slot of eight.
const WINDOWS: (&str, [usize; 2]) = ("objects over a page", [10, 1000]);

/// In more pages than the objects over a page need.
const SMALL: (&str, [usize; 2]) = ("small objects", [20_000, 200_000]);

static CONFIG: Config = Config::DEFAULT;
static UNBOUNDED: Config = match Config::new(Geometry::DEFAULT, Bound::Unbounded) {
    Ok(config) => config,
    Err(_) => panic!("possible"),
};

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 1).expect("a layout")
}

/// Objects of 40 bytes with entries, every tenth of them freed, as many outside entries, and an
/// object in pieces of [`LONG`] bytes.
struct Scene {
    heap: EntryHeap<'static>,
    entries: Vec<u32>,
    outside: u32,
    long: u32,
}

const LONG: usize = 20_000;

fn over(mut heap: EntryHeap<'static>, objects: usize) -> Scene {
    let allocate = |_| heap.allocate_entry(40).expect("fits");
    let entries: Vec<_> = (0..objects).map(allocate).collect();
    let long = heap.allocate_entry(LONG).expect("fits");
    for &entry in entries.iter().skip(7).step_by(10) {
        // SAFETY: it is live, and not used again.
        unsafe { heap.free_entry(entry) };
    }
    heap.compact(u64::MAX);
    let mut outside = 0;
    for place in 0..objects / 10 {
        outside = heap.add_outside_entry(place as u32).expect("an entry");
    }
    Scene {
        heap,
        entries,
        outside,
        long,
    }
}

fn scene(objects: usize) -> Scene {
    let heap = EntryHeap::new(region(objects * 96 + (2 << 20)), &CONFIG);
    over(heap.expect("large enough"), objects)
}

/// No page is free, and every page of small objects is half empty.
fn scattered(objects: usize) -> Scene {
    let heap = EntryHeap::new(region(objects * 96 + (2 << 20)), &UNBOUNDED);
    let mut scene = over(heap.expect("large enough"), objects);
    while scene.heap.allocate_entry(16 << 10).is_ok() {}
    for &entry in scene.entries.iter().step_by(2) {
        // SAFETY: those that were freed before have odd places; it is not used again.
        unsafe { scene.heap.free_entry(entry) };
    }
    scene
}

pub(crate) fn entries(table: &mut Table) {
    let mut constant = |name, call: fn(&mut Scene)| {
        table.row(name, OBJECTS, Grows::No, scene, call);
    };
    constant("allocate_entry", |s| {
        s.outside = s.heap.allocate_entry(40).expect("fits");
    });
    constant("free_entry", |s| {
        // SAFETY: it is live, and not used again.
        black_box(unsafe { s.heap.free_entry(s.entries[51]) });
    });
    constant("entry_place", |s| {
        // SAFETY: it is live, and the heap is small.
        black_box(unsafe { s.heap.entry_place(s.entries[51]) });
    });
    constant("byte_in_pieces", |s| {
        // SAFETY: it is live, and in pieces.
        black_box(unsafe { s.heap.byte_in_pieces(s.long, LONG, 17_000) });
    });
    constant("entries_of", |s| {
        // SAFETY: it is live, and so are its pieces.
        assert!(unsafe {
            s.heap
                .entries_of(s.long, LONG, &mut |entry| black_box(entry) < u32::MAX)
        });
    });
    constant("entry_part", |s| {
        // SAFETY: it is live, and so are its pieces.
        black_box(unsafe { s.heap.entry_part(s.long, LONG, 1) });
    });
    constant("add_outside_entry", |s| {
        s.outside = s.heap.add_outside_entry(7).expect("an entry");
    });
    constant("relocate_entry", |s| s.heap.relocate_entry(s.outside, 8));
    constant("take_in_entry", |s| {
        black_box(s.heap.take_in_entry(s.outside, 40).expect("fits"));
    });
    constant("give_entry_back", |s| s.heap.give_entry_back(s.outside));
    constant("can_serve", |s| {
        assert!(s.heap.can_serve(&[40, 3000]).is_ok());
    });
    constant("would_fit", |s| {
        assert!(s.heap.would_fit(&[40, 3000]));
    });
    constant("make_room, nothing to move", |s| {
        assert!(s.heap.make_room(&[40, 3000]).is_ok());
    });
    let moves = Grows::With("the moves, at most those of a page");
    table.row("make_room, of a page", OBJECTS, moves, scattered, |s| {
        assert!(s.heap.make_room(&[16 << 10]).is_ok());
    });
    let mut grows = |name, words, call: fn(&mut Scene)| {
        table.row(name, OBJECTS, Grows::With(words), scene, call);
    };
    let all = "the entries, the pages and the moved bytes";
    grows("retain, nothing", all, |s| {
        // SAFETY: nothing is kept, and nothing is used again.
        black_box(unsafe { s.heap.retain(&[]) });
    });
    grows("entries_in, all", "the pages and those of the class", |s| {
        let class = s.heap.config().geometry().class_for(40, 8).expect("one");
        black_box(s.heap.entries_in(class).count());
    });
    grows("outside_entries, all", "the entries ever made", |s| {
        black_box(s.heap.outside_entries().count());
    });
}

/// Objects of bytes, nine of ten of them freed.
struct Bytewise {
    heap: EntryHeap<'static>,
    kept: Vec<Bytes<u8>>,
}

fn sparse(objects: usize) -> Bytewise {
    let mut heap = EntryHeap::new(region(objects * 96 + (2 << 20)), &CONFIG).expect("large enough");
    let alloc = |_| heap.alloc_zeroed(layout(40)).expect("fits");
    let all: Vec<_> = (0..objects).map(alloc).collect();
    let mut kept = Vec::new();
    for (number, object) in all.into_iter().enumerate() {
        match number % 10 {
            9 => kept.push(object),
            _ => heap.free_bytes(object),
        }
    }
    Bytewise { heap, kept }
}

/// Objects over a page; small ones lie between them.
struct Windows {
    heap: EntryHeap<'static>,
    objects: Vec<Option<Contiguous>>,
}

fn windows(objects: usize) -> Windows {
    let region = region((objects + 20) * (128 << 10) + (2 << 20));
    let mut heap = EntryHeap::new(region, &CONFIG).expect("large enough");
    let mut all = Vec::new();
    for number in 0..objects {
        let object = heap.alloc_contiguous(layout(100_000)).expect("fits");
        // SAFETY: nobody reads its bytes; moves copy them as they are.
        all.push(Some(unsafe { object.assume_init() }));
        // As many small objects in every scene.
        for _ in 0..1000 / objects {
            let _ = black_box(heap.insert([number as u64; 5]).expect("fits"));
        }
    }
    Windows { heap, objects: all }
}

/// Two objects over a page, in a heap of small ones; these are where a third one must lie.
fn beside_small(objects: usize) -> Windows {
    let Scene { mut heap, .. } = scene(objects);
    let alloc = |_| Some(heap.alloc_contiguous_zeroed(layout(100_000)).expect("fits"));
    let objects = (0..2).map(alloc).collect();
    Windows { heap, objects }
}

pub(crate) fn contiguous(table: &mut Table) {
    let entries = Grows::With("the entries");
    table.row("renumber", OBJECTS, entries, sparse, |s| {
        assert!(s.heap.renumber(&mut s.kept) > 0);
    });
    let scenes = [
        (SMALL, beside_small as fn(usize) -> Windows),
        (WINDOWS, windows),
    ];
    for (many, scene) in scenes {
        let mut constant = |name, call: fn(&mut Windows)| {
            table.row(name, many, Grows::No, scene, call);
        };
        constant("alloc_contiguous, 100000 bytes", |s| {
            black_box(
                s.heap
                    .alloc_contiguous(layout(100_000))
                    .expect("fits")
                    .len(),
            );
        });
        constant("contiguous", |s| {
            let object = s.objects[1].as_ref().expect("there");
            black_box(s.heap.contiguous(object).len());
        });
        constant("free_contiguous, 100000 bytes", |s| {
            let object = s.objects[1].take().expect("once");
            s.heap.free_contiguous(object);
        });
        constant("resize_contiguous, in its slot", |s| {
            let object = s.objects[1].as_mut().expect("there");
            s.heap
                .resize_contiguous(object, layout(90_000))
                .expect("fits");
        });
        constant("can_allocate_contiguous", |s| {
            assert!(s.heap.can_allocate_contiguous(layout(100_000)));
        });
        let pages = Grows::With("the pages of the slots");
        let name = "resize_contiguous, to twice as much";
        table.row(name, many, pages, scene, |s| {
            let object = s.objects[1].as_mut().expect("there");
            s.heap
                .resize_contiguous(object, layout(200_000))
                .expect("fits");
        });
    }
}
