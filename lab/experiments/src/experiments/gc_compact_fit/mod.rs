//! `surefit experiment gc-compact-fit`: a collector over Compact-fit beside one over every other
//! space.
//!
//! ```text
//! clients      recordings of Java programs, and programs in Rust, recorded here; or FILE…: .sfg, .sfg.zst
//! live         what must be held at the worst moment: what lived at a walk, and what was allocated until the next
//! spaces       walk, table, bitmap x never, deferred, immediate; first fit; TLSF; Compact-fit: pages of 2, 4 and 16 KiB, with
//!              a bound on holes, or with moves only when a page is missing (k=inf)
//! smallest     the smallest heap in which a client completes, tables and bits included, by halving
//! heaps        1.1, 1.25, 1.5 and 2 times what is live, tables and bits included
//! counts       collections, and whether fragmentation caused them, in a replay of their own: exact
//! times        allocation, marking and sweeping, in interleaved rounds
//! parts        where the bytes are of a space that holds what is live: exact
//! ```
//!
//! # Source
//! The thesis on free-list organisation, chapter 4, for the measure: heap management time against
//! the heap's size. Craciunas et al. (2008) for Compact-fit. The collector over Compact-fit is
//! ours, and so is the comparison.

mod claims;
mod clients;
mod measure;
mod parts;
mod spaces;
mod tables;

use anyhow::Result;

use self::measure::{Found, STEPS};
use crate::kit::{Entry, Report, Request, papers};
use surefit_measure::progress::Progress;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "gc-compact-fit",
    about: "A collector over Compact-fit and other spaces: smallest heaps, times, causes",
    takes_traces: true,
    takes_rounds: true,
    run,
};

const SOURCE: &str =
    papers::of_the_thesis!("chapter 4; Craciunas et al. (2008); the comparison is ours");

fn run(request: &Request) -> Result<Report> {
    let rounds = request.rounds_or(3);
    let sources = clients::sources(request);
    let progress = Progress::new((1 + STEPS) * sources.len() as u64);
    let found = sources.iter().map(|source| {
        let client = source.load()?;
        progress.step(&client.name, "recording", &source);
        measure::client(&client, rounds, &progress)
    });
    let found = found.collect::<Result<Vec<Found>>>()?;
    progress.finish();
    let mut report = Report::new(ENTRY.name, ENTRY.about, SOURCE, request.quick);
    report.setting = settings(rounds);
    report.tables = vec![tables::smallest(&found), tables::fastest(&found)];
    for one in &found {
        report.tables.push(tables::times(one));
        let counted = tables::COUNTED.map(|at| tables::collections(one, at));
        report.tables.extend(counted);
        report.tables.push(tables::parts(one));
    }
    report.plots = tables::plots(&found);
    report.claims = claims::all(&found);
    report.notes = notes();
    Ok(report)
}

fn settings(rounds: u32) -> Vec<String> {
    vec![
        format!(
            "{rounds} interleaved rounds; ratios are taken inside each round. Heap management: allocation, marking and sweeping, \
             in processor time; the clock's own cost, and what a replay does beside, are taken off."
        ),
        "Live: the most bytes that lived at a walk and were allocated until the next, as asked for; no space can do with less, \
         since a new object is a root until the next walk. Heaps are whole regions: headers, entries, tables and bits are in them."
            .to_owned(),
        "CF: Compact-fit by the size of a page; holes: at most 4 + h/16 holes for h page-blocks of a class, kept by every sweep; \
         k=inf: page-blocks move only when a page is missing. \"no\": the client does not complete."
            .to_owned(),
    ]
}

fn notes() -> Vec<String> {
    [
        "The smallest heap is searched to 1 KiB or a thousandth, up to 64 times what lives at a walk.",
        "bytes: before so many collections at least as many bytes were free as were asked for, in one piece or not; Compact-fit's \
         may be page-blocks of other size-classes. moves: collections after a request that moving page-blocks would have served.",
        "Parts: internal is what chunks or page-blocks have beyond what was asked for; administrative are headers or entries with \
         back-references, tables, live and mark bits, the mark stack. Free lists: those of a tree; the others' tables differ a little.",
        "Rust's recordings have a reference of four bytes for one of eight, and Java's headers.",
    ]
    .map(str::to_owned)
    .to_vec()
}
