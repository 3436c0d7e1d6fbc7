//! What the collector knows about types, and the numbers of types.
//!
//! A word behind every object holds the number of its type; an address would take two words. A type
//! gets its number when its first object is allocated. A small table of recent types finds the
//! number with one comparison.
//!
//! A type may have several numbers, and identical types may share one: compilers copy and merge
//! constants.
#![deny(unsafe_code)]

use core::cell::Cell;
use core::fmt;
use core::ptr::NonNull;

use super::place::WORD;
use super::trace::Tracer;

/// Reports the references of the object at an address, from an element on. Calling it for an object
/// of another type is unsafe.
pub(super) type TraceObject = unsafe fn(NonNull<u8>, u32, &mut Tracer<'_>);

/// What the collector knows about a type.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub(super) trace: TraceObject,
    pub(super) end: End,
}

/// What happens when objects of a type die.
#[derive(Clone, Copy)]
pub(super) enum End {
    /// Nothing.
    Nothing,
    /// This function drops the value. Calling it for an object of another type, or twice, is
    /// unsafe.
    Drop(unsafe fn(NonNull<u8>)),
    /// Nothing; but the object is a weak cell, which is cleared when its target dies.
    Weak,
}

impl Kind {
    /// Whether objects are finalizable: something is done for each of them.
    #[inline]
    pub(super) const fn is_finalizable(&self) -> bool {
        !matches!(self.end, End::Nothing)
    }

    /// Bytes behind the value that belong to the arena.
    #[inline]
    pub(super) const fn behind(&self) -> usize {
        if self.is_finalizable() {
            2 * WORD
        } else {
            WORD
        }
    }
}

/// Entries of the table of recent types: a program's inner loops use few.
const RECENT: usize = 64;
/// Kinds lie at least 2^`KIND_LOG2` bytes apart.
const KIND_LOG2: u32 = size_of::<Kind>().ilog2();

/// A kind's address and its number.
#[derive(Clone, Copy)]
struct Entry {
    address: usize,
    number: u32,
}

/// The kinds of an arena.
pub(super) struct Kinds<'m> {
    table: &'m [Cell<Option<&'static Kind>>],
    count: Cell<usize>,
    recent: [Cell<Entry>; RECENT],
}

impl<'m> Kinds<'m> {
    /// A table without kinds, and with room for as many as it has entries.
    pub(super) fn over(table: &'m mut [Option<&'static Kind>]) -> Self {
        Self {
            table: Cell::from_mut(table).as_slice_of_cells(),
            count: Cell::new(0),
            recent: [const {
                Cell::new(Entry {
                    address: 0,
                    number: 0,
                })
            }; RECENT],
        }
    }

    /// The number of a kind; `None` if there are no more numbers.
    #[inline]
    pub(super) fn number(&self, kind: &'static Kind) -> Option<u32> {
        let address = core::ptr::from_ref(kind).addr();
        let entry = self.recent[(address >> KIND_LOG2) % RECENT].get();
        if entry.address == address {
            return Some(entry.number);
        }
        self.search(kind, address)
    }

    #[cold]
    fn search(&self, kind: &'static Kind, address: usize) -> Option<u32> {
        let count = self.count.get();
        let is_this = |other: &'static Kind| core::ptr::eq(other, kind);
        let known = &self.table[..count];
        let found = known
            .iter()
            .position(|other| other.get().is_some_and(is_this));
        let place = found.unwrap_or(count);
        if found.is_none() {
            self.table.get(count)?.set(Some(kind));
            self.count.set(count + 1);
        }
        let number = place as u32;
        self.recent[(address >> KIND_LOG2) % RECENT].set(Entry { address, number });
        Some(number)
    }

    /// The kind with a number.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub(super) fn get(&self, number: u32) -> &'static Kind {
        self.table[number as usize].get().expect("a kind's number")
    }

    /// The number of kinds.
    pub(super) fn count(&self) -> usize {
        self.count.get()
    }
}

impl fmt::Debug for Kinds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kinds")
            .field("count", &self.count.get())
            .finish_non_exhaustive()
    }
}
