//! The collector in steps.

use core::hint::black_box;

use surefit_gc::schedule::{Amount, ByWork, Schedule};
use surefit_gc::{Collector, Incremental, Phase, Stepwise};
use surefit_testkit::growth::{Grows, Table};

use crate::scene::{OBJECTS, ROOTS, Under, lists, pages};

type Stepping<S> = Under<Incremental<'static, S>>;

pub(crate) fn incremental(table: &mut Table) {
    let over_lists =
        |objects, roots| Under::new(lists(objects), objects, roots).map(Incremental::over);
    let over_pages =
        |objects, roots| Under::new(pages(objects), objects, roots).map(Incremental::over);
    table.heap("Incremental over free lists");
    calls(table, over_lists);
    over(table, |n| Under::new(lists(n), n, 1));
    table.heap("Incremental over Compact-fit");
    calls(table, over_pages);
    over(table, |n| Under::new(pages(n), n, 1));
}

fn over<S: Stepwise>(table: &mut Table, scene: fn(usize) -> Under<Collector<'static, S>>) {
    let all = Grows::With("the bits and the objects");
    let scene = |n| Some(scene(n));
    table.row("over", OBJECTS, all, scene, |s| {
        s.take().map(|s| Incremental::over(s.gc))
    });
}

/// The cycle has begun, and a tenth of the objects are scanned.
fn marking<S: Stepwise>(mut scene: Stepping<S>) -> Stepping<S> {
    scene.gc.start(&mut scene.client);
    scene.gc.step(&mut scene.client, 300);
    assert_eq!(scene.gc.phase(), Phase::Mark);
    scene
}

/// Half of the tree is dead, and the sweep has begun.
fn sweeping<S: Stepwise>(mut scene: Stepping<S>) -> Stepping<S> {
    scene.gc.store(scene.nodes[0], 1, None);
    scene.gc.start(&mut scene.client);
    while scene.gc.phase() < Phase::Sweep {
        scene.gc.step(&mut scene.client, 1);
    }
    assert_eq!(scene.gc.phase(), Phase::Sweep);
    scene
}

/// By work: every request is followed by its share of a cycle.
fn paced<S: Stepwise>(scene: Stepping<S>) -> Stepping<S> {
    let live = scene.gc.occupied();
    let cycle = Amount {
        objects: 10 + live.objects / 10,
        bytes: 1000 + live.bytes / 10,
    };
    let work = 20 * live.objects;
    let schedule = Schedule::ByWork(ByWork { live, cycle, work });
    let Under { gc, client, nodes } = scene;
    let gc = gc.with_schedule(schedule);
    let mut scene = Under { gc, client, nodes };
    while scene.gc.phase() != Phase::Mark {
        scene.gc.alloc(&mut scene.client, 12).expect("room");
    }
    scene
}

