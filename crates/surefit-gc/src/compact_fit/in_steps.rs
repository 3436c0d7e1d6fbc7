//! Objects that are freed one by one, those in pieces part by part.
//!
//! ```text
//! free(object):  one page-block: free it
//!                in pieces: each call frees one part: the pieces, then those of the spine and so on;
//!                           the last call frees the stub
//! ```
//! The stub and the spine stay until all pieces are freed, because the spine has their entries.
//! While parts are left, the object's number is nobody's, and nothing that moves changes entries.

use core::iter;

use surefit_compact::Config;
use surefit_compact::certify::moves_max;
use surefit_core::{Corruption, ensure};

use super::CompactFit;
use super::cost::cost;
use super::stub::{Dying, WORD, entry, object};
use crate::object::Object;
use crate::schedule::Amount;
use crate::stepwise::{Freed, NOT_DYING, OneByOne, Stepwise};

impl CompactFit<'_> {
    /// The entries of the parts of an object that are not freed yet.
    pub(super) fn parts_left(&self, dying: Dying) -> impl Iterator<Item = u32> {
        let (spine, bytes) = self.spine_of(dying.stub);
        let mut nth = dying.freed;
        iter::from_fn(move || {
            // SAFETY: S1: `allocate_entry` made all objects of this heap, and the parts from
            // `freed` on are live; S2: no reference into one exists.
            let part = unsafe { self.heap.entry_part(spine, bytes, nth) };
            nth += 1;
            part
        })
    }

    /// Frees the next part of an object in pieces, or its stub if no part is left.
    fn free_part(&mut self, dying: Dying) -> Freed {
        let part = self.parts_left(dying).next();
        let entry = part.unwrap_or(dying.stub);
        if part.is_some() {
            self.pieces.remove(entry);
        }
        self.dying = part.map(|_| Dying {
            freed: dying.freed + 1,
            ..dying
        });
        self.free_block(entry, part.is_none())
    }

    /// Frees a page-block that is one of the object's that is being freed.
    fn free_block(&mut self, entry: u32, done: bool) -> Freed {
        // SAFETY: S1: the entry is that of a live object of one page-block, of a part that is left,
        // or of a stub without parts (C1, C2). S2: nobody uses the object again; its parts are
        // asked for in their order.
        let moved = unsafe { self.heap.free_entry(entry) };
        Freed {
            work: 1 + moved.div_ceil(WORD as u64),
            done,
        }
    }
}

// SAFETY: I4: `objects` leaves out the object that is being freed; its number is that of its stub,
// whose entry is freed last. Usage that are freed lose their bits, so their entries may be objects
// again.
unsafe impl OneByOne for CompactFit<'_> {
    unsafe fn free(&mut self, object: Object) -> Freed {
        if let Some(dying) = self.dying {
            debug_assert_eq!(dying.stub, entry(object), "S2");
            return self.free_part(dying);
        }
        // SAFETY: S1: nothing is left of another object, so this one lives.
        let (_, class) = unsafe { self.heap.entry_block(entry(object)) };
        match class == self.stubs {
            true => self.free_part(Dying {
                stub: entry(object),
                freed: 0,
            }),
            false => self.free_block(entry(object), true),
        }
    }

    fn sweep_begins(&mut self) {
        self.count_collection();
    }
}

// SAFETY: I5: it merges nothing.
unsafe impl Stepwise for CompactFit<'_> {
    fn cost(&self, bytes: usize) -> Amount {
        cost(self.heap.config(), bytes).unwrap_or(Amount {
            objects: u64::MAX,
            bytes: u64::MAX,
        })
    }

    /// Its own page-block, however long: a request as long as this one might be in pieces.
    unsafe fn held(&self, object: Object, words: u32) -> Amount {
        // SAFETY: S1 is the caller's.
        let (_, class) = unsafe { self.heap.entry_block(entry(object)) };
        if class == self.stubs {
            return self.cost((words as usize).saturating_mul(WORD));
        }
        Amount {
            objects: 1,
            bytes: u64::from(self.heap.config().geometry().layout(class).block_bytes),
        }
    }

    fn most_work(&self) -> u64 {
        most_work(self.heap.config())
    }

    fn check_dying(&self, dying: Option<Object>) -> Result<(), Corruption> {
        let part = self.dying.map(|dying| object(dying.stub));
        let at = dying.or(part).map_or(0, Object::number) as usize;
        ensure(dying == part, "C1", NOT_DYING, at)
    }
}

/// The most work of one free: it moves page-blocks of the size-class that it frees, as many as the
/// bound requires.
pub(super) fn most_work(config: &Config) -> u64 {
    let geometry = config.geometry();
    let layouts = geometry.classes().map(|class| geometry.layout(class));
    let moved = layouts.map(|layout| {
        let moves = u64::from(moves_max(config.bound(), layout.blocks));
        moves * u64::from(layout.block_bytes).div_ceil(WORD as u64)
    });
    1 + moved.max().unwrap_or(0)
}
