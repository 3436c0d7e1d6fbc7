//! The world of the models: one entry with its blocks and its group, and what the library does with
//! them.

use core::sync::atomic::Ordering::Relaxed;

use loom::cell::Cell;
use loom::sync::{Arc, Mutex, MutexGuard};
use loom::thread;

use crate::entry::{Entry, Freed, Unpinned};
use crate::sync::AtomicU32;

/// A new object, written.
pub(crate) fn activate(entry: &Entry, group: u32, location: u32) {
    entry.begin_construction_alone(group, location);
    entry.end_construction_alone();
}

/// What is in a block that was given back.
pub(crate) const JUNK: u32 = 0xDEAD;
/// What the object holds at first.
pub(crate) const VALUE: u32 = 7;
/// The first object's group.
pub(crate) const GROUP: u32 = 0xABC;

/// A page-block of two words.
pub(crate) struct Block([Cell<u32>; 2]);

// SAFETY: loom follows every access to its cells and fails the model if two are not ordered; that
// is what is tested.
unsafe impl Sync for Block {}
// SAFETY: as above; the words are plain numbers.
unsafe impl Send for Block {}

impl Block {
    pub(crate) fn read(&self) -> u32 {
        let words = [self.0[0].get(), self.0[1].get()];
        assert_eq!(words[0], words[1], "an object half written or half copied");
        words[0]
    }

    pub(crate) fn write(&self, value: u32) {
        self.0[0].set(value);
        self.0[1].set(value);
    }
}

/// A move in flight: from block to block.
pub(crate) type Move = Option<(u32, u32)>;

/// One entry, its blocks, and the lock of its group.
pub(crate) struct World {
    pub(crate) entry: Entry,
    pub(crate) blocks: [Block; 3],
    pub(crate) group: Mutex<Move>,
    /// Objects given back; relaxed, so that counting orders nothing.
    pub(crate) released: AtomicU32,
}

/// An outcome that at least one order must have: a model in which it never comes up tests nothing.
pub(crate) struct Seen(std::sync::atomic::AtomicBool);

impl Seen {
    pub(crate) const fn never() -> Self {
        Self(std::sync::atomic::AtomicBool::new(false))
    }

    pub(crate) fn when(&self, happened: bool) {
        self.0.fetch_or(happened, Relaxed);
    }

