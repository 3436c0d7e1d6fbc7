//! Divides the region of a shared heap, and makes the engine over it.
//!
//! ```text
//! 0                                Q·P     fixed                                               len
//! | data pages →   ← address table | rest | groups | instances | buffers | records | page locks |
//! ```
//! Offsets count from the page-aligned base. The fixed area begins at a multiple of 128 bytes.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use lock_api::{Mutex, RawMutex};
use surefit_classes::Geometry;
use surefit_core::Refused;

use super::abort_on_unwind::AbortOnUnwind;
use super::engine::SharedEngine;
use super::entry::GROUPS;
use super::group::Group;
use super::instance::{Instance, NO_ID};
use super::pool::{Buffer, CachePadded, Pool, Store};
use super::table::EntryTable;
use crate::handle::HeapId;
use crate::layout::padded;
use crate::memory::Memory;
use crate::page::{PageRecord, PageTable};
use crate::shared::config::SharedConfig;
use crate::shared::lock::Granularity;
use crate::width::Spread;

/// The alignment of the fixed area, in bytes.
pub(crate) const ALIGN: usize = 128;

/// The largest region in bytes: a location is a 32-bit number of units of eight bytes.
const MOST_BYTES: u64 = 1 << 35;

/// The offsets of the parts of the fixed area from its start, and its size in bytes. `usize::MAX`
/// stands for more than any region holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed {
    instances: usize,
    buffers: usize,
    records: usize,
    locks: usize,
    pub(crate) bytes: usize,
}

impl Fixed {
    pub(crate) const fn new<R, G: Granularity>(
        instances: usize,
        groups: usize,
        buffers: usize,
        pages: usize,
    ) -> Self {
        let groups = table(0, groups, size_of::<Group<R>>());
        let buffers_at = padded(table(groups, instances, size_of::<Instance>()), ALIGN);
        let records = table(
            buffers_at,
            buffers,
            size_of::<CachePadded<Mutex<AbortOnUnwind<R>, Buffer>>>(),
        );
        const {
            assert!(
                align_of::<AbortOnUnwind<R>>() <= ALIGN,
                "a lock is aligned to 128 bytes at most"
            )
        };
        let records_end = table(records, pages, size_of::<PageRecord<Spread>>());
        let locks = padded(records_end, align_of::<AbortOnUnwind<R>>());
        let locks_end = table(
            locks,
            if G::PAGES { pages } else { 0 },
            size_of::<AbortOnUnwind<R>>(),
        );
        Self {
            instances: groups,
            buffers: buffers_at,
            records,
            locks,
            bytes: padded(locks_end, ALIGN),
        }
    }
}

/// The end of a table of records that begins at an offset; `usize::MAX` if no region holds it.
const fn table(offset: usize, records: usize, record_bytes: usize) -> usize {
    offset.saturating_add(records.saturating_mul(record_bytes))
}

/// Whose names may outlive their objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outlive {
    /// Nobody's: an object has one name, which ends with it.
    Never,
    /// Those of an instance that was destroyed; in a heap of one instance, too.
    Instances,
}

/// Divides a region into an engine. Returns the engine, and the number of bytes that were skipped
/// for alignment.
///
/// # Errors
/// [`Refused::Region`] if not even one page fits; [`Refused::TooLarge`] if the region exceeds 32
/// GiB, or there are more than 4096 groups; [`Refused::NoHeapId`].
pub(crate) fn engine<'m, R: RawMutex, G: Granularity>(
    region: &'m mut [MaybeUninit<u8>],
    config: &'m SharedConfig<G>,
    instances: usize,
    names: Outlive,
) -> Result<(SharedEngine<'m, R, G>, usize), Refused> {
    let geometry = config.config.geometry();
    let class_bits = class_bits(geometry, instances)?;
    let groups = instances << class_bits;
    let page = geometry.page_bytes();
    let (memory, skipped) = Memory::aligned(region, page.max(ALIGN));
    let locals = usize::from(config.locals);
    let fixed = |pages| Fixed::new::<R, G>(instances, groups, locals, pages);
    let pages = pages_in(memory.len() & !(ALIGN - 1), page, &fixed)?;
    if pages > 1 << (35 - geometry.page_shift()) {
        let limit = usize::try_from(MOST_BYTES).unwrap_or(usize::MAX);
        return Err(Refused::TooLarge { limit });
    }
    let fixed = fixed(pages);
    let top = (memory.len() & !(ALIGN - 1)) - fixed.bytes;
    // SAFETY: `pages_in` left `fixed.bytes` behind `top`, which is a multiple of 128; the parts
    // follow each other in them.
    let groups = unsafe { memory.table(top, groups, Group::new) };
    // SAFETY: as above.
    let instances = unsafe {
        memory.table(top + fixed.instances, instances, || {
            Instance::new(HeapId::unique().map_or(NO_ID, HeapId::get))
        })
    };
    if instances.iter().any(|instance| instance.id() == NO_ID) {
        return Err(Refused::NoHeapId);
    }
    // SAFETY: as above.
    let buffers = unsafe {
        memory.table(top + fixed.buffers, locals, || {
            CachePadded(Mutex::new(Buffer::new()))
        })
    };
    let locks = if G::PAGES { pages } else { 0 };
    // SAFETY: as above.
    let page_locks = unsafe { memory.table(top + fixed.locks, locks, || AbortOnUnwind::INIT) };
    let free = geometry.class(0).expect("a geometry has classes");
    // SAFETY: as above; the pages lie before `top`.
    let table = unsafe { PageTable::new(memory, geometry, top + fixed.records, pages, free) };
    let pool = Pool::new(pages << geometry.page_shift());
    let engine = SharedEngine {
        pages: table,
        table: EntryTable::new(top),
        groups,
        instances,
        store: Store {
            pool: CachePadded(Mutex::new(pool)),
            buffers,
            buffer_pages: u32::from(config.page_buffer),
        },
        config,
        class_bits,
        stale_names: names != Outlive::Never,
        page_locks,
        slack: None,
        granularity: PhantomData,
    };
    Ok((engine, skipped))
}

/// The number of bits for the class in a group's number.
fn class_bits(geometry: &Geometry, instances: usize) -> Result<u32, Refused> {
    let bits = geometry.class_count().next_power_of_two().trailing_zeros();
    let limit = GROUPS as usize >> bits;
    if instances > limit {
        return Err(Refused::TooLarge { limit });
    }
    Ok(bits)
}

/// The number of pages that fit into `bytes` together with the fixed area.
fn pages_in(bytes: usize, page: usize, fixed: &dyn Fn(usize) -> Fixed) -> Result<usize, Refused> {
    let needed = |pages: usize| (pages * page).saturating_add(fixed(pages).bytes);
    let fits = |pages: usize| fixed(pages).bytes < usize::MAX && needed(pages) <= bytes;
    let record = fixed(1).bytes.abs_diff(fixed(0).bytes).max(1);
    let mut pages = bytes.saturating_sub(fixed(0).bytes) / page;
    while pages > 0 && !fits(pages) {
        let over = needed(pages) - bytes;
        pages = pages.saturating_sub((over / (page + record)).max(1));
    }
    if pages == 0 {
        let needed = fixed(1).bytes.saturating_add(2 * page + ALIGN);
        return Err(Refused::Region { needed });
    }
    Ok(pages)
}
