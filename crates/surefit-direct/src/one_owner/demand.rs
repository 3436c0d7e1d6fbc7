//! How many bytes are enough for a direct heap: computed from a demand, without running anything.
//!
//! ```text
//! demand                              per class c: H page-blocks            per length u: N runs
//! bytes = tables + padding + P·Σ ⌈H/π⌉ + unit·Σ u·N + alignment
//! ```
//! A page opens only when all pages of its class are full, so a class that never has more than H
//! live page-blocks never has more than ⌈H/π⌉ pages. With [`Pools`](super::Pools), pages and the
//! runs of each length never become anything else, so their needs add up: whatever the order of
//! allocations and frees, nothing within the demand is refused.
//!
//! Without pools, a demand without runs has nearly the same certificate ([`certify_blocks`]): pages
//! are the only runs, so every free run is one of whole pages. With runs ([`certify_general`]) a
//! free unit may lie where neither a page nor a run finds it. Let U be the units of all pages and
//! runs, K their number, and f the units of a free run that no request misses: at least 2·P − 1
//! units, for such a run holds an aligned page. At a refusal all free runs have at most f − 1
//! units; between two of them lies a used one, of at most K − 1. So U + K·(f − 1) units are enough.
//! That is about three times the live bytes for runs of up to a page, and more for longer ones: the
//! general mode buys speed and any mix of sizes, [`Pools`](super::Pools) the bytes.
//!
//! A resize that moves its object has both objects live: the demand counts both.
//!
//! # Source
//! The number of pages: Craciunas et al. (2008), partitioning without compaction; the sum over
//! separate pools, and the number of free runs between used ones, are elementary.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use surefit_core::Refused;

use super::memory::{MAX_UNITS, Plan, head_bytes, page_units};
use super::partition::{Class, MOST_CLASSES, Partitioning, blocks, class_of, classes};
use super::runs;

/// A line of a demand: at most `objects` live objects of requests of up to `bytes` bytes.
///
/// Up to a quarter of a page, the line counts for the size-class of such a request, and several
/// lines of one class add up: a class without a line is refused. For larger requests, the line
/// counts for all that need more units than the next shorter line, and at most as many as this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectDemand {
    /// Bytes of a request.
    pub bytes: usize,
    /// Its alignment in bytes, a power of two, at most a unit.
    pub align: usize,
    /// The most such objects at once; a resize that moves its object counts twice.
    pub objects: u32,
}

impl DirectDemand {
    /// A line for requests aligned to eight bytes.
    #[must_use]
    pub const fn new(bytes: usize, objects: u32) -> Self {
        Self {
            bytes,
            align: 8,
            objects,
        }
    }
}

/// The bytes of region that are enough for a demand, and what they are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectCertificate {
    /// Enough, wherever the region begins: the sum of the parts.
    pub heap_bytes: usize,
    /// Enough if the region begins at a multiple of a unit.
    pub aligned_bytes: usize,
    /// Tables: 4 bytes per class, unit and list, 16 per page, and with pools 4 per class and 8 per
    /// length; padded to a page.
    pub table_bytes: usize,
    /// P·Σ ⌈H/π⌉.
    pub page_bytes: usize,
    /// unit·Σ u·N.
    pub run_bytes: usize,
    /// What free runs may hold between pages and runs that are used: 0, except for
    /// [`certify_general`].
    pub hole_bytes: usize,
    /// Bytes that may be skipped until a unit begins.
    pub alignment_bytes: usize,
}

/// What a demand needs, apart from tables.
pub(super) struct Needs {
    /// Pages that each class may have.
    pub(super) pages: [u32; MOST_CLASSES],
    all_pages: u64,
    run_units: u64,
    /// Runs, and the units of the longest one.
    runs: u64,
    longest: u32,
    /// Different lengths of runs.
    pub(super) pools: usize,
}

