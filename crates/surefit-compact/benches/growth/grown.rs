//! Heaps with brands, with banks, and over the operating system's memory.

use core::alloc::Layout;
use core::hint::black_box;
use core::time::Duration;

use surefit_compact::layout::table_bytes;
use surefit_compact::os::{Limits, OsHeap};
use surefit_compact::{Bytes, Config, Contiguous, Handle, Heap, Wide};
use surefit_testkit::growth::{Grows, Table};

use crate::scale::{OBJECTS, Object, region};
use crate::single::{Scene, scene};

const BANKS: (&str, [usize; 2]) = ("banks", [3, 300]);
const PAGES: (&str, [usize; 2]) = ("empty pages", [20, 2000]);
/// Four pages.
const BANK: usize = 64 << 10;

static CONFIG: Config = Config::DEFAULT;

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 1).expect("a layout")
}

/// Each call with what gives it its branded handles, and takes them back.
pub(crate) fn branded(table: &mut Table) {
    table.heap("BrandedHeap");
    let mut constant = |name, call: fn(&mut Scene)| {
        table.row(name, OBJECTS, Grows::No, scene, call);
    };
    constant("insert, unbrand", |s| {
        let inserted = s
            .heap
            .branded(|heap| heap.insert([1_u64; 5]).map(|new| heap.unbrand(new)));
        let _ = black_box(inserted.expect("fits"));
    });
    constant("brand, get, free", |s| {
        let object = s.object();
        s.heap.branded(|heap| {
            let object = heap.brand(object).expect("ours");
            black_box(heap.get(&object)[2]);
            heap.free(object);
        });
    });
    constant("alloc, 3000 bytes, unbrand_bytes", |s| {
        let bytes = s.heap.branded(|heap| {
            let bytes = heap.alloc(layout(3000)).expect("fits");
            heap.unbrand_bytes(bytes)
        });
        black_box(bytes.len());
    });
    constant("brand_bytes, chunk, resize, 5000 to 9000 bytes", |s| {
        let text = s.text.take().expect("once");
        let text = s.heap.branded(|heap| {
            let mut text = heap.brand_bytes(text).expect("ours");
            black_box(heap.chunk(&text, 4321).len());
            heap.resize(&mut text, layout(9000)).expect("fits");
            heap.unbrand_bytes(text)
        });
        s.text = Some(text);
    });
    constant("brand_bytes, free_bytes, 5000 bytes", |s| {
        let text = s.text.take().expect("once");
        s.heap.branded(|heap| {
            let text = heap.brand_bytes(text).expect("ours");
            heap.free_bytes(text);
        });
    });
    constant("compact, nothing to move", |s| {
        black_box(s.heap.branded(|heap| heap.compact(1)));
    });
}

/// A heap that got its memory bank by bank, as it filled them with objects; the last bank is empty.
struct Banks {
    heap: Heap<'static>,
    objects: Vec<Option<Handle<Object>>>,
    pages: Vec<Option<Contiguous>>,
}

fn banks(banks: usize) -> Banks {
    let entries = banks * BANK / 48;
    // Banks that are never added lie between the limit and the table.
    let bytes = (banks + 20) * BANK + entries * 8 + (1 << 20);
    assert!(
        table_bytes::<Wide>(&CONFIG, bytes, entries).is_some(),
        "large enough"
    );
    let heap = Heap::with_limit(region(bytes), &CONFIG, BANK, entries);
    let mut heap: Heap = heap.expect("large enough");
    let (mut objects, mut pages) = (Vec::new(), Vec::new());
    for _ in 0..banks {
        while let Ok(object) = heap.alloc_contiguous_zeroed(layout(16 << 10)) {
            pages.push(Some(object));
        }
        heap.free_contiguous(pages.pop().flatten().expect("one fits"));
        while let Ok(object) = heap.insert([1_u64; 5]) {
            objects.push(Some(object));
        }
        assert_eq!(heap.raise_limit(BANK), BANK, "there is room");
    }
    Banks {
        heap,
        objects,
        pages,
    }
}

/// The last bank is in use, and the pages of four objects that were freed are free.
fn banks_in_use(count: usize) -> Banks {
    let mut banks = banks(count);
    while let Ok(object) = banks.heap.alloc_contiguous_zeroed(layout(16 << 10)) {
        banks.pages.push(Some(object));
    }
    for page in banks.pages.iter_mut().take(4) {
        banks.heap.free_contiguous(page.take().expect("once"));
    }
    banks
}

