//! One free by one of many threads, and one pin. Other threads act between two sections of the
//! free, so all of it runs in one thread, in an order that is always the same.

use std::cell::RefCell;
use std::rc::Rc;

use surefit::compact::shared::{Local, PerClass, SharedConfig, SharedHeap, SharedStats};
use surefit::compact::{Bound, Handle, SizeClass};

use crate::heap::{Memory, config, holes};
use crate::lock::{self, Lock, after, sections};
use crate::steps::Walk;

/// β: the size of the objects, and of their page-blocks.
const BLOCK: usize = 40;
/// Steps of one move: ι is 16 bytes.
const STEPS: u32 = 3;

type Heap = &'static SharedHeap<'static, Lock>;
type Object = Handle<[u64; 5]>;

/// No hole, and steps of 16 bytes.
static CONFIG: SharedConfig = with_bound(holes(0));
/// At most one hole.
static ONE_HOLE: SharedConfig = with_bound(holes(1));
/// At most one not-full page.
static ONE_PAGE: SharedConfig = with_bound(Bound::Pages(1));

const fn with_bound(bound: Bound) -> SharedConfig {
    match SharedConfig::new(config(bound)).with_increment(16) {
        Ok(config) => config,
        Err(_) => panic!("an increment"),
    }
}

fn class() -> SizeClass {
    CONFIG
        .config()
        .geometry()
        .class_for(BLOCK, 8)
        .expect("a class")
}

/// A heap with full page 0 and `in_last` objects in page 1.
struct Scene {
    heap: Heap,
    one: Local<'static, 'static, Lock, PerClass>,
    other: Local<'static, 'static, Lock, PerClass>,
    in_full: Vec<Object>,
    in_last: Vec<Object>,
}

impl Scene {
    fn new(memory: &'static Memory, config: &'static SharedConfig, in_last: usize) -> Self {
        let region = memory.take().expect("taken once");
        let heap = SharedHeap::new(region, config).expect("the region is large enough");
        let heap: Heap = Box::leak(Box::new(heap));
        let (one, other) = (
            heap.register().expect("a local"),
            heap.register().expect("a local"),
        );
        let blocks = config.config().geometry().layout(class()).blocks;
        let insert = |number: usize| one.insert([number as u64; 5]).expect("room");
        let in_full = (0..usize::from(blocks)).map(insert).collect();
        let in_last = (100..100 + in_last).map(insert).collect();
        assert_eq!(heap.stats().pages, 2);
        Self {
            heap,
            one,
            other,
            in_full,
            in_last,
        }
    }

    fn check(&self) {
        self.heap.check(false).expect("every invariant");
        assert_eq!(self.heap.stats().reserved_blocks, 0);
    }
}

fn address(heap: Heap, object: &Object) -> usize {
    core::ptr::from_ref(&*heap.pin(object).expect("it lives")).addr()
}

/// The free moves the last object of page 1; it is taken out, so that others can act on it
/// meanwhile.
fn take_victim(scene: &mut Scene) -> Object {
    scene.in_last.pop().expect("an object")
}

#[test]
fn one_free_by_one_of_many_threads() {
    static MEMORY: Memory = Memory::new();
    let mut walk = Walk::of("One free by one of many threads");

    walk.step("Name the lock");
    let mut scene = Scene::new(&MEMORY, &ONE_HOLE, 4);
    let another_class = scene.one.insert([1_u64; 10]).expect("room");
    let live = |heap: Heap| heap.class_usage(class()).expect("a class").live_blocks;
    let before = live(scene.heap);
    assert_eq!(sections(|| scene.one.free(another_class).expect("ours")), 1);
    assert_eq!(
        live(scene.heap),
        before,
        "another size-class, another group"
    );

    walk.step("Give back under the lock");
    let first = scene.in_full.remove(3);
    assert_eq!(sections(|| scene.other.free(first).expect("ours")), 1);
    assert_eq!(live(scene.heap), before - 1);
    let stats = scene.heap.stats();
    assert_eq!(
        (stats.holes, stats.steps_total),
        (1, 0),
        "the bound is kept"
    );
    a_full_page_keeps_its_freed_block();

    walk.step("Go on in rounds");
    let second = scene.in_full.remove(3);
    assert_eq!(sections(|| scene.one.free(second).expect("ours")), STEPS);
    let stats = scene.heap.stats();
    assert_eq!(
        (stats.holes, stats.moves_total, stats.steps_total),
        (1, 1, STEPS.into())
    );
    assert_eq!(stats.copied_in_section_max, 16, "ι");
    assert_eq!(scene.heap.pin(&scene.in_last[3]).expect("it lives")[4], 103);
    scene.check();

    walk.step("Begin a move");
    begin();
    walk.step("Help a move");
    help();
    walk.step("Commit");
    commit_fails_if_pinned();
    walk.step("Change nothing before the commit");
    nothing_has_changed();
}

