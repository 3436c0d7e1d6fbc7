//! The program's roots, and how a collector gets them.
//!
//! ```text
//! at once:   every root is reported when a collection begins
//! in parts:  the table is: an object that stands for all roots, and is scanned as an array is
//!
//! scanned from:  i < GIVEN      the recorded roots whose ids are at least i
//!                GIVEN + i      the objects that were allocated since the last walk, from the i-th on
//! ```
//! In parts, a root may be dropped before the scan comes to it. Therefore whoever drops one tells
//! the collector, as a store tells the old reference. A new root needs nothing: it was born since,
//! or the snapshot leads to it.
#![deny(unsafe_code)]

use std::collections::BTreeSet;

use surefit_gc::{Edges, Object};

/// Where the objects begin that were allocated since the last walk: no id is as large.
const GIVEN: u32 = 1 << 31;

/// All roots.
#[derive(Debug, Default)]
pub(super) struct Roots {
    /// The ids of those that the recording names.
    pub(super) recorded: BTreeSet<u32>,
    /// Objects that were allocated since the last walk ended. They are roots until the next walk
    /// ends.
    pub(super) given: Vec<Object>,
    /// In parts: the table.
    pub(super) table: Option<Object>,
}

impl Roots {
    /// All of them.
    pub(super) fn all(&self, places: &[Option<Object>]) -> Vec<Object> {
        let recorded = self.recorded.iter().filter_map(|&id| places[id as usize]);
        recorded.chain(self.given.iter().copied()).collect()
    }

    /// Reports the table, or all roots if there is none.
    pub(super) fn report(&self, places: &[Option<Object>], edges: &mut Edges<'_>) {
        if let Some(table) = self.table {
            return edges.report(table);
        }
        self.given.iter().for_each(|&object| edges.report(object));
        let recorded = self.recorded.iter().filter_map(|&id| places[id as usize]);
        recorded.for_each(|object| edges.report(object));
    }

    /// Reports one part of them: what a scan of the table finds.
    #[cold]
    pub(super) fn report_part(&self, places: &[Option<Object>], from: u32, edges: &mut Edges<'_>) {
        let stride = Edges::STRIDE as usize;
        if from < GIVEN {
            let mut ids = self.recorded.range(from..);
            for &id in ids.by_ref().take(stride) {
                places[id as usize]
                    .into_iter()
                    .for_each(|object| edges.report(object));
            }
            return edges.again_from(ids.next().map_or(GIVEN, |&id| id));
        }
        let begin = (from - GIVEN) as usize;
        let end = begin.saturating_add(stride).min(self.given.len());
        for &object in self.given.get(begin..end).unwrap_or_default() {
            edges.report(object);
        }
        if end < self.given.len() {
            edges.again_from(GIVEN + end as u32);
        }
    }
}
