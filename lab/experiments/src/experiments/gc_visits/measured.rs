//! What is counted of a program in its two heaps.

use anyhow::Result;
use surefit_clients::java::Finds;
use surefit_freelist::When;
use surefit_vm::{Sample, Space, Watched, Watching};

use super::before::Before;
use crate::shared::merges::MERGES;
use crate::shared::thesis::collecting::{Collecting, collecting};
use crate::shared::thesis::heaps::{outcome, over};
use crate::shared::thesis::java::Java;
use crate::shared::thesis::systems::System;

/// The thesis's heap, in bytes.
pub(super) const HEAP: usize = 6 << 20;

/// What searches for a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Segregated lists.
    Lists(System),
    /// A single list, first fit.
    Single,
}

impl Kind {
    /// The thesis's lists whose heads are walked.
    pub(super) const fn scan(merges: When) -> Self {
        Self::Lists(System::thesis(merges, Finds::Scan))
    }

    /// The thesis's lists found by the table.
    pub(super) const fn table(merges: When) -> Self {
        Self::Lists(System::thesis(merges, Finds::NextHitTable))
    }

    /// Ours, with heads walked instead of its bitmap.
    pub(super) const fn ours(merges: When) -> Self {
        let system = System::ours(merges);
        let mut lists = system.lists;
        lists.finds = Finds::Scan;
        Self::Lists(System { lists, ..system })
    }

    /// All of them.
    fn all() -> impl Iterator<Item = Self> {
        let merging = [When::Deferred, When::Immediate];
        let scanned = MERGES.map(Self::scan).into_iter();
        scanned
            .chain([Self::Single])
            .chain(merging.map(Self::table))
            .chain([Self::ours(When::Immediate)])
    }

    pub(super) fn name(self) -> String {
        match self {
            Self::Lists(system) => system.name(),
            Self::Single => "single list".to_owned(),
        }
    }

    fn outcome(self, java: &Java, bytes: usize, watching: Watching) -> Result<Option<Watched>> {
        match self {
            Self::Lists(system) => outcome(java, system, bytes, watching),
            Self::Single => over(java, &Space::FirstFit, bytes, watching),
        }
    }

    /// Whether another lookup in the same heap leaves the same bytes unused.
    const fn is_another_lookup(self) -> bool {
        matches!(self, Self::Lists(System { has_two_ends: false, lists }) if matches!(lists.finds, Finds::NextHitTable))
    }
}

/// What searches in a heap, and what was counted; nothing if the program does not complete.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) kind: Kind,
    pub(super) counted: Option<Counted>,
}

/// What was counted in a heap.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    pub(super) collections: u64,
    /// Visits per allocation, over the whole program.
    pub(super) visits: f64,
    pub(super) samples: Vec<Sample>,
    /// The size of each object, in order.
    pub(super) sizes: Vec<u32>,
    /// What is free when a request cannot be served, in percent of the heap, on average over the
    /// collections; `None` without one, and where another row says it.
    pub(super) percent_unused: Option<f64>,
}

/// One of a program's heaps.
#[derive(Clone, Debug)]
pub(super) struct InHeap {
    pub(super) bytes: usize,
    pub(super) rows: Vec<Row>,
}

impl InHeap {
    /// What was counted of a kind, if it completes and collects: without a collection, what is seen
    /// is the beginning alone.
    pub(super) fn of(&self, kind: Kind) -> Option<&Counted> {
        let row = self.rows.iter().find(|row| row.kind == kind)?;
        row.counted
            .as_ref()
            .filter(|counted| counted.collections > 0)
    }
}

/// What was counted of a program.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) name: String,
    /// In 6 MiB, if the program completes there.
    pub(super) thesis: Option<InHeap>,
    /// In the heap in which deferred collects.
    pub(super) own: InHeap,
    /// That heap.
    pub(super) heap: Collecting,
    /// Before the first collection of deferred in that heap.
    pub(super) before: Option<Before>,
}

impl Found {
    /// Both heaps, if there are two.
    pub(super) fn heaps(&self) -> impl Iterator<Item = &InHeap> {
        self.thesis.iter().chain([&self.own])
    }
}

/// Counts everything of a program.
///
/// # Errors
/// As [`collecting`] and [`outcome`].
pub(super) fn measured(java: &Java) -> Result<Found> {
    let heap = collecting(java)?;
    let deferred = Kind::table(When::Deferred);
    let completes = deferred.outcome(java, HEAP, Watching::default())?.is_some();
    let thesis = completes.then(|| in_heap(java, HEAP)).transpose()?;
    let own = in_heap(java, heap.bytes())?;
    let before = own
        .of(Kind::scan(When::Deferred))
        .and_then(|counted| Before::new(&counted.sizes, &counted.samples));
    Ok(Found {
        name: java.name.to_owned(),
        thesis,
        own,
        heap,
        before,
    })
}

fn in_heap(java: &Java, bytes: usize) -> Result<InHeap> {
    let row = |kind: Kind| {
        let watching = Watching {
            sizes: kind == Kind::scan(When::Deferred),
            ..Watching::default()
        };
        let outcome = kind.outcome(java, bytes, watching)?;
        let percent_unused = match outcome {
            Some(_) if !kind.is_another_lookup() => percent_unused(java, kind, bytes)?,
            _ => None,
        };
        let counted = outcome.map(|outcome| Counted {
            collections: outcome.totals.collections,
            visits: outcome.visits_per_allocation(),
            samples: outcome.samples,
            sizes: outcome.sizes,
            percent_unused,
        });
        Ok(Row { kind, counted })
    };
    let rows = Kind::all().map(row).collect::<Result<_>>()?;
    Ok(InHeap { bytes, rows })
}

/// In a run of its own, since what looks at the free bytes repeats a search.
fn percent_unused(java: &Java, kind: Kind, bytes: usize) -> Result<Option<f64>> {
    let watching = Watching {
        free_before: true,
        ..Watching::default()
    };
    // All lookups put objects into the same places, and the table finds them fastest.
    let kind = match kind {
        Kind::Lists(system) if !system.has_two_ends => Kind::table(system.lists.merges),
        other => other,
    };
    let Some(outcome) = kind.outcome(java, bytes, watching)? else {
        return Ok(None);
    };
    let free = outcome
        .collections
        .iter()
        .filter_map(|one| one.free_bytes_before);
    let (sum, count) = free.fold((0.0, 0_u32), |(sum, count), free| {
        (sum + free as f64, count + 1)
    });
    Ok((count > 0).then(|| 100.0 * sum / f64::from(count) / bytes as f64))
}
