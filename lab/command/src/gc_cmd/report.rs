//! The output of `surefit gc replay`: one document, as JSON or as a table. Every key names its
//! unit.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use surefit_clients::java::{Collected, MinHeap, Outcome, Program, Stopped, Times};
use surefit_gc::Cause;

use surefit_measure::collector::spaces::SpaceSpec;
use surefit_measure::error::one_line;
use surefit_measure::grid::Grid;
use surefit_measure::output::grouped;
use surefit_measure::results::SCHEMA;

/// A replay: its recording, its space and its heap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject<'a> {
    pub(super) file: &'a Path,
    pub(super) space: &'a SpaceSpec,
    pub(super) program: &'a Program,
    pub(super) heap_bytes: usize,
    pub(super) sweep: &'static str,
}

/// The document.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Document {
    /// The version of this format.
    schema: u32,
    /// The recording, as given.
    file: String,
    /// The space, as given.
    space: String,
    /// `walk` or `leap`.
    sweep: String,
    /// Bytes of the heap, tables included.
    heap_bytes: u64,
    /// The smallest heap in which the program completes, in bytes; absent if it was not searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_heap_bytes: Option<u64>,
    /// Recorded allocations.
    recorded_allocations: u64,
    /// The sum of their sizes in the virtual machine, in bytes.
    recorded_bytes: u64,
    /// The most live bytes, according to the recording.
    most_live_bytes: u64,
    /// Whether the whole program was replayed.
    completed: bool,
    /// Why the replay stopped; absent if it completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// What was counted; absent if the replay did not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<Counts>,
    /// How long the replay took, once for each way of timing.
    times: Vec<TimesRow>,
    /// All collections, in order.
    collections: Vec<CollectionRow>,
}

/// What a replay counts.
#[derive(Debug, JsonSchema, Serialize)]
struct Counts {
    /// Allocated objects: those whose allocation was recorded, and those that the recording found
    /// or revived.
    allocations: u64,
    /// Collections.
    collections: u64,
    /// Free chunks and list heads that searches visited.
    visits: u64,
    /// Visits per allocation.
    visits_per_allocation: f64,
    /// Updates of the Next Hit Table, because a list lost its last chunk or got its first one.
    table_updates: u64,
    /// Entries that these updates wrote.
    table_stores: u64,
    /// How often the Next Hit Table was rebuilt in one pass.
    table_rebuilds: u64,
    /// Chunks that were split in two.
    splits: u64,
    /// Chunks that were merged with a free neighbour; the sweep `leap` counts none.
    merges: u64,
    /// Objects marked, over all collections.
    marked_objects: u64,
    /// References followed, over all collections.
    references: u64,
    /// Passes over the mark bits that were needed because the mark stack was too small.
    rescans: u64,
    /// Objects freed.
    freed_objects: u64,
    /// Headers that sweeps read.
    swept_headers: u64,
    /// Page-blocks that were moved; absent if the space cannot move them.
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_objects: Option<u64>,
    /// Bytes of the moved page-blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_bytes: Option<u64>,
    /// Requests that were served because page-blocks moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    relieved_requests: Option<u64>,
    /// Collections that ran although moves could have served the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    fragmented_collections: Option<u64>,
    /// Bytes of headers, tables, mark bits and the mark stack at the end.
    administrative_bytes: u64,
    /// References of the recording to objects that the collector had freed. If it is not 0, the
    /// exit status is 1.
    references_to_freed: u64,
}

/// How long a replay took, after subtracting the cost of reading the clock.
#[derive(Debug, JsonSchema, Serialize)]
struct TimesRow {
    /// `batch`: processor time between two walks, minus that of the same replay without
    /// allocations; `each`: the clock is read twice per allocation.
    clock: String,
    /// Object allocation time.
    allocation_ns: u64,
    /// Time of marking.
    mark_ns: u64,
    /// Time of sweeping.
    sweep_ns: u64,
    /// Garbage collection time: marking and sweeping.
    collection_ns: u64,
    /// Heap management time: allocation and collection.
    management_ns: u64,
    /// How often the clock was read.
    clock_readings: u64,
    /// The cost of one reading of the clock; it was subtracted for each reading.
    clock_reading_ns: u64,
}

