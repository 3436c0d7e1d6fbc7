//! A heap that has the calls of `Heap` and, in the files beside this one, those that take numbers
//! of entries.
#![deny(unsafe_code)]

use core::mem::MaybeUninit;
use core::ops::{Deref, DerefMut};

use surefit_core::Refused;

use crate::config::Config;
use crate::heap::Heap;
use crate::width::{Wide, Width};

/// A heap whose objects are named by the numbers of their entries: for a collector.
///
/// It has every method of [`Heap`], too: statistics, [`Heap::compact`], objects with handles. An
/// object with a handle is kept by [`EntryHeap::retain`] only if the bit of its entry is set. A
/// heap that is made otherwise than by [`EntryHeap::new`] becomes one:
/// `EntryHeap::from(Heap::with_limit(…)?)`.
///
/// # Examples
/// ```
/// use core::mem::MaybeUninit;
/// use surefit_compact::{Config, EntryHeap};
///
/// static CONFIG: Config = Config::DEFAULT;
/// let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
/// let mut heap: EntryHeap = EntryHeap::new(&mut memory, &CONFIG)?;
/// let (kept, dropped) = (heap.allocate_entry(24)?, heap.allocate_entry(24)?);
/// let mut marks = [0_u64; 1];
/// marks[0] |= 1 << kept;
/// // SAFETY: both are live, and only `kept` is used from here on.
/// unsafe { heap.retain(&marks) };
/// assert_eq!(heap.stats().live_blocks, 1);
/// # let _ = dropped;
/// # Ok::<(), surefit_core::Refused>(())
/// ```
#[derive(Debug)]
pub struct EntryHeap<'m, W: Width<Generation = ()> = Wide> {
    heap: Heap<'m, W>,
}

impl<'m, W: Width<Generation = ()>> EntryHeap<'m, W> {
    /// As [`Heap::new`].
    ///
    /// # Errors
    /// As [`Heap::new`].
    pub fn new(region: &'m mut [MaybeUninit<u8>], config: &'m Config) -> Result<Self, Refused> {
        Heap::new(region, config).map(Self::from)
    }
}

impl<'m, W: Width<Generation = ()>> From<Heap<'m, W>> for EntryHeap<'m, W> {
    fn from(heap: Heap<'m, W>) -> Self {
        Self { heap }
    }
}

impl<'m, W: Width<Generation = ()>> Deref for EntryHeap<'m, W> {
    type Target = Heap<'m, W>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.heap
    }
}

impl<W: Width<Generation = ()>> DerefMut for EntryHeap<'_, W> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.heap
    }
}
