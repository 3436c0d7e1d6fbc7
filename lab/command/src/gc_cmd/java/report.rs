//! The output of `surefit gc java`: one document, as JSON or as a few lines. Every key names its
//! unit.

use schemars::JsonSchema;
use serde::Serialize;
use surefit_clients::java::{Ran as Stepped, WINDOWS_NS, utilisation};
use surefit_gc::schedule::Pauses;
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
    /// Time of marking: processor time of the thread, as all times.
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
    /// How a collector in steps stopped the program; absent for other collectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pauses: Option<Stops>,
}

/// How a collector in steps stopped the program.
#[derive(Debug, JsonSchema, Serialize)]
struct Stops {
    /// How often. Work between which the program did nothing is one pause.
    count: u64,
    /// The longest.
    longest_ns: u64,
    /// 99 of 100 are at most as long: at most a quarter too large.
    p99_ns: u64,
    /// The most units of work of a step, except the roots.
    largest_step_units: u64,
    /// The most units of work of the roots of a cycle.
    largest_roots_units: u64,
    /// Requests that found no room, so that a cycle was finished, or run, at once.
    forced: u64,
    /// The least share of a window that the program had; shorter windows than the run only.
    utilisation: Vec<Share>,
}

/// The least share of all windows of one length that the program had.
#[derive(Debug, JsonSchema, Serialize)]
struct Share {
    window_ns: u64,
    least: f64,
}

impl Stops {
    fn of(stepped: &Stepped) -> Self {
        let mut pauses = Pauses::new();
        let lengths = stepped.pauses.iter().map(|pause| pause.end - pause.start);
        lengths.for_each(|ns| pauses.add(ns));
        let shares = utilisation(&stepped.pauses, stepped.ticks);
        let shares = WINDOWS_NS.into_iter().zip(shares);
        let shares = shares.filter_map(|(window_ns, least)| {
            let least = least?;
            Some(Share { window_ns, least })
        });
        Self {
            count: pauses.count(),
            longest_ns: pauses.longest(),
            p99_ns: pauses.at_most(99, 100),
            largest_step_units: stepped.steps.largest_step,
            largest_roots_units: stepped.steps.largest_roots,
            forced: stepped.steps.forced + stepped.steps.whole,
            utilisation: shares.collect(),
        }
    }

    fn text(&self) -> String {
        let us = |ns: u64| ns as f64 / 1e3;
        let shares = self.utilisation.iter().map(|share| {
            let (ms, percent) = (share.window_ns as f64 / 1e6, 100.0 * share.least);
            format!("{percent:.0} % of {ms} ms")
        });
        let shares: Vec<String> = shares.collect();
        let shares = match shares.is_empty() {
            true => "it ended within the shortest window".to_owned(),
            false => format!("at least {}", shares.join(", ")),
        };
        format!(
            "pauses:      {}, longest {:.0} us, 99 % at most {:.0} us; {} forced\n\
             steps:       at most {} units of work, {} for roots\n\
             program:     {shares}\n",
            grouped(self.count),
            us(self.longest_ns),
            us(self.p99_ns),
            grouped(self.forced),
            grouped(self.largest_step_units),
            grouped(self.largest_roots_units),
        )
    }
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
            pauses: ran.stepped.as_ref().map(Stops::of),
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
        let pauses = self.pauses.as_ref().map_or_else(String::new, Stops::text);
        format!(
            "surefit gc java: {} of {} on {}, heap {} B{smallest}\n\
             requested:   {} objects of {} B; {} classes\n\
             collections: {}, {:.1} ms of marking {} objects, {:.1} ms of sweeping {}\n\
             lists:       {} visits, {} table updates, {} splits, {} merges\n\
             {pauses}",
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
    use surefit_clients::java::Ran as Stepped;

    use super::Stops;

    #[test]
    fn the_committed_schema_is_that_of_the_type() {
        surefit_measure::schema::is_committed::<super::Document>("gc-java.json");
    }

    #[test]
    fn pauses_leave_a_program_its_least_share_of_each_window_that_the_run_has() {
        let stops = Stops::of(&Stepped {
            ticks: 1_000_000,
            pauses: vec![50_000..200_000, 400_000..410_000],
            steps: Default::default(),
            paced: Default::default(),
            most_excess: 0,
            largest_cycle: 0,
            room: None,
            largest: Default::default(),
            most_kept: 0,
            requested_bytes: 0,
            floating: Default::default(),
        });
        let text = stops.text();
        assert!(
            text.starts_with("pauses:      2, longest 150 us, 99 % at most "),
            "{text}"
        );
        let program = "program:     at least 0 % of 0.1 ms, 50 % of 0.3 ms, 84 % of 1 ms\n";
        assert!(text.ends_with(program), "{text}");
    }
}
