//! The heaps with handles that threads share, on one thread.

use parking_lot::RawMutex;
use surefit_compact::shared::{Local, PerClass, ShardedHeap, SharedConfig, SharedHeap};
use surefit_compact::{Config, Handle};
use surefit_testkit::growth::{Grows, Table};

use crate::{INSTANCES, OBJECTS, Object, THREADS, region};

type Shared = SharedHeap<'static, RawMutex>;
type Sharded = ShardedHeap<'static, RawMutex>;
type OneLocal = Local<'static, 'static, RawMutex, PerClass>;

/// A heap with objects, every tenth of them freed; some of them are pinned.
struct Scene<H: 'static> {
    heap: &'static H,
    local: OneLocal,
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

fn config(locals: u16, pins: u32) -> &'static SharedConfig {
    let config = SharedConfig::new(Config::DEFAULT).with_pins(pins);
    let config = config.with_locals(locals, 1).expect("valid");
    Box::leak(Box::new(config))
}

fn shared(objects: usize, locals: u16) -> Scene<Shared> {
    let heap = Shared::new(region(objects * 112 + (16 << 20)), config(locals, 1024));
    let heap: &'static Shared = Box::leak(Box::new(heap.expect("large enough")));
    Scene::new(heap, heap.register().expect("a place"), objects)
}

fn of_objects(objects: usize) -> Scene<Shared> {
    let scene = shared(objects, 4);
    scene.heap.compact(u64::MAX);
    scene
}

/// As many threads are registered; the last one's calls are counted.
fn of_threads(threads: usize) -> Scene<Shared> {
    let threads = u16::try_from(threads).expect("hundreds");
    let heap = Shared::new(region(16 << 20), config(threads, 1024));
    let heap: &'static Shared = Box::leak(Box::new(heap.expect("large enough")));
    for _ in 1..threads {
        core::mem::forget(heap.register().expect("a place"));
    }
    Scene::new(heap, heap.register().expect("a place"), 1000)
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

const PINS: (&str, [usize; 2]) = ("pins", [10, 1000]);

pub(crate) fn threads(table: &mut Table) {
    table.heap("SharedHeap");
    let scenes = [
        (OBJECTS, of_objects as fn(usize) -> Scene<Shared>),
        (THREADS, of_threads),
        (PINS, of_pins),
    ];
    for (many, scene) in scenes {
        let mut constant = |name, call: fn(&mut Scene<Shared>)| {
            table.row(name, many, Grows::No, scene, call);
        };
        constant("insert", |s| {
            let _ = core::hint::black_box(s.local.insert([1_u64; 5]).expect("fits"));
        });
        constant("free", |s| {
            let object = s.object();
            s.local.free(object).expect("ours");
        });
        constant("pin and unpin", |s| {
            let object = s.objects[50].as_ref().expect("there");
            core::hint::black_box(s.heap.pin_settled(object).expect("a pin")[2]);
        });
        constant("compact, at most one move", |s| {
            core::hint::black_box(s.heap.compact(1));
        });
        constant("stats", |s| {
            core::hint::black_box(s.heap.stats());
        });
        constant("parts", |s| {
            core::hint::black_box(s.heap.parts());
        });
    }
    let all = Grows::With("the region and its objects");
    table.row("check", OBJECTS, all, of_objects, |s| {
        s.heap.check(false).expect("sound");
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
            let _ = core::hint::black_box(local.insert([number; 5]).expect("fits"));
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
        let _ = core::hint::black_box(s.local.insert([1_u64; 5]).expect("fits"));
    });
    constant("free", |s| {
        let object = s.object();
        s.local.free(object).expect("ours");
    });
    constant("pin and unpin", |s| {
        let object = s.objects[50].as_ref().expect("there");
        core::hint::black_box(s.heap.pin_settled(object).expect("a pin")[2]);
    });
    constant("set_quota", |s| s.heap.set_quota(0, 1 << 20));
    constant("instance_stats", |s| {
        core::hint::black_box(s.heap.instance_stats(0));
    });
    constant("compact_instance, at most one move", |s| {
        core::hint::black_box(s.heap.compact_instance(0, 1));
    });
    let all = Grows::With("the instances");
    let mut grows = |name, call: fn(&mut Scene<Sharded>)| {
        table.row(name, INSTANCES, all, sharded, call);
    };
    grows("register_in a full one", |s| {
        assert!(s.heap.register_in(0).is_err());
    });
    grows("compact, at most one move", |s| {
        core::hint::black_box(s.heap.compact(1));
    });
    grows("stats", |s| {
        core::hint::black_box(s.heap.stats());
    });
    grows("parts", |s| {
        core::hint::black_box(s.heap.parts());
    });
}
