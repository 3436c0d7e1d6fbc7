//! The picture of the README: two panels, bytes needed ÷ live bytes over live bytes, both axes by
//! doublings.
//!
//! ```text
//! title
//! objects of up to 256 B        objects of any size
//! 64× |                         | o1heap ______/
//!     | ---- TLSF               |
//!     | ---- o1heap             |        floor ____/    names stand on their lines
//!     | .... floor              | ..../
//!  1× | \___ cf                 | \___ cf
//!      4 KiB          16 MiB     4 KiB          16 MiB
//! ```
//! Drawn by hand, with no date and no font of this machine: the same figures give the same bytes.
#![deny(unsafe_code)]

use std::fmt::Write as _;

use super::points::{LIVE_LOG2, Point, Points};

/// Pixels of the picture.
const SIZE: (f64, f64) = (850.0, 672.0);

/// Left ends of the panels, and their pixels.
const LEFT: [f64; 2] = [58.0, 484.0];
const PANEL: (f64, f64) = (352.0, 400.0);

/// The upper end of the panels.
const TOP: f64 = 120.0;

/// The upper end of the y axis, as a logarithm: 64 ×.
const MOST_LOG2: f64 = 6.0;

const CF: &str = "#17568f";
const O1HEAP: &str = "#c8560e";
const TLSF: &str = "#a3263f";
const FLOOR: &str = "#4d5660";
const GRID: &str = "#dfe4ea";

/// The picture as one `svg` element.
pub(super) fn svg(points: &Points) -> String {
    let (width, height) = SIZE;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"17\" role=\"img\">\n\
         <title>Bytes a heap needs by proof, per live byte: Compact-fit, o1heap, TLSF, and the floor of heaps that \
         never move</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    text(
        &mut svg,
        (16.0, 34.0),
        "How large must the heap be so that no call is ever refused?",
        "font-size=\"24\" font-weight=\"bold\"",
    );
    text(
        &mut svg,
        (16.0, 63.0),
        "Bytes needed by proof, per byte that the program keeps live, in any order of allocations and frees",
        "fill=\"#3a434c\"",
    );
    let titles = ["Objects of up to 256 B", "Objects of any size"];
    for (panel, points) in points.iter().enumerate() {
        axes(&mut svg, LEFT[panel], titles[panel]);
        floor(&mut svg, LEFT[panel], points);
    }
    small(&mut svg, LEFT[0], &points[0]);
    any_size(&mut svg, LEFT[1], &points[1]);
    for (row, line) in NOTES.iter().enumerate() {
        text(
            &mut svg,
            (16.0, 602.0 + 24.0 * row as f64),
            line,
            "font-size=\"15\" fill=\"#3a434c\"",
        );
    }
    svg + "</svg>\n"
}

/// What must be known to read it.
const NOTES: [&str; 3] = [
    "cf counts everything that it needs: pages, address table, records; 4-byte words from 1 MiB, 2-byte words below.",
    "o1heap: the figure of its README, headers counted. TLSF (the bound of best fit) and floor: without headers.",
    "cf keeps objects of any size in pieces: they are not contiguous. All others keep them contiguous.",
];

/// Grid, ticks and title of a panel.
fn axes(svg: &mut String, left: f64, title: &str) {
    text(svg, (left, TOP - 16.0), title, "font-weight=\"bold\"");
    for log2 in 0..=MOST_LOG2 as u32 {
        let at = y(f64::from(1_u32 << log2));
        stroke(svg, &[(left, at), (left + PANEL.0, at)], GRID, 1.0, "");
        text(
            svg,
            (left - 8.0, at + 6.0),
            &format!("{}×", 1 << log2),
            "text-anchor=\"end\"",
        );
    }
    for (log2, name) in [(12, "4 KiB"), (16, "64 KiB"), (20, "1 MiB"), (24, "16 MiB")] {
        let at = x(left, f64::from(1_u32 << log2));
        let (top, bottom) = (TOP, TOP + PANEL.1);
        stroke(svg, &[(at, top), (at, bottom)], GRID, 1.0, "");
        let anchor = ["start", "middle", "end"][usize::from(log2 > 12) + usize::from(log2 > 20)];
        text(
            svg,
            (at, bottom + 22.0),
            name,
            &format!("text-anchor=\"{anchor}\""),
        );
    }
    let middle = left + PANEL.0 / 2.0;
    text(
        svg,
        (middle, TOP + PANEL.1 + 44.0),
        "live bytes",
        "text-anchor=\"middle\" fill=\"#3a434c\"",
    );
}

/// What no heap reaches that never moves an object.
fn floor(svg: &mut String, left: f64, points: &[Point]) {
    let above: Vec<_> = line(left, points, Point::floor_ratio);
    let bottom = TOP + PANEL.1;
    let ends = [(left + PANEL.0, bottom), (left, bottom)];
    let corners: Vec<_> = above.iter().chain(&ends).copied().collect();
    let _ = writeln!(
        svg,
        "<polygon points=\"{}\" fill=\"#e9f3ea\"/>",
        places(&corners)
    );
    stroke(svg, &above, FLOOR, 2.5, "8 5");
    let at = (left + 8.0, bottom - 10.0);
    text(
        svg,
        at,
        "below the floor: only heaps that move objects",
        "font-size=\"15\" fill=\"#2b6237\"",
    );
}

