//! `surefit experiment gc-size-classes`: how many sizes most objects have.
//!
//! Sizes are those of the virtual machine, headers included; the most frequent are taken first.
//!
//! # Source
//! The thesis on free-list organisation, table 2-1: why exact lists for small sizes serve nearly
//! all requests.

use anyhow::Result;
use surefit_trace::graph::Stats;

use crate::kit::{Axis, Claim, Entry, Plot, Report, Request, Series, Table};
use crate::shared::thesis::published::{AVERAGE_SHARES, Benchmark};
use crate::shared::thesis::recorded::{counterpart, files, name};
use surefit_measure::collector::graphs;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "gc-size-classes",
    about: "How many sizes the objects of recorded Java programs have",
    takes_traces: true,
    takes_rounds: false,
    run,
};

/// Programs whose allocations differ by more than this factor are not alike.
const ALIKE: f64 = 4.0;

/// Ranks of sizes that are drawn.
const DRAWN: usize = 64;

/// What was counted of a program.
#[derive(Clone, Debug)]
struct Row {
    name: String,
    allocations: u64,
    /// The sizes of all objects, of 90 % of them, of 99 % of them.
    sizes: [u64; 3],
    counterpart: Option<&'static Benchmark>,
}

impl Row {
    fn new(name: String, stats: &Stats) -> Self {
        Self {
            counterpart: counterpart(&name),
            allocations: stats.allocations,
            sizes: [100, 90, 99].map(|percent| stats.sizes_for(percent) as u64),
            name,
        }
    }

    /// The thesis's program, if it allocates about as many objects.
    fn alike(&self) -> Option<&'static Benchmark> {
        let theirs = self.counterpart?;
        let ratio = self.allocations as f64 / f64::from(theirs.updates?.allocations);
        ((1.0 / ALIKE)..=ALIKE).contains(&ratio).then_some(theirs)
    }
}

/// The sizes of 90 % and of 99 % of the objects, in percent of all sizes.
fn shares(sizes: [f64; 3]) -> [f64; 2] {
    [100.0 * sizes[1] / sizes[0], 100.0 * sizes[2] / sizes[0]]
}

fn our_shares(row: &Row) -> [f64; 2] {
    shares(row.sizes.map(|count| count as f64))
}

fn their_shares(benchmark: &Benchmark) -> [f64; 2] {
    shares(benchmark.sizes.map(f64::from))
}

fn run(request: &Request) -> Result<Report> {
    let source = "the thesis on free-list organisation, table 2-1";
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting.push(
        "Sizes of allocated objects in the virtual machine, in bytes, headers included; counted."
            .to_owned(),
    );
    let mut rows = Vec::new();
    let mut series = Vec::new();
    for file in files(request)? {
        let stats = Stats::read(graphs::open(&file)?)?;
        series.push(covered(name(&file), &stats));
        rows.push(Row::new(name(&file), &stats));
    }
    report.tables.extend([counts(&rows), percents(&rows)]);
    report.plots.push(Plot {
        title: "objects that the most frequent sizes cover".to_owned(),
        x: Axis::logarithmic("sizes, the most frequent first"),
        y: Axis::from_zero("% of the objects"),
        series,
    });
    report.claims = claims(&rows);
    report.notes.push(
        "The thesis's printed averages (10 % and 13 % of the sizes) are not those of the rows it prints (9.3 % and 19.2 %); its \
         programs ran in a virtual machine of 32 bits."
            .to_owned(),
    );
    Ok(report)
}

/// The share of the objects that so many sizes cover.
fn covered(name: String, stats: &Stats) -> Series {
    let mut sum = 0;
    let points = stats.sizes.iter().take(DRAWN).zip(1_u32..);
    let points = points.map(|(size, rank)| {
        sum += size.allocations;
        let percent = 100.0 * sum as f64 / stats.allocations as f64;
        (f64::from(rank), percent)
    });
    Series::new(name, points.collect::<Vec<_>>())
}

fn counts(rows: &[Row]) -> Table {
    let title = "allocated objects, and how many sizes all of them, 90 % and 99 % of them have; in brackets: the thesis's program";
    let theirs =
        |at: usize| move |row: &&Row| row.counterpart.map(|counterpart| counterpart.sizes[at]);
    Table::of(title, rows)
        .text("program", |row| both_names(row))
        .figure("objects", 0, |row| row.allocations)
        .figure("sizes", 0, |row| row.sizes[0])
        .figure("90 %", 0, |row| row.sizes[1])
        .figure("99 %", 0, |row| row.sizes[2])
        .papers("objects", 0, |row| {
            Some(row.counterpart?.updates?.allocations)
        })
        .papers("sizes", 0, theirs(0))
        .papers("90 %", 0, theirs(1))
        .papers("99 %", 0, theirs(2))
        .table()
}

