//! An instance: the pages of each class that one thread allocates from, and the remote frees that
//! the thread still has to deliver.
//!
//! ```text
//! class:  free list        what the thread freed, and before that page-blocks of the current page
//!         the current page                             fills the free list when it is empty
//!         first … last: pages that are not full        the current page is none of them
//!         full pages: in no list
//! mixed   first … last: pages in which page-blocks of any class may fit
//!         others, in which something did not fit last time: in no list
//! ```
//! # Invariants
//! - I1 The free list of a class holds page-blocks of the class; they count as used in their pages,
//!   whichever instance has those. Those of no class are empty, and have no room.
//! - I2 A page of the instance is the current one of its class, or in the list of its class, or
//!   full: more than [`Class::loose`] of its page-blocks are used. A mixed page of the instance is
//!   in the list of those, or in no list.
//! - I3 Units in the buffer belong to no page, object or run, and to no other thread.
//! - I4 Remote frees that arrived are page-blocks of the instance's pages; they count as used. An
//!   idle instance has none, and its free lists, its buffer and its batches are empty.
//! - I5 All but `inbox` and `state` belong to the thread that has the instance (`state`), or to the
//!   holder of its group's lock.
//! - I6 A batch lies at the place of the instance that it is for, ends at its last page-block, and
//!   has the room that its page-blocks leave.

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, Ordering};

use super::chain::{Chain, Free};
use super::cold::Cold;
use super::free_list::FreeList;
use super::memory::{Memory, Record, Span};
use super::remote_frees::{Batch, Inbox, PLACES};
use super::sizes::{CLASSES, Class, SLOTS, Slot};

/// Single units that an instance keeps for its next pages: b_p.
pub(super) const BUFFERED: usize = 4;

/// One of so many slow calls looks whether free memory is due.
const SLOW: u16 = 8;

/// What an instance is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Never used.
    Unused,
    /// A thread has it.
    Owned,
    /// Its thread has left; another one may take it, or serve it.
    Idle,
    /// Its thread does not exist in this forked process; it may have been in the middle of a call.
    Lost,
    /// Idle, but a thread with the lock for that frees what arrived there.
    Served,
}

impl State {
    const fn of(number: u32) -> Self {
        match number {
            0 => Self::Unused,
            1 => Self::Owned,
            2 => Self::Idle,
            4 => Self::Served,
            _ => Self::Lost,
        }
    }
}

/// One instance. An all-zero instance is unused.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Instance {
    number: Cell<u16>,
    slow: Cell<u16>,
    buffered: Cell<usize>,
    buffer: [Cell<Span>; BUFFERED],
    arrived: Chain,
    free: [Chain; SLOTS],
    counts: [Cell<u32>; SLOTS],
    current: [Cell<Span>; CLASSES],
    first: [Cell<Span>; CLASSES],
    last: [Cell<Span>; CLASSES],
    first_mixed: Cell<Span>,
    last_mixed: Cell<Span>,
    cold: Cold,
    outbox: [Batch; PLACES],
    arrives: Arrives,
}

/// What other threads write, in a cache line of its own.
#[derive(Debug)]
#[repr(C, align(64))]
struct Arrives {
    inbox: Inbox,
    state: AtomicU32,
}

impl Instance {
    /// Its number, from 1 on, as the records of its pages have it.
    #[inline]
    pub(super) fn number(&self) -> u16 {
        self.number.get()
    }

    /// Gives it its number, before it owns a page.
    pub(super) fn set_number(&self, number: u16) {
        self.number.set(number);
    }

    /// Counts a slow call. Returns whether this call does the work that not every call has to do.
    pub(super) fn counts_slow(&self) -> bool {
        self.slow.set(self.slow.get().wrapping_add(1));
        self.slow.get() % SLOW == 0
    }

    /// Where remote frees of its page-blocks arrive.
    #[inline]
    pub(super) fn inbox(&self) -> &Inbox {
        &self.arrives.inbox
    }

