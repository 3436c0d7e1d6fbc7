//! One owner's heaps with handles. They are compacted, so that a free moves nothing, however many
//! objects there are: `events` counts the frees that move.

use core::alloc::Layout;
use core::hint::black_box;

use surefit_compact::{ByteKey, Bytes, Config, Handle, Heap, Key, KeyHeap, SizeClass};
use surefit_testkit::growth::{Grows, Table};

use crate::scale::{OBJECTS, Object, region};

static CONFIG: Config = Config::DEFAULT;

/// A heap with objects, every tenth of them freed, and one object of bytes.
pub(crate) struct Scene {
    pub(crate) heap: Heap<'static>,
    pub(crate) objects: Vec<Option<Handle<Object>>>,
    pub(crate) text: Option<Bytes<u8>>,
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 1).expect("a layout")
}

pub(crate) fn scene(objects: usize) -> Scene {
    let mut heap = Heap::new(region(objects * 96 + (2 << 20)), &CONFIG).expect("large enough");
    let insert = |number| Some(heap.insert([number as u64; 5]).expect("fits"));
    let mut objects: Vec<_> = (0..objects).map(insert).collect();
    for freed in objects.iter_mut().skip(7).step_by(10) {
        heap.free(freed.take().expect("once"));
    }
    heap.compact(u64::MAX);
    let text = Some(heap.alloc_zeroed(layout(5000)).expect("fits"));
    Scene {
        heap,
        objects,
        text,
    }
}

/// With no room left for an object of 1500 bytes.
fn full(objects: usize) -> Scene {
    let scene = scene(objects);
    while let Ok(bytes) = scene.heap.alloc(layout(1500)) {
        let _ = black_box(bytes);
    }
    scene
}

impl Scene {
    pub(crate) fn object(&mut self) -> Handle<Object> {
        self.objects[51].take().expect("once")
    }
}

pub(crate) fn heap(table: &mut Table) {
    table.heap("Heap");
    let mut constant = |name, call: fn(&mut Scene)| {
        table.row(name, OBJECTS, Grows::No, scene, call);
    };
    constant("insert", |s| {
        let _ = black_box(s.heap.insert([1_u64; 5]).expect("fits"));
    });
    constant("get", |s| {
        black_box(s.objects[50].as_ref().map(|handle| s.heap.get(handle)[2]));
    });
    constant("remove", |s| {
        let object = s.object();
        black_box(s.heap.remove(object));
    });
    constant("free", |s| {
        let object = s.object();
        s.heap.free(object);
    });
    constant("alloc, 3000 bytes", |s| {
        let _ = black_box(s.heap.alloc(layout(3000)).expect("fits"));
    });
    constant("alloc_zeroed, 3000 bytes", |s| {
        let _ = black_box(s.heap.alloc_zeroed(layout(3000)).expect("fits"));
    });
    constant("free_bytes, 5000 bytes", |s| {
        let text = s.text.take().expect("once");
        s.heap.free_bytes(text);
    });
    constant("resize, 5000 to 9000 bytes", |s| {
        let text = s.text.as_mut().expect("there");
        s.heap.resize(text, layout(9000)).expect("fits");
    });
    constant("chunk", |s| {
        let text = s.text.as_ref().expect("there");
        black_box(s.heap.chunk(text, 4321).len());
    });
    constant("compact, nothing to move", |s| {
        black_box(s.heap.compact(1));
    });
    asked(table);
}

/// That of the objects.
fn class() -> SizeClass {
    let class = CONFIG.geometry().class_for(size_of::<Object>(), 8);
    class.expect("a class")
}

