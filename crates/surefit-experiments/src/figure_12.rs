//! `surefit experiment figure-12`: what an increment costs in throughput and transient memory, and saves in latency.
//!
//! ```text
//! left     throughput against ι = ∞, 8 KiB … 64 B                    1-CF(1,ι), class locks, 16 B to 16 KiB at random
//! middle   system latency against page-block size, for several ι     8 threads in one size-class
//! right    transient fragmentation against ι                         page-blocks reserved by moves in flight, watched,
//!                                                                    threads taking turns section by section
//! ```
//! System latency is the longest time that a lock is held. It is given twice: as the most bytes that were copied while a
//! lock was held once, which is exact and the same on every machine, and in nanoseconds, where a thread that loses its
//! core while it holds a lock counts as well.
//!
//! # Source
//! Craciunas et al. (2009), figure 12; only the course of its lines is known here, not their values.

mod right;

use anyhow::{Context, Result};
use surefit_compact::Geometry;

use super::threads::figures::{cores, exponent, ratio, shown, spread};
use super::threads::heaps::{Scheme, Setup, latencies, or_infinite, timed};
use super::threads::load::{Load, Sizes};
use crate::kit::{Axis, Claim, Column, Entry, Plot, Report, Request, Series, Table, Verdict};
use right::{grows, right, right_plot, right_table, within_bound};
use surefit_measure::progress::Progress;

/// This experiment.
pub(super) const ENTRY: Entry = Entry {
    name: "figure-12",
    about: "Throughput, system latency and transient fragmentation against the increment",
    takes_traces: false,
    takes_rounds: true,
    run,
};

/// The increments of the left and the right part, decreasing.
const INCREMENTS: [Option<u32>; 9] = [
    None,
    Some(8192),
    Some(4096),
    Some(2048),
    Some(1024),
    Some(512),
    Some(256),
    Some(128),
    Some(64),
];

/// Those of the middle part.
const FEW: [Option<u32>; 4] = [None, Some(4096), Some(1024), Some(256)];

/// Page-block sizes of the middle part: classes of the default geometry.
const BLOCKS: [u32; 8] = [64, 128, 256, 512, 1024, 2048, 4096, 8192];

const THREADS: usize = 8;

/// Threads of the left part.
const LEFT_THREADS: [usize; 2] = [1, 8];

fn setup(increment: Option<u32>) -> Setup {
    Setup::new(Scheme::OneClassLocks, Some(1)).with_increment(increment)
}

fn run(request: &Request) -> Result<Report> {
    let rounds = request.rounds_or(7);
    let steps =
        rounds as usize * INCREMENTS.len() * 2 + FEW.len() * BLOCKS.len() + INCREMENTS.len();
    let progress = Progress::new(steps as u64);
    let left = left(request, rounds, &progress)?;
    let middle = middle(request, &progress)?;
    let right = right(request, &progress)?;
    progress.finish();
    let mut report = Report::new(
        ENTRY.name,
        ENTRY.about,
        "Craciunas et al. (2009), figure 12",
        request.quick,
    );
    report.setting.push(format!(
        "1-CF(1,ι), class locks, pages of 16 KiB, objects of 16 B to 16 KiB at random, contiguous, {} slots a thread; the \
         first word of every object is written. {rounds} interleaved rounds. {} cores: with more threads than cores, \
         nanoseconds include threads that lost their core.",
        load(request).slots,
        cores()
    ));
    report.tables.extend([
        left_table(&left),
        middle_table(&middle),
        right_table(&right),
    ]);
    report.plots.push(left_plot(&left));
    report.plots.extend(middle_plots(&middle));
    report.plots.push(right_plot(&right));
    report.claims.push(falls(&left));
    report.claims.push(no_section_is_longer(&middle));
    report.claims.push(follows_the_block(&middle));
    report.claims.push(grows(&right));
    report.claims.push(within_bound(&right));
    report.notes.push(
        "The paper's transient fragmentation is a page a thread, T · π · β: a move there empties a page. Here a move reserves \
         one page-block, and a size-class has one move in flight at most, so the bound is one β for every size-class that a \
         thread may be moving in, at most T of them at once."
            .to_owned(),
    );
    Ok(report)
}

fn load(request: &Request) -> Load {
    Load {
        slots: 200,
        calls: if request.quick { 1_000 } else { 200_000 },
        sizes: Sizes::FIGURE_12,
        foreign_percent: 0,
    }
}

