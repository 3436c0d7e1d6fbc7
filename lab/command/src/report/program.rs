//! What the program asks for, whatever serves it: how large its requests are, and how long its
//! objects live.

use std::fmt::Write as _;

use surefit_measure::grid::Grid;
use surefit_measure::output::grouped;
use surefit_measure::profile::{Histogram, Profile, Share};
use surefit_measure::sizes::{Count, per_cent};

use super::axis::power_of_two;
use super::bars::{Bar, Bars, Lane};
use super::colours::PROGRAM;
use super::figure::{Figure, Key, Sample};
use super::input::View;
use crate::screen;

/// The figure; `None` without a trace, or if it has no events.
pub(super) fn figure(view: View<'_>) -> Option<Figure> {
    let profile = &view.section.details?.profile;
    let requests = profile.sizes.total().count;
    if requests == 0 {
        return None;
    }
    let name = screen::name(view.trace());
    let sizes = lines(&profile.sizes, power_of_two);
    let lives = lives(profile);
    let picture = format!(
        "<div class=\"multiples\"><div><p class=\"of\">sizes of requests</p>{}</div>\
         <div><p class=\"of\">lifetimes of objects, in events</p>{}</div></div>\n",
        bars(&format!("Bars: sizes of the requests of {name}"), &sizes),
        bars(&format!("Bars: lifetimes of the objects of {name}"), &lives),
    );
    Some(Figure {
        title: "What the program asks for".to_owned(),
        about: format!(
            "{} allocations and reallocations by size, and objects by the number of events between allocation and free. \
             \"64 B\" stands for all sizes above 32 B and up to 64 B.",
            grouped(requests)
        ),
        picture,
        legend: vec![
            key(0.4, "share of their number"),
            key(1.0, "share of their bytes"),
        ],
        table: table(&sizes, &lives),
    })
}

/// A line of a histogram.
struct Line {
    name: String,
    share: Share,
    of: Share,
}

/// The lines of a histogram from the first power that occurs to the last.
fn lines(histogram: &Histogram, name: fn(usize) -> String) -> Vec<Line> {
    let total = histogram.total();
    let powers = histogram.powers.iter().enumerate();
    let lines = powers.skip_while(|(_, share)| share.count == 0);
    lines
        .map(|(power, share)| Line {
            name: name(power),
            share: *share,
            of: total,
        })
        .collect()
}

/// The lifetimes, and below them what is never freed; shares are of all objects.
fn lives(profile: &Profile) -> Vec<Line> {
    let freed = profile.lives.total();
    let of = Share {
        count: freed.count + profile.never_freed.count,
        bytes: freed.bytes + profile.never_freed.bytes,
    };
    let mut lines = lines(&profile.lives, |power| Count(1 << power).to_string());
    lines.push(Line {
        name: "never freed".to_owned(),
        share: profile.never_freed,
        of,
    });
    for line in &mut lines {
        line.of = of;
    }
    lines
}

fn bars(label: &str, lines: &[Line]) -> String {
    let row = |line: &Line| {
        let count = per_cent(line.share.count, line.of.count);
        let bytes = per_cent(line.share.bytes, line.of.bytes);
        Bar {
            name: line.name.clone(),
            full: None,
            style: PROGRAM,
            lanes: Lane::two(count, bytes).into(),
            text: format!("{count:.1} / {bytes:.1} %"),
        }
    };
    let bars = Bars {
        label: format!(
            "{label}, as shares of their number and of their bytes. The table below has the figures."
        ),
        rows: lines.iter().map(row).collect(),
        mark: None,
        is_cut: false,
        most: None,
    };
    bars.html()
}

fn key(opacity: f64, text: &str) -> Key {
    Key {
        sample: Sample::Area(PROGRAM, opacity),
        text: text.to_owned(),
    }
}

fn table(sizes: &[Line], lives: &[Line]) -> Grid {
    let mut grid = Grid {
        header: [
            "what",
            "up to",
            "number",
            "share",
            "bytes",
            "share of bytes",
        ]
        .map(str::to_owned)
        .into(),
        rows: Vec::new(),
        text_columns: 2,
    };
    for (what, lines) in [("size", sizes), ("lifetime", lives)] {
        grid.rows.extend(lines.iter().map(|line| row(what, line)));
    }
    grid
}

fn row(what: &str, line: &Line) -> Vec<String> {
    let Line { name, share, of } = line;
    let mut row = vec![what.to_owned(), name.clone(), grouped(share.count)];
    let mut percent = String::new();
    let _ = write!(percent, "{:.2} %", per_cent(share.count, of.count));
    row.push(percent);
    row.push(grouped(share.bytes));
    row.push(format!("{:.2} %", per_cent(share.bytes, of.bytes)));
    row
}
