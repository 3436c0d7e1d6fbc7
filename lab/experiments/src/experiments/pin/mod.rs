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

use crate::kit::{Claim, Entry, Report, Request, Table, Verdict};
use surefit_measure::ratio::{Ratio, median};

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

/// The place of the lock in [`WAYS`].
const LOCK: usize = 1;

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
    let table = Table::of("one access", WAYS.into_iter().enumerate())
        .text("access", |(_, name)| *name)
        .figure("ns", 2, |(way, _)| {
            let ns: Vec<_> = times.iter().map(|round| round[*way]).collect();
            median(&ns)
        })
        .ratios("÷ lock", 2, |(way, _)| to_lock(&times, *way))
        .table();
    report.claims.push(costs_at_most_twice(to_lock(&times, 0)));
    report.notes.push(
        "Two atomic read-modify-writes each; the lock's second one may be a compare-exchange that fails under contention, \
         the pin's never does. Instructions are counted by `cargo bench -p surefit-compact --bench shared`."
            .to_owned(),
    );
    report.tables.push(table);
    Ok(report)
}

/// Whether a pin reaches the goal beside a lock.
fn costs_at_most_twice(ratio: Option<Ratio>) -> Claim {
    Claim::that("An uncontended pin, read and unpin costs at most twice a lock and unlock")
        .ours_alone()
        .papers("none: the papers' access races with moves")
        .measured(ratio)
        .decide(
            ratio.and_then(|ratio| Verdict::reaches(ratio.inverse(), 1.0 / GOAL)),
            format!(
                "at most {GOAL} times the lock's time in every round holds, more in every round does \
                 not; not comparable if rounds disagree, or if one is not longer than the empty loop"
            ),
        )
}

/// The time of a way ÷ that of the lock, round by round; `None` if a round took no longer than the
/// empty loop.
fn to_lock(times: &[[f64; WAYS.len()]], way: usize) -> Option<Ratio> {
    let is_measured = |round: &[f64; WAYS.len()]| round[way] > 0.0 && round[LOCK] > 0.0;
    let ratios: Vec<_> = times.iter().map(|round| round[way] / round[LOCK]).collect();
    Ratio::of(&ratios).filter(|_| times.iter().all(is_measured))
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
        times.push([pin, lock, write, get].map(|ns| ns - empty));
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

#[cfg(test)]
mod tests {
    use super::{LOCK, costs_at_most_twice, to_lock};
    use crate::kit::Verdict;

    #[test]
    fn rounds_that_agree_decide() {
        let verdict = |pins: [f64; 2]| {
            let times = pins.map(|pin| [pin, 10.0, 1.0, 1.0]);
            costs_at_most_twice(to_lock(&times, 0)).verdict
        };
        assert_eq!(verdict([20.0, 15.0]), Verdict::Holds);
        assert_eq!(verdict([21.0, 25.0]), Verdict::DoesNot);
        assert_eq!(verdict([15.0, 25.0]), Verdict::NotComparable);
        assert_eq!(verdict([15.0, -1.0]), Verdict::NotComparable, "noise");
    }

    #[test]
    fn the_lock_costs_itself() {
        let ratio = to_lock(&[[3.0, 7.0, 1.0, 1.0]], LOCK).expect("measured");
        assert!((ratio.median - 1.0).abs() < 1e-9);
    }
}
