//! Names in a grid of cells as SVG: what was found in each cell, and beside it what the papers have
//! there.
//!
//! ```text
//! |           |      unpredictable       |       predictable        |
//! |           | measured    | paper      | measured    | paper      |
//! | O(1)      | a: malloc   | a: malloc  |             | b: malloc  |
//! |           | b: malloc   |            |             |            |
//! ```
//! Before each name of the papers stands a shape, which a legend explains: a disc where it belongs,
//! a cross where it does not, a ring where nothing decided. Their colours are apart for every eye
//! (Okabe and Ito), and nothing is said by a colour alone. What the papers draw across the side is
//! a band beside the cells.

use std::fmt::Write as _;

use crate::kit::{Grid, GridRow, Placed, Verdict, Whose};
use surefit_measure::html::escaped;

/// Pixels of the column of rows' names.
const NAMES: usize = 100;

/// Pixels of the columns of a cell: what was found, and what the papers have.
const OURS: usize = 300;
const PAPERS: usize = 170;

/// Pixels of a line of text, and of the room above and below the lines of a cell.
const LINE: usize = 16;
const ROOM: usize = 12;

/// Pixels of the header.
const HEADER: usize = 46;

/// Pixels of the legend below the cells.
const LEGEND: usize = 30;

/// Pixels of the band across the side, and of the room before it.
const BAND: usize = 30;
const BAND_ROOM: usize = 10;

/// Pixels of a shape and the room behind it.
const SHAPE: usize = 14;

/// The shapes: what they say, and in which colour.
const SHAPES: [(Verdict, &str); 3] = [
    (Verdict::Holds, "the measured place is the paper's"),
    (Verdict::DoesNot, "it is another"),
    (Verdict::NotComparable, "not decided here"),
];

/// Who puts names where: what it is called, and its place and width in a cell.
const SIDES: [(Whose, &str, usize, usize); 2] = [
    (Whose::Ours, "measured", 0, OURS),
    (Whose::Papers, "paper", OURS, PAPERS),
];

/// The width of the picture, in pixels.
pub(super) fn width(grid: &Grid) -> usize {
    cells_width(grid)
        + match grid.aside.is_empty() {
            true => 0,
            false => BAND_ROOM + BAND,
        }
}

fn cells_width(grid: &Grid) -> usize {
    NAMES + grid.columns.len() * (OURS + PAPERS) + 1
}

/// The height of the picture, in pixels.
pub(super) fn height(grid: &Grid) -> usize {
    cells_height(grid) + LEGEND
}

fn cells_height(grid: &Grid) -> usize {
    HEADER + grid.rows.iter().map(row_height).sum::<usize>() + 1
}

/// The grid as one `svg` element.
pub(super) fn svg(grid: &Grid) -> String {
    let (width, height) = (width(grid), height(grid));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#1c2733\"><title>{}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n",
        escaped(&grid.title)
    );
    header(&mut svg, grid);
    let mut top = HEADER;
    for row in &grid.rows {
        draw(&mut svg, row, top, cells_width(grid));
        top += row_height(row);
    }
    lines(&mut svg, grid, cells_height(grid));
    legend(&mut svg, cells_height(grid));
    band(&mut svg, grid);
    svg.push_str("</svg>\n");
    svg
}

fn header(svg: &mut String, grid: &Grid) {
    for (at, column) in grid.columns.iter().enumerate() {
        let left = column_left(at);
        text(
            svg,
            left + (OURS + PAPERS) / 2,
            18,
            "font-weight=\"600\" text-anchor=\"middle\"",
            column,
        );
        for (_, name, from, _) in SIDES {
            text(
                svg,
                left + from + 8,
                37,
                "fill=\"#5b6673\" font-size=\"11\"",
                name,
            );
        }
    }
}

