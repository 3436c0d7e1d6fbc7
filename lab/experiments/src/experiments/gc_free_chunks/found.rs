//! What was noted of a program: the sizes of free chunks after each collection.

use surefit_clients::java::Finds;
use surefit_freelist::When;
use surefit_vm::{Collected, Watched};

use crate::shared::merges::MERGES;
use crate::shared::thesis::systems::System;

/// Small chunks have at most so many bytes.
pub(super) const SMALL: u32 = 64;

/// Large chunks have more.
pub(super) const LARGE: u32 = 1024;

/// The thesis's strategies, and ours.
pub(super) fn all_systems() -> [System; 4] {
    let [never, deferred, immediate] =
        MERGES.map(|merges| System::thesis(merges, Finds::NextHitTable));
    [never, deferred, immediate, System::ours(When::Immediate)]
}

/// What was noted of a program.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) name: String,
    /// The systems that complete in its heap.
    pub(super) sizes: Vec<Sizes>,
}

impl Found {
    /// A strategy in one heap.
    pub(super) fn of(&self, merges: When) -> Option<&Sizes> {
        let of = |sizes: &&Sizes| sizes.system.lists.merges == merges && !sizes.system.has_two_ends;
        self.sizes.iter().find(of)
    }
}

/// The sizes after each collection of one program on one system.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    pub(super) system: System,
    /// For each collection, sizes and how many chunks have them.
    pub(super) collections: Vec<Vec<(u32, u32)>>,
}

impl Sizes {
    pub(super) fn new(system: System, outcome: &Watched) -> Self {
        let sizes = |collected: &Collected| collected.free_sizes.clone();
        Self {
            system,
            collections: outcome.collections.iter().map(sizes).collect(),
        }
    }

    /// Chunks of sizes that are wanted, on average over the collections; `None` if there was none.
    pub(super) fn mean(&self, is_wanted: impl Fn(u32) -> bool) -> Option<f64> {
        self.mean_of(is_wanted, |_| 1)
    }

    /// Bytes of such chunks.
    pub(super) fn mean_bytes(&self, is_wanted: impl Fn(u32) -> bool) -> Option<f64> {
        self.mean_of(is_wanted, u64::from)
    }

    pub(super) fn mean_of(
        &self,
        is_wanted: impl Fn(u32) -> bool,
        figure: fn(u32) -> u64,
    ) -> Option<f64> {
        let all = self.collections.iter().flatten();
        let wanted = all.filter(|(size, _)| is_wanted(*size));
        let sum: u64 = wanted
            .map(|&(size, count)| u64::from(count) * figure(size))
            .sum();
        let collections = self.collections.len();
        (collections > 0).then(|| sum as f64 / collections as f64)
    }

    /// Large chunks, in percent of all free chunks.
    pub(super) fn percent_large(&self) -> Option<f64> {
        percent(self.mean(|size| size > LARGE)?, self.mean(|_| true)?)
    }

    /// Their bytes, in percent of all free bytes.
    pub(super) fn percent_of_bytes(&self) -> Option<f64> {
        percent(
            self.mean_bytes(|size| size > LARGE)?,
            self.mean_bytes(|_| true)?,
        )
    }

    /// The largest free chunk in percent of all free bytes, on average over the collections.
    pub(super) fn percent_in_the_largest(&self) -> Option<f64> {
        let shares = self.collections.iter().filter_map(|sizes| {
            let largest = sizes.iter().map(|&(size, _)| size).max()?;
            let all: u64 = sizes
                .iter()
                .map(|&(size, count)| u64::from(size) * u64::from(count))
                .sum();
            percent(f64::from(largest), all as f64)
        });
        let shares: Vec<_> = shares.collect();
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    }

    /// For each row of the distribution, how many percent of the chunks are no larger.
    pub(super) fn up_to_each(&self) -> Vec<(f64, f64)> {
        let points = ENDS.iter().enumerate().filter_map(|(place, &end)| {
            let share = percent(self.mean(|size| size <= end)?, self.mean(|_| true)?)?;
            Some((place as f64, share))
        });
        points.collect()
    }

    /// For each collection, the mean size.
    pub(super) fn means(&self) -> Vec<(f64, f64)> {
        let means = (0..self.collections.len()).filter_map(|collection| {
            let (_, mean) = self.at(collection)?;
            Some((collection as f64 + 1.0, mean))
        });
        means.collect()
    }

    /// Free chunks after a collection, and their mean size.
    pub(super) fn at(&self, collection: usize) -> Option<(u64, f64)> {
        let sizes = self.collections.get(collection)?;
        let chunks: u64 = sizes.iter().map(|&(_, count)| u64::from(count)).sum();
        let bytes: u64 = sizes
            .iter()
            .map(|&(size, count)| u64::from(size) * u64::from(count))
            .sum();
        (chunks > 0).then(|| (chunks, bytes as f64 / chunks as f64))
    }
}

/// The greatest size of each row of the distribution, in bytes; the last row has no end.
pub(super) const ENDS: [u32; 10] = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, u32::MAX];

pub(super) fn percent(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| 100.0 * part / whole)
}
