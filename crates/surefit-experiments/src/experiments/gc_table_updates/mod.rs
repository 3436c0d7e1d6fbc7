//! `surefit experiment gc-table-updates`: how often the Next Hit Table changes.
//!
//! ```text
//! systems    256 lists, last list linear, found by the table; never, deferred, immediate
//! update     a list became non-empty or empty while the program ran; what a sweep changes is one rebuild at its end
//! heap       2 x what lives most, or the first greater multiple in which all three, or most, complete; and others
//! ```
//! Every figure is counted.
//!
//! # Source
//! The thesis on free-list organisation, table 3-1.

use anyhow::Result;
use surefit_clients::java::{Finds, Options, Outcome};
use surefit_freelist::{Counters, When};

use crate::kit::{Axis, Cell, Claim, Column, Entry, Plot, Report, Request, Series, Table};
use crate::shared::merges::{MERGES, merges_name};
use crate::shared::thesis::heaps::{self, common, replay, segregated, times_live};
use crate::shared::thesis::published::{AVERAGE_ALLOCATIONS_PER_UPDATE, Updates};
use crate::shared::thesis::recorded::{self, Recorded, counterpart};

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "gc-table-updates",
    about: "How often recorded Java programs change the Next Hit Table",
    takes_traces: true,
    takes_rounds: false,
    run,
};

/// Heaps in which updates are counted beside the common one, in multiples of what lives most.
const HEAPS: [f64; 6] = [1.5, 2.0, 3.0, 4.0, 6.0, 8.0];

/// An order of magnitude: figures within this factor are alike.
const ALIKE: f64 = 10.0;

/// What was counted in one heap.
#[derive(Clone, Copy, Debug)]
struct Counted {
    merges: When,
    counters: Counters,
    allocations: u64,
    collections: u64,
}

impl Counted {
    fn new(merges: When, outcome: &Outcome) -> Self {
        Self {
            merges,
            counters: outcome.counters,
            allocations: outcome.totals.allocations,
            collections: outcome.totals.collections,
        }
    }

    fn updates(&self) -> u64 {
        self.counters.table_updates
    }

    fn emptied(&self) -> u64 {
        self.updates() - self.counters.table_fills
    }

    fn updates_per_allocation(&self) -> f64 {
        self.updates() as f64 / self.allocations.max(1) as f64
    }

    fn allocations_per_update(&self) -> f64 {
        self.allocations as f64 / self.updates().max(1) as f64
    }
}

/// One program.
#[derive(Clone, Debug)]
struct Row {
    name: String,
    /// The heap, in multiples of what lives most.
    times: f64,
    /// By strategy.
    counted: Vec<Counted>,
    theirs: Option<Updates>,
}

impl Row {
    fn of(&self, merges: When) -> Option<&Counted> {
        self.counted.iter().find(|counted| counted.merges == merges)
    }
}

fn run(request: &Request) -> Result<Report> {
    let source = "the thesis on free-list organisation, table 3-1";
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting.push(
        "256 lists, last list linear. An update is a list that becomes non-empty or empty while the program runs: a sweep makes \
         the table anew once, at its end. Counted: the same run gives the same figures."
            .to_owned(),
    );
    let mut rows = Vec::new();
    for recorded in recorded::all(request)? {
        let recorded = recorded?;
        match measured(&recorded)? {
            Some(row) => rows.push(row),
            None => report.notes.push(heaps::no_common(&recorded.name)),
        }
        add_heaps(&mut report, &recorded)?;
    }
    let tables = MERGES.map(|merges| table(&rows, merges));
    report.tables.splice(0..0, tables);
    report.tables.insert(MERGES.len(), beside(&rows));
    report.claims = claims(&rows);
    report.notes.push(
        "The thesis does not say in which heaps it counted, and its lists end at 1 KB where ours end at 2 KiB.".to_owned(),
    );
    Ok(report)
}

fn measured(recorded: &Recorded) -> Result<Option<Row>> {
    let spaces = MERGES.map(|merges| segregated(Finds::NextHitTable, merges, false));
    let found = common(recorded, &spaces, &Options::default())?;
    Ok(found.map(|found| Row {
        name: recorded.name.clone(),
        times: found.times,
        counted: MERGES
            .iter()
            .zip(&found.outcomes)
            .filter_map(|(&merges, outcome)| Some(Counted::new(merges, outcome.as_ref()?)))
            .collect(),
        theirs: counterpart(&recorded.name).and_then(|theirs| theirs.updates),
    }))
}

