//! The needs of a demand on a shared heap, before they are laid out in a region.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use surefit_classes::{Bound, Geometry};

use super::sharing::Sharing;
use crate::certify::budget::{self, Spread, Worst};
use crate::certify::demand::{Budget, Demand, most_of};
use crate::certify::limits::{ENTRIES_MAX, least};
use crate::certify::uncertifiable::Uncertifiable;
use crate::shared::{Granularity, SharedConfig};

/// Pages and entries, by what they are for.
pub(super) struct SharedNeeds {
    /// Data pages without pins and without other calls.
    pub(super) alone_pages: u64,
    pub(super) pin_pages: u64,
    pub(super) call_pages: u64,
    /// The part of a page, in units of 2⁻⁴⁰ pages, that rounding took from a bound on the pages
    /// that more holes raise.
    pub(super) fraction: u64,
    pub(super) buffered_pages: u64,
    pub(super) entries: u64,
    pub(super) spare_entries: u64,
}

impl SharedNeeds {
    /// The same, and further pages.
    pub(super) const fn with_pages(&self, pages: u64) -> Self {
        Self {
            alone_pages: self.alone_pages.saturating_add(pages),
            ..*self
        }
    }

    pub(super) const fn used_pages(&self) -> u64 {
        // At most a reading's pages, of which these are parts.
        let unpinned = self.alone_pages.saturating_add(self.pin_pages);
        unpinned.saturating_add(self.call_pages)
    }
}

/// Data pages and entries for one way to read a demand.
struct Reading {
    /// Pages without pins; with them; and the limit in all cases.
    unpinned: u64,
    pinned: u64,
    /// The part of a page that rounding took from `pinned`.
    fraction: u64,
    high_water: u64,
    entries: u64,
}

impl Reading {
    /// The most data pages with `calls` other calls in progress.
    const fn pages(&self, calls: u64) -> u64 {
        least(self.pinned.saturating_add(calls), self.high_water)
    }

    /// The needs of a demand that both `self` and `other` bound.
    const fn and(self, other: Self, calls: u64) -> Self {
        let entries = least(self.entries, other.entries);
        let lesser = if self.pages(calls) < other.pages(calls) {
            self
        } else {
            other
        };
        Self { entries, ..lesser }
    }
}

/// Free pages in the buffers of other threads.
pub(super) const fn buffered_pages<G: Granularity>(
    config: &SharedConfig<G>,
    sharing: &Sharing,
) -> u64 {
    registered(config, sharing)
        .saturating_sub(1)
        .saturating_mul(config.page_buffer() as u64)
}

/// Free entries at hand, in a heap in which the demand uses so many groups.
pub(super) const fn spare_entries<G: Granularity>(
    config: &SharedConfig<G>,
    sharing: &Sharing,
    groups: u64,
) -> u64 {
    let by_threads = if G::PAGES {
        registered(config, sharing)
    } else {
        0
    };
    groups
        .saturating_sub(1)
        .saturating_add(by_threads)
        .saturating_mul(config.handle_buffer() as u64)
}

const fn registered<G: Granularity>(config: &SharedConfig<G>, sharing: &Sharing) -> u64 {
    least(sharing.threads as u64, config.locals() as u64)
}

/// The needs of a demand.
pub(super) const fn needs<G: Granularity>(
    config: &SharedConfig<G>,
    bound: Bound,
    sharing: &Sharing,
    demand: &Demand<'_>,
) -> Result<SharedNeeds, Uncertifiable> {
    let calls = sharing.other_threads() as u64;
    let reading = match read(config, bound, sharing, demand, calls) {
        Ok(reading) => reading,
        Err(error) => return Err(error),
    };
    let used = reading.pages(calls);
    let pinned = least(reading.pinned, used);
    let alone = least(reading.unpinned, pinned);
    let groups = groups_used(config.config().geometry(), sharing, demand);
    Ok(SharedNeeds {
        alone_pages: alone,
        pin_pages: pinned.saturating_sub(alone),
        call_pages: used.saturating_sub(pinned),
        fraction: if used < reading.high_water {
            reading.fraction
        } else {
            0
        },
        buffered_pages: buffered_pages(config, sharing),
        entries: reading.entries,
        spare_entries: spare_entries(config, sharing, groups),
    })
}

