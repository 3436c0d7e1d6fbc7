//! The heaps with handles that threads share, on one thread.

use core::hint::black_box;

use parking_lot::RawMutex;
use surefit_compact::shared::{Local, PerClass, ShardedHeap, SharedConfig, SharedHeap};
use surefit_compact::{Config, Handle, SizeClass};
use surefit_testkit::growth::{Grows, Table};

use crate::classes::{self, CLASSES};
use crate::scale::{INSTANCES, OBJECTS, Object, THREADS, region};

pub(crate) type Shared = SharedHeap<'static, RawMutex>;
type Sharded = ShardedHeap<'static, RawMutex>;
type OneLocal = Local<'static, 'static, RawMutex, PerClass>;

/// A heap with objects, every tenth of them freed; some of them are pinned.
pub(crate) struct Scene<H: 'static> {
    pub(crate) heap: &'static H,
    pub(crate) local: OneLocal,
    objects: Vec<Option<Handle<Object>>>,
}

impl<H> Scene<H> {
    fn new(heap: &'static H, local: OneLocal, objects: usize) -> Self {
        let insert = |number| Some(local.insert([number as u64; 5]).expect("fits"));
        let mut objects: Vec<_> = (0..objects).map(insert).collect();
        for freed in objects.iter_mut().skip(7).step_by(10) {
            local.free(freed.take().expect("once")).expect("ours");
        }
        Self {
            heap,
            local,
            objects,
        }
    }

    fn object(&mut self) -> Handle<Object> {
        self.objects[51].take().expect("once")
    }
}

pub(crate) fn config(locals: u16, pins: u32) -> &'static SharedConfig {
    config_of(&Config::DEFAULT, locals, pins)
}

fn config_of(config: &Config, locals: u16, pins: u32) -> &'static SharedConfig {
    let config = SharedConfig::new(config.clone()).with_pins(pins);
    let config = config.with_locals(locals, 1).expect("valid");
    Box::leak(Box::new(config))
}

fn shared(objects: usize, locals: u16) -> Scene<Shared> {
    let heap = Shared::new(region(objects * 112 + (16 << 20)), config(locals, 1024));
    let heap: &'static Shared = Box::leak(Box::new(heap.expect("large enough")));
    Scene::new(heap, heap.register().expect("a place"), objects)
}

pub(crate) fn of_objects(objects: usize) -> Scene<Shared> {
    let scene = shared(objects, 4);
    scene.heap.compact(u64::MAX);
    scene
}

/// As many threads are registered; the last one's calls are counted.
fn of_threads(threads: usize) -> Scene<Shared> {
    of_threads_and(threads, 0)
}

/// Some more threads may register.
fn of_threads_and(threads: usize, more: u16) -> Scene<Shared> {
    let threads = u16::try_from(threads).expect("hundreds");
    let heap = Shared::new(region(16 << 20), config(threads + more, 1024));
    let heap: &'static Shared = Box::leak(Box::new(heap.expect("large enough")));
    for _ in 1..threads {
        core::mem::forget(heap.register().expect("a place"));
    }
    Scene::new(heap, heap.register().expect("a place"), 1000)
}

fn of_classes(classes: usize) -> Scene<Shared> {
    let config = config_of(classes::config(classes), 4, 1024);
    let heap = Shared::new(region(16 << 20), config).expect("large enough");
    let heap: &'static Shared = Box::leak(Box::new(heap));
    let scene = Scene::new(heap, heap.register().expect("a place"), 1000);
    scene.heap.compact(u64::MAX);
    scene
}

/// As many objects are pinned.
fn of_pins(pins: usize) -> Scene<Shared> {
    let mut scene = shared(2000, 4);
    let pinned = scene.objects.iter().skip(100).flatten().take(pins);
    for object in pinned {
        core::mem::forget(scene.heap.pin_settled(object).expect("a pin"));
    }
    scene.objects.truncate(100);
    scene
}

/// That of the objects.
fn class() -> SizeClass {
    let class = Config::DEFAULT.geometry().class_for(size_of::<Object>(), 8);
    class.expect("a class")
}

pub(crate) const PINS: (&str, [usize; 2]) = ("pins", [10, 1000]);

pub(crate) fn threads(table: &mut Table) {
    table.heap("SharedHeap");
    let scenes = [
        (OBJECTS, of_objects as fn(usize) -> Scene<Shared>),
        (THREADS, of_threads),
        (PINS, of_pins),
    ];
    for (many, scene) in scenes {
        changed(table, many, scene);
        asked(table, many, Grows::No, scene);
        table.row("class_usage", many, Grows::No, scene, |s| {
            black_box(s.heap.class_usage(class()));
        });
    }
    changed(table, CLASSES, of_classes);
    asked(table, CLASSES, Grows::With("the classes"), of_classes);
    let threads = Grows::With("the threads that may register");
    let one_left = |threads: usize| of_threads_and(threads, 1);
    table.row("register", THREADS, threads, one_left, |s| {
        core::mem::forget(s.heap.register().expect("a place"));
    });
    let all = Grows::With("the region and its objects");
    table.row("check", OBJECTS, all, of_objects, |s| {
        s.heap.check(false).expect("sound");
    });
}

