//! `surefit experiment gc-table-updates`: how often the Next Hit Table changes, and its size.
//!
//! ```text
//! systems    one heap, found by the table: never, deferred, immediate; ours (two ends, tree) with the table
//! update     a list became non-empty or empty, while the program ran or by a collection, which makes the table anew
//! heap       the first of 2, 1.5, 1.25, 1.1 and 1 x the smallest heap of deferred in which deferred collects; and others
//! ```
//! The thesis counts the lists that a collection fills: of its updates, 25 to 30 more are for lists
//! that became non-empty than for lists that became empty, in every program. That is the number of
//! lists that hold a chunk at the end. Every figure is counted.
//!
//! # Source
//! The thesis on free-list organisation, table 3-1; "the table costs some KB".

mod claims;
mod counted;
mod space;
mod tables;

use anyhow::Result;
use surefit_clients::java::Finds;
use surefit_freelist::When;
use surefit_vm::Watching;

use self::counted::{Counted, Row};
use crate::kit::{Entry, Report, Request, papers};
use crate::shared::merges::MERGES;
use crate::shared::thesis::collecting::{self, Collecting, collecting};
use crate::shared::thesis::heaps::outcome;
use crate::shared::thesis::java::{self, Java, counterpart};
use crate::shared::thesis::systems::{self, System};

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "gc-table-updates",
    about: "How often Java programs change the Next Hit Table",
    takes_traces: false,
    takes_rounds: false,
    run,
};

/// Heaps in which updates are counted beside it, in multiples of deferred's smallest.
const HEAPS: [f64; 4] = [1.0, 1.5, 2.0, 4.0];

/// Those of a quick run.
const QUICK_HEAPS: [f64; 2] = [1.0, 2.0];

/// The thesis's lists, found by the table.
const fn thesis(merges: When) -> System {
    System::thesis(merges, Finds::NextHitTable)
}

/// Ours, with the table in the place of its bitmap.
fn ours(merges: When) -> System {
    let system = System::ours(merges);
    let mut lists = system.lists;
    lists.finds = Finds::NextHitTable;
    System { lists, ..system }
}

/// All of them: those that the claims are about first.
fn all_systems() -> impl Iterator<Item = System> {
    let merging = [When::Deferred, When::Immediate];
    MERGES.map(thesis).into_iter().chain(merging.map(ours))
}

fn run(request: &Request) -> Result<Report> {
    let source = papers::of_the_thesis!("table 3-1");
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting = vec![
        systems::setting(),
        "An update is a list that becomes non-empty or empty. Collections are included, as in the thesis: a list that \
         held no chunk before a collection and holds one after it became non-empty. Counted: the same run gives the \
         same figures."
            .to_owned(),
        collecting::setting() + " Ours has the table instead of its bitmap here.",
    ];
    let heaps: &[f64] = if request.quick { &QUICK_HEAPS } else { &HEAPS };
    let mut rows = Vec::new();
    let mut by_heap = Vec::new();
    for java in java::all(request) {
        let heap = collecting(&java)?;
        rows.push(measured(&java, heap)?);
        by_heap.push((java.name.to_owned(), in_heaps(&java, heap, heaps)?));
    }
    report.tables.extend([
        tables::updates(&rows),
        tables::sums(&rows),
        tables::origins(&rows),
        space::table(&space::measured()),
    ]);
    report.plots.push(tables::plot(&rows));
    for (name, in_heaps) in &by_heap {
        report.tables.push(tables::by_heap(name, in_heaps));
        report.plots.extend(tables::plot_by_heap(name, in_heaps));
    }
    report.claims = claims::all(&rows);
    report.claims.push(space::claim(&space::measured()));
    let names: Vec<_> = rows.iter().map(|row| row.name.as_str()).collect();
    report.notes.extend(java::missing(&names));
    report.notes.push(
        "The thesis does not say in which heaps it counted, and its lists end at 1 KB where ours end at 2 KiB.".to_owned(),
    );
    Ok(report)
}

/// Counts all systems in the heap of a program.
fn measured(java: &Java, heap: Collecting) -> Result<Row> {
    let mut all = Vec::new();
    for system in all_systems() {
        all.extend(counted(java, system, heap.bytes())?);
    }
    Ok(Row {
        name: java.name.to_owned(),
        heap,
        counted: all,
        theirs: counterpart(java.name).and_then(|theirs| theirs.updates),
    })
}

/// What a system counts in a heap; `None` if the program does not complete.
fn counted(java: &Java, system: System, bytes: usize) -> Result<Option<Counted>> {
    let found = outcome(java, system, bytes, Watching::default())?;
    Ok(found.map(|outcome| Counted::new(system, &outcome)))
}

/// What the thesis's strategies count in several heaps.
fn in_heaps(
    java: &Java,
    heap: Collecting,
    heaps: &[f64],
) -> Result<Vec<(f64, [Option<Counted>; 3])>> {
    let one = |&multiple: &f64| {
        let bytes = heap.times(multiple);
        let mut all = [None; 3];
        for (found, merges) in all.iter_mut().zip(MERGES) {
            *found = counted(java, thesis(merges), bytes)?;
        }
        Ok((multiple, all))
    };
    heaps.iter().map(one).collect()
}
