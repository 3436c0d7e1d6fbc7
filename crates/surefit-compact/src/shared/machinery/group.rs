//! A group is one size-class of one instance: its state, its lock, and the section in which the
//! lock is held.
//!
//! # Invariants
//! - G1 Only the holder of the group's lock accesses the state of a group, the records of its pages
//!   and their tails (bitmaps, back-references). Under page locks the holder of a page's lock may
//!   also access the used page-blocks of that page.
//! - G2 While the lock is held, an entry of the group is MOVING iff `moving` names it.
//! - G3 No section copies more than min(β, ι) bytes, and none runs user code (R4).

use core::cell::Cell;
use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::Deref;
use core::sync::atomic::Ordering::{Acquire, Relaxed};

use lock_api::RawMutex;

use super::abort_on_unwind::AbortOnUnwind;
use super::entry_list::{EntryList, NIL, ParkedStack};
use super::sync::AtomicU32;
use crate::class::ClassState;
use crate::page::PageId;
use crate::width::Spread;

/// A move in flight. Until its commit nothing has changed, except that the target page-block is
/// reserved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    /// The object's entry.
    pub(crate) entry: u32,
    /// Page and number of the page-block that the object is in.
    pub(crate) from: (PageId, u32),
    /// Page and number of the page-block that the object moves to.
    pub(crate) to: (PageId, u32),
    /// Bytes copied.
    pub(crate) done: u32,
    /// The number of this move among the group's.
    pub(crate) serial: u32,
}

/// The counters of a group, for statistics.
#[derive(Debug, Default)]
pub(crate) struct GroupCounters {
    /// Times that the lock was taken.
    pub(crate) sections: Cell<u64>,
    /// Of these, times that another thread held it.
    pub(crate) contended: Cell<u64>,
    /// Moves committed.
    pub(crate) moves: Cell<u64>,
    /// Bytes of their page-blocks.
    pub(crate) moved_bytes: Cell<u64>,
    /// Steps made.
    pub(crate) steps: Cell<u64>,
    /// Moves abandoned: cancelled, or pinned at their commit.
    pub(crate) abandoned: Cell<u64>,
    /// The most bytes copied in one section.
    pub(crate) copied_in_section_max: Cell<u32>,
}

/// Adds to a counter.
#[inline]
pub(crate) fn add(counter: &Cell<u64>, n: u64) {
    counter.set(counter.get() + n);
}

/// What the lock of a group guards.
#[derive(Debug)]
pub(crate) struct GroupState {
    pub(crate) class: ClassState<Spread>,
    pub(crate) moving: Cell<Option<Move>>,
    /// Moves begun; wraps.
    pub(crate) begun: Cell<u32>,
    /// Moves that a pin ended; wraps.
    pub(crate) pinned_away: Cell<u32>,
    /// Free entries ready for allocations of the group.
    pub(crate) spare: EntryList,
    /// Free entries that keep the page-block of their last object.
    pub(crate) parked: ParkedStack,
    pub(crate) counters: GroupCounters,
}

/// One size-class of one instance, on cache lines of its own.
#[repr(C, align(128))]
pub(crate) struct Group<R> {
    lock: AbortOnUnwind<R>,
    /// A stack of entries: objects whose last pin left after they were freed, or that other threads
    /// freed without the lock.
    deferred: AtomicU32,
    /// First of the objects that were taken from the deferred list and not freed yet. Changed only
    /// under the lock.
    draining: AtomicU32,
    /// Live page-blocks that are counted under page locks alone; wraps.
    pub(crate) live_apart: AtomicU32,
    /// A page that may have free page-blocks. Calls under page locks begin with it.
    pub(crate) hint: AtomicU32,
    state: GroupState,
}

// SAFETY: G1: `state` is reached only through a `Section`, which holds the group's lock. The other
// fields are a lock and atomics.
unsafe impl<R: Sync> Sync for Group<R> {}

impl<R> fmt::Debug for Group<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").finish_non_exhaustive()
    }
}

