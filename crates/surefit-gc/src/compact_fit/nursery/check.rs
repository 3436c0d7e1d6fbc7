//! Verifies the numbered invariants of a nursery.
#![deny(unsafe_code)]

use surefit_core::{Corruption, ensure};

use super::Nursery;
use crate::compact_fit::stub::WORD;

impl Nursery<'_> {
    /// Verifies N1, N2, E1 and E2.
    pub(super) fn check_nursery(&self) -> Result<(), Corruption> {
        let (mut headers, mut outside, mut end) = (0, 0, 0);
        let top = self.eden.top();
        let fits = top <= self.eden.units();
        ensure(fits, "E1", "objects go beyond the nursery", top as usize)?;
        for place in self.eden.places() {
            let (header, at) = (self.eden.header(place), place as usize);
            let is_whole = header.words > 0 && header.words % 2 == 0;
            ensure(is_whole, "E2", "an object has an odd number of words", at)?;
            end = u64::from(place) + u64::from(header.units());
            let fits = end <= u64::from(self.eden.top());
            ensure(fits, "E1", "an object goes beyond the last one", at)?;
            headers += 1;
            if let Some(entry) = header.entry {
                let is_its = self.old.heap.outside_place_of(entry) == Some(place);
                ensure(is_its, "N1", "an entry does not lead to its object", at)?;
                outside += 1;
            }
            let bytes = (header.words as usize).saturating_mul(WORD);
            let is_block = self.words_of(bytes) == Some(header.words);
            let is_whole = is_block && !self.old.heap.is_split(bytes);
            ensure(is_whole, "N2", "no page-block is as long as an object", at)?;
        }
        let top = u64::from(self.eden.top());
        ensure(
            end == top,
            "E1",
            "objects do not tile the nursery",
            end as usize,
        )?;
        let is_counted = headers == self.eden.objects();
        ensure(
            is_counted,
            "E1",
            "objects of the nursery were miscounted",
            headers as usize,
        )?;
        let all = self.old.heap.outside_entries().count();
        ensure(all == outside, "N1", "an outside entry has no object", all)
    }
}
