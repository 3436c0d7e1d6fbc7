//! The same flight on other heaps in the same RAM: who refuses first, in how few bytes it flies,
//! and how many pieces of each length can still be allocated.

use std::fmt::{self, Write};

use crate::kinds::{Kind, Visit, on, with_regions};
use crate::load::{GUEST, Load, NAMES, PROCESSES};
use crate::memory::Memory;
use crate::monitor::Flight;
use crate::plan::Plan;

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

/// Pieces of each length that each process can allocate within its quota; in the last row those
/// that can be allocated without a quota.
type Pieces = [[usize; LENGTHS.len()]; PROCESSES + 1];

/// Flies so many periods, and counts pieces then.
struct Counted<'l>(&'l Load, u32);

impl Visit for Counted<'_> {
    type Result = Pieces;

    fn visit<M: Memory>(self, memory: M) -> Pieces {
        let Self(load, periods) = self;
        let mut flight = Flight::new(load, memory, true);
        (0..periods).for_each(|_| flight.fly());
        let memory = &mut flight.memory;
        let mut pieces = Pieces::default();
        for (row, counts) in pieces.iter_mut().enumerate() {
            let process = row.min(GUEST);
            if row == PROCESSES {
                memory.unlimit(GUEST);
            }
            for (count, len) in counts.iter_mut().zip(LENGTHS) {
                let objects = std::iter::from_fn(|| memory.allocate(process, len).ok());
                let objects: Vec<_> = objects.collect();
                *count = objects.len();
                let free = |object| memory.free(process, object);
                objects.into_iter().for_each(free);
            }
        }
        pieces
    }
}

/// The fewest pieces of each kind, at any of the moments.
fn pieces(kind: Kind, bytes: usize, load: &Load) -> Pieces {
    let moments = (1..=MOMENTS).map(|moment| moment * (PERIODS / MOMENTS));
    let counted = moments.filter_map(|periods| {
        with_regions(bytes, |regions| {
            on(kind, regions, load, Counted(load, periods))
        })
    });
    let least = counted.reduce(|mut least, other| {
        let pairs = least.iter_mut().flatten().zip(other.iter().flatten());
        pairs.for_each(|(least, &other)| *least = other.min(*least));
        least
    });
    least.unwrap_or_default()
}

/// The first period in which a process that keeps to its demand is refused, in so many bytes;
/// `None` if there is none. A heap without room for itself refuses in the first.
pub fn refused(kind: Kind, bytes: usize, load: &Load) -> Option<u32> {
    with_regions(bytes, |regions| on(kind, regions, load, UntilRefused(load))).unwrap_or(Some(0))
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
        "{PERIODS} periods in {bytes} B; pieces that can still be allocated, at the worst of {MOMENTS} moments"
    )?;
    for (kind, name) in KINDS {
        let first = refused(kind, bytes, load);
        let first = first.map_or("none".to_owned(), |period| period.to_string());
        let least = least_kib(kind, load);
        writeln!(
            out,
            "{name}: first refusal {first}, least RAM without one {least} KiB"
        )?;
        writeln!(out, "  within its quota   16 B   64 B  256 B 1000 B")?;
        let names = NAMES.into_iter().chain(["without quotas"]);
        for (name, [a, b, c, d]) in names.zip(pieces(kind, bytes, load)) {
            writeln!(out, "  {name:<16} {a:>6} {b:>6} {c:>6} {d:>6}")?;
        }
    }
    writeln!(out, "pools, one for each process: {} B", plan.pool_bytes)
}
