//! All lookups and orders of promotion, in interleaved rounds.
#![deny(unsafe_code)]

use anyhow::{Context, Result};
use surefit_clients::java::{Finds, Lists, MinHeap, least_heap};
use surefit_freelist::When;
use surefit_os::Reservation;
use surefit_vm::{Collecting, Promotions, Space, Watching};

use super::plan::Plan;
use super::promote::{Order, Promoted, promote};
use super::ratios::{geometric_mean, over};
use crate::shared::thesis::java::Java;
use surefit_measure::collector::graphs::Region;

/// The heap in which programs run to find what a nursery promotes.
const RUN_BYTES: usize = 64 << 20;

/// A program with one nursery.
#[derive(Debug)]
pub(super) struct Promotion {
    /// Bytes of the nursery.
    pub(super) nursery: u32,
    pub(super) merges: When,
    /// Bytes of the smallest old space.
    pub(super) smallest: usize,
    /// Times that the nursery was emptied.
    pub(super) minors: u64,
    /// Objects born in it.
    pub(super) born: u64,
    /// Objects that were promoted.
    pub(super) promoted: u64,
    pub(super) runs: Vec<Run>,
}

/// A lookup and an order in an old space of one size.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) finds: Finds,
    pub(super) order: Order,
    pub(super) multiple: f64,
    /// Round by round; only their times differ.
    pub(super) rounds: Vec<Promoted>,
}

impl Run {
    fn ns(&self) -> Vec<f64> {
        self.rounds.iter().map(|round| round.ns as f64).collect()
    }
}

impl Promotion {
    /// One run's time over another's, round by round, over all old spaces.
    pub(super) fn over(&self, own: (Finds, Order), base: (Finds, Order)) -> Vec<f64> {
        let of = |(finds, order): (Finds, Order)| {
            let is_wanted = move |run: &&Run| run.finds == finds && run.order == order;
            self.runs.iter().filter(is_wanted)
        };
        let pairs = of(own).zip(of(base));
        let ratios: Vec<_> = pairs
            .map(|(own, base)| over(&own.ns(), &base.ns()))
            .collect();
        geometric_mean(&ratios)
    }
}

/// Measures a program with one nursery, for each coalescing.
///
/// # Errors
/// The system gives no memory.
pub(super) fn measure(java: &Java, nursery: u32, plan: &Plan) -> Result<Vec<Promotion>> {
    let script = script(java, nursery)?;
    let mut all = Vec::new();
    for &merges in &plan.merges {
        let table = Lists::usual(Finds::NextHitTable, merges);
        let memory = |bytes: usize| Region::new(bytes).ok();
        let found = least_heap(
            script.most_old_bytes,
            MinHeap::open_bytes,
            memory,
            |region| {
                let promoted = Order::ALL.map(|order| promote(table, &script, region, order));
                promoted.iter().all(Option::is_some)
            },
        );
        let Some(found) = found else { continue };
        let mut promotion = Promotion {
            nursery,
            merges,
            smallest: found.bytes,
            minors: script.minors.len() as u64,
            born: script.born,
            promoted: script.promoted(),
            runs: Vec::new(),
        };
        for &multiple in &plan.multiples {
            let bytes = (multiple * found.bytes as f64) as usize;
            let runs = in_heap(&script, merges, bytes, plan.rounds)?;
            let runs = runs.into_iter().map(|run| Run { multiple, ..run });
            promotion.runs.extend(runs);
        }
        all.push(promotion);
    }
    Ok(all)
}

/// What a nursery of so many bytes promotes while the program runs, in a heap in which it is full
/// before there is no room.
fn script(java: &Java, nursery: u32) -> Result<Promotions> {
    let lists = Lists::usual(Finds::Bitmap, When::Immediate);
    let watching = Watching {
        nursery,
        ..Watching::default()
    };
    let mut region = Reservation::new(RUN_BYTES)?;
    let watched = java.watched(
        &Space::Segregated(lists),
        Collecting::AtOnce,
        watching.with_two_ends(),
        region.memory(),
    )?;
    let watched = watched.with_context(|| format!("{}: no room in 64 MiB", java.name))?;
    Ok(watched.promotions)
}

/// All lookups and orders in one old space.
fn in_heap(script: &Promotions, merges: When, bytes: usize, rounds: u32) -> Result<Vec<Run>> {
    let mut region = Reservation::new(bytes)?;
    region.fault_in();
    let all = Order::ALL
        .into_iter()
        .flat_map(|order| Finds::ALL.map(|finds| (finds, order)));
    let start = |(finds, order)| Run {
        finds,
        order,
        multiple: 1.0,
        rounds: Vec::new(),
    };
    let mut runs: Vec<Run> = all.map(start).collect();
    for _ in 0..rounds {
        for run in &mut runs {
            let lists = Lists::usual(run.finds, merges);
            let promoted = promote(lists, script, region.memory(), run.order);
            run.rounds.extend(promoted);
        }
    }
    Ok(runs)
}

#[cfg(test)]
pub(super) mod tests {
    use surefit_clients::java::Finds;
    use surefit_freelist::When;

    use super::{Order, Promoted, Promotion, Run};

    /// Two old spaces and three rounds of made-up nanoseconds.
    pub(crate) fn made(of: impl Fn(Finds, Order) -> u64) -> Promotion {
        let all = Order::ALL
            .into_iter()
            .flat_map(|order| Finds::ALL.map(|finds| (finds, order)));
        let runs = all.flat_map(|(finds, order)| {
            let round = Promoted {
                objects: 10,
                collections: 1,
                ns: of(finds, order),
                ..Promoted::default()
            };
            [1.25, 2.0].map(|multiple| Run {
                finds,
                order,
                multiple,
                rounds: vec![round; 3],
            })
        });
        Promotion {
            nursery: 65536,
            merges: When::Immediate,
            smallest: 1000,
            minors: 5,
            born: 100,
            promoted: 10,
            runs: runs.collect(),
        }
    }

    #[test]
    fn ratios_are_over_all_old_spaces_in_which_both_complete() {
        let mut promotion = made(|finds, _| if finds == Finds::Scan { 300 } else { 100 });
        let own = (Finds::Scan, Order::Allocated);
        let base = (Finds::NextHitTable, Order::Allocated);
        let near = |ratios: Vec<f64>| {
            ratios.len() == 3 && ratios.iter().all(|ratio| (ratio - 3.0).abs() < 1e-9)
        };
        assert!(near(promotion.over(own, base)));
        for run in promotion.runs.iter_mut().filter(|run| run.multiple == 2.0) {
            run.rounds.clear();
        }
        assert!(near(promotion.over(own, base)));
        promotion.runs.clear();
        assert_eq!(promotion.over(own, base), Vec::<f64>::new());
    }
}
