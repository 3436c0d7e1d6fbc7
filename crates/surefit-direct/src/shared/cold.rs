//! Classes that the program does not use any more.
//!
//! While an instance opens pages of [`ERA`] units, the classes are noted of which it allocates or
//! frees something. The others are *cold* in the era that follows, until one of their page-blocks
//! is allocated: their pages may become mixed ones. Where no page can be opened, because of a limit
//! for example, all classes are cold but the one that is wanted.
#![deny(unsafe_code)]

use core::cell::Cell;

use super::sizes::{CLASSES, Class, SLOTS};

/// Units that are opened in an era: 256 KiB. In tests few, so that they see many eras.
pub(super) const ERA: u32 = if cfg!(test) { 8 } else { 32 };

/// Which classes are cold. All zero bytes say that none is.
#[derive(Debug)]
pub(super) struct Cold {
    /// Classes, as bits, whose free list was refilled in this era.
    warm: Cell<u64>,
    cold: Cell<u64>,
    /// Units opened in this era.
    opened: Cell<u32>,
    /// How many of the longest classes found no room in pages of cold classes in this era.
    too_long: Cell<u8>,
    /// What the counts of the free lists were when the era began, in short.
    marks: [Cell<u8>; CLASSES],
}

const _: () = assert!(CLASSES == 64);

/// Counts in short: another number after an allocation, a free or both. If many of them make it the
/// same again, a class in use is taken for a cold one: that costs time.
#[expect(clippy::cast_possible_truncation, reason = "in short")]
fn mark_of(counts: &Cell<u32>) -> u8 {
    (counts.get() as u8).wrapping_add(((counts.get() >> 16) as u8).wrapping_mul(3))
}

impl Cold {
    /// Says that a class is used.
    #[inline]
    pub(super) fn warm(&self, class: Class) {
        let bit = 1 << class.index();
        self.warm.set(self.warm.get() | bit);
        self.cold.set(self.cold.get() & !bit);
    }

    /// Counts the units of a page that was opened. O(1), and O(classes) once an era.
    pub(super) fn count_opened(&self, units: u32, counts: &[Cell<u32>; SLOTS]) {
        self.opened.set(self.opened.get() + units);
        if self.opened.get() >= ERA {
            self.turn(counts);
        }
    }

    #[cold]
    fn turn(&self, counts: &[Cell<u32>; SLOTS]) {
        let mut cold = 0;
        for class in Class::all() {
            let now = mark_of(&counts[class.slot().index()]);
            let same = self.marks[class.index()].replace(now) == now;
            cold |= u64::from(same) << class.index();
        }
        self.cold.set(cold & !self.warm.replace(0));
        self.opened.set(0);
        self.too_long.set(0);
    }

    /// Begins an era in which all classes but one are cold: no page can be opened. O(classes).
    pub(super) fn chill(&self, wanted: Class, counts: &[Cell<u32>; SLOTS]) {
        self.turn(counts);
        self.cold.set(u64::MAX);
        self.warm(wanted);
    }

    /// The shortest class from a number on that is cold and still has the counts that it had when
    /// the era began, and of whose pages the class `wanted` may be served.
    pub(super) fn next(
        &self,
        from: usize,
        wanted: Class,
        counts: &[Cell<u32>; SLOTS],
    ) -> Option<Class> {
        if wanted.index() + usize::from(self.too_long.get()) >= CLASSES || from >= CLASSES {
            return None;
        }
        loop {
            let left = self.cold.get() & u64::MAX << from;
            #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
            let class = Class::at(left.trailing_zeros() as u8)?;
            if mark_of(&counts[class.slot().index()]) == self.marks[class.index()].get() {
                return Some(class);
            }
            self.pass(class);
        }
    }

    /// Says that pages of cold classes had no room for a class: in this era, neither it nor a
    /// longer one looks there again.
    pub(super) fn note_too_long(&self, wanted: Class) {
        #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
        let longest = (CLASSES - wanted.index()) as u8;
        self.too_long.set(longest.max(self.too_long.get()));
    }

    /// Takes no page of a class in this era any more.
    pub(super) fn pass(&self, class: Class) {
        self.cold.set(self.cold.get() & !(1 << class.index()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_cold_after_an_era_without_it_until_it_is_used() {
        let counts = [const { Cell::new(0) }; SLOTS];
        let cold = Cold {
            warm: Cell::new(0),
            cold: Cell::new(0),
            opened: Cell::new(0),
            too_long: Cell::new(0),
            marks: [const { Cell::new(0) }; CLASSES],
        };
        let class = |index| Class::at(index).unwrap();
        let first = || cold.next(0, class(0), &counts);
        let era = || (0..ERA).for_each(|_| cold.count_opened(1, &counts));
        assert_eq!(first(), None);
        cold.warm(class(0));
        era();
        assert_eq!(first(), Some(class(1)));
        cold.warm(class(1));
        cold.pass(class(2));
        // Something was freed.
        counts[class(3).slot().index()].set(7);
        assert_eq!(first(), Some(class(4)));
        era();
        assert_eq!(first(), Some(class(0)));
        cold.pass(class(0));
        // 1 was used in the last era, and the counts of 3 were others.
        assert_eq!(first(), Some(class(2)));
        cold.pass(class(2));
        assert_eq!(first(), Some(class(4)));
        (0..64).for_each(|index| cold.pass(class(index)));
        assert_eq!(first(), None);
        let next = |from, wanted| cold.next(from, class(wanted), &counts);
        era();
        cold.note_too_long(class(40));
        cold.note_too_long(class(63));
        assert_eq!(
            (next(0, 39), next(0, 40), next(0, 63)),
            (Some(class(0)), None, None)
        );
        assert_eq!(
            (next(7, 39), next(63, 39), next(64, 39)),
            (Some(class(7)), Some(class(63)), None)
        );
        era();
        assert_eq!(next(0, 63), Some(class(0)));
        cold.note_too_long(class(0));
        assert_eq!(next(0, 0), None);
        counts[class(5).slot().index()].set(7);
        cold.chill(class(0), &counts);
        assert_eq!((next(0, 0), next(5, 0)), (Some(class(1)), Some(class(5))));
    }
}
