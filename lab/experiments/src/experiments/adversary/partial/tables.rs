//! The bounds and the points beside them, as tables and plots.
#![deny(unsafe_code)]

use super::super::escape::SIMULATED;
use super::super::program::Robson;
use super::bounds;
use super::model::Modelled;
use super::points::{OnTrace, Point, Points};
use crate::kit::{Axis, Plot, Series, Table};

/// M and n of a program of today: 2^28 words live, objects of up to 2^20 words.
pub(super) const PRACTICAL: Robson = Robson {
    live: 1 << 28,
    log2_largest: 20,
};

/// Each c of the table and the curves.
pub(super) const MOVES: [f64; 10] = [1.0, 2.0, 4.0, 7.0, 10.0, 20.0, 50.0, 100.0, 300.0, 1000.0];

/// Every table of partial compaction.
pub(super) fn tables(points: &Points) -> Vec<Table> {
    let mut tables = vec![
        bounds_table(),
        under(
            "Compact-fit under P_R, in words: moved and spanned",
            &points.robson,
        ),
        model_table(&points.model),
        under(&thinning_title(points), &points.thinning),
    ];
    let traces = points.traces.iter();
    tables.extend(traces.map(|trace| on_trace(&trace.name, &trace.settings)));
    tables
}

fn bounds_table() -> Table {
    let needed = |robson: Robson, c: f64| {
        let needed = bounds::needed(robson, c).map_or(1.0, |(_, words)| times(robson, words));
        (needed, times(robson, bounds::enough(robson, c)))
    };
    let title =
        "A heap may move 1/c of what is allocated: words needed and enough ÷ M, both derived here";
    Table::of(title, MOVES)
        .figure("c", 0, |c| *c)
        .figure("M=2^28, n=2^20: needed", 2, |c| needed(PRACTICAL, *c).0)
        .figure("enough", 2, |c| needed(PRACTICAL, *c).1)
        .figure("M=8192, n=256: needed", 2, |c| needed(SIMULATED, *c).0)
        .figure("enough", 2, |c| needed(SIMULATED, *c).1)
        .table()
}

fn times(robson: Robson, words: f64) -> f64 {
    words / robson.live as f64
}

fn thinning_title(points: &Points) -> String {
    let phases = points.program.phases().map(|phase| {
        let (chunk, keep, size) = (phase.chunk, phase.keep, phase.size);
        format!("{keep} of {chunk} words stay, then objects of {size}")
    });
    let phases: Vec<_> = phases.collect();
    format!(
        "The thinning program, M = {} words, {}; needed: derived, by what was moved",
        points.program.live(),
        phases.join("; ")
    )
}

fn under(title: &str, points: &[Point]) -> Table {
    let table = Table::of(title, points)
        .text("system", |point| point.system)
        .figure("words moved ÷ allocated", 4, |point| point.moved)
        .figure("span ÷ M", 3, |point| point.spans);
    if points.iter().all(|point| point.bound.is_none()) {
        return table.table();
    }
    table.figure("needed ÷ M", 3, |point| point.bound).table()
}

fn model_table(model: &[Modelled]) -> Table {
    let title =
        "The model of the upper bound under P_R: it slides its objects when its end is reached";
    Table::of(title, model)
        .figure("c", 0, |one| one.per_move)
        .figure("enough, (c + 1)M ÷ M", 0, |one| one.per_move + 1)
        .figure("least heap ÷ M", 3, |one| {
            one.words as f64 / SIMULATED.live as f64
        })
        .figure("words moved ÷ allocated", 4, |one| one.moved)
        .table()
}

fn on_trace(name: &str, settings: &[OnTrace]) -> Table {
    Table::of(
        format!("{name}: Compact-fit's moves and its least heap"),
        settings,
    )
    .text("setting", |one| one.setting)
    .figure("bytes moved ÷ requested", 4, |one| one.moved)
    .figure("least heap ÷ live", 3, |one| one.needs)
    .figure("in pieces", 3, |one| one.in_pieces)
    .table()
}

