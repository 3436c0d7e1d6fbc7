//! `surefit experiment pin`: what an access to a shared object costs beside an uncontended lock.
//!
//! ```text
//! per round, interleaved:  pin + read + unpin · lock + read + unlock · pin_mut + write + unpin · Heap::get
//! ```
//! One thread. The empty loop's time is subtracted from all of them.

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::time::Instant;

use anyhow::{Result, anyhow};
use parking_lot::{Mutex, RawMutex};
use surefit_compact::shared::{SharedConfig, SharedHeap};
use surefit_compact::{Config, Heap};

use crate::kit::{Claim, Entry, Report, Request, Table};
use crate::shared::threads::figures;
use surefit_measure::ratio::Ratio;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "pin",
    about: "An access to a shared object beside an uncontended lock",
    takes_traces: false,
    takes_rounds: true,
    run,
};

/// At most so many times the time of the lock.
const GOAL: f64 = 2.0;

/// What is timed.
const WAYS: [&str; 4] = [
    "pin + read + unpin",
    "lock + read + unlock",
    "pin_mut + write + unpin",
    "get (one owner, no atomics)",
];

fn run(request: &Request) -> Result<Report> {
    let rounds = request.rounds_or(31);
    let count = if request.quick { 20_000 } else { 1_000_000 };
    let times = time(rounds, count)?;
    let mut report = Report::new(ENTRY.name, ENTRY.about, "ours", request.quick);
    report.setting.push(format!(
        "{rounds} interleaved rounds of {count} accesses by one thread; parking_lot's mutex; the empty loop is subtracted."
    ));
    let table = Table::of(
        "one access",
        WAYS.into_iter().enumerate().map(|(way, name)| {
            let ratio = spread(times.iter().map(|round| round[way] / round[1]));
            let ns = spread(times.iter().map(|round| round[way]));
            (way, name, ratio, ns)
        }),
    )
    .text("access", |(_, name, _, _)| *name)
    .figure("ns", 2, |(_, _, _, ns)| ns.median)
    .figure("÷ lock", 2, |(_, _, ratio, _)| ratio.median)
    .figure("min", 2, |(_, _, ratio, _)| ratio.min)
    .figure("max", 2, |(_, _, ratio, _)| ratio.max)
    .table();

    let ratio = spread(times.iter().map(|round| round[0] / round[1]));
    report.claims.push(
        Claim::that("An uncontended pin, read and unpin costs at most twice a lock and unlock")
            .papers("none: the papers' access races with moves")
            .ours(ratio.to_string())
            .decide(
                ratio.median <= GOAL,
                format!("the median of the rounds' ratios is at most {GOAL}"),
            ),
    );
    report.notes.push(
        "Two atomic read-modify-writes each; the lock's second one may be a compare-exchange that fails under contention, \
         the pin's never does. Instructions are counted by `cargo bench -p surefit-compact --bench shared`."
            .to_owned(),
    );
    report.tables.push(table);
    Ok(report)
}

/// Median, least and greatest over the rounds.
fn spread(values: impl Iterator<Item = f64>) -> Ratio {
    figures::spread(&values.collect::<Vec<_>>())
}

/// Nanoseconds of each way, round by round.
fn time(rounds: u32, count: u32) -> Result<Vec<[f64; WAYS.len()]>> {
    let (shared, single) = (SharedConfig::new(Config::DEFAULT), Config::DEFAULT);
    let mut memory = [region(), region()];
    let [first, second] = &mut memory;
    let refused = |refused| anyhow!("the heap cannot be made: {refused}");
    let heap: SharedHeap<'_, RawMutex> = SharedHeap::new(first, &shared).map_err(refused)?;
    let local = heap.register().map_err(refused)?;
    let mut handle = local.insert(7_u64).map_err(|full| refused(full.refused))?;
    let owned: Heap = Heap::new(second, &single).map_err(refused)?;
    let owned_handle = owned.insert(7_u64).map_err(|full| refused(full.refused))?;
    let mutex = Mutex::new(7_u64);
    let mut times = Vec::new();
    for _ in 0..rounds {
        let empty = per_access(count, || {});
        let pin = per_access(count, || {
            let pinned = black_box(&heap).pin(black_box(&handle));
            black_box(pinned.as_deref().copied().unwrap_or_default());
        });
        let lock = per_access(count, || {
            black_box(*black_box(&mutex).lock());
        });
        let write = per_access(count, || {
            if let Ok(mut pinned) = black_box(&heap).pin_mut(black_box(&mut handle)) {
                *pinned = black_box(8);
            }
        });
        let get = per_access(count, || {
            black_box(*black_box(&owned).get(black_box(&owned_handle)));
        });
        times.push([pin, lock, write, get].map(|ns| (ns - empty).max(f64::MIN_POSITIVE)));
    }
    Ok(times)
}

fn region() -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::new(0); 2 << 20]
}

fn per_access(count: u32, mut access: impl FnMut()) -> f64 {
    let start = Instant::now();
    for i in 0..count {
        black_box(i);
        access();
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(count)
}
