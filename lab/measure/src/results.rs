//! What the command prints with `--format json`. Every key carries its unit; what has no meaning is
//! absent, never zero.
//!
//! The schemas of these types are committed in `schemas/` and tested.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surefit_core::Usage;

use crate::judged::{Against, Asserted, SecondRun};

pub use crate::ratio::Ratio;

/// The version of the JSON formats.
pub const SCHEMA: u32 = 1;

/// What `compare` prints.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// The version of this format.
    pub schema: u32,
    /// How many interleaved rounds were timed: the most of any trace.
    pub rounds: u32,
    /// The allocator that ratios are taken to.
    pub baseline: String,
    /// The clock's own cost, in nanoseconds, that was taken off every measured call.
    pub clock_ns: u64,
    /// One element for each trace.
    pub traces: Vec<TraceResults>,
    /// The bounds of `--assert`, each on every trace that it is about; absent without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asserted: Option<Vec<Asserted>>,
    /// What differs from an earlier comparison; absent without `--against`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Against>,
    /// What a second run confirms, for each trace; absent without `--again`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<Vec<SecondRun>>,
}

/// One trace and what every allocator made of it.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TraceResults {
    /// The trace's name.
    pub name: String,
    /// Events.
    pub events: u64,
    /// Objects ever allocated.
    pub objects: u64,
    /// Threads that appear.
    pub threads: u64,
    /// The most of them that live at once, each from its first to its last event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads_at_once: Option<u64>,
    /// The greatest sum of live requests, in bytes.
    pub peak_live_bytes: u64,
    /// What was left out of the recorded trace; every other figure is of the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    /// Nearly all of the program's memory came from elsewhere than the recorded malloc, or it has
    /// an allocator beside malloc: then nothing here is advice on the program, but on malloc's part
    /// of it, if that was asked for. Absent if it did not, or if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside_malloc: Option<BesideMalloc>,
    /// The processor time that the program took while it was recorded, in nanoseconds, with what
    /// the recorder took; absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_cpu_ns: Option<u64>,
    /// How many events were timed, the first ones of the trace; absent if all were. Memory is
    /// always that of the whole trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_events: Option<u64>,
    /// How many interleaved rounds were timed for this trace.
    #[serde(default)]
    pub rounds: u32,
    /// What saves memory in the first Compact-fit heap among the allocators, if smallest heaps were
    /// looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ablation: Option<Ablation>,
    /// `cf-cooperating`: cf-direct if the program moved objects where its hint says so, as it can
    /// with surefit-malloc. Replayed once, without times, if a malloc among the allocators holds
    /// much more than what is live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hinted: Option<Box<AllocatorResult>>,
    /// One element for each allocator, in the order given.
    pub results: Vec<AllocatorResult>,
}

/// A heap beside malloc, and so beside the trace.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BesideMalloc {
    /// By how much the process's resident anonymous memory grew; 0 if nobody looked.
    pub grown_bytes: u64,
    /// The greatest sum of live requests that was recorded.
    pub recorded_bytes: u64,
    /// A function of an allocator that the program brings beside malloc, if one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_allocator: Option<String>,
    /// Whether malloc's part of the program was asked for: then there is advice, on that part.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_malloc_only: bool,
}

// The signature is that of serde.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(value: &bool) -> bool {
    !value
}

/// The smallest heaps of a Compact-fit heap without what saves memory in it. A heap in which the
/// trace does not complete has no figure: contiguous objects cannot be larger than a page.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Ablation {
    /// The allocator, as given.
    pub allocator: String,
    /// It never moves an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmoved_min_heap_bytes: Option<u64>,
    /// Every object is one piece of memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contiguous_min_heap_bytes: Option<u64>,
    /// Both: it never moves an object, and every object is one piece of memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmoved_contiguous_min_heap_bytes: Option<u64>,
}

/// The objects that `--largest` left out, with all their events.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// Objects that were ever larger than this are left out.
    pub larger_than_bytes: u64,
    /// How many there are.
    pub objects: u64,
    /// The greatest sum of their live requests.
    pub peak_live_bytes: u64,
}

