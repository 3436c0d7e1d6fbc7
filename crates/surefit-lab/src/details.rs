//! What the page of a trace shows beyond the results of a comparison.

use anyhow::Result;

use crate::report::Details;
use surefit_measure::passes::heap_map::HeapMap;
use surefit_measure::profile::Profile;
use surefit_measure::progress::Progress;
use surefit_measure::registry::Kind;
use surefit_measure::results::AllocatorResult;
use surefit_measure::rounds::in_parallel;
use surefit_measure::sizes::HeapSize;
use surefit_measure::source::Source;
use surefit_measure::spec::{Choice, Spec};

/// The steps of progress that it makes.
pub(crate) const STEPS: u64 = 2;

/// The profile of a trace, and the heap maps of two allocators that completed it: the first one of
/// handles, which may move objects, and the first one of pointers.
///
/// # Errors
/// The operating system gives no memory.
pub(crate) fn details(
    source: &Source,
    specs: &[Spec],
    results: &[AllocatorResult],
    heap: HeapSize,
    progress: &Progress,
) -> Result<Details> {
    let mapped = mapped(specs, results);
    progress.skip(STEPS - mapped.len() as u64);
    let maps = in_parallel(&mapped, |(spec, kind)| {
        let map = HeapMap::of(kind, &source.steps, heap);
        progress.step(&source.steps.name, "heap map", spec);
        Ok(map?.map(|map| (spec.to_string(), map)))
    })?;
    Ok(Details {
        profile: Profile::new(&source.steps),
        maps: maps.into_iter().flatten().collect(),
    })
}

/// The allocators that are mapped, at most [`STEPS`].
fn mapped<'a>(specs: &'a [Spec], results: &[AllocatorResult]) -> Vec<(&'a Spec, &'a Kind)> {
    let completed = specs.iter().zip(results).filter(|(_, row)| row.completed);
    let in_region = completed.filter_map(|(spec, _)| match &spec.choice {
        Choice::InProcess(kind) if kind.in_region() => Some((spec, kind)),
        _ => None,
    });
    let in_region: Vec<_> = in_region.collect();
    let first = |has_handles: bool| {
        let mut specs = in_region.iter();
        specs.find(|(spec, _)| spec.handles().is_some() == has_handles)
    };
    [true, false]
        .into_iter()
        .filter_map(first)
        .copied()
        .collect()
}
