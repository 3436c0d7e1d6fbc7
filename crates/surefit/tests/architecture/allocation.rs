//! One allocation, and what it does when a page or an entry is missing.

use surefit::compact::automaton::{self, Malloc, PageCounts};
use surefit::compact::{Bound, Config, Handle, Heap, SizeClass};

use crate::heap::{Memory, address, config, entries, place, shape};
use crate::steps::Walk;

static CONFIG: Config = config(Bound::DEFAULT);

/// A page of 40-byte page-blocks, of which two were freed, one after the other.
struct Scene {
    heap: Heap<'static>,
    class: SizeClass,
    /// Page-blocks of a page.
    blocks: u32,
    kept: Vec<Handle<[u64; 5]>>,
    older: Freed,
    newer: Freed,
}

/// A page-block that was freed.
#[derive(Clone, Copy)]
struct Freed {
    entry: u32,
    address: usize,
    page: u32,
    block: usize,
}

impl Scene {
    fn new() -> Self {
        static MEMORY: Memory = Memory::new();
        let region = MEMORY.take().expect("taken once");
        let start = region.as_ptr().addr();
        let mut heap: Heap<'_> = Heap::new(region, &CONFIG).expect("the region is large enough");
        let class = CONFIG.geometry().class_for(40, 8).expect("a class");
        let blocks = u32::from(CONFIG.geometry().layout(class).blocks);
        let mut kept: Vec<_> = (0..u64::from(blocks))
            .map(|number| heap.insert([number; 5]).expect("room"))
            .collect();
        let mut free = |object: Handle<[u64; 5]>| {
            let (address, before) = (address(&heap, &object), entries(&heap));
            let (page, block) = place(&heap, start, class, &object);
            heap.free(object);
            let entry = *before.difference(&entries(&heap)).next().expect("one less");
            Freed {
                entry,
                address,
                page,
                block,
            }
        };
        let (older, newer) = (free(kept.remove(3)), free(kept.remove(5)));
        heap.compact(0); // gives back what is parked, which would be taken first
        Self {
            heap,
            class,
            blocks,
            kept,
            older,
            newer,
        }
    }

    fn insert(&self, number: u64) -> Handle<[u64; 5]> {
        self.heap.insert([number; 5]).expect("room")
    }

    fn addresses(&self) -> Vec<usize> {
        let kept = self.kept.iter();
        kept.map(|handle| address(&self.heap, handle)).collect()
    }
}

#[test]
fn one_allocation() {
    let mut walk = Walk::of("One allocation");
    let scene = Scene::new();
    let (addresses, first_kept) = (scene.addresses(), scene.heap.get(&scene.kept[0]));

    walk.step("Find the size-class");
    let layout = CONFIG.geometry().layout(scene.class);
    assert_eq!(layout.block_bytes, 40);

    walk.step("Choose a page");
    the_page_is_chosen(&scene);
    let taken = scene.insert(8);
    assert_eq!(
        scene.heap.details().class_counts(scene.class).not_full,
        1,
        "M2"
    );

    walk.step("Take an entry");
    let live = entries(&scene.heap);
    assert!(live.contains(&scene.newer.entry), "the newest");
    assert!(!live.contains(&scene.older.entry));

    walk.step("Take a page-block");
    assert_eq!(
        address(&scene.heap, &taken),
        scene.newer.address,
        "the newest"
    );
    let page = shape(&scene.heap, scene.class).not_full.remove(0);
    assert_eq!(page.number, scene.newer.page);
    assert_eq!(
        page.entries[scene.newer.block],
        Some(scene.newer.entry),
        "its back-reference"
    );

    walk.step("Store the location");
    let last = scene.insert(9);
    assert_eq!(address(&scene.heap, &last), scene.older.address);
    let shape = shape(&scene.heap, scene.class);
    assert!(shape.not_full.is_empty(), "M3: the page left the list");
    assert_eq!((shape.full.len(), shape.full[0].number), (1, page.number));

    walk.step("Write the value");
    assert_eq!(
        (scene.heap.get(&taken), scene.heap.get(&last)),
        (&[8; 5], &[9; 5])
    );
    assert_eq!(scene.heap.stats().moves_total, 0);
    assert_eq!(scene.addresses(), addresses, "nothing moved");
    assert_eq!(
        first_kept, &[0; 5],
        "a reference from before the allocations"
    );
    scene.heap.check().expect("every invariant");
}

fn the_page_is_chosen(scene: &Scene) {
    let (blocks, not_full) = (scene.blocks, shape(&scene.heap, scene.class).not_full);
    assert_eq!((not_full.len(), not_full[0].used() as u32), (1, blocks - 2));
    let decision = |used| automaton::malloc(Some(PageCounts { used, blocks }));
    assert_eq!(decision(blocks - 2), Malloc::Take, "M2");
    assert_eq!(decision(blocks - 1), Malloc::Fill, "M3");
}

#[test]
fn when_a_page_or_an_entry_is_missing() {
    static MEMORY: Memory = Memory::new();
    let mut walk = Walk::of("When a page or an entry is missing");
    let region = MEMORY.take().expect("taken once");
    let mut heap: Heap<'_> = Heap::new(region, &CONFIG).expect("the region is large enough");

    walk.step("Open a page");
    assert_eq!(automaton::malloc(None), Malloc::Open, "M1");
    let fresh = heap.stats().fresh_pages;
    let first = heap.insert([1_u64; 5]).expect("room");
    assert_eq!(
        (heap.stats().fresh_pages, heap.stats().freed_pages),
        (fresh - 1, 0)
    );
    heap.free(first);
    assert_eq!(
        (heap.stats().fresh_pages, heap.stats().freed_pages),
        (fresh - 1, 1)
    );
    let _ = heap.insert([1_u64; 10]).expect("room");
    assert_eq!(
        (heap.stats().fresh_pages, heap.stats().freed_pages),
        (fresh - 1, 0),
        "a freed page, of another class, comes before a fresh one"
    );
    let _ = heap.insert([1_u64; 20]).expect("room");
    assert_eq!(heap.stats().fresh_pages, fresh - 2);

    walk.step("Make an entry");
    let pages = |heap: &Heap<'_>| {
        let stats = heap.stats();
        stats.pages + stats.freed_pages + stats.fresh_pages
    };
    let all = pages(&heap);
    let mut made = 0;
    while pages(&heap) == all {
        let _ = heap.insert([1_u64; 2]).expect("room");
        made += 1;
    }
    assert_eq!(pages(&heap), all - 1, "the table took one page");
    assert!(made > 2, "the entries before it had room in the rest");
    let of_table = heap.usage().administrative_bytes;
    let _ = heap.insert([1_u64; 2]).expect("room");
    assert_eq!(
        heap.usage().administrative_bytes,
        of_table,
        "and has room for more"
    );
    assert_eq!(heap.stats().moves_total, 0);
    heap.check().expect("every invariant");
}
