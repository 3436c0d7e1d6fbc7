//! The same flight on other heaps in the same RAM: who refuses first, in how few bytes it flies,
//! and how many pieces of each length can still be allocated.

use std::fmt::{self, Write};

use surefit::RawHeap;
use surefit::compact::shared::ShardedHeap;
use surefit::freelist::{FirstFit, Tlsf};

use crate::load::{GUEST, Load, PROCESSES};
use crate::memory::{Instances, Memory, with_region};
use crate::monitor::Flight;
use crate::plan::{CONFIG, Covers, Lock, Plan};
use crate::pointers::Pointers;

/// The heaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Compact-fit, with an instance for each process.
    Instances,
    /// TLSF.
    Tlsf,
    /// First fit.
    FirstFit,
}

/// Each with its name.
const KINDS: [(Kind, &str); 3] = [
    (Kind::Instances, "cf, 5 instances"),
    (Kind::Tlsf, "TLSF"),
    (Kind::FirstFit, "first fit"),
];

/// Periods of a flight.
const PERIODS: u32 = 10_000;

/// Moments of the flight at which pieces are counted, and their lengths.
const MOMENTS: u32 = 10;
const LENGTHS: [usize; 4] = [16, 64, 256, 1000];

/// What is done with the memory of a flight, whatever the heap is.
trait Visit {
    type Result;

    fn visit<M: Memory>(self, memory: M) -> Self::Result;
}

/// Visits a heap in a region of so many bytes; `None` if it has no room for itself there.
fn on<V: Visit>(kind: Kind, bytes: usize, load: &Load, visit: V) -> Option<V::Result> {
    fn pointers<V: Visit>(heap: impl RawHeap, load: &Load, visit: V) -> V::Result {
        visit.visit(Pointers::new(heap, load))
    }
    with_region(bytes, |memory| match kind {
        Kind::Instances => {
            let heap = ShardedHeap::<Lock, Covers>::new(memory, &CONFIG, PROCESSES as u16).ok()?;
            Some(visit.visit(Instances::new(&heap, load).ok()?))
        }
        Kind::Tlsf => Some(pointers(Tlsf::new(memory).ok()?, load, visit)),
        Kind::FirstFit => Some(pointers(FirstFit::new(memory).ok()?, load, visit)),
    })
}

/// Flies until a process is refused that keeps to its demand.
struct UntilRefused<'l>(&'l Load);

impl Visit for UntilRefused<'_> {
    type Result = Option<u32>;

    fn visit<M: Memory>(self, memory: M) -> Option<u32> {
        let mut flight = Flight::new(self.0, memory, true);
        (0..PERIODS).find(|_| {
            flight.fly();
            let kept = &flight.accounts[..GUEST];
            flight.figures.denied > 0 || kept.iter().any(|account| account.refused > 0)
        })
    }
}

/// Flies so many periods, and counts how many objects of a length can be allocated then.
struct Pieces<'l> {
    load: &'l Load,
    periods: u32,
    len: usize,
}

impl Visit for Pieces<'_> {
    type Result = usize;

    fn visit<M: Memory>(self, memory: M) -> usize {
        let mut flight = Flight::new(self.load, memory, true);
        (0..self.periods).for_each(|_| flight.fly());
        let memory = &mut flight.memory;
        memory.unlimit(GUEST);
        std::iter::from_fn(|| memory.allocate(GUEST, self.len).ok()).count()
    }
}

/// The first period in which a process that keeps to its demand is refused, in so many bytes;
/// `None` if there is none. A heap without room for itself refuses in the first.
pub fn refused(kind: Kind, bytes: usize, load: &Load) -> Option<u32> {
    on(kind, bytes, load, UntilRefused(load)).unwrap_or(Some(0))
}

/// The fewest KiB in which nobody is refused who keeps to his demand.
fn least_kib(kind: Kind, load: &Load) -> usize {
    let (mut refuses, mut serves) = (0, load.ram as usize >> 10);
    while serves - refuses > 1 {
        let middle = refuses.midpoint(serves);
        match refused(kind, middle << 10, load) {
            Some(_) => refuses = middle,
            None => serves = middle,
        }
    }
    serves
}

/// Compares the heaps in the region of the plan.
///
/// # Errors
/// If `out` cannot be written.
pub fn compare(out: &mut dyn Write, load: &Load, plan: &Plan) -> fmt::Result {
    let bytes = plan.region_bytes - 1;
    writeln!(
        out,
        "{PERIODS} periods in {bytes} B; pieces that can still be allocated, at the worst of {MOMENTS} moments\n\
         heap             first refusal  least KiB   of 16 B  of 64 B  of 256 B  of 1000 B"
    )?;
    for (kind, name) in KINDS {
        let first = refused(kind, bytes, load);
        let first = first.map_or("none".to_owned(), |period| period.to_string());
        write!(out, "{name:<16} {first:>13} {:>10}", least_kib(kind, load))?;
        for (len, width) in LENGTHS.into_iter().zip([9, 8, 9, 10]) {
            let moments = (1..=MOMENTS).map(|moment| moment * (PERIODS / MOMENTS));
            let pieces = moments.filter_map(|periods| {
                let pieces = Pieces { load, periods, len };
                on(kind, bytes, load, pieces)
            });
            let least = pieces.min().unwrap_or(0);
            write!(out, " {least:>width$}")?;
        }
        writeln!(out)?;
    }
    writeln!(out, "pools, one for each process: {} B", plan.pool_bytes)
}