/// Under a bound in pages the move that keeps the page full begins in the first section.
fn a_full_page_keeps_its_freed_block() {
    static MEMORY: Memory = Memory::new();
    let mut scene = Scene::new(&MEMORY, &ONE_PAGE, 4);
    let freed = scene.in_full.remove(3);
    let hole = address(scene.heap, &freed);
    let heap = scene.heap;
    after(1, move || {
        let stats = heap.stats();
        assert_eq!(
            (stats.steps_total, stats.not_full_pages),
            (1, 1),
            "page 0 is full"
        );
    });
    assert_eq!(sections(|| scene.one.free(freed).expect("ours")), STEPS);
    assert!(!lock::is_pending());
    assert_eq!(address(heap, &scene.in_last[3]), hole);
    scene.check();
}

/// What is to be seen after the first section of a free that moves, and then what this finds.
fn between(scene: &mut Scene, act: impl FnOnce(Heap, SharedStats) + 'static) {
    let (heap, freed) = (scene.heap, scene.in_full.remove(3));
    after(1, move || act(heap, heap.stats()));
    scene.one.free(freed).expect("ours");
    assert!(!lock::is_pending(), "there was a second section");
}

fn begin() {
    static MEMORY: Memory = Memory::new();
    let mut scene = Scene::new(&MEMORY, &CONFIG, 4);
    // A pinned object is no victim: the one before it is.
    let (heap, target) = (scene.heap, address(scene.heap, &scene.in_full[3]));
    let pinned = take_victim(&mut scene);
    let guard = heap.pin(&pinned).expect("it lives");
    between(&mut scene, |_, stats| {
        assert_eq!(
            (stats.reserved_blocks, stats.steps_total, stats.moves_total),
            (1, 1, 0)
        );
        assert_eq!(stats.moved_bytes_total, 0);
    });
    assert_eq!(guard[4], 103);
    assert_eq!(address(heap, &scene.in_last[2]), target);
    drop(guard);
    scene.check();
}

fn help() {
    static MEMORY: Memory = Memory::new();
    let mut scene = Scene::new(&MEMORY, &CONFIG, 4);
    let (heap, victim) = (scene.heap, take_victim(&mut scene));
    let (target, another) = (address(heap, &scene.in_full[3]), scene.in_full.remove(4));
    let victim = Rc::new(victim);
    let (helped, helper) = (Rc::clone(&victim), scene.other);
    let (freed, one) = (scene.in_full.remove(3), scene.one);
    after(1, move || {
        helper.free(another).expect("ours");
        assert_eq!(
            address(heap, &helped),
            target,
            "the move is over, by another's steps"
        );
        assert_eq!(
            heap.stats().moves_total,
            2,
            "that one, and the helper's own"
        );
    });
    // Its first section, and one in which it finds nothing left to do.
    assert_eq!(sections(|| one.free(freed).expect("ours")), 2);
    assert_eq!(heap.stats().steps_total, u64::from(2 * STEPS));
    assert_eq!(heap.pin(&victim).expect("it lives")[0], 103);
    heap.check(false).expect("every invariant");
}

