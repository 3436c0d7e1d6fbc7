//! What is in a trace: the figures by which programs are told apart.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use std::collections::BTreeMap;

use crate::event::Align;
use crate::header::{Counts, Peak};

/// The statistics of a whole trace, after the verification of all its rules.
///
/// A *request* is an allocation or a reallocation; a size is that of a request, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// The trace's name. It may come from a file: escape it before printing.
    pub name: String,
    /// The header's counters, verified.
    pub counts: Counts,
    /// Where the sum of live requests is greatest; all zero for a trace without events.
    pub peak: Peak,
    /// Events by what they do.
    pub calls: Calls,
    /// The lives of all freed objects, from allocation to free, in events.
    pub lives_events: u64,
    /// Frees by another thread than the one that last allocated or resized the object.
    pub foreign_frees: u64,
    /// Events on another thread than the event before; the first counts as after one on thread 0.
    pub thread_switches: u64,
    /// Every distinct size, in ascending order.
    pub sizes: Vec<SizeCount>,
    /// Every alignment asked for, in ascending order, and how often.
    pub alignments: Vec<(Align, u64)>,
}

/// How often each kind of event occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Plain allocations.
    pub malloc: u64,
    /// Allocations of zeroed memory.
    pub calloc: u64,
    /// Allocations with an alignment.
    pub aligned: u64,
    /// Reallocations.
    pub realloc: u64,
    /// Frees.
    pub free: u64,
}

/// One size and how often it occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeCount {
    /// The size, in bytes.
    pub size: u64,
    /// Requests of this size in the whole trace.
    pub requests: u64,
    /// Live objects of this size at the peak.
    pub live_at_peak: u64,
}

impl Stats {
    /// Allocations and reallocations.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.counts.objects.saturating_add(self.calls.realloc)
    }

    /// The largest size, in bytes; `None` without a request.
    #[must_use]
    pub fn max_size(&self) -> Option<u64> {
        self.sizes.last().map(|count| count.size)
    }

    /// The mean life of the freed objects, in events; `None` without a free.
    #[must_use]
    pub fn mean_life_events(&self) -> Option<f64> {
        (self.calls.free > 0).then(|| self.lives_events as f64 / self.calls.free as f64)
    }

    /// The `most` most frequent sizes, by falling frequency, then by size.
    #[must_use]
    pub fn top_sizes(&self, most: usize) -> Vec<SizeCount> {
        let mut sizes = self.sizes.clone();
        sizes.sort_by_key(|count| std::cmp::Reverse(count.requests));
        sizes.truncate(most);
        sizes
    }

    /// Power-of-two classes: the requests of sizes above 2^(k-1) and up to 2^k, for each k that
    /// occurs, ascending. Zero and one are in class 0; sizes above 2^63, which no trace has, are in
    /// class 63.
    #[must_use]
    pub fn histogram(&self) -> Vec<PowerClass> {
        let mut classes = BTreeMap::new();
        for count in &self.sizes {
            let above = count.size.max(1).checked_next_power_of_two();
            let log2 = above.unwrap_or(1 << 63).ilog2();
            let class = classes.entry(log2).or_insert(PowerClass {
                up_to: 1 << log2,
                requests: 0,
                live_at_peak: 0,
            });
            class.requests = class.requests.saturating_add(count.requests);
            class.live_at_peak = class.live_at_peak.saturating_add(count.live_at_peak);
        }
        classes.into_values().collect()
    }
}

/// The requests between two powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerClass {
    /// The largest size of the class, in bytes: a power of two.
    pub up_to: u64,
    /// Requests in the whole trace.
    pub requests: u64,
    /// Live objects at the peak.
    pub live_at_peak: u64,
}
