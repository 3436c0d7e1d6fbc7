//! The collector with two generations.

use core::hint::black_box;

use surefit_gc::{Generational, OneByOne};
use surefit_testkit::growth::{Grows, Table};

use crate::scene::{OBJECTS, Under, lists, nursery, pages};

type Aging<S> = Under<Generational<'static, S>>;

/// Beside a thousand objects that survive no collection.
const REMEMBERED: (&str, [usize; 2]) = ("remembered objects", [10, 1000]);

pub(crate) fn generational(table: &mut Table) {
    table.heap("Generational over free lists");
    calls(table, |objects| {
        Under::new(lists(objects), objects, 1).map(Generational::over)
    });
    let all = Grows::With("the bits and the objects");
    let scene = |n| Some(Under::new(lists(n), n, 1));
    table.row("over", OBJECTS, all, scene, |s| {
        s.take().map(|s| Generational::over(s.gc))
    });
    table.heap("Generational over Compact-fit");
    calls(table, |objects| {
        Under::new(pages(objects), objects, 1).map(Generational::over)
    });
    table.heap("Generational over Compact-fit with a nursery");
    calls(table, |objects| {
        Under::new(nursery(objects), objects, 1).map(Generational::over)
    });
}

/// All objects are old, and ten of ten thousand are young.
fn old<S: OneByOne>(mut scene: Aging<S>) -> Aging<S> {
    scene.gc.collect(&mut scene.client);
    for _ in 0..10 {
        scene.gc.alloc_as_is(12).expect("room");
    }
    scene
}

fn calls<S: OneByOne + 'static>(table: &mut Table, scene: fn(usize) -> Aging<S>) {
    let mut constant = |name, call: fn(&mut Aging<S>)| {
        table.row(name, OBJECTS, Grows::No, |n| old(scene(n)), call);
    };
    constant("alloc", |s| {
        let _ = black_box(s.gc.alloc(&mut s.client, 12));
    });
    constant("store_reference, to an old one", |s| {
        s.gc.store(s.nodes[51], 1, Some(s.nodes[0]));
    });
    constant("remember", |s| s.gc.remember(s.nodes[51]));
    constant("is_old", |s| {
        black_box(s.gc.is_old(s.nodes[51]));
    });
    constant("contains, is_remembered", |s| {
        black_box((s.gc.contains(s.nodes[51]), s.gc.is_remembered(s.nodes[51])));
    });
    constant("alloc_as_is", |s| {
        let _ = black_box(s.gc.alloc_as_is(12));
    });
    constant(
        "words, load, reference, load_u64, load_f64, load_bytes",
        |s| {
            let (gc, node, mut bytes) = (&s.gc, s.nodes[51], [0; 6]);
            gc.load_bytes(node, 2, &mut bytes);
            let loaded = (gc.load(node, 1), gc.load_u64(node, 0), gc.load_f64(node, 0));
            black_box((gc.words(node), gc.reference(node, 1), loaded, bytes));
        },
    );
    constant("store, to an old one", |s| {
        s.gc.store(s.nodes[51], 1, Some(s.nodes[0]));
    });
    constant("store_data, store_u64, store_f64, store_bytes", |s| {
        s.gc.store_data(s.nodes[51], 1, 7);
        s.gc.store_u64(s.nodes[51], 0, 7);
        s.gc.store_f64(s.nodes[51], 0, 7.0);
        s.gc.store_bytes(s.nodes[51], 2, &[1; 6]);
    });
    constant("generations, last, live, space, totals, young", |s| {
        let gc = &s.gc;
        black_box((gc.generations(), gc.last(), gc.live()));
        black_box((gc.space(), gc.totals(), gc.young()));
    });
    let mut grows = |name, words, call: fn(&mut Aging<S>)| {
        table.row(name, OBJECTS, Grows::With(words), |n| old(scene(n)), call);
    };
    grows("usage", "the chunks of free lists", |s| {
        black_box(s.gc.usage());
    });
    grows("objects, all", "the objects", |s| {
        black_box(s.gc.objects().count());
    });
    grows("check", "the region and its objects", |s| {
        s.gc.check().expect("sound");
    });
    let minor = Grows::With("the bits, what is young and what is remembered");
    let collects: fn(&mut Aging<S>) = |s| {
        black_box(s.gc.collect_young(&mut s.client));
    };
    table.row("collect_young", OBJECTS, minor, |n| old(scene(n)), collects);
    let remembered = |n| {
        let mut scene = old(scene(2000));
        for &node in &scene.nodes[..n] {
            scene.gc.remember(node);
        }
        scene
    };
    table.row("collect_young", REMEMBERED, minor, remembered, collects);
    let all = Grows::With("what lives and the bits");
    table.row(
        "collect",
        OBJECTS,
        all,
        |n| old(scene(n)),
        |s| {
            black_box(s.gc.collect(&mut s.client));
        },
    );
}