impl<R: RawMutex> Group<R> {
    pub(crate) fn new() -> Self {
        Self {
            lock: AbortOnUnwind::INIT,
            deferred: AtomicU32::new(NIL),
            draining: AtomicU32::new(NIL),
            live_apart: AtomicU32::new(0),
            hint: AtomicU32::new(NIL),
            state: GroupState {
                class: ClassState::new(),
                moving: Cell::new(None),
                begun: Cell::new(0),
                pinned_away: Cell::new(0),
                spare: EntryList::new(),
                parked: ParkedStack::new(),
                counters: GroupCounters::default(),
            },
        }
    }

    /// Enters the group under its own lock, or under that of `guard`, the first group of an
    /// instance with one lock.
    #[inline]
    pub(crate) fn enter<'a>(&'a self, guard: &'a Self) -> Section<'a, R> {
        surefit_core::point();
        let contended = !guard.lock.try_lock();
        if contended {
            guard.lock.lock();
        }
        let section = Section {
            group: self,
            lock: &guard.lock,
            copied: Cell::new(0),
        };
        add(&section.counters.sections, 1);
        add(&section.counters.contended, u64::from(contended));
        section
    }

    /// Looks at the group from another one, whose lock is `held`: under the group's own lock,
    /// unless somebody has it, or under `held` if that is the lock of `both`. It never waits.
    pub(crate) fn visit<'a>(
        &'a self,
        held: &Section<'a, R>,
        both: bool,
        look: impl FnOnce(&Section<'a, R>),
    ) {
        surefit_core::point();
        if !both && !self.lock.try_lock() {
            return;
        }
        let section = ManuallyDrop::new(Section {
            group: self,
            lock: if both { held.lock } else { &self.lock },
            copied: Cell::new(0),
        });
        look(&section);
        if !both {
            add(&section.counters.sections, 1);
            drop(ManuallyDrop::into_inner(section));
        }
    }

    /// Whether objects wait that were freed without the lock. The answer may be out of date.
    #[inline]
    pub(crate) fn has_deferred(&self) -> bool {
        self.deferred.load(Relaxed) != NIL || self.draining.load(Relaxed) != NIL
    }

    /// First of the objects that were taken from the deferred list and not freed yet.
    pub(crate) fn draining(&self) -> &AtomicU32 {
        &self.draining
    }

    /// The first object of the deferred list.
    pub(crate) fn first_deferred(&self) -> u32 {
        self.deferred.load(Acquire)
    }

    /// The head of the deferred list.
    #[inline]
    pub(crate) fn deferred(&self) -> &AtomicU32 {
        &self.deferred
    }
}

/// A group whose lock is held.
#[must_use]
pub(crate) struct Section<'a, R: RawMutex> {
    group: &'a Group<R>,
    lock: &'a AbortOnUnwind<R>,
    /// Bytes copied in this section.
    copied: Cell<u32>,
}

impl<'a, R: RawMutex> Section<'a, R> {
    /// The group.
    #[inline]
    pub(crate) fn group(&self) -> &'a Group<R> {
        self.group
    }

    /// Live page-blocks of the group.
    #[inline]
    pub(crate) fn live(&self) -> u32 {
        let apart = self.group.live_apart.load(Relaxed);
        self.class.live().wrapping_add(apart)
    }

    /// Counts bytes copied in this section.
    #[inline]
    pub(crate) fn count_copied(&self, bytes: u32) {
        self.copied.set(self.copied.get() + bytes);
        let most = &self.counters.copied_in_section_max;
        most.set(most.get().max(self.copied.get()));
    }
}

impl<R: RawMutex> Deref for Section<'_, R> {
    type Target = GroupState;

    #[inline]
    fn deref(&self) -> &GroupState {
        &self.group.state
    }
}

impl<R: RawMutex> Drop for Section<'_, R> {
    #[inline]
    fn drop(&mut self) {
        surefit_core::point();
        // SAFETY: `enter` took the lock, and nothing else releases it.
        unsafe { self.lock.unlock() };
    }
}