    /// Remote frees that were taken out of the inbox and are not done yet (I4).
    #[inline]
    pub(super) fn arrived(&self) -> &Chain {
        &self.arrived
    }

    /// Its state.
    pub(super) fn state(&self) -> State {
        surefit_core::point();
        State::of(self.arrives.state.load(Ordering::SeqCst))
    }

    /// Changes the state from `from` to `to`, if it is `from`.
    ///
    /// # Errors
    /// The state that it was in instead.
    pub(super) fn claim(&self, from: State, to: State) -> Result<(), State> {
        surefit_core::point();
        let claimed = &self.arrives.state;
        let found =
            claimed.compare_exchange(from as u32, to as u32, Ordering::SeqCst, Ordering::SeqCst);
        found.map(drop).map_err(State::of)
    }

    /// Changes the state of one that is the caller's.
    pub(super) fn set_state(&self, to: State) {
        surefit_core::point();
        self.arrives.state.store(to as u32, Ordering::SeqCst);
    }

    /// The page that fills the free list.
    #[inline]
    pub(super) fn current(&self, class: Class) -> Span {
        self.current[class.index()].get()
    }

    /// Makes a page, which is in no list, the current one; or none.
    pub(super) fn set_current(&self, class: Class, page: Span) {
        debug_assert!(self.free_list(class).is_empty());
        self.current[class.index()].set(page);
    }

