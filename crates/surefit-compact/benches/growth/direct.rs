//! The heaps of raw pointers of one owner: without a certificate, and with pools.

use core::hint::black_box;
use core::ptr::NonNull;

use surefit_core::RawHeap;
use surefit_direct::{
    DirectClassStats, DirectDemand, DirectHeap, DirectStats, PooledHeap, Standard, certify,
};
use surefit_testkit::growth::{Grows, Table};
use surefit_testkit::layout;

use crate::scale::{OBJECTS, RUNS, region};

/// Objects of some whole units, so that a freed one is a free run.
pub(crate) const RUN: usize = 40_000;

/// Lines of a demand, each of runs of another length.
const LINES: (&str, [usize; 2]) = ("lengths of runs", [10, 300]);
const MOST: (&str, [usize; 2]) = ("pages that may stay not full", [10, 400]);

/// What both heaps answer beside what every heap of raw pointers does.
trait Direct: RawHeap {
    fn usable_bytes(&self, object: NonNull<u8>) -> usize;
    fn defrag_hint(&self, object: NonNull<u8>, most: u32) -> bool;
    fn degree_of_fragmentation(&self, bytes: usize) -> usize;
    fn stats(&self) -> DirectStats;
    fn class_stats(&self) -> Option<DirectClassStats>;
}

macro_rules! direct {
    ($heap:ty) => {
        impl Direct for $heap {
            fn usable_bytes(&self, object: NonNull<u8>) -> usize {
                // SAFETY: the rows ask for live objects.
                unsafe { <$heap>::usable_bytes(self, object) }
            }
            fn defrag_hint(&self, object: NonNull<u8>, most: u32) -> bool {
                <$heap>::defrag_hint(self, object, most)
            }
            fn degree_of_fragmentation(&self, bytes: usize) -> usize {
                <$heap>::degree_of_fragmentation(self, bytes)
            }
            fn stats(&self) -> DirectStats {
                <$heap>::stats(self)
            }
            fn class_stats(&self) -> Option<DirectClassStats> {
                <$heap>::class_stats(self, 40, 8)
            }
        }
    };
}

