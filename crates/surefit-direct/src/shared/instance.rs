//! An instance: what one thread has at a time, its pages of each class and the frees it still has
//! to deliver.
//!
//! ```text
//! class:  in hand (chain) ── of ── current page        allocations take from the hand
//!         first … last: pages that are not full        the current page is none of them
//!         full pages: in no list
//! ```
//! # Invariants
//! - I1 What is in hand are page-blocks of the current page; they count as used.
//! - I2 A page of the instance is the current one of its class, or in the list of its class, or
//!   full: more than [`Class::loose`] of its page-blocks are used.
//! - I3 Units in the buffer are nothing, and no other thread's.
//! - I4 What has arrived are page-blocks of pages of the instance; they count as used. An idle
//!   instance has none, and nothing in hand, in its buffer or in its batches.
//! - I5 All but `inbox` and `state` belong to the thread that has the instance (`state`), or its
//!   group's lock.
//! - I6 A batch lies in the place of the instance that it is for, ends at its last page-block, and
//!   has the room that those leave.

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, Ordering};

use super::chain::Chain;
use super::mail::{Batch, Inbox, SLOTS};
use super::memory::{Memory, Record, Span};
use super::sizes::{CLASSES, Class};

/// Single units that an instance keeps for its next pages: b_p.
pub(super) const BUFFERED: usize = 4;

/// Of so many slow calls one looks whether free memory is due.
const SLOW: u16 = 32;

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
    /// Idle, but someone who has the lock for that frees what arrived there.
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

/// One instance. All zero bytes are an unused one.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Instance {
    hands: [Chain; CLASSES],
    current: [Cell<Span>; CLASSES],
    first: [Cell<Span>; CLASSES],
    last: [Cell<Span>; CLASSES],
    outbox: [Batch; SLOTS],
    buffer: [Cell<Span>; BUFFERED],
    buffered: Cell<usize>,
    number: Cell<u16>,
    slow: Cell<u16>,
    arrived: Chain,
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

    /// Counts a call that was slow. Whether it is one of those that do what need not be done each
    /// time.
    pub(super) fn counts_slow(&self) -> bool {
        self.slow.set(self.slow.get().wrapping_add(1));
        self.slow.get() % SLOW == 0
    }

    /// Where its page-blocks arrive that others freed.
    #[inline]
    pub(super) fn inbox(&self) -> &Inbox {
        &self.arrives.inbox
    }

    /// What was taken out of the inbox and is not freed yet (I4).
    #[inline]
    pub(super) fn arrived(&self) -> &Chain {
        &self.arrived
    }

    /// What it is doing.
    pub(super) fn state(&self) -> State {
        surefit_core::point();
        State::of(self.arrives.state.load(Ordering::SeqCst))
    }

    /// Takes it, if it is in a state, and makes it another one.
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

    /// The page whose page-blocks are in hand.
    #[inline]
    pub(super) fn current(&self, class: Class) -> Span {
        self.current[class.index()].get()
    }

    /// Makes a page, which is in no list, the current one; or none.
    pub(super) fn set_current(&self, class: Class, page: Span) {
        debug_assert!(self.hand(class).is_empty());
        self.current[class.index()].set(page);
    }

    /// The page-blocks in hand.
    #[inline]
    pub(super) fn hand(&self, class: Class) -> &Chain {
        &self.hands[class.index()]
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

    /// The batch for an instance; it may hold page-blocks of another one.
    #[inline]
    pub(super) fn batch(&self, to: u16) -> &Batch {
        &self.outbox[usize::from(to) % SLOTS]
    }

    /// All batches.
    pub(super) fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.outbox.iter()
    }
}
