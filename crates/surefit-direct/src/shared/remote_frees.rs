//! Remote frees: page-blocks that other threads freed, on their way to the instance that owns their
//! pages.
//!
//! ```text
//! a thread frees a page-block of another instance:
//!     into the batch for that instance, in the thread's own outbox
//! the batch is full, or its place in the outbox is wanted for another instance, or the thread
//! trims or leaves:
//!     one compare-and-exchange puts the batch into the instance's inbox
//! the owner needs page-blocks:
//!     one exchange takes all that is in the inbox; they are freed some at a time, into the free
//!     lists of their classes while these have room (not those of mixed pages)
//! ```
//! Each page-block's line of memory is in the cache of the processor that freed it. So a batch
//! leads from each not only to the next one, but also to one further on, which is fetched
//! meanwhile.
//!
//! Nobody waits. Only the first word of an inbox is shared. What is pushed is never popped one by
//! one, so it does no harm if a word has an earlier value again (no ABA problem).

use core::cell::Cell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use super::chain::{Block, Chain, Free};

/// The most page-blocks of a batch: b.
pub const BATCH: u16 = 32;

/// The most bytes of page-blocks that wait in a batch, but for the last one.
const BATCH_BYTES: u32 = 16 << 10;

/// The least that a page-block counts for in a batch: [`BATCH`] of them fill it.
const LEAST_BYTES: u32 = BATCH_BYTES / BATCH as u32;

/// Batches of a thread at once, by the instance's number.
pub(super) const PLACES: usize = 16;

/// Page-blocks of one instance that another thread freed and did not deliver yet. An all-zero batch
/// is empty.
#[derive(Debug)]
pub(super) struct Batch {
    blocks: Chain,
    last: Cell<*mut Block>,
    /// Bytes until it is full; 0 if it is empty.
    room: Cell<u32>,
    to: Cell<u16>,
}

impl Batch {
    /// The number of the instance that its page-blocks belong to; any, if there are none.
    #[inline]
    pub(super) fn to(&self) -> u16 {
        self.to.get()
    }

    /// Whether it holds none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The first page-block; null if there is none.
    pub(super) fn first(&self) -> *mut Block {
        self.blocks.first()
    }

    /// The last page-block, if there is one.
    pub(super) fn last(&self) -> *mut Block {
        self.last.get()
    }

    /// Whether it is empty, so that no page-block is simply added to it.
    pub(super) fn is_closed(&self) -> bool {
        self.room.get() == 0 && self.last.get().is_null()
    }

    /// Changes what it says of itself, for tests of the checker.
    #[cfg(test)]
    pub(super) fn damage(&self, what: usize) {
        match what {
            0 => self.to.set(self.to.get() ^ 1),
            1 => self.to.set(self.to.get() + 1024),
            2 => self.room.set(self.room.get() + 1),
            3 => self.room.set(0),
            4 => self.last.set(null_mut()),
            _ => self.last.set(self.blocks.first()),
        }
    }

    /// What a page-block of `bytes` bytes counts for.
    pub(super) fn counts_for(bytes: u32) -> u32 {
        bytes.max(LEAST_BYTES)
    }

    /// Whether its room is what page-blocks that count for `bytes` bytes leave.
    pub(super) fn is_room_after(&self, bytes: u32) -> bool {
        BATCH_BYTES.checked_sub(bytes) == Some(self.room.get()) && self.room.get() > 0
    }

    /// Adds a page-block of `bytes` bytes to those of the same instance, if there are some and it
    /// does not become full. Else returns it.
    #[inline]
    pub(super) fn add(&self, to: u16, block: Free, bytes: u32) -> Result<(), Free> {
        let (room, takes) = (self.room.get(), bytes.max(LEAST_BYTES));
        if self.to.get() != to || room <= takes {
            return Err(block);
        }
        self.room.set(room - takes);
        self.blocks.push(block);
        Ok(())
    }

    /// Adds a page-block of `bytes` bytes to those of the same instance, or to none. Returns
    /// whether the batch is full.
    pub(super) fn add_any(&self, to: u16, block: Free, bytes: u32) -> bool {
        debug_assert!(self.is_empty() || self.to.get() == to);
        if self.is_empty() {
            self.to.set(to);
            self.last.set(block.address().cast());
            self.room.set(BATCH_BYTES);
        }
        self.blocks.push(block);
        let room = self.room.get().saturating_sub(bytes.max(LEAST_BYTES));
        self.room.set(room);
        room == 0
    }

    /// Puts all of it into the inbox of its instance.
    pub(super) fn deliver(&self, inbox: &Inbox) {
        let blocks = self.blocks.take();
        let last = self.last.replace(null_mut());
        self.room.set(0);
        if !blocks.is_empty() {
            // More there are only if one was freed twice.
            blocks.look_ahead(BATCH);
            inbox.put(&blocks, last);
        }
    }
}

/// Where the batches for an instance arrive. An all-zero inbox is empty.
#[derive(Debug)]
pub(super) struct Inbox(AtomicPtr<Block>);

impl Inbox {
    /// Whether nothing has arrived.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        surefit_core::point();
        self.0.load(Ordering::SeqCst).is_null()
    }

    /// The first page-block of what arrived, while nobody sends.
    pub(super) fn first(&self) -> *mut Block {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether what arrived [looks ahead](Chain::looks_ahead) right, while nobody sends.
    pub(super) fn looks_ahead(&self, most: usize) -> bool {
        // SAFETY: C1; it is only read.
        unsafe { Chain::from_raw(self.first()) }.looks_ahead(most)
    }

    fn put(&self, blocks: &Chain, last: *mut Block) {
        let first = blocks.take().first();
        let mut before = self.0.load(Ordering::Relaxed);
        loop {
            // SAFETY: C1: the last page-block of the batch, which nobody else has.
            unsafe { (*last).next.set(before) };
            surefit_core::point();
            let put =
                self.0
                    .compare_exchange_weak(before, first, Ordering::SeqCst, Ordering::Relaxed);
            match put {
                Ok(_) => return,
                Err(other) => before = other,
            }
        }
    }

    /// Takes everything that arrived.
    pub(super) fn take(&self) -> Chain {
        surefit_core::point();
        let first = self.0.swap(null_mut(), Ordering::SeqCst);
        // SAFETY: C1: batches were put there, each linked to the one before; the exchange took them
        // from everybody else.
        unsafe { Chain::from_raw(first) }
    }
}
