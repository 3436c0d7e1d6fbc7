//! Smallest heaps, counts, and times in interleaved rounds.
#![deny(unsafe_code)]

use anyhow::Result;
use surefit_clients::java::{Clocking, Collected, Options, Outcome, Program};
use surefit_core::Usage;
use surefit_gc::Cause;
use surefit_os::Reservation;

use super::clients::Client;
use super::parts::holding;
use super::spaces::{ALL, Choice};
use surefit_measure::collector::smallest;
use surefit_measure::collector::spaces::SpaceSpec;
use surefit_measure::progress::Progress;
use surefit_measure::ratio::median;
use surefit_measure::rounds::in_parallel;

/// The heaps, tables included, in multiples of what must be held.
pub(super) const HEAPS: [f64; 4] = [1.1, 1.25, 1.5, 2.0];

/// Steps of the progress bar for a client.
pub(super) const STEPS: u64 = (ALL.len() * (1 + HEAPS.len())) as u64;

/// One client on all spaces.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) client: String,
    /// Bytes that must be held.
    pub(super) live: u64,
    /// One for every space, in the order of [`ALL`].
    pub(super) rows: Vec<Row>,
}

/// One client on one space.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) choice: Choice,
    /// Bytes of the smallest heap.
    pub(super) smallest: Option<usize>,
    /// Where the bytes are that it takes to hold what must be held.
    pub(super) usage: Option<Usage>,
    /// In each of [`HEAPS`]; `None` if the program does not complete.
    pub(super) heaps: Vec<Option<InHeap>>,
}

/// What happened in one heap.
#[derive(Clone, Debug, Default)]
pub(super) struct InHeap {
    pub(super) collections: u64,
    /// Those at which at least so many bytes were free as were asked for.
    pub(super) with_bytes: u64,
    /// Those after a request that moves would have served; `None` where nothing moves.
    pub(super) fragmented: Option<u64>,
    /// References to objects that the collector had freed.
    pub(super) to_freed: u64,
    /// Nanoseconds of allocation, round by round.
    pub(super) allocation_ns: Vec<f64>,
    /// Nanoseconds of marking and sweeping, round by round.
    pub(super) collection_ns: Vec<f64>,
}

impl InHeap {
    fn counted(outcome: &Outcome) -> Self {
        let with_bytes = outcome.collections.iter().filter(|one| had_bytes(one));
        Self {
            collections: outcome.totals.collections,
            with_bytes: with_bytes.count() as u64,
            fragmented: outcome.moves.map(|moves| moves.fragmented_collections),
            to_freed: outcome.references_to_freed,
            ..Self::default()
        }
    }

    /// Nanoseconds of heap management, round by round; at least one, that ratios are finite.
    pub(super) fn management_ns(&self) -> Vec<f64> {
        let both = self.allocation_ns.iter().zip(&self.collection_ns);
        both.map(|(allocation, collection)| (allocation + collection).max(1.0))
            .collect()
    }

    /// The median of heap management.
    pub(super) fn median_ns(&self) -> Option<f64> {
        median(&self.management_ns())
    }
}

/// Whether as many bytes were free as the request asked for that caused a collection.
fn had_bytes(collected: &Collected) -> bool {
    match (collected.collection.cause, collected.free_bytes_before) {
        (Cause::Request(bytes), Some(free)) => free >= bytes as u64,
        _ => false,
    }
}

impl Found {
    /// The rows of Compact-fit, or the others.
    pub(super) fn of(&self, compact_fit: bool) -> impl Iterator<Item = &Row> {
        let rows = self.rows.iter();
        rows.filter(move |row| row.choice.is_compact_fit() == compact_fit)
    }

    /// The row with the smallest heap.
    pub(super) fn smallest(&self, compact_fit: bool) -> Option<(&Row, usize)> {
        let sized = self
            .of(compact_fit)
            .filter_map(|row| Some((row, row.smallest?)));
        sized.min_by_key(|(_, bytes)| *bytes)
    }

    /// The row with the least time in a heap.
    pub(super) fn fastest(&self, compact_fit: bool, at: usize) -> Option<(&Row, &InHeap)> {
        let done = self.of(compact_fit).filter_map(|row| {
            let in_heap = row.heaps[at].as_ref()?;
            Some((row, in_heap, in_heap.median_ns()?))
        });
        let least = done.min_by(|one, other| one.2.total_cmp(&other.2));
        least.map(|(row, in_heap, _)| (row, in_heap))
    }

    /// Bytes in multiples of those that must be held.
    pub(super) fn times_live(&self, bytes: usize) -> f64 {
        bytes as f64 / self.live.max(1) as f64
    }
}

/// Measures one client.
///
/// # Errors
/// The operating system gives no memory.
pub(super) fn client(client: &Client, rounds: u32, progress: &Progress) -> Result<Found> {
    let mut rows = in_parallel(&ALL, |choice| {
        let row = searched(client, *choice)?;
        progress.step(&client.name, "smallest heap", choice);
        Ok(row)
    })?;
    for times in HEAPS {
        let bytes = (times * client.held.bytes as f64) as usize;
        in_heap(client, bytes, rounds, &mut rows, progress)?;
    }
    Ok(Found {
        client: client.name.clone(),
        live: client.held.bytes,
        rows,
    })
}

fn searched(client: &Client, choice: Choice) -> Result<Row> {
    let found = smallest(&choice.spec()?, &client.program, &Options::default());
    Ok(Row {
        choice,
        smallest: found.map(|found| found.bytes),
        usage: holding(&client.held, choice)?,
        heaps: Vec::new(),
    })
}

/// Every space in one heap: counted once, then timed in rounds, a replay of each space a round.
fn in_heap(
    client: &Client,
    bytes: usize,
    rounds: u32,
    rows: &mut [Row],
    progress: &Progress,
) -> Result<()> {
    let mut region = Reservation::new(bytes)?;
    region.fault_in();
    let specs: Result<Vec<SpaceSpec>> = rows.iter().map(|row| row.choice.spec()).collect();
    let specs = specs?;
    let counting = Options {
        free_before: true,
        ..Options::default()
    };
    let timing = Options {
        clocking: Clocking::Batch,
        ..Options::default()
    };
    let mut replay = |spec: &SpaceSpec, options: &Options| -> Option<Outcome> {
        let program: &Program = &client.program;
        spec.space.replay(program, region.memory(), options).ok()
    };
    for (row, spec) in rows.iter_mut().zip(&specs) {
        let counted = replay(spec, &counting).as_ref().map(InHeap::counted);
        row.heaps.push(counted);
        progress.step(&client.name, "counts and times", &row.choice);
    }
    for _ in 0..rounds {
        for (row, spec) in rows.iter_mut().zip(&specs) {
            let last = row.heaps.last_mut().expect("counted above");
            let times = last.as_ref().and_then(|_| replay(spec, &timing)?.times);
            match (last.as_mut(), times) {
                (Some(in_heap), Some(times)) => {
                    in_heap.allocation_ns.push(times.allocation_ns as f64);
                    in_heap.collection_ns.push(times.collection_ns() as f64);
                }
                _ => *last = None,
            }
        }
    }
    Ok(())
}
