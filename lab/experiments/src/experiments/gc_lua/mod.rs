//! `surefit experiment gc-lua`: a Lua machine on segregated lists, TLSF and first fit; exhaustion
//! alone makes it collect.
//!
//! ```text
//! spaces       walk, table, bitmap x never, deferred, immediate: 256 lists, last list a tree; beside them TLSF, first fit
//! programs     those that come with surefit, in Lua
//! smallest     the smallest heap in which a program ends, for every space, by halving; three starts, as Lua seeds by addresses
//! heaps        1.25 and 2 times what suffices for one strategy with each lookup: the same heaps for all spaces
//! counts       collections, visits, table updates: of the first round
//! times        calls outside of collections, and collections, in interleaved rounds; the clock's own cost is taken off
//! ```
//! Lua frees what a collection finds dead one by one, so nothing is rebuilt in one pass, and
//! marking is Lua's own.
//!
//! # Source
//! The thesis on free-list organisation: tables 2-2 and 3-1, figures 4-1 to 4-13, its outlook on
//! explicit frees.

mod claims;
mod measure;
mod spaces;
mod tables;

use anyhow::Result;
use surefit_clients::lua::{PROGRAMS, Program};

use self::measure::{Found, Plan};
use crate::kit::{Entry, Report, Request, papers};
use crate::shared::collector_gain;
use surefit_measure::progress::Progress;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "gc-lua",
    about: "A Lua machine on segregated lists: smallest heaps, counts, times",
    takes_traces: false,
    takes_rounds: true,
    run,
};

const SOURCE: &str = papers::of_the_thesis!(
    "tables 2-2 and 3-1, figures 4-1 to 4-13, its outlook on explicit frees"
);

/// The programs of a quick run.
const QUICK: [&str; 3] = ["binary_trees", "json", "strings"];

fn run(request: &Request) -> Result<Report> {
    let programs: Vec<&Program> = PROGRAMS
        .iter()
        .filter(|program| !request.quick || QUICK.contains(&program.name))
        .collect();
    let plan = Plan::new(request);
    let progress = Progress::new((programs.len() * plan.steps()) as u64);
    let found: Result<Vec<Found>> = programs
        .iter()
        .map(|program| measure::program(program, &plan, &progress))
        .collect();
    let found = found?;
    progress.finish();
    let mut report = Report::new(ENTRY.name, ENTRY.about, SOURCE, request.quick);
    report.setting = settings(&plan);
    for one in &found {
        report
            .tables
            .extend([tables::counts(one), tables::times(one)]);
    }
    report.tables.push(tables::means(&found));
    report.plots = tables::plots(&found);
    let gains = collector_gain::gains(request, plan.rounds)?;
    report.claims = claims::all(&found, gains.as_ref());
    report.notes = notes();
    Ok(report)
}

fn settings(plan: &Plan) -> Vec<String> {
    vec![
        format!(
            "Lua 5.4 with its collector stopped: it collects when a request is refused. {} interleaved rounds; ratios of times \
             are taken inside each round. A clock's reading costs {} ns; two a call are taken off.",
            plan.rounds, plan.clock_ns
        ),
        format!(
            "Heaps are multiples of the smallest that suffices for all lookups of one strategy, the least of the three; it is \
             searched to {:.0} %. From a third of a heap at first to a thirteenth is kept in long pieces for arrays and buffers; less if small objects need it.",
            plan.open * 100.0
        ),
    ]
}

fn notes() -> Vec<String> {
    [
        "Deferred: the heap merges when it has nothing that fits, before it refuses; the thesis merges only after a collection.",
        "Collections: from a refusal to the same request again. Most of it is Lua's own marking and sweeping; the frees in it \
         are the heap's.",
        "The collector that explicit frees are compared with is that of a Java program on the thesis's lists, in one heap, in the same \
         run, merged at once: its whole heap management time, walk over table.",
        "The last of the segregated lists is a tree, as ours; the thesis's is linear. Objects are freed one by one.",
        "Segregated lists are called through two tables of functions, TLSF and first fit through one.",
        "Lua seeds its hashes by addresses and the time, so that counts of two runs differ by up to 1 %, near the smallest heap \
         by more.",
        "Calls and collections are timed by the wall clock: what other programs take meanwhile is in them. The time of the run is \
         the thread's own, without a clock inside.",
    ]
    .map(str::to_owned)
    .to_vec()
}
