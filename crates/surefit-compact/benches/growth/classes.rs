//! A heap with few and with many size-classes, each of which has an object, and one with few and
//! with many free pages.

use core::alloc::Layout;
use core::hint::black_box;

use surefit_compact::{Bound, Bytes, Config, EntryHeap, Geometry, GeometrySpec, Handle, Spacing};
use surefit_testkit::growth::{Grows, Table};

use crate::scale::{Object, region};

/// With the page, which is a class of its own.
pub(crate) const CLASSES: (&str, [usize; 2]) = ("classes", [3, 61]);
const PAGES: (&str, [usize; 2]) = ("free pages", [20, 2000]);

const FEW: [u32; 2] = [48, 4096];
const MANY: [u32; 60] = {
    let mut sizes = [48; 60];
    let mut class = 1;
    while class < sizes.len() {
        sizes[class] = sizes[class - 1] + 88;
        class += 1;
    }
    sizes
};

const fn of_sizes(sizes: &[u32]) -> Config {
    let spec = GeometrySpec {
        spacing: Spacing::Explicit(sizes),
        ..GeometrySpec::DEFAULT
    };
    let Ok(geometry) = Geometry::new(&spec) else {
        panic!("sizes that are possible");
    };
    let Ok(config) = Config::new(geometry, Bound::DEFAULT) else {
        panic!("a configuration that is possible");
    };
    config
}

static FEW_CLASSES: Config = of_sizes(&FEW);
static MANY_CLASSES: Config = of_sizes(&MANY);

/// Its text has pieces of one size alone, so that its pieces are of the same classes everywhere.
struct Scene {
    heap: EntryHeap<'static>,
    objects: Vec<Option<Handle<Object>>>,
    text: Option<Bytes<u8>>,
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 1).expect("a layout")
}

fn scene(mut heap: EntryHeap<'static>) -> Scene {
    let insert = |number: u64| Some(heap.insert([number; 5]).expect("fits"));
    let mut objects: Vec<_> = (0..1000).map(insert).collect();
    for freed in objects.iter_mut().skip(7).step_by(10) {
        heap.free(freed.take().expect("once"));
    }
    heap.compact(u64::MAX);
    let text = Some(heap.alloc_zeroed(layout(8192)).expect("fits"));
    Scene {
        heap,
        objects,
        text,
    }
}

/// So many classes, with the page.
pub(crate) fn config(classes: usize) -> &'static Config {
    let config = if classes == 3 {
        &FEW_CLASSES
    } else {
        &MANY_CLASSES
    };
    assert_eq!(config.geometry().class_count(), classes, "with the page");
    config
}

fn of_classes(classes: usize) -> Scene {
    let config = config(classes);
    let sizes = if classes == 3 { &FEW[..] } else { &MANY[..] };
    let mut heap = EntryHeap::new(region(4 << 20), config).expect("large enough");
    for &size in sizes {
        let object = heap.alloc_contiguous(layout(size as usize)).expect("fits");
        black_box(object.len());
    }
    scene(heap)
}

fn full(classes: usize) -> Scene {
    let scene = of_classes(classes);
    while let Ok(bytes) = scene.heap.alloc(layout(3000)) {
        black_box(bytes.len());
    }
    scene
}

/// Objects of a page, every other one of which was freed.
fn of_pages(pages: usize) -> Scene {
    static CONFIG: Config = Config::DEFAULT;
    let mut heap =
        EntryHeap::new(region((2 * pages + 40) * (16 << 10)), &CONFIG).expect("large enough");
    let page = layout(16 << 10);
    let objects: Vec<_> = (0..2 * pages)
        .map(|_| heap.alloc_contiguous(page).expect("fits"))
        .collect();
    for (number, object) in objects.into_iter().enumerate() {
        if number % 2 == 0 {
            heap.free_contiguous(object);
        }
    }
    scene(heap)
}

pub(crate) fn heap(table: &mut Table) {
    let classes = Grows::With("the classes");
    changed(table, CLASSES, of_classes);
    asked(table, CLASSES, classes, of_classes);
    table.row("alloc, refused", CLASSES, classes, full, |s| {
        assert!(s.heap.alloc(layout(3000)).is_err());
    });
    changed(table, PAGES, of_pages);
    asked(table, PAGES, Grows::No, of_pages);
    let search = Grows::With("the classes and the logarithm of the region");
    for (many, scene) in [
        (CLASSES, of_classes as fn(usize) -> Scene),
        (PAGES, of_pages),
    ] {
        table.row("largest_free_bytes", many, search, scene, |s| {
            black_box(s.heap.details().largest_free_bytes());
        });
    }
}

type Many = (&'static str, [usize; 2]);

fn changed(table: &mut Table, many: Many, scene: fn(usize) -> Scene) {
    let mut constant = |name, call: fn(&mut Scene)| {
        table.row(name, many, Grows::No, scene, call);
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
    constant("free_bytes, 8192 bytes", |s| {
        let text = s.text.take().expect("once");
        s.heap.free_bytes(text);
    });
    constant("resize, 8192 to 12288 bytes", |s| {
        let text = s.text.as_mut().expect("there");
        s.heap.resize(text, layout(12288)).expect("fits");
    });
    constant("can_allocate", |s| {
        assert!(s.heap.can_allocate(40, 8, 10));
    });
}

/// What is linear in the classes.
fn asked(table: &mut Table, many: Many, grows: Grows, scene: fn(usize) -> Scene) {
    let mut row = |name, call: fn(&mut Scene)| table.row(name, many, grows, scene, call);
    row("compact, nothing to move", |s| {
        black_box(s.heap.compact(1));
    });
    row("stats", |s| {
        black_box(s.heap.stats());
    });
    row("usage", |s| {
        black_box(s.heap.usage());
    });
    row("handle_bytes", |s| {
        black_box(s.heap.details().handle_bytes());
    });
    row("largest_free", |s| {
        black_box(s.heap.details().largest_free());
    });
    row("can_serve", |s| {
        assert!(s.heap.can_serve(&[40, 3000]).is_ok());
    });
    row("would_fit", |s| {
        assert!(s.heap.would_fit(&[40, 3000]));
    });
}
