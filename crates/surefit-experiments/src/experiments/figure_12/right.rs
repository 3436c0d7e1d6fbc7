//! The right part of figure 12: memory that moves in flight hold.

use std::sync::Mutex;

use anyhow::Result;
use surefit_compact::Geometry;
use surefit_compact::shared::SharedStats;

use super::increments::{INCREMENTS, NAME, THREADS, load, setup, ticks};
use crate::kit::{Axis, Claim, Plot, Request, Series, Table, Whose};
use crate::shared::threads::heaps::{or_infinite, watched};
use crate::shared::threads::load::Load;
use surefit_measure::progress::Progress;

/// Transient fragmentation of an increment.
#[derive(Clone, Debug)]
pub(super) struct Right {
    increment: Option<u32>,
    looks: u64,
    blocks_max: u64,
    bytes_max: u64,
    bytes_mean: f64,
}

/// What a watcher has seen.
#[derive(Debug, Default)]
struct Seen {
    looks: u64,
    blocks_max: u64,
    bytes_max: u64,
    bytes: u64,
}

/// Watches every increment.
///
/// # Errors
/// A refusal.
pub(super) fn right(request: &Request, progress: &Progress) -> Result<Vec<Right>> {
    let mut rows = Vec::new();
    for increment in INCREMENTS {
        let seen = Mutex::new(Seen::default());
        let look = |parts: surefit_core::Parts, stats: SharedStats| {
            let mut seen = seen.lock().expect("the watcher alone");
            let bytes = parts.transient_bytes as u64;
            seen.looks += 1;
            seen.blocks_max = seen.blocks_max.max(stats.reserved_blocks);
            seen.bytes_max = seen.bytes_max.max(bytes);
            seen.bytes += bytes;
        };
        let calls = load(request).calls / 5;
        watched(
            &setup(increment),
            THREADS,
            &Load {
                calls,
                ..load(request)
            },
            &look,
        )?;
        let seen = seen.into_inner().expect("the watcher alone");
        rows.push(Right {
            increment,
            looks: seen.looks,
            blocks_max: seen.blocks_max,
            bytes_max: seen.bytes_max,
            bytes_mean: seen.bytes as f64 / seen.looks.max(1) as f64,
        });
        progress.step(NAME, "transient", &setup(increment));
    }
    Ok(rows)
}

/// Our bound: one β of the largest size-class that moves, for every thread.
fn our_bound() -> u64 {
    let geometry = Geometry::DEFAULT;
    let mut blocks: Vec<_> = geometry
        .classes()
        .map(|class| geometry.layout(class))
        .filter(|layout| layout.blocks > 1)
        .map(|layout| u64::from(layout.block_bytes))
        .collect();
    blocks.sort_unstable();
    blocks.iter().rev().take(THREADS).sum()
}

/// The paper's bound T · π · β: a page a thread.
fn papers_bound() -> u64 {
    (THREADS * Geometry::DEFAULT.page_bytes()) as u64
}

/// The figures.
pub(super) fn right_table(rows: &[Right]) -> Table {
    Table::of("right: transient fragmentation, 8 threads", rows)
        .text("ι, bytes", |row| or_infinite(row.increment))
        .figure("looks", 0, |row| row.looks)
        .figure("most blocks", 0, |row| row.blocks_max)
        .figure("most bytes", 0, |row| row.bytes_max)
        .figure("mean bytes", 1, |row| row.bytes_mean)
        .figure("our bound, bytes", 0, |_| our_bound())
        .papers("bound T·π·β, bytes", 0, |_| papers_bound())
        .table()
}

/// The lines.
pub(super) fn right_plot(rows: &[Right]) -> Plot {
    let points = |value: fn(&Right) -> f64| -> Vec<(f64, f64)> {
        rows.iter()
            .enumerate()
            .map(|(x, row)| (x as f64, value(row) / 1024.0))
            .collect()
    };
    let papers = Series {
        whose: Whose::Papers,
        ..Series::new("bound T·π·β", points(|_| papers_bound() as f64))
    };
    Plot {
        title: "right: transient fragmentation".to_owned(),
        x: Axis::named("ι, bytes", ticks()),
        y: Axis::from_zero("KiB"),
        series: vec![
            Series::new("most seen", points(|row| row.bytes_max as f64)),
            Series::new("mean seen", points(|row| row.bytes_mean)),
            Series::new("our bound", points(|_| our_bound() as f64)),
            papers,
        ],
    }
}

/// Whether it grows.
pub(super) fn grows(rows: &[Right]) -> Claim {
    let ends = rows
        .first()
        .zip(rows.last())
        .filter(|(first, last)| first.looks.min(last.looks) >= 10);
    Claim::that("transient fragmentation grows as ι shrinks")
        .papers("it grows")
        .ours(ends.map_or_else(
            || "too few looks".to_owned(),
            |(first, last)| {
                format!(
                    "mean {:.1} B at ι=∞, {:.1} B at ι=64",
                    first.bytes_mean, last.bytes_mean
                )
            },
        ))
        .decide(
            ends.map(|(first, last)| last.bytes_mean > first.bytes_mean),
            "the mean of all looks is greater at the least increment than at ι=∞; at \
             least ten looks each",
        )
}

/// Whether the bound was kept.
pub(super) fn within_bound(rows: &[Right]) -> Claim {
    let most = rows.iter().map(|row| row.bytes_max).max();
    let blocks = rows.iter().map(|row| row.blocks_max).max();
    let bound = our_bound();
    Claim::that(
        "transient fragmentation stays within one page-block for each of the T \
         size-classes in motion",
    )
    .papers(format!("T·π·β = {} bytes", papers_bound()))
    .ours(format!(
        "at most {} page-blocks, {} bytes",
        blocks.unwrap_or(0),
        most.unwrap_or(0)
    ))
    .decide(
        most.map(|most| most <= bound),
        format!("every look saw at most {bound} bytes"),
    )
}

#[cfg(test)]
mod tests {
    use super::{Right, grows, our_bound, papers_bound, within_bound};
    use crate::kit::Verdict;

    #[test]
    fn transient_bytes_are_judged_by_the_bound() {
        let right = |bytes_max, bytes_mean| Right {
            increment: None,
            looks: 10,
            blocks_max: 1,
            bytes_max,
            bytes_mean,
        };
        assert_eq!(
            grows(&[right(0, 0.0), right(9, 1.0)]).verdict,
            Verdict::Holds
        );
        assert_eq!(
            grows(&[right(9, 1.0), right(9, 0.5)]).verdict,
            Verdict::DoesNot
        );
        assert_eq!(grows(&[]).verdict, Verdict::NotComparable);
        assert_eq!(
            within_bound(&[right(our_bound(), 1.0)]).verdict,
            Verdict::Holds
        );
        assert_eq!(
            within_bound(&[right(our_bound() + 1, 1.0)]).verdict,
            Verdict::DoesNot
        );
        assert!(our_bound() < papers_bound());
    }
}
