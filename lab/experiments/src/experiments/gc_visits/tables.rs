//! The tables and plots of the experiment.

use super::claims::PRINTED;
use super::measured::{Counted, Found, InHeap, Kind, Row};
use super::samples::{around_the_first, points};
use crate::kit::{Axis, Plot, Series, Table};
use crate::shared::merges::{MERGES, merges_name};
use surefit_freelist::When;

/// Points of a line of figure 3-1.
const POINTS: usize = 150;

/// A row of a heap of a program.
type Placed<'f> = (&'f Found, &'f InHeap, &'f Row);

/// All rows of the heaps of 6 MiB, or of the programs' own.
fn rows(found: &[Found], is_thesis: bool) -> Vec<Placed<'_>> {
    let heaps = found.iter().filter_map(|one| {
        let in_heap = if is_thesis {
            one.thesis.as_ref()
        } else {
            Some(&one.own)
        };
        Some((one, in_heap?))
    });
    heaps
        .flat_map(|(one, in_heap)| in_heap.rows.iter().map(move |row| (one, in_heap, row)))
        .collect()
}

/// The thesis's visits of a system in 6 MB.
fn printed(row: &Row) -> Option<(f64, f64)> {
    let place = MERGES
        .iter()
        .position(|merges| row.kind == Kind::scan(*merges))?;
    Some(PRINTED[place])
}

fn around(row: &Row) -> (Option<f64>, Option<f64>) {
    let counted = row.counted.as_ref();
    counted.map_or((None, None), |counted| around_the_first(&counted.samples))
}

/// Table 2-2: visits per allocation; none without a program in such a heap.
pub(super) fn visits(found: &[Found], is_thesis: bool) -> Option<Table> {
    let rows = rows(found, is_thesis);
    let heap = if is_thesis {
        "6 MiB"
    } else {
        "a heap in which deferred collects"
    };
    let title = format!(
        "table 2-2: visits per allocation in {heap}; before the first collection and after it"
    );
    let is_empty = rows.is_empty();
    let counted = |row: &Placed<'_>| row.2.counted.clone();
    let table = Table::of(title, rows)
        .text("program", |(one, _, _)| one.name.as_str())
        .text("system", |(_, _, row)| row.kind.name())
        .figure("MiB", 2, |(_, in_heap, _)| {
            in_heap.bytes as f64 / f64::from(1 << 20)
        })
        .figure("coll.", 0, move |row| {
            counted(row).map(|counted| counted.collections)
        })
        .figure("visits", 1, move |row| {
            counted(row).map(|counted| counted.visits)
        })
        .figure("before", 1, |(_, _, row)| around(row).0)
        .figure("after", 1, |(_, _, row)| around(row).1);
    let papers = |of: fn((f64, f64)) -> f64| {
        move |row: &Placed<'_>| printed(row.2).map(of).filter(|_| is_thesis)
    };
    let table = if is_thesis {
        table
            .papers("visits", 0, papers(|range| range.0))
            .papers("to", 0, papers(|range| range.1))
    } else {
        table
    };
    (!is_empty).then(|| table.table())
}

/// External fragmentation, strategy by strategy.
pub(super) fn unused(found: &[Found]) -> Table {
    let heaps = found
        .iter()
        .flat_map(|one| one.heaps().map(move |in_heap| (one, in_heap)));
    let mut table = Table::of(
        "table 2-2: free bytes when a request cannot be served, in percent of the heap (external fragmentation)",
        heaps,
    )
    .text("program", |(one, _)| one.name.as_str())
    .figure("MiB", 2, |(_, in_heap)| in_heap.bytes as f64 / f64::from(1 << 20));
    let of = |in_heap: &InHeap, kind| {
        in_heap
            .of(kind)
            .and_then(|counted: &Counted| counted.percent_unused)
    };
    for merges in MERGES {
        table = table.figure(merges_name(merges), 1, move |(_, in_heap)| {
            of(in_heap, Kind::scan(merges))
        });
    }
    table
        .figure("single list", 1, move |(_, in_heap)| {
            of(in_heap, Kind::Single)
        })
        .figure("ours, immediate", 1, move |(_, in_heap)| {
            of(in_heap, Kind::ours(When::Immediate))
        })
        .table()
}

/// Figure 3-2: the walk before the first collection.
pub(super) fn before(found: &[Found]) -> Table {
    Table::of(
        "figure 3-2: visits per allocation before the first collection, deferred; expected: the heads from the \
         request's list on, and the chunk in the last list; with the table",
        found,
    )
    .text("program", |one| one.name.as_str())
    .text("heap", |one| one.heap.words())
    .figure("visits", 2, |one| one.before.map(|before| before.visits))
    .figure("expected", 2, |one| {
        one.before.map(|before| before.heads)
    })
    .figure("table", 2, |one| {
        let counted = one.own.of(Kind::table(When::Deferred))?;
        around_the_first(&counted.samples).0
    })
    .table()
}

/// Figure 3-1 of a program, in each of its heaps.
pub(super) fn plots(found: &Found) -> Vec<Plot> {
    let thesis = found.thesis.as_ref().and_then(|in_heap| {
        let mut plot = plot(
            format!("figure 3-1, {}: heap of 6 MiB", found.name),
            in_heap,
        )?;
        let last = plot
            .series
            .iter()
            .flat_map(|line| &line.points)
            .map(|point| point.0);
        let last = last.fold(0.0, f64::max);
        let [_, deferred, immediate] = PRINTED;
        plot.series.extend([
            Series::papers_level("most of deferred on average", deferred.1, (0.0, last)),
            Series::papers_level("immediate on average", immediate.0, (0.0, last)),
        ]);
        Some(plot)
    });
    let own = plot(
        format!("figure 3-1, {}: heap of {}", found.name, found.heap.words()),
        &found.own,
    );
    thesis.into_iter().chain(own).collect()
}

fn plot(title: String, in_heap: &InHeap) -> Option<Plot> {
    let points_of = |merges| {
        let row = in_heap
            .rows
            .iter()
            .find(|row| row.kind == Kind::scan(merges))?;
        Some(points(&row.counted.as_ref()?.samples, POINTS))
    };
    // A strategy that does not complete keeps its colour: an empty line.
    let line = |merges| Series::new(merges_name(merges), points_of(merges).unwrap_or_default());
    let series = MERGES.map(line).to_vec();
    let is_drawn = series.iter().any(|line| !line.points.is_empty());
    is_drawn.then(|| Plot {
        title,
        x: Axis::from_zero("thousand allocations"),
        y: Axis::from_zero("visits per allocation"),
        series,
    })
}
