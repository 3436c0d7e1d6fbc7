//! The destruction of an instance while other threads pin and free one of its objects by name:
//! every interleaving, and every value that weak ordering allows.
//!
//! The entry is the library's own file, on loom's atomics. The number of the instance, the lock of
//! the group, and the use of these three follow `machinery::destroy`, `machinery::foreign` and
//! `Objects::pin_entry`. The block is a cell that loom watches. When it is given back, an object of
//! another instance reuses it at once, in the same entry. So a thread that reads it by a stale
//! name, or still reads the old object, is detected.
#![cfg(target_pointer_width = "64")] // loom needs 64-bit atomics

#[allow(
    dead_code,
    unused_imports,
    reason = "the library uses all of it, these models a part"
)]
#[path = "../src/shared/machinery/entry.rs"]
mod entry;
#[path = "loom_entry/sync.rs"]
mod sync;

use core::sync::atomic::Ordering::Relaxed;

use entry::{Entry, Freed, State, Unpinned};
use loom::cell::Cell;
use loom::sync::{Arc, Mutex};
use loom::thread;
use sync::AtomicU32;

const OLD: u32 = 1;
const NEW: u32 = 2;
const VALUE: u32 = 7;
const OTHER: u32 = 9;
const GROUP: u32 = 3;
const OTHER_GROUP: u32 = 4;

struct World {
    entry: Entry,
    /// The number of the instance of `GROUP`.
    id: AtomicU32,
    lock: Mutex<()>,
    block: Cell<u32>,
    /// Times that the object was given back; relaxed, so that counting orders nothing.
    released: AtomicU32,
}

// SAFETY: loom follows every access to its cell, and fails the model if two are not ordered; that
// is what is tested.
unsafe impl Sync for World {}
// SAFETY: as above; the words are plain numbers.
unsafe impl Send for World {}

impl World {
    fn new() -> Self {
        let world = Self {
            entry: Entry::new(),
            id: AtomicU32::new(OLD),
            lock: Mutex::new(()),
            block: Cell::new(VALUE),
            released: AtomicU32::new(0),
        };
        world.entry.begin_construction(GROUP, 0);
        world.entry.end_construction();
        world
    }

    /// Whether the object's name is good for what the entry holds.
    fn is_named(&self, state: State) -> bool {
        state.group() == GROUP && self.id.load(Relaxed) == OLD
    }

    /// `begin_free`, and the next object in its place; under the lock.
    fn give_back(&self) {
        self.entry.deactivate_keeping_pins();
        self.released.fetch_add(1, Relaxed);
        self.block.set(OTHER);
        self.entry.begin_construction(OTHER_GROUP, 0);
        self.entry.end_construction();
    }

    fn unpin(&self) {
        if let Unpinned::Claimed(_) = self.entry.unpin() {
            let _locked = self.lock.lock().unwrap();
            self.give_back();
        }
    }

    /// `pin`: what is read through it, if the name is good.
    fn read(&self) -> Option<u32> {
        let (state, _) = self.entry.pin().expect("few pins");
        let value = self.is_named(state).then(|| self.block.get());
        self.unpin();
        value
    }

    /// A free that takes the lock; whether it was the one that freed.
    fn free_with_lock(&self) -> bool {
        if self.entry.state().group() != GROUP {
            return false;
        }
        let _locked = self.lock.lock().unwrap();
        let state = self.entry.state();
        let named = !state.is_freed() && self.is_named(state);
        if named {
            self.give_back();
        }
        named
    }

    /// A free that does not.
    fn free_without_lock(&self) -> bool {
        let (state, _) = self.entry.pin().expect("few pins");
        let freed = self.is_named(state) && self.entry.free_pinned();
        self.unpin();
        freed
    }

    /// `destroy`; whether it ended the object.
    fn destroy(&self) -> bool {
        self.id.store(NEW, Relaxed);
        let _locked = self.lock.lock().unwrap();
        let state = self.entry.state();
        if state.group() != GROUP || state.is_freed() {
            return false;
        }
        if let Freed::Now(_) = self.entry.mark_freed() {
            self.give_back();
        }
        true
    }
}

/// Runs destruction against `first` and `second`; then the object has ended once, and the next one
/// is whole.
fn against(
    first: impl Fn(&World) + Send + Sync + Copy + 'static,
    second: impl Fn(&World) + Send + Sync + Copy + 'static,
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let world = Arc::new(World::new());
        let run = |task: fn(&World) -> bool| {
            let world = Arc::clone(&world);
            thread::spawn(move || task(&world))
        };
        let destroyer = run(World::destroy);
        let other = {
            let world = Arc::clone(&world);
            thread::spawn(move || first(&world))
        };
        second(&world);
        destroyer.join().unwrap();
        other.join().unwrap();
        let state = world.entry.state();
        assert_eq!(world.released.load(Relaxed), 1, "the object ended once");
        assert_eq!((state.group(), state.pins()), (OTHER_GROUP, 0));
        assert!(!state.is_freed() && world.block.get() == OTHER);
        assert_eq!(world.read(), None);
    });
}

fn reads(world: &World) {
    assert!(world.read().is_none_or(|value| value == VALUE));
}

#[test]
fn what_is_read_by_a_name_is_never_another_object() {
    against(reads, |_| ());
    against(reads, reads);
}

#[test]
fn a_free_under_the_lock_and_destruction_end_an_object_once() {
    against(
        |world| {
            world.free_with_lock();
        },
        |_| (),
    );
}

#[test]
fn a_free_without_the_lock_and_destruction_end_an_object_once() {
    against(
        |world| {
            world.free_without_lock();
        },
        |_| (),
    );
}
