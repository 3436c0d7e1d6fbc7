//! The output of `surefit gc lua`: one document, as JSON or as a few lines. Every key names its
//! unit.

use schemars::JsonSchema;
use serde::Serialize;
use surefit_clients::lua::Failure;
use surefit_freelist::Counters;

use surefit_measure::collector::machine::Done;
use surefit_measure::output::grouped;
use surefit_measure::results::SCHEMA;

/// The document.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Document {
    /// The version of this format.
    schema: u32,
    /// The script, as given.
    file: String,
    /// The heap, as given.
    space: String,
    /// Bytes of the heap, tables and reserve included.
    heap_bytes: u64,
    /// Whether the script ran to its end.
    completed: bool,
    /// Why the script stopped; absent if it completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Objects, arrays and buffers that were allocated.
    allocations: u64,
    /// Bytes that these allocations requested.
    requested_bytes: u64,
    /// Objects, arrays and buffers that were freed.
    frees: u64,
    /// Objects, arrays and buffers that were resized.
    resizes: u64,
    /// The most bytes that were live, garbage included.
    peak_bytes: u64,
    /// The most bytes that were live after a collection.
    peak_kept_bytes: u64,
    /// Refusals after which Lua collected and requested again.
    collections: u64,
    /// Time from a refusal to the second request: marking and all frees.
    collection_ns: u64,
    /// Frees that happened in collections.
    collection_frees: u64,
    /// Calls to the heap outside collections.
    calls: u64,
    /// Time inside these calls.
    call_ns: u64,
    /// The cost of one reading of the clock; it was subtracted for each reading.
    clock_reading_ns: u64,
    /// Requests that were served from the reserve.
    loans: u64,
    /// The largest of these requests, in bytes.
    largest_loan_bytes: u64,
    /// What the free lists did; absent if the heap has no free lists of surefit.
    #[serde(skip_serializing_if = "Option::is_none")]
    lists: Option<ListsRow>,
}

/// What the free lists did.
#[derive(Clone, Copy, Debug, JsonSchema, Serialize)]
struct ListsRow {
    /// Free chunks and list heads that searches visited.
    visits: u64,
    /// Updates of the Next Hit Table.
    table_updates: u64,
    /// Chunks that were split in two.
    splits: u64,
    /// Chunks that were merged with a free neighbour.
    merges: u64,
}

impl From<Counters> for ListsRow {
    fn from(counters: Counters) -> Self {
        Self {
            visits: counters.visits,
            table_updates: counters.table_updates,
            splits: counters.splits,
            merges: counters.merges,
        }
    }
}

impl Document {
    /// The document of a run; one reading of the clock costs `clock_reading_ns` nanoseconds.
    pub(super) fn new(
        file: String,
        space: String,
        heap_bytes: usize,
        done: &Done,
        clock_reading_ns: u64,
    ) -> Self {
        let counts = &done.ran.counts;
        let net = |ns: u64, readings: u64| ns.saturating_sub(readings * clock_reading_ns);
        Self {
            schema: SCHEMA,
            file,
            space,
            heap_bytes: heap_bytes as u64,
            completed: done.ran.result.is_ok(),
            error: done.ran.result.as_ref().err().map(Failure::to_string),
            allocations: counts.allocations,
            requested_bytes: counts.requested_bytes,
            frees: counts.frees,
            resizes: counts.resizes,
            peak_bytes: counts.peak_bytes,
            peak_kept_bytes: counts.peak_kept_bytes,
            collections: counts.collections,
            collection_ns: net(counts.collection_ticks, counts.collections),
            collection_frees: counts.swept,
            calls: counts.timed_calls,
            call_ns: net(counts.call_ticks, counts.timed_calls),
            clock_reading_ns,
            loans: counts.loans,
            largest_loan_bytes: counts.largest_loan_bytes,
            lists: done.counters.map(ListsRow::from),
        }
    }

    /// The document in a few lines for people.
    pub(super) fn text(&self) -> String {
        let ms = |ns: u64| ns as f64 / 1e6;
        let mut text = format!(
            "surefit gc lua: {} on {}, heap {} B\n\
             requested:   {} allocations of {} B, {} frees, {} resizes; at most {} B at once, {} B after a collection\n\
             collections: {}, {:.1} ms, with {} frees\n\
             heap:        {} calls outside collections, {:.1} ms, after subtracting {} ns per call for the clock\n\
             reserve:     {} loans, the largest of {} B\n",
            self.file,
            self.space,
            grouped(self.heap_bytes),
            grouped(self.allocations),
            grouped(self.requested_bytes),
            grouped(self.frees),
            grouped(self.resizes),
            grouped(self.peak_bytes),
            grouped(self.peak_kept_bytes),
            grouped(self.collections),
            ms(self.collection_ns),
            grouped(self.collection_frees),
            grouped(self.calls),
            ms(self.call_ns),
            self.clock_reading_ns,
            grouped(self.loans),
            grouped(self.largest_loan_bytes),
        );
        if let Some(lists) = self.lists {
            let each = |count: u64| count as f64 / self.allocations.max(1) as f64;
            text += &format!(
                "lists:       per allocation: {:.2} visits, {:.3} table updates, {:.2} splits; {:.2} merges\n",
                each(lists.visits),
                each(lists.table_updates),
                each(lists.splits),
                each(lists.merges),
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_schema_is_that_of_the_type() {
        surefit_measure::schema::is_committed::<super::Document>("gc-lua.json");
    }
}
