//! The degrees of fragmentation of full compaction, by its formula.
//!
//! ```text
//! Dg_c = π_c · (Q − Σ_j ⌈h_j / π_j⌉) + ((−h_c) mod π_c)
//! ```
//! Q: pages for objects; h_j: live page-blocks of class j; π_j: page-blocks per page. Q is what a
//! heap of the same region has after it was filled once and emptied, so that its address table
//! grows no more.
//!
//! # Source
//! Craciunas et al. (2008): the invariant of full compaction; the slides' degree of fragmentation.
//! The formula is ours.
#![deny(unsafe_code)]

use std::alloc::Layout;
use std::collections::BTreeMap;
use std::mem::MaybeUninit;

use anyhow::{Result, anyhow, bail};
use surefit_compact::{Config, Geometry, Heap, SizeClass, Wide};

use super::region::Aligned;
use super::space::{Plan, SIZES};
use super::systems::CFM;
use surefit_measure::registry::Kind;
use surefit_measure::spec::{Choice, Spec};
use surefit_measure::subject::less_control;

/// The degree of each of [`SIZES`] after any order of the plan's operations.
///
/// # Errors
/// No memory.
pub(super) fn degrees(plan: &Plan) -> Result<[u64; SIZES.len()]> {
    let Choice::InProcess(Kind::Cf(options)) = Spec::parse(CFM)?.choice else {
        bail!("{CFM}: a Compact-fit");
    };
    let mut region = Aligned::new(plan.region_bytes)?;
    let pages = pages(&options.config, region.memory())?;
    let geometry = options.config.geometry();
    let mut live: BTreeMap<SizeClass, u64> = BTreeMap::new();
    for group in plan.groups {
        *live.entry(class(geometry, group.bytes)?).or_default() += group.left() as u64;
    }
    let mut found = [0; SIZES.len()];
    for (degree, bytes) in found.iter_mut().zip(SIZES) {
        *degree = one(geometry, &live, class(geometry, bytes)?, pages);
    }
    Ok(found)
}

/// Q: pages for objects once the address table is as large as it gets.
fn pages(config: &Config, memory: &mut [MaybeUninit<u8>]) -> Result<u64> {
    let mut heap: Heap<'_, Wide> = Heap::new(less_control::<Heap<'_, Wide>>(memory)?, config)?;
    let layout = Layout::from_size_align(SIZES[0], 8)?;
    let mut objects = Vec::new();
    while let Ok(object) = heap.alloc(layout) {
        objects.push(object);
    }
    objects
        .into_iter()
        .for_each(|object| heap.free_bytes(object));
    let stats = heap.stats();
    Ok(u64::from(
        stats.pages + stats.freed_pages + stats.fresh_pages,
    ))
}

fn one(geometry: &Geometry, live: &BTreeMap<SizeClass, u64>, class: SizeClass, pages: u64) -> u64 {
    let blocks = |class| u64::from(geometry.layout(class).blocks);
    let used: u64 = live
        .iter()
        .map(|(&class, h)| h.div_ceil(blocks(class)))
        .sum();
    let own = live.get(&class).copied().unwrap_or(0);
    let rest = own.next_multiple_of(blocks(class)) - own;
    blocks(class) * (pages - used) + rest
}

fn class(geometry: &Geometry, bytes: usize) -> Result<SizeClass> {
    let class = geometry.class_for(bytes, 8);
    class.ok_or_else(|| anyhow!("{bytes} bytes: larger than a page"))
}

#[cfg(test)]
mod tests {
    use super::degrees;
    use crate::experiments::overview::space::{self, Plan};
    use crate::experiments::overview::systems::CFM;
    use surefit_measure::spec::Spec;

    #[test]
    fn full_compaction_keeps_to_its_formula() {
        let plan = Plan::new(true);
        let spec = Spec::parse(CFM).expect("an allocator");
        let measured = space::degrees(&spec, &plan).expect("memory");
        let formula = degrees(&plan).expect("memory");
        assert_eq!(measured.0, formula.map(|degree| Some((degree, degree))));
    }
}