type Many = (&'static str, [usize; 2]);

/// Calls for one object.
fn changed(table: &mut Table, many: Many, scene: fn(usize) -> Scene<Shared>) {
    let mut constant = |name, call: fn(&mut Scene<Shared>)| {
        table.row(name, many, Grows::No, scene, call);
    };
    constant("insert", |s| {
        let _ = black_box(s.local.insert([1_u64; 5]).expect("fits"));
    });
    constant("free", |s| {
        let object = s.object();
        s.local.free(object).expect("ours");
    });
    constant("remove", |s| {
        let object = s.object();
        black_box(s.local.remove(object).expect("ours"));
    });
    constant("pin and unpin", |s| {
        let object = s.objects[50].as_ref().expect("there");
        black_box(s.heap.pin(object).expect("a pin")[2]);
    });
    constant("pin_settled and unpin", |s| {
        let object = s.objects[50].as_ref().expect("there");
        black_box(s.heap.pin_settled(object).expect("a pin")[2]);
    });
    constant("pin_mut and unpin", |s| {
        let object = s.objects[50].as_mut().expect("there");
        s.heap.pin_mut(object).expect("a pin")[2] = 7;
    });
}

/// What is linear in the classes.
fn asked(table: &mut Table, many: Many, grows: Grows, scene: fn(usize) -> Scene<Shared>) {
    let mut row = |name, call: fn(&mut Scene<Shared>)| {
        table.row(name, many, grows, scene, call);
    };
    row("compact, at most one move", |s| {
        black_box(s.heap.compact(1));
    });
    row("stats", |s| {
        black_box(s.heap.stats());
    });
    row("usage", |s| {
        black_box(s.heap.usage());
    });
}

/// So many instances, one thread in each.
fn sharded(instances: usize) -> Scene<Sharded> {
    let instances = u16::try_from(instances).expect("hundreds");
    let heap = Sharded::new(region(64 << 20), config(instances, 64), instances);
    let heap: &'static Sharded = Box::leak(Box::new(heap.expect("large enough")));
    for instance in 1..instances {
        let local = heap.register_in(u32::from(instance)).expect("a place");
        for number in 0..100 {
            let _ = black_box(local.insert([number; 5]).expect("fits"));
        }
        core::mem::forget(local);
    }
    Scene::new(heap, heap.register_in(0).expect("a place"), 1000)
}

pub(crate) fn instances(table: &mut Table) {
    table.heap("ShardedHeap");
    let mut constant = |name, call: fn(&mut Scene<Sharded>)| {
        table.row(name, INSTANCES, Grows::No, sharded, call);
    };
    constant("insert", |s| {
        let _ = black_box(s.local.insert([1_u64; 5]).expect("fits"));
    });
    constant("free", |s| {
        let object = s.object();
        s.local.free(object).expect("ours");
    });
    constant("pin and unpin", |s| {
        let object = s.objects[50].as_ref().expect("there");
        black_box(s.heap.pin_settled(object).expect("a pin")[2]);
    });
    constant("set_quota", |s| s.heap.set_quota(0, 1 << 20));
    constant("instance_stats", |s| {
        black_box(s.heap.instance_stats(0));
    });
    constant("compact_instance, at most one move", |s| {
        black_box(s.heap.compact_instance(0, 1));
    });
    let all = Grows::With("the instances");
    let mut grows = |name, call: fn(&mut Scene<Sharded>)| {
        table.row(name, INSTANCES, all, sharded, call);
    };
    grows("register_in a full one", |s| {
        assert!(s.heap.register_in(0).is_err());
    });
    grows("register, refused", |s| {
        assert!(s.heap.register().is_err());
    });
    grows("compact, at most one move", |s| {
        black_box(s.heap.compact(1));
    });
    grows("stats", |s| {
        black_box(s.heap.stats());
    });
    grows("usage", |s| {
        black_box(s.heap.usage());
    });
    let left = |objects| {
        let heap = Sharded::new(region(64 << 20), config(2, 64), 2).expect("large enough");
        let heap: &'static Sharded = Box::leak(Box::new(heap));
        let local = heap.register_in(1).expect("a place");
        for number in 0..objects {
            let object = local.insert([number as u64; 5]);
            let _ = black_box(object.expect("fits"));
        }
        heap
    };
    let handles = Grows::With("the handles that ever were in use");
    table.row("destroy", OBJECTS, handles, left, |s| {
        black_box(s.destroy(1).expect("nobody is there"));
    });
}
