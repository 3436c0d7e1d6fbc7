//! The heap with keys that threads share, on one thread.

use core::hint::black_box;

use parking_lot::RawMutex;
use surefit_compact::Key;
use surefit_compact::shared::{KeyLocal, PerClass, SharedKeyHeap};
use surefit_testkit::growth::{Grows, Table};

use crate::shared::{PINS, config};
use crate::{OBJECTS, Object, THREADS, region};

/// Objects that were freed while they were pinned, and are not any more: no call has freed their
/// memory yet.
const DEFERRED: (&str, [usize; 2]) = ("deferred frees", [10, 1000]);

type Heap = SharedKeyHeap<'static, RawMutex>;

/// A heap with objects, every tenth of them freed.
struct Scene {
    heap: &'static Heap,
    local: KeyLocal<'static, 'static, RawMutex, PerClass, u32>,
    keys: Vec<Key<Object>>,
}

impl Scene {
    fn new(objects: usize, threads: usize) -> Self {
        Self::with_threads(objects, threads, 0)
    }

    /// Some more threads may register.
    fn with_threads(objects: usize, threads: usize, more: u16) -> Self {
        let threads = u16::try_from(threads).expect("hundreds");
        let heap = Heap::new(
            region(objects * 128 + (16 << 20)),
            config(threads + more, 1024),
        );
        let heap: &'static Heap = Box::leak(Box::new(heap.expect("large enough")));
        for _ in 1..threads {
            core::mem::forget(heap.register().expect("a place"));
        }
        let local = heap.register().expect("a place");
        let insert = |number| local.insert([number as u64; 5]).expect("fits");
        let keys: Vec<_> = (0..objects).map(insert).collect();
        for &freed in keys.iter().skip(7).step_by(10) {
            local.free(freed).expect("once");
        }
        Self { heap, local, keys }
    }

    fn of_objects(objects: usize) -> Self {
        let scene = Self::new(objects, 4);
        scene.heap.compact(u64::MAX);
        scene
    }

    /// The last thread's calls are counted.
    fn of_threads(threads: usize) -> Self {
        Self::new(1000, threads)
    }

    /// The live keys behind the hundred that the rows use.
    fn others(&self) -> impl Iterator<Item = Key<Object>> {
        let live = self.keys.iter().enumerate().skip(100);
        live.filter(|(at, _)| at % 10 != 7).map(|(_, &key)| key)
    }

    fn of_pins(pins: usize) -> Self {
        let scene = Self::new(2000, 4);
        for key in scene.others().take(pins) {
            core::mem::forget(scene.heap.pin(key).expect("a pin"));
        }
        scene
    }

    fn of_deferred(frees: usize) -> Self {
        let scene = Self::new(2000, 4);
        let pin = |key| (key, scene.heap.pin(key).expect("a pin"));
        let pinned: Vec<_> = scene.others().take(frees).map(pin).collect();
        for (key, _) in &pinned {
            scene.local.free(*key).expect("live");
        }
        drop(pinned);
        scene
    }
}

/// With no room for an object.
fn full(mut scene: Scene) -> Scene {
    while scene.local.insert([0_u64; 5]).is_ok() {}
    scene.keys.truncate(100);
    scene
}

pub(crate) fn rows(table: &mut Table) {
    table.heap("SharedKeyHeap");
    let scenes = [
        (OBJECTS, Scene::of_objects as fn(usize) -> Scene),
        (THREADS, Scene::of_threads),
        (PINS, Scene::of_pins),
        (DEFERRED, Scene::of_deferred),
    ];
    for (many, scene) in scenes {
        used(table, many, scene);
    }
    for (many, scene) in &scenes[..3] {
        table.row("compact, at most one move", *many, Grows::No, scene, |s| {
            black_box(s.heap.compact(1));
        });
    }
    let deferred = Grows::With("the deferred frees");
    let name = "compact, at most one move";
    table.row(name, DEFERRED, deferred, Scene::of_deferred, |s| {
        black_box(s.heap.compact(1));
    });
    let threads = Grows::With("the threads that may register");
    let one_left = |threads| Scene::with_threads(1000, threads, 1);
    table.row("register", THREADS, threads, one_left, |s| {
        core::mem::forget(s.heap.register().expect("a place"));
    });
    refused(table, OBJECTS, Grows::No, |n| full(Scene::of_objects(n)));
    refused(table, THREADS, threads, |n| full(Scene::of_threads(n)));
    let all = Grows::With("the region and its objects");
    table.row("check", OBJECTS, all, Scene::of_objects, |s| {
        s.heap.check(false).expect("sound");
    });
}

type Many = (&'static str, [usize; 2]);

/// What does not grow.
fn used(table: &mut Table, many: Many, scene: fn(usize) -> Scene) {
    let mut constant = |name, call: fn(&mut Scene)| {
        table.row(name, many, Grows::No, scene, call);
    };
    constant("insert", |s| {
        black_box(s.local.insert([1_u64; 5]).expect("fits"));
    });
    constant("free", |s| s.local.free(s.keys[51]).expect("live"));
    constant("free, of a pinned one, and unpin", |s| {
        let pinned = s.heap.pin(s.keys[51]).expect("live");
        s.local.free(s.keys[51]).expect("live");
        black_box(pinned[2]);
    });
    constant("remove", |s| {
        black_box(s.local.remove(s.keys[51]).expect("live"));
    });
    constant("pin and unpin", |s| {
        black_box(s.heap.pin(s.keys[51]).expect("live")[2]);
    });
    constant("pin_settled and unpin", |s| {
        black_box(s.heap.pin_settled(s.keys[51]).expect("live")[2]);
    });
    constant("pin_mut and unpin", |s| {
        s.heap.pin_mut(s.keys[51]).expect("live")[2] = 7;
    });
    constant("pin, of a stale key", |s| {
        assert!(s.heap.pin(s.keys[17]).is_err());
    });
    constant("contains", |s| {
        black_box(s.heap.contains(s.keys[51]));
    });
    constant("stats", |s| {
        black_box(s.heap.stats());
    });
    constant("parts", |s| {
        black_box(s.heap.parts());
    });
}

fn refused(table: &mut Table, many: Many, grows: Grows, scene: fn(usize) -> Scene) {
    table.row("insert, refused", many, grows, scene, |s| {
        assert!(s.local.insert([1_u64; 5]).is_err());
    });
}
