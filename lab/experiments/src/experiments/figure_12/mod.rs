//! `surefit experiment figure-12`: what an increment costs in throughput and transient memory, and
//! saves in latency.
//!
//! ```text
//! left     throughput against ι = ∞, 8 KiB … 64 B                    1-CF(1,ι), class locks, 16 B to 16 KiB at random
//! middle   system latency against page-block size, for several ι     8 threads in one size-class
//! right    transient fragmentation against ι                         the papers' automaton and ours, simulated on the
//!                                                                    same calls; our heap, watched
//! ```
//! System latency is the longest time that a lock is held. It is given twice: as the most bytes
//! that were copied while a lock was held once, which is exact and the same on every machine, and
//! in nanoseconds, where a thread that loses its core while it holds a lock counts as well.
//!
//! # Source
//! Craciunas et al. (2009), figure 12; only the course of its lines is known here, not their
//! values.

mod increments;
mod left;
mod middle;
mod right;
mod simulated;

use anyhow::Result;

use self::increments::{INCREMENTS, NAME, load};
use self::left::{falls, left, left_plot, left_table};
use self::middle::{
    BLOCKS, FEW, follows_the_block, middle, middle_plots, middle_table, no_section_is_longer,
};
use self::right::{
    Of, STEPS, grows, ours_keeps_less, right, right_plot, right_table, within_bound, within_pages,
};
use crate::kit::{Entry, Report, Request, papers};
use crate::shared::threads::figures::cores;
use surefit_measure::progress::Progress;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    about: "Throughput, system latency and transient fragmentation against the increment",
    takes_traces: false,
    takes_rounds: true,
    run,
};

fn run(request: &Request) -> Result<Report> {
    let rounds = request.rounds_or(7);
    let steps = rounds as usize * INCREMENTS.len() * 2
        + FEW.len() * BLOCKS.len()
        + INCREMENTS.len() * STEPS;
    let progress = Progress::new(steps as u64);
    let left = left(request, rounds, &progress)?;
    let middle = middle(request, &progress)?;
    let right = right(request, &progress)?;
    progress.finish();
    let mut report = Report::new(
        ENTRY.name,
        ENTRY.about,
        papers::of_2009!("figure 12"),
        request.quick,
    );
    report.setting.push(format!(
        "1-CF(1,ι), class locks, pages of 16 KiB, objects of 16 B to 16 KiB at random, contiguous, {} slots per thread; the \
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
    report.plots.extend(middle_plots(&middle, cores()));
    report.plots.push(right_plot(&right));
    report.claims.push(falls(&left));
    report.claims.push(no_section_is_longer(&middle));
    report.claims.push(follows_the_block(&middle, cores()));
    report.claims.extend([
        grows(&right, Of::Papers),
        grows(&right, Of::Ours),
        within_pages(&right),
        ours_keeps_less(&right),
        within_bound(&right),
    ]);
    report.notes.push(
        "The papers' automaton keeps source pages and emptying pages out of use while objects leave them: one page per \
         thread at most, T · π · β. Ours changes nothing until the commit: a move reserves one page-block, and a size-class has \
         one move in flight at most, so its bound is one β for every size-class that a thread may be moving in, at most T of \
         them at once. `surefit experiment automaton --incremental paper|ours` draws both."
            .to_owned(),
    );
    report.setting.push(
        "right: κ = 1, classes of the default geometry, scripts as for the left part; in each turn a thread drawn at random runs \
         one section; what a free takes is drawn among the live objects of its size-class."
            .to_owned(),
    );
    Ok(report)
}
