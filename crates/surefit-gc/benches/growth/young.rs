//! The collector with two generations.

use core::hint::black_box;

use surefit_gc::{Generational, OneByOne};
use surefit_testkit::growth::{Grows, Table};

use crate::{OBJECTS, Under, lists, nursery, pages};

type Aging<S> = Under<Generational<'static, S>>;

/// Beside a thousand objects that survive no collection.
const REMEMBERED: (&str, [usize; 2]) = ("remembered objects", [10, 1000]);

pub(crate) fn generational(table: &mut Table) {
    table.heap("Generational over free lists");
    calls(table, |objects| {
        Under::new(lists(objects), objects, 1).map(Generational::over)
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
        s.gc.store_reference(s.nodes[51], 1, Some(s.nodes[0]));
    });
    constant("remember", |s| s.gc.remember(s.nodes[51]));
    constant("is_old", |s| {
        black_box(s.gc.is_old(s.nodes[51]));
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
