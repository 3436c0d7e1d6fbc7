//! The call sites whose objects keep most free page-blocks in pages that would be empty without
//! them.

use surefit_measure::grid::Grid;
use surefit_measure::output::grouped;
use surefit_measure::sizes::{Size, counted};

use super::bars::{Bar, Bars, Lane};
use super::colours::Style;
use super::figure::Figure;
use super::input::{Holes, Keeper, View};
use crate::screen;

/// Call sites drawn, at most.
const DRAWN: usize = 12;

/// Rows of the table, at most.
const LISTED: usize = 100;

/// The figure; `None` if the trace has no call sites, or no page has a hole.
pub(super) fn figure(view: View<'_>) -> Option<Figure> {
    let holes = view.section.details?.holes.as_ref()?;
    let total: f64 = holes.keepers.iter().map(|keeper| keeper.hole_bytes).sum();
    let keepers = holes.keepers.iter();
    let keepers: Vec<_> = keepers.filter(|keeper| keeper.hole_bytes > 0.0).collect();
    if keepers.is_empty() {
        return None;
    }
    let name = screen::short(&holes.allocator);
    let style = view.colours.of(&holes.allocator);
    let drawn = &keepers[..keepers.len().min(DRAWN)];
    Some(Figure {
        title: format!("Call sites by fragmentation in {name} without moves"),
        about: about(holes, &keepers, total),
        picture: picture(&name, drawn, total, (style, view.scale.holes)),
        legend: Vec::new(),
        table: table(&keepers, total),
    })
}

fn about(holes: &Holes, keepers: &[&Keeper], total: f64) -> String {
    let why = match holes.is_valley {
        true => {
            "the worst valley: there the least is live beside what is in use, and more is live before and later"
        }
        false => "the event with the most live bytes",
    };
    let mut text = format!(
        "If no object is moved, after event {}, {why}. Then {} are live, and the pages that are not full have {} of \
         free page-blocks. Without the objects in them, these pages would be empty: so the free page-blocks of a page \
         are divided among its objects, and the figure is what the objects of a call site keep so. \"a < b\" is a, \
         called by b.",
        grouped(holes.event),
        Size(holes.live_bytes),
        bytes(total)
    );
    let of = holes.keepers.len();
    if keepers.len() > DRAWN {
        text += &format!(
            " The {DRAWN} with the most are drawn, of {} with live objects.",
            counted(of as u64, "call site")
        );
    }
    if keepers.len() > LISTED {
        text += &format!(" The table has the first {LISTED}.");
    }
    text
}

fn bytes(bytes: f64) -> String {
    Size(bytes.round() as u64).to_string()
}

fn share(bytes: f64, total: f64) -> String {
    format!("{:.1} %", 100.0 * bytes / total)
}

fn picture(name: &str, drawn: &[&Keeper], total: f64, (style, most): (Style, f64)) -> String {
    let row = |keeper: &&Keeper| Bar {
        name: unbroken(&keeper.site.short),
        full: Some(keeper.site.full.clone()),
        style,
        lanes: vec![Lane::whole(keeper.hole_bytes)],
        text: format!(
            "{}, {}",
            bytes(keeper.hole_bytes),
            share(keeper.hole_bytes, total)
        ),
    };
    let bars = Bars {
        label: format!(
            "Bars: the call sites whose objects keep most free page-blocks of {name} in pages that are not full. The \
             table below has the figures and the whole names."
        ),
        rows: drawn.iter().map(row).collect(),
        mark: None,
        is_cut: false,
        most: Some(most),
    };
    bars.html()
}

/// A short name that no line breaks inside `<…>`: a word joiner, which nobody sees, is before the
/// end.
fn unbroken(short: &str) -> String {
    short.replace("…>", "…\u{2060}>")
}

fn table(keepers: &[&Keeper], total: f64) -> Grid {
    let row = |(number, keeper): (usize, &&Keeper)| {
        vec![
            (number + 1).to_string(),
            keeper.site.full.clone(),
            bytes(keeper.hole_bytes),
            share(keeper.hole_bytes, total),
            grouped(keeper.objects),
            bytes(keeper.live_bytes as f64),
        ]
    };
    Grid {
        header: [
            "rank",
            "called from",
            "free page-blocks",
            "share",
            "live objects",
            "live bytes",
        ]
        .map(str::to_owned)
        .into(),
        rows: keepers.iter().take(LISTED).enumerate().map(row).collect(),
        text_columns: 2,
    }
}
