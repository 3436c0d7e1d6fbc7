//! What a replay makes the lists do: visits, table updates, the size of the table. Counted, not timed.

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use anyhow::Result;
use surefit_core::{RawHeap, Refused};
use surefit_freelist::{
    Bitmap, Coalescing, Counters, Deferred, Immediate, LastList, Linear, Lookup, Never,
    NextHitTable, Scan, SegregatedFit, Tree, When,
};
use surefit_os::Reservation;

use super::systems::{Finds, System};
use crate::passes::replay::{Hooks, Table, replay};
use crate::sizes::HeapSize;
use crate::steps::Steps;
use crate::subject::Subject;
use crate::subjects::pointer::{PointerHeap, Pointers};

/// What one system did on one trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// What the heap counted.
    pub(super) counters: Counters,
    /// Heads of the lists, and what finds one that holds a chunk, in bytes.
    pub(super) table_bytes: u64,
    /// Allocations, and reallocations, which may be some.
    pub(super) allocations: u64,
}

impl Counts {
    /// So many of them an allocation.
    pub(super) fn per_allocation(&self, count: u64) -> f64 {
        count as f64 / self.allocations.max(1) as f64
    }

    /// Table updates an allocation.
    pub(super) fn updates(&self) -> f64 {
        self.per_allocation(self.counters.table_updates)
    }
}

/// Replays a trace in a heap of this size and counts; `None` if the heap refused a request.
///
/// # Errors
/// The operating system gives no memory.
pub(super) fn count(steps: &Steps, system: System, heap: HeapSize) -> Result<Option<Counts>> {
    let mut region = Reservation::new(heap.bytes(steps.peak_live_bytes))?;
    let memory = region.memory();
    Ok(match system.lists {
        16 => with_lists::<16>(system, steps, memory),
        64 => with_lists::<64>(system, steps, memory),
        256 => with_lists::<256>(system, steps, memory),
        1024 => with_lists::<1024>(system, steps, memory),
        4096 => with_lists::<4096>(system, steps, memory),
        other => unreachable!("{other} lists are in no comparison"),
    })
}

type Counted = Option<Counts>;

fn with_lists<const N: usize>(
    system: System,
    steps: &Steps,
    memory: &mut [MaybeUninit<u8>],
) -> Counted {
    match system.finds {
        Finds::Scan => with_lookup::<Scan, N>(system, steps, memory),
        Finds::Table => with_lookup::<NextHitTable, N>(system, steps, memory),
        Finds::Bitmap => with_lookup::<Bitmap, N>(system, steps, memory),
    }
}

fn with_lookup<L: Lookup<N>, const N: usize>(
    system: System,
    steps: &Steps,
    memory: &mut [MaybeUninit<u8>],
) -> Counted {
    match (system.merges, system.is_tree) {
        (When::Never, true) => counted::<L, Never, Tree, N>(steps, memory),
        (When::Deferred, true) => counted::<L, Deferred, Tree, N>(steps, memory),
        (When::Immediate, true) => counted::<L, Immediate, Tree, N>(steps, memory),
        (When::Never, false) => counted::<L, Never, Linear, N>(steps, memory),
        (When::Deferred, false) => counted::<L, Deferred, Linear, N>(steps, memory),
        (When::Immediate, false) => counted::<L, Immediate, Linear, N>(steps, memory),
    }
}

fn counted<L, C, T, const N: usize>(steps: &Steps, memory: &mut [MaybeUninit<u8>]) -> Counted
where
    L: Lookup<N>,
    C: Coalescing,
    T: LastList,
{
    let mut heap = SegregatedFit::<'_, L, C, T, N>::new(memory).ok()?;
    let mut objects = Table::new(steps.slots());
    let mut subject = Pointers(Borrowed(&mut heap));
    replay(&mut subject, &mut objects, steps, &mut Nothing).ok()?;
    Some(Counts {
        counters: heap.counters(),
        table_bytes: heap.table_bytes() as u64,
        allocations: steps.calls.pairs(),
    })
}

/// A replay of which only the heap's own counts are wanted.
struct Nothing;

impl<S: Subject> Hooks<S> for Nothing {}

/// A heap that is asked for its counts afterwards.
struct Borrowed<'h>(&'h mut dyn RawHeap);

// SAFETY: the contract of `RawHeap` is that of `PointerHeap`.
unsafe impl PointerHeap for Borrowed<'_> {
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        self.0.allocate(layout)
    }

    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) {
        // SAFETY: S1 and S2 of `Subject` are those of `RawHeap::free`.
        unsafe { self.0.free(object, layout) };
    }

    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        layout: Layout,
        new_layout: Layout,
    ) -> Result<NonNull<u8>, Refused> {
        // SAFETY: S1 and S2 of `Subject` are those of `RawHeap::resize`; the new layout exists, so nothing overflows.
        unsafe { self.0.resize(object, layout, new_layout.size()) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, count};
    use crate::experiment::nht::systems::{Finds, System};
    use crate::sizes::HeapSize;
    use crate::steps::Steps;
    use surefit_freelist::When;
    use surefit_trace::{Call, Event, Op, Trace};

    fn steps(ops: &[Op]) -> Steps {
        let events = ops.iter().map(|op| Event::new(0, *op)).collect();
        Steps::new(&Trace::new("t", events).expect("sound")).expect("small")
    }

    fn alloc(id: u32) -> Op {
        Op::Alloc {
            id,
            size: 40,
            call: Call::Malloc,
        }
    }

    fn counts(ops: &[Op], finds: Finds, merges: When) -> Counts {
        let heap = HeapSize::Bytes(64 << 10);
        let counts = count(&steps(ops), System::usual(finds, merges), heap);
        counts.expect("memory").expect("served")
    }

    /// An object is freed between two others, so that it is not merged, and its list fills; a next one empties it.
    #[test]
    fn a_list_that_fills_and_empties_updates_the_table_twice() {
        let ops = [alloc(0), alloc(1), alloc(2), Op::Free { id: 1 }, alloc(3)];
        for merges in [When::Never, When::Immediate] {
            let table = counts(&ops, Finds::Table, merges);
            assert_eq!(table.counters.table_updates, 2, "{merges:?}");
            assert_eq!(table.updates(), 0.5);
            let scan = counts(&ops, Finds::Scan, merges);
            assert_eq!(scan.counters.table_updates, 0);
            assert!(
                scan.counters.visits > 3 * 240,
                "three walks to the last list"
            );
            assert!(table.table_bytes > scan.table_bytes);
        }
    }

    #[test]
    fn a_heap_that_refuses_counts_nothing() {
        let system = System::usual(Finds::Table, When::Never);
        let ops = [alloc(0), alloc(1)];
        let counted = count(&steps(&ops), system, HeapSize::Bytes(1500));
        assert!(counted.expect("memory").is_none());
    }
}
