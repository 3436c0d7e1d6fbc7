//! The heap map: addresses upwards, events to the right, and how full each place is.

use std::fmt::Write as _;

use surefit_measure::grid::Grid;
use surefit_measure::output::grouped;
use surefit_measure::passes::heap_map::{Column, HeapMap};
use surefit_measure::sizes::Size;

use super::axis::{Axis, Unit, page_bytes};
use super::colours::Style;
use super::figure::{Figure, Key, Sample};
use super::input::View;
use super::plot::{HIGH, Height, Plot, Shape, WIDE};
use crate::screen;

/// A degree of fullness: up to this share of the row's bytes, this opaque.
const DEGREES: [(f64, f64, &str); 4] = [
    (0.5, 0.18, "up to half full"),
    (0.8, 0.4, "up to 80 %"),
    (0.95, 0.65, "up to 95 %"),
    (f64::INFINITY, 0.95, "fuller"),
];

/// The colour of what moved away.
const MOVED: Style = Style {
    colour: "#111111",
    dashes: "",
};

/// A row lost something to moves if they took at least this share of it.
const LEAST_MOVED: f64 = 0.01;

/// The figures: one for each allocator that was mapped.
pub(super) fn figures(view: View<'_>) -> Vec<Figure> {
    let maps = view
        .section
        .details
        .map_or(&[][..], |details| &details.maps);
    let drawn = maps.iter().filter(|(_, map)| map.rows() > 0);
    drawn
        .map(|(allocator, map)| figure(view, allocator, map))
        .collect()
}

fn figure(view: View<'_>, allocator: &str, map: &HeapMap) -> Figure {
    let (style, name) = (view.colours.of(allocator), screen::short(allocator));
    let moved: u64 = map.columns.iter().flat_map(|column| &column.left).sum();
    let mut legend: Vec<_> = DEGREES
        .iter()
        .map(|(_, opacity, text)| Key {
            sample: Sample::Area(style, *opacity),
            text: (*text).to_owned(),
        })
        .collect();
    if moved > 0 {
        legend.push(Key {
            sample: Sample::Area(MOVED, 1.0),
            text: "objects moved away since the look before".to_owned(),
        });
    }
    Figure {
        title: format!("Heap map of {name}"),
        about: about(map),
        picture: plot(view, &name, map, style).html(),
        legend,
        table: table(map),
    }
}

fn about(map: &HeapMap) -> String {
    let row = if map.pages_per_row == 1 {
        format!("one page of {}", page_bytes(map.page_bytes))
    } else {
        format!(
            "{} pages of {}, {} in all",
            map.pages_per_row,
            page_bytes(map.page_bytes),
            page_bytes(map.row_bytes())
        )
    };
    format!(
        "Addresses upwards, events to the right; white is empty. Each row is {row}; each column is one look, after one \
         event. A place shows the live requested bytes of its row at that event, summed exactly; what comes and goes \
         between two looks is not seen."
    )
}

fn plot(view: View<'_>, name: &str, map: &HeapMap, style: Style) -> Plot {
    let bytes = (map.rows() * map.row_bytes()) as f64;
    let events = view.scale.events;
    Plot {
        label: format!(
            "Map: how full each range of addresses of {name} is over the events of {}. The table below has, for each look, \
             what is live, the highest address in use, and what moved.",
            screen::name(view.trace())
        ),
        x: Axis::linear(events, Unit::Events),
        x_name: "events".to_owned(),
        y: Axis::linear(bytes, Unit::Bytes),
        height: Height::High,
        shapes: vec![Shape::Svg(runs(map, style, events))],
    }
}