/// One collection.
#[derive(Debug, JsonSchema, Serialize)]
struct CollectionRow {
    /// Allocations before this collection.
    allocations: u64,
    /// The request that caused this collection; absent if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_bytes: Option<u64>,
    /// Objects that survived.
    live_objects: u64,
    /// Bytes of their payloads.
    live_bytes: u64,
    /// Objects that were freed.
    freed_objects: u64,
    /// Free chunks after this collection.
    free_chunks: u64,
    /// Bytes of their payloads.
    free_bytes: u64,
    /// Bytes of the payload of the largest free chunk.
    largest_free_bytes: u64,
}

impl Document {
    pub(super) fn new(subject: &Subject<'_>, outcome: &Result<Outcome, Stopped>) -> Self {
        let completed = outcome.as_ref().ok();
        let mut document = Self {
            schema: SCHEMA,
            file: subject.file.display().to_string(),
            space: subject.space.to_string(),
            sweep: subject.sweep.to_owned(),
            heap_bytes: subject.heap_bytes as u64,
            min_heap_bytes: None,
            recorded_allocations: subject.program.allocations(),
            recorded_bytes: subject.program.bytes(),
            most_live_bytes: subject.program.most_live().bytes,
            completed: completed.is_some(),
            error: outcome.as_ref().err().map(Stopped::to_string),
            counts: completed.map(Counts::new),
            times: Vec::new(),
            collections: completed.map_or_else(Vec::new, |outcome| {
                outcome.collections.iter().map(CollectionRow::new).collect()
            }),
        };
        document.add_times("batch", completed.and_then(|outcome| outcome.times));
        document
    }

    pub(super) fn add_times(&mut self, clock: &str, times: Option<Times>) {
        self.times
            .extend(times.map(|times| TimesRow::new(clock, &times)));
    }

    pub(super) fn add_min_heap(&mut self, found: Option<MinHeap>) {
        self.min_heap_bytes = found.map(|found| found.bytes as u64);
    }

    /// The document as a table for people.
    pub(super) fn text(&self) -> String {
        let mut rows = vec![
            row("completed", if self.completed { "yes" } else { "no" }),
            row("recorded allocations", &grouped(self.recorded_allocations)),
            row("recorded bytes", &grouped(self.recorded_bytes)),
            row("most live bytes", &grouped(self.most_live_bytes)),
            row("heap bytes", &grouped(self.heap_bytes)),
        ];
        rows.extend(
            self.min_heap_bytes
                .map(|bytes| row("smallest heap, bytes", &grouped(bytes))),
        );
        rows.extend(self.counts.iter().flat_map(Counts::rows));
        rows.extend(self.times.iter().flat_map(TimesRow::rows));
        rows.extend(
            self.collections
                .last()
                .into_iter()
                .flat_map(CollectionRow::rows),
        );
        let grid = Grid {
            header: vec![String::new(), String::new()],
            rows,
            text_columns: 1,
        };
        let title = one_line(&format!(
            "{} on {}, sweep by {}",
            self.file, self.space, self.sweep
        ));
        format!("{title}\n{}\n", grid.to_text().trim_start_matches('\n'))
    }
}

fn row(name: &str, figure: &str) -> Vec<String> {
    vec![name.to_owned(), figure.to_owned()]
}

