//! The pages of each size-class at the peak, and how much of them is in use.

use surefit_measure::grid::Grid;
use surefit_measure::output::grouped;
use surefit_measure::sizes::{counted, per_cent};
use surefit_measure::subject::{ClassUse, Classes};

use super::axis::page_bytes;
use super::bars::{Bar, Bars, Lane};
use super::colours::Style;
use super::figure::{Figure, Key, Sample};
use super::input::View;
use crate::screen;

/// Size-classes drawn, at most: those with the most pages.
const MOST: usize = 24;

/// How opaque free page-blocks are, and what of the pages is no page-block; live ones are opaque.
const FREE: f64 = 0.45;
const REST: f64 = 0.14;

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
            key(style, 1.0, "live page-blocks"),
            key(style, FREE, "free page-blocks"),
            key(
                style,
                REST,
                "back-references, and what the partitioning leaves over",
            ),
        ],
        table: table(classes, &used),
    })
}

fn key(style: Style, opacity: f64, text: &str) -> Key {
    Key {
        sample: Sample::Area(style, opacity),
        text: text.to_owned(),
    }
}

fn about(classes: &Classes, used: &[&ClassUse], left_out: usize) -> String {
    let pages: u64 = used.iter().map(|class| class.pages).sum();
    let not_full: u64 = used.iter().map(|class| class.not_full_pages).sum();
    let mut text = format!(
        "At the event with the most live bytes: {} of {} are in use by {}; {} not full. Each bar stands for all pages of a \
         size-class; the figure is the share of its page-blocks that live.",
        counted(pages, "page"),
        page_bytes(classes.page_bytes),
        match used.len() {
            1 => "one size-class".to_owned(),
            many => format!("{many} size-classes"),
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
    let bars = Bars {
        label: format!(
            "Bars: for each size-class of {name}, which share of its pages live page-blocks have at the peak, and which \
             share free ones. The table below has the figures."
        ),
        rows: drawn
            .iter()
            .map(|class| bar(classes, class, style))
            .collect(),
        mark: None,
        is_cut: false,
        most: None,
    };
    bars.html()
}

fn bar(classes: &Classes, class: &ClassUse, style: Style) -> Bar {
    let page = classes.page_bytes.max(1) as f64 * class.pages as f64;
    let share = |blocks: u64| (blocks * class.block_bytes) as f64 / page;
    let lane = |value, opacity| Lane {
        opacity,
        ..Lane::whole(value)
    };
    let blocks = class.pages * class.blocks;
    Bar {
        name: format!("{} B", grouped(class.block_bytes)),
        full: None,
        style,
        lanes: vec![
            lane(1.0, REST),
            lane(share(blocks), FREE),
            lane(share(class.live_blocks), 1.0),
        ],
        text: format!(
            "{:.0} %; {} of {} not full",
            per_cent(class.live_blocks, blocks),
            grouped(class.not_full_pages),
            counted(class.pages, "page"),
        ),
    }
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
