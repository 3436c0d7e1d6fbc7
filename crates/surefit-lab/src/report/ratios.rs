//! Ratios to the baseline with their spread, and memory over the live bytes, as bars.

use std::fmt::Write as _;

use surefit_measure::results::AllocatorResult;

use super::bars::{Bar, Bars, Lane};
use super::input::View;
use crate::screen;

/// Appends the charts; those of which nothing was measured are left out.
pub(super) fn charts(page: &mut String, view: View<'_>) {
    page.push_str("<div class=\"multiples\">\n");
    for (title, bars) in all(view) {
        if bars.rows.iter().any(|bar| !bar.lanes.is_empty()) {
            let title = surefit_measure::html::escaped(&title);
            let _ = writeln!(
                page,
                "<figure class=\"figure\"><figcaption><b>{title}</b></figcaption>\n{}</figure>",
                bars.html()
            );
        }
    }
    page.push_str("</div>\n");
}

fn all(view: View<'_>) -> [(String, Bars); 4] {
    let baseline = &view.section.notes.baseline;
    let short = screen::short(baseline);
    let base = view.rows().iter().find(|row| row.allocator == *baseline);
    let base = base.and_then(|row| row.access_pair_ns_mean);
    let live = view.trace().peak_live_bytes.max(1) as f64;
    let of_live = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64 / live);
    let of = |title: String, bar: &dyn Fn(&AllocatorResult) -> Option<Lane>, mark| {
        let rows = view.rows().iter().map(|row| bar_of(view, row, bar(row)));
        let bars = Bars {
            label: label(view, &title),
            rows: rows.collect(),
            mark,
            is_cut: true,
        };
        (title, bars)
    };
    [
        of(
            format!("Time ÷ {short}: the median, and the least and the greatest round"),
            &|row| {
                let ratio = row.ratio_to_baseline?;
                Some(Lane {
                    range: Some((ratio.min, ratio.max)),
                    ..Lane::whole(ratio.median)
                })
            },
            Some(1.0),
        ),
        of(
            format!("Time with access ÷ {short}"),
            &|row| {
                let base = base.filter(|base| *base > 0.0)?;
                Some(Lane::whole(row.access_pair_ns_mean? / base))
            },
            Some(1.0),
        ),
        of(
            "Smallest heap ÷ live".to_owned(),
            &|row| of_live(row.min_heap_bytes).map(Lane::whole),
            Some(1.0),
        ),
        of(
            "Pages touched ÷ live".to_owned(),
            &|row| of_live(row.peak_footprint_bytes.or(row.peak_resident_bytes)).map(Lane::whole),
            Some(1.0),
        ),
    ]
}

fn label(view: View<'_>, title: &str) -> String {
    format!(
        "Bars: {title}, for {}. Less is better. The table of all figures is above.",
        screen::name(view.trace())
    )
}

fn bar_of(view: View<'_>, row: &AllocatorResult, lane: Option<Lane>) -> Bar {
    let text = match lane {
        None => "–".to_owned(),
        Some(Lane {
            value,
            range: Some((least, most)),
            ..
        }) => format!("{value:.2} [{least:.2}–{most:.2}]"),
        Some(Lane { value, .. }) => format!("{value:.3}"),
    };
    Bar {
        name: screen::short(&row.allocator),
        style: view.style(row),
        lanes: lane.into_iter().collect(),
        text,
    }
}