/// Groups whose classes the demand uses.
pub(super) const fn groups_used(
    geometry: &Geometry,
    sharing: &Sharing,
    demand: &Demand<'_>,
) -> u64 {
    let (mut groups, mut classes) = (0_u64, geometry.each_class());
    while let Some(class) = classes.next_class() {
        if demand.uses(class, geometry.layout(class).block_bytes) {
            groups = groups.saturating_add(sharing.instances as u64);
        }
    }
    groups
}

const fn read<G: Granularity>(
    config: &SharedConfig<G>,
    bound: Bound,
    sharing: &Sharing,
    demand: &Demand<'_>,
    calls: u64,
) -> Result<Reading, Uncertifiable> {
    let reader = Reader {
        geometry: config.config().geometry(),
        bound,
        spread: sharing.spread(config.config().geometry()),
        is_only_instance: sharing.instances == 1 && !sharing.is_beside_others,
    };
    match demand {
        Demand::PerClass(peaks) => reader.each(peaks),
        Demand::Joint(budget) => reader.joint(budget, None),
        Demand::Both(budget, peaks) => {
            match (reader.joint(budget, Some(peaks)), reader.each(peaks)) {
                (Ok(joint), Ok(each)) => Ok(joint.and(each, calls)),
                (Err(error), _) | (_, Err(error)) => Err(error),
            }
        }
    }
}

/// Reads demands for one heap.
struct Reader<'a> {
    geometry: &'a Geometry,
    bound: Bound,
    spread: Spread,
    is_only_instance: bool,
}

impl Reader<'_> {
    const fn each(&self, peaks: &[u32]) -> Result<Reading, Uncertifiable> {
        let mut index = self.geometry.class_count();
        while index < peaks.len() {
            if peaks[index] > 0 {
                return Err(Uncertifiable::NoSuchClass);
            }
            index = index.saturating_add(1);
        }
        let unpinned =
            budget::worst_of_each(self.geometry, self.bound, peaks, &self.spread.unpinned());
        let pinned = budget::worst_of_each(self.geometry, self.bound, peaks, &self.spread);
        let (mut entries, mut classes) = (0_u64, self.geometry.each_class());
        while let Some(class) = classes.next_class() {
            entries = entries.saturating_add(most_of(peaks, class.index()) as u64);
        }
        Ok(self.reading(unpinned, pinned, entries))
    }

    const fn joint(
        &self,
        budget: &Budget,
        peaks: Option<&[u32]>,
    ) -> Result<Reading, Uncertifiable> {
        if budget.classes.len_from(self.geometry.class_count()) > 0 {
            return Err(Uncertifiable::NoSuchClass);
        }
        let objects = budget.objects_possible(self.geometry, peaks);
        if objects > ENTRIES_MAX {
            return Err(Uncertifiable::TooManyEntries { limit: ENTRIES_MAX });
        }
        let possible = Budget { objects, ..*budget };
        let unpinned = budget::worst(
            self.geometry,
            self.bound,
            &possible,
            peaks,
            &self.spread.unpinned(),
        );
        let pinned = budget::worst(self.geometry, self.bound, &possible, peaks, &self.spread);
        Ok(self.reading(unpinned, pinned, objects))
    }

    const fn reading(&self, unpinned: Worst, pinned: Worst, entries: u64) -> Reading {
        // Without a bound, objects that threads of other instances free wait for their own
        // instance's next calls.
        if matches!(self.bound, Bound::Unbounded) && !self.is_only_instance {
            return Reading {
                unpinned: pinned.high_water,
                pinned: pinned.high_water,
                fraction: 0,
                high_water: pinned.high_water,
                entries: pinned.apart,
            };
        }
        Reading {
            unpinned: unpinned.pages,
            pinned: pinned.pages,
            fraction: pinned.fraction,
            high_water: pinned.high_water,
            entries,
        }
    }
}