fn ticks() -> impl Iterator<Item = String> {
    INCREMENTS.into_iter().map(|increment| match increment {
        Some(bytes) if bytes >= 1024 => format!("{}K", bytes / 1024),
        other => or_infinite(other),
    })
}

// ---- left ------------------------------------------------------------------------------------------------------------

/// Throughput of an increment, round by round, for each of [`LEFT_THREADS`].
#[derive(Clone, Debug)]
struct Left {
    increment: Option<u32>,
    per_second: [Vec<f64>; 2],
    steps_per_move: f64,
}

fn left(request: &Request, rounds: u32, progress: &Progress) -> Result<Vec<Left>> {
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
                progress.step(ENTRY.name, "throughput", &setup(row.increment));
            }
        }
    }
    Ok(rows)
}

fn left_table(rows: &[Left]) -> Table {
    let columns = [
        Column::text("ι, bytes"),
        Column::figure("steps/move", 2),
        Column::figure("1 thread: k/s", 0),
        Column::figure("÷ ι=∞", 3),
        Column::figure("least", 3),
        Column::figure("greatest", 3),
        Column::figure("8 threads: k/s", 0),
        Column::figure("÷ ι=∞", 3),
        Column::figure("least", 3),
        Column::figure("greatest", 3),
    ];
    let mut table = Table::new("left: allocation throughput against the increment", columns);
    for row in rows {
        let of = |place: usize| {
            let relative = ratio(&row.per_second[place], &rows[0].per_second[place]);
            [
                spread(&row.per_second[place]).median / 1e3,
                relative.median,
                relative.min,
                relative.max,
            ]
        };
        let mut cells = vec![or_infinite(row.increment).into(), row.steps_per_move.into()];
        cells.extend(of(0).into_iter().chain(of(1)).map(Into::into));
        table.row(cells);
    }
    table
}

