//! How a unit of a mixed page is divided.
#![deny(unsafe_code)]

use core::sync::atomic::{AtomicUsize, Ordering};

use super::sizes::{Class, GRANULE, UNIT_BYTES};

/// Bytes of a line.
pub(super) const LINE_BYTES: usize = 128;
/// Lines of a unit.
pub(super) const LINES: usize = UNIT_BYTES / LINE_BYTES;
/// Granules of a unit.
pub(super) const GRANULES: usize = UNIT_BYTES / GRANULE;
/// Granules of a line.
pub(super) const LINE_GRANULES: usize = LINE_BYTES / GRANULE;

/// The lines of a unit as bits.
pub(super) type Lines = u64;

const _: () = assert!(LINES == Lines::BITS as usize && LINE_GRANULES == 8);

const BITS: usize = usize::BITS as usize;
const BYTES: usize = size_of::<usize>();

/// A one in each byte.
const ONES: usize = usize::MAX / 255;

/// The lines of a unit, and the granules where page-blocks begin that are used. One thread writes
/// it; others read what it says of their live objects.
#[derive(Debug)]
#[repr(C, align(128))]
pub(super) struct Division {
    /// Of each line, as a byte, the number of the class whose page-blocks begin there, plus 1.
    classes: [AtomicUsize; LINES / BYTES],
    /// Of each granule one bit; so of each line one byte.
    begins: [AtomicUsize; GRANULES / BITS],
}

const _: () = assert!(size_of::<Division>() == 128);

impl Division {
    /// The class of the page-blocks that begin in a line.
    #[inline]
    pub(super) fn class(&self, line: usize) -> Option<Class> {
        let word = self.classes[line % LINES / BYTES].load(Ordering::Relaxed);
        #[expect(clippy::cast_possible_truncation, reason = "a byte of it")]
        let byte = (word >> (line % BYTES * 8)) as u8;
        Class::at(byte.wrapping_sub(1))
    }

    /// Says which page-blocks begin in a line.
    #[inline]
    pub(super) fn set_class(&self, line: usize, class: Class) {
        let word = &self.classes[line % LINES / BYTES];
        let shift = line % BYTES * 8;
        let rest = word.load(Ordering::Relaxed) & !(0xFF << shift);
        word.store(
            rest | (usize::from(class.byte()) + 1) << shift,
            Ordering::Relaxed,
        );
    }

    /// Says that no class's page-blocks begin in a line, for tests of the checker.
    #[cfg(test)]
    pub(super) fn clear_class(&self, line: usize) {
        let word = &self.classes[line % LINES / BYTES];
        let rest = word.load(Ordering::Relaxed) & !(0xFF << (line % BYTES * 8));
        word.store(rest, Ordering::Relaxed);
    }

    /// Says that page-blocks of one class begin in all lines, and which granules those are.
    pub(super) fn set_all(&self, class: Class, begins: &Begins, unit: usize) {
        let all = ONES * (usize::from(class.byte()) + 1);
        self.classes
            .iter()
            .for_each(|word| word.store(all, Ordering::Relaxed));
        for (word, begins) in self.begins.iter().zip(begins.of(unit)) {
            word.store(*begins, Ordering::Relaxed);
        }
    }

    /// Of the granules of a line those where used page-blocks begin, as bits.
    #[inline]
    pub(super) fn line(&self, line: usize) -> u8 {
        let word = self.begins[line % LINES / BYTES].load(Ordering::Relaxed);
        #[expect(clippy::cast_possible_truncation, reason = "a byte of it")]
        let byte = (word >> (line % BYTES * 8)) as u8;
        byte
    }

    /// The lines in which page-blocks begin.
    #[inline]
    pub(super) fn begun(&self) -> Lines {
        let mut lines = 0;
        for (place, word) in self.begins.iter().enumerate() {
            let word = word.load(Ordering::Relaxed);
            let low = ONES * 0x7F;
            // The top bit of each byte that is not 0; then those bits side by side.
            let tops = (((word & low) + low) | word) & !low;
            let both = (tops >> 7) as u64;
            let bits = both.wrapping_mul(0x0102_0408_1020_4080) >> (64 - 8);
            lines |= bits << (place * BYTES);
        }
        lines
    }

    /// Whether a used page-block begins at a granule.
    #[inline]
    pub(super) fn is_used(&self, granule: usize) -> bool {
        let word = &self.begins[granule % GRANULES / BITS];
        word.load(Ordering::Relaxed) >> (granule % BITS) & 1 != 0
    }

    /// Says whether a used page-block begins at a granule.
    #[inline]
    pub(super) fn set_used(&self, granule: usize, used: bool) {
        let word = &self.begins[granule % GRANULES / BITS];
        let bit = 1 << (granule % BITS);
        let rest = word.load(Ordering::Relaxed) & !bit;
        word.store(if used { rest | bit } else { rest }, Ordering::Relaxed);
    }
}

/// Where the used page-blocks of a page begin, as a bit of each granule.
pub(super) struct Begins([usize; MOST_WORDS]);

const WORDS: usize = GRANULES / BITS;
const MOST_WORDS: usize = super::sizes::MOST_UNITS * WORDS;

impl Begins {
    /// The first `count` page-blocks of so many granules in a page.
    pub(super) fn first(count: usize, granules: usize) -> Self {
        let mut begins = Self([0; MOST_WORDS]);
        for at in (0..count * granules).step_by(granules.max(1)) {
            begins.0[at / BITS % MOST_WORDS] |= 1 << (at % BITS);
        }
        begins
    }

    /// No page-block begins at a granule.
    #[inline]
    pub(super) fn remove(&mut self, at: usize) {
        self.0[at / BITS % MOST_WORDS] &= !(1 << (at % BITS));
    }

    fn of(&self, unit: usize) -> &[usize] {
        &self.0[unit * WORDS..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begun_lines_are_those_with_a_bit() {
        let division = Division {
            classes: core::array::from_fn(|_| AtomicUsize::new(0)),
            begins: core::array::from_fn(|_| AtomicUsize::new(0)),
        };
        let mut random = surefit_testkit::Random(7);
        for _ in 0..2000 {
            let granule = random.below(GRANULES);
            division.set_used(granule, !division.is_used(granule));
            let lines = (0..LINES).filter(|line| division.line(*line) != 0);
            assert_eq!(division.begun(), lines.map(|line| 1 << line).sum::<Lines>());
        }
    }
}
