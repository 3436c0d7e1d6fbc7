//! The output of `surefit gc java`: one document, as JSON or as a few lines. Every key names its
//! unit.

use schemars::JsonSchema;
use serde::Serialize;
use surefit_vm::{Least, Ran};

use surefit_measure::output::grouped;
use surefit_measure::results::SCHEMA;

/// What was run.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) file: String,
    pub(super) main: String,
    pub(super) space: String,
    pub(super) heap_bytes: usize,
    pub(super) smallest: Option<Least>,
}

/// The document.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Document {
    /// The version of this format.
    schema: u32,
    /// The jar or the folder, as given.
    file: String,
    /// The class whose `main` was run.
    main: String,
    /// The space, as given.
    space: String,
    /// Bytes of the heap, tables included.
    heap_bytes: u64,
    /// The smallest heap in which the program runs, in bytes, to within a sixty-fourth; absent if
    /// it was not searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    smallest_heap_bytes: Option<u64>,
    /// The exit status of the program.
    status: i32,
    /// Whether an object found no room, even after a collection.
    was_full: bool,
    /// Classes that were loaded.
    classes: u64,
    /// Objects that were allocated.
    allocations: u64,
    /// The sum of their sizes, in bytes.
    requested_bytes: u64,
    /// Collections, or cycles of a collector in steps.
    collections: u64,
    /// Objects marked, over all collections.
    marked_objects: u64,
    /// References followed, over all collections.
    references: u64,
    /// Objects freed.
    freed_objects: u64,
    /// Headers that sweeps read.
    swept_headers: u64,
    /// Time of marking.
    mark_ns: u64,
    /// Time of sweeping.
    sweep_ns: u64,
    /// Free chunks and list heads that searches visited.
    visits: u64,
    /// Updates of the Next Hit Table.
    table_updates: u64,
    /// Chunks that were split in two.
    splits: u64,
    /// Chunks that were merged with a free neighbour.
    merges: u64,
}

impl Document {
    pub(super) fn new(subject: Subject, ran: &Ran) -> Self {
        let (totals, counters) = (&ran.totals, &ran.counters);
        Self {
            schema: SCHEMA,
            file: subject.file,
            main: subject.main,
            space: subject.space,
            heap_bytes: subject.heap_bytes as u64,
            smallest_heap_bytes: subject.smallest.map(|least| least.bytes as u64),
            status: ran.status,
            was_full: ran.was_full,
            classes: ran.classes as u64,
            allocations: totals.allocations,
            requested_bytes: totals.requested_bytes,
            collections: totals.collections,
            marked_objects: totals.marked,
            references: totals.edges,
            freed_objects: totals.freed_objects,
            swept_headers: totals.visited,
            mark_ns: totals.mark_ticks,
            sweep_ns: totals.sweep_ticks,
            visits: counters.visits,
            table_updates: counters.table_updates,
            splits: counters.splits,
            merges: counters.merges,
        }
    }

    /// The document in a few lines for people.
    pub(super) fn text(&self) -> String {
        let ms = |ns: u64| ns as f64 / 1e6;
        let smallest = self.smallest_heap_bytes.map_or_else(String::new, |bytes| {
            format!(
                ", {:.2} x the smallest",
                self.heap_bytes as f64 / bytes as f64
            )
        });
        format!(
            "surefit gc java: {} of {} on {}, heap {} B{smallest}\n\
             requested:   {} objects of {} B; {} classes\n\
             collections: {}, {:.1} ms of marking {} objects, {:.1} ms of sweeping {}\n\
             lists:       {} visits, {} table updates, {} splits, {} merges\n",
            self.main,
            self.file,
            self.space,
            grouped(self.heap_bytes),
            grouped(self.allocations),
            grouped(self.requested_bytes),
            grouped(self.classes),
            grouped(self.collections),
            ms(self.mark_ns),
            grouped(self.marked_objects),
            ms(self.sweep_ns),
            grouped(self.swept_headers),
            grouped(self.visits),
            grouped(self.table_updates),
            grouped(self.splits),
            grouped(self.merges),
        )
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_schema_is_that_of_the_type() {
        surefit_measure::schema::is_committed::<super::Document>("gc-java.json");
    }
}