    /// The free list of a class.
    #[inline]
    pub(super) fn free_list(&self, class: Class) -> FreeList<'_> {
        self.list_at(class.slot())
    }

    /// The free list of a slot.
    #[inline]
    pub(super) fn list_at(&self, slot: Slot) -> FreeList<'_> {
        FreeList::new(&self.free[slot.index()], &self.counts[slot.index()])
    }

    /// The first page that is not full.
    pub(super) fn first(&self, class: Class) -> Span {
        self.first[class.index()].get()
    }

    /// The last page that is not full.
    pub(super) fn last(&self, class: Class) -> Span {
        self.last[class.index()].get()
    }

    /// Whether a page is in the list of its class.
    pub(super) fn lists(&self, class: Class, page: Span, record: &Record) -> bool {
        record.previous.get() != Span::NONE || self.first(class) == page
    }

    /// Puts a page behind all others that are not full.
    pub(super) fn append(&self, memory: &Memory, class: Class, page: Span) {
        let last = self.last[class.index()].replace(page);
        let record = memory.record(page);
        record.previous.set(last);
        record.next.set(Span::NONE);
        if last == Span::NONE {
            self.first[class.index()].set(page);
        } else {
            memory.record(last).next.set(page);
        }
    }

    /// Says that a list ends at a page, for tests of the checker.
    #[cfg(test)]
    pub(super) fn set_last(&self, class: Class, page: Span) {
        self.last[class.index()].set(page);
    }

    /// Takes a page out of the list of its class.
    pub(super) fn unlink(&self, memory: &Memory, class: Class, page: Span) {
        let record = memory.record(page);
        let (next, previous) = (
            record.next.replace(Span::NONE),
            record.previous.replace(Span::NONE),
        );
        match previous {
            Span::NONE => self.first[class.index()].set(next),
            _ => memory.record(previous).next.set(next),
        }
        match next {
            Span::NONE => self.last[class.index()].set(previous),
            _ => memory.record(next).previous.set(previous),
        }
    }

    /// The first mixed page of the list.
    pub(super) fn first_mixed(&self) -> Span {
        self.first_mixed.get()
    }

    /// The last mixed page of the list.
    pub(super) fn last_mixed(&self) -> Span {
        self.last_mixed.get()
    }

    /// Says that the list of mixed pages ends at a page, for tests of the checker.
    #[cfg(test)]
    pub(super) fn end_mixed(&self, page: Span) {
        self.last_mixed.set(page);
    }

    /// Gives the list of a slot room, for tests of the checker.
    #[cfg(test)]
    pub(super) fn set_room(&self, slot: Slot) {
        self.counts[slot.index()].set(7 << 16 | 7);
    }

    /// Whether a mixed page is in the list of those.
    pub(super) fn lists_mixed(&self, page: Span, record: &Record) -> bool {
        record.previous.get() != Span::NONE || self.first_mixed() == page
    }

    /// Puts a mixed page behind all others.
    pub(super) fn list_mixed(&self, memory: &Memory, page: Span) {
        let last = self.last_mixed.replace(page);
        let record = memory.record(page);
        record.previous.set(last);
        record.next.set(Span::NONE);
        match last {
            Span::NONE => self.first_mixed.set(page),
            _ => memory.record(last).next.set(page),
        }
    }

    /// Takes a mixed page out of the list.
    pub(super) fn unlink_mixed(&self, memory: &Memory, page: Span) {
        let record = memory.record(page);
        let (next, previous) = (
            record.next.replace(Span::NONE),
            record.previous.replace(Span::NONE),
        );
        match previous {
            Span::NONE => self.first_mixed.set(next),
            _ => memory.record(previous).next.set(next),
        }
        match next {
            Span::NONE => self.last_mixed.set(previous),
            _ => memory.record(next).previous.set(previous),
        }
    }

    /// Says that page-blocks of a class are allocated.
    #[inline]
    pub(super) fn warm(&self, class: Class) {
        self.cold.warm(class);
    }

    /// Counts the units of a page that is opened.
    pub(super) fn count_opened(&self, units: u32) {
        self.cold.count_opened(units, &self.counts);
    }

    /// The next class, from a number on, that is not used any more and may serve the class
    /// `wanted`, if there is one.
    pub(super) fn next_cold(&self, from: usize, wanted: Class) -> Option<Class> {
        self.cold.next(from, wanted, &self.counts)
    }

    /// Says that pages of classes that are not used any more have no room for a class.
    pub(super) fn note_too_long(&self, wanted: Class) {
        self.cold.note_too_long(wanted);
    }

    /// Takes all classes but one for such that are not used any more.
    pub(super) fn chill(&self, wanted: Class) {
        self.cold.chill(wanted, &self.counts);
    }

    /// Takes no page of a class that is not used any more, for a while.
    pub(super) fn pass_cold(&self, class: Class) {
        self.cold.pass(class);
    }

    /// A unit of the buffer.
    pub(super) fn take_buffered(&self) -> Option<Span> {
        let left = self.buffered.get().checked_sub(1)?;
        self.buffered.set(left);
        Some(self.buffer[left].get())
    }

    /// How many units are in the buffer.
    pub(super) fn buffered(&self) -> usize {
        self.buffered.get()
    }

    /// The units of the buffer.
    pub(super) fn each_buffered(&self) -> impl Iterator<Item = Span> {
        self.buffer[..self.buffered.get()].iter().map(Cell::get)
    }

    /// Puts a unit into the buffer. Returns whether there was room.
    pub(super) fn buffer(&self, unit: Span) -> bool {
        let buffered = self.buffered.get();
        let Some(place) = self.buffer.get(buffered) else {
            return false;
        };
        place.set(unit);
        self.buffered.set(buffered + 1);
        true
    }

    /// Frees a page-block of another instance, if a batch that was begun takes it and does not
    /// become full. Else returns it: so it does what is of no class, and in a heap that checks each
    /// free all, since no batch is begun there.
    #[inline]
    pub(super) fn send_soon(&self, slot: Slot, to: u16, block: Free) -> Result<(), Free> {
        match slot.class() {
            Some(class) => self.batch(to).add(to, block, class.shape().block_bytes),
            None => Err(block),
        }
    }

    /// The batch for an instance; it may hold page-blocks of another one.
    #[inline]
    pub(super) fn batch(&self, to: u16) -> &Batch {
        &self.outbox[usize::from(to) % PLACES]
    }

    /// All batches.
    pub(super) fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.outbox.iter()
    }
}
