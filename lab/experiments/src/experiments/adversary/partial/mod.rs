//! Partial compaction: the bytes that a heap moves for each byte allocated, against the heap that
//! it needs.
//!
//! ```text
//! thinning   a program, and the theorem: the words it needs in a heap that moves W words
//! bounds     both bounds for a heap that moves at most 1/c of what is allocated
//! model      the heap of the upper bound, written down naively
//! points     Compact-fit and the others under both programs, and on traces
//! tables, claims: what they show
//! ```
//! Both bounds are derived here, with their proofs. Those of Bendersky and Petrank and of Cohen and
//! Petrank are not quoted, since only the abstracts of their papers could be sourced.

mod bounds;
mod claims;
mod model;
mod points;
mod tables;
mod thinning;

pub(super) use points::{Points, points};
pub(super) use thinning::Thinning;

use crate::kit::Report;

/// Adds tables, plots, claims and notes to a report.
pub(super) fn add(report: &mut Report, points: &Points) {
    report.tables.extend(tables::tables(points));
    report.plots.extend(tables::plots(points));
    report.claims.extend(claims::claims(points));
    report.notes.extend(NOTES.map(str::to_owned));
}

const NOTES: [&str; 4] = [
    "Of Bendersky and Petrank (POPL 2011) and Cohen and Petrank (PLDI 2013) the abstracts are public, and the definition: a \
     heap may move at most 1/c of what was allocated so far. The theorems' formulas could not be sourced. So no curve of theirs \
     is drawn: needed and enough are bounds derived here, with proofs in partial/thinning.rs and partial/bounds.rs.",
    "Needed: some program needs these words in every heap that moves at most so much. Enough: some heap serves every program \
     in these words. Another program may need less: Compact-fit under P_R is not bound by the first curve.",
    "A setting of Compact-fit is not c-partial by itself: a free moves at most one page-block, whatever was allocated before. \
     Its c is the one measured.",
    "Objects in pieces leave the papers' model, in which an object is one run of words, and so do block tables: they are \
     listed under their certificates, and in the traces' last column, and stand in no curve.",
];
