//! Objects of a shared heap with several handles, which count them.

use core::hint::black_box;

use parking_lot::RawMutex;
use surefit_compact::shared::{Local, PerClass, SharedCounted, SharedHeap};
use surefit_testkit::growth::{Grows, Table};

use crate::shared::{PINS, config};
use crate::{OBJECTS, Object, THREADS, region};

const HANDLES: (&str, [usize; 2]) = ("handles of the object", [10, 100_000]);

type Heap = SharedHeap<'static, RawMutex>;
type Counted = SharedCounted<'static, 'static, Object, RawMutex>;

/// Objects of one handle each, every tenth of them freed, and the handles of one that has several.
struct Scene {
    heap: &'static Heap,
    local: Local<'static, 'static, RawMutex, PerClass>,
    objects: Vec<Option<Counted>>,
    handles: Vec<Counted>,
}

impl Scene {
    fn new(objects: usize, threads: usize, handles: usize) -> Self {
        let threads = u16::try_from(threads).expect("hundreds");
        let heap = Heap::new(region(objects * 128 + (16 << 20)), config(threads, 1024));
        let heap: &'static Heap = Box::leak(Box::new(heap.expect("large enough")));
        for _ in 1..threads {
            core::mem::forget(heap.register().expect("a place"));
        }
        let local = heap.register().expect("a place");
        let insert = |number| {
            heap.insert_counted(&local, [number as u64; 5])
                .expect("fits")
        };
        let mut objects: Vec<_> = (0..objects).map(|number| Some(insert(number))).collect();
        for freed in objects.iter_mut().skip(7).step_by(10) {
            *freed = None;
        }
        let one = insert(0);
        heap.compact(u64::MAX);
        let handles = (0..handles).map(|_| one.clone()).collect();
        core::mem::forget(one);
        Self {
            heap,
            local,
            objects,
            handles,
        }
    }

    fn of_pins(pins: usize) -> Self {
        let scene = Self::new(2000, 4, 3);
        for object in scene.objects.iter().skip(100).flatten().take(pins) {
            core::mem::forget(object.pin().expect("a pin"));
        }
        scene
    }

    fn object(&mut self) -> Counted {
        self.objects[51].take().expect("once")
    }
}

pub(crate) fn rows(table: &mut Table) {
    table.heap("SharedCounted");
    let scenes = [
        (OBJECTS, (|n| Scene::new(n, 4, 3)) as fn(usize) -> Scene),
        (THREADS, |n| Scene::new(1000, n, 3)),
        (PINS, Scene::of_pins),
        (HANDLES, |n| Scene::new(1000, 4, n)),
    ];
    for (many, scene) in scenes {
        let mut constant = |name, call: fn(&mut Scene)| {
            table.row(name, many, Grows::No, scene, call);
        };
        constant("insert_counted", |s| {
            core::mem::forget(s.heap.insert_counted(&s.local, [1_u64; 5]).expect("fits"));
        });
        constant("clone", |s| core::mem::forget(s.handles[0].clone()));
        constant("drop, of one of several", |s| drop(s.handles.pop()));
        constant("drop, of the last", |s| drop(s.object()));
        constant("into_inner, of one of several", |s| {
            assert!(s.handles.pop().expect("some").into_inner().is_none());
        });
        constant("into_inner, of the last", |s| {
            black_box(s.object().into_inner().expect("the last"));
        });
        constant("count", |s| {
            black_box(s.handles[0].count());
        });
        constant("is_same", |s| {
            assert!(s.handles[0].is_same(&s.handles[1]));
        });
        constant("pin and unpin", |s| {
            black_box(s.handles[0].pin().expect("a pin")[2]);
        });
        constant("pin_settled and unpin", |s| {
            black_box(s.handles[0].pin_settled().expect("a pin")[2]);
        });
        constant("try_pin_mut and unpin", |s| {
            s.handles[0].try_pin_mut().expect("nobody else")[2] = 7;
        });
        constant("get_mut and unpin", |s| {
            let object = s.objects[50].as_mut().expect("there");
            object.get_mut().expect("one handle")[2] = 7;
        });
    }
}