impl Needs {
    /// The needs of a demand.
    ///
    /// # Errors
    /// [`Refused::TooAligned`] or [`Refused::TooLarge`] for a line that no heap serves.
    pub(super) const fn of<S: Partitioning>(demand: &[DirectDemand]) -> Result<Self, Refused> {
        let mut needs = Self {
            pages: [0; MOST_CLASSES],
            all_pages: 0,
            run_units: 0,
            runs: 0,
            longest: 0,
            pools: 0,
        };
        // Page-blocks first, then pages in their place.
        let mut at = 0;
        while at < demand.len() {
            let line = &demand[at];
            if line.align > S::UNIT_BYTES {
                return Err(Refused::TooAligned {
                    limit: S::UNIT_BYTES,
                });
            }
            match class_of::<S>(line.bytes, line.align) {
                Some(class) => match needs.pages[class.index()].checked_add(line.objects) {
                    Some(sum) => needs.pages[class.index()] = sum,
                    None => return Err(too_large::<S>()),
                },
                None => match run_units::<S>(line) {
                    Some(units) => {
                        let all = (units as u64).saturating_mul(line.objects as u64);
                        needs.run_units = needs.run_units.saturating_add(all);
                        needs.runs = needs.runs.saturating_add(line.objects as u64);
                        if units > needs.longest {
                            needs.longest = units;
                        }
                        needs.pools = needs
                            .pools
                            .saturating_add(is_first::<S>(demand, at) as usize);
                    }
                    None => return Err(too_large::<S>()),
                },
            }
            at = at.saturating_add(1);
        }
        let mut index = 0;
        while index < classes::<S>() {
            if let (objects, Some(class)) = (needs.pages[index], Class::at::<S>(index)) {
                let pages = objects.div_ceil(blocks::<S>(class) as u32);
                needs.pages[index] = pages;
                needs.all_pages = needs.all_pages.saturating_add(pages as u64);
            }
            index = index.saturating_add(1);
        }
        Ok(needs)
    }

    /// The units of pages and runs; `None` if no region has so many.
    #[expect(clippy::cast_possible_truncation, reason = "at most MAX_UNITS")]
    const fn units<S: Partitioning>(&self) -> Option<usize> {
        let pages = self.all_pages.saturating_mul(page_units::<S>() as u64);
        let units = pages.saturating_add(self.run_units);
        if units > most_units::<S>() as u64 {
            return None;
        }
        Some(units as usize)
    }

    /// The tables of a heap with pools in exactly the units that it needs: the least number of
    /// units that holds the tables of so many units, up to a whole page, and the rest.
    pub(super) const fn plan<S: Partitioning>(&self) -> Option<Plan> {
        let Some(payload) = self.units::<S>() else {
            return None;
        };
        let mut plan = Plan {
            units: payload,
            lists: self.pools,
            counts: classes::<S>().saturating_add(self.pools.saturating_mul(2)),
        };
        loop {
            let units = first_page_unit::<S>(plan).saturating_add(payload);
            if units == plan.units {
                return Some(plan);
            }
            if units > most_units::<S>() {
                return None;
            }
            plan.units = units;
        }
    }
}

/// The units before the first page: those of the tables, up to a whole page.
pub(super) const fn first_page_unit<S: Partitioning>(plan: Plan) -> usize {
    plan.admin_units::<S>()
        .next_multiple_of(page_units::<S>() as usize)
}

/// The units of a line's run; `None` if no region has so many.
#[expect(clippy::cast_possible_truncation, reason = "at most MAX_UNITS")]
pub(super) const fn run_units<S: Partitioning>(line: &DirectDemand) -> Option<u32> {
    let bytes = if line.bytes == 0 { 1 } else { line.bytes };
    let units = bytes.div_ceil(S::UNIT_BYTES);
    if units > most_units::<S>() {
        return None;
    }
    Some(units as u32)
}

/// Whether no line before this one is for runs of the same length.
const fn is_first<S: Partitioning>(demand: &[DirectDemand], at: usize) -> bool {
    let Some(units) = run_units::<S>(&demand[at]) else {
        return true;
    };
    let mut before = 0;
    while before < at {
        let line = &demand[before];
        if class_of::<S>(line.bytes, line.align).is_none()
            && matches!(run_units::<S>(line), Some(other) if other == units)
        {
            return false;
        }
        before = before.saturating_add(1);
    }
    true
}

