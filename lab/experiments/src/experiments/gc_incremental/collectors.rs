//! All collectors and lookups in heaps of all sizes, in interleaved rounds.
#![deny(unsafe_code)]

use anyhow::{Context, Result, bail};
use surefit_clients::java::{Finds, Lists};
use surefit_freelist::When;
use surefit_os::Reservation;
use surefit_vm::{Collecting, Space, Watched, Watching};

use super::pace::{LATE, in_steps, two_generations};
use super::plan::Plan;
use super::ratios::{geometric_mean, over};
use crate::shared::thesis::heaps::least;
use crate::shared::thesis::java::Java;

/// A collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    AtOnce,
    InSteps,
    TwoGenerations,
}

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::AtOnce, Self::InSteps, Self::TwoGenerations];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::AtOnce => "at once",
            Self::InSteps => "in steps",
            Self::TwoGenerations => "generations",
        }
    }
}

/// Which time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Allocation,
    Management,
}

/// A collector with a lookup in one heap.
#[derive(Clone, Debug)]
pub(super) struct Timed {
    pub(super) kind: Kind,
    pub(super) finds: Finds,
    pub(super) multiple: f64,
    /// Round by round; none if the program did not complete. Only their times differ.
    pub(super) rounds: Vec<Watched>,
}

impl Timed {
    /// Nanoseconds, round by round.
    pub(super) fn ns(&self, what: What) -> Vec<f64> {
        let ns = |round: &Watched| match what {
            What::Allocation => round.allocation_ns as f64,
            What::Management => round.management_ns() as f64,
        };
        self.rounds.iter().map(ns).collect()
    }

    fn collects(&self) -> bool {
        self.rounds
            .first()
            .is_some_and(|round| round.totals.collections > 0)
    }
}

/// A program with one coalescing.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) merges: When,
    /// Bytes of the smallest heap.
    pub(super) smallest: usize,
    pub(super) timed: Vec<Timed>,
}

impl Measured {
    /// A collector with a lookup in one heap.
    pub(super) fn at(&self, kind: Kind, finds: Finds, multiple: f64) -> Option<&Timed> {
        self.timed
            .iter()
            .find(|one| (one.kind, one.finds, one.multiple) == (kind, finds, multiple))
    }