    pub(crate) fn at_least_once(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// How a mover spreads its two steps over sections.
#[derive(Clone, Copy)]
pub(crate) enum Steps {
    Together,
    Separate,
}

impl World {
    /// An object in block 0.
    pub(crate) fn new() -> Arc<Self> {
        let world = Self {
            entry: Entry::new(),
            blocks: [JUNK; 3].map(|junk| Block([Cell::new(junk), Cell::new(junk)])),
            group: Mutex::new(None),
            released: AtomicU32::new(0),
        };
        world.blocks[0].write(VALUE);
        activate(&world.entry, GROUP, 0);
        Arc::new(world)
    }

    /// An object under construction in block 2, which stale names may pin.
    pub(crate) fn under_construction() -> Arc<Self> {
        let world = Self::new();
        world.block(0).write(JUNK);
        world.entry.deactivate();
        world.entry.begin_construction(GROUP, 2);
        world
    }

    pub(crate) fn block(&self, location: u32) -> &Block {
        &self.blocks[location as usize]
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Move> {
        self.group.lock().expect("no thread panics")
    }

    /// What a claim obliges to: gives the block back and counts.
    pub(crate) fn give_back(&self, unpinned: Unpinned) {
        let Unpinned::Claimed(state) = unpinned else {
            return;
        };
        assert_eq!(state.group(), GROUP);
        self.block(self.entry.location(state)).write(JUNK);
        self.released.fetch_add(1, Relaxed);
    }

    pub(crate) fn read_pinned(&self) -> u32 {
        let (_, location) = self.entry.pin().expect("few pins");
        let value = self.block(location).read();
        self.give_back(self.entry.unpin());
        value
    }

    /// Cancels the group's move, as a free, a writer or a failed commit does.
    pub(crate) fn cancel(&self, moving: &mut Move) -> Unpinned {
        let Some((_, target)) = moving.take() else {
            return Unpinned::Held;
        };
        self.block(target).write(JUNK);
        self.entry.cancel_move()
    }

    /// Adds one to both words under a pin, after settling a move.
    pub(crate) fn write_pinned(&self) {
        let (state, location) = self.entry.pin().expect("few pins");
        if state.is_moving() {
            let unpinned = self.cancel(&mut self.lock());
            assert_eq!(unpinned, Unpinned::Held);
        }
        let block = self.block(location);
        block.write(block.read() + 1);
        assert_eq!(self.entry.unpin(), Unpinned::Held);
    }

    /// Moves the object into `target`, if nobody is in the way, and overwrites what it leaves.
    pub(crate) fn relocate(&self, target: u32, steps: Steps) {
        let mut moving = self.lock();
        if !self.entry.begin_move() {
            return;
        }
        self.entry.stage(target);
        let from = self.entry.location(self.entry.state());
        *moving = Some((from, target));
        self.copy_word(from, target, 0);
        if matches!(steps, Steps::Separate) {
            drop(moving);
            moving = self.lock();
        }
        if moving.is_none() {
            return;
        }
        self.copy_word(from, target, 1);
        if self.entry.commit() {
            assert_eq!(self.entry.location(self.entry.state()), target);
            *moving = None;
            self.block(from).write(JUNK);
        } else {
            let unpinned = self.cancel(&mut moving);
            self.give_back(unpinned);
        }
    }

    pub(crate) fn copy_word(&self, from: u32, target: u32, word: usize) {
        let value = self.block(from).0[word].get();
        self.block(target).0[word].set(value);
    }

    /// Frees the object without the lock; called once, by its owner.
    pub(crate) fn free(&self) {
        match self.entry.mark_freed() {
            Freed::Now(state) => self.give_back(Unpinned::Claimed(state)),
            Freed::Moving(_) => {
                let unpinned = self.cancel(&mut self.lock());
                self.give_back(unpinned);
            }
            Freed::Deferred => {}
        }
    }

    /// Frees the object by a name that others may have too; whether it was this caller.
    pub(crate) fn free_by_name(&self) -> bool {
        self.entry.pin().expect("few pins");
        let freed = self.entry.free_pinned();
        self.give_back(self.entry.unpin());
        freed
    }

    /// What is read by a name that may be stale: the object, unless it is freed or not written.
    pub(crate) fn read_by_name(&self) -> Option<u32> {
        let (state, location) = self.entry.pin().expect("few pins");
        let live = !state.is_freed() && !state.is_writer();
        let value = live.then(|| self.block(location).read());
        self.give_back(self.entry.unpin());
        value
    }

    pub(crate) fn assert_freed_once(&self) {
        assert_eq!(self.released.load(Relaxed), 1, "given back exactly once");
        assert!(self.entry.state().is_dead(), "{:?}", self.entry.state());
    }
}

/// Runs two threads, the second one this, on a fresh world in every order; then `after`.
pub(crate) fn two(
    first: impl Fn(&World) + Send + Sync + Copy + 'static,
    second: impl Fn(&World) + Send + Sync + Copy + 'static,
    after: impl Fn(&World) + Send + Sync + Copy + 'static,
) {
    loom::model(move || {
        let world = World::new();
        let other = Arc::clone(&world);
        let first = thread::spawn(move || first(&other));
        second(&world);
        first.join().expect("no thread panics");
        after(&world);
    });
}

/// Three threads, the third one this, on a fresh world; at most `preemptions` forced switches.
pub(crate) fn three(
    preemptions: usize,
    first: impl Fn(&World) + Send + Sync + Copy + 'static,
    second: impl Fn(&World) + Send + Sync + Copy + 'static,
    third: impl Fn(&World) + Send + Sync + Copy + 'static,
    after: impl Fn(&World) + Send + Sync + Copy + 'static,
) {
    three_from(World::new, preemptions, first, second, third, after);
}

/// As `three`, on another world.
pub(crate) fn three_from(
    begin: fn() -> Arc<World>,
    preemptions: usize,
    first: impl Fn(&World) + Send + Sync + Copy + 'static,
    second: impl Fn(&World) + Send + Sync + Copy + 'static,
    third: impl Fn(&World) + Send + Sync + Copy + 'static,
    after: impl Fn(&World) + Send + Sync + Copy + 'static,
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let world = begin();
        let (a, b) = (Arc::clone(&world), Arc::clone(&world));
        let first = thread::spawn(move || first(&a));
        let second = thread::spawn(move || second(&b));
        third(&world);
        first.join().expect("no thread panics");
        second.join().expect("no thread panics");
        after(&world);
    });
}