/// The certificate of a heap with [`Pools`](super::Pools) for a demand.
///
/// # Errors
/// [`Refused::TooAligned`] for an alignment over a unit, [`Refused::TooLarge`] if no region of this
/// machine holds so much.
///
/// # Complexity
/// Quadratic in the lines.
///
/// # Examples
/// ```
/// use core::mem::MaybeUninit;
/// use surefit_direct::{DirectDemand, PooledHeap, Tiny, certify};
///
/// // At most 40 objects of 17 to 24 bytes, 8 of 97 to 128 bytes, and 2 buffers of up to 1000 bytes.
/// const DEMAND: [DirectDemand; 3] = [
///     DirectDemand::new(24, 40),
///     DirectDemand::new(128, 8),
///     DirectDemand::new(1000, 2),
/// ];
/// const BYTES: usize = match certify::<Tiny>(&DEMAND) {
///     Ok(certificate) => certificate.heap_bytes,
///     Err(_) => panic!("this demand cannot be served"),
/// };
/// let mut region = [MaybeUninit::uninit(); BYTES];
/// let heap: PooledHeap<'_, Tiny> = PooledHeap::certified(&mut region, &DEMAND)?;
/// # Ok::<(), surefit_core::Refused>(())
/// ```
pub const fn certify<S: Partitioning>(
    demand: &[DirectDemand],
) -> Result<DirectCertificate, Refused> {
    let needs = match Needs::of::<S>(demand) {
        Ok(needs) => needs,
        Err(refused) => return Err(refused),
    };
    match needs.plan::<S>() {
        Some(plan) => certificate::<S>(&needs, plan.units),
        None => Err(too_large::<S>()),
    }
}

/// The `BYTES` of a [`Region`](surefit_core::Region) of any alignment that is enough for a heap
/// with [`Pools`](super::Pools). One of these bytes records whether the region was taken.
///
/// # Panics
/// If [`certify`] refuses the demand: in a `const`, the program does not compile.
///
/// # Examples
/// ```
/// use surefit_direct::{DirectDemand, PooledHeap, Tiny, region_bytes};
/// use surefit_core::{Page1K, Region};
///
/// const DEMAND: [DirectDemand; 2] = [DirectDemand::new(24, 40), DirectDemand::new(1000, 2)];
/// static MEMORY: Region<{ region_bytes::<Tiny>(&DEMAND) }, Page1K> = Region::new();
/// let region = MEMORY.take().expect("taken once");
/// let heap: PooledHeap<'_, Tiny> = PooledHeap::certified(region, &DEMAND)?;
/// # Ok::<(), surefit_core::Refused>(())
/// ```
#[must_use]
pub const fn region_bytes<S: Partitioning>(demand: &[DirectDemand]) -> usize {
    match certify::<S>(demand) {
        // A region begins at a multiple of a page, and so of a unit. No certificate is for more
        // than half of the range of `usize`.
        Ok(certificate) => certificate.aligned_bytes.saturating_add(1),
        Err(_) => panic!("no region serves this demand"),
    }
}

/// The certificate of a heap without pools, [`DirectHeap`](super::DirectHeap), for a demand of
/// page-blocks: also any larger region is enough. It has one page more than [`certify`]'s, because
/// a larger region has larger tables.
///
/// # Errors
/// As [`certify`]; [`Refused::TooLarge`] with [`Partitioning::LARGEST_BLOCK`] for a line that needs
/// a run.
pub const fn certify_blocks<S: Partitioning>(
    demand: &[DirectDemand],
) -> Result<DirectCertificate, Refused> {
    let needs = match Needs::of::<S>(demand) {
        Ok(needs) => needs,
        Err(refused) => return Err(refused),
    };
    if needs.pools > 0 {
        return Err(Refused::TooLarge {
            limit: S::LARGEST_BLOCK,
        });
    }
    let Some(pages) = needs.units::<S>() else {
        return Err(too_large::<S>());
    };
    let payload = pages.saturating_add(page_units::<S>() as usize);
    let mut units = payload;
    loop {
        let all = first_page_unit::<S>(runs::plan::<S>(units)).saturating_add(payload);
        if all > most_units::<S>() {
            return Err(too_large::<S>());
        }
        if all == units {
            return certificate::<S>(&needs, units);
        }
        units = all;
    }
}

