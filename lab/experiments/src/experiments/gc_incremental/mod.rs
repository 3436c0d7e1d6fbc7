//! `surefit experiment gc-incremental`: what the Next Hit Table is worth to a collector that stops
//! the program, to one that works in steps, and to one with two generations; and in promotion. What
//! a nursery is worth to two generations.
//!
//! ```text
//! programs     Java programs on a Java machine
//! spaces       256 lists, found by a walk of the heads, by the table, by a bitmap; merged late or at once
//! collectors   at once; in steps, by work; two generations, for which nothing moves
//! heaps        twice the smallest, at once, for each coalescing; three times too, for births
//! promotion    a nursery of 64 or 256 KiB in front of such a space: what survives is copied there, one object
//!              after another as it was allocated, or in order of size
//! births       two generations over lists, over Compact-fit, and over Compact-fit with a nursery from which what
//!              survives is copied, in 2 and 3 times the smallest heap
//! ```
//!
//! | file | holds |
//! | --- | --- |
//! | `plan` | what is measured, and how often |
//! | `found` | everything about one program |
//! | `pace` | how fast the collector in steps works |
//! | `collectors` | all collectors and lookups in heaps of all sizes, in interleaved rounds |
//! | `promote` | what a nursery promoted in a run is promoted into a space |
//! | `promotions` | all lookups and orders, in interleaved rounds |
//! | `births` | two generations over three spaces, in interleaved rounds |
//! | `ratios` | one time over another, round by round |
//! | `claims` | the verdicts |
//! | `tables` | what was counted and timed |
//!
//! # Source
//! The thesis on free-list organisation: its predictions for incremental collection, and its idea
//! that the promotion of a generational collector could use the table.

mod births;
mod claims;
mod collectors;
mod found;
mod pace;
mod plan;
mod promote;
mod promotions;
mod ratios;
mod tables;

use anyhow::Result;

use self::found::Found;
use self::plan::Plan;
use crate::kit::{Entry, Report, Request, papers};
use crate::shared::merges::merges_name;
use crate::shared::thesis::java;
use surefit_measure::progress::Progress;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "gc-incremental",
    about: "The table under incremental and generational collection, and in promotion",
    takes_traces: false,
    takes_rounds: true,
    run,
};

const SOURCE: &str = papers::of_the_thesis!("its predictions and its outlook");

fn run(request: &Request) -> Result<Report> {
    let plan = Plan::of(request);
    let mut found = Vec::new();
    for java in java::all(request) {
        let steps = plan.merges.len() + plan.nurseries.len() + 1;
        let progress = Progress::new(steps as u64);
        let mut one = Found {
            name: java.name.to_owned(),
            measured: Vec::new(),
            promotions: Vec::new(),
            births: Vec::new(),
        };
        for &merges in &plan.merges {
            one.measured
                .push(collectors::measure(&java, merges, &plan)?);
            progress.step(java.name, "run", &merges_name(merges));
        }
        if let Some(first) = one.measured.first() {
            one.births = births::measure(&java, first.smallest, &plan)?;
            progress.step(java.name, "born", &"in lists, in pages, in a nursery");
        }
        for &nursery in &plan.nurseries {
            one.promotions
                .extend(promotions::measure(&java, nursery, &plan)?);
            let words = format!("{} KiB", nursery >> 10);
            progress.step(java.name, "promoted", &words);
        }
        progress.finish();
        found.push(one);
    }
    Ok(report(&found, request.quick))
}

fn report(found: &[Found], quick: bool) -> Report {
    let mut report = Report::new(ENTRY.name, ENTRY.about, SOURCE, quick);
    report.setting = setting();
    report.tables = tables::all(found);
    report.plots = tables::plots(found);
    report.claims = claims::all(found);
    report.notes = notes();
    report
}

fn setting() -> Vec<String> {
    [
        "256 lists with a tree as the last one; objects from 4 KiB on at the other end of the heap. Walk: the heads are \
         walked; table: the Next Hit Table; bitmap. All three find the same list, so that all else is the same: only times \
         differ.",
        "Heaps are whole regions, in multiples of the smallest in which the program completes with the table, collected at \
         once, with the same coalescing.",
        "In steps: a cycle begins when half of what the heap has above the live bytes is used; after every 4 KiB that are \
         allocated the collector works so much that the cycle ends before the other half is used.",
        "Two generations: marks stay, nothing moves. The young one is collected when it has a quarter of the heap's \
         room, and when a request finds no room; all, when that frees too little.",
        "Promotion: the program runs once, and is marked whenever a nursery would be full: so what survives is known \
         exactly, and when it dies. That is promoted again into an old space, twice the smallest heap for it. Objects \
         from 4 KiB on are born old.",
        "Births: heaps in multiples of the smallest, immediate coalescing. Each has its nursery, its bits and its tables \
         within these bytes. The young generation is collected when it has a quarter of what the heap has beyond the smallest, \
         and when a request finds no room. The nursery has half more than that, headers included.",
        "Times of the machine while it interprets, in interleaved rounds: the thread's processor time is read before and after each allocation; \
         its own cost is taken off. Clearing an object and updates of the table belong to its allocation, the write barrier \
         does not. Promotion: processor time.",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn notes() -> Vec<String> {
    [
        "A promotion is its search for a chunk, the update of the lists, the clearing of the object, its live bit and its copy; \
         in order of size, sorting too. Marking is none of it, nor are collections of the old space. An \
         old space that was never collected is a single chunk, in the last list: the walk visits all heads.",
        "Coalescing is immediate or deferred; never has smallest heaps several times as large, and gc-times has it. In steps, \
         deferred coalescing merges after every cycle, not only when a request fails.",
        "cycles: collections, cycles in steps, or collections of either generation; young: those of the young one; forced: \
         requests that found no room; of two generations, those that a collection of the young one did not help.",
    ]
    .map(str::to_owned)
    .to_vec()
}