/// All runs of a map. A column lasts until the next look.
fn runs(map: &HeapMap, style: Style, events: f64) -> String {
    let rows = map.rows();
    let distance = map
        .columns
        .get(1)
        .map_or(events, |second| second.event as f64);
    let wide = WIDE * distance / events.max(1.0);
    let high = HIGH / rows.max(1) as f64;
    let mut svg = format!(
        "<g transform=\"translate(0 {HIGH}) scale({wide:.4} {:.4})\" fill=\"none\" shape-rendering=\"crispEdges\">",
        -high
    );
    let row_bytes = map.row_bytes() as f64;
    let fullness = |column: &Column, row: usize| column.live[row] as f64 / row_bytes;
    let mut least = 0.0;
    for (most, opacity, _) in DEGREES {
        let is_in = |column: &Column, row: usize| {
            let full = fullness(column, row);
            full > least && full <= most
        };
        path(&mut svg, map, &stroke(style, opacity, 1.0), is_in);
        least = most;
    }
    let has_moved =
        |column: &Column, row: usize| column.left[row] as f64 >= LEAST_MOVED * row_bytes;
    path(&mut svg, map, &stroke(MOVED, 1.0, 0.6), has_moved);
    svg + "</g>"
}

fn stroke(style: Style, opacity: f64, width: f64) -> String {
    format!(
        "stroke=\"{}\" stroke-opacity=\"{opacity}\" stroke-width=\"{width}\"",
        style.colour
    )
}

/// The runs of neighbouring columns in which a row is as `is_in` says.
fn path(svg: &mut String, map: &HeapMap, stroke: &str, is_in: impl Fn(&Column, usize) -> bool) {
    let mut path = String::new();
    for row in 0..map.rows() {
        let mut begin = None;
        for at in 0..=map.columns.len() {
            let is_here = map.columns.get(at).is_some_and(|column| is_in(column, row));
            match (begin, is_here) {
                (None, true) => begin = Some(at),
                (Some(from), false) => {
                    let _ = write!(path, "M{from} {row}.5h{}", at - from);
                    begin = None;
                }
                _ => (),
            }
        }
    }
    if !path.is_empty() {
        let _ = write!(svg, "<path d=\"{path}\" {stroke}/>");
    }
}

fn table(map: &HeapMap) -> Grid {
    let row = |column: &Column| {
        let used = column.live.iter().filter(|bytes| **bytes > 0).count();
        let highest = column.live.iter().rposition(|bytes| *bytes > 0);
        let highest = highest.map_or(0, |row| (row + 1) * map.row_bytes());
        vec![
            grouped(column.event),
            Size(column.live.iter().sum()).to_string(),
            format!("{used} of {}", map.rows()),
            Size(highest as u64).to_string(),
            Size(column.left.iter().sum()).to_string(),
        ]
    };
    Grid {
        header: [
            "event",
            "live",
            "rows in use",
            "end of the highest",
            "moved since the look before",
        ]
        .map(str::to_owned)
        .into(),
        rows: map.columns.iter().map(row).collect(),
        text_columns: 0,
    }
}

#[cfg(test)]
mod tests {
    use surefit_measure::passes::heap_map::{Column, HeapMap};

    use super::super::colours::PROGRAM;
    use super::{about, runs, table};

    fn map() -> HeapMap {
        let column = |event, live: [u64; 2], left: [u64; 2]| Column {
            event,
            live: live.to_vec(),
            left: left.to_vec(),
        };
        HeapMap {
            page_bytes: 1024,
            pages_per_row: 1,
            columns: vec![
                column(0, [1024, 0], [0, 0]),
                column(5, [1024, 300], [0, 0]),
                column(10, [900, 0], [0, 300]),
            ],
            classes_at_peak: None,
        }
    }

    #[test]
    fn neighbours_that_are_as_full_are_one_run() {
        let svg = runs(&map(), PROGRAM, 15.0);
        // full twice, then 90 %; the other row is filled to 30 % once, and moved away
        assert!(
            svg.contains("d=\"M0 0.5h2\"") && svg.contains("d=\"M2 0.5h1\""),
            "{svg}"
        );
        assert!(
            svg.contains("d=\"M1 1.5h1\"") && svg.contains("d=\"M2 1.5h1\""),
            "{svg}"
        );
        assert_eq!(svg.matches("<path").count(), 4, "{svg}");
        assert!(svg.contains("scale(666.6667 -500.0000)"), "{svg}");
    }

    #[test]
    fn the_table_says_what_is_in_use_and_what_moved() {
        let grid = table(&map());
        assert_eq!(grid.rows[1], ["5", "1324 B", "2 of 2", "2048 B", "0 B"]);
        assert_eq!(grid.rows[2][4], "300 B");
        assert!(about(&map()).contains("one page of 1 KiB"));
    }
}