fn small(svg: &mut String, left: f64, points: &[Point]) {
    let cf = |point: &Point| point.cf_ratio();
    let o1heap = |point: &Point| point.ratio(point.o1heap);
    let tlsf = |point: &Point| point.ratio(point.tlsf);
    let [first, .., last] = points else { return };
    stroke(svg, &line(left, points, tlsf), TLSF, 2.5, "");
    stroke(svg, &line(left, points, o1heap), O1HEAP, 2.5, "");
    stroke(svg, &line(left, points, cf), CF, 4.5, "");
    let end = left + PANEL.0 - 6.0;
    label(
        svg,
        (end, y(tlsf(last)) - 9.0),
        &format!("TLSF {}", times(tlsf(last))),
        TLSF,
    );
    label(
        svg,
        (end, y(o1heap(last)) + 22.0),
        &format!("o1heap {}", times(o1heap(last))),
        O1HEAP,
    );
    let name = format!(
        "floor of heaps that never move: {}",
        times(last.floor_ratio())
    );
    label(svg, (end, y(last.floor_ratio()) - 9.0), &name, FLOOR);
    let name = format!("cf (surefit) {}", times(cf(last)));
    label(svg, (end, y(cf(last)) + 26.0), &name, CF);
    loss(svg, left, first, cf(first), "cf");
}

fn any_size(svg: &mut String, left: f64, points: &[Point]) {
    let cf = |point: &Point| point.cf_ratio();
    let o1heap = |point: &Point| point.ratio(point.o1heap);
    let large = |point: &Point| {
        point
            .large_pieces
            .map_or(f64::NAN, |best| point.ratio(best.bytes()))
    };
    let [first, .., last] = points else { return };
    stroke(svg, &line(left, points, large), CF, 2.5, "3 4");
    stroke(svg, &line(left, points, o1heap), O1HEAP, 2.5, "");
    stroke(svg, &line(left, points, cf), CF, 4.5, "");
    let end = left + PANEL.0 - 6.0;
    let [least, most] = [first, last].map(|point| times(point.ratio(point.tlsf)));
    let beyond = format!("↑ TLSF {least} to {most}: off the chart");
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" fill=\"{TLSF}\" font-weight=\"bold\">{beyond}</text>",
        left + 8.0,
        TOP + 20.0
    );
    let name = format!("o1heap {} to {}", times(o1heap(first)), times(o1heap(last)));
    label(svg, (end, y(o1heap(last)) + 46.0), &name, O1HEAP);
    let name = format!(
        "floor of heaps that never move: {}",
        times(last.floor_ratio())
    );
    label(svg, (end, y(last.floor_ratio()) - 12.0), &name, FLOOR);
    let name = format!("cf (surefit) {}", times(cf(last)));
    label(svg, (end, y(cf(last)) + 26.0), &name, CF);
    loss(svg, left, first, large(first), "cf, pieces ≥ 1 KiB");
}

/// Where cf needs more than heaps that never move may: a circle, and words above it.
fn loss(svg: &mut String, left: f64, point: &Point, ratio: f64, who: &str) {
    if ratio <= point.floor_ratio() {
        return;
    }
    let at = (x(left, point.live as f64), y(ratio));
    let _ = writeln!(
        svg,
        "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"6\" fill=\"#ffffff\" stroke=\"{CF}\" stroke-width=\"3\"/>",
        at.0, at.1
    );
    let figure = format!("loses: {}", times(ratio));
    for (row, line) in [who, &figure].into_iter().enumerate() {
        let above = 34.0 - 20.0 * row as f64;
        text(
            svg,
            (at.0 + 8.0, at.1 - above),
            line,
            &format!("fill=\"{CF}\""),
        );
    }
}

/// A ratio in words: two digits, or whole with groups.
fn times(ratio: f64) -> String {
    match ratio {
        100.0.. => format!("{}×", surefit_measure::output::grouped(ratio as u64)),
        _ => format!("{ratio:.1}×"),
    }
}

fn line(left: f64, points: &[Point], ratio: impl Fn(&Point) -> f64) -> Vec<(f64, f64)> {
    let place = |point: &Point| (x(left, point.live as f64), y(ratio(point)));
    points.iter().map(place).collect()
}

fn x(left: f64, live: f64) -> f64 {
    let (least, most) = (f64::from(*LIVE_LOG2.start()), f64::from(*LIVE_LOG2.end()));
    left + PANEL.0 * (live.log2() - least) / (most - least)
}

fn y(ratio: f64) -> f64 {
    TOP + PANEL.1 * (1.0 - ratio.log2() / MOST_LOG2)
}

fn places(points: &[(f64, f64)]) -> String {
    let places: Vec<_> = points
        .iter()
        .map(|(x, y)| format!("{x:.1},{y:.1}"))
        .collect();
    places.join(" ")
}

fn stroke(svg: &mut String, points: &[(f64, f64)], colour: &str, width: f64, dashes: &str) {
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" \
         stroke-dasharray=\"{dashes}\" stroke-linejoin=\"round\"/>",
        places(points)
    );
}

/// A line's name, ending at a place, on a white edge that keeps it apart from what it covers.
fn label(svg: &mut String, at: (f64, f64), name: &str, colour: &str) {
    let style = format!("text-anchor=\"end\" font-weight=\"bold\" fill=\"{colour}\"");
    text(svg, at, name, &style);
}

fn text(svg: &mut String, at: (f64, f64), words: &str, style: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" {style}>{words}</text>",
        at.0, at.1
    );
}