/// What one allocator made of one trace.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AllocatorResult {
    /// The allocator, as given.
    pub allocator: String,
    /// Whether the whole trace was served.
    pub completed: bool,
    /// Why not, if not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ReplayError>,
    /// The size of the region.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heap_bytes: Option<u64>,
    /// What was left out of the recorded trace; in a comparison, the trace says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    /// Allocations in the trace.
    pub mallocs: u64,
    /// Frees in the trace.
    pub frees: u64,
    /// Reallocations in the trace.
    pub reallocs: u64,
    /// Time per allocation or reallocation and its free, less the empty replay: the median of the
    /// rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair_ns_mean: Option<f64>,
    /// The same, round by round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair_ns_rounds: Option<Vec<f64>>,
    /// The same with eight accesses of live objects after each event: the median of its rounds.
    /// Unless `--rounds` is given, a comparison makes accesses in a sample of the events of a long
    /// trace, the same for all allocators, and it is the time of these events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_pair_ns_mean: Option<f64>,
    /// The same, round by round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_pair_ns_rounds: Option<Vec<f64>>,
    /// The mean time of an allocation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub malloc_ns_mean: Option<f64>,
    /// The median time of an allocation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub malloc_ns_p50: Option<u64>,
    /// 99 % of allocations take no longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub malloc_ns_p99: Option<u64>,
    /// 99.99 % of allocations take no longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub malloc_ns_p9999: Option<u64>,
    /// The longest allocation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub malloc_ns_max: Option<u64>,
    /// How many allocations took longer than a time, for ascending times; the last is the longest,
    /// and none took longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malloc_ns_tail: Option<Vec<Tail>>,
    /// The mean time of a free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_ns_mean: Option<f64>,
    /// The median time of a free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_ns_p50: Option<u64>,
    /// 99 % of frees take no longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_ns_p99: Option<u64>,
    /// 99.99 % of frees take no longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_ns_p9999: Option<u64>,
    /// The longest free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_ns_max: Option<u64>,
    /// How many frees took longer than a time, for ascending times; the last is the longest, and
    /// none took longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_ns_tail: Option<Vec<Tail>>,
    /// The mean time of a reallocation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub realloc_ns_mean: Option<f64>,
    /// The median time of a reallocation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub realloc_ns_p50: Option<u64>,
    /// 99 % of reallocations take no longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub realloc_ns_p99: Option<u64>,
    /// 99.99 % of reallocations take no longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub realloc_ns_p9999: Option<u64>,
    /// The longest reallocation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub realloc_ns_max: Option<u64>,
    /// How many reallocations took longer than a time, for ascending times; the last is the
    /// longest, and none took longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub realloc_ns_tail: Option<Vec<Tail>>,
    /// The mean time of one access of a seeded live object, beyond its look-up in the replay's own
    /// table: many accesses at the peak, one after the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_ns_mean: Option<f64>,
    /// `pair_ns_mean` over the baseline's, taken round by round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_to_baseline: Option<Ratio>,
    /// `access_pair_ns_mean` over the baseline's, taken round by round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_ratio_to_baseline: Option<Ratio>,
    /// Instructions of an allocation or reallocation, the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions_per_malloc: Option<f64>,
    /// Instructions of a free, the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions_per_free: Option<f64>,
    /// Distinct 4 KiB pages of a fresh region ever touched in the checking pass, times 4096; tables
    /// included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_footprint_bytes: Option<u64>,
    /// By how much the process grew in the checking pass, for allocators without a region; absent
    /// if the kernel counts less than what was live.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_resident_bytes: Option<u64>,
    /// What was resident over the checking pass, in at most 129 samples at equal distances. A
    /// region counts by its touched pages; an allocator without a region by how much the process
    /// grew, which includes a few hundred kilobytes of the process itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resident_over_time: Option<Vec<ResidentSample>>,
    /// The sum of the resident bytes of all samples, over the sum of the live ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resident_over_live_mean: Option<f64>,
    /// The smallest region in which the trace completes, to 4 KiB or 0.1 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_heap_bytes: Option<u64>,
    /// Whether every object is one piece of memory, whatever its size.
    pub contiguous: bool,
    /// Requested bytes of live objects in pieces, at the peak.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_in_pieces_at_peak: Option<u64>,
    /// Page-blocks moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves_total: Option<u64>,
    /// Bytes copied by moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_bytes_total: Option<u64>,
    /// The most bytes that the moves of one call copied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_bytes_max_per_op: Option<u64>,
    /// The most bytes copied while a lock was held once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_bytes_max_per_section: Option<u64>,
    /// A region of this size serves every program with the trace's joint demand, in any order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certified_bytes: Option<u64>,
    /// The same trace on as many threads as it has, if it has several and the allocator serves
    /// threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_threads: Option<OnThreads>,
    /// Where every byte of the region is at the first event with the greatest live requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_peak: Option<AtPeak>,
    /// How near to each other objects lie at that event; absent if fewer than 64 live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locality: Option<Locality>,
}