/// What only looks.
fn asked(table: &mut Table) {
    let mut constant = |name, call: fn(&mut Scene)| {
        table.row(name, OBJECTS, Grows::No, scene, call);
    };
    constant("stats", |s| {
        black_box(s.heap.stats());
    });
    constant("usage", |s| {
        black_box(s.heap.usage());
    });
    constant("handle_bytes", |s| {
        black_box(s.heap.details().handle_bytes());
    });
    constant("degree_of_fragmentation", |s| {
        black_box(s.heap.details().degree_of_fragmentation(40));
    });
    constant("can_allocate", |s| {
        assert!(s.heap.can_allocate(40, 8, 10));
    });
    constant("can_allocate_bytes", |s| {
        assert!(s.heap.can_allocate_bytes(5000, 8));
    });
    constant("largest_free", |s| {
        black_box(s.heap.details().largest_free());
    });
    constant("class_counts", |s| {
        black_box(s.heap.details().class_counts(class()));
    });
    constant("parked_pages, all", |s| {
        black_box(s.heap.details().parked_pages(class()).count());
    });
    table.row("alloc, refused", OBJECTS, Grows::No, full, |s| {
        assert!(s.heap.alloc(layout(1500)).is_err());
    });
    table.row("can_allocate, refused", OBJECTS, Grows::No, full, |s| {
        assert!(!s.heap.can_allocate(1500, 8, 1));
    });
    let search = Grows::With("the classes and the logarithm of the region");
    table.row("largest_free_bytes", OBJECTS, search, scene, |s| {
        black_box(s.heap.details().largest_free_bytes());
    });
    let all = Grows::With("the region and its objects");
    table.row("check", OBJECTS, all, scene, |s| {
        s.heap.check().expect("sound");
    });
    table.row("live_blocks, all", OBJECTS, all, scene, |s| {
        black_box(s.heap.live_blocks().count());
    });
}

/// A heap with keys.
struct Keys {
    heap: KeyHeap<'static>,
    keys: Vec<Key<Object>>,
    text: ByteKey<u8>,
}

fn keyed(objects: usize) -> Keys {
    let mut heap = KeyHeap::new(region(objects * 96 + (2 << 20)), &CONFIG).expect("large enough");
    let insert = |number| heap.insert([number as u64; 5]).expect("fits");
    let keys: Vec<_> = (0..objects).map(insert).collect();
    for &freed in keys.iter().skip(7).step_by(10) {
        heap.remove(freed).expect("once");
    }
    heap.compact(u64::MAX);
    let text = heap.alloc_zeroed(layout(5000)).expect("fits");
    Keys { heap, keys, text }
}

pub(crate) fn keys(table: &mut Table) {
    table.heap("KeyHeap");
    let mut constant = |name, call: fn(&mut Keys)| {
        table.row(name, OBJECTS, Grows::No, keyed, call);
    };
    constant("insert", |s| {
        black_box(s.heap.insert([1_u64; 5]).expect("fits"));
    });
    constant("get", |s| {
        black_box(s.heap.get(s.keys[50]).expect("live")[2]);
    });
    constant("get, of a stale key", |s| {
        assert!(s.heap.get(s.keys[17]).is_err());
    });
    constant("remove", |s| {
        black_box(s.heap.remove(s.keys[51]).expect("live"));
    });
    constant("alloc, 3000 bytes", |s| {
        black_box(s.heap.alloc(layout(3000)).expect("fits").len());
    });
    constant("free_bytes, 5000 bytes", |s| {
        s.heap.free_bytes(s.text).expect("live");
    });
    constant("resize, 5000 to 9000 bytes", |s| {
        s.text = s.heap.resize(s.text, layout(9000)).expect("fits");
    });
    constant("chunk", |s| {
        black_box(s.heap.chunk(s.text, 4321).expect("live").len());
    });
    constant("compact, nothing to move", |s| {
        black_box(s.heap.compact(1));
    });
    constant("stats", |s| {
        black_box(s.heap.stats());
    });
    let all = Grows::With("the region and its objects");
    table.row("check", OBJECTS, all, keyed, |s| {
        s.heap.check().expect("sound");
    });
}
