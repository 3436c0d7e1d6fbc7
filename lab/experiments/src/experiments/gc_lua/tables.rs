//! The tables and plots of the experiment.
#![deny(unsafe_code)]

use super::claims::mean_ratio;
use super::measure::{Found, HEAPS, InHeap, Row};
use super::spaces::{BASE, STRATEGIES, Space};
use crate::kit::{Axis, Cell, Column, Plot, Series, Table};
use surefit_measure::output::grouped;
use surefit_measure::ratio::median;

fn names() -> [Column; 2] {
    ["coalescing", "found by"].map(Column::text)
}

fn name_cells(space: Space) -> [Cell; 2] {
    let lookup = if space.lookup == "nht" {
        "table"
    } else {
        space.lookup
    };
    [space.strategy, lookup].map(Cell::from)
}

/// Columns for both heaps; each names its heap.
fn in_both(columns: &[(&str, u32)]) -> Vec<Column> {
    let in_heap = |times: f64| {
        let named = columns.iter();
        named.map(move |(name, digits)| Column::figure(format!("{times}x {name}"), *digits))
    };
    HEAPS.into_iter().flat_map(in_heap).collect()
}

/// A row of cells: the names, some of its own, and the same figures of both heaps.
fn cells<const N: usize>(
    row: &Row,
    own: &[Cell],
    figures: impl Fn(&InHeap) -> [Cell; N],
) -> Vec<Cell> {
    let both = row.heaps.iter().flat_map(|in_heap| match in_heap {
        Some(in_heap) => figures(in_heap).to_vec(),
        None => vec![Cell::Absent; N],
    });
    let names = name_cells(row.space).into_iter();
    names.chain(own.iter().cloned()).chain(both).collect()
}

/// Smallest heaps, collections, visits and table updates.
pub(super) fn counts(found: &Found) -> Table {
    let title = format!(
        "{}: smallest heaps; collections, visits and table updates per allocation in 1.25 and 2 times {} B",
        found.program,
        grouped(found.least() as u64)
    );
    let own = [
        Column::figure("smallest B", 0),
        Column::figure("÷ least", 3),
    ];
    let figures = in_both(&[("coll.", 0), ("visits", 2), ("upd.", 3)]);
    let mut table = Table::new(title, [&names()[..], &own, &figures].concat());
    for row in &found.rows {
        let over = row.smallest as f64 / found.least().max(1) as f64;
        let own = [Cell::from(row.smallest as u64), over.into()];
        table.row(cells(row, &own, |in_heap| {
            [
                in_heap.counts.collections.into(),
                in_heap.visits().into(),
                in_heap.updates().into(),
            ]
        }));
    }
    table
}

/// Times in both heaps, medians of the rounds.
pub(super) fn times(found: &Found) -> Table {
    let title = format!(
        "{}: milliseconds in calls, in collections, in both, and processor time of the whole run",
        found.program
    );
    let figures = in_both(&[("calls", 2), ("coll.", 2), ("both", 2), ("run", 1)]);
    let mut table = Table::new(title, [&names()[..], &figures].concat());
    let ms = |rounds: &[f64]| Cell::from(median(rounds).map(|ns| ns / 1e6));
    for row in &found.rows {
        table.row(cells(row, &[], |in_heap| {
            [
                ms(&in_heap.call_ns),
                ms(&in_heap.collection_ns),
                ms(&in_heap.management_ns()),
                ms(&in_heap.run_ns),
            ]
        }));
    }
    table
}

/// Geometric means over the programs that end on a space, against immediate coalescing with the
/// table.
pub(super) fn means(found: &[Found]) -> Table {
    let title = "geometric means over the programs, ÷ immediate with the table: smallest heap, calls and collections, run";
    let figures = in_both(&[("programs", 0), ("both", 3), ("run", 3)]);
    let own = [Column::figure("smallest heap", 3)];
    let mut table = Table::new(title, [&names()[..], &own, &figures].concat());
    for space in Space::all() {
        let mut cells = name_cells(space).to_vec();
        cells.push(smallest(found, space).into());
        for at in 0..HEAPS.len() {
            let (management, programs) = mean_ratio(found, at, space, BASE, InHeap::management_ns);
            let (run, _) = mean_ratio(found, at, space, BASE, |in_heap| in_heap.run_ns.clone());
            cells.extend([
                Cell::from(programs as u64),
                management.map(|ratio| ratio.median).into(),
                run.map(|ratio| ratio.median).into(),
            ]);
        }
        table.row(cells);
    }
    table
}

/// A space's smallest heap over that of the base, in the geometric mean.
fn smallest(found: &[Found], space: Space) -> Option<f64> {
    let ratios = found.iter().map(|one| {
        let of = |space| Some(one.row(space)?.smallest as f64);
        Some((of(space)? / of(BASE)?).ln())
    });
    let ratios: Option<Vec<_>> = ratios.collect();
    let ratios = ratios.filter(|ratios| !ratios.is_empty())?;
    Some((ratios.iter().sum::<f64>() / ratios.len() as f64).exp())
}

/// Smallest heaps by strategy, and heap management times by space.
pub(super) fn plots(found: &[Found]) -> Vec<Plot> {
    let programs = found.iter().map(|one| one.program.to_owned());
    let of_strategy = |strategy| {
        let points = found.iter().enumerate().filter_map(|(at, one)| {
            let over = one.smallest(strategy)? as f64 / one.least().max(1) as f64;
            Some((at as f64, over))
        });
        Series::new(strategy, points.collect::<Vec<_>>())
    };
    let spaces = Space::all();
    let of_heap = |at: usize| {
        let points = spaces.iter().enumerate().filter_map(|(place, space)| {
            let (ratio, _) = mean_ratio(found, at, *space, BASE, InHeap::management_ns);
            Some((place as f64, ratio?.median))
        });
        Series::new(format!("{}x", HEAPS[at]), points.collect::<Vec<_>>())
    };
    let names = spaces.iter().map(|space| {
        let short = match space.strategy {
            _ if space.lookup == "tlsf" || space.lookup == "first-fit" => "",
            "never" => "N ",
            "deferred" => "D ",
            _ => "I ",
        };
        format!("{short}{}", space.lookup)
    });
    vec![
        Plot {
            title: "smallest heap of lists ÷ the least of the three strategies".to_owned(),
            x: Axis::kinds("program", programs),
            y: Axis::from_zero("÷ least"),
            series: STRATEGIES.map(of_strategy).to_vec(),
        },
        Plot {
            title: "calls and collections ÷ immediate with the table, geometric mean".to_owned(),
            x: Axis::kinds("never, deferred, immediate", names),
            y: Axis::from_zero("time ÷ immediate, table"),
            series: vec![of_heap(0), of_heap(1)],
        },
    ]
}
