//! `surefit experiment table-3`: memory of TLSF, and of Compact-fit with smallest page-blocks of 16
//! and 32 bytes.
//!
//! ```text
//! memory         the smallest region in which the program completes; headers and tables included
//! SCF            size-class fragmentation: free page-blocks of not-full pages, at the peak of live bytes
//! partitioning   page-block-internal + page-internal, at the same event
//! ```
//! Everything is counted. Objects over 16,200 B are left out of recorded programs, as the paper
//! left them out.
//!
//! # Source
//! Craciunas et al. (2009), table 3: "TLSF vs. optimized, non-compacting CF", that is, without
//! abstract addresses. `cf-paper` is that system, `cf-direct` is ours of the same kind. A claim is
//! judged for each of them. The compacting heap with handles, `cf:k=1`, is a further row.
//!
//! The paper's memory is what its allocators held on its own traces; our synthetic programs have as
//! many bytes *live*, so ratios are compared, not megabytes.

mod claims;
mod found;
mod published;

use anyhow::Result;

use self::found::{ALLOCATORS, OnProgram};
use self::published::Papers;
use crate::kit::{Cell, Entry, Report, Request, Table, papers};
use crate::shared::programs;
use surefit_measure::progress::Progress;
use surefit_measure::rounds::{self, Plan};
use surefit_measure::single::Setting;
use surefit_measure::sizes::{HeapSize, Size};
use surefit_measure::spec::Spec;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "table-3",
    about: "Memory of TLSF and of Compact-fit with smallest page-blocks of 16 and 32 bytes",
    takes_traces: true,
    takes_rounds: false,
    run,
};

/// The paper's two programs, and two real ones: one whose sizes stay, and one that has more sizes.
const PROGRAMS: [&str; 4] = [
    programs::EMACS_LIVES,
    programs::HUMMINGBIRD_LIVES,
    programs::EMACS,
    "bundled:redis",
];

/// Larger objects are left out: the paper leaves out those over 16 KB, and its largest size-class
/// ends here.
const LARGEST: usize = 16_200;

fn run(request: &Request) -> Result<Report> {
    let specs = Spec::parse_list(&ALLOCATORS.join(","))?;
    let names = programs::names(request, &PROGRAMS);
    let progress =
        Progress::new(plan(request).progress_steps() * (specs.len() * names.len()) as u64);
    let source = papers::of_2009!("table 3");
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting.push(
        "MB: the smallest region in which the program completes. SCF: size-class fragmentation; partition: \
         page-block-internal and page-internal; admin: headers, handles and tables; all three at the peak of live \
         bytes. Objects over 16,200 bytes, the papers' largest size-class, are left out."
            .to_owned(),
    );
    let mut all = Vec::new();
    for name in &names {
        let program = programs::load_up_to(name, request.quick, LARGEST)?;
        let measured = rounds::measure(&program, &specs, 0, plan(request), &progress)?;
        let on = OnProgram::new(&program, &measured);
        report.tables.push(table(&on));
        all.push(on);
    }
    progress.finish();
    report.claims = claims::all(&all);
    report.notes.push(
        "The paper's megabytes are what its allocators held on traces that are not public; ours are synthetic programs \
         with as many bytes live, or other programs: compare ratios. cf-paper has the paper's pages, size-classes and \
         alignment (4 bytes). cf-direct has smaller pages, and runs of 1 KiB for objects over 2 KiB. cf:k=1 has handles \
         (8 B an object) and moves objects; the paper's table has neither."
            .to_owned(),
    );
    Ok(report)
}

fn plan(request: &Request) -> Plan {
    Plan {
        setting: Setting {
            heap: HeapSize::DEFAULT,
            touch: !request.quick,
        },
        rounds: 0,
        access_rounds: 0,
        percentiles: false,
        min_heap: true,
        instructions: false,
        clock_ns: 0,
        brief: None,
    }
}

fn megabytes(bytes: Option<u64>) -> Cell {
    bytes.map(|bytes| bytes as f64 / 1e6).into()
}

fn table(on: &OnProgram) -> Table {
    let papers = Papers::of(&on.name);
    let theirs = |at: usize| papers.and_then(|papers| papers.row(at));
    let title = format!("{}, {} live", on.name, Size(on.live_bytes));
    Table::of(title, on.rows.iter().enumerate())
        .text("allocator", |(at, _)| ALLOCATORS[*at])
        .figure("MB", 2, |(_, row)| megabytes(row.memory))
        .figure("÷ tlsf", 3, |(at, _)| on.to_tlsf(*at))
        .figure("SCF MB", 2, |(_, row)| megabytes(row.size_class))
        .figure("partition MB", 2, |(_, row)| megabytes(row.partitioning))
        .figure("admin MB", 2, |(_, row)| megabytes(row.administrative))
        .papers("MB", 1, |(at, _)| theirs(*at).map(|(memory, _)| memory))
        .papers("÷", 3, |(at, _)| {
            papers.and_then(|papers| Some(papers.row(*at)?.0 / papers.tlsf))
        })
        .papers("SCF MB", 2, |(at, _)| theirs(*at).and_then(|(_, own)| own))
        .table()
}

#[cfg(test)]
mod tests {
    use super::found::{ALLOCATORS, OnProgram, Row};
    use super::table;
    use crate::kit::{Cell, Whose};

    #[test]
    fn the_papers_figures_stand_beside_its_own_systems_only() {
        let on = OnProgram {
            name: "emacs-paper".to_owned(),
            live_bytes: 25_700_000,
            rows: vec![Row::default(); ALLOCATORS.len()],
        };
        let table = table(&on);
        for (column, cells) in table.columns.iter().enumerate() {
            let cells = cells.whose == Whose::Papers;
            let filled = table
                .rows
                .iter()
                .filter(|row| row[column] != Cell::Absent)
                .map(|row| row[0].clone());
            let filled: Vec<_> = filled.collect();
            if cells {
                let compacting = Cell::from("cf:k=1,min=16");
                assert!(filled.len() >= 4 && !filled.contains(&compacting));
            }
        }
        let columns: usize = table
            .columns
            .iter()
            .map(|column| column.name.chars().count() + 3)
            .sum();
        assert!(columns < 90, "{columns}");
    }
}
