//! The heaps of raw pointers.

use core::alloc::Layout;
use core::ptr::NonNull;

use parking_lot::RawMutex;
use surefit_compact::direct::DirectHeap;
use surefit_compact::shared_direct::{Local, Settings, SharedDirect};
use surefit_core::RawHeap;
use surefit_testkit::growth::{Grows, Table};

use crate::{INSTANCES, OBJECTS, RUNS, region};

/// Objects of some whole units, so that a freed one is a free run.
const RUN: usize = 40_000;

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 8).expect("a layout")
}

struct Alone {
    heap: DirectHeap<'static>,
    objects: Vec<NonNull<u8>>,
    bytes: usize,
}

/// Objects of so many bytes, every tenth (or every other run) of them freed.
fn with_objects(objects: usize, bytes: usize) -> Alone {
    let region = region(objects * (bytes + bytes / 4 + 16) + (1 << 20));
    let mut heap: DirectHeap = DirectHeap::new(region).expect("large enough");
    let objects: Vec<_> = (0..objects)
        .map(|_| heap.allocate(layout(bytes)).expect("room"))
        .collect();
    let every = if bytes == RUN { 2 } else { 10 };
    for &object in objects.iter().skip(every - 2).step_by(every) {
        // SAFETY: it is live, of this layout, and freed once.
        unsafe { heap.free(object, layout(bytes)) };
    }
    Alone {
        heap,
        objects,
        bytes,
    }
}

fn of_objects(objects: usize) -> Alone {
    with_objects(objects, 40)
}

fn of_runs(runs: usize) -> Alone {
    with_objects(2 * runs, RUN)
}

pub(crate) fn alone(table: &mut Table) {
    table.heap("DirectHeap");
    for (many, scene) in [(OBJECTS, of_objects as fn(usize) -> Alone), (RUNS, of_runs)] {
        let mut constant = |name, call: fn(&mut Alone)| {
            table.row(name, many, Grows::No, scene, call);
        };
        constant("allocate", |s| {
            core::hint::black_box(s.heap.allocate(layout(s.bytes)).expect("room"));
        });
        constant("free", |s| {
            // SAFETY: it is live, of this layout, and freed once.
            unsafe { s.heap.free(s.objects[51], layout(s.bytes)) };
        });
        constant("resize to half", |s| {
            let half = s.bytes / 2;
            // SAFETY: it is live, and of this layout.
            let moved = unsafe { s.heap.resize(s.objects[51], layout(s.bytes), half) };
            core::hint::black_box(moved.expect("room"));
        });
        constant("largest_free", |s| {
            core::hint::black_box(s.heap.largest_free());
        });
        let all = Grows::With("the region");
        table.row("stats", many, all, scene, |s| {
            core::hint::black_box(s.heap.stats());
        });
    }
}

type Heap = SharedDirect<'static, RawMutex>;

struct Shared {
    heap: &'static Heap,
    local: Local<'static, RawMutex>,
    objects: Vec<NonNull<u8>>,
    bytes: usize,
}

fn with_instances(threads: u32, objects: usize, bytes: usize) -> Shared {
    let settings = Settings {
        threads,
        checks: false,
        delay: u32::MAX,
    };
    let region = region(objects * (bytes + bytes / 4 + 16) + (16 << 20));
    let heap: &'static Heap =
        Box::leak(Box::new(Heap::new(region, settings).expect("large enough")));
    for _ in 1..threads {
        let local = heap.join().expect("a place");
        for _ in 0..10 {
            core::hint::black_box(local.allocate(40, 8).expect("room"));
        }
        core::mem::forget(local);
    }
    let local = heap.join().expect("a place");
    let objects: Vec<_> = (0..objects)
        .map(|_| local.allocate(bytes, 8).expect("room"))
        .collect();
    let every = if bytes == RUN { 2 } else { 10 };
    for &object in objects.iter().skip(every - 2).step_by(every) {
        // SAFETY: it is live, and freed once.
        unsafe { local.try_free(object) }.expect("live");
    }
    Shared {
        heap,
        local,
        objects,
        bytes,
    }
}

pub(crate) fn shared(table: &mut Table) {
    table.heap("SharedDirect");
    for (many, scene) in [
        (
            OBJECTS,
            (|n| with_instances(2, n, 40)) as fn(usize) -> Shared,
        ),
        (RUNS, |n| with_instances(2, 2 * n, RUN)),
        (INSTANCES, |n| with_instances(n as u32, 1000, 40)),
    ] {
        let mut constant = |name, call: fn(&mut Shared)| {
            table.row(name, many, Grows::No, scene, call);
        };
        constant("allocate", |s| {
            core::hint::black_box(s.local.allocate(s.bytes, 8).expect("room"));
        });
        constant("allocate, 100000 bytes", |s| {
            core::hint::black_box(s.local.allocate(100_000, 8).expect("room"));
        });
        constant("free", |s| {
            // SAFETY: it is live, and freed once.
            unsafe { s.local.try_free(s.objects[51]) }.expect("live");
        });
        constant("usable_bytes", |s| {
            core::hint::black_box(s.heap.usable_bytes(s.objects[51].as_ptr()));
        });
        let used = Grows::With("the units that were ever used");
        table.row("stats", many, used, scene, |s| {
            core::hint::black_box(s.heap.stats());
        });
    }
    let scene = |n| with_instances(n as u32, 1000, 40);
    let instances = Grows::With("the instances");
    table.row("join, refused", INSTANCES, instances, scene, |s| {
        assert!(s.heap.join().is_err());
    });
    let runs = Grows::With("the free runs and the instances");
    table.row(
        "purge",
        RUNS,
        runs,
        |n| with_instances(2, 2 * n, RUN),
        |s| {
            core::hint::black_box(s.heap.purge());
        },
    );
}
