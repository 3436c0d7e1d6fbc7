//! What is in a recording: the figures by which programs are told apart.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use std::collections::HashMap;
use std::io::Read;

use crate::TraceError;
use crate::graph::reader::Reader;
use crate::graph::step::Step;
use crate::graph::walk::{Live, Walk};

/// The statistics of a whole recording. Bytes are those of the virtual machine, headers included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Recorded allocations.
    pub allocations: u64,
    /// The sum of their sizes.
    pub bytes: u64,
    /// Objects that were there although their allocation was not recorded.
    pub found: u64,
    /// The sum of their sizes.
    pub found_bytes: u64,
    /// How often a walk found an object that an earlier one had missed.
    pub revived: u64,
    /// Objects logged dead, again and again if revived between.
    pub dead: u64,
    /// Declared classes.
    pub classes: u64,
    /// Walks.
    pub walks: u64,
    /// Objects that walks found changed.
    pub changes: u64,
    /// Their references, in slots of their own.
    pub references: u64,
    /// Their references on behalf of classes.
    pub class_level: u64,
    /// What lived when most bytes lived: by the recording, at the end of a walk.
    pub most_live: Live,
    /// Every distinct size of an allocation, the most frequent first, then by size.
    pub sizes: Vec<SizeCount>,
}

/// A size and how often it occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeCount {
    /// The size, in bytes.
    pub bytes: u32,
    /// Allocations of this size.
    pub allocations: u64,
}

impl Stats {
    /// Those of allocations of which the sizes alone are known. O(n log n).
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "as many sizes as there is time for, of 32 bits each"
    )]
    pub fn of_sizes(all: impl IntoIterator<Item = u32>) -> Self {
        let mut stats = Self::default();
        let mut sizes = HashMap::new();
        for bytes in all {
            stats.allocations += 1;
            stats.bytes += u64::from(bytes);
            *sizes.entry(bytes).or_default() += 1;
        }
        stats.sizes = sorted(sizes);
        stats
    }

    /// Reads a recording to its end.
    ///
    /// # Errors
    /// The first rule of the format that the recording breaks.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "as many steps as a file has bytes, of at most MOST objects with 32 bits of bytes"
    )]
    pub fn read<R: Read>(reader: Reader<R>) -> Result<Self, TraceError> {
        let mut stats = Self::default();
        let mut sizes = HashMap::new();
        for step in reader {
            match step? {
                Step::Class(_) => stats.classes += 1,
                Step::Allocate(object) => {
                    stats.allocations += 1;
                    stats.bytes += u64::from(object.bytes);
                    *sizes.entry(object.bytes).or_default() += 1;
                }
                Step::Find(object) => {
                    stats.found += 1;
                    stats.found_bytes += u64::from(object.bytes);
                }
                Step::Revive(_) => stats.revived += 1,
                Step::Walk(walk) => stats.add_walk(&walk),
            }
        }
        stats.sizes = sorted(sizes);
        Ok(stats)
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "lengths of vectors of one file"
    )]
    fn add_walk(&mut self, walk: &Walk) {
        self.walks += 1;
        self.changes += walk.ends.len() as u64;
        self.references += walk.references.len() as u64;
        self.class_level += walk.class_level.len() as u64;
        self.dead += walk.dead.len() as u64;
        if walk.live.bytes > self.most_live.bytes {
            self.most_live = walk.live;
        }
    }

    /// How many sizes make up at least so many percent of all allocations, the most frequent taken
    /// first.
    ///
    /// # Source
    /// The columns of the thesis's Table 2-1: 90 and 99; 100 gives all sizes.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "products of 64 and 32 bits, in 128"
    )]
    #[must_use]
    pub fn sizes_for(&self, percent: u32) -> usize {
        let wanted = u128::from(self.allocations) * u128::from(percent);
        let mut covered = 0;
        self.sizes
            .iter()
            .take_while(|size| {
                let is_short = covered < wanted;
                covered += u128::from(size.allocations) * 100;
                is_short
            })
            .count()
    }
}

fn sorted(counts: HashMap<u32, u64>) -> Vec<SizeCount> {
    let mut sizes: Vec<_> = counts
        .into_iter()
        .map(|(bytes, allocations)| SizeCount { bytes, allocations })
        .collect();
    sizes.sort_unstable_by_key(|size| (std::cmp::Reverse(size.allocations), size.bytes));
    sizes
}