fn left_plot(rows: &[Left]) -> Plot {
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

fn falls(rows: &[Left]) -> Claim {
    let last = rows
        .last()
        .map(|last| ratio(&rows[0].per_second[0], &last.per_second[0]));
    Claim {
        claim: "throughput falls as ι shrinks".to_owned(),
        papers_figure: "it falls".to_owned(),
        ours: last.map_or_else(
            || "-".to_owned(),
            |last| format!("one thread, ι=∞ ÷ ι=64: {}", shown(last)),
        ),
        verdict: Verdict::of(last.and_then(Verdict::is_greater)),
        because:
            "one thread is faster at ι=∞ than at ι=64 in every round, and by over 3 % in the median"
                .to_owned(),
    }
}

// ---- middle ----------------------------------------------------------------------------------------------------------

/// System latency of one page-block size and increment.
#[derive(Clone, Debug)]
struct Middle {
    increment: Option<u32>,
    block: u32,
    copied_max: u64,
    held_median: u64,
    held_p9999: u64,
    held_max: u64,
    waited_max: u64,
}

fn middle(request: &Request, progress: &Progress) -> Result<Vec<Middle>> {
    let mut rows = Vec::new();
    for increment in FEW {
        for block in BLOCKS {
            let load = Load {
                sizes: Sizes::All(block),
                ..load(request)
            };
            let outcome = latencies(&setup(increment), THREADS, &load)?;
            let times = outcome.driven.times.context("no lock was timed")?;
            rows.push(Middle {
                increment,
                block: block_bytes(block),
                copied_max: outcome.stats.unwrap_or_default().copied_in_section_max,
                held_median: times.held.value_at_quantile(0.5),
                held_p9999: times.held.value_at_quantile(0.9999),
                held_max: times.held.max(),
                waited_max: times.waited.max(),
            });
            progress.step(ENTRY.name, "latency", &setup(increment));
        }
    }
    Ok(rows)
}

/// β of the size-class that serves a request.
fn block_bytes(request: u32) -> u32 {
    let geometry = Geometry::DEFAULT;
    let class = geometry.class_for_bytes(request as usize);
    class.map_or(request, |class| geometry.layout(class).block_bytes)
}

/// min(β, ι).
fn least(block: u32, increment: Option<u32>) -> u64 {
    u64::from(increment.unwrap_or(u32::MAX).min(block))
}

fn middle_table(rows: &[Middle]) -> Table {
    let columns = [
        Column::text("ι, bytes"),
        Column::figure("β, bytes", 0),
        Column::figure("min(β,ι)", 0),
        Column::figure("B/section", 0),
        Column::figure("held, ns: median", 0),
        Column::figure("p99.99", 0),
        Column::figure("max", 0),
        Column::figure("waited: max", 0),
    ];
    let mut table = Table::new(
        "middle: system latency, 8 threads in one size-class: most bytes copied in a section",
        columns,
    );
    for row in rows {
        table.row([
            or_infinite(row.increment).into(),
            row.block.into(),
            least(row.block, row.increment).into(),
            row.copied_max.into(),
            row.held_median.into(),
            row.held_p9999.into(),
            row.held_max.into(),
            row.waited_max.into(),
        ]);
    }
    table
}

fn middle_plots(rows: &[Middle]) -> [Plot; 2] {
    let of = |value: fn(&Middle) -> u64| {
        FEW.map(|increment| {
            let of_it = rows.iter().filter(|row| row.increment == increment);
            let points = of_it.map(|row| (f64::from(row.block), value(row).max(1) as f64));
            Series::new(
                format!("ι = {}", or_infinite(increment)),
                points.collect::<Vec<_>>(),
            )
        })
    };
    let plot = |title: &str, label: &str, series: [Series; 4]| Plot {
        title: title.to_owned(),
        x: Axis::logarithmic("page-block, bytes"),
        y: Axis::logarithmic(label),
        series: series.to_vec(),
    };
    [
        plot(
            "middle: most bytes copied in one section",
            "bytes",
            of(|row| row.copied_max),
        ),
        plot(
            "middle: a lock is held, p99.99",
            "ns",
            of(|row| row.held_p9999),
        ),
    ]
}

fn no_section_is_longer(rows: &[Middle]) -> Claim {
    let over = rows
        .iter()
        .filter(|row| row.copied_max > least(row.block, row.increment))
        .count();
    let reached = rows
        .iter()
        .filter(|row| row.copied_max == least(row.block, row.increment))
        .count();
    Claim {
        claim: "system latency follows min(β,ι)".to_owned(),
        papers_figure: "O(min(β,ι))".to_owned(),
        ours: format!(
            "of {} pairs of β and ι: {over} sections copied more than min(β,ι) bytes; {reached} reached it",
            rows.len()
        ),
        verdict: Verdict::of((!rows.is_empty()).then_some(over == 0 && reached == rows.len())),
        because: "counted: the most bytes copied in a section are min(β,ι), for every β and ι"
            .to_owned(),
    }
}

fn follows_the_block(rows: &[Middle]) -> Claim {
    let slope = |increment| {
        let of_it = rows
            .iter()
            .filter(|row| row.increment == increment && row.block >= 512);
        let points: Vec<_> = of_it
            .map(|row| (f64::from(row.block), row.held_p9999 as f64))
            .collect();
        exponent(&points)
    };
    let words = FEW.map(|increment| {
        let slope = slope(increment).map_or_else(|| "-".to_owned(), |slope| format!("{slope:.2}"));
        format!("ι={}: {slope}", or_infinite(increment))
    });
    Claim {
        claim: "in nanoseconds, latency grows with β for ι=∞ and stays flat beyond β=ι".to_owned(),
        papers_figure: "lines that bend at ι".to_owned(),
        ours: format!(
            "exponents of p99.99 in β from 512 B on: {}",
            words.join(", ")
        ),
        verdict: Verdict::NotComparable,
        because:
            "with more threads than cores the longest times are of threads that lost their core"
                .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Middle, follows_the_block, least, no_section_is_longer};
    use crate::kit::Verdict;

    fn middle(block: u32, copied_max: u64) -> Middle {
        Middle {
            increment: Some(256),
            block,
            copied_max,
            held_median: 1,
            held_p9999: 1,
            held_max: 1,
            waited_max: 1,
        }
    }

    #[test]
    fn latency_is_judged_by_bytes_not_by_the_clock() {
        assert_eq!(least(64, None), 64);
        let verdict =
            |copied| no_section_is_longer(&[middle(1024, copied), middle(64, 64)]).verdict;
        assert_eq!(
            [255, 256, 257].map(verdict),
            [Verdict::DoesNot, Verdict::Holds, Verdict::DoesNot]
        );
        assert_eq!(no_section_is_longer(&[]).verdict, Verdict::NotComparable);
        assert_eq!(follows_the_block(&[]).verdict, Verdict::NotComparable);
    }
}
