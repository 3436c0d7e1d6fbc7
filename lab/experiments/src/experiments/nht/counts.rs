//! What a replay makes the lists do: visits, table updates, the size of the table. Counted, not
//! timed.

use anyhow::Result;
use surefit_freelist::Counters;
use surefit_os::Reservation;

use surefit_clients::lists::Lists;
use surefit_measure::passes::replay::{Hooks, Table, replay};
use surefit_measure::sizes::HeapSize;
use surefit_measure::steps::Steps;
use surefit_measure::subject::Subject;
use surefit_measure::subjects::pointer::Pointers;
use surefit_measure::subjects::segregated;

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

    /// Table updates per allocation.
    pub(super) fn updates(&self) -> f64 {
        self.per_allocation(self.counters.table_updates)
    }
}

/// Replays a trace in a heap of this size and counts; `None` if the heap refused a request.
///
/// # Errors
/// The operating system gives no memory.
pub(super) fn count(steps: &Steps, system: Lists, heap: HeapSize) -> Result<Option<Counts>> {
    let mut region = Reservation::new(heap.bytes(steps.peak_live_bytes))?;
    let Ok(made) = segregated::make(system, region.memory()) else {
        return Ok(None);
    };
    let mut objects = Table::new(steps.slots());
    let mut subject = Pointers(made);
    if replay(&mut subject, &mut objects, steps, &mut Nothing).is_err() {
        return Ok(None);
    }
    Ok(Some(Counts {
        counters: subject.0.counters(),
        table_bytes: subject.0.table_bytes() as u64,
        allocations: steps.calls.pairs(),
    }))
}

/// A replay of which only the heap's own counts are wanted.
struct Nothing;

impl<S: Subject> Hooks<S> for Nothing {}

#[cfg(test)]
mod tests {
    use super::{Counts, count};
    use surefit_clients::lists::{Finds, Lists};
    use surefit_freelist::When;
    use surefit_measure::sizes::HeapSize;
    use surefit_measure::steps::Steps;
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
        let counts = count(&steps(ops), Lists::usual(finds, merges), heap);
        counts.expect("memory").expect("served")
    }

    /// An object is freed between two others, so that it is not merged, and its list fills; a next
    /// one empties it.
    #[test]
    fn a_list_that_fills_and_empties_updates_the_table_twice() {
        let ops = [alloc(0), alloc(1), alloc(2), Op::Free { id: 1 }, alloc(3)];
        for merges in [When::Never, When::Immediate] {
            let table = counts(&ops, Finds::NextHitTable, merges);
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
        let system = Lists::usual(Finds::NextHitTable, When::Never);
        let ops = [alloc(0), alloc(1)];
        let counted = count(&steps(&ops), system, HeapSize::Bytes(1500));
        assert!(counted.expect("memory").is_none());
    }
}
