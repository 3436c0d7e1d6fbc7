//! The memory of the nursery: objects behind their headers, one after another.
//!
//! ```text
//! 0                                             top             end
//! | header | words … | header | words … | …      | free          |
//! header: the object's words, and its entry; a dead object has no entry
//! ```
//! Everything is counted in units of eight bytes. An object's place is the unit of its header.
//!
//! # Invariants
//! - E1: Headers and objects tile what is below `top`.
//! - E2: An object has at least two words, and an even number of them.

use core::cell::Cell;
use core::ptr::NonNull;

/// Bytes of a unit, and of a header.
pub(super) const UNIT: usize = 8;

/// The entry of an object that is dead.
const NONE: u32 = u32::MAX;

/// An object's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Words of the object.
    pub(super) words: u32,
    /// Its entry, if it is not dead.
    pub(super) entry: Option<u32>,
}

impl Header {
    const fn word(self) -> u64 {
        let entry = match self.entry {
            Some(entry) => entry,
            None => NONE,
        };
        (self.words as u64) << 32 | entry as u64
    }

    const fn of(word: u64) -> Self {
        let entry = word as u32;
        Self {
            words: (word >> 32) as u32,
            entry: match entry {
                NONE => None,
                _ => Some(entry),
            },
        }
    }

    /// Units of the header and the object.
    pub(super) const fn units(self) -> u32 {
        1 + self.words / 2
    }
}

/// The memory.
#[derive(Debug)]
pub(super) struct Eden<'m> {
    cells: &'m [Cell<u64>],
    top: u32,
    /// Headers below `top`.
    objects: u32,
}

// SAFETY: the cells were borrowed exclusively when the eden was made, and it gave no reference to
// them away: whoever has it has them alone.
unsafe impl Send for Eden<'_> {}

impl<'m> Eden<'m> {
    /// An empty one in these units, no more than 32 bits count.
    pub(super) fn over(units: &'m mut [u64]) -> Self {
        Self {
            cells: Cell::from_mut(units).as_slice_of_cells(),
            top: 0,
            objects: 0,
        }
    }

    /// Units in all.
    pub(super) const fn units(&self) -> u32 {
        self.cells.len() as u32
    }

    /// Where the next object will be.
    #[inline]
    pub(super) const fn top(&self) -> u32 {
        self.top
    }

    /// Headers.
    pub(super) const fn objects(&self) -> u32 {
        self.objects
    }

    /// Whether an object of so many words fits behind the others.
    #[inline]
    pub(super) const fn has_room(&self, words: u32) -> bool {
        self.units() - self.top > words / 2
    }

    /// Puts an object of zeros behind the others; there must be room.
    #[inline]
    pub(super) fn push(&mut self, entry: u32, words: u32) {
        let header = Header {
            words,
            entry: Some(entry),
        };
        let (from, units) = (self.top as usize, header.units());
        let cells = &self.cells[from..][..units as usize];
        cells[0].set(header.word());
        cells[1..].iter().for_each(|cell| cell.set(0));
        self.top += units;
        self.objects += 1;
    }

    /// The header of the object at a place.
    #[inline]
    pub(super) fn header(&self, place: u32) -> Header {
        Header::of(self.cells[place as usize].get())
    }

    /// The first word of the object at a place, from which its words follow.
    #[inline]
    pub(super) fn first(&self, place: u32) -> NonNull<u32> {
        let behind = &self.cells[place as usize + 1..];
        NonNull::from(behind).cast()
    }

    /// The object at a place is dead.
    pub(super) fn mark_dead(&mut self, place: u32) {
        let header = Header {
            entry: None,
            ..self.header(place)
        };
        self.cells[place as usize].set(header.word());
    }

    /// Begins to empty it: what is taken out is gone, unless it is kept.
    pub(super) const fn begin(&mut self) -> u32 {
        let end = self.top;
        (self.top, self.objects) = (0, 0);
        end
    }

    /// Keeps the object at a place, behind the others that are kept. Returns its new place.
    pub(super) fn keep(&mut self, place: u32) -> u32 {
        let (to, units) = (self.top, self.header(place).units());
        debug_assert!(to <= place, "what is kept slides down");
        let (from, cells) = (place as usize, self.cells);
        for nth in 0..units as usize {
            cells[to as usize + nth].set(cells[from + nth].get());
        }
        self.top += units;
        self.objects += 1;
        to
    }

    /// All words, for tests of the checker.
    #[cfg(test)]
    pub(super) const fn parts(&mut self) -> (&'m [Cell<u64>], &mut u32, &mut u32) {
        (self.cells, &mut self.top, &mut self.objects)
    }

    /// Sets a wrong bit of a header, for tests of the checker.
    #[cfg(test)]
    pub(super) fn flip(&mut self, place: u32, bit: u32) {
        let cell = &self.cells[place as usize];
        cell.set(cell.get() ^ 1 << bit);
    }

    /// The places of all objects.
    pub(super) fn places(&self) -> impl Iterator<Item = u32> {
        let mut next = 0;
        core::iter::from_fn(move || {
            let place = next;
            (place < self.top).then(|| {
                next = place.saturating_add(self.header(place).units());
                place
            })
        })
    }
}