    /// The heaps, in ascending order.
    pub(super) fn multiples(&self) -> Vec<f64> {
        let mut all: Vec<f64> = self.timed.iter().map(|one| one.multiple).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    /// One lookup's time over another's in one heap, round by round; none where either did not
    /// complete or did not collect.
    pub(super) fn ratio(
        &self,
        kind: Kind,
        [own, base]: [Finds; 2],
        what: What,
        multiple: f64,
    ) -> Vec<f64> {
        let ns = |finds| {
            let one = self.at(kind, finds, multiple);
            one.filter(|one| one.collects())
                .map_or_else(Vec::new, |one| one.ns(what))
        };
        over(&ns(own), &ns(base))
    }

    /// The same over all heaps.
    pub(super) fn over(&self, kind: Kind, pair: [Finds; 2], what: What) -> Vec<f64> {
        let heaps = self.multiples().into_iter();
        let ratios: Vec<_> = heaps
            .map(|multiple| self.ratio(kind, pair, what, multiple))
            .collect();
        geometric_mean(&ratios)
    }

    /// Something that was counted with a lookup, per allocation, on average over the heaps in which
    /// it collected.
    pub(super) fn counted(
        &self,
        kind: Kind,
        finds: Finds,
        of: impl Fn(&Watched) -> u64,
    ) -> Option<f64> {
        let of_kind = |one: &&Timed| one.kind == kind && one.finds == finds && one.collects();
        let all = self.timed.iter().filter(of_kind);
        let each: Vec<f64> = all
            .filter_map(|one| one.rounds.first())
            .map(|round| of(round) as f64 / round.totals.allocations.max(1) as f64)
            .collect();
        (!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64)
    }
}

/// One run over lists of the thesis's usual number, with a tree as the last one and another place
/// for large objects.
///
/// # Errors
/// The system gives no memory.
fn run(
    java: &Java,
    lists: Lists,
    collecting: Collecting,
    clocked: bool,
    region: &mut Reservation,
) -> Result<Option<Watched>> {
    let watching = Watching {
        clocked,
        ..Watching::default()
    };
    let space = Space::Segregated(lists);
    java.watched(
        &space,
        collecting,
        watching.with_two_ends(),
        region.memory(),
    )
}

/// Measures a program with one coalescing.
///
/// # Errors
/// The system gives no memory; no heap is large enough.
pub(super) fn measure(java: &Java, merges: When, plan: &Plan) -> Result<Measured> {
    let table = Lists::usual(Finds::NextHitTable, merges);
    let found = least(|bytes| {
        let mut region = Reservation::new(bytes)?;
        Ok(run(java, table, Collecting::AtOnce, false, &mut region)?.is_some())
    })?;
    let found = found.with_context(|| format!("{}: completes in no heap", java.name))?;
    let mut measured = Measured {
        merges,
        smallest: found,
        timed: Vec::new(),
    };
    let smallest = smallest_late(java, table, found)?;
    for &multiple in &plan.multiples {
        let bytes = (multiple * found as f64) as usize;
        if let Some(heap) = late(java, table, bytes)? {
            let timed = in_heap(java, merges, bytes, (&smallest, &heap), plan.rounds)?;
            let timed = timed.into_iter().map(|one| Timed { multiple, ..one });
            measured.timed.extend(timed);
        }
    }
    Ok(measured)
}

/// What the smallest heap holds, or one that is a little larger: freed one by one, chunks lie
/// elsewhere in the lists than after a sweep, and the smallest may be too small then.
fn smallest_late(java: &Java, lists: Lists, smallest: usize) -> Result<Watched> {
    for more in [0, 5, 10, 20] {
        let found = late(java, lists, smallest + smallest / 100 * more)?;
        if let Some(watched) = found {
            return Ok(watched);
        }
    }
    bail!("{}: does not complete in steps", java.name)
}

/// What a heap holds, and what a cycle works there.
fn late(java: &Java, lists: Lists, bytes: usize) -> Result<Option<Watched>> {
    run(java, lists, LATE, false, &mut Reservation::new(bytes)?)
}

/// All collectors and lookups in one heap, in interleaved rounds.
fn in_heap(
    java: &Java,
    merges: When,
    bytes: usize,
    (smallest, heap): (&Watched, &Watched),
    rounds: u32,
) -> Result<Vec<Timed>> {
    let mut region = Reservation::new(bytes)?;
    region.fault_in();
    let all = Kind::ALL
        .into_iter()
        .flat_map(|kind| Finds::ALL.map(|finds| (kind, finds)));
    let start = |(kind, finds)| Timed {
        kind,
        finds,
        multiple: 1.0,
        rounds: Vec::new(),
    };
    let mut timed: Vec<Timed> = all.map(start).collect();
    for _ in 0..rounds {
        for one in &mut timed {
            let how = match one.kind {
                Kind::AtOnce => Collecting::AtOnce,
                Kind::InSteps => in_steps(smallest, heap),
                Kind::TwoGenerations => two_generations(smallest, heap),
            };
            let lists = Lists::usual(one.finds, merges);
            one.rounds.extend(run(java, lists, how, true, &mut region)?);
        }
    }
    Ok(timed)
}

#[cfg(test)]
pub(super) mod tests {
    use surefit_clients::java::Finds;
    use surefit_freelist::When;
    use surefit_vm::Watched;

    use super::{Kind, Measured, Timed, What};

    /// Two heaps and three rounds of made-up times: nanoseconds of allocation and of collection.
    pub(crate) fn made(of: impl Fn(Kind, Finds) -> (u64, u64)) -> Measured {
        let all = Kind::ALL
            .into_iter()
            .flat_map(|kind| Finds::ALL.map(|finds| (kind, finds)));
        let timed = all.flat_map(|(kind, finds)| {
            let (allocation_ns, collection_ns) = of(kind, finds);
            let mut round = Watched {
                allocation_ns,
                collection_ns,
                ..Watched::default()
            };
            round.totals.collections = 2;
            round.totals.allocations = 100;
            [1.25, 2.0].map(|multiple| Timed {
                kind,
                finds,
                multiple,
                rounds: vec![round.clone(); 3],
            })
        });
        Measured {
            merges: When::Immediate,
            smallest: 1000,
            timed: timed.collect(),
        }
    }

    #[test]
    fn ratios_are_of_the_same_round_and_heap() {
        let pair = [Finds::Scan, Finds::NextHitTable];
        let mut measured = made(|_, finds| (if finds == Finds::Scan { 200 } else { 100 }, 100));
        let over = |measured: &Measured, what| measured.over(Kind::InSteps, pair, what);
        assert_eq!(over(&measured, What::Management), [1.5; 3]);
        let lone = |one: &&mut Timed| one.kind == Kind::InSteps && one.multiple == 2.0;
        for one in measured.timed.iter_mut().filter(lone) {
            one.rounds[0].totals.collections = 0;
            one.rounds[1].allocation_ns = 1;
        }
        let near = |ratio: &f64| (ratio - 2.0).abs() < 1e-9;
        assert!(over(&measured, What::Allocation).iter().all(near));
    }

    #[test]
    fn what_is_counted_is_per_allocation() {
        let mut measured = made(|_, _| (1, 1));
        measured.timed[0].rounds[0].counters.visits = 400;
        let visits = |finds| measured.counted(Kind::AtOnce, finds, |round| round.counters.visits);
        assert_eq!(visits(Finds::Scan), Some(2.0));
        assert_eq!(visits(Finds::Bitmap), Some(0.0));
    }
}
