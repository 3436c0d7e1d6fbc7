//! An object in motion: its move stands still between two steps.

extern crate alloc;
extern crate std;

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use surefit_classes::{Bound, Geometry};

use super::config::SharedConfig;
use super::local::Local;
use super::lock::PerClass;
use super::machinery::group::Move;
use super::machinery::objects::Objects;
use super::machinery::pool::NO_SLOT;
use super::one_instance::heap::SharedHeap;
use crate::config::Config;
use crate::handle::Handle;

type Lock = parking_lot::RawMutex;
type Heap<'m> = SharedHeap<'m, Lock>;
type Thread<'h, 'm> = Local<'h, 'm, Lock, PerClass>;

const STEP: u32 = 16;

fn config() -> SharedConfig {
    let config = Config::new(Geometry::DEFAULT, Bound::Unbounded).unwrap();
    SharedConfig::new(config).with_increment(STEP).unwrap()
}

/// Begins a move of an object into the first not-full page, and copies all of it except the last
/// step.
pub(super) fn put_in_motion(objects: &Objects<'_, Lock, PerClass>, index: u32) {
    let engine = &objects.engine;
    let entry = engine.entry(index);
    let group = entry.state().group();
    let section = engine.enter(group);
    let from = engine.block(entry.location(entry.state()));
    let target = engine.pages.linked(section.class.head.get()).unwrap();
    assert!(target.id != from.page.id && target.free_blocks() > 1 && from.page.free_blocks() > 0);
    assert!(entry.begin_move());
    let to = engine.pages.take_free(target, index);
    let done = from.page.layout.block_bytes.next_multiple_of(STEP) - STEP;
    engine.pages.copy_part(from, to, 0, done);
    section.begun.set(section.begun.get().wrapping_add(1));
    section.moving.set(Some(Move {
        entry: index,
        from: (from.page.id, from.number),
        to: (to.page.id, to.number),
        done,
        serial: section.begun.get().wrapping_sub(1),
    }));
}

fn is_in_motion(objects: &Objects<'_, Lock, PerClass>, index: u32) -> bool {
    objects.engine.entry(index).state().is_moving()
}

/// Ends the move in flight, and moves what can be moved.
fn compact(objects: &Objects<'_, Lock, PerClass>) {
    objects
        .engine
        .compact(NO_SLOT, objects.engine.all_groups(), u64::MAX);
    objects.engine.check(false).unwrap();
}

/// Words that count their drops, outside of any lock.
struct Tracked {
    words: [u64; 6],
    heap: &'static Heap<'static>,
    dropped: Arc<AtomicU64>,
}

impl Drop for Tracked {
    fn drop(&mut self) {
        assert_eq!(self.words, [self.words[0]; 6]);
        // Takes every lock.
        self.heap.stats();
        self.dropped.fetch_add(1, Relaxed);
    }
}

/// A heap that is never dropped, with two not-full pages; an object in the older one is in motion.
struct Scene {
    heap: &'static Heap<'static>,
    local: Thread<'static, 'static>,
    handle: Option<Handle<Tracked>>,
    index: u32,
    others: Vec<Handle<Tracked>>,
    dropped: Arc<AtomicU64>,
}

impl Scene {
    fn new() -> Self {
        let config = alloc::boxed::Box::leak(alloc::boxed::Box::new(config()));
        let region = vec![core::mem::MaybeUninit::uninit(); 1 << 20].leak();
        let heap: Heap<'static> = SharedHeap::new(region, config).unwrap();
        let heap: &'static Heap<'static> = alloc::boxed::Box::leak(alloc::boxed::Box::new(heap));
        let local = heap.register().unwrap();
        let dropped = Arc::new(AtomicU64::new(0));
        let insert = |word| {
            let words = [word; 6];
            let dropped = Arc::clone(&dropped);
            let inserted = local.insert(Tracked {
                words,
                heap,
                dropped,
            });
            inserted.map_err(|full| full.refused).unwrap()
        };
        let (handle, hole) = (insert(7), insert(8));
        let mut others = Vec::new();
        while heap.stats().pages < 2 {
            others.push(insert(9));
        }
        local.free(hole).unwrap();
        dropped.store(0, Relaxed);
        let index = handle.name.index();
        rotate(&heap.objects, index);
        put_in_motion(&heap.objects, index);
        Self {
            heap,
            local,
            handle: Some(handle),
            index,
            others,
            dropped,
        }
    }

