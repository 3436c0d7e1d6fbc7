//! The result of a replay: counts, collections, samples, times.

use surefit_core::{Corruption, Refused};
use surefit_freelist::Counters;
use surefit_gc::{Collection, Totals};

/// A replay that completed.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What the collector did. Its allocations are those of the recording, and the objects that the
    /// recording found or revived.
    pub totals: Totals,
    /// What the space did.
    pub counters: Counters,
    /// What was moved; `None` if the space never moves objects.
    pub moves: Option<Moves>,
    /// Bytes of the region that hold no chunk: tables, live bits, mark bits, the mark stack.
    pub administrative_bytes: usize,
    /// Every collection.
    pub collections: Vec<Collected>,
    /// Samples of the counters.
    pub samples: Vec<Sample>,
    /// How long the replay took, if it was timed.
    pub times: Option<Times>,
    /// References of the recording to objects that the collector had freed. There must be none.
    pub references_to_freed: u64,
    /// The first of them.
    pub first_freed: Option<FirstFreed>,
}

impl Outcome {
    /// Free chunks and list heads that were visited per allocation, on average over the whole
    /// program.
    #[must_use]
    pub fn visits_per_allocation(&self) -> f64 {
        self.counters.visits as f64 / self.totals.allocations.max(1) as f64
    }
}

/// One collection.
#[derive(Clone, Debug)]
pub struct Collected {
    /// Allocations before it.
    pub allocations: u64,
    /// What the collector reports about it.
    pub collection: Collection,
    /// Bytes of free payloads, or of free page-blocks and pages, when the request was refused.
    /// Recorded only on request.
    pub free_bytes_before: Option<u64>,
    /// The sizes of free chunks and how many have each size, in ascending order, after the request
    /// that caused the collection was served. Empty unless requested.
    pub free_sizes: Vec<(u32, u32)>,
}

/// What a space that moves objects did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moves {
    /// Moved page-blocks.
    pub objects: u64,
    /// Bytes of these page-blocks.
    pub bytes: u64,
    /// Requests that were served because page-blocks moved.
    pub relieved_requests: u64,
    /// Collections for requests that moving page-blocks would have served. There must be none.
    pub fragmented_collections: u64,
}

/// The counters after some number of allocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Allocations so far.
    pub allocations: u64,
    /// Collections so far.
    pub collections: u64,
    /// Free chunks and list heads that were visited so far.
    pub visits: u64,
}

/// How long a replay took. The cost of the clock is subtracted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Nanoseconds of allocation, without collections.
    pub allocation_ns: u64,
    /// Nanoseconds of marking.
    pub mark_ns: u64,
    /// Nanoseconds of sweeping.
    pub sweep_ns: u64,
    /// Readings of the clock.
    pub readings: u64,
    /// The cost of a reading, in nanoseconds.
    pub reading_ns: u64,
}

impl Times {
    /// Garbage collection time: marking and sweeping, in nanoseconds.
    #[must_use]
    pub const fn collection_ns(&self) -> u64 {
        self.mark_ns.saturating_add(self.sweep_ns)
    }

    /// Heap management time: allocation time and garbage collection time, in nanoseconds.
    #[must_use]
    pub const fn management_ns(&self) -> u64 {
        self.allocation_ns.saturating_add(self.collection_ns())
    }
}

/// A reference to an object that the collector had freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstFreed {
    /// The number of the walk that contains it.
    pub walk: u64,
    /// The object that holds the reference; `None` for a root, or for a change that the recording
    /// names.
    pub from: Option<u32>,
    /// The object that was freed.
    pub to: u32,
}

/// Why a replay did not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// The region cannot even hold the tables, or is larger than the space can be.
    #[error("{0}")]
    Region(Refused),
    /// A request could not be served, even after a collection.
    #[error(
        "allocation {allocation}, {bytes} bytes: {refused}; {free_bytes} bytes were free, the largest chunk {largest_free_bytes}"
    )]
    Full {
        /// The number of the allocation, from 0 on.
        allocation: u64,
        /// Its size.
        bytes: u32,
        /// What the space said.
        refused: Refused,
        /// Free bytes after the last collection.
        free_bytes: u64,
        /// Bytes of the largest free chunk.
        largest_free_bytes: u64,
    },
    /// An invariant does not hold.
    #[error("after allocation {allocation}: {corruption}")]
    Corrupt {
        /// Allocations before it was noticed.
        allocation: u64,
        /// Which invariant.
        corruption: Corruption,
    },
}

/// The outcome of a replay, or `None` if there was no room for the program.
///
/// # Panics
/// If the collector was wrong, so that no experiment reports the outcome: it freed an object that
/// the program refers to, or an invariant does not hold.
#[must_use]
#[track_caller]
pub fn completed(replay: Result<Outcome, Stopped>) -> Option<Outcome> {
    match replay {
        Ok(outcome) => {
            let freed = outcome.first_freed;
            assert!(
                freed.is_none(),
                "an object that is referred to was freed: {freed:?}"
            );
            Some(outcome)
        }
        Err(wrong @ Stopped::Corrupt { .. }) => panic!("{wrong}"),
        Err(Stopped::Region(_) | Stopped::Full { .. }) => None,
    }
}
