//! What a deque needs of its heap, for the certificate.
#![deny(unsafe_code)]

use surefit_compact::certify::{BlockCount, Budget, ClassSet};
use surefit_compact::{Config, Width};

use super::ends::LEAST as FEWEST;
use super::queue::VecDeque;
use super::ring::most_slots;
use crate::demand::{NONE, both, times};
use crate::names::Checked;
use crate::storage::{FullRun, Vec};

impl<T> VecDeque<T, Checked> {
    /// The page-blocks of a deque of up to `elements` elements, as it grows and shrinks at both
    /// ends: what certifies a heap for it, with words of width `W`. What elements own is not
    /// counted. It is also enough for [`Branded`](crate::Branded) names.
    ///
    /// `None` if no heap of this configuration holds so many.
    ///
    /// # Examples
    /// ```
    /// use surefit_collections::VecDeque;
    /// use surefit_compact::certify::{Demand, heap_bytes};
    /// use surefit_compact::{Config, Wide};
    ///
    /// static CONFIG: Config = Config::DEFAULT;
    /// let budget = VecDeque::<u64>::for_demand::<Wide>(&CONFIG, 1000).expect("a few pages");
    /// let bytes = heap_bytes::<Wide>(&CONFIG, &Demand::Joint(budget));
    /// assert!(bytes < 256 << 10);
    /// ```
    ///
    /// # Complexity
    /// O(levels of spines).
    #[must_use]
    pub fn for_demand<W: Width>(config: &Config, elements: usize) -> Option<Budget> {
        let Some(before) = elements.checked_sub(1) else {
            return Some(NONE);
        };
        let per = Self::per(config.piece_bytes().unwrap_or(usize::MAX));
        if before.saturating_mul(4) < per.saturating_mul(3) {
            let slots = elements.saturating_mul(4).max(FEWEST).min(per);
            return Self::of_runs::<W>(config, 1, slots);
        }
        // One element in the first run, one in the last one, and full runs between them.
        let runs = before.saturating_sub(1) / per + 2;
        let of_runs = Self::of_runs::<W>(config, runs, per)?;
        // The first and the last run are beside the ring.
        let slots = most_slots(runs - 2)?;
        let of_ring = Vec::<FullRun<T, Checked>>::for_demand::<W>(config, slots)?;
        // `shrink_to_fit` makes a ring beside the one that is too long. Both numbers are powers of
        // two, or the longer one is on its way to the next: so the shorter one has half at most.
        let of_shorter = Vec::<FullRun<T, Checked>>::for_demand::<W>(config, slots / 2)?;
        both(config, of_runs, both(config, of_ring, of_shorter)?)
    }

    /// What so many runs take, of which one may be growing.
    fn of_runs<W: Width>(config: &Config, runs: usize, slots: usize) -> Option<Budget> {
        if size_of::<T>() == 0 {
            return Some(NONE);
        }
        let (bytes, align) = (slots.checked_mul(size_of::<T>())?, align_of::<T>());
        if config.piece_bytes().is_some_and(|piece| bytes > piece) {
            return None;
        }
        let each = BlockCount::most::<W>(config, bytes, align)?;
        let growing = BlockCount::in_resize::<W>(config, bytes, align)?;
        let (objects, block_bytes) = times(runs, each, growing)?;
        Some(Budget {
            objects,
            block_bytes,
            classes: ClassSet::of_objects(config, bytes, align),
        })
    }
}
