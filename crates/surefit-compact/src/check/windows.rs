//! Verifies that windows are where the numbers of slots say, and nowhere else.
#![deny(unsafe_code)]

use surefit_core::{Corruption, ensure};

use crate::engine::Engine;
use crate::width::Width;
use crate::windows::Level;

impl<W: Width> Engine<'_, W> {
    /// Verifies W1 and W2. O(pages).
    pub(super) fn check_windows(&self) -> Result<(), Corruption> {
        let frontier = self.frontier.get();
        ensure(
            self.windows.pages() <= frontier.into(),
            "W2",
            "a slot is beyond the opened pages",
            frontier as usize,
        )?;
        let mut parts = 0;
        for level in Level::all().rev() {
            for number in 0..self.windows.count(level) {
                parts += self.check_window(level, self.windows.slot(level, number))?;
            }
        }
        let opened = (0..frontier).filter_map(|number| self.pages.page(number));
        let found = opened.filter(|&page| self.is_part(page)).count();
        let counted = parts == self.windows.parts() && parts as usize == found;
        ensure(counted, "W1", "parts of windows are miscounted", found)
    }

    /// Verifies the window of a slot; returns the number of its parts.
    fn check_window(&self, level: Level, first: u32) -> Result<u32, Corruption> {
        let at = first as usize;
        let (head, entry, pages) = self.window_at(first);
        let is_head = self.pages.is_used(head)
            && head.page.record.class.get() == self.pages.geometry.largest()
            && self.vet(entry) == Some(head);
        ensure(is_head, "W1", "a slot does not begin with a head", at)?;
        let fits = pages >= 2 && Level::of(pages) == Some(level);
        ensure(fits, "W1", "an object has a slot of the wrong size", at)?;
        let mut parts = (first + 1..first + pages).map(|part| self.numbered_page(part));
        let whole = parts.all(|part| {
            let is_largest = part.record.class.get() == self.pages.geometry.largest();
            self.is_part(part) && is_largest && part.used() == 1
        });
        ensure(whole, "W1", "a page of an object is not a part", at)?;
        Ok(pages - 1)
    }
}