fn draw(svg: &mut String, row: &GridRow, top: usize, width: usize) {
    let _ = writeln!(svg, "<path d=\"M0 {top}.5H{width}\" stroke=\"#9aa7b4\"/>");
    text(
        svg,
        8,
        top + ROOM / 2 + LINE - 4,
        "font-weight=\"600\"",
        &row.name,
    );
    for (at, cell) in row.cells.iter().enumerate() {
        for (whose, _, from, width) in SIDES {
            let names = cell.iter().filter(|placed| placed.whose == whose);
            for (line, placed) in names.enumerate() {
                let y = top + ROOM / 2 + LINE * (line + 1) - 4;
                name(svg, (column_left(at) + from + 8, y), width - 12, placed);
            }
        }
    }
}

/// One name, behind the shape of its verdict if it has one; squeezed if it would be too wide.
fn name(svg: &mut String, (x, y): (usize, usize), width: usize, placed: &Placed) {
    let room = placed.verdict.map_or(0, |verdict| {
        shape(svg, (x, y), verdict);
        SHAPE
    });
    let width = width - room;
    // a letter is some six pixels wide at this size
    let is_wide = placed.name.chars().count() * 6 > width;
    let squeezed = if is_wide {
        format!("textLength=\"{width}\" lengthAdjust=\"spacingAndGlyphs\"")
    } else {
        String::new()
    };
    text(svg, x + room, y, &squeezed, &placed.name);
}

/// The shape of a verdict before a line of text.
fn shape(svg: &mut String, (x, y): (usize, usize), verdict: Verdict) {
    let (x, y) = (x + 4, y - 4);
    let _ = match verdict {
        Verdict::Holds => writeln!(
            svg,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"4\" fill=\"#0072b2\"/>"
        ),
        Verdict::DoesNot => writeln!(
            svg,
            "<path d=\"M{} {}l8 8m0 -8l-8 8\" stroke=\"#d55e00\" stroke-width=\"2.5\"/>",
            x - 4,
            y - 4
        ),
        Verdict::NotComparable => writeln!(
            svg,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"3.5\" fill=\"none\" stroke=\"#5b6673\" stroke-width=\"1.5\"/>"
        ),
        // half a disc in a ring
        Verdict::HoldsOn { .. } => writeln!(
            svg,
            "<path d=\"M{x} {}a4 4 0 0 1 0 8z\" fill=\"#0072b2\"/><circle cx=\"{x}\" cy=\"{y}\" r=\"3.5\" fill=\"none\" \
             stroke=\"#0072b2\"/>",
            y - 4
        ),
    };
}

/// What the shapes say.
fn legend(svg: &mut String, top: usize) {
    let (mut x, y) = (8, top + LEGEND - 8);
    for (verdict, words) in SHAPES {
        shape(svg, (x, y), verdict);
        text(
            svg,
            x + SHAPE,
            y,
            "fill=\"#5b6673\" font-size=\"11\"",
            words,
        );
        x += SHAPE + words.chars().count() * 6 + 24;
    }
}

/// What the papers draw across the side: words from above downwards in a broken frame.
fn band(svg: &mut String, grid: &Grid) {
    if grid.aside.is_empty() {
        return;
    }
    let (left, height) = (cells_width(grid) + BAND_ROOM, cells_height(grid));
    let (wide, high) = (BAND - 1, height - HEADER - 1);
    let _ = writeln!(
        svg,
        "<rect x=\"{left}.5\" y=\"{HEADER}.5\" width=\"{wide}\" height=\"{high}\" fill=\"none\" stroke=\"#5b6673\" \
         stroke-dasharray=\"5 4\"/>"
    );
    let (x, y) = (left + BAND / 2 - 4, HEADER + high / 2);
    // a letter is some six pixels wide at this size
    let squeezed = match grid.aside.chars().count() * 6 > high {
        true => format!(" textLength=\"{high}\" lengthAdjust=\"spacingAndGlyphs\""),
        false => String::new(),
    };
    text(
        svg,
        x,
        y,
        &format!(
            "font-size=\"11\" text-anchor=\"middle\" transform=\"rotate(90 {x} {y})\"{squeezed}"
        ),
        &grid.aside,
    );
}

