//! What a demand on a shared heap is certified for, and how a region is divided for it.
//!
//! # Source
//! [The bounds, section 7](crate::bounds#7-threads).
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use surefit_classes::{Bound, Geometry, Tail};

use super::needs::{self, SharedNeeds};
use super::sharing::Sharing;
use super::work::{self, SharedWork};
use crate::certify::demand::Demand;
use crate::certify::limits::{ENTRIES_MAX, least, most};
use crate::certify::uncertifiable::Uncertifiable;
use crate::certify::work::Lending;
use crate::shared::{ALIGN, ENTRY_BYTES, Fixed, GROUPS, Granularity, SharedConfig};

/// The bytes that are enough for a demand on a shared heap, and the most work of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedCertificate {
    /// Bytes of region that are enough, wherever it begins: the sum of `parts`.
    pub heap_bytes: usize,
    /// Bytes that are enough if the region begins at a multiple of the page size and of 128.
    pub aligned_bytes: usize,
    /// What the bytes are for.
    pub parts: SharedParts,
    /// The most pages that are data pages or in threads' buffers.
    pub data_pages: u64,
    /// The part of `data_pages` that holds page-blocks.
    pub used_pages: u64,
    /// The most entries that are made.
    pub entries: u64,
    /// The most work of one call.
    pub work: SharedWork,
}

/// What the bytes of a shared heap's certificate are for. The parts add up to `heap_bytes`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedParts {
    /// Data pages that the demand fills without pins and without other calls in progress.
    pub data_page_bytes: usize,
    /// Further data pages, because pins keep objects from moving, now or before.
    pub pin_bytes: usize,
    /// Further data pages, because of frees, compactions and moves in progress.
    pub call_bytes: usize,
    /// Free pages in the buffers of threads.
    pub page_buffer_bytes: usize,
    /// Entries of objects, and padding.
    pub handle_bytes: usize,
    /// Free entries that groups, and with page locks also threads' buffers, hold ready.
    pub handle_buffer_bytes: usize,
    /// Page records and page locks.
    pub page_record_bytes: usize,
    /// States of groups and instances, buffers of threads, and in a heap with slack the table of
    /// what is lent.
    pub state_bytes: usize,
    /// Bytes that may be skipped until a page begins.
    pub alignment_bytes: usize,
}

/// The needs of a demand on a heap with a bound that may be another one than the configuration's,
/// if a heap can have such back-references, instances and pins.
pub(super) const fn certifiable<G: Granularity>(
    config: &SharedConfig<G>,
    bound: Bound,
    sharing: &Sharing,
    demand: &Demand<'_>,
) -> Result<SharedNeeds, Uncertifiable> {
    match allowed(config, sharing, sharing.instances as usize) {
        Ok(()) => needs::needs(config, bound, sharing, demand),
        Err(error) => Err(error),
    }
}

/// Whether a heap can have such back-references, so many instances, and such pins.
pub(super) const fn allowed<G: Granularity>(
    config: &SharedConfig<G>,
    sharing: &Sharing,
    instances: usize,
) -> Result<(), Uncertifiable> {
    let geometry = config.config().geometry();
    match geometry.tail() {
        Tail::BackReferences { bytes: 4 } => {}
        _ => return Err(Uncertifiable::Width),
    }
    let limit = instances_max(geometry);
    if instances > limit as usize {
        return Err(Uncertifiable::TooManyInstances { limit });
    }
    if sharing.pins() > config.pins() || sharing.pins() == u32::MAX {
        let limit = config.pins();
        return Err(Uncertifiable::TooManyPins { limit });
    }
    Ok(())
}

/// The most instances whose groups can be numbered.
#[expect(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "a geometry has 1 to 128 classes"
)]
const fn instances_max(geometry: &Geometry) -> u32 {
    GROUPS / geometry.class_count().next_power_of_two() as u32
}