direct!(DirectHeap<'static>);
direct!(PooledHeap<'static>);

/// Objects of so many bytes.
struct Scene<H> {
    heap: H,
    objects: Vec<NonNull<u8>>,
    bytes: usize,
}

impl<H: Direct> Scene<H> {
    /// Every tenth object (or every other run) is freed.
    fn new(mut heap: H, objects: usize, bytes: usize) -> Self {
        let allocate = |_| heap.allocate(layout(bytes)).expect("room");
        let objects: Vec<_> = (0..objects).map(allocate).collect();
        let every = if bytes == RUN { 2 } else { 10 };
        for &object in objects.iter().skip(every - 2).step_by(every) {
            // SAFETY: it is live, of this layout, and freed once.
            unsafe { heap.free(object, layout(bytes)) };
        }
        Self {
            heap,
            objects,
            bytes,
        }
    }

    /// Resizes one that is live.
    fn resize(&mut self, bytes: usize) {
        let (object, layout) = (self.objects[51], layout(self.bytes));
        // SAFETY: it is live, and of this layout.
        let moved = unsafe { self.heap.resize(object, layout, bytes) };
        black_box(moved.expect("room"));
    }
}

type Alone = Scene<DirectHeap<'static>>;
type Pooled = Scene<PooledHeap<'static>>;

fn alone_with(objects: usize, bytes: usize) -> Alone {
    let region = region(objects * (bytes + bytes / 4 + 16) + (1 << 20));
    let heap = DirectHeap::new(region).expect("large enough");
    Scene::new(heap, objects, bytes)
}

/// The demand has what the resizes ask for, too.
fn pooled_with(objects: usize, bytes: usize, more: impl Iterator<Item = usize>) -> Pooled {
    let count = u32::try_from(objects).expect("thousands");
    let mut demand = vec![DirectDemand::new(bytes, count + 10)];
    demand.extend([bytes / 2, bytes * 2, bytes * 4].map(|bytes| DirectDemand::new(bytes, 10)));
    demand.extend(more.map(|bytes| DirectDemand::new(bytes, 1)));
    let needed = certify::<Standard>(&demand).expect("possible").heap_bytes;
    let heap = PooledHeap::certified(region(needed), &demand).expect("certified");
    Scene::new(heap, objects, bytes)
}

/// The lengths of runs of a demand that are not asked for; each has a unit more than the one
/// before.
fn lengths(lines: usize) -> impl Iterator<Item = usize> {
    (0..lines).map(|line| RUN + (line << 10))
}

pub(crate) fn alone(table: &mut Table) {
    table.heap("DirectHeap");
    let scenes = [
        (OBJECTS, (|n| alone_with(n, 40)) as fn(usize) -> Alone),
        (RUNS, |n| alone_with(2 * n, RUN)),
    ];
    for (many, scene) in scenes {
        changed(table, many, Grows::No, scene);
        asked(table, many, scene);
        table.row("largest_free", many, Grows::No, scene, |s| {
            black_box(s.heap.largest_free());
        });
    }
    let most = |most| {
        (
            alone_with(100_000, 40),
            u32::try_from(most).expect("hundreds"),
        )
    };
    table.row(
        "defrag_hint",
        MOST,
        Grows::With("`most`"),
        most,
        |(s, most)| {
            assert!(s.heap.defrag_hint(s.objects[51], *most));
        },
    );
    let region_of = |runs| region(2 * runs * RUN);
    let linear = Grows::With("the region");
    table.row("new", RUNS, linear, region_of, |region| {
        DirectHeap::new(core::mem::take(region)).expect("large enough")
    });
}

pub(crate) fn pooled(table: &mut Table) {
    table.heap("PooledHeap");
    let search = Grows::With("the logarithm of the lengths of runs");
    let scenes = [
        (
            OBJECTS,
            Grows::No,
            (|n| pooled_with(n, 40, lengths(10))) as fn(usize) -> Pooled,
        ),
        (RUNS, Grows::No, |n| pooled_with(2 * n, RUN, lengths(10))),
        (LINES, search, |n| pooled_with(100, RUN, lengths(n))),
    ];
    for (many, grows, scene) in scenes {
        changed(table, many, grows, scene);
        asked(table, many, scene);
    }
    let lines = Grows::With("the lengths of runs");
    table.row("largest_free", LINES, lines, without_runs, |s| {
        black_box(s.heap.largest_free());
    });
    let demand = |lines| {
        let demand: Vec<_> = lengths(lines)
            .map(|bytes| DirectDemand::new(bytes, 1))
            .collect();
        let needed = certify::<Standard>(&demand).expect("possible").heap_bytes;
        (region(needed), demand)
    };
    let square = Grows::With("the region, and the square of the lines");
    table.row("certified", LINES, square, demand, |(region, demand)| {
        let region = core::mem::take(region);
        PooledHeap::<Standard>::certified(region, demand).expect("certified")
    });
}

/// All runs are in use.
fn without_runs(lengths: usize) -> Pooled {
    let mut scene = pooled_with(100, RUN, self::lengths(lengths));
    for bytes in self::lengths(lengths).chain([RUN / 2, RUN * 2, RUN * 4]) {
        while let Ok(run) = scene.heap.allocate(layout(bytes)) {
            black_box(run);
        }
    }
    scene
}

type Many = (&'static str, [usize; 2]);

/// Calls for one object.
fn changed<H: Direct>(table: &mut Table, many: Many, grows: Grows, scene: fn(usize) -> Scene<H>) {
    let mut row = |name, call: fn(&mut Scene<H>)| table.row(name, many, grows, scene, call);
    row("allocate", |s| {
        black_box(s.heap.allocate(layout(s.bytes)).expect("room"));
    });
    row("free", |s| {
        // SAFETY: it is live, of this layout, and freed once.
        unsafe { s.heap.free(s.objects[51], layout(s.bytes)) };
    });
    row("try_free", |s| {
        // SAFETY: as above.
        unsafe { s.heap.try_free(s.objects[51], layout(s.bytes)) }.expect("live");
    });
    row("resize to half", |s| s.resize(s.bytes / 2));
    row("resize to twice as much", |s| s.resize(s.bytes * 2));
    row("resize to four times as much", |s| s.resize(s.bytes * 4));
    let mut row = |name, call: fn(&mut Scene<H>)| table.row(name, many, Grows::No, scene, call);
    row("usable_bytes", |s| {
        black_box(s.heap.usable_bytes(s.objects[51]));
    });
    row("defrag_hint, of one page", |s| {
        black_box(s.heap.defrag_hint(s.objects[51], 1));
    });
}

/// What is linear in the region.
fn asked<H: Direct>(table: &mut Table, many: Many, scene: fn(usize) -> Scene<H>) {
    let all = Grows::With("the region");
    let mut row = |name, call: fn(&mut Scene<H>)| table.row(name, many, all, scene, call);
    row("stats", |s| {
        black_box(s.heap.stats());
    });
    row("class_stats", |s| {
        black_box(s.heap.class_stats());
    });
    row("degree_of_fragmentation", |s| {
        black_box(s.heap.degree_of_fragmentation(s.bytes));
    });
    row("usage", |s| {
        black_box(s.heap.usage());
    });
    row("check", |s| s.heap.check().expect("sound"));
}
