//! The heap of raw pointers that threads share, over a fixed region, on one thread.

use core::hint::black_box;
use core::ptr::NonNull;

use parking_lot::RawMutex;
use surefit_direct::shared::{Local, Settings, SharedDirect};
use surefit_testkit::growth::{Grows, Table};

use crate::direct::RUN;
use crate::scale::{INSTANCES, OBJECTS, RUNS, region};

/// Objects that other threads freed of an instance.
const ARRIVED: (&str, [usize; 2]) = ("frees that arrived", [10_000, 100_000]);

/// What a heap that checks each free looks at.
const FREE: (&str, [usize; 2]) = ("free page-blocks of the page", [10, 80]);

type Heap = SharedDirect<'static, RawMutex>;
type OneLocal = Local<'static, RawMutex>;

/// Objects of so many bytes of one thread, every tenth (or every other run) of them freed.
struct Scene {
    heap: &'static Heap,
    local: OneLocal,
    /// The other threads' instances.
    others: Vec<OneLocal>,
    objects: Vec<NonNull<u8>>,
    bytes: usize,
}

fn heap(threads: u32, bytes: usize, checks: bool) -> &'static Heap {
    let settings = Settings {
        threads,
        checks,
        delay: u32::MAX,
    };
    let heap = Heap::new(region(bytes + (16 << 20)), settings);
    Box::leak(Box::new(heap.expect("large enough")))
}

impl Scene {
    fn new(threads: u32, objects: usize, bytes: usize, checks: bool) -> Self {
        let heap = heap(threads, objects * (bytes + bytes / 4 + 16), checks);
        let join = |_| heap.join().expect("a place");
        let others: Vec<_> = (1..threads).map(join).collect();
        for local in &others {
            for _ in 0..10 {
                black_box(local.allocate(40, 8).expect("room"));
            }
        }
        let local = heap.join().expect("a place");
        let allocate = |_| local.allocate(bytes, 8).expect("room");
        let objects: Vec<_> = (0..objects).map(allocate).collect();
        let every = if bytes == RUN { 2 } else { 10 };
        for &object in objects.iter().skip(every - 2).step_by(every) {
            // SAFETY: it is live, and freed once.
            unsafe { local.try_free(object) }.expect("live");
        }
        if bytes != RUN {
            // However many were freed: the free list has room for the next.
            local.trim();
            black_box(local.allocate(bytes, 8).expect("room"));
        }
        Self {
            heap,
            local,
            others,
            objects,
            bytes,
        }
    }

    fn of_objects(objects: usize) -> Self {
        Self::new(2, objects, 40, false)
    }

    fn of_instances(instances: usize) -> Self {
        Self::new(u32::try_from(instances).expect("few"), 1000, 40, false)
    }

    /// Frees an object that is live.
    fn free_by(&self, local: &OneLocal) {
        // SAFETY: it is live, and freed once.
        unsafe { local.try_free(self.objects[51]) }.expect("live");
    }

    /// Resizes one that is live.
    fn resize(&self, bytes: usize) {
        // SAFETY: it is live, and aligned to 16 as every object.
        let resized = unsafe { self.local.resize(self.objects[51], bytes, 8) };
        black_box(resized.expect("live").expect("room"));
    }
}

/// Another thread freed so many objects, and delivered them. All objects are of one class, and
/// those the last ones: their pages are not the first that allocations look at.
fn of_arrived(count: usize) -> Scene {
    let scene = Scene::of_objects(220_000);
    let live = scene.objects.iter().enumerate().rev();
    for (_, &object) in live.filter(|(at, _)| at % 10 != 8).take(count) {
        // SAFETY: it is live, and freed once.
        unsafe { scene.others[0].try_free(object) }.expect("live");
    }
    scene.others[0].trim();
    scene
}

