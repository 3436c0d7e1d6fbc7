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
    let title = "figure 12, left: allocation throughput against the increment";
    let mut table = Table::of(title, rows)
        .text("ι, bytes", |row| or_infinite(row.increment))
        .figure("steps/move", 2, |row| row.steps_per_move);
    for (place, threads) in ["1 thread", "8 threads"].into_iter().enumerate() {
        table = table
            .figure(format!("{threads} k/s"), 0, |row| {
                spread(&row.per_second[place]).median / 1e3
            })
            .ratios("÷ ι=∞", 2, |row| {
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
        title: "figure 12, left: throughput".to_owned(),
        x: Axis::named("ι, bytes", ticks()),
        y: Axis::from_zero("thousand allocations/s"),
        series: series.collect(),
    }
}

/// Rounds that may decide. Fewer agree by chance at one of the eight steps of the curve.
const ENOUGH: usize = 5;

/// Whether it falls, over the whole curve, with one thread.
pub(super) fn falls(rows: &[Left]) -> Claim {
    let of = |row: &Left| row.per_second[0].clone();
    let ends = rows
        .first()
        .zip(rows.last())
        .map(|(first, last)| ratio(&of(first), &of(last)));
    // Steps of a level curve differ by noise: the ends decide, unless a step is certainly a rise.
    let is_rise = |pair: &[Left]| Verdict::is_greater(ratio(&of(&pair[1]), &of(&pair[0])));
    let rises = rows.windows(2).any(|pair| is_rise(pair) == Some(true));
    let rounds = rows.first().map_or(0, |row| row.per_second[0].len());
    let falls = ends.and_then(Verdict::is_greater);
    let test = if rises { Some(false) } else { falls };
    Claim::that("throughput falls as ι shrinks")
        .of("figure 12")
        .papers("none: the title alone is known, without its curve")
        .ours(ends.map_or_else(
            || "-".to_owned(),
            |ends| format!("one thread, ι=∞ ÷ least ι: {ends}"),
        ))
        .decide(
            test.filter(|_| rounds >= ENOUGH),
            "over the whole curve, one thread: the first ι is faster than the last in every round, \
             and by over 3 % in the median; and no step to a smaller ι is faster so; not comparable \
             if rounds of the ends disagree, or with fewer than five rounds",
        )
}

#[cfg(test)]
mod tests {
    use super::{ENOUGH, Left, falls};
    use crate::kit::Verdict;

    #[test]
    fn throughput_is_judged_over_the_whole_curve() {
        // Round by round in turns: one figure, then the other.
        let timed = |rounds: usize, curve: &[[f64; 2]]| {
            let all = |pair: &[f64; 2]| {
                pair.iter()
                    .copied()
                    .cycle()
                    .take(rounds)
                    .collect::<Vec<_>>()
            };
            let row = |pair: &[f64; 2]| Left {
                increment: None,
                per_second: [all(pair), all(pair)],
                steps_per_move: 1.0,
            };
            falls(&curve.iter().map(row).collect::<Vec<_>>()).verdict
        };
        let verdict = |curve: &[[f64; 2]]| timed(6, curve);
        let few = timed(ENOUGH - 1, &[[9.0, 8.0], [5.0, 5.0]]);
        assert_eq!(few, Verdict::NotComparable);
        assert_eq!(
            verdict(&[[9.0, 8.0], [9.0, 8.1], [5.0, 5.0]]),
            Verdict::Holds
        );
        let rises = verdict(&[[9.0, 8.0], [5.0, 4.0], [6.0, 5.0]]);
        assert_eq!(rises, Verdict::DoesNot);
        assert_eq!(verdict(&[[9.0, 9.0], [9.0, 9.0]]), Verdict::DoesNot);
        assert_eq!(verdict(&[[9.0, 9.0], [2.0, 10.0]]), Verdict::NotComparable);
        // A level end, where rounds disagree about a step.
        let level = verdict(&[[9.0, 8.0], [5.0, 5.2], [5.2, 5.0]]);
        assert_eq!(level, Verdict::Holds);
        assert_eq!(verdict(&[]), Verdict::NotComparable);
    }
}