pub(crate) fn in_banks(table: &mut Table) {
    table.heap("Heap with banks");
    let mut constant = |name, call: fn(&mut Banks)| {
        table.row(name, BANKS, Grows::No, banks, call);
    };
    constant("insert", |s| {
        let _ = black_box(s.heap.insert([1_u64; 5]).expect("fits"));
    });
    constant("free", |s| {
        let object = s.objects[51].take().expect("once");
        s.heap.free(object);
    });
    constant("alloc, 3000 bytes", |s| {
        black_box(s.heap.alloc(layout(3000)).expect("fits").len());
    });
    constant("raise_limit", |s| {
        assert_eq!(s.heap.raise_limit(BANK), BANK);
    });
    constant("lower_limit, a bank that is empty", |s| {
        assert_eq!(s.heap.lower_limit(BANK), BANK);
    });
    constant("limit_bytes", |s| {
        black_box(s.heap.details().limit_bytes());
    });
    constant("untouched", |s| {
        black_box(s.heap.details().untouched());
    });
    let mut constant = |name, call: fn(&mut Banks)| {
        table.row(name, BANKS, Grows::No, banks_in_use, call);
    };
    constant("lower_limit, a bank in use", |s| {
        assert_eq!(s.heap.lower_limit(BANK), BANK);
    });
    constant("lower_limit, refused", |s| {
        s.heap.lower_limit(BANK);
        assert_eq!(s.heap.lower_limit(BANK), 0);
    });
}

struct System {
    heap: OsHeap<'static>,
    objects: Vec<Option<Handle<Object>>>,
    text: Option<Bytes<u8>>,
}

/// So many objects, and pages that were emptied.
fn system(objects: usize, pages: usize) -> System {
    let hard = objects * 96 + (pages << 14) + (8 << 20);
    let mut heap: OsHeap = OsHeap::new(&CONFIG, Limits::new(hard, hard)).expect("an address space");
    let insert = |number| Some(heap.insert([number as u64; 5]).expect("fits"));
    let mut objects: Vec<_> = (0..objects).map(insert).collect();
    for freed in objects.iter_mut().skip(7).step_by(10) {
        heap.free(freed.take().expect("once"));
    }
    heap.compact(u64::MAX);
    let text = Some(heap.alloc_zeroed(layout(5000)).expect("fits"));
    let emptied: Vec<_> = (0..pages)
        .map(|_| heap.alloc(layout(16 << 10)).expect("fits"))
        .collect();
    emptied.into_iter().for_each(|page| heap.free_bytes(page));
    System {
        heap,
        objects,
        text,
    }
}

const SECOND: Duration = Duration::from_secs(1);

pub(crate) fn os(table: &mut Table) {
    table.heap("OsHeap");
    used(table, OBJECTS, |objects| system(objects, 0));
    used(table, PAGES, |pages| system(1000, pages));
    let tick = Grows::With("what it gives back, at most 64 MiB");
    let scene = |n| {
        let mut system = system(1000, n);
        system.heap.tick(SECOND).expect("no error");
        system
    };
    table.row("tick, after the delay", PAGES, tick, scene, |s| {
        assert!(s.heap.tick(2 * SECOND).expect("no error").bytes > 0);
    });
    let pages = Grows::With("the empty pages");
    let scene = |n| system(1000, n);
    table.row("give_all_back", PAGES, pages, scene, |s| {
        assert!(s.heap.give_all_back().expect("no error").bytes > 0);
    });
    let all = Grows::With("the region and its objects");
    let scene = |n| system(n, 0);
    table.row("check", OBJECTS, all, scene, |s| {
        s.heap.check().expect("sound");
    });
}

fn used(table: &mut Table, many: (&'static str, [usize; 2]), scene: fn(usize) -> System) {
    let mut constant = |name, call: fn(&mut System)| {
        table.row(name, many, Grows::No, scene, call);
    };
    constant("insert", |s| {
        let _ = black_box(s.heap.insert([1_u64; 5]).expect("fits"));
    });
    constant("get", |s| {
        black_box(s.objects[50].as_ref().map(|handle| s.heap.get(handle)[2]));
    });
    constant("free", |s| {
        let object = s.objects[51].take().expect("once");
        s.heap.free(object);
    });
    constant("alloc, 3000 bytes", |s| {
        black_box(s.heap.alloc(layout(3000)).expect("fits").len());
    });
    constant("alloc, a page", |s| {
        black_box(s.heap.alloc(layout(16 << 10)).expect("fits").len());
    });
    constant("free_bytes, 5000 bytes", |s| {
        let text = s.text.take().expect("once");
        s.heap.free_bytes(text);
    });
    constant("resize, 5000 to 9000 bytes", |s| {
        let text = s.text.as_mut().expect("there");
        s.heap.resize(text, layout(9000)).expect("fits");
    });
    constant("compact, nothing to move", |s| {
        black_box(s.heap.compact(1));
    });
    constant("tick, before the delay", |s| {
        assert_eq!(s.heap.tick(Duration::ZERO).expect("no error").bytes, 0);
    });
    constant("set_limits", |s| {
        let hard = s.heap.limits().hard;
        assert!(s.heap.set_limits(hard / 2, hard).is_ok());
    });
    constant("stats", |s| {
        black_box(s.heap.stats());
    });
}
