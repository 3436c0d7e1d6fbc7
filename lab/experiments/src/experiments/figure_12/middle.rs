//! The middle part of figure 12: system latency.

use anyhow::{Context, Result};
use surefit_compact::Geometry;

use super::increments::{NAME, THREADS, load, setup};
use crate::kit::{Axis, Claim, Plot, Request, Series, Table};
use crate::shared::threads::figures::exponent;
use crate::shared::threads::heaps::{latencies, or_infinite};
use crate::shared::threads::load::{Load, Sizes};
use surefit_measure::progress::Progress;

/// Those of the middle part.
pub(super) const FEW: [Option<u32>; 4] = [None, Some(4096), Some(1024), Some(256)];

/// Page-block sizes of the middle part: classes of the default geometry.
pub(super) const BLOCKS: [u32; 8] = [64, 128, 256, 512, 1024, 2048, 4096, 8192];

/// System latency of one page-block size and increment.
#[derive(Clone, Debug)]
pub(super) struct Middle {
    increment: Option<u32>,
    block: u32,
    copied_max: u64,
    /// How often a lock was held.
    held: u64,
    held_median: u64,
    held_p9999: u64,
    held_max: u64,
    waited_max: u64,
}

pub(super) fn middle(request: &Request, progress: &Progress) -> Result<Vec<Middle>> {
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
                held: times.held.len(),
                held_median: times.held.value_at_quantile(0.5),
                held_p9999: times.held.value_at_quantile(0.9999),
                held_max: times.held.max(),
                waited_max: times.waited.max(),
            });
            progress.step(NAME, "latency", &setup(increment));
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

pub(super) fn middle_table(rows: &[Middle]) -> Table {
    Table::of(
        "figure 12, middle: system latency, 8 threads in one size-class: most bytes copied in a section",
        rows,
    )
    .text("ι, bytes", |row| or_infinite(row.increment))
    .figure("β, bytes", 0, |row| row.block)
    .figure("min(β,ι)", 0, |row| least(row.block, row.increment))
    .figure("B/section", 0, |row| row.copied_max)
    .figure("held, ns: median", 0, |row| row.held_median)
    .figure("p99.99", 0, |row| row.held_p9999)
    .figure("max", 0, |row| row.held_max)
    .figure("waited: max", 0, |row| row.waited_max)
    .table()
}

pub(super) fn middle_plots(rows: &[Middle], cores: usize) -> [Plot; 2] {
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
            "figure 12, middle: most bytes copied in one section",
            "bytes",
            of(|row| row.copied_max),
        ),
        held_plot(
            plot(
                "figure 12, middle: a lock is held, p99.99",
                "ns",
                of(|row| row.held_p9999),
            ),
            cores,
        ),
    ]
}

/// How long a lock is held; nothing where threads take turns: whoever loses its core holds the lock
/// until it has it again.
fn held_plot(plot: Plot, cores: usize) -> Plot {
    if cores >= THREADS {
        return plot;
    }
    let title = format!(
        "{}: not drawn, fewer cores ({cores}) than threads ({})",
        plot.title, THREADS
    );
    Plot {
        title,
        series: Vec::new(),
        ..plot
    }
}

pub(super) fn no_section_is_longer(rows: &[Middle]) -> Claim {
    let over = rows
        .iter()
        .filter(|row| row.copied_max > least(row.block, row.increment))
        .count();
    let reached = rows
        .iter()
        .filter(|row| row.copied_max == least(row.block, row.increment))
        .count();
    Claim::that("system latency follows min(β,ι)")
        .of("figure 12")
        .of("question 3")
        .papers("O(min(β,ι))")
        .ours(format!(
            "of {} pairs of β and ι: {over} sections copied more than min(β,ι) \
             bytes; {reached} reached it",
            rows.len()
        ))
        .decide(
            (!rows.is_empty()).then_some(over == 0 && reached == rows.len()),
            "counted: the most bytes copied in a section are min(β,ι), for every β \
             and ι",
        )
}

