//! The right part of figure 12: memory that moves in flight keep from use.
//!
//! Both automata are simulated on the same calls (`simulated`), which decides. Beside them stands
//! our heap itself, at which a watcher looks now and then while threads take turns; when it looks
//! depends on the clock.

use std::sync::Mutex;

use anyhow::Result;
use surefit_compact::Geometry;
use surefit_compact::shared::SharedStats;

use super::increments::{INCREMENTS, NAME, THREADS, load, setup, ticks};
use super::simulated::{Transient, our_automaton, papers_automaton};
use crate::kit::{Axis, Claim, Plot, Request, Series, Table};
use crate::shared::threads::heaps::{or_infinite, watched};
use crate::shared::threads::load::Load;
use surefit_measure::progress::Progress;

/// Transient fragmentation of an increment.
#[derive(Clone, Debug, Default)]
pub(super) struct Right {
    increment: Option<u32>,
    papers: Transient,
    ours: Transient,
    watched: Seen,
}

/// What a watcher has seen of our heap.
#[derive(Clone, Debug, Default)]
struct Seen {
    looks: u64,
    bytes_max: u64,
    bytes: u64,
}

impl Seen {
    fn mean(&self) -> Option<f64> {
        (self.looks > 0).then(|| self.bytes as f64 / self.looks as f64)
    }
}

/// Steps of progress for each increment.
pub(super) const STEPS: usize = 2;

/// Simulates both automata and watches the heap, for every increment.
///
/// # Errors
/// A refusal; a state that breaks a rule of its automaton.
pub(super) fn right(request: &Request, progress: &Progress) -> Result<Vec<Right>> {
    let simulated = Load {
        calls: if request.quick { 400 } else { 5_000 },
        ..load(request)
    };
    let mut rows = Vec::new();
    for increment in INCREMENTS {
        let papers = papers_automaton(increment, &simulated)?;
        let ours = our_automaton(increment, &simulated)?;
        progress.step(NAME, "simulated", &setup(increment));
        rows.push(Right {
            increment,
            papers,
            ours,
            watched: look(request, increment)?,
        });
        progress.step(NAME, "transient", &setup(increment));
    }
    Ok(rows)
}

/// Watches our heap.
fn look(request: &Request, increment: Option<u32>) -> Result<Seen> {
    let seen = Mutex::new(Seen::default());
    let look = |usage: surefit_core::Usage, _: SharedStats| {
        let mut seen = seen.lock().expect("the watcher alone");
        let bytes = usage.transient_bytes as u64;
        seen.looks += 1;
        seen.bytes_max = seen.bytes_max.max(bytes);
        seen.bytes += bytes;
    };
    let load = Load {
        calls: load(request).calls / 5,
        ..load(request)
    };
    watched(&setup(increment), THREADS, &load, &look)?;
    Ok(seen.into_inner().expect("the watcher alone"))
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
    let title = "figure 12, right: transient fragmentation in bytes, 8 threads: both automata simulated \
                 on the same calls, and our heap watched";
    Table::of(title, rows)
        .text("ι, bytes", |row| or_infinite(row.increment))
        .figure("papers': mean", 0, |row| row.papers.mean)
        .figure("most", 0, |row| row.papers.most)
        .figure("ours: mean", 0, |row| row.ours.mean)
        .figure("most", 0, |row| row.ours.most)
        .figure("our heap: looks", 0, |row| row.watched.looks)
        .figure("mean", 0, |row| row.watched.mean())
        .figure("most", 0, |row| row.watched.bytes_max)
        .papers("T·π·β", 0, |_| papers_bound())
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
    let last = rows.len().saturating_sub(1) as f64;
    Plot {
        title: "figure 12, right: transient fragmentation, both automata simulated".to_owned(),
        x: Axis::named("ι, bytes", ticks()),
        y: Axis::from_zero("KiB"),
        series: vec![
            Series::new("papers' automaton: mean", points(|row| row.papers.mean)),
            Series::new(
                "papers' automaton: most",
                points(|row| row.papers.most as f64),
            ),
            Series::new("our automaton: mean", points(|row| row.ours.mean)),
            Series::new("our automaton: most", points(|row| row.ours.most as f64)),
            Series::papers_level("bound T·π·β", papers_bound() as f64 / 1024.0, (0.0, last)),
        ],
    }
}

/// Whose automaton a curve is of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of {
    Papers,
    Ours,
}

impl Of {
    fn words(self) -> &'static str {
        match self {
            Self::Papers => "the papers' automaton",
            Self::Ours => "our automaton",
        }
    }

    fn figures(self, row: &Right) -> Transient {
        match self {
            Self::Papers => row.papers,
            Self::Ours => row.ours,
        }
    }
}

/// Whether it grows, over the whole curve.
pub(super) fn grows(rows: &[Right], of: Of) -> Claim {
    let means: Vec<_> = rows.iter().map(|row| of.figures(row).mean).collect();
    let rising = means.windows(2).filter(|pair| pair[1] > pair[0]).count();
    let falling = means.windows(2).filter(|pair| pair[1] < pair[0]).count();
    Claim::that(format!(
        "transient fragmentation grows as ι shrinks, in {}",
        of.words()
    ))
    .of("figure 12")
    .of("question 4")
    .papers("none: the title alone is known, without its curve")
    .ours(format!(
        "mean {:.0} bytes at ι=∞, {:.0} at the least ι; of {} steps to a smaller ι, {rising} rise and \
         {falling} fall",
        means.first().unwrap_or(&0.0),
        means.last().unwrap_or(&0.0),
        means.len().saturating_sub(1)
    ))
    .decide(
        (means.len() > 1).then_some(falling == 0 && rising > 0),
        "simulated: over the whole curve, the mean of all turns falls at no step to a smaller ι, and \
         rises at some",
    )
}

