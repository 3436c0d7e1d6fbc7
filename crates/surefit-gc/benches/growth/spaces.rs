//! Collectors that stop the program.

use core::hint::black_box;

use surefit_compact::certify::ClassSet;
use surefit_gc::schedule::{Amount, Headroom, Pauses, Program, Quanta, least_mutator_ticks};
use surefit_gc::{Collector, Settings, Space};
use surefit_testkit::growth::{Grows, Table};

use crate::scene::{CONFIG, Lists, OBJECTS, Pages, Under, lists, nursery, pages, region};

pub(crate) fn whole(table: &mut Table) {
    table.heap("Collector over free lists");
    calls(table, |objects| Under::new(lists(objects), objects, 1));
    let scene = |objects| Under::new(lists(objects), objects, 1);
    let name = "largest_request, displaced, heap";
    table.row(name, OBJECTS, Grows::No, scene, |s| {
        let space = s.gc.space();
        black_box((space.largest_request(), space.displaced(), space.heap()));
    });
    table.row("new", OBJECTS, MADE, region, |s| {
        Collector::<Lists>::new(core::mem::take(s), Settings::default()).is_ok()
    });
    table.heap("Collector over Compact-fit");
    calls(table, |objects| Under::new(pages(objects), objects, 1));
    let scene = |objects| Under::new(pages(objects), objects, 1);
    table.row("would_fit", OBJECTS, Grows::No, scene, |s| {
        assert!(s.gc.space().would_fit(5000));
    });
    let name = "config, stats, class_usage, relief";
    table.row(name, OBJECTS, Grows::No, scene, |s| {
        let space = s.gc.space();
        let class = CONFIG.geometry().largest();
        let usage = space.class_usage(class);
        black_box((space.config(), space.stats(), usage, space.relief()));
    });
    table.row("compact_fit", OBJECTS, MADE, region, |s| {
        Collector::compact_fit(core::mem::take(s), &CONFIG, 1 << 10).is_ok()
    });
    table.heap("Collector over Compact-fit with a nursery");
    calls(table, |objects| Under::new(nursery(objects), objects, 1));
    let scene = |objects| Under::new(nursery(objects), objects, 1);
    let name = "heap, in_nursery, nursery_bytes, promotions";
    table.row(name, OBJECTS, Grows::No, scene, |s| {
        let space = s.gc.space();
        let bytes = (space.in_nursery(), space.nursery_bytes());
        black_box((space.heap(), bytes, space.promotions()));
    });
    table.row("nursery", OBJECTS, MADE, region, |s| {
        Collector::nursery(core::mem::take(s), &CONFIG, 64 << 10, 1 << 10).is_ok()
    });
}

const MADE: Grows = Grows::With("the bits, which are cleared");

/// What is declared of so many objects.
fn program(objects: usize) -> (Program, Headroom) {
    let amount = |objects: usize| Amount {
        objects: objects as u64,
        bytes: 64 * objects as u64,
    };
    let program = Program {
        live: amount(objects),
        roots: 10,
        weak: 10,
    };
    (program, Headroom::ByWork(amount(objects / 2)))
}

/// What is asked before a heap is made, and after a run.
pub(crate) fn schedules(table: &mut Table) {
    table.heap("Certificates and schedules");
    table.row("FreeList::certify", OBJECTS, Grows::No, program, |s| {
        Lists::certify(512, &s.0, &s.1).is_ok()
    });
    table.row("CompactFit::certify", OBJECTS, Grows::No, program, |s| {
        let classes = ClassSet::of_requests(CONFIG.geometry(), 512);
        Pages::certify(&CONFIG, classes, &s.0, &s.1).is_ok()
    });
    table.row(
        "cost",
        ("bytes", [1000, 100_000]),
        Grows::With("the levels of a spine"),
        |n| n,
        |&mut bytes| {
            black_box((Lists::cost(bytes), Pages::cost(&CONFIG, bytes)));
        },
    );
    let quanta = |_| Quanta::new(10, 30).expect("a period");
    let name = "Quanta::least_mutator_ticks";
    table.row(name, OBJECTS, Grows::No, quanta, |quanta| {
        black_box(quanta.least_mutator_ticks(12_345));
    });
    let paused = |n: usize| {
        let mut pauses = Pauses::new();
        (0..n as u64).for_each(|nth| pauses.add(nth * nth % 9973));
        pauses
    };
    table.row("Pauses::add, at_most", PAUSES, Grows::No, paused, |s| {
        s.add(77);
        black_box(s.at_most(999, 1000));
    });
    let pauses = |n: usize| Vec::from_iter((0..n as u64).map(|nth| 20 * nth..20 * nth + 7));
    let grows = Grows::With("the pauses");
    table.row("least_mutator_ticks", PAUSES, grows, pauses, |pauses| {
        black_box(least_mutator_ticks(pauses, 0..1 << 32, 100));
    });
}

const PAUSES: (&str, [usize; 2]) = ("pauses", [1000, 100_000]);

fn calls<S: Space + 'static>(table: &mut Table, scene: fn(usize) -> Under<Collector<'static, S>>) {
    let mut constant = |name, call: fn(&mut Under<Collector<'static, S>>)| {
        table.row(name, OBJECTS, Grows::No, scene, call);
    };
    constant("alloc", |s| {
        let _ = black_box(s.gc.alloc(&mut s.client, 12));
    });
    constant("alloc_as_is", |s| {
        let _ = black_box(s.gc.alloc_as_is(12));
    });
    constant("alloc, 3000 bytes", |s| {
        let _ = black_box(s.gc.alloc(&mut s.client, 3000));
    });
    constant("load", |s| {
        black_box(s.gc.load(s.nodes[51], 1));
    });
    constant("store", |s| {
        s.gc.store(s.nodes[51], 1, Some(s.nodes[0]));
    });
    constant("words, reference, load_u64, load_f64", |s| {
        let (gc, node) = (&s.gc, s.nodes[51]);
        let loaded = (gc.load_u64(node, 0), gc.load_f64(node, 0));
        black_box((gc.words(node), gc.reference(node, 1), loaded));
    });
    constant("store_u64, store_f64, store_bytes", |s| {
        s.gc.store_u64(s.nodes[51], 0, 7);
        s.gc.store_f64(s.nodes[51], 0, 7.0);
        s.gc.store_bytes(s.nodes[51], 2, &[1; 6]);
    });
    constant("last, space, totals", |s| {
        black_box((s.gc.last(), s.gc.space(), s.gc.totals()));
    });
    constant("contains", |s| {
        black_box(s.gc.contains(s.nodes[51]));
    });
    constant("load_bytes", |s| {
        let mut bytes = [0; 6];
        s.gc.load_bytes(s.nodes[51], 2, &mut bytes);
        black_box(bytes);
    });
    let mut grows = |name, words, call: fn(&mut Under<Collector<'static, S>>)| {
        table.row(name, OBJECTS, Grows::With(words), scene, call);
    };
    grows(
        "collect",
        "what the roots reach, and the sweep of the space",
        |s| {
            black_box(s.gc.collect(&mut s.client));
        },
    );
    grows("usage", "the chunks of free lists", |s| {
        black_box(s.gc.usage());
    });
    grows("objects, all", "the objects", |s| {
        black_box(s.gc.objects().count());
    });
    grows("check", "the region and its objects", |s| {
        s.gc.check().expect("sound");
    });
}
