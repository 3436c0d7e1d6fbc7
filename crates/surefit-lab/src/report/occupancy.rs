//! The pages of each size-class at the peak, and how much of them is in use.

use surefit_measure::grid::Grid;
use surefit_measure::output::grouped;
use surefit_measure::sizes::{Size, counted, per_cent};
use surefit_measure::subject::{ClassUse, Classes};

use super::bars::{Bar, Bars, Lane};
use super::colours::Style;
use super::figure::{Figure, Key, Sample};
use super::input::View;
use crate::screen;

/// Size-classes drawn, at most: those with the most pages.
const MOST: usize = 24;

/// How opaque the pages are; what is used of them is opaque.
const PAGES: f64 = 0.25;

/// The figure of the first heap that reports its size-classes; `None` if none does.
pub(super) fn figure(view: View<'_>) -> Option<Figure> {
    let maps = &view.section.details?.maps;
    let found = maps
        .iter()
        .find_map(|(allocator, map)| Some((allocator, map.classes_at_peak.as_ref()?)));
    let (allocator, classes) = found?;
    let used: Vec<_> = classes
        .classes
        .iter()
        .filter(|class| class.pages > 0)
        .collect();
    if used.is_empty() {
        return None;
    }
    let (style, name) = (view.colours.of(allocator), screen::short(allocator));
    let drawn = most_pages(&used);
    let left_out = used.len() - drawn.len();
    Some(Figure {
        title: format!("Pages of each size-class of {name}"),
        about: about(classes, &used, left_out),
        picture: picture(&name, classes, &drawn, style),
        legend: vec![
            Key {
                sample: Sample::Area(style, 1.0),
                text: "live page-blocks".to_owned(),
            },
            Key {
                sample: Sample::Area(style, PAGES),
                text: "the rest of the pages".to_owned(),
            },
        ],
        table: table(classes, &used),
    })
}

fn about(classes: &Classes, used: &[&ClassUse], left_out: usize) -> String {
    let pages: u64 = used.iter().map(|class| class.pages).sum();
    let not_full: u64 = used.iter().map(|class| class.not_full_pages).sum();
    let mut text = format!(
        "At the event with the most live bytes: {} of {} are in use by {}; {} not full. The figures are the share of the \
         page-blocks that live, the bytes of the pages, and the pages that are not full.",
        counted(pages, "page"),
        Size(classes.page_bytes as u64),
        if used.len() == 1 {
            "one size-class".to_owned()
        } else {
            format!("{} size-classes", used.len())
        },
        if not_full == 1 {
            "one is".to_owned()
        } else {
            format!("{} are", grouped(not_full))
        },
    );
    if left_out > 0 {
        text += &format!(
            " The {MOST} classes with the most pages are drawn; the table has the other {left_out} too."
        );
    }
    text
}

/// The classes with the most pages, by size.
fn most_pages<'a>(used: &[&'a ClassUse]) -> Vec<&'a ClassUse> {
    let mut drawn = used.to_vec();
    drawn.sort_by_key(|class| std::cmp::Reverse(class.pages));
    drawn.truncate(MOST);
    drawn.sort_by_key(|class| class.block_bytes);
    drawn
}

fn picture(name: &str, classes: &Classes, drawn: &[&ClassUse], style: Style) -> String {
    let row = |class: &&ClassUse| {
        let bytes = class.pages * classes.page_bytes as u64;
        let live = class.live_blocks * class.block_bytes;
        Bar {
            name: Size(class.block_bytes).to_string(),
            style,
            lanes: vec![
                Lane {
                    opacity: PAGES,
                    ..Lane::whole(bytes as f64)
                },
                Lane::whole(live as f64),
            ],
            text: format!(
                "{:.0} % of {}, {} not full",
                per_cent(class.live_blocks, class.pages * class.blocks),
                Size(bytes),
                class.not_full_pages
            ),
        }
    };
    let bars = Bars {
        label: format!(
            "Bars: for each size-class of {name}, the bytes of its pages at the peak, and of these the live page-blocks. \
             The table below has the figures."
        ),
        rows: drawn.iter().map(row).collect(),
        mark: None,
        is_cut: false,
    };
    bars.html()
}

fn table(classes: &Classes, used: &[&ClassUse]) -> Grid {
    let row = |class: &&ClassUse| {
        let blocks = class.pages * class.blocks;
        vec![
            grouped(class.block_bytes),
            grouped(class.blocks),
            grouped(class.pages),
            grouped(class.not_full_pages),
            grouped(class.live_blocks),
            format!("{:.1} %", per_cent(class.live_blocks, blocks)),
            grouped(class.pages * classes.page_bytes as u64),
        ]
    };
    Grid {
        header: [
            "bytes of a page-block",
            "page-blocks of a page",
            "pages",
            "not full",
            "live page-blocks",
            "occupancy",
            "bytes of the pages",
        ]
        .map(str::to_owned)
        .into(),
        rows: used.iter().map(row).collect(),
        text_columns: 0,
    }
}
