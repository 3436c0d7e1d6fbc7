//! Slices that are asked for ahead of their use.
#![deny(unsafe_code)]

use surefit_core::fetch;

/// How many slices are found before the one that is used.
const AHEAD: usize = 2;

/// The bytes that are asked for at once.
const LINE: usize = 64;

/// The most lines of a slice that are asked for. Behind them a processor sees that it is read on.
const LINES: usize = 32;

/// The elements of slices that lie anywhere, none of which is empty. While those of one are used,
/// the next two are found in the heap's table, and the memory of the later one is asked for: so a
/// loop over many short slices does not wait at the beginning of each.
pub(crate) struct Ahead<'a, T, I> {
    slice: core::slice::Iter<'a, T>,
    next: [&'a [T]; AHEAD],
    slices: I,
}

impl<'a, T, I: Iterator<Item = &'a [T]>> Ahead<'a, T, I> {
    #[inline]
    pub(crate) fn new(slices: I) -> Self {
        let mut ahead = Self {
            slice: [].iter(),
            next: [&[]; AHEAD],
            slices,
        };
        (0..AHEAD).for_each(|_| ahead.advance());
        ahead
    }

    /// Goes on to the next slice.
    fn advance(&mut self) {
        let found = self.slices.next().unwrap_or_default();
        let first = found.as_ptr().cast::<u8>();
        let bytes = size_of_val(found).min(LINES * LINE);
        (0..bytes)
            .step_by(LINE)
            .for_each(|at| fetch(first.wrapping_add(at)));
        let [next, later] = self.next;
        self.slice = next.iter();
        self.next = [later, found];
    }
}

impl<'a, T, I: Iterator<Item = &'a [T]>> Iterator for Ahead<'a, T, I> {
    type Item = &'a T;

    #[inline]
    fn next(&mut self) -> Option<&'a T> {
        loop {
            if let Some(element) = self.slice.next() {
                return Some(element);
            }
            if self.next.iter().all(|slice| slice.is_empty()) {
                return None;
            }
            self.advance();
        }
    }

    #[inline]
    fn fold<B, F: FnMut(B, &'a T) -> B>(mut self, first: B, mut f: F) -> B {
        let mut folded = first;
        loop {
            folded = core::mem::take(&mut self.slice).fold(folded, &mut f);
            if self.next.iter().all(|slice| slice.is_empty()) {
                return folded;
            }
            self.advance();
        }
    }
}
