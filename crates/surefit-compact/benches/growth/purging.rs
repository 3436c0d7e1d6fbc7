//! The heap of raw pointers that threads share, over a source that takes memory back.

use core::hint::black_box;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering};

use parking_lot::RawMutex;
use surefit_direct::shared::{Local, Settings, SharedDirect, Source, UNIT_BYTES};
use surefit_testkit::growth::{Grows, Table};

use crate::direct::RUN;
use crate::scale::RUNS;

/// Units of an object.
const UNITS: usize = RUN.div_ceil(UNIT_BYTES);
/// More than one call looks at.
const OLD: (&str, [usize; 2]) = ("old free runs", [300, 10_000]);

/// Zeros, of which nobody writes to a large object: memory that was taken back is zero already.
#[derive(Debug)]
struct Zeros;

static NOW: AtomicU32 = AtomicU32::new(0);

// SAFETY: all memory is usable, and zero when it comes; no row writes to an object, and no page is
// freed.
unsafe impl Source for Zeros {
    const ZEROED: bool = true;
    const PURGES: bool = true;

    unsafe fn commit(&self, _at: NonNull<u8>, _bytes: usize) -> bool {
        true
    }

    unsafe fn purge(&self, _at: NonNull<u8>, _bytes: usize) -> bool {
        true
    }

    fn now(&self) -> u32 {
        NOW.load(Ordering::Relaxed)
    }
}

type Heap = SharedDirect<'static, RawMutex, Zeros>;

/// Large objects, with little room behind them.
struct Scene {
    heap: &'static Heap,
    local: Local<'static, RawMutex, Zeros>,
    objects: Vec<NonNull<u8>>,
}

impl Scene {
    fn new(objects: usize) -> Self {
        NOW.store(0, Ordering::Relaxed);
        let settings = Settings {
            threads: 2,
            checks: false,
            delay: 1000,
        };
        // With 32 bytes of tables a unit.
        let bytes = objects * UNITS * (UNIT_BYTES + 32) + (1 << 20);
        let memory = Vec::leak(vec![0_u8; bytes + UNIT_BYTES]);
        let first = memory.as_ptr().align_offset(UNIT_BYTES);
        let base = NonNull::from(&mut memory[first..]).cast();
        // SAFETY: it is this heap's alone, aligned, and its source says that it is zero.
        let heap = unsafe { Heap::over(base, bytes, settings, Zeros) };
        let heap: &'static Heap = Box::leak(Box::new(heap.expect("large enough")));
        let local = heap.join().expect("a place");
        let allocate = |_| local.allocate(RUN, 16).expect("room");
        let objects = (0..objects).map(allocate).collect();
        Self {
            heap,
            local,
            objects,
        }
    }

    fn free_every_other(&self, first: usize) {
        for &object in self.objects[..self.objects.len() - 2]
            .iter()
            .skip(first)
            .step_by(2)
        {
            // SAFETY: it is live, and freed once.
            unsafe { self.local.try_free(object) }.expect("live");
        }
    }

    /// Frees one that is live.
    fn free(&self) {
        let last = *self.objects.last().expect("some");
        // SAFETY: it is live, and freed once.
        unsafe { self.local.try_free(last) }.expect("live");
    }

    /// So many free runs that hold memory, between objects.
    fn of_runs(runs: usize) -> Self {
        let scene = Self::new(2 * runs + 4);
        scene.free_every_other(0);
        scene
    }

    /// They are older than the delay.
    fn of_old_runs(runs: usize) -> Self {
        let scene = Self::of_runs(runs);
        NOW.store(10_000, Ordering::Relaxed);
        scene
    }

    /// So many free runs whose memory went back, and as many that hold some, all side by side.
    fn of_both(runs: usize) -> Self {
        let scene = Self::of_runs(runs);
        assert!(scene.heap.purge() > 0);
        scene.free_every_other(1);
        scene
    }

    /// No more than what is held now may be.
    fn at_its_limit(runs: usize) -> Self {
        let scene = Self::of_runs(runs);
        scene
            .heap
            .set_limit(scene.objects.len() * UNITS * UNIT_BYTES);
        scene
    }
}

pub(crate) fn rows(table: &mut Table) {
    table.heap("SharedDirect over a source");
    for (many, scene) in [
        (RUNS, Scene::of_runs as fn(usize) -> Scene),
        (OLD, Scene::of_old_runs),
    ] {
        let mut constant = |name, call: fn(&mut Scene)| {
            table.row(name, many, Grows::No, scene, call);
        };
        constant("allocate", |s| {
            black_box(s.local.allocate(RUN, 16).expect("room"));
        });
        constant("allocate_zeroed", |s| {
            black_box(s.local.allocate_zeroed(RUN, 16).expect("room"));
        });
        constant("free", |s| s.free());
        constant("resize to twice as much, in place", |s| {
            // SAFETY: it is live, and what follows it is free.
            let resized = unsafe { s.local.resize(s.objects[51], 2 * RUN, 16) };
            black_box(resized.expect("live").expect("room"));
        });
        constant("trim, of nothing", |s| s.local.trim());
        constant("set_limit", |s| s.heap.set_limit(1 << 30));
        constant("set_delay", |s| s.heap.set_delay(0));
    }
    let mut grows = |name, words, scene: fn(usize) -> Scene, call: fn(&mut Scene)| {
        table.row(name, RUNS, Grows::With(words), scene, call);
    };
    let runs = "the free runs that hold memory, and the instances";
    grows("purge", runs, Scene::of_runs, |s| {
        black_box(s.heap.purge());
    });
    let back = "the free runs, whose memory goes back";
    grows("allocate, at the limit", back, Scene::at_its_limit, |s| {
        black_box(s.local.allocate(2 * RUN, 16).expect("room"));
    });
    grows("resize, at the limit", back, Scene::at_its_limit, |s| {
        // SAFETY: it is live.
        let resized = unsafe { s.local.resize(s.objects[51], 2 * RUN, 16) };
        black_box(resized.expect("live").expect("room"));
    });
    let joined = "the runs it joins, whose memory went back before";
    let name = "allocate, as much as half of the runs";
    table.row(name, RUNS, Grows::With(joined), Scene::of_both, |s| {
        let half = s.objects.len() / 2 * UNITS * UNIT_BYTES;
        black_box(s.local.allocate(half, 16).expect("room"));
    });
}
