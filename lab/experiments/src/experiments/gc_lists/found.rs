//! A program, and what was measured of it with every number of lists.

use anyhow::Result;
use surefit_clients::java::Finds;
use surefit_freelist::When;
use surefit_vm::{Watched, Watching};

use crate::shared::thesis::collecting::Collecting;
use crate::shared::thesis::heaps::outcome;
use crate::shared::thesis::java::Java;
use crate::shared::thesis::systems::System;
use crate::shared::threads::figures::ratio;
use surefit_measure::results::Ratio;

/// The numbers of lists.
pub(super) const COUNTS: [u32; 6] = [16, 64, 128, 256, 512, 4096];

/// The number up to which the thesis sees time fall.
pub(super) const BEST: u32 = 256;

/// Large chunks have more bytes.
const LARGE: u32 = 1024;

/// A program, and what was measured of it.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) name: String,
    pub(super) heap: Collecting,
    pub(super) rows: Vec<Row>,
}

/// One number of lists, in one of the two heaps.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub(super) lists: u32,
    pub(super) is_ours: bool,
    /// Milliseconds of heap management, round by round.
    pub(super) management_ms: Vec<f64>,
    /// Of allocation alone.
    pub(super) allocation_ms: Vec<f64>,
    /// For an allocation: free chunks and heads visited, updates of the table, entries written.
    pub(super) visits: f64,
    pub(super) updates: f64,
    pub(super) stores: f64,
    /// Free chunks above 1 KB after a collection, in percent of all; `None` without a collection,
    /// or if they were not noted.
    pub(super) percent_large: Option<f64>,
}

impl Row {
    pub(super) fn new((lists, is_ours): (u32, bool), outcome: &Watched) -> Self {
        let allocations = outcome.totals.allocations.max(1) as f64;
        Self {
            lists,
            is_ours,
            visits: outcome.visits_per_allocation(),
            updates: outcome.counters.table_updates as f64 / allocations,
            stores: outcome.counters.table_stores as f64 / allocations,
            percent_large: percent_large(outcome),
            ..Self::default()
        }
    }

    /// One round.
    pub(super) fn time(&mut self, java: &Java, bytes: usize) -> Result<()> {
        let watching = Watching {
            clocked: true,
            ..Watching::default()
        };
        let system = system((self.lists, self.is_ours));
        if let Some(found) = outcome(java, system, bytes, watching)? {
            self.management_ms.push(found.management_ns() as f64 / 1e6);
            self.allocation_ms.push(found.allocation_ns as f64 / 1e6);
        }
        Ok(())
    }
}

fn percent_large(outcome: &Watched) -> Option<f64> {
    let sizes = outcome.collections.iter().flat_map(|one| &one.free_sizes);
    let (large, all) = sizes.fold((0, 0), |(large, all), &(size, chunks)| {
        let is_large = u64::from(size > LARGE);
        (
            large + is_large * u64::from(chunks),
            all + u64::from(chunks),
        )
    });
    (all > 0).then(|| 100.0 * large as f64 / all as f64)
}

pub(super) const fn system((count, is_ours): (u32, bool)) -> System {
    let system = if is_ours {
        System::ours(When::Immediate)
    } else {
        System::thesis(When::Immediate, Finds::NextHitTable)
    };
    system.with_count(count)
}

pub(super) fn of_kind(rows: &[Row], is_ours: bool) -> impl Iterator<Item = &Row> {
    rows.iter().filter(move |row| row.is_ours == is_ours)
}

pub(super) fn find(rows: &[Row], is_ours: bool, lists: u32) -> Option<&Row> {
    of_kind(rows, is_ours).find(|row| row.lists == lists)
}

/// A row's time over that with 256 lists.
pub(super) fn to_best(rows: &[Row], row: &Row) -> Option<Ratio> {
    let best = find(rows, row.is_ours, BEST)?;
    let both = !row.management_ms.is_empty() && !best.management_ms.is_empty();
    both.then(|| ratio(&row.management_ms, &best.management_ms))
}
