//! `surefit experiment adversary`: how much heap a program can make every system need, beside what
//! is proven.
//!
//! Two programs of Robson's, driven against the real heaps: P_R, which no heap that keeps its
//! objects where they are can serve in fewer words than his bound, and one that leaves best fit a
//! hole before every word. Beside them the heaps that escape, since they move objects or make them
//! of pieces, in the bytes that their certificates say.
//!
//! ```text
//! words      a heap as the theory sees it: objects of whole words at addresses
//! program    the programs, which see addresses, and the bounds
//! driven     the project's heaps as heaps of words
//! ground     regions of exactly the given number of words
//! search     the least words in which a program ends
//! escape     certificates of the same programs
//! partial    what a heap needs that may move a part of what is allocated
//! systems    who takes part, and what a word is there
//! measured   all runs; tables, claims: what they show
//! ```
//! Words are those of chunks, whatever they cost: a word is the smallest chunk of a system, header
//! included, and tables are left out and listed apart. All is counted: the same run gives the same
//! report.
//!
//! # Source
//! Robson (1971, 1974, 1977); Knuth, The Art of Computer Programming 1, 2.5, answers 38 to 42. Of
//! Bendersky and Petrank (2011) and Cohen and Petrank (2013) only the abstracts: the bounds on
//! partial compaction are derived in `partial`. The figures of Compact-fit called simulated are
//! those of a simulation in unit words: ours, not the papers'.

mod claims;
mod driven;
mod escape;
mod ground;
mod measured;
#[cfg(test)]
mod naive;
mod partial;
mod program;
mod search;
mod systems;
mod tables;
#[cfg(test)]
mod tests;
mod words;

use std::path::PathBuf;

use anyhow::Result;

use crate::kit::{Entry, Report, Request};
use surefit_measure::source;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "adversary",
    about: "The heap that adversaries make every system need, beside the proven bounds",
    takes_traces: true,
    takes_rounds: false,
    run,
};

fn run(request: &Request) -> Result<Report> {
    let all = measured::measure(request.quick)?;
    let source = "Robson 1971, 1974, 1977, by way of Knuth; Bendersky and Petrank 2011, Cohen and Petrank 2013: their \
                  abstracts; bounds on partial compaction derived here";
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting.extend(SETTING.map(str::to_owned));
    report.tables = tables::tables(&all);
    report.plots.extend(tables::plots(&all));
    report.claims = claims::claims(&all);
    report.notes.extend(NOTES.map(str::to_owned));
    partial::add(
        &mut report,
        &partial::points(&all.escaped_robson, &files(request))?,
    );
    Ok(report)
}

/// The traces: those asked for, else the bundled ones; if quick, none of these.
fn files(request: &Request) -> Vec<PathBuf> {
    match (request.files.as_slice(), request.quick) {
        ([], true) => Vec::new(),
        ([], false) => source::bundled_files(),
        (files, _) => files.to_vec(),
    }
}

const SETTING: [&str; 4] = [
    "A word is the smallest chunk of a system, its header included: 16 bytes here, 32 in the peers. A region's words are \
     those of the objects that fill an empty heap over it; what it has beyond them is listed as tables.",
    "P_R: every capacity from Robson's bound on until it ends; and the largest capacity below the bound.",
    "Against best fit: the span in an ample heap is needed if one word less is not enough; else bisection between M and the \
     span, and every capacity of the m below what it finds.",
    "Systems that move or scatter run in exactly the certified bytes: any program of at most M objects and M words in these \
     sizes. Least bytes by bisection; they include tables, as certified bytes do.",
];

const NOTES: [&str; 6] = [
    "P_R leaves no hole that its next objects fit in. So every fit has only the end of the heap to take from, and all need the \
     same words; worst and next fit, which take from the end first, do what the others must. Where free neighbours are not \
     merged at once, what is free before the end is lost in every round.",
    "A buddy system takes its blocks wherever they are: here from the small ones that a region ends with, and so it needs no \
     more than others; taken from the lowest address it would need whole blocks of n words.",
    "The program against best fit does not adapt to the heap's end. In a heap that ends before the pattern is done, best fit \
     takes the end for a hole, the pattern breaks, and the program ends in few words: completion is not monotone. In an ample \
     heap, worst and next fit carve the end first, so their span says how far they roam and not what they need.",
    "Half-fit and buddy round its sizes: their figures are those of another program than the one that was tuned to exact \
     cuts. dl cuts small requests, here to m = 8, from the remainder of the last cut. Without merging at once there is no hole \
     of 2m - 4 words to begin with.",
    "Best fit is worse off by (m - 4)(m - 2) words with Robson's own endgame. cf-direct needs a page for each size: five of \
     them with few words live, and whole aligned pages for P_R.",
    "A program asks a heap that moves its objects anew, in every round, where they are. The simulation beside Compact-fit had \
     a page-block for every word of a page, and saw each address once; here a page keeps back-references too.",
];
