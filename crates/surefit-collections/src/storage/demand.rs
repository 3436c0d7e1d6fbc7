//! What a vector needs of its heap, for the certificate.
#![deny(unsafe_code)]

use surefit_compact::certify::{BlockCount, Budget, ClassSet};
use surefit_compact::{Config, Width};

use super::elements::Vec;
use super::groups::Groups;
use crate::names::Checked;

impl<T> Vec<T, Checked> {
    /// The page-blocks of a vector of up to `elements` elements, as it grows and shrinks: what
    /// certifies a heap for it, with words of width `W`. What elements own is not counted. It is
    /// also enough for [`Branded`](crate::Branded) names.
    ///
    /// `None` if no heap of this configuration holds so many.
    ///
    /// # Examples
    /// ```
    /// use surefit_collections::Vec;
    /// use surefit_compact::certify::{Demand, heap_bytes};
    /// use surefit_compact::{Config, Wide};
    ///
    /// static CONFIG: Config = Config::DEFAULT;
    /// let budget = Vec::<u64>::for_demand::<Wide>(&CONFIG, 1000).expect("a few pages");
    /// let bytes = heap_bytes::<Wide>(&CONFIG, &Demand::Joint(budget));
    /// assert!(bytes < 256 << 10);
    /// ```
    ///
    /// # Complexity
    /// O(levels of spines); without pieces also O(bytes of a page beside its largest page-block).
    #[must_use]
    pub fn for_demand<W: Width>(config: &Config, elements: usize) -> Option<Budget> {
        let none = Budget {
            objects: 0,
            block_bytes: 0,
            classes: ClassSet::EMPTY,
        };
        if elements == 0 || size_of::<T>() == 0 {
            return Some(none);
        }
        let (division, align) = (config.division(), align_of::<T>());
        let groups = Groups::<T>::new(division.small_bytes().min(config.geometry().page_bytes()));
        if config.piece_bytes().is_none() && elements > groups.per() {
            return None;
        }
        // Without pieces twice as many may be more than a page holds: then as many as it does.
        let mut most = groups.most(elements, division.large_bytes());
        let (bytes, held) = loop {
            let bytes = groups.bytes(most).ok()?;
            match BlockCount::most::<W>(config, bytes, align) {
                Some(held) => break (bytes, held),
                None if most == elements => return None,
                None => most -= 1,
            }
        };
        let resized = BlockCount::in_resize::<W>(config, bytes, align)?;
        Some(Budget {
            objects: held.blocks.checked_add(resized.blocks)?,
            block_bytes: held.bytes.checked_add(resized.bytes)?,
            classes: ClassSet::of_objects(config, bytes, align),
        })
    }

    /// The bytes of an element in pieces, with its share of what is left at their ends; the
    /// elements of a piece, and its bytes.
    pub(crate) fn shares(config: &Config) -> Option<(usize, usize, usize)> {
        let piece = config.division().small_bytes();
        let per = Groups::<T>::new(piece).per();
        let share = piece.checked_div(per)?;
        Some((share + usize::from(piece % per != 0), per, piece))
    }
}