/// The program, and the thesis's where that is another one.
fn both_names(row: &Row) -> String {
    match row.counterpart {
        Some(theirs) if theirs.name != row.name => format!("{} ({})", row.name, theirs.name),
        _ => row.name.clone(),
    }
}

fn percents(rows: &[Row]) -> Table {
    let title = "sizes of 90 % and of 99 % of the objects, in percent of all sizes";
    let mut table = Table::of(
        title,
        rows.iter().map(|row| {
            let ours = our_shares(row);
            let theirs = row.counterpart.map(their_shares);
            (row, ours, theirs)
        }),
    )
    .text("program", |(row, _, _)| row.name.clone())
    .figure("% of sizes, 90 %", 1, |(_, ours, _)| ours[0])
    .figure("99 %", 1, |(_, ours, _)| ours[1])
    .papers("90 %", 1, |(_, _, theirs)| theirs.map(|theirs| theirs[0]))
    .papers("99 %", 1, |(_, _, theirs)| theirs.map(|theirs| theirs[1]))
    .table();

    let mean = mean_shares(rows);
    let printed = AVERAGE_SHARES;
    table.row([
        "mean; printed average".into(),
        mean.map(|mean| mean[0]).into(),
        mean.map(|mean| mean[1]).into(),
        printed[0].into(),
        printed[1].into(),
    ]);
    table
}

fn mean_shares(rows: &[Row]) -> Option<[f64; 2]> {
    let sum = rows
        .iter()
        .map(our_shares)
        .reduce(|a, b| [a[0] + b[0], a[1] + b[1]]);
    sum.map(|sum| sum.map(|sum| sum / rows.len() as f64))
}

fn claims(rows: &[Row]) -> Vec<Claim> {
    let means = [("90", 0), ("99", 1)].map(|(percent, at)| few(rows, percent, at));
    means.into_iter().chain(rows.iter().map(as_many)).collect()
}

fn few(rows: &[Row], percent: &str, at: usize) -> Claim {
    let mean = mean_shares(rows).map(|mean| mean[at]);
    let printed = AVERAGE_SHARES[at];
    Claim::that(format!(
        "few sizes: {percent} % of the objects have {printed} % of the sizes"
    ))
    .papers(format!(
        "table 2-1: {printed} % on average over its programs"
    ))
    .measured(mean.map(|mean| format!("{mean:.1} % on average over {} programs", rows.len())))
    .decide(
        mean.map(|mean| mean <= printed),
        format!("counted; it holds up to {printed} %"),
    )
}

fn as_many(row: &Row) -> Claim {
    let alike = row.alike();
    let is_near = |theirs: &Benchmark| {
        let both = row.sizes.iter().zip(theirs.sizes);
        both.into_iter().all(|(ours, theirs)| {
            let ratio = *ours as f64 / f64::from(theirs);
            (0.5..=2.0).contains(&ratio)
        })
    };
    let figures = row.counterpart.map(|theirs| {
        let [all, most, nearly] = theirs.sizes;
        format!(
            "{}: {all} sizes, {most} of 90 %, {nearly} of 99 %",
            theirs.name
        )
    });
    let [all, most, nearly] = row.sizes;
    Claim::that(format!(
        "{}: as many sizes as the thesis's program",
        row.name
    ))
    .papers(figures.unwrap_or_else(|| "no program of this kind".to_owned()))
    .ours(format!("{all} sizes, {most} of 90 %, {nearly} of 99 %"))
    .decide(
        alike.map(is_near),
        format!(
            "counted; each number is within a factor of 2; not comparable if the \
             programs' allocations differ by more than {ALIKE} x"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::{Row, claims};
    use crate::kit::Verdict;
    use crate::shared::thesis::recorded::counterpart;

    fn verdicts(name: &str, allocations: u64, sizes: [u64; 3]) -> Vec<Verdict> {
        let row = Row {
            name: name.to_owned(),
            allocations,
            sizes,
            counterpart: counterpart(name),
        };
        claims(&[row]).iter().map(|claim| claim.verdict).collect()
    }

    #[test]
    fn the_thesis_holds_in_its_own_figures() {
        let found = verdicts("javac", 222_891, [166, 12, 20]);
        assert_eq!(found, [Verdict::Holds; 3]);
    }

    #[test]
    fn many_sizes_refute_it() {
        let found = verdicts("javac", 222_891, [166, 80, 120]);
        assert_eq!(found, [Verdict::DoesNot; 3]);
    }

    #[test]
    fn a_program_of_another_length_is_not_comparable() {
        let found = verdicts("compress", 566_889, [73, 7, 9]);
        assert_eq!(found[2], Verdict::NotComparable);
        assert_eq!(verdicts("emacs", 1, [1, 1, 1])[2], Verdict::NotComparable);
    }
}
