//! `surefit experiment table-3`: memory of TLSF, and of Compact-fit with smallest page-blocks of 16
//! and 32 bytes.
//!
//! ```text
//! memory         the smallest region in which the program completes; headers, handles and tables included
//! SCF            size-class fragmentation: free page-blocks of not-full pages, at the peak of live bytes
//! partitioning   page-block-internal + page-internal, at the same event
//! ```
//! Everything is counted. Objects over 16 KiB are left out of recorded programs, as the paper left
//! them out.
//!
//! # Source
//! Craciunas et al. (2008), table 3. The paper's memory is what its allocators held on its own
//! traces; our synthetic programs have as many bytes *live*, so ratios are compared, not megabytes.

use anyhow::Result;

use crate::kit::{Cell, Claim, Entry, Report, Request, Table};
use crate::shared::programs::{self, StandsFor};
use surefit_measure::progress::Progress;
use surefit_measure::ratio::or_not_measured;
use surefit_measure::results::AllocatorResult;
use surefit_measure::rounds::{self, Measured, Plan};
use surefit_measure::single::Setting;
use surefit_measure::sizes::{HeapSize, Size};
use surefit_measure::source::Source;
use surefit_measure::spec::Spec;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "table-3",
    about: "Memory of TLSF and of Compact-fit with smallest page-blocks of 16 and 32 bytes",
    takes_traces: true,
    takes_rounds: false,
    run,
};

/// The allocators; the first one is what the others are compared to.
const ALLOCATORS: [&str; 7] = [
    "tlsf",
    "cf-direct:min=16",
    "cf-direct:min=32",
    "cf:k=1,min=16",
    "cf:k=1,min=32",
    "cf:min=16",
    "cf:min=32",
];

/// The paper's Compact-fit compacts and has handles: 16 and 32 bytes.
const PAPERS_CF: [usize; 2] = [3, 4];

/// The optimised form without either.
const DIRECT: [usize; 2] = [1, 2];

/// Larger objects are left out, as in the paper.
const LARGEST: usize = 16 << 10;

/// Ratios that differ by less than this are the paper's.
const CLOSE: f64 = 0.05;

/// Memory that differs by less than this is the same.
const SAME: f64 = 0.02;

/// The paper's table for one program, in MB.
#[derive(Clone, Copy, Debug)]
struct Papers {
    tlsf: f64,
    /// With smallest page-blocks of 16 and 32 bytes: memory, size-class fragmentation.
    cf: [(f64, f64); 2],
}

const EMACS: Papers = Papers {
    tlsf: 25.7,
    cf: [(34.6, 0.46), (34.5, 0.38)],
};
const HUMMINGBIRD: Papers = Papers {
    tlsf: 203.7,
    cf: [(245.3, 8.3), (245.9, 11.4)],
};

impl Papers {
    fn of(trace: &str) -> Option<Self> {
        StandsFor::of(trace).choose(EMACS, HUMMINGBIRD)
    }

    /// Memory and size-class fragmentation in the row of an allocator; the paper has one
    /// Compact-fit, which ours all stand beside.
    fn row(self, at: usize) -> (f64, Option<f64>) {
        match at {
            0 => (self.tlsf, None),
            _ => {
                let (memory, fragmentation) = self.cf[(at + 1) % 2];
                (memory, Some(fragmentation))
            }
        }
    }
}