/// Whether the papers' automaton keeps a page for each thread at most.
pub(super) fn within_pages(rows: &[Right]) -> Claim {
    let most = rows.iter().map(|row| row.papers.most).max();
    let bound = papers_bound();
    Claim::that(
        "transient fragmentation stays within a page for each thread, in the papers' automaton",
    )
    .of("incremental automaton")
    .papers(format!("T·π·β = {bound} bytes"))
    .ours(format!("at most {} bytes", most.unwrap_or(0)))
    .decide(
        most.map(|most| most <= bound),
        "simulated: the most after any turn, at every ι, is at most T·π·β",
    )
}

/// Whether ours keeps our bound, simulated and in the heap.
pub(super) fn within_bound(rows: &[Right]) -> Claim {
    let most = |of: fn(&Right) -> u64| rows.iter().map(of).max();
    let simulated = most(|row| row.ours.most);
    let seen = most(|row| row.watched.bytes_max);
    let bound = our_bound();
    Claim::that(
        "transient fragmentation stays within one page-block for each of the T \
         size-classes in motion, in our automaton and in our heap",
    )
    .ours_alone()
    .papers(format!("their bound T·π·β = {} bytes", papers_bound()))
    .ours(format!(
        "at most {} bytes simulated, {} in the heap",
        simulated.unwrap_or(0),
        seen.unwrap_or(0)
    ))
    .decide(
        simulated.zip(seen).map(|(a, b)| a.max(b) <= bound),
        format!("after every turn, and at every look, at most {bound} bytes"),
    )
}

/// Whether ours keeps less than the papers'.
pub(super) fn ours_keeps_less(rows: &[Right]) -> Claim {
    let moving: Vec<_> = rows.iter().filter(|row| row.papers.mean > 0.0).collect();
    let shares = moving.iter().map(|row| row.ours.mean / row.papers.mean);
    let most = shares.clone().fold(0.0, f64::max);
    Claim::that("moves that change nothing until their commit keep less memory than source and emptying pages")
        .ours_alone()
        .papers("a page for each thread")
        .ours(format!(
            "our mean is at most {:.0} % of the papers' automaton's",
            100.0 * most
        ))
        .decide(
            (!moving.is_empty()).then(|| shares.clone().all(|share| share < 1.0)),
            "simulated on the same calls: our mean is below theirs at every ι at which theirs is above 0; \
             not comparable if it is 0 everywhere",
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::Verdict;

    fn simulated(papers: &[f64], ours: &[f64]) -> Vec<Right> {
        let transient = |mean: f64| Transient {
            mean,
            most: mean as u64,
        };
        let row = |(papers, ours): (&f64, &f64)| Right {
            papers: transient(*papers),
            ours: transient(*ours),
            ..Right::default()
        };
        papers.iter().zip(ours).map(row).collect()
    }

    #[test]
    fn growth_is_judged_over_the_whole_curve() {
        let verdict = |means: &[f64]| {
            let rows = simulated(means, means);
            let verdicts = [Of::Papers, Of::Ours].map(|of| grows(&rows, of).verdict);
            assert_eq!(verdicts[0], verdicts[1]);
            verdicts[0]
        };
        assert_eq!(verdict(&[0.0, 0.0, 5.0, 9.0]), Verdict::Holds);
        assert_eq!(verdict(&[0.0, 5.0, 4.0, 9.0]), Verdict::DoesNot);
        assert_eq!(verdict(&[1.0, 1.0, 1.0]), Verdict::DoesNot);
        assert_eq!(verdict(&[1.0]), Verdict::NotComparable);
    }

    #[test]
    fn each_automaton_is_judged_by_its_bound() {
        let (pages, blocks) = (papers_bound() as f64, our_bound() as f64);
        assert!(blocks < pages);
        let verdicts = |papers, ours| {
            let rows = simulated(&[0.0, papers], &[0.0, ours]);
            [within_pages(&rows).verdict, within_bound(&rows).verdict]
        };
        assert_eq!(verdicts(pages, blocks), [Verdict::Holds; 2]);
        assert_eq!(verdicts(pages + 1.0, blocks + 1.0), [Verdict::DoesNot; 2]);
        assert_eq!(within_bound(&[]).verdict, Verdict::NotComparable);
        let mut row = simulated(&[0.0], &[0.0]);
        row[0].watched.bytes_max = our_bound() + 1;
        assert_eq!(within_bound(&row).verdict, Verdict::DoesNot);
    }

    #[test]
    fn ours_is_compared_where_the_papers_keep_something() {
        let verdict =
            |papers: &[f64], ours: &[f64]| ours_keeps_less(&simulated(papers, ours)).verdict;
        assert_eq!(verdict(&[0.0, 4.0], &[0.0, 2.0]), Verdict::Holds);
        assert_eq!(
            verdict(&[0.0, 4.0, 2.0], &[0.0, 2.0, 2.0]),
            Verdict::DoesNot
        );
        assert_eq!(verdict(&[0.0], &[0.0]), Verdict::NotComparable);
    }
}