/// Updates in several heaps, as a table and a plot.
fn add_heaps(report: &mut Report, recorded: &Recorded) -> Result<()> {
    let figures = MERGES.map(|merges| Column::figure(merges_name(merges), 3));
    let columns = [&[Column::figure("heap ÷ live", 1)][..], &figures].concat();
    let name = &recorded.name;
    let title = format!(
        "{name}: updates in 1000 allocations, by the size of the heap; absent where the program does not complete"
    );
    let mut table = Table::new(title, columns);
    let mut series = MERGES.map(|merges| Series::new(merges_name(merges), Vec::new()));
    for times in HEAPS {
        let mut cells = vec![Cell::from(times)];
        for (&merges, series) in MERGES.iter().zip(&mut series) {
            let space = segregated(Finds::NextHitTable, merges, false);
            let found = replay(
                recorded,
                &space,
                times_live(recorded, times),
                &Options::default(),
            )?;
            let updates = found
                .ok()
                .map(|outcome| 1000.0 * Counted::new(merges, &outcome).updates_per_allocation());
            series.points.extend(
                updates
                    .filter(|updates| *updates > 0.0)
                    .map(|updates| (times, updates)),
            );
            cells.push(updates.into());
        }
        table.row(cells);
    }
    report.tables.push(table);
    // A line needs two heaps.
    if series.iter().any(|series| series.points.len() > 1) {
        report.plots.push(Plot {
            title: format!("{name}: updates of the table"),
            x: Axis::new("heap ÷ what lives most"),
            y: Axis::logarithmic("updates in 1000 allocations"),
            series: series.into(),
        });
    }
    Ok(())
}

fn table(rows: &[Row], merges: When) -> Table {
    let title = format!("{} coalescing: updates of the table", merges_name(merges));
    let counted = rows.iter().filter_map(|row| Some((row, row.of(merges)?)));
    Table::of(title, counted)
        .text("program", |(row, _)| row.name.as_str())
        .figure("heap ÷ live", 0, |(row, _)| row.times)
        .figure("collections", 0, |(_, counted)| counted.collections)
        .figure("non-empty", 0, |(_, counted)| counted.counters.table_fills)
        .figure("empty", 0, |(_, counted)| counted.emptied())
        .figure("total", 0, |(_, counted)| counted.updates())
        .figure("entries", 0, |(_, counted)| counted.counters.table_stores)
        .figure("allocations", 0, |(_, counted)| counted.allocations)
        .table()
}

/// Allocations per update under every strategy, beside the thesis's, which are about deferred
/// coalescing.
fn beside(rows: &[Row]) -> Table {
    let mut table = Table::of("allocations for an update of the table", rows)
        .text("program", |row| row.name.as_str());
    for merges in MERGES {
        table = table.figure(merges_name(merges), 1, |row| {
            row.of(merges).map(Counted::allocations_per_update)
        });
    }
    table
        .papers("updates", 0, |row| {
            row.theirs.map(|theirs| theirs.filled + theirs.emptied)
        })
        .papers("allocations", 0, |row| {
            row.theirs.map(|theirs| theirs.allocations)
        })
        .papers("deferred", 0, |row| {
            row.theirs.map(Updates::allocations_per_update)
        })
        .table()
}

// ---- claims
// --------------------------------------------------------------------------------------------------------------

fn claims(rows: &[Row]) -> Vec<Claim> {
    let alike = rows.iter().map(as_often);
    let more = rows.iter().map(more_filled);
    let often = rows.iter().map(often_if_immediate);
    [rarely(rows)]
        .into_iter()
        .chain(alike)
        .chain(more)
        .chain(often)
        .collect()
}

fn rarely(rows: &[Row]) -> Claim {
    let counted = rows.iter().filter_map(|row| row.of(When::Deferred));
    let (allocations, updates) = counted.fold((0, 0), |sum, counted| {
        (sum.0 + counted.allocations, sum.1 + counted.updates())
    });
    let ratio = (allocations > 0).then(|| allocations as f64 / updates.max(1) as f64);
    let least = AVERAGE_ALLOCATIONS_PER_UPDATE / ALIKE;
    Claim::that("deferred coalescing updates the table once in about 1000 allocations")
        .papers(format!(
            "table 3-1: once in {AVERAGE_ALLOCATIONS_PER_UPDATE}: all allocations \
             over all updates"
        ))
        .measured(ratio.map(|ratio| format!("once in {ratio:.0}, over {} programs", rows.len())))
        .decide(
            ratio.map(|ratio| ratio >= least),
            format!("counted; it holds from {least:.0} allocations an update on"),
        )
}

