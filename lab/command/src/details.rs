//! What the page of a trace shows beyond the results of a comparison.

use std::collections::BTreeMap;

use anyhow::Result;
use surefit_trace::Sites;

use crate::call_sites::CallSite;
use crate::report::{Details, Holes, Keeper};
use surefit_measure::error::Broken;
use surefit_measure::passes::heap_map::HeapMap;
use surefit_measure::passes::holes::{SiteHoles, by_site};
use surefit_measure::profile::Profile;
use surefit_measure::progress::Progress;
use surefit_measure::registry::Kind;
use surefit_measure::results::AllocatorResult;
use surefit_measure::rounds::in_parallel;
use surefit_measure::sizes::HeapSize;
use surefit_measure::source::Source;
use surefit_measure::spec::{Choice, Spec};

/// The steps of progress that it makes.
pub(crate) const STEPS: u64 = MAPS + 1;

/// Heap maps, at most.
const MAPS: u64 = 2;

/// The longest name of a function on a page, in characters.
const NAME_CHARS: usize = 40;

/// The profile of a trace, the heap maps of two allocators that completed it (the first one of
/// handles, which may move objects, and the first one of pointers), and who keeps pages from being
/// empty in the first `cf` that completed it, if the trace has call sites.
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
    progress.skip(MAPS - mapped.len() as u64);
    let maps = in_parallel(&mapped, |(spec, kind)| {
        let map = HeapMap::of(kind, &source.steps, heap);
        progress.step(&source.steps.name, "heap map", spec);
        Ok(map?.map(|map| (spec.to_string(), map)))
    })?;
    Ok(Details {
        profile: Profile::new(&source.steps),
        maps: maps.into_iter().flatten().collect(),
        holes: holes(source, specs, results, heap, progress)?,
    })
}

/// Who keeps pages from being empty; `None` without call sites, or without a `cf` that completed.
fn holes(
    source: &Source,
    specs: &[Spec],
    results: &[AllocatorResult],
    heap: HeapSize,
    progress: &Progress,
) -> Result<Option<Holes>> {
    let mut completed = specs.iter().zip(results).filter(|(_, row)| row.completed);
    let found = completed
        .find(|(spec, _)| matches!(spec.choice, Choice::InProcess(Kind::Cf(_))))
        .zip(source.trace.sites().filter(|sites| !sites.is_empty()));
    let Some(((spec, _), sites)) = found else {
        progress.skip(1);
        return Ok(None);
    };
    // Without moves this heap may be too small: then nothing is shown.
    let found = match by_site(&source.trace, &source.steps, spec, heap) {
        Err(error) if error.is::<Broken>() => return Err(error),
        found => found.ok(),
    };
    progress.step(&source.steps.name, "call sites", spec);
    Ok(found.map(|found| Holes {
        allocator: spec.to_string(),
        event: found.event as u64,
        is_valley: found.is_valley,
        live_bytes: found.live_bytes,
        keepers: keepers(&found.sites, sites),
    }))
}

/// The call sites with what they keep, the most first. Stacks that differ only farther out are one.
fn keepers(stacks: &[SiteHoles], sites: &Sites) -> Vec<Keeper> {
    let mut found: BTreeMap<CallSite, Keeper> = BTreeMap::new();
    for stack in stacks {
        let site = CallSite::of(sites, stack.stack, NAME_CHARS);
        let keeper = found.entry(site.clone()).or_insert(Keeper {
            site,
            objects: 0,
            live_bytes: 0,
            hole_bytes: 0.0,
        });
        keeper.objects += stack.objects;
        keeper.live_bytes += stack.live_bytes;
        keeper.hole_bytes += stack.hole_bytes;
    }
    let mut keepers: Vec<_> = found.into_values().collect();
    keepers.sort_by(|a, b| b.hole_bytes.total_cmp(&a.hole_bytes));
    keepers
}

/// The allocators that are mapped, at most [`MAPS`].
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