type Many = (&'static str, [usize; 2]);

pub(crate) fn rows(table: &mut Table) {
    table.heap("SharedDirect");
    let scenes = [
        (OBJECTS, Scene::of_objects as fn(usize) -> Scene),
        (RUNS, |n| Scene::new(2, 2 * n, RUN, false)),
        (INSTANCES, Scene::of_instances),
    ];
    for (many, scene) in scenes {
        used(table, many, scene);
        set(table, many, scene);
        let used = Grows::With("the units that were ever used");
        table.row("stats", many, used, scene, |s| {
            black_box(s.heap.stats());
        });
    }
    joined(table);
    let arrived = Grows::With("what others freed of the instance");
    table.row("trim", ARRIVED, arrived, of_arrived, |s| s.local.trim());
    let leaving = |n| Some(of_arrived(n).local);
    table.row("leave", ARRIVED, arrived, leaving, |local| {
        drop(local.take())
    });
    let name = "allocate, of a class without pages";
    table.row(name, ARRIVED, arrived, of_arrived, |s| {
        black_box(s.local.allocate(200, 8).expect("room"));
    });
    // More than are in the free list.
    let name = "allocate, a thousand times";
    table.row(name, ARRIVED, Grows::No, of_arrived, |s| {
        for _ in 0..1000 {
            black_box(s.local.allocate(40, 8).expect("room"));
        }
    });
    let tables = Grows::With("the region's tables");
    let memory = |runs| region(2 * runs * RUN);
    table.row("new", RUNS, tables, memory, |memory| {
        let settings = Settings {
            threads: 2,
            checks: false,
            delay: u32::MAX,
        };
        Heap::new(core::mem::take(memory), settings).expect("large enough")
    });
    checked(table);
}

/// Allocations, frees and what looks at one object.
fn used(table: &mut Table, many: Many, scene: fn(usize) -> Scene) {
    let mut constant = |name, call: fn(&mut Scene)| {
        table.row(name, many, Grows::No, scene, call);
    };
    constant("allocate", |s| {
        black_box(s.local.allocate(s.bytes, 8).expect("room"));
    });
    constant("allocate, 100000 bytes", |s| {
        black_box(s.local.allocate(100_000, 8).expect("room"));
    });
    constant("allocate_zeroed", |s| {
        black_box(s.local.allocate_zeroed(s.bytes, 8).expect("room"));
    });
    constant("free", |s| s.free_by(&s.local));
    constant("free, of another thread's", |s| s.free_by(&s.others[0]));
    constant("resize, in place", |s| s.resize(s.bytes * 9 / 10));
    constant("resize to half", |s| s.resize(s.bytes / 2));
    constant("resize to twice as much", |s| s.resize(s.bytes * 2));
    constant("resize to four times as much", |s| s.resize(s.bytes * 4));
    constant("usable_bytes", |s| {
        black_box(s.heap.usable_bytes(s.objects[51].as_ptr()));
    });
    constant("put_back", |s| {
        let (object, other) = (s.objects[51].as_ptr(), s.others.pop().expect("another"));
        let own = core::mem::replace(&mut s.local, other).into_raw();
        // SAFETY: it is live, and freed once, by its thread.
        black_box(unsafe { s.heap.units().put_back(own, object) });
    });
    constant("grouped, allocate", |s| {
        let object = s.heap.grouped(0, |local| local.allocate(s.bytes, 8));
        black_box(object.expect("room"));
    });
    // The first one about a class empties its free list.
    let asked = move |n| {
        let s = scene(n);
        black_box(s.local.defrag_hint(s.objects[51], 1));
        s
    };
    let name = "defrag_hint, of one page";
    table.row(name, many, Grows::No, asked, |s| {
        black_box(s.local.defrag_hint(s.objects[51], 1));
    });
}

/// Calls for the whole heap.
fn set(table: &mut Table, many: Many, scene: fn(usize) -> Scene) {
    // The second one: what is before the first depends on where the last object lies.
    let once = move |n| {
        let s = scene(n);
        black_box(s.local.allocate(s.bytes, 64 << 10).expect("room"));
        s.local.trim();
        s
    };
    let name = "allocate, aligned to 64 KiB";
    table.row(name, many, Grows::No, once, |s| {
        black_box(s.local.allocate(s.bytes, 64 << 10).expect("room"));
    });
    table.row("trim, of nothing", many, Grows::No, once, |s| {
        s.local.trim()
    });
    let mut constant = |name, call: fn(&mut Scene)| {
        table.row(name, many, Grows::No, scene, call);
    };
    constant("set_limit", |s| s.heap.set_limit(1 << 30));
    constant("set_soft_limit", |s| s.heap.set_soft_limit(1 << 30));
    constant("set_delay", |s| s.heap.set_delay(1000));
    constant("before_fork and after_fork, the parent", |s| {
        s.heap.before_fork();
        // SAFETY: it follows `before_fork`, and this is the thread's instance.
        unsafe { s.heap.after_fork(false, Some(&s.local)) };
    });
}

/// What is linear in the instances.
fn joined(table: &mut Table) {
    let mut row = |name, words, scene: fn(usize) -> Scene, call: fn(&mut Scene)| {
        table.row(name, INSTANCES, Grows::With(words), scene, call);
    };
    let instances = "the instances";
    row("join, refused", instances, Scene::of_instances, |s| {
        assert!(s.heap.join().is_err());
    });
    let one_left = |instances| {
        let mut scene = Scene::of_instances(instances);
        drop(scene.others.pop());
        scene
    };
    row("join and leave", instances, one_left, |s| {
        drop(s.heap.join().expect("the place that was left"));
    });
    row(
        "after_fork, the child",
        instances,
        Scene::of_instances,
        |s| {
            s.heap.before_fork();
            // SAFETY: it follows `before_fork`, and this is the thread's instance.
            unsafe { s.heap.after_fork(true, Some(&s.local)) };
        },
    );
    row("purge", instances, Scene::of_instances, |s| {
        black_box(s.heap.purge());
    });
    let all = "the region, and the square of the instances";
    row("check", all, Scene::of_instances, |s| {
        // SAFETY: there is one thread.
        unsafe { s.heap.check_between_calls() }.expect("sound");
    });
}

/// A heap that checks each free.
fn checked(table: &mut Table) {
    table.heap("SharedDirect that checks each free");
    let scenes = [
        (
            OBJECTS,
            (|n| Scene::new(2, n, 40, true)) as fn(usize) -> Scene,
        ),
        (INSTANCES, |n| {
            Scene::new(u32::try_from(n).expect("few"), 1000, 40, true)
        }),
    ];
    for (many, scene) in scenes {
        let mut constant = |name, call: fn(&mut Scene)| {
            table.row(name, many, Grows::No, scene, call);
        };
        constant("allocate", |s| {
            black_box(s.local.allocate(40, 8).expect("room"));
        });
        constant("free", |s| s.free_by(&s.local));
        constant("free, of another thread's", |s| s.free_by(&s.others[0]));
        constant("resize to twice as much", |s| s.resize(80));
    }
    let blocks = Grows::With("the page-blocks of the page");
    table.row("free", FREE, blocks, of_free, |s| s.free_by(&s.local));
}

/// As many page-blocks more are free in the page of the first 170 objects.
fn of_free(count: usize) -> Scene {
    let scene = Scene::new(2, 1000, 40, true);
    let live = scene.objects.iter().enumerate().skip(60);
    for (_, &object) in live.filter(|(at, _)| at % 10 != 8).take(count) {
        // SAFETY: it is live, and freed once.
        unsafe { scene.local.try_free(object) }.expect("live");
    }
    scene
}
