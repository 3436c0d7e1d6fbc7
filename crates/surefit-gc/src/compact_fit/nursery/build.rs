//! Making a nursery and its collector over a region.
#![deny(unsafe_code)]

use core::mem::MaybeUninit;

use surefit_compact::{Config, EntryHeap, Wide};
use surefit_core::Refused;

use super::eden::{Eden, UNIT};
use super::{Nursery, Promotions};
use crate::collector::Collector;
use crate::compact_fit::CompactFit;
use crate::compact_fit::division::Division;

/// The nursery serves a request whose page-block has at most one part in so many of it. So an empty
/// one has room.
const PARTS: usize = 16;

/// The units of a nursery: words of the region.
const fn units(nursery_bytes: usize) -> usize {
    let most = EntryHeap::<Wide>::OUTSIDE_PLACES as usize;
    let units = nursery_bytes / UNIT;
    if units < most { units } else { most }
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
        let division = Division {
            config,
            mark_stack,
            nursery: units(nursery_bytes),
        };
        let heap_bytes = division.heap_bytes(region.len());
        if let Ok(limit) = usize::try_from(EntryHeap::<Wide>::OUTSIDE_UP_TO) {
            if heap_bytes > limit {
                return Err(Refused::TooLarge { limit });
            }
        }
        let parts = division.divide(region)?;
        let space = Nursery::over(CompactFit::over(parts.heap, parts.pieces), parts.nursery);
        let gc = Self::over(space, parts.bits, parts.stack);
        Ok(gc.with_table_bytes(parts.table_bytes))
    }
}