    fn is_in_motion(&self) -> bool {
        is_in_motion(&self.heap.objects, self.index)
    }

    fn handle(&mut self) -> &mut Handle<Tracked> {
        self.handle.as_mut().unwrap()
    }

    /// Checks that nothing has changed except the object, and that each freed value was dropped
    /// once.
    fn end(self, dropped: u64) {
        compact(&self.heap.objects);
        assert_eq!(self.dropped.load(Relaxed), dropped);
        for other in self.others {
            assert_eq!(self.heap.pin_settled(&other).unwrap().words, [9; 6]);
            self.local.free(other).unwrap();
        }
        if let Some(handle) = self.handle {
            let value = self.local.remove(handle).unwrap();
            assert_eq!(value.words, [value.words[0]; 6]);
        }
        compact(&self.heap.objects);
        let stats = self.heap.stats();
        assert_eq!(
            (stats.live_blocks, stats.pages, stats.reserved_blocks),
            (0, 0, 0)
        );
    }
}

#[test]
fn a_writer_ends_the_move_and_loses_nothing() {
    let mut scene = Scene::new();
    assert!(scene.is_in_motion());
    let heap = scene.heap;
    heap.pin_mut(scene.handle()).unwrap().words = [5; 6];
    assert!(!scene.is_in_motion());
    compact(&heap.objects);
    assert_eq!(heap.pin_settled(scene.handle()).unwrap().words, [5; 6]);
    scene.end(0);
}

#[test]
fn a_settled_pin_ends_the_move_and_holds_the_object() {
    let mut scene = Scene::new();
    let (heap, index) = (scene.heap, scene.index);
    let guard = heap.pin_settled(scene.handle()).unwrap();
    let place = core::ptr::from_ref(&*guard);
    assert!(!is_in_motion(&heap.objects, index));
    compact(&heap.objects);
    assert_eq!((core::ptr::from_ref(&*guard), guard.words), (place, [7; 6]));
    drop(guard);
    scene.end(0);
}

#[test]
fn freeing_what_is_in_motion_drops_it_once_and_outside_of_locks() {
    let mut scene = Scene::new();
    let handle = scene.handle.take().unwrap();
    scene.local.free(handle).unwrap();
    assert!(!scene.is_in_motion());
    assert_eq!(scene.dropped.load(Relaxed), 1);
    scene.end(1);
}

#[test]
fn removing_what_is_in_motion_takes_the_value() {
    let mut scene = Scene::new();
    let handle = scene.handle.take().unwrap();
    let value = scene.local.remove(handle).unwrap();
    assert_eq!((value.words, scene.dropped.load(Relaxed)), ([7; 6], 0));
    assert!(!scene.is_in_motion());
    drop(value);
    scene.end(1);
}

#[test]
fn a_plain_pin_lets_the_move_go_on_until_its_commit() {
    let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
    let config = config();
    let heap: Heap<'_> = SharedHeap::new(&mut memory, &config).unwrap();
    let local = heap.register().unwrap();
    let handle = local.insert([7_u64; 8]).unwrap();
    let hole = local.insert([8_u64; 8]).unwrap();
    let mut others = Vec::new();
    while heap.stats().pages < 2 {
        others.push(local.insert([9_u64; 8]).unwrap());
    }
    local.free(hole).unwrap();
    let (objects, index) = (&heap.objects, handle.name.index());
    rotate(objects, index);
    put_in_motion(objects, index);
    let guard = heap.pin(&handle).unwrap();
    let place = core::ptr::from_ref(&*guard);
    assert!(is_in_motion(objects, index));
    compact(objects);
    assert_eq!((core::ptr::from_ref(&*guard), *guard), (place, [7; 8]));
    assert!(!is_in_motion(objects, index));
    drop(guard);
    assert_eq!(*heap.pin(&handle).unwrap(), [7; 8]);
}

/// Puts the page of an object last. Gives parked pairs back before, as before any move.
fn rotate(objects: &Objects<'_, Lock, PerClass>, index: u32) {
    let engine = &objects.engine;
    let entry = engine.entry(index);
    let group = entry.state().group();
    let section = engine.enter(group);
    engine.give_back_parked(&section, NO_SLOT, group);
    let page = engine.block(entry.location(entry.state())).page;
    engine.pages.detach(&section.class, page);
    engine.pages.push_back(&section.class, page);
}