fn calls<S: Stepwise + 'static>(table: &mut Table, scene: fn(usize, usize) -> Stepping<S>) {
    type Call<S> = fn(&mut Stepping<S>);
    let allocates: Call<S> = |s| {
        let _ = black_box(s.gc.alloc(&mut s.client, 12));
    };
    let stores: Call<S> = |s| {
        // What it referred to is not marked yet.
        s.gc.store(s.nodes[260], 0, Some(s.nodes[0]));
    };
    let steps: Call<S> = |s| {
        black_box(s.gc.step(&mut s.client, 40));
    };
    let mut idle = |name, call| table.row(name, OBJECTS, Grows::No, |n| scene(n, 1), call);
    idle("alloc, no cycle", allocates);
    idle("store_reference, no cycle", stores);
    idle("start", |s| {
        black_box(s.gc.start(&mut s.client));
    });
    idle(
        "words, load, reference, load_u64, load_f64, load_bytes",
        |s| {
            let (gc, node, mut bytes) = (&s.gc, s.nodes[51], [0; 6]);
            gc.load_bytes(node, 2, &mut bytes);
            let loaded = (gc.load(node, 1), gc.load_u64(node, 0), gc.load_f64(node, 0));
            black_box((gc.words(node), gc.reference(node, 1), loaded, bytes));
        },
    );
    idle("store_data, store_u64, store_f64, store_bytes", |s| {
        s.gc.store_data(s.nodes[51], 1, 7);
        s.gc.store_u64(s.nodes[51], 0, 7);
        s.gc.store_f64(s.nodes[51], 0, 7.0);
        s.gc.store_bytes(s.nodes[51], 2, &[1; 6]);
    });
    idle("cycle, due, last, live, most_excess and others", |s| {
        let gc = &s.gc;
        black_box((gc.cycle(), gc.due(), gc.last(), gc.live(), gc.most_excess()));
        black_box((gc.occupied(), gc.paced(), gc.pauses(), gc.phase()));
        black_box((gc.schedule(), gc.space(), gc.steps(), gc.totals()));
    });
    idle("alloc_as_is", |s| {
        let _ = black_box(s.gc.alloc_as_is(12));
    });
    idle("contains", |s| {
        black_box(s.gc.contains(s.nodes[51]));
    });
    let mut mark = |name, call| table.row(name, OBJECTS, Grows::No, |n| marking(scene(n, 1)), call);
    mark("alloc, marking", allocates);
    mark("store_reference, marking", stores);
    mark("store, marking", |s| {
        s.gc.store(s.nodes[261], 0, Some(s.nodes[0]));
    });
    mark("is_reached", |s| {
        black_box(s.gc.is_reached(s.nodes[51]));
    });
    mark("upgrade, marking", |s| {
        black_box(s.gc.upgrade(s.nodes[521]));
    });
    mark("step of 40, marking", steps);
    let mut sweep =
        |name, call| table.row(name, OBJECTS, Grows::No, |n| sweeping(scene(n, 1)), call);
    sweep("alloc, sweeping", allocates);
    sweep("step of 40, sweeping", steps);
    growing(table, scene, allocates);
}

fn growing<S: Stepwise + 'static>(
    table: &mut Table,
    scene: fn(usize, usize) -> Stepping<S>,
    allocates: fn(&mut Stepping<S>),
) {
    let share = Grows::With("its share of the cycle's work");
    table.row(
        "alloc, paced by work",
        OBJECTS,
        share,
        |n| paced(scene(n, 1)),
        allocates,
    );
    let roots = Grows::With("the roots");
    table.row(
        "start",
        ROOTS,
        roots,
        |n| scene(2000, n),
        |s| {
            black_box(s.gc.start(&mut s.client));
        },
    );
    let usage = Grows::With("the chunks of free lists");
    table.row(
        "usage",
        OBJECTS,
        usage,
        |n| scene(n, 1),
        |s| {
            black_box(s.gc.usage());
        },
    );
    let all = Grows::With("the bits and the objects");
    let whole = |n| {
        let Under { gc, client, nodes } = scene(n, 1);
        core::mem::forget((client, nodes));
        Some(gc)
    };
    table.row("with_schedule", OBJECTS, Grows::No, whole, |gc| {
        gc.take().map(|gc| gc.with_schedule(Schedule::Whole))
    });
    table.row("objects, all", OBJECTS, all, whole, |gc| {
        black_box(gc.as_ref().map(|gc| gc.objects().count()));
    });
    let pending = Grows::With("the mark stack and the objects");
    table.row(
        "pending, all",
        OBJECTS,
        pending,
        |n| marking(scene(n, 1)),
        |s| {
            black_box(s.gc.pending().count());
        },
    );
    let rest = Grows::With("the rest of the cycle");
    table.row(
        "finish, marking",
        OBJECTS,
        rest,
        |n| marking(scene(n, 1)),
        |s| {
            black_box(s.gc.finish(&mut s.client));
        },
    );
    let all = Grows::With("what lives and the bits");
    table.row(
        "collect",
        OBJECTS,
        all,
        |n| scene(n, 1),
        |s| {
            black_box(s.gc.collect(&mut s.client));
        },
    );
    let all = Grows::With("the region and its objects");
    table.row(
        "check",
        OBJECTS,
        all,
        |n| scene(n, 1),
        |s| {
            s.gc.check().expect("sound");
        },
    );
}