fn as_often(row: &Row) -> Claim {
    let ours = row
        .of(When::Deferred)
        .filter(|counted| counted.collections > 0);
    let ours = ours.map(Counted::allocations_per_update);
    let theirs = row.theirs.map(Updates::allocations_per_update);
    let ratio = ours.zip(theirs).map(|(ours, theirs)| ours / theirs);
    Claim::that(format!(
        "{}, deferred: the table is updated as rarely as in the thesis",
        row.name
    ))
    .papers(theirs.map_or_else(
        || "no program of this kind".to_owned(),
        |theirs| format!("table 3-1: once in {theirs:.0} allocations"),
    ))
    .ours(ours.map_or_else(
        || "no collection".to_owned(),
        |ours| {
            format!(
                "once in {ours:.1} allocations, at {} x what lives",
                row.times
            )
        },
    ))
    .decide(
        ratio.map(|ratio| ratio >= 1.0 / ALIKE),
        format!(
            "counted; at least a {ALIKE}th of the thesis's; not comparable without a \
             collection, or a program of this kind"
        ),
    )
}

fn more_filled(row: &Row) -> Claim {
    let both = row
        .of(When::Deferred)
        .filter(|counted| counted.updates() > 0);
    let both = both.map(|counted| (counted.counters.table_fills, counted.emptied()));
    Claim::that(format!(
        "{}, deferred: more lists become non-empty than empty",
        row.name
    ))
    .papers("table 3-1: 153 and 125 on average; so in every program")
    .ours(both.map_or_else(
        || "no update".to_owned(),
        |(filled, emptied)| format!("{filled} non-empty, {emptied} empty"),
    ))
    .decide(
        both.map(|(filled, emptied)| filled > emptied),
        "counted; sweeps, which fill and empty lists as well, are not in it",
    )
}

fn often_if_immediate(row: &Row) -> Claim {
    let ours = row.of(When::Immediate).map(Counted::updates_per_allocation);
    Claim::that(format!(
        "{}, immediate: the table is as rarely updated as under deferred",
        row.name
    ))
    .papers("none: the thesis counts updates under deferred coalescing only")
    .measured(ours.map(|ours| format!("{ours:.3} updates an allocation")))
    .decide(
        ours.map(|ours| ours * AVERAGE_ALLOCATIONS_PER_UPDATE / ALIKE <= 1.0),
        format!(
            "counted; it holds up to one update in {:.0} allocations",
            AVERAGE_ALLOCATIONS_PER_UPDATE / ALIKE
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::{Counted, Row, claims};
    use crate::kit::Verdict;
    use crate::shared::merges::MERGES;
    use crate::shared::thesis::recorded::counterpart;
    use surefit_freelist::{Counters, When};

    fn row(figures: impl Fn(When) -> (u64, u64)) -> Row {
        let counted = |merges| {
            let (filled, emptied) = figures(merges);
            Counted {
                merges,
                counters: Counters {
                    table_updates: filled + emptied,
                    table_fills: filled,
                    ..Counters::default()
                },
                allocations: 575_724,
                collections: 3,
            }
        };
        Row {
            name: "raytrace".to_owned(),
            times: 2.0,
            counted: MERGES.map(counted).to_vec(),
            theirs: counterpart("raytrace").and_then(|theirs| theirs.updates),
        }
    }

    fn verdicts(row: Row) -> Vec<Verdict> {
        claims(&[row]).iter().map(|claim| claim.verdict).collect()
    }

    #[test]
    fn the_thesis_holds_in_its_own_figures() {
        assert_eq!(verdicts(row(|_| (118, 93))), [Verdict::Holds; 4]);
    }

    #[test]
    fn frequent_updates_refute_it() {
        assert_eq!(verdicts(row(|_| (300_000, 300_001))), [Verdict::DoesNot; 4]);
    }

    #[test]
    fn nothing_measured_is_not_comparable() {
        assert_eq!(claims(&[])[0].verdict, Verdict::NotComparable);
        let never = Row {
            counted: Vec::new(),
            ..row(|_| (0, 0))
        };
        assert_eq!(verdicts(never), [Verdict::NotComparable; 4]);
    }
}