/// Divides a region as a shared heap does: the address table takes the rest and then whole pages
/// from the back.
#[expect(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "at most 32 GiB of pages, 2^32 entries of 12 bytes and a fixed area, checked to be what a region can have"
)]
pub(super) const fn lay_out<R, G: Granularity>(
    config: &SharedConfig<G>,
    sharing: &Sharing,
    demand: &Demand<'_>,
    needs: &SharedNeeds,
    lending: Lending,
) -> Result<SharedCertificate, Uncertifiable> {
    let geometry = config.config().geometry();
    let page = geometry.page_bytes() as u64;
    let stride = ENTRY_BYTES as u64;
    let entries = needs.entries.saturating_add(needs.spare_entries);
    if entries > ENTRIES_MAX {
        return Err(Uncertifiable::TooManyEntries { limit: ENTRIES_MAX });
    }
    let (data_pages, body) = match body_of(geometry, needs, entries * stride) {
        Ok(body) => body,
        Err(error) => return Err(error),
    };
    let pages = body / page;
    let classes = geometry.class_count().next_power_of_two();
    let (instances, locals) = (sharing.instances as usize, config.locals() as usize);
    let groups = instances * classes;
    let state_bytes = Fixed::new::<R, G>(instances, groups, locals, 0).bytes;
    let fixed_bytes = Fixed::new::<R, G>(instances, groups, locals, pages as usize).bytes;
    let (state_bytes, fixed_bytes) = (
        state_bytes.saturating_add(lending.table_bytes),
        fixed_bytes.saturating_add(lending.table_bytes),
    );
    let alignment_bytes = most(page, ALIGN as u64) as usize - 1;
    let heap_bytes = (body + alignment_bytes as u64).saturating_add(fixed_bytes as u64);
    if heap_bytes > isize::MAX as u64 {
        return Err(Uncertifiable::TooManyPages {
            limit: pages_limit(geometry),
        });
    }
    let spare_bytes = (needs.spare_entries * stride) as usize;
    let parts = SharedParts {
        data_page_bytes: ((data_pages - needs.buffered_pages - needs.pin_pages - needs.call_pages)
            * page) as usize,
        pin_bytes: (needs.pin_pages * page) as usize,
        call_bytes: (needs.call_pages * page) as usize,
        page_buffer_bytes: (needs.buffered_pages * page) as usize,
        handle_bytes: (body - data_pages * page) as usize - spare_bytes,
        handle_buffer_bytes: spare_bytes,
        page_record_bytes: fixed_bytes - state_bytes,
        state_bytes,
        alignment_bytes,
    };
    let aligned_bytes = body as usize + fixed_bytes;
    let table_bytes = entries * stride;
    let work = work::of(
        config,
        demand,
        lending,
        (table_bytes, fixed_bytes as u64, data_pages),
    );
    Ok(SharedCertificate {
        heap_bytes: aligned_bytes + parts.alignment_bytes,
        aligned_bytes,
        parts,
        data_pages,
        used_pages: needs.used_pages(),
        entries,
        work,
    })
}

/// The most pages that locations can name, and that a region on this machine can hold.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "pages have 2^10 to 2^16 bytes"
)]
const fn pages_limit(geometry: &Geometry) -> u64 {
    let named = (1_u64 << (35 - geometry.page_shift())) - 1;
    least(named, isize::MAX as u64 >> geometry.page_shift())
}

/// The data pages, and the bytes of them and of the table.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "at most 32 GiB of pages, and 2^32 entries of 12 bytes"
)]
const fn body_of(
    geometry: &Geometry,
    needs: &SharedNeeds,
    table_bytes: u64,
) -> Result<(u64, u64), Uncertifiable> {
    let page = geometry.page_bytes() as u64;
    let limit = pages_limit(geometry);
    let mut pages = needs.used_pages().saturating_add(needs.buffered_pages);
    if pages > limit {
        return Err(Uncertifiable::TooManyPages { limit });
    }
    if pages == 0 && table_bytes < page {
        pages = 1;
    }
    let body = (pages * page + table_bytes).next_multiple_of(ALIGN as u64);
    if body / page > limit {
        return Err(Uncertifiable::TooManyPages { limit });
    }
    Ok((pages, body))
}
