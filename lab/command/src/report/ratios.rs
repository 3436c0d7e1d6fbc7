//! Ratios to the baseline with their spread, and memory over the live bytes, as bars.

use surefit_measure::grid::Grid;
use surefit_measure::ratio::Ratio;
use surefit_measure::results::AllocatorResult;

use super::bars::{Bar, Bars, Lane};
use super::figure::Figure;
use super::input::View;
use crate::screen;

/// What a chart shows of each allocator.
type Measure<'a> = &'a dyn Fn(&AllocatorResult) -> Option<Lane>;

/// Appends the charts; those of which nothing was measured are left out.
pub(super) fn charts(page: &mut String, view: View<'_>) {
    page.push_str("<div class=\"pair\">\n");
    for figure in figures(view).into_iter().flatten() {
        figure.write(page);
    }
    page.push_str("</div>\n");
}

fn figures(view: View<'_>) -> [Option<Figure>; 4] {
    let baseline = &view.section.notes.baseline;
    let short = screen::short(baseline);
    let live = view.trace().peak_live_bytes.max(1) as f64;
    let of_live = |bytes: Option<u64>| bytes.map(|bytes| Lane::whole(bytes as f64 / live));
    let figure =
        |title: String, about: &str, measure: Measure<'_>| figure(view, title, about, measure);
    [
        figure(
            format!("Time ÷ {short}"),
            "The median, and the least and the greatest round.",
            &|row| row.ratio_to_baseline.map(lane),
        ),
        figure(
            format!("Time with access ÷ {short}"),
            "The same with eight accesses per event.",
            &|row| row.access_ratio_to_baseline.map(lane),
        ),
        figure(
            "Smallest heap ÷ live".to_owned(),
            "The smallest region that suffices, over the peak of live bytes.",
            &|row| of_live(row.min_heap_bytes),
        ),
        figure(
            "Pages touched ÷ live".to_owned(),
            "What was ever touched, over the peak of live bytes.",
            &|row| of_live(row.peak_footprint_bytes.or(row.peak_resident_bytes)),
        ),
    ]
}

fn lane(ratio: Ratio) -> Lane {
    Lane {
        range: Some((ratio.min, ratio.max)),
        ..Lane::whole(ratio.median)
    }
}

fn figure(view: View<'_>, title: String, about: &str, measure: Measure<'_>) -> Option<Figure> {
    let rows = view.rows().iter();
    let lanes: Vec<_> = rows.map(|row| (row, measure(row))).collect();
    if lanes.iter().all(|(_, lane)| lane.is_none()) {
        return None;
    }
    let label = format!(
        "Bars: {title}, for {}. The table below has the figures.",
        screen::name(view.trace())
    );
    let bars = Bars {
        label,
        rows: lanes
            .iter()
            .map(|(row, lane)| bar(view, row, *lane))
            .collect(),
        mark: Some(1.0),
        is_cut: true,
        most: None,
    };
    Some(Figure {
        title,
        about: format!("{about} Less is better."),
        picture: bars.html(),
        legend: Vec::new(),
        table: table(&lanes),
    })
}

fn bar(view: View<'_>, row: &AllocatorResult, lane: Option<Lane>) -> Bar {
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
        full: None,
        style: view.style(row),
        lanes: lane.into_iter().collect(),
        text,
    }
}

/// The allocators and their ratios; with the ends of the rounds where there are any.
fn table(lanes: &[(&AllocatorResult, Option<Lane>)]) -> Grid {
    let has_range = |(_, lane): &(_, Option<Lane>)| lane.is_some_and(|lane| lane.range.is_some());
    let columns = if lanes.iter().any(has_range) { 4 } else { 2 };
    let shown = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
    let row = |(row, lane): &(&AllocatorResult, Option<Lane>)| {
        let range = lane.and_then(|lane| lane.range);
        let mut cells = vec![
            screen::shown(&row.allocator).to_owned(),
            shown(lane.map(|lane| lane.value)),
            shown(range.map(|(least, _)| least)),
            shown(range.map(|(_, most)| most)),
        ];
        cells.truncate(columns);
        cells
    };
    let header = ["allocator", "ratio", "least round", "greatest round"];
    Grid {
        header: header[..columns]
            .iter()
            .map(|&name| name.to_owned())
            .collect(),
        rows: lanes.iter().map(row).collect(),
        text_columns: 1,
    }
}