/// The certificate of a heap without pools, [`DirectHeap`](super::DirectHeap), for any demand: also
/// any larger region is enough. See the source of this module for its proof. A demand of
/// page-blocks alone is better served by [`certify_blocks`], and one whose sizes are known by
/// [`certify`].
///
/// # Errors
/// As [`certify`].
///
/// # Examples
/// ```
/// use surefit_direct::{DirectDemand, Tiny, certify, certify_general};
///
/// // Objects of up to a page.
/// let demand = [DirectDemand::new(24, 400), DirectDemand::new(512, 20)];
/// let (general, pools) = (certify_general::<Tiny>(&demand)?, certify::<Tiny>(&demand)?);
/// assert!(general.heap_bytes < 4 * pools.heap_bytes);
/// # Ok::<(), surefit_core::Refused>(())
/// ```
pub const fn certify_general<S: Partitioning>(
    demand: &[DirectDemand],
) -> Result<DirectCertificate, Refused> {
    let needs = match Needs::of::<S>(demand) {
        Ok(needs) => needs,
        Err(refused) => return Err(refused),
    };
    let Some(used) = needs.units::<S>() else {
        return Err(too_large::<S>());
    };
    let found = runs::found::<S>(needs.longest) as u64;
    let holes = needs.all_pages.saturating_add(needs.runs);
    let holes = holes.saturating_mul(found.saturating_sub(1));
    // One page more, because a larger region has larger tables.
    let more = holes.saturating_add(page_units::<S>() as u64);
    if more > most_units::<S>() as u64 {
        return Err(too_large::<S>());
    }
    #[expect(clippy::cast_possible_truncation, reason = "at most MAX_UNITS")]
    let payload = used.saturating_add(more as usize);
    let mut units = payload;
    loop {
        let all = runs::plan::<S>(units)
            .admin_units::<S>()
            .saturating_add(payload);
        if all > most_units::<S>() {
            return Err(too_large::<S>());
        }
        if all == units {
            break;
        }
        units = all;
    }
    #[expect(clippy::cast_possible_truncation, reason = "at most MAX_UNITS")]
    let hole_bytes = (holes as usize).saturating_mul(S::UNIT_BYTES);
    match certificate::<S>(&needs, units) {
        Ok(certificate) => Ok(DirectCertificate {
            table_bytes: certificate.table_bytes.saturating_sub(hole_bytes),
            hole_bytes,
            ..certificate
        }),
        Err(refused) => Err(refused),
    }
}

const fn certificate<S: Partitioning>(
    needs: &Needs,
    units: usize,
) -> Result<DirectCertificate, Refused> {
    let alignment_bytes = S::UNIT_BYTES.saturating_sub(1);
    let unit_bytes = units.saturating_mul(S::UNIT_BYTES);
    let bytes = unit_bytes.saturating_add(head_bytes::<S>());
    let heap_bytes = bytes.saturating_add(alignment_bytes);
    let heads = head_bytes::<S>().next_multiple_of(S::UNIT_BYTES);
    let (Some(payload), true) = (needs.units::<S>(), heap_bytes <= isize::MAX as usize) else {
        return Err(too_large::<S>());
    };
    #[expect(clippy::cast_possible_truncation, reason = "at most MAX_UNITS")]
    let run_bytes = (needs.run_units as usize).saturating_mul(S::UNIT_BYTES);
    let payload_bytes = payload.saturating_mul(S::UNIT_BYTES);
    Ok(DirectCertificate {
        heap_bytes,
        aligned_bytes: unit_bytes.saturating_add(heads),
        table_bytes: bytes.saturating_sub(payload_bytes),
        page_bytes: payload_bytes.saturating_sub(run_bytes),
        run_bytes,
        hole_bytes: 0,
        alignment_bytes,
    })
}

const fn too_large<S: Partitioning>() -> Refused {
    Refused::TooLarge {
        limit: most_units::<S>().saturating_mul(S::UNIT_BYTES),
    }
}

/// The most units that a region on this machine can have: fewer than overflow a sum of tables.
const fn most_units<S: Partitioning>() -> usize {
    match (isize::MAX as usize).checked_div(S::UNIT_BYTES) {
        Some(held) if held < MAX_UNITS => held,
        _ => MAX_UNITS,
    }
}
