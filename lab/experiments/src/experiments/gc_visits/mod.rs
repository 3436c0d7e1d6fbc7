//! `surefit experiment gc-visits`: how many free chunks and heads an allocation looks at, how that
//! grows from one collection to the next, and what the strategies leave unused.
//!
//! ```text
//! systems    one heap, heads walked: never, deferred, immediate, and a single list, first fit; beside them deferred and
//!            immediate with the table, and ours (two ends, tree) with heads walked
//! heaps      6 MiB, as the thesis's, where the program completes; and one in which deferred collects
//! visits     free chunks and heads that searches look at, in samples of 1024 allocations
//! unused     bytes that are free when a request cannot be served, in percent of the heap
//! ```
//! Everything is counted: the same run gives the same figures.
//!
//! # Source
//! The thesis on free-list organisation: table 2-2 and figure 3-1; figure 3-2, the heap before the
//! first collection; "fast start".

mod before;
mod claims;
mod measured;
mod samples;
mod tables;

use anyhow::Result;

use self::measured::{Found, measured};
use crate::kit::{Entry, Report, Request, papers};
use crate::shared::thesis::collecting;
use crate::shared::thesis::java;
use crate::shared::thesis::systems;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "gc-visits",
    about: "Free chunks and list heads that an allocation visits, over a program's life",
    takes_traces: false,
    takes_rounds: false,
    run,
};

const SOURCE: &str = papers::of_the_thesis!("table 2-2 and figures 3-1 and 3-2");

fn run(request: &Request) -> Result<Report> {
    let found = java::all(request).into_iter();
    let found = found.map(|java| measured(&java));
    let found = found.collect::<Result<Vec<Found>>>()?;
    let mut report = Report::new(ENTRY.name, ENTRY.about, SOURCE, request.quick);
    report.setting = vec![
        systems::setting(),
        "The single list is first fit with immediate coalescing. A visit is a look at a free chunk or at a head of a list; \
         reading the table is none. Unused: what is free when a request cannot be served, in percent of the heap, on \
         average over the collections. Counted."
            .to_owned(),
        collecting::setting(),
    ];
    for is_thesis in [true, false] {
        report.tables.extend(tables::visits(&found, is_thesis));
    }
    report
        .tables
        .extend([tables::unused(&found), tables::before(&found)]);
    for one in &found {
        report.plots.extend(tables::plots(one));
    }
    report.claims = claims::all(&found);
    let names: Vec<_> = found.iter().map(|one| one.name.as_str()).collect();
    report.notes.extend(java::missing(&names));
    report.notes.push(
        "A heap of 6 MiB is left out where the program does not complete in it with deferred coalescing: more lives in it \
         than in the thesis's programs, or its large arrays need room in one piece."
            .to_owned(),
    );
    Ok(report)
}