/// Every plot of partial compaction.
pub(super) fn plots(points: &Points) -> Vec<Plot> {
    let mut plots = vec![practical(), measured(points)];
    if !points.traces.is_empty() {
        plots.push(traces(points));
    }
    plots
}

/// Both bounds at practical sizes.
fn practical() -> Plot {
    let of = |words: &dyn Fn(f64) -> f64| {
        let point = |c: &f64| (1.0 / c, times(PRACTICAL, words(*c)));
        MOVES.iter().map(point).collect::<Vec<_>>()
    };
    let live = PRACTICAL.live as f64;
    let needed = |c| bounds::needed(PRACTICAL, c).map_or(live, |(_, words)| words);
    Plot {
        title: "partial compaction, M=2^28, n=2^20 words: derived bounds".to_owned(),
        x: Axis::logarithmic("words moved ÷ words allocated"),
        y: Axis::logarithmic("heap ÷ M"),
        series: vec![
            Series::new("enough for a heap", of(&|c| bounds::enough(PRACTICAL, c))),
            Series::new("needed by all", of(&needed)),
            robson_level(PRACTICAL, (1.0 / MOVES[MOVES.len() - 1], 1.0)),
        ],
    }
}

/// Robson's bound for heaps that never move: the papers' figure.
fn robson_level(robson: Robson, moved: (f64, f64)) -> Series {
    let words = times(robson, robson.bound() as f64);
    Series::papers_level("Robson's bound", words, moved)
}

/// The bounds of the small program, and what was measured of it.
fn measured(points: &Points) -> Plot {
    let live = SIMULATED.live as f64;
    let curve = |words: &dyn Fn(f64) -> f64| {
        let point = |c: &f64| (1.0 / c, words(*c) / live);
        MOVES.iter().map(point).collect::<Vec<_>>()
    };
    let needed = |c| bounds::needed(SIMULATED, c).map_or(live, |(_, words)| words);
    let of_page = |page: &str| {
        let of = points.robson.iter().filter(|point| is_pages(point, page));
        by_moves(of.map(|point| (point.moved, point.spans)))
    };
    let thinned = |page: &str| {
        let of = points.thinning.iter().filter(|point| is_pages(point, page));
        by_moves(of.map(|point| (point.moved, point.spans)))
    };
    let model = points.model.iter();
    Plot {
        title: "partial compaction, M=8192, n=256 words: Compact-fit".to_owned(),
        x: Axis::from_zero("words moved ÷ words allocated"),
        y: Axis::from_zero("heap ÷ M"),
        series: vec![
            Series::new("enough", curve(&|c| bounds::enough(SIMULATED, c))),
            Series::new("needed", curve(&needed)),
            Series::new("P_R, pages 4 KiB", of_page("4 KiB")),
            Series::new("P_R, pages 16 KiB", of_page("16 KiB")),
            Series::new(
                "P_R, the model",
                by_moves(model.map(|one| (one.moved, one.words as f64 / live))),
            ),
            Series::new("thinning, 4 KiB", thinned("4 KiB")),
            Series::new("thinning, 16 KiB", thinned("16 KiB")),
            robson_level(SIMULATED, (0.0, 1.0)),
        ],
    }
}

/// Whether a point is of pages of this size.
pub(super) fn is_pages(point: &Point, page: &str) -> bool {
    point.system.ends_with(&format!(", {page}"))
}

fn by_moves(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut points: Vec<_> = points.collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    points
}

/// A line for each trace, from κ=∞ to κ=1.
fn traces(points: &Points) -> Plot {
    let line = |trace: &super::points::Trace| {
        let settings = trace.settings.iter();
        let points = by_moves(settings.filter_map(|one| Some((one.moved, one.needs?))));
        Series::new(trace.name.clone(), points)
    };
    Plot {
        title: "Compact-fit on traces, κ=∞ left to κ=1 right".to_owned(),
        x: Axis::from_zero("bytes moved ÷ bytes requested"),
        y: Axis::new("least heap ÷ live bytes"),
        series: points.traces.iter().map(line).collect(),
    }
}
