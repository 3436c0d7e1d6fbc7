//! How long single calls take: for each time, the share of calls that take longer, both on
//! logarithmic scales, and the longest call as a point.

use std::fmt::Write as _;

use surefit_measure::grid::Grid;
use surefit_measure::output::grouped;
use surefit_measure::results::AllocatorResult;

use super::axis::{Axis, Unit, nanoseconds};
use super::figure::{Figure, Key, Sample};
use super::input::View;
use super::plot::{Height, Plot, Shape};
use super::tails::{self, KINDS, Tails};
use crate::screen;

/// The figure; `None` if no call was timed on its own.
pub(super) fn figure(view: View<'_>) -> Option<Figure> {
    let timed: Vec<_> = view.rows().iter().filter(|row| is_timed(row)).collect();
    if timed.is_empty() {
        return None;
    }
    let mut picture = String::from("<div class=\"multiples\">");
    for kind in KINDS {
        if let Some(plot) = plot(view, kind, &timed) {
            let _ = write!(
                picture,
                "<div><p class=\"of\">{kind}</p>{}</div>",
                plot.html()
            );
        }
    }
    picture.push_str("</div>\n");
    let key = |row: &&AllocatorResult| Key {
        sample: Sample::Line(view.style(row)),
        text: screen::short(&row.allocator),
    };
    Some(Figure {
        title: "How long single calls take".to_owned(),
        about: "For each time, to the right, the share of the calls that take longer, upwards: \"1 in 1000\" at 2 µs says \
                that one call in a thousand takes longer than 2 µs. The point is the longest call; it includes interrupts. \
                Both scales are logarithmic."
            .to_owned(),
        picture,
        legend: timed.iter().map(key).collect(),
        table: table(&timed),
    })
}

fn is_timed(row: &AllocatorResult) -> bool {
    tails::of(row).next().is_some()
}

fn of_kind<'a>(row: &'a AllocatorResult, kind: &str) -> Option<Tails<'a>> {
    tails::of(row).find(|tails| tails.name == kind)
}

fn plot(view: View<'_>, kind: &str, timed: &[&AllocatorResult]) -> Option<Plot> {
    let (least, most) = view.scale.calls?;
    let mut shapes = Vec::new();
    let mut longest = Vec::new();
    for row in timed {
        let Some(tails) = of_kind(row, kind) else {
            continue;
        };
        let style = view.style(row);
        shapes.push(Shape::Line(style, points(&tails)));
        let max = tails.points.last().map_or(0, |point| point.ns) as f64;
        shapes.push(Shape::Dot(style, (max, 1.0 / tails.calls as f64)));
        let name = screen::short(&row.allocator);
        longest.push(format!("{name} {}", nanoseconds(max)));
    }
    (!shapes.is_empty()).then(|| Plot {
        label: format!(
            "Lines: the share of {kind} that take longer than a time. The longest: {}. The table below has more.",
            screen::listed(&longest)
        ),
        x: Axis::logarithmic(least, most, Unit::Nanoseconds),
        x_name: String::new(),
        y: Axis::logarithmic(view.scale.least_share, 1.0, Unit::Share),
        height: Height::Usual,
        shapes,
    })
}

/// The line of a distribution: all calls take longer than less than the least.
fn points(tails: &Tails<'_>) -> Vec<(f64, f64)> {
    let calls = tails.calls as f64;
    let least = tails.points.first().map_or(0.0, |point| point.ns as f64);
    let rest = tails.points.iter().map(|point| {
        // none is longer than the longest, but on this scale there is no zero
        let longer = point.longer.max(1);
        (point.ns as f64, longer as f64 / calls)
    });
    [(least, 1.0)].into_iter().chain(rest).collect()
}

fn table(timed: &[&AllocatorResult]) -> Grid {
    let mut rows = Vec::new();
    for kind in KINDS {
        for row in timed {
            rows.extend(of_kind(row, kind).map(|tails| line(row, &tails)));
        }
    }
    Grid {
        header: [
            "calls",
            "allocator",
            "number",
            "median",
            "p99",
            "p99.99",
            "longest",
        ]
        .map(str::to_owned)
        .into(),
        rows,
        text_columns: 2,
    }
}

fn line(row: &AllocatorResult, tails: &Tails<'_>) -> Vec<String> {
    let percentiles = match tails.name {
        "allocations" => [row.malloc_ns_p50, row.malloc_ns_p99, row.malloc_ns_p9999],
        "frees" => [row.free_ns_p50, row.free_ns_p99, row.free_ns_p9999],
        _ => [row.realloc_ns_p50, row.realloc_ns_p99, row.realloc_ns_p9999],
    };
    let shown = |ns: Option<u64>| ns.map_or("-".to_owned(), |ns| nanoseconds(ns as f64));
    let longest = tails.points.last().map(|point| point.ns);
    let name = screen::shown(&row.allocator).to_owned();
    [tails.name.to_owned(), name, grouped(tails.calls)]
        .into_iter()
        .chain(percentiles.map(shown))
        .chain([shown(longest)])
        .collect()
}
