//! The left part of figure 12: throughput.

use anyhow::Result;

use super::increments::{INCREMENTS, NAME, load, setup, ticks};
use crate::kit::{Axis, Claim, Plot, Request, Series, Table, Verdict};
use crate::shared::threads::figures::{ratio, spread};
use crate::shared::threads::heaps::{or_infinite, timed};
use surefit_measure::progress::Progress;

/// Threads of the left part.
const LEFT_THREADS: [usize; 2] = [1, 8];

/// Throughput of an increment, round by round, for each of [`LEFT_THREADS`].
#[derive(Clone, Debug)]
pub(super) struct Left {
    increment: Option<u32>,
    per_second: [Vec<f64>; 2],
    steps_per_move: f64,
}

pub(super) fn left(request: &Request, rounds: u32, progress: &Progress) -> Result<Vec<Left>> {
    let row = |increment| Left {
        increment,
        per_second: Default::default(),
        steps_per_move: f64::NAN,
    };
    let mut rows = INCREMENTS.map(row).to_vec();
    for _ in 0..rounds {
        for row in &mut rows {
            for (threads, per_second) in LEFT_THREADS.into_iter().zip(&mut row.per_second) {
                let outcome = timed(&setup(row.increment), threads, &load(request))?;
                per_second.push(outcome.driven.per_second());
                let stats = outcome.stats.unwrap_or_default();
                row.steps_per_move = stats.steps_total as f64 / stats.moves_total.max(1) as f64;
                progress.step(NAME, "throughput", &setup(row.increment));
            }
        }
    }
    Ok(rows)
}

pub(super) fn left_table(rows: &[Left]) -> Table {
    let title = "left: allocation throughput against the increment";
    let mut table = Table::of(title, rows)
        .text("ι, bytes", |row| or_infinite(row.increment))
        .figure("steps/move", 2, |row| row.steps_per_move);
    for (place, threads) in ["1 thread", "8 threads"].into_iter().enumerate() {
        table = table
            .figure(format!("{threads}: k/s"), 0, |row| {
                spread(&row.per_second[place]).median / 1e3
            })
            .ratios("÷ ι=∞", 3, |row| {
                Some(ratio(&row.per_second[place], &rows[0].per_second[place]))
            });
    }
    table.table()
}

pub(super) fn left_plot(rows: &[Left]) -> Plot {
    let series = LEFT_THREADS
        .into_iter()
        .enumerate()
        .map(|(place, threads)| {
            let mut series = Series::new(format!("threads: {threads}"), Vec::new());
            for (x, row) in rows.iter().enumerate() {
                let spread = spread(&row.per_second[place]);
                series.points.push((x as f64, spread.median / 1e3));
                series.spread.push((spread.min / 1e3, spread.max / 1e3));
            }
            series
        });
    Plot {
        title: "left: throughput".to_owned(),
        x: Axis::named("ι, bytes", ticks()),
        y: Axis::from_zero("thousand allocations/s"),
        series: series.collect(),
    }
}

pub(super) fn falls(rows: &[Left]) -> Claim {
    let last = rows
        .last()
        .map(|last| ratio(&rows[0].per_second[0], &last.per_second[0]));
    Claim::that("throughput falls as ι shrinks")
        .papers("it falls")
        .ours(last.map_or_else(
            || "-".to_owned(),
            |last| format!("one thread, ι=∞ ÷ ι=64: {}", last),
        ))
        .decide(
            last.and_then(Verdict::is_greater),
            "one thread is faster at ι=∞ than at ι=64 in every round, and by over 3 \
             % in the median",
        )
}