/// The lines between columns, and the frame's.
fn lines(svg: &mut String, grid: &Grid, height: usize) {
    let bottom = height - 1;
    let _ = writeln!(
        svg,
        "<path d=\"M0 {bottom}.5H{}\" stroke=\"#9aa7b4\"/>",
        cells_width(grid)
    );
    for at in 0..=grid.columns.len() {
        let left = column_left(at);
        let _ = writeln!(svg, "<path d=\"M{left}.5 0V{bottom}\" stroke=\"#9aa7b4\"/>");
        if at < grid.columns.len() {
            let middle = left + OURS;
            let _ = writeln!(
                svg,
                "<path d=\"M{middle}.5 {}V{bottom}\" stroke=\"#e1e6eb\"/>",
                HEADER - 22
            );
        }
    }
}

fn text(svg: &mut String, x: usize, y: usize, style: &str, words: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x}\" y=\"{y}\" {style}>{}</text>",
        escaped(words)
    );
}

const fn column_left(at: usize) -> usize {
    NAMES + at * (OURS + PAPERS)
}

fn row_height(row: &GridRow) -> usize {
    let of = |cell: &Vec<Placed>, whose| cell.iter().filter(|placed| placed.whose == whose).count();
    let cells = row.cells.iter();
    let lines = cells.map(|cell| of(cell, Whose::Ours).max(of(cell, Whose::Papers)));
    ROOM + LINE * lines.max().unwrap_or(0).max(1)
}

#[cfg(test)]
mod tests {
    use super::{height, svg, width};
    use crate::kit::{Grid, GridRow, Placed, Verdict, Whose};

    fn placed(name: &str, verdict: Option<Verdict>) -> Placed {
        let whose = if verdict.is_some() {
            Whose::Papers
        } else {
            Whose::Ours
        };
        Placed {
            name: name.to_owned(),
            whose,
            verdict,
        }
    }

    fn grid(names: usize) -> Grid {
        let mut cell: Vec<_> = (0..names).map(|_| placed("a & b: malloc", None)).collect();
        cell.push(placed("c", Some(Verdict::DoesNot)));
        Grid {
            title: "<t>".to_owned(),
            columns: vec!["left".to_owned(), "right".to_owned()],
            rows: vec![GridRow {
                name: "O(1)".to_owned(),
                cells: vec![cell, Vec::new()],
            }],
            aside: String::new(),
        }
    }

    #[test]
    fn every_name_is_in_the_picture_behind_the_shape_of_its_verdict() {
        let picture = svg(&grid(3));
        assert_eq!(picture.matches("a &amp; b: malloc").count(), 3);
        // one of the cell, and one of the legend
        assert_eq!(picture.matches("l8 8m0 -8l-8 8").count(), 2);
        assert_eq!(picture.matches("r=\"4\" fill=\"#0072b2\"").count(), 1);
        assert!(
            picture.contains("not decided here") && picture.contains("&lt;t&gt;"),
            "{picture}"
        );
        assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
    }

    #[test]
    fn what_is_across_the_side_has_a_band_of_its_own() {
        let mut grid = grid(3);
        let without = (svg(&grid), width(&grid));
        grid.aside = "a & b".to_owned();
        let with = (svg(&grid), width(&grid));
        assert!(!without.0.contains("rotate(90") && with.0.contains(">a &amp; b</text>"));
        assert_eq!(with.1 - without.1, super::BAND + super::BAND_ROOM);
        assert_eq!(with.0.matches("rotate(90").count(), 1);
    }

    #[test]
    fn a_row_is_as_high_as_its_longest_cell() {
        assert_eq!(height(&grid(9)) - height(&grid(3)), 6 * super::LINE);
        assert_eq!(height(&grid(0)), height(&grid(1)));
    }
}
