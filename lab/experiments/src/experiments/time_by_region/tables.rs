//! Tables and plots.

use super::claims::{CERTIFIED_GOAL, FOUR_TIMES_GOAL, FREE_GOAL, PROGRAM_GOAL, TALC_GOAL};
use super::found::{CERTIFIED, FOUR_TIMES, Found, HALF_MORE, REGIONS, RLSF, TALC, mean};
use crate::kit::{Axis, Plot, Series, Table};
use surefit_measure::results::Ratio;

/// Geometric means beside their goals.
pub(super) fn means(all: &[Found]) -> Table {
    let title = "time of cf ÷ that of rlsf and of talc: geometric means of the programs";
    let rlsf_goal = |place: usize| match place {
        CERTIFIED => Some(CERTIFIED_GOAL),
        FOUR_TIMES => Some(FOUR_TIMES_GOAL),
        _ => None,
    };
    Table::of(title, 0..REGIONS.len())
        .text("region", |place| REGIONS[*place])
        .ratios("÷ rlsf", 2, |place| mean(all, *place, RLSF))
        .figure("goal", 2, |place| rlsf_goal(*place))
        .ratios("÷ talc", 2, |place| mean(all, *place, TALC))
        .figure("goal", 2, |place| {
            (*place >= HALF_MORE).then_some(TALC_GOAL)
        })
        .table()
}

/// Each program in each region.
fn rows(all: &[Found]) -> impl Iterator<Item = (&Found, usize)> {
    let of = |found| (0..REGIONS.len()).map(move |place| (found, place));
    all.iter().flat_map(of)
}

/// The time on each program.
pub(super) fn times(all: &[Found]) -> Table {
    Table::of("time of cf ÷ that of rlsf and of talc", rows(all))
        .text("program", |(found, _)| found.name.as_str())
        .text("region", |(_, place)| REGIONS[*place])
        .ratios("÷ rlsf", 2, |(found, place)| found.ratio(*place, RLSF))
        .figure("goal", 2, |(_, place)| {
            (*place == HALF_MORE).then_some(PROGRAM_GOAL)
        })
        .ratios("÷ talc", 2, |(found, place)| found.ratio(*place, TALC))
        .table()
}

/// What is counted on each program.
pub(super) fn counts(all: &[Found]) -> Table {
    let standing = |found: &Found, place: usize, heap: usize| {
        let region = found.standing(place, heap)?;
        Some(found.to_live(region.bytes))
    };
    let title = "cf: moves in the whole run, and instructions of a free in the mean";
    Table::of(title, rows(all))
        .text("program", |(found, _)| found.name.as_str())
        .text("region", |(_, place)| REGIONS[*place])
        .figure("÷ live", 3, |(found, place)| {
            found.to_live(found.regions[*place].bytes)
        })
        .figure("moves", 0, |(found, place)| found.regions[*place].moves)
        .figure("instructions", 1, |(found, place)| {
            found.regions[*place].instructions_per_free
        })
        .figure("goal", 0, |(_, place)| {
            (*place == HALF_MORE).then_some(FREE_GOAL)
        })
        .figure("rlsf at", 2, |(found, place)| standing(found, *place, RLSF))
        .figure("talc at", 2, |(found, place)| standing(found, *place, TALC))
        .table()
}

/// The geometric means by region, with their spread over the rounds.
pub(super) fn mean_plot(all: &[Found]) -> Plot {
    let line = |name: &str, heap: usize| series(name, |place| mean(all, place, heap));
    plot(
        "geometric means of the programs",
        vec![line("cf ÷ rlsf", RLSF), line("cf ÷ talc", TALC)],
    )
}

/// Each program beside rlsf.
pub(super) fn program_plot(all: &[Found]) -> Plot {
    let line = |found: &Found| series(&found.name, |place| found.ratio(place, RLSF));
    plot("cf ÷ rlsf on each program", all.iter().map(line).collect())
}

fn plot(title: &str, series: Vec<Series>) -> Plot {
    Plot {
        title: title.to_owned(),
        x: Axis::named("region ÷ live bytes", REGIONS.map(str::to_owned)),
        y: Axis::from_zero("time ÷ time"),
        series,
    }
}

/// A line over the regions.
fn series(name: &str, ratio: impl Fn(usize) -> Option<Ratio>) -> Series {
    let mut series = Series::new(name, Vec::new());
    for place in 0..REGIONS.len() {
        if let Some(ratio) = ratio(place) {
            series.points.push((place as f64, ratio.median));
            series.spread.push((ratio.min, ratio.max));
        }
    }
    series
}