fn run(request: &Request) -> Result<Report> {
    let specs = Spec::parse_list(&ALLOCATORS.join(","))?;
    let names = programs::names(request, &programs::PAPERS);
    let progress =
        Progress::new(plan(request).progress_steps() * (specs.len() * names.len()) as u64);
    let source = "Craciunas et al. (2008), table 3";
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting.push(
        "MB: the smallest region in which the program completes. SCF: size-class fragmentation, and partition: \
         page-block-internal and page-internal, both at the peak of live bytes."
            .to_owned(),
    );
    for name in &names {
        let program = programs::load_up_to(name, request.quick, LARGEST)?;
        let measured = rounds::measure(&program, &specs, 0, plan(request), &progress)?;
        add_program(&mut report, &program, &measured);
    }
    progress.finish();
    report.notes.push(
        "The paper's megabytes are what its allocators held on traces that are not public; ours are synthetic programs \
         with as many bytes live, or other programs. Compare ratios. The published page-blocks waste more of a page than ours. cf has handles (8 B an object) and \
         moves; cf-direct has neither."
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

fn add_program(report: &mut Report, program: &Source, measured: &[Measured]) {
    let rows: Vec<_> = measured.iter().map(|row| Row::of(&row.result)).collect();
    let name = &program.steps.name;
    let title = format!("{name}, {} live", Size(program.steps.peak_live_bytes));
    report.tables.push(table(&title, name, &rows));
    report
        .claims
        .extend(Papers::of(name).map(|papers| more_than_tlsf(name, papers, &rows)));
    report.claims.push(partitioning_dominates(name, &rows));
    report.claims.push(smallest_hardly_matters(name, &rows));
}

/// Bytes of one allocator.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    memory: Option<u64>,
    size_class: Option<u64>,
    partitioning: Option<u64>,
}

impl Row {
    fn of(result: &AllocatorResult) -> Self {
        let parts = result.at_peak;
        // an allocator without size-classes has neither
        let has_classes = !result.allocator.starts_with("tlsf");
        let parts = parts.filter(|_| has_classes);
        Self {
            memory: result.min_heap_bytes,
            size_class: parts.map(|parts| parts.size_class_bytes),
            partitioning: parts
                .map(|parts| parts.page_block_internal_bytes + parts.page_internal_bytes),
        }
    }
}

fn megabytes(bytes: Option<u64>) -> Cell {
    bytes.map(|bytes| bytes as f64 / 1e6).into()
}

fn ratio(own: Option<u64>, base: Option<u64>) -> Option<f64> {
    own.zip(base)
        .map(|(own, base)| own as f64 / base.max(1) as f64)
}

fn table(title: &str, name: &str, rows: &[Row]) -> Table {
    let papers = Papers::of(name);
    Table::of(title, rows.iter().enumerate())
        .text("allocator", |(at, _)| ALLOCATORS[*at])
        .figure("MB", 2, |(_, row)| megabytes(row.memory))
        .figure("÷ tlsf", 3, |(_, row)| ratio(row.memory, rows[0].memory))
        .figure("SCF MB", 2, |(_, row)| megabytes(row.size_class))
        .figure("partition MB", 2, |(_, row)| megabytes(row.partitioning))
        .papers("MB", 1, |(at, _)| papers.map(|papers| papers.row(*at).0))
        .papers("÷", 3, |(at, _)| {
            papers.map(|papers| papers.row(*at).0 / papers.tlsf)
        })
        .papers("SCF", 2, |(at, _)| {
            papers.and_then(|papers| papers.row(*at).1)
        })
        .table()
}

// ---- claims
// --------------------------------------------------------------------------------------------------------------

/// A figure of two allocators, which differ in their smallest page-blocks.
fn of_both(rows: [usize; 2], figure: impl Fn(usize) -> Option<f64>) -> Option<[f64; 2]> {
    let [small, large] = rows.map(figure);
    small.zip(large).map(|(small, large)| [small, large])
}

fn papers_figures(name: &str, show: impl Fn(Papers) -> [f64; 2]) -> String {
    Papers::of(name).map_or_else(String::new, |papers| {
        let [small, large] = show(papers);
        format!("16 B {small:.3}, 32 B {large:.3}")
    })
}

fn ours(figures: Option<[f64; 2]>) -> String {
    or_not_measured(figures.map(|[small, large]| format!("16 B {small:.3}, 32 B {large:.3}")))
}

/// How much more than TLSF; only for what stands for a program of the paper.
fn more_than_tlsf(name: &str, papers: Papers, rows: &[Row]) -> Claim {
    let of_tlsf = |at: usize| ratio(rows[at].memory, rows[0].memory);
    let (ratios, direct) = (of_both(PAPERS_CF, of_tlsf), of_both(DIRECT, of_tlsf));
    let papers_ratios = papers.cf.map(|(memory, _)| memory / papers.tlsf);
    let is_close = |ratios: [f64; 2]| {
        ratios
            .iter()
            .zip(papers_ratios)
            .all(|(own, papers)| (own - papers).abs() <= CLOSE)
    };
    Claim::that(format!(
        "{name}: Compact-fit needs {:.0} % more memory than TLSF",
        (papers_ratios[1] - 1.0) * 100.0
    ))
    .papers(format!("÷ TLSF: {}", ours(Some(papers_ratios))))
    .ours(format!(
        "÷ tlsf: κ=1 {}; cf-direct {}",
        ours(ratios),
        ours(direct)
    ))
    .decide(
        ratios.map(is_close),
        "the ratios at κ=1 are within 0.05 of the paper's",
    )
}

fn partitioning_dominates(name: &str, rows: &[Row]) -> Claim {
    let shares = of_both(PAPERS_CF, |at| ratio(rows[at].size_class, rows[at].memory));
    let partitioning = of_both(PAPERS_CF, |at| {
        ratio(rows[at].partitioning, rows[at].memory)
    });
    let test = shares
        .zip(partitioning)
        .map(|(own, other)| own.iter().zip(other).all(|(own, other)| *own < other));
    Claim::that(format!(
        "{name}: fragmentation through partitioning dominates size-class \
         fragmentation"
    ))
    .papers(papers_figures(name, |papers| {
        papers.cf.map(|(memory, own)| own / memory)
    }))
    .ours(format!(
        "SCF ÷ memory: {}; partitioning ÷ memory: {}",
        ours(shares),
        ours(partitioning)
    ))
    .decide(
        test,
        "at κ=1 size-class fragmentation is less than page-block-internal and \
         page-internal fragmentation",
    )
}

fn smallest_hardly_matters(name: &str, rows: &[Row]) -> Claim {
    let [small, large] = PAPERS_CF;
    let change = ratio(rows[large].memory, rows[small].memory);
    let papers = Papers::of(name).map_or_else(String::new, |papers| {
        format!("{:.3}", papers.cf[1].0 / papers.cf[0].0)
    });
    Claim::that(format!(
        "{name}: a smallest page-block of 32 B instead of 16 B hardly changes \
         the memory"
    ))
    .papers(papers)
    .measured(change.map(|change| format!("{change:.3}")))
    .decide(
        change.map(|change| (change - 1.0).abs() <= SAME),
        "memory at κ=1 with 32 B is within 2 % of that with 16 B",
    )
}

#[cfg(test)]
mod tests {
    use super::{
        ALLOCATORS, EMACS, Row, more_than_tlsf, partitioning_dominates, smallest_hardly_matters,
    };
    use crate::kit::Verdict;

    fn rows(cf: [u64; 2], size_class: u64) -> Vec<Row> {
        let mut rows = vec![Row::default(); ALLOCATORS.len()];
        rows[0].memory = Some(1000);
        for (at, memory) in [3, 4].into_iter().zip(cf) {
            rows[at] = Row {
                memory: Some(memory),
                size_class: Some(size_class),
                partitioning: Some(100),
            };
        }
        rows
    }

    #[test]
    fn verdicts_follow_the_figures() {
        let verdicts = |rows: &[Row]| {
            [
                more_than_tlsf("t", EMACS, rows),
                partitioning_dominates("t", rows),
                smallest_hardly_matters("t", rows),
            ]
            .map(|claim| claim.verdict)
        };
        assert_eq!(verdicts(&rows([1350, 1340], 20)), [Verdict::Holds; 3]);
        assert_eq!(verdicts(&rows([1010, 1340], 120)), [Verdict::DoesNot; 3]);
        assert_eq!(
            verdicts(&vec![Row::default(); ALLOCATORS.len()]),
            [Verdict::NotComparable; 3]
        );
    }

    #[test]
    fn the_papers_rows_are_those_of_its_table() {
        assert_eq!(EMACS.row(0), (25.7, None));
        for (at, name) in ALLOCATORS.iter().enumerate().skip(1) {
            let papers = if name.contains("min=16") {
                (34.6, Some(0.46))
            } else {
                (34.5, Some(0.38))
            };
            assert_eq!(EMACS.row(at), papers, "{name}");
        }
    }
}
