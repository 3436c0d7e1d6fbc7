//! How a region is divided between a heap, a nursery and the collector's tables.
//!
//! ```text
//! region  | the heap, aligned to a page | live bits | mark bits | bits for pieces | mark stack | nursery |
//! ```
#![deny(unsafe_code)]

use core::mem::MaybeUninit;

use surefit_compact::{Config, EntryHeap, Wide};
use surefit_core::Refused;

use super::eden::{Eden, UNIT};
use super::{Nursery, Promotions};
use crate::collector::Collector;
use crate::compact_fit::CompactFit;
use crate::compact_fit::build::{Tables, with_tables};
use crate::tables;

/// The nursery serves a request whose page-block has at most one part in so many of it. So an empty
/// one has room.
const PARTS: usize = 16;

/// The units of a nursery.
const fn units(nursery_bytes: usize) -> usize {
    let most = EntryHeap::<Wide>::LENT_PLACES as usize;
    let units = nursery_bytes / UNIT;
    if units < most { units } else { most }
}

/// The tables of a collector over a region with a nursery.
///
/// When an entry gets its number first, no lower one is free: each of them is that of a page-block
/// or of an object in the nursery, which takes two units at least, or it is the one that an object
/// needs for a moment when it is taken in. So there are no more than [`CompactFit::piece_words`]
/// has bits for, and these.
fn tables(region_bytes: usize, nursery_bytes: usize, config: &Config, stack: usize) -> Tables {
    let units = units(nursery_bytes);
    let heap_bytes = region_bytes.saturating_sub(units.saturating_mul(UNIT));
    Tables::of(heap_bytes, config, stack).with_entries(units / 2 + 1)
}

impl<'m> Nursery<'m> {
    fn over(old: CompactFit<'m>, units: &'m mut [u64]) -> Self {
        let geometry = old.config().geometry();
        let sizes = geometry
            .classes()
            .map(|class| geometry.layout(class).block_bytes as usize);
        let part = size_of_val(units) / PARTS;
        let served = sizes.filter(|&bytes| bytes <= part && !old.heap.is_split(bytes));
        Self {
            largest: served.max().unwrap_or(0),
            old,
            eden: Eden::over(units),
            crowded: false,
            promotions: Promotions::default(),
        }
    }
}

impl<'m> Collector<'m, Nursery<'m>> {
    /// Makes a collector over a region, as [`Collector::compact_fit`] does, with a nursery of
    /// `nursery_bytes` bytes. Behind the heap lie the bits, the mark stack and the nursery. The
    /// bits also take 5/128 of the nursery's bytes.
    ///
    /// Objects whose page-block has at most a sixteenth of the nursery are born in it. Make a
    /// [`Generational`](crate::Generational) of the collector: by itself it collects the whole heap
    /// whenever the nursery is full, and [`Collector::alloc_as_is`] refuses then.
    ///
    /// # Errors
    /// As [`Collector::compact_fit`]; [`Refused::TooLarge`] if the heap would have more than 8 GiB.
    ///
    /// # Panics
    /// If the configuration has one size-class only.
    pub fn nursery(
        region: &'m mut [MaybeUninit<u8>],
        config: &'m Config,
        nursery_bytes: usize,
        mark_stack: usize,
    ) -> Result<Self, Refused> {
        let sizes = tables(region.len(), nursery_bytes, config, mark_stack);
        let units = units(nursery_bytes);
        let beside = |bytes: usize| {
            let sizes = tables(bytes, nursery_bytes, config, mark_stack);
            sizes.bytes().saturating_add(units.saturating_mul(UNIT))
        };
        let heap_bytes = region.len().saturating_sub(beside(region.len()));
        if let Ok(limit) = usize::try_from(EntryHeap::<Wide>::LENDS_UP_TO) {
            if heap_bytes > limit {
                return Err(Refused::TooLarge { limit });
            }
        }
        let (heap, behind) = region.split_at_mut(heap_bytes);
        let Some((table, _)) = tables::split(behind, sizes.words().saturating_add(units)) else {
            let nothing = EntryHeap::<Wide>::new(&mut [], config).map(|_| ());
            let refused = nothing.err().unwrap_or(Refused::NoPage);
            return Err(with_tables(refused, beside));
        };
        let heap = EntryHeap::new(heap, config);
        let heap = heap.map_err(|refused| with_tables(refused, beside))?;
        let (table, eden) = tables::zeroed(table).split_at_mut(sizes.words());
        let [bits, pieces, stack] = sizes.split(table);
        let space = Nursery::over(CompactFit::over(heap, pieces), eden);
        Ok(Self::over(space, bits, stack).with_table_bytes(sizes.bytes()))
    }
}
