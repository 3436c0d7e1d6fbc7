//! Heaps of raw pointers, without compaction and without abstract addresses: Compact-fit as the
//! papers optimise it.
//!
//! ```text
//! each       a heap of its own for each thread; nobody frees what another one allocated
//! own        one heap; each thread has an instance of its own, without a lock
//! groups     one heap; so many threads share an instance, under its group's lock
//! ```

use std::mem::MaybeUninit;

use anyhow::{Result, ensure};
use surefit_direct::DirectHeap;
use surefit_direct::shared::{GROUPS, Settings, SharedDirect};

use super::drive::{Driven, drive};
use super::load::Load;
use super::lock::Probe;
use super::worker::{Direct, DirectGroup, DirectLocal};
use surefit_measure::error::Broken;

/// Runs a load on a heap of its own for each thread.
///
/// # Errors
/// A load with foreign frees; a refusal.
pub(super) fn each(memory: &mut [MaybeUninit<u8>], threads: usize, load: &Load) -> Result<Driven> {
    ensure!(
        load.foreign_percent == 0,
        "a raw heap serves its own thread only"
    );
    let each = memory.len() / threads.max(1);
    let heaps: Result<Vec<_>, _> = memory
        .chunks_exact_mut(each)
        .take(threads)
        .map(DirectHeap::new)
        .collect();
    drive(heaps?.into_iter().map(Direct).collect(), load, None)
}

/// Runs a load on one heap in which each thread has an instance.
///
/// # Errors
/// A refusal; a heap that breaks an invariant.
pub(super) fn own<R: Probe>(
    memory: &mut [MaybeUninit<u8>],
    threads: usize,
    load: &Load,
) -> Result<Driven> {
    let heap: SharedDirect<'_, R> = SharedDirect::new(memory, settings(threads)?)?;
    let locals: Result<Vec<_>, _> = (0..threads).map(|_| heap.join()).collect();
    let workers = locals?.into_iter().map(DirectLocal).collect();
    let driven = drive(workers, load, None)?;
    ended(heap).map(|()| driven)
}

/// Runs a load on one heap in which `each` neighbours share an instance.
///
/// # Errors
/// More groups than a heap has; a refusal; a heap that breaks an invariant.
pub(super) fn groups<R: Probe>(
    memory: &mut [MaybeUninit<u8>],
    each: u16,
    threads: usize,
    load: &Load,
) -> Result<Driven> {
    let each = usize::from(each.max(1));
    ensure!(
        threads.div_ceil(each) <= GROUPS,
        "a heap has {GROUPS} groups: {threads} threads need at least {} in each",
        threads.div_ceil(GROUPS)
    );
    let heap: SharedDirect<'_, R> = SharedDirect::new(memory, settings(threads)?)?;
    let worker = |thread| DirectGroup {
        heap: &heap,
        group: thread / each,
    };
    let driven = drive((0..threads).map(worker).collect(), load, None)?;
    ended(heap).map(|()| driven)
}

fn settings(threads: usize) -> Result<Settings> {
    Ok(Settings {
        threads: u32::try_from(threads)?,
        checks: false,
        delay: u32::MAX,
    })
}

/// Whether a heap is in order and empty, after everything was freed and every thread has left.
fn ended<R: Probe>(mut heap: SharedDirect<'_, R>) -> Result<()> {
    for group in 0..GROUPS {
        heap.grouped(group, |local| local.trim());
    }
    heap.purge();
    if let Err(corruption) = heap.check() {
        return Err(Broken(format!("an invariant does not hold: {corruption:?}")).into());
    }
    let stats = heap.stats();
    if stats.active != 0 || stats.instances != 0 {
        let (bytes, instances) = (stats.active, stats.instances);
        return Err(Broken(format!(
            "{bytes} bytes of pages and {instances} instances of threads are left"
        ))
        .into());
    }
    Ok(())
}
