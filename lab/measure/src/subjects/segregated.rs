//! surefit's segregated lists: `segregated`. The parameters of its type are keys. Each combination
//! of keys is a type, so a replay calls the heap through a function table. Every combination pays
//! the same price: an indirect call that cannot be inlined. Other systems are inlined into the
//! replay; `benches/pairs.rs` of the free lists counts all systems the same way.

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use anyhow::{Result, bail};
use surefit_clients::lists::{Choice, Finds, Lists};
use surefit_core::{Corruption, RawHeap, Refused, Usage};
use surefit_freelist::{Coalescing, Counters, Heap, Index, LastList, Lookup, SegregatedFit, When};

use super::pointer::Pointers;
use crate::keys::Keys;
use crate::pointer_heap::PointerHeap;
use crate::subject::{Allocator, Pass, less_control};

/// Segregated lists and a last list.
#[derive(Debug)]
pub struct OurSegregated;

impl Allocator for OurSegregated {
    type Options = Lists;

    const KEYS: &'static [&'static str] = &[
        "index=scan|nht|bitmap",
        "coalesce=never|deferred|immediate",
        "lists=16|32|…|4096",
        "last=tree|linear",
    ];

    fn options(keys: &Keys) -> Result<Lists> {
        let finds = match keys.get("index") {
            Some("scan") => Finds::Scan,
            Some("nht") => Finds::NextHitTable,
            None | Some("bitmap") => Finds::Bitmap,
            Some(other) => bail!("index={other}: write scan, nht or bitmap"),
        };
        let merges = match keys.get("coalesce") {
            Some("never") => When::Never,
            Some("deferred") => When::Deferred,
            None | Some("immediate") => When::Immediate,
            Some(other) => bail!("coalesce={other}: write never, deferred or immediate"),
        };
        let is_tree = match keys.get("last") {
            None | Some("tree") => true,
            Some("linear") => false,
            Some(other) => bail!("last={other}: write tree or linear"),
        };
        let count = keys.number("lists")?.unwrap_or(Lists::USUAL_COUNT);
        if !count.is_power_of_two() || !(16..=4096).contains(&count) {
            bail!("lists={count}: write a power of two from 16 to 4096");
        }
        Ok(Lists {
            finds,
            merges,
            is_tree,
            count,
        })
    }

    fn run<P: Pass>(
        lists: &Lists,
        memory: &mut [MaybeUninit<u8>],
        pass: P,
    ) -> Result<P::Output, Refused> {
        Ok(pass.run(Pointers(make(*lists, memory)?)))
    }
}

/// A heap that reports what it did.
trait Counted: RawHeap {
    fn counters(&self) -> Counters;
    fn table_bytes(&self) -> usize;
}

impl<I: Index> Counted for Heap<'_, I> {
    fn counters(&self) -> Counters {
        Heap::counters(self)
    }

    fn table_bytes(&self) -> usize {
        Heap::table_bytes(self)
    }
}

/// A heap of any of these types.
pub struct AnyHeap<'m> {
    heap: Box<dyn Counted + 'm>,
    /// Bytes of its control structure. They are subtracted from the region although they are
    /// elsewhere.
    control_bytes: usize,
}

impl std::fmt::Debug for AnyHeap<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let control = self.control_bytes;
        f.debug_struct("AnyHeap")
            .field("control_bytes", &control)
            .finish_non_exhaustive()
    }
}

impl AnyHeap<'_> {
    /// What the heap did since it was made.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.heap.counters()
    }

    /// Bytes of the list heads and of the index that finds a list with a chunk.
    #[must_use]
    pub fn table_bytes(&self) -> usize {
        self.heap.table_bytes()
    }
}

type Made<'m> = Result<AnyHeap<'m>, Refused>;

/// Makes the heap of the type that the lists name.
///
/// # Errors
/// The region is too small for its table, or too large for it.
pub fn make(lists: Lists, memory: &mut [MaybeUninit<u8>]) -> Made<'_> {
    lists.choose(Over(memory))
}

/// The region of a heap to be made.
struct Over<'m>(&'m mut [MaybeUninit<u8>]);

impl<'m> Choice for Over<'m> {
    type Output = Made<'m>;

    fn of<
        L: Lookup<N> + 'static,
        C: Coalescing + 'static,
        T: LastList + 'static,
        const N: usize,
    >(
        self,
    ) -> Made<'m> {
        let memory = less_control::<SegregatedFit<'_, L, C, T, N>>(self.0)?;
        Ok(AnyHeap {
            heap: Box::new(SegregatedFit::<L, C, T, N>::new(memory)?),
            control_bytes: size_of::<SegregatedFit<'_, L, C, T, N>>().next_multiple_of(8),
        })
    }
}

// SAFETY: the contract of `RawHeap` is that of `PointerHeap`.
unsafe impl PointerHeap for AnyHeap<'_> {
    #[inline]
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        self.heap.allocate(layout)
    }

    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) {
        // SAFETY: S1 and S2 of `Subject` are those of `RawHeap::free`.
        unsafe { self.heap.free(object, layout) };
    }

    #[inline]
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        layout: Layout,
        new_layout: Layout,
    ) -> Result<NonNull<u8>, Refused> {
        // SAFETY: S1 and S2 of `Subject` are those of `RawHeap::resize`; the new layout exists, so
        // nothing overflows.
        unsafe { self.heap.resize(object, layout, new_layout.size()) }
    }

    fn usage(&self) -> Option<Usage> {
        let mut usage = self.heap.usage();
        usage.administrative_bytes += self.control_bytes;
        Some(usage)
    }

    fn check(&self) -> Result<(), Corruption> {
        self.heap.check()
    }

    fn counters(&self) -> Option<Counters> {
        Some(self.heap.counters())
    }
}
