//! What the collector knows of types, and their numbers.
//!
//! A word behind every object names its type by a number: an address would take two. Numbers are given to types as their
//! first objects are allocated; where a type's is, a small table of the last ones tells, with a comparison.
//!
//! A type may have several numbers, and types of which all is the same may share one: compilers copy and merge constants.
#![deny(unsafe_code)]

use core::cell::Cell;
use core::fmt;
use core::ptr::NonNull;

use super::place::WORD;
use super::trace::Tracer;

/// Of the object at an address, from an element on, reports what it names. It is unsafe to call for another type's object.
pub(super) type TraceObject = unsafe fn(NonNull<u8>, u32, &mut Tracer<'_>);

/// What the collector knows of a type.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub(super) trace: TraceObject,
    pub(super) end: End,
}

/// What is to be done when objects of a type die.
#[derive(Clone, Copy)]
pub(super) enum End {
    /// Nothing.
    Nothing,
    /// The value is dropped by this, which is unsafe to call for another type's object, or twice.
    Drop(unsafe fn(NonNull<u8>)),
    /// Nothing; but it is a weak cell, to be cleared when its target dies.
    Weak,
}

impl Kind {
    /// Whether objects are attended: what is to be done needs them one by one.
    #[inline]
    pub(super) const fn is_attended(&self) -> bool {
        !matches!(self.end, End::Nothing)
    }

    /// Bytes behind the value that are the arena's.
    #[inline]
    pub(super) const fn behind(&self) -> usize {
        if self.is_attended() { 2 * WORD } else { WORD }
    }
}

/// Entries of the table of the last types: a program's inner loops have few.
const RECENT: usize = 64;
/// Kinds lie at least so many bytes apart, as a power of two.
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
    /// No kinds yet, and room for so many.
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

    /// The number of a kind; `None` if no more can be given.
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

    /// How many there are.
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