/// How near to each other the objects lie that live at the peak.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Locality {
    /// In the order in which they were allocated.
    pub by_birth: Near,
    /// In the order in which the program frees them after the peak; absent if it frees fewer
    /// than 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_free: Option<Near>,
}

/// How many distinct places hold the first bytes of 64 objects that follow one another; the mean
/// over all whole groups of 64. It compares allocators on one trace, not traces.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Near {
    /// Cache lines of 64 bytes.
    pub lines: f64,
    /// Pages of 4096 bytes.
    pub pages: f64,
}

/// What an allocator made of a trace with each thread of the trace on its own thread, which begins
/// and ends as that of the program did.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OnThreads {
    /// Wall time per allocation or reallocation and its free, less the empty replay, round by
    /// round; none if only the first events of the trace were timed on one thread.
    pub pair_ns_rounds: Vec<f64>,
    /// By how much the process grew; absent if the kernel counts less than what was live.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_resident_bytes: Option<u64>,
}

/// How many calls took longer than a time.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tail {
    /// The time, to three digits.
    pub ns: u64,
    /// How many calls took longer.
    pub longer: u64,
}

/// What was resident and what was live after an event.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ResidentSample {
    /// The event.
    pub event: u64,
    /// The sum of live requests.
    pub live_bytes: u64,
    /// What was resident.
    pub resident_bytes: u64,
    /// Where every byte of the region was, if the allocator reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<AtPeak>,
}

/// Why a replay did not complete.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayError {
    /// What was exhausted or wrong, such as `no_page`.
    pub kind: String,
    /// The event.
    pub event: u64,
}

/// Where every byte of the region is; the parts add up to `heap_bytes`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AtPeak {
    /// What the program asked for.
    pub requested_bytes: u64,
    /// What page-blocks or chunks hold beyond that.
    pub page_block_internal_bytes: u64,
    /// What the partitioning of pages leaves over.
    pub page_internal_bytes: u64,
    /// Free page-blocks of not-full pages.
    pub size_class_bytes: u64,
    /// Page-blocks of unfinished moves.
    pub transient_bytes: u64,
    /// The unused ends of runs of pages.
    pub large_tail_bytes: u64,
    /// Tables, headers, handles, back-references, the heap's own control structure.
    pub administrative_bytes: u64,
    /// Free chunks.
    pub free_chunk_bytes: u64,
    /// Free pages.
    pub free_page_bytes: u64,
}

impl AtPeak {
    /// The account of a region while so many bytes are requested.
    #[must_use]
    pub fn of(usage: Usage, requested_bytes: u64) -> Self {
        Self {
            requested_bytes,
            page_block_internal_bytes: (usage.block_bytes as u64).saturating_sub(requested_bytes),
            page_internal_bytes: usage.page_internal_bytes as u64,
            size_class_bytes: usage.size_class_bytes as u64,
            transient_bytes: usage.transient_bytes as u64,
            large_tail_bytes: usage.large_tail_bytes as u64,
            administrative_bytes: usage.administrative_bytes as u64,
            free_chunk_bytes: usage.free_chunk_bytes as u64,
            free_page_bytes: usage.free_page_bytes as u64,
        }
    }

    /// The sum of the parts, in bytes.
    #[cfg(test)]
    fn total(&self) -> u64 {
        self.in_use_bytes() + self.free_chunk_bytes + self.free_page_bytes
    }

    /// The sum of the parts but free chunks and pages, in bytes.
    #[must_use]
    pub fn in_use_bytes(&self) -> u64 {
        self.requested_bytes
            + self.page_block_internal_bytes
            + self.page_internal_bytes
            + self.size_class_bytes
            + self.transient_bytes
            + self.large_tail_bytes
            + self.administrative_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::{AllocatorResult, AtPeak, Comparison};
    use crate::schema::is_committed;

    #[test]
    fn the_committed_schemas_are_those_of_the_types() {
        is_committed::<AllocatorResult>("replay.json");
        is_committed::<Comparison>("compare.json");
    }

    #[test]
    fn what_was_not_measured_is_absent() {
        let row = AllocatorResult::default();
        let json = serde_json::to_string(&row).expect("JSON");
        assert!(
            !json.contains("null") && !json.contains("pair_ns"),
            "{json}"
        );
    }

    #[test]
    fn the_parts_add_up() {
        let usage = AtPeak {
            requested_bytes: 1,
            page_block_internal_bytes: 2,
            page_internal_bytes: 3,
            size_class_bytes: 4,
            transient_bytes: 5,
            large_tail_bytes: 6,
            administrative_bytes: 7,
            free_chunk_bytes: 8,
            free_page_bytes: 9,
        };
        assert_eq!(usage.total(), 45);
    }
}
