//! `surefit experiment gc-times`: the thesis's three times against the heap's size, for every
//! program: without a table, with it, and which coalescing is best then.
//!
//! | file | holds |
//! | --- | --- |
//! | `measure` | all systems in heaps of all sizes, in interleaved rounds |
//! | `claims` | what the thesis says of the times, with verdicts over all programs |
//! | `tables` | smallest heaps, times and collections |
//! | `plots` | figures 4-1 to 4-13 and, at most four lines each |
//!
//! # Source
//! The thesis on free-list organisation, figures 4-1 to 4-13 and.

mod claims;
mod measure;
mod plots;
mod tables;

use anyhow::Result;

use self::measure::measure;
use crate::kit::{Entry, Report, Request, papers};
use crate::shared::thesis::{java, systems};

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "gc-times",
    about: "Allocation, collection and heap management time against heap size",
    takes_traces: false,
    takes_rounds: true,
    run,
};

const SOURCE: &str = papers::of_the_thesis!("figures 4-1 to 4-13 and A-1 to A-15");

fn run(request: &Request) -> Result<Report> {
    let programs = java::all(request).into_iter();
    let found = programs.map(|java| measure(&java, request));
    let found = found.collect::<Result<Vec<_>>>()?;
    let mut report = Report::new(ENTRY.name, ENTRY.about, SOURCE, request.quick);
    report.setting = setting();
    report.tables = tables::all(&found);
    report.plots = plots::all(&found);
    report.claims = claims::all(&found);
    report.notes = notes(&found);
    Ok(report)
}

fn setting() -> Vec<String> {
    vec![
        systems::setting(),
        "Heaps are multiples of the common minimum: the least of the smallest heaps of never, deferred and immediate in one \
         heap, found by bisection with the table; all bytes counted."
            .to_owned(),
        "Times of a Java machine while it interprets the program, in interleaved rounds: a wall clock is read before and after each \
         allocation, as in the thesis, and at both ends of marking and sweeping; its own cost is taken off. Clearing an object \
         and updates of the table belong to its allocation."
            .to_owned(),
        "A claim is judged in the heaps in which both systems collect: where nothing is collected, nothing is decided."
            .to_owned(),
    ]
}

fn notes(found: &[measure::Measured]) -> Vec<String> {
    let names: Vec<_> = found.iter().map(|one| one.name.as_str()).collect();
    let lines = "Figures 4-11 to 4-13 and the appendix show four configurations that the thesis does not name: here the three \
                 with the table, and immediate without it.";
    let absent = "A dash: the program does not complete in that heap.";
    let mut notes = vec![lines.to_owned(), absent.to_owned()];
    notes.extend(java::missing(&names));
    notes
}
