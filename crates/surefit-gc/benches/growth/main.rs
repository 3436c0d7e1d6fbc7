//! The instructions of every call beside few and beside many objects, roots, remembered objects and
//! types: `docs/growth/gc.md`. Needs valgrind.
//!
//! `cargo bench -p surefit-gc --bench growth` compares with the table, and with `-- --write` writes
//! it anew.
#![allow(missing_docs, reason = "a benchmark")]
#![allow(clippy::too_many_lines, reason = "a row takes a few lines")]

mod arenas;
mod paced;
mod spaces;
mod steps;
mod young;

use std::mem::MaybeUninit;
use std::path::Path;
use std::process::ExitCode;

use surefit_compact::Config;
use surefit_freelist::{Bitmap, Immediate, Segregated, Tree};
use surefit_gc::{
    Client, Collector, CompactFit, Edges, FreeList, Nursery, Object, Scanned, Settings, Space,
};
use surefit_testkit::growth::{Table, main as counted};

/// A few and many of what there may be many of.
const OBJECTS: (&str, [usize; 2]) = ("objects", [1000, 100_000]);
const ROOTS: (&str, [usize; 2]) = ("roots", [10, 1000]);

const TITLE: &str = "\
# How the calls of the collectors grow

Instructions of one call on x86-64, counted by callgrind, in a heap with few and with many of what it may
have many of. `cargo bench -p surefit-gc --bench growth` counts them, and fails if a call grows that is
documented not to.";

/// The default heap of arenas.
type Lists = FreeList<'static, Segregated<Bitmap, Immediate, Tree, 256>>;
type Pages = CompactFit<'static>;

static CONFIG: Config = CompactFit::CONFIG;

/// Memory that begins at 16 KiB, so that two heaps of one size are divided alike. It is not
/// touched.
fn region(objects: usize) -> &'static mut [MaybeUninit<u8>] {
    let bytes = objects * 96 + (4 << 20);
    let memory = Box::leak(Box::new_uninit_slice(bytes + (16 << 10)));
    let first = memory.as_ptr().align_offset(16 << 10);
    &mut memory[first..][..bytes]
}

fn lists(objects: usize) -> Collector<'static, Lists> {
    Collector::new(region(objects), Settings::default()).expect("large enough")
}

fn pages(objects: usize) -> Collector<'static, Pages> {
    Collector::compact_fit(region(objects), &CONFIG, 1 << 10).expect("large enough")
}

fn nursery(objects: usize) -> Collector<'static, Nursery<'static>> {
    let gc = Collector::nursery(region(objects), &CONFIG, 64 << 10, 1 << 10);
    gc.expect("large enough")
}

/// Nodes of two references.
struct Nodes {
    roots: Vec<Object>,
}

impl<S: Space> Client<S> for Nodes {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        self.roots.iter().for_each(|&root| edges.report(root));
    }

    fn scan(&mut self, node: &Scanned<'_, S>, _from: u32, edges: &mut Edges<'_>) {
        for word in 0..2 {
            if let Some(child) = node.reference(word) {
                edges.report(child);
            }
        }
    }
}

/// A collector, its client, and the nodes of a heap-shaped tree.
struct Under<G> {
    gc: G,
    client: Nodes,
    nodes: Vec<Object>,
}

impl<S: Space> Under<Collector<'static, S>> {
    /// So many live objects, and a free chunk after every tenth; `roots` roots.
    fn new(mut gc: Collector<'static, S>, objects: usize, roots: usize) -> Self {
        let mut client = Nodes { roots: Vec::new() };
        let mut nodes: Vec<Object> = Vec::new();
        for nth in 0..objects {
            let node = gc.alloc(&mut client, 12).expect("room");
            if let Some(parent) = nth.checked_sub(1) {
                gc.store(nodes[parent / 2], (parent % 2) as u32, node.number());
            }
            nodes.push(node);
            client.roots.truncate(0);
            client.roots.push(nodes[0]);
            if nth % 10 == 0 {
                gc.alloc(&mut client, 12).expect("room");
            }
        }
        client.roots.extend(&nodes[1..roots]);
        gc.collect(&mut client);
        Self { gc, client, nodes }
    }

    fn map<G>(self, into: impl FnOnce(Collector<'static, S>) -> G) -> Under<G> {
        Under {
            gc: into(self.gc),
            client: self.client,
            nodes: self.nodes,
        }
    }
}

fn main() -> ExitCode {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/growth/gc.md");
    counted(&file, TITLE, |table: &mut Table| {
        spaces::whole(table);
        steps::incremental(table);
        paced::whole(table);
        young::generational(table);
        arenas::whole(table);
        arenas::in_steps(table);
        spaces::schedules(table);
    })
}
