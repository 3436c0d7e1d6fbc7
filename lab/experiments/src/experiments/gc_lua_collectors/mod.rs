//! `surefit experiment gc-lua-collectors`: Lua's own collectors beside Lua that collects when its
//! heap refuses, at equal memory.
//!
//! ```text
//! tunings      Lua's incremental and generational collector, as they come and tuned
//! malloc       the platform's malloc as the machine's heap, and what its chunks take
//! runs         one run: on malloc, or in so many bytes of ours
//! measure      a program's peak on malloc under a tuning; then, in interleaved rounds, Lua's own on malloc, and in exactly
//!              these bytes of ours: collected when refused, and by Lua's own
//! ```
//! Two memories count as equal: the bytes of malloc's live chunks at their peak, and the bytes that
//! Lua requested, without what malloc adds. In both, all of ours is inside: the heap's tables,
//! headers, waste, and the reserve.
//!
//! # Source
//! None: the goal is ours. Lua 5.4, reference manual, §2.5.

mod claims;
mod malloc;
mod measure;
mod runs;
mod tables;
mod tunings;

use anyhow::Result;
use surefit_clients::lua::{PROGRAMS, Program};
use surefit_measure::progress::Progress;

use self::measure::Plan;
use crate::kit::{Entry, Report, Request};

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "gc-lua-collectors",
    about: "Lua's own collectors beside Lua that collects when refused, at equal memory",
    takes_traces: false,
    takes_rounds: true,
    run,
};

/// The programs of a quick run.
const QUICK: [&str; 2] = ["binary_trees", "json"];

fn run(request: &Request) -> Result<Report> {
    let programs: Vec<&'static Program> = PROGRAMS
        .iter()
        .filter(|program| !request.quick || QUICK.contains(&program.name))
        .collect();
    let plan = Plan::new(request);
    let progress = Progress::new((programs.len() * plan.steps()) as u64);
    let mut rows = Vec::new();
    for program in programs {
        rows.extend(measure::program(program, &plan, &progress)?);
    }
    progress.finish();
    let source = "ours; Lua 5.4, reference manual, §2.5";
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting = settings(&plan);
    report.tables = vec![
        tables::means(&rows, &plan.tunings),
        tables::times(&rows),
        tables::counts(&rows),
    ];
    report.plots.push(tables::plot(&rows, &plan.tunings));
    report.claims = claims::all(&rows, request.quick);
    report.notes = notes();
    Ok(report)
}

fn settings(plan: &Plan) -> Vec<String> {
    vec![
        format!(
            "Lua 5.4; {} interleaved rounds; ratios are taken inside each round. Times are the thread's own, of a machine from its \
             start to its end; ours include a fresh region and the first touch of its pages.",
            plan.rounds
        ),
        "As they come, the incremental collector starts a cycle when memory is 200 % of what the last one left (pause), and the \
         generational one collects young objects when memory grew by 20 % (minor)."
            .to_owned(),
    ]
}

fn notes() -> Vec<String> {
    [
        "KiB: malloc's live chunks at their peak, each as long as malloc says it may be used, and its word; what fragmentation \
         wastes is not in it. Lua KiB: the bytes that Lua requested. Both are the least of three runs; a quick run makes one.",
        "Refused: the lists of `surefit gc lua`, in a heap of exactly these bytes with its tables, headers and reserve inside.",
        "Collections of Lua's own are counted in a run of their own, by an object that is finalized and made again in each; \
         those of young objects count too.",
        "Where a program does not end in malloc's bytes, the least multiple in which it ends is shown. No object moves: after a \
         collection most of the heap is free, but no chunk, nor a piece of the reserve, is as long as an array or a buffer that grows.",
        "Steps of Lua's own collectors cannot be timed from outside: no pauses are compared.",
        "The time inside collections is measured in a run of its own that reads the clock at every call, and divided by the median \
         of those that read none. Means are over the programs that end.",
    ]
    .map(str::to_owned)
    .to_vec()
}
