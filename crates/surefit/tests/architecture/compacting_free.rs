//! One compacting free under a bound in holes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use surefit::compact::automaton::{self, ClassCounts, Free, PageCounts};
use surefit::compact::{Config, Handle, Heap, SizeClass};

use crate::heap::{Memory, PAGE, address, config, entries, holes, place, shape};
use crate::steps::Walk;

/// At most one hole.
static CONFIG: Config = config(holes(1));

/// 40 bytes that count their end.
struct Counted {
    words: [u64; 4],
    dropped: Arc<AtomicU32>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Relaxed);
    }
}

fn class() -> SizeClass {
    CONFIG.geometry().class_for(40, 8).expect("a class")
}

/// Page-blocks of a page.
fn blocks() -> usize {
    usize::from(CONFIG.geometry().layout(class()).blocks)
}

/// A heap with full pages 0 and 1, and page 2 with `in_last` used page-blocks: the reservoir.
struct Scene {
    heap: Heap<'static>,
    start: usize,
    class: SizeClass,
    /// In the order of their page-blocks.
    objects: Vec<Option<Handle<Counted>>>,
    dropped: Arc<AtomicU32>,
}

impl Scene {
    fn new(memory: &'static Memory, in_last: usize) -> Self {
        let region = memory.take().expect("taken once");
        let start = region.as_ptr().addr();
        let heap: Heap<'_> = Heap::new(region, &CONFIG).expect("the region is large enough");
        let class = class();
        let dropped = Arc::new(AtomicU32::new(0));
        let insert = |number| {
            let (words, dropped) = ([number as u64; 4], Arc::clone(&dropped));
            let inserted = heap.insert(Counted { words, dropped });
            Some(inserted.map_err(|full| full.refused).expect("room"))
        };
        let objects = (0..2 * blocks() + in_last).map(insert).collect();
        Self {
            heap,
            start,
            class,
            objects,
            dropped,
        }
    }

    fn free(&mut self, number: usize) -> u64 {
        let moves = self.heap.stats().moves_total;
        self.heap
            .free(self.objects[number].take().expect("not freed yet"));
        self.heap.check().expect("every invariant");
        self.heap.stats().moves_total - moves
    }

    fn handle(&self, number: usize) -> &Handle<Counted> {
        self.objects[number].as_ref().expect("not freed yet")
    }

    fn address(&self, number: usize) -> usize {
        address(&self.heap, self.handle(number))
    }

    /// The addresses of all objects that live.
    fn addresses(&self) -> Vec<Option<usize>> {
        let address = |handle: &Handle<_>| address(&self.heap, handle);
        self.objects
            .iter()
            .map(|handle| handle.as_ref().map(address))
            .collect()
    }

    fn counts(&self) -> ClassCounts {
        self.heap.details().class_counts(self.class)
    }

    /// Every object holds what was written.
    fn check_values(&self) {
        for (number, handle) in self.objects.iter().enumerate() {
            if let Some(handle) = handle {
                assert_eq!(self.heap.get(handle).words, [number as u64; 4]);
            }
        }
    }
}

/// The numbers of the not-full pages, in the order of the list.
fn listed(scene: &Scene) -> Vec<u32> {
    let not_full = shape(&scene.heap, scene.class).not_full;
    not_full.iter().map(|page| page.number).collect()
}

#[test]
fn one_compacting_free() {
    static MEMORY: Memory = Memory::new();
    let mut walk = Walk::of("One compacting free");
    let mut scene = Scene::new(&MEMORY, 3);
    assert_eq!(listed(&scene), [2]);
    within_the_bound(&mut walk, &mut scene);
    beyond_the_bound(&mut walk, &mut scene);
    the_reservoir_is_released(&mut walk, &mut scene);
}