impl Counts {
    fn new(outcome: &Outcome) -> Self {
        let (totals, counters) = (&outcome.totals, &outcome.counters);
        Self {
            allocations: totals.allocations,
            collections: totals.collections,
            visits: counters.visits,
            visits_per_allocation: outcome.visits_per_allocation(),
            table_updates: counters.table_updates,
            table_stores: counters.table_stores,
            table_rebuilds: counters.table_rebuilds,
            splits: counters.splits,
            merges: counters.merges,
            marked_objects: totals.marked,
            references: totals.edges,
            rescans: totals.rescans,
            freed_objects: totals.freed_objects,
            swept_headers: totals.visited,
            moved_objects: outcome.moves.map(|moves| moves.objects),
            moved_bytes: outcome.moves.map(|moves| moves.bytes),
            relieved_requests: outcome.moves.map(|moves| moves.relieved_requests),
            fragmented_collections: outcome.moves.map(|moves| moves.fragmented_collections),
            administrative_bytes: outcome.administrative_bytes as u64,
            references_to_freed: outcome.references_to_freed,
        }
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let mut rows = self.counted();
        let moves = [
            ("page-blocks moved", self.moved_objects),
            ("  bytes", self.moved_bytes),
            ("  requests served by these moves", self.relieved_requests),
            (
                "  collections that moves could avoid",
                self.fragmented_collections,
            ),
        ];
        rows.extend(
            moves
                .into_iter()
                .filter_map(|(name, figure)| Some(row(name, &grouped(figure?)))),
        );
        rows
    }

    fn counted(&self) -> Vec<Vec<String>> {
        vec![
            row("allocations", &grouped(self.allocations)),
            row("collections", &grouped(self.collections)),
            row(
                "visits per allocation",
                &format!("{:.2}", self.visits_per_allocation),
            ),
            row("table updates", &grouped(self.table_updates)),
            row("  entries written", &grouped(self.table_stores)),
            row("  rebuilds", &grouped(self.table_rebuilds)),
            row("objects marked", &grouped(self.marked_objects)),
            row("  references followed", &grouped(self.references)),
            row(
                "  passes because the mark stack was full",
                &grouped(self.rescans),
            ),
            row("objects freed", &grouped(self.freed_objects)),
            row("  headers read by sweeps", &grouped(self.swept_headers)),
            row("administrative bytes", &grouped(self.administrative_bytes)),
            row(
                "references to freed objects",
                &grouped(self.references_to_freed),
            ),
        ]
    }
}

impl TimesRow {
    fn new(clock: &str, times: &Times) -> Self {
        Self {
            clock: clock.to_owned(),
            allocation_ns: times.allocation_ns,
            mark_ns: times.mark_ns,
            sweep_ns: times.sweep_ns,
            collection_ns: times.collection_ns(),
            management_ns: times.management_ns(),
            clock_readings: times.readings,
            clock_reading_ns: times.reading_ns,
        }
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let ms = |ns: u64| format!("{:.2}", ns as f64 / 1e6);
        let clock = format!(
            "{} x {} ns",
            grouped(self.clock_readings),
            self.clock_reading_ns
        );
        vec![
            row(
                &format!("heap management, ms (clock: {})", self.clock),
                &ms(self.management_ns),
            ),
            row("  allocation, ms", &ms(self.allocation_ns)),
            row("  collection, ms", &ms(self.collection_ns)),
            row("    marking, ms", &ms(self.mark_ns)),
            row("    sweeping, ms", &ms(self.sweep_ns)),
            row("  subtracted for the clock", &clock),
        ]
    }
}

impl CollectionRow {
    fn new(collected: &Collected) -> Self {
        let swept = collected.collection.swept;
        let request_bytes = match collected.collection.cause {
            Cause::Request(bytes) => Some(bytes as u64),
            Cause::Asked => None,
        };
        Self {
            allocations: collected.allocations,
            request_bytes,
            live_objects: swept.live_objects,
            live_bytes: swept.live_bytes as u64,
            freed_objects: swept.freed_objects,
            free_chunks: swept.free_chunks,
            free_bytes: swept.free_bytes as u64,
            largest_free_bytes: swept.largest_free_bytes as u64,
        }
    }

    fn rows(&self) -> Vec<Vec<String>> {
        vec![
            row("last collection: live objects", &grouped(self.live_objects)),
            row("  live bytes", &grouped(self.live_bytes)),
            row("  free chunks", &grouped(self.free_chunks)),
            row("  free bytes", &grouped(self.free_bytes)),
            row(
                "  largest free chunk, bytes",
                &grouped(self.largest_free_bytes),
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_schema_is_that_of_the_type() {
        surefit_measure::schema::is_committed::<super::Document>("gc-replay.json");
    }
}
