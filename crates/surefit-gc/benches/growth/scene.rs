//! What there are few and many of, and the collectors.

use std::mem::MaybeUninit;

use surefit_compact::Config;
use surefit_freelist::{Bitmap, Immediate, Segregated, Tree};
use surefit_gc::{
    Client, Collector, CompactFit, Edges, FreeList, Nursery, Object, Scanned, Settings, Space,
};

/// A few and many of what there may be many of.
pub(crate) const OBJECTS: (&str, [usize; 2]) = ("objects", [1000, 100_000]);
pub(crate) const ROOTS: (&str, [usize; 2]) = ("roots", [10, 1000]);

/// The default heap of arenas.
pub(crate) type Lists = FreeList<'static, Segregated<Bitmap, Immediate, Tree, 256>>;
pub(crate) type Pages = CompactFit<'static>;

pub(crate) static CONFIG: Config = CompactFit::CONFIG;

/// Memory that begins at 16 KiB, so that two heaps of one size are divided alike. It is not
/// touched.
pub(crate) fn region(objects: usize) -> &'static mut [MaybeUninit<u8>] {
    let bytes = objects * 96 + (4 << 20);
    let memory = Box::leak(Box::new_uninit_slice(bytes + (16 << 10)));
    let first = memory.as_ptr().align_offset(16 << 10);
    &mut memory[first..][..bytes]
}

pub(crate) fn lists(objects: usize) -> Collector<'static, Lists> {
    Collector::new(region(objects), Settings::default()).expect("large enough")
}

pub(crate) fn pages(objects: usize) -> Collector<'static, Pages> {
    Collector::compact_fit(region(objects), &CONFIG, 1 << 10).expect("large enough")
}

pub(crate) fn nursery(objects: usize) -> Collector<'static, Nursery<'static>> {
    let gc = Collector::nursery(region(objects), &CONFIG, 64 << 10, 1 << 10);
    gc.expect("large enough")
}

/// Nodes of two references.
pub(crate) struct Nodes {
    pub(crate) roots: Vec<Object>,
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
pub(crate) struct Under<G> {
    pub(crate) gc: G,
    pub(crate) client: Nodes,
    pub(crate) nodes: Vec<Object>,
}

impl<S: Space> Under<Collector<'static, S>> {
    /// So many live objects, and a free chunk after every tenth; `roots` roots.
    pub(crate) fn new(mut gc: Collector<'static, S>, objects: usize, roots: usize) -> Self {
        let mut client = Nodes { roots: Vec::new() };
        let mut nodes: Vec<Object> = Vec::new();
        for nth in 0..objects {
            let node = gc.alloc(&mut client, 12).expect("room");
            if let Some(parent) = nth.checked_sub(1) {
                gc.store(nodes[parent / 2], (parent % 2) as u32, Some(node));
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

    pub(crate) fn map<G>(self, into: impl FnOnce(Collector<'static, S>) -> G) -> Under<G> {
        Under {
            gc: into(self.gc),
            client: self.client,
            nodes: self.nodes,
        }
    }
}