/// A free in a full page that leaves as many holes as may be.
fn within_the_bound(walk: &mut Walk, scene: &mut Scene) {
    walk.step("Take the value out");
    assert_eq!(scene.free(5), 0);
    assert_eq!(scene.dropped.load(Relaxed), 1);

    walk.step("Find the page-block");
    let (page, block) = place(&scene.heap, scene.start, scene.class, scene.handle(6));
    let shown = shape(&scene.heap, scene.class);
    assert_eq!((page, shown.not_full[0].number), (0, 0));
    let of_page = &shown.not_full[0].entries;
    assert!(of_page[block].is_some() && of_page[block - 1].is_none());
    assert!(shown.free_entries > 0, "its entry is free");

    walk.step("Ask the automaton");
    let (used, blocks) = (blocks() as u32, blocks() as u32);
    let full = PageCounts { used, blocks };
    let decision = automaton::free(CONFIG.bound(), scene.counts(), full, None);
    assert_eq!(decision, Free::Loosen, "F1");
    assert_eq!(listed(scene), [0, 2], "the page is the first of the list");

    walk.step("Compare the holes with the bound");
    assert_eq!(scene.counts().holes, 1);
    assert!(
        !automaton::settle(CONFIG.bound(), scene.counts()),
        "it is kept"
    );
    let holes = 2;
    let counts = ClassCounts {
        holes,
        ..scene.counts()
    };
    assert!(automaton::settle(CONFIG.bound(), counts), "one too many");
}

/// The next free makes one hole too many.
fn beyond_the_bound(walk: &mut Walk, scene: &mut Scene) {
    let (freed, victim) = (blocks() + 7, 2 * blocks() + 2);
    let (hole, before) = (scene.address(freed), scene.addresses());
    let source = shape(&scene.heap, scene.class).not_full.pop();
    let source = source.expect("the reservoir");
    assert_eq!(scene.free(freed), 1, "a move");
    assert_eq!(scene.counts().holes, 1);

    walk.step("Swap the roles");
    assert_eq!(
        listed(scene).last(),
        Some(&2),
        "the reservoir holds fewer: no swap"
    );
    swap_of_roles();

    walk.step("Find the last used page-block");
    let last = source.last_used();
    assert_eq!(before[victim], Some(scene.start + 2 * PAGE + last * 40));

    walk.step("Follow its back-reference");
    let entry = source.entries[last];
    assert!(
        entries(&scene.heap).contains(&entry.expect("used")),
        "it lives on"
    );

    walk.step("Copy the page-block into a hole");
    assert_eq!(scene.address(victim), hole, "that of the first page");
    assert_eq!(scene.heap.stats().moved_bytes_total, 40);

    walk.step("Store the new location");
    let (now, freed_only) = (scene.addresses(), [freed, victim]);
    let changed = (0..now.len()).filter(|&number| now[number] != before[number]);
    assert_eq!(changed.collect::<Vec<_>>(), freed_only, "one object moved");
    let full = shape(&scene.heap, scene.class).full;
    assert!(full.iter().any(|page| page.entries.contains(&entry)));
    scene.check_values();
}

fn the_reservoir_is_released(walk: &mut Walk, scene: &mut Scene) {
    walk.step("Free the page-block that it left");
    let reservoir = shape(&scene.heap, scene.class).not_full.pop();
    assert_eq!(reservoir.map(|page| page.used()), Some(2));
    let (freed_pages, mut number) = (scene.heap.stats().freed_pages, blocks() + 8);
    while scene.heap.stats().freed_pages == freed_pages {
        assert!(scene.free(number) <= 2, "two moves are enough");
        number += 1;
    }
    assert_eq!(listed(scene), [0], "the page before it is the reservoir");
    scene.check_values();
}

/// The page whose page-block was freed holds fewer than the reservoir, and takes its place.
fn swap_of_roles() {
    static MEMORY: Memory = Memory::new();
    let mut scene = Scene::new(&MEMORY, blocks() - 1);
    assert_eq!((scene.free(3), scene.free(4)), (0, 0), "no move");
    assert_eq!(listed(&scene), [2, 0], "page 0 is the reservoir");
    assert_eq!(scene.counts().holes, 1, "that of page 2");
}