/// Latency is flat beyond β=ι if it grows there with less than this share of the exponent that it
/// has at ι=∞: nearer to flat than to that growth.
const FLAT: f64 = 0.5;

/// Times a lock must have been held, so that ten of them are beyond p99.99.
const ENOUGH: u64 = 100_000;

/// Page-blocks of the exponents: below, the call costs more than the copy.
const COPIES: u32 = 512;

/// The exponent of p99.99 in β, where the increment bounds the section.
fn beyond(rows: &[Middle], increment: Option<u32>) -> Option<f64> {
    let least = increment.unwrap_or(0).max(COPIES);
    let of_it = rows
        .iter()
        .filter(|row| row.increment == increment && row.block >= least);
    let points: Vec<_> = of_it
        .map(|row| (f64::from(row.block), row.held_p9999 as f64))
        .collect();
    exponent(&points)
}

/// Whether the lines of the clock bend at ι.
pub(super) fn follows_the_block(rows: &[Middle], cores: usize) -> Claim {
    let slopes = FEW.map(|increment| beyond(rows, increment));
    let words = FEW.iter().zip(slopes).map(|(increment, slope)| {
        let slope = slope.map_or_else(|| "-".to_owned(), |slope| format!("{slope:.2}"));
        format!("ι={}: {slope}", or_infinite(*increment))
    });
    let words: Vec<_> = words.collect();
    let known: Option<Vec<f64>> = slopes.into_iter().collect();
    let bends = known
        .map(|known| known[0] > 0.0 && known[1..].iter().all(|finite| *finite < FLAT * known[0]));
    let held = rows.iter().map(|row| row.held).min().unwrap_or(0);
    Claim::that("in nanoseconds, latency grows with β for ι=∞ and stays flat beyond β=ι")
        .of("figure 12")
        .papers("none: the title alone is known, without its curve")
        .ours(format!(
            "exponents of p99.99 in β beyond β=ι, from {COPIES} B on: {}",
            words.join(", ")
        ))
        .decide(
            bends.filter(|_| cores >= THREADS && held >= ENOUGH),
            format!(
                "the exponent of ι=∞ is above 0, and that of every finite ι below half of it; not \
                 comparable with fewer cores ({cores}) than threads ({THREADS}), as the longest times \
                 are then of threads that lost their core, or with a lock held fewer than {ENOUGH} \
                 times ({held})"
            ),
        )
}

#[cfg(test)]
mod tests {
    use super::{
        BLOCKS, ENOUGH, FEW, Middle, THREADS, follows_the_block, least, no_section_is_longer,
    };
    use crate::kit::Verdict;

    fn middle(block: u32, copied_max: u64) -> Middle {
        Middle {
            increment: Some(256),
            block,
            copied_max,
            held: ENOUGH,
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
        assert_eq!(
            follows_the_block(&[], THREADS).verdict,
            Verdict::NotComparable
        );
    }

    #[test]
    fn the_clock_decides_only_where_every_thread_has_a_core() {
        let rows = |is_steep: bool| {
            let all = FEW.iter().flat_map(|&increment| {
                BLOCKS.map(|block| Middle {
                    increment,
                    held_p9999: match increment.is_none() == is_steep {
                        true => u64::from(block),
                        false => 100,
                    },
                    ..middle(block, 1)
                })
            });
            all.collect::<Vec<_>>()
        };
        let verdict = |is_steep, cores| follows_the_block(&rows(is_steep), cores).verdict;
        assert_eq!(verdict(true, THREADS), Verdict::Holds);
        assert_eq!(verdict(false, THREADS), Verdict::DoesNot);
        assert_eq!(verdict(true, THREADS - 1), Verdict::NotComparable);
        let mut few = rows(true);
        few[0].held = ENOUGH - 1;
        let verdict = follows_the_block(&few, THREADS).verdict;
        assert_eq!(verdict, Verdict::NotComparable);
    }
}