fn commit_fails_if_pinned() {
    static MEMORY: Memory = Memory::new();
    let mut scene = Scene::new(&MEMORY, &CONFIG, 4);
    let target = address(scene.heap, &scene.in_full[3]);
    let victim: &'static Object = Box::leak(Box::new(take_victim(&mut scene)));
    let place = address(scene.heap, victim);
    let guard = Rc::new(RefCell::new(None));
    let pin = Rc::clone(&guard);
    between(&mut scene, move |heap, _| {
        *pin.borrow_mut() = Some(heap.pin(victim).expect("it lives"));
    });
    let stats = scene.heap.stats();
    assert_eq!((stats.moves_abandoned, stats.moves_total), (1, 1));
    assert_eq!(address(scene.heap, victim), place, "its copy is discarded");
    assert_eq!(
        address(scene.heap, &scene.in_last[2]),
        target,
        "another victim"
    );
    drop(guard.borrow_mut().take());
    scene.check();
}

fn nothing_has_changed() {
    static LOOKED_AT: Memory = Memory::new();
    let mut scene = Scene::new(&LOOKED_AT, &CONFIG, 4);
    let victim = Rc::new(take_victim(&mut scene));
    let (seen, place) = (Rc::clone(&victim), address(scene.heap, &victim));
    let live = scene.heap.stats().live_blocks;
    between(&mut scene, move |heap, stats| {
        assert_eq!(address(heap, &seen), place);
        assert_eq!((stats.live_blocks, stats.pages), (live - 1, 2));
        assert_eq!(stats.not_full_pages, 1, "page 1; the target fills page 0");
    });
    assert_ne!(
        address(scene.heap, &victim),
        place,
        "it moved at the commit"
    );
    scene.check();

    // The object is freed meanwhile.
    static FREED: Memory = Memory::new();
    let mut scene = Scene::new(&FREED, &CONFIG, 4);
    let victim = take_victim(&mut scene);
    let (heap, freed) = (scene.heap, scene.in_full.remove(3));
    let other = scene.other;
    after(1, move || {
        other.free(victim).expect("ours");
        assert_eq!(heap.stats().moves_abandoned, 1);
    });
    scene.one.free(freed).expect("ours");
    assert!(!lock::is_pending());
    heap.check(false).expect("every invariant");

    // Its page is filled meanwhile: the last free page-block of page 1 is allocated.
    static FILLED: Memory = Memory::new();
    let blocks = usize::from(CONFIG.config().geometry().layout(class()).blocks);
    let mut scene = Scene::new(&FILLED, &CONFIG, blocks - 1);
    let (heap, freed, other) = (scene.heap, scene.in_full.remove(3), scene.other);
    after(1, move || {
        let _ = other.insert([7_u64; 5]).expect("room");
        assert_eq!(heap.stats().moves_abandoned, 1);
    });
    scene.one.free(freed).expect("ours");
    assert!(!lock::is_pending());
    heap.check(false).expect("every invariant");
}

#[test]
fn one_pin() {
    static MEMORY: Memory = Memory::new();
    let mut walk = Walk::of("One pin");
    let mut scene = Scene::new(&MEMORY, &CONFIG, 4);

    walk.step("Add one to the pins");
    let heap = scene.heap;
    let object = &scene.in_last[0];
    let (first, second) = (heap.pin(object), heap.pin(object));
    assert_eq!(
        sections(|| drop((heap.pin(object), &first, &second))),
        0,
        "no lock"
    );
    drop((first, second));
    let object = &mut scene.in_last[0];
    assert_eq!(
        sections(|| heap.pin_mut(object).expect("it lives")[0] = 7),
        0,
        "at rest"
    );

    walk.step("End the move before writing");
    let mut victim = take_victim(&mut scene);
    let place = address(heap, &victim);
    let kept = Rc::new(RefCell::new(None));
    let written = Rc::clone(&kept);
    between(&mut scene, move |heap, _| {
        let write = || heap.pin_mut(&mut victim).expect("it lives")[4] = 5;
        assert_eq!(sections(write), 1, "the group's lock, once");
        assert_eq!(address(heap, &victim), place);
        let stats = heap.stats();
        assert_eq!((stats.moves_abandoned, stats.reserved_blocks), (1, 0));
        *written.borrow_mut() = Some(victim);
    });
    let victim = kept.borrow_mut().take().expect("written");
    assert_eq!(
        heap.pin(&victim).expect("it lives")[4],
        5,
        "nothing written is lost"
    );
    scene.check();
}
