//! Collectors that stop the program.

use core::hint::black_box;

use surefit_gc::{Collector, Space};
use surefit_testkit::growth::{Grows, Table};

use crate::{OBJECTS, Under, lists, nursery, pages};

pub(crate) fn whole(table: &mut Table) {
    table.heap("Collector over free lists");
    calls(table, |objects| Under::new(lists(objects), objects, 1));
    table.heap("Collector over Compact-fit");
    calls(table, |objects| Under::new(pages(objects), objects, 1));
    let scene = |objects| Under::new(pages(objects), objects, 1);
    table.row("would_fit", OBJECTS, Grows::No, scene, |s| {
        assert!(s.gc.space().would_fit(5000));
    });
    table.heap("Collector over Compact-fit with a nursery");
    calls(table, |objects| Under::new(nursery(objects), objects, 1));
}

fn calls<S: Space + 'static>(table: &mut Table, scene: fn(usize) -> Under<Collector<'static, S>>) {
    let mut constant = |name, call: fn(&mut Under<Collector<'static, S>>)| {
        table.row(name, OBJECTS, Grows::No, scene, call);
    };
    constant("alloc", |s| {
        let _ = black_box(s.gc.alloc(&mut s.client, 12));
    });
    constant("alloc, 3000 bytes", |s| {
        let _ = black_box(s.gc.alloc(&mut s.client, 3000));
    });
    constant("load", |s| {
        black_box(s.gc.load(s.nodes[51], 1));
    });
    constant("store", |s| {
        s.gc.store(s.nodes[51], 1, s.nodes[0].number());
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
    grows("parts", "the chunks of free lists", |s| {
        black_box(s.gc.parts());
    });
    grows("objects, all", "the objects", |s| {
        black_box(s.gc.objects().count());
    });
    grows("check", "the region and its objects", |s| {
        s.gc.check().expect("sound");
    });
}
