//! What was counted and timed, and the gain against the heap.
#![deny(unsafe_code)]

use surefit_clients::java::Finds;
use surefit_vm::Watched;

use super::births::Births;
use super::collectors::{Kind, Measured, Timed, What};
use super::found::Found;
use super::promotions::{Promotion, Run};
use super::ratios::lookup;
use crate::kit::{Axis, Plot, Series, Table};
use crate::shared::merges::{MERGES, merges_name};
use surefit_freelist::When;
use surefit_measure::ratio::median;

/// All of them.
pub(super) fn all(found: &[Found]) -> Vec<Table> {
    let mut tables = vec![smallest(found), times(found), counts(found)];
    if found.iter().any(|one| !one.promotions.is_empty()) {
        tables.extend([nurseries(found), promotions(found)]);
    }
    if found.iter().any(|one| !one.births.is_empty()) {
        tables.push(births(found));
    }
    tables
}

fn births(found: &[Found]) -> Table {
    let title = "two generations by where objects are born; times in ms, medians of the rounds; ns: both per object";
    let all = found.iter().flat_map(|one| {
        let births = one.births.iter().filter(|births| !births.rounds.is_empty());
        births.map(move |births| (one, births))
    });
    let of = |births: &Births, of: fn(&Watched) -> u64| {
        let rounds: Vec<_> = births.rounds.iter().map(|round| of(round) as f64).collect();
        ms(&rounds)
    };
    Table::of(title, all)
        .text("program", |(one, _)| one.name.as_str())
        .figure("heap", 1, |(_, births)| births.multiple)
        .text("born in", |(_, births)| births.born.name())
        .figure("young B", 0, |(_, births)| births.young_bytes)
        .figure("allocate", 1, move |(_, births)| {
            of(births, |round| round.allocation_ns)
        })
        .figure("collect", 1, move |(_, births)| {
            of(births, |round| round.collection_ns)
        })
        .figure("ns", 1, move |(_, births)| {
            let objects = births.rounds.first()?.totals.allocations.max(1);
            Some(of(births, Watched::management_ns)? * 1e6 / objects as f64)
        })
        .figure("cycles", 0, |(_, births)| {
            births.rounds.first().map(|round| round.totals.collections)
        })
        .figure("young", 0, |(_, births)| {
            births.rounds.first().map(|round| round.minor)
        })
        .table()
}

fn smallest(found: &[Found]) -> Table {
    let all = found
        .iter()
        .flat_map(|one| one.measured.iter().map(move |measured| (one, measured)));
    Table::of("smallest heaps, collected at once", all)
        .text("program", |(one, _)| one.name.as_str())
        .text("merged", |(_, measured)| merges_name(measured.merges))
        .figure("B", 0, |(_, measured)| measured.smallest as u64)
        .table()
}

/// A program's runs that completed.
fn rows(found: &[Found]) -> impl Iterator<Item = (&Found, &Measured, &Timed)> {
    let all = found
        .iter()
        .flat_map(|one| one.measured.iter().map(move |measured| (one, measured)));
    let all = all.flat_map(|(one, measured)| {
        let timed = measured.timed.iter();
        timed.map(move |timed| (one, measured, timed))
    });
    all.filter(|(_, _, timed)| !timed.rounds.is_empty())
}

fn ms(ns: &[f64]) -> Option<f64> {
    Some(median(ns)? / 1e6)
}

fn times(found: &[Found]) -> Table {
    let title = "times in ms, medians of the rounds; walk ÷ this lookup in allocation (alloc) and heap management (all)";
    let gain = |measured: &Measured, timed: &Timed, what| {
        let pair = [Finds::Scan, timed.finds];
        median(&measured.ratio(timed.kind, pair, what, timed.multiple))
    };
    Table::of(title, rows(found))
        .text("program", |(one, ..)| one.name.as_str())
        .text("merged", |(_, measured, _)| merges_name(measured.merges))
        .figure("heap", 2, |(_, _, timed)| timed.multiple)
        .text("collector", |(_, _, timed)| timed.kind.name())
        .text("lookup", |(_, _, timed)| lookup(timed.finds))
        .figure("allocate", 1, |(_, _, timed)| {
            ms(&timed.ns(What::Allocation))
        })
        .figure("manage", 1, |(_, _, timed)| ms(&timed.ns(What::Management)))
        .figure("÷ alloc", 2, |(_, measured, timed)| {
            gain(measured, timed, What::Allocation)
        })
        .figure("÷ all", 2, |(_, measured, timed)| {
            gain(measured, timed, What::Management)
        })
        .table()
}

/// Each collector once per heap, with the table; the walk's visits beside it.
fn counts(found: &[Found]) -> Table {
    let title = "counted, with the table; per allocation: references marked, visits of the walk and of the table, updates";
    let all: Vec<_> = rows(found)
        .filter(|(_, _, timed)| timed.finds == Finds::NextHitTable)
        .collect();
    let per = |timed: &Timed, of: fn(&Watched) -> u64| {
        let round = timed.rounds.first()?;
        Some(of(round) as f64 / round.totals.allocations.max(1) as f64)
    };
    Table::of(title, all)
        .text("program", |(one, ..)| one.name.as_str())
        .text("merged", |(_, measured, _)| merges_name(measured.merges))
        .figure("heap", 2, |(_, _, timed)| timed.multiple)
        .text("collector", |(_, _, timed)| timed.kind.name())
        .figure("cycles", 0, |(_, _, timed)| {
            timed.rounds.first().map(|round| round.totals.collections)
        })
        .figure("young", 0, |(_, _, timed)| {
            timed.rounds.first().map(|round| round.minor)
        })
        .figure("forced", 0, |(_, _, timed)| {
            timed.rounds.first().map(|round| round.forced)
        })
        .figure("edges", 1, |(_, _, timed)| {
            per(timed, |round| round.totals.edges)
        })
        .figure("walk", 2, |(_, measured, timed)| {
            let walk = measured.at(timed.kind, Finds::Scan, timed.multiple)?;
            per(walk, |round| round.counters.visits)
        })
        .figure("table", 2, |(_, _, timed)| {
            per(timed, |round| round.counters.visits)
        })
        .figure("updates", 3, |(_, _, timed)| {
            per(timed, |round| round.counters.table_updates)
        })
        .table()
}

/// Every nursery of every program.
fn all_promotions(found: &[Found]) -> impl Iterator<Item = (&Found, &Promotion)> {
    let each = |one| move |promotion| (one, promotion);
    found
        .iter()
        .flat_map(move |one| one.promotions.iter().map(each(one)))
}

fn nurseries(found: &[Found]) -> Table {
    Table::of(
        "nurseries: how often they were emptied, and what survived",
        all_promotions(found),
    )
    .text("program", |(one, _)| one.name.as_str())
    .text("merged", |(_, promotion)| merges_name(promotion.merges))
    .figure("KiB", 0, |(_, promotion)| promotion.nursery >> 10)
    .figure("emptied", 0, |(_, promotion)| promotion.minors)
    .figure("born", 0, |(_, promotion)| promotion.born)
    .figure("promoted %", 1, |(_, promotion)| {
        100.0 * promotion.promoted as f64 / promotion.born.max(1) as f64
    })
    .figure("old space B", 0, |(_, promotion)| promotion.smallest as u64)
    .table()
}

fn promotions(found: &[Found]) -> Table {
    let title = "promotion, per object: visits, updates, ns (median of the rounds); cycles: collections of the old space";
    let all = all_promotions(found).flat_map(|(one, promotion)| {
        let runs = promotion.runs.iter().filter(|run| !run.rounds.is_empty());
        runs.map(move |run| (one, promotion, run))
    });
    let per = |run: &Run, of: fn(&super::promote::Promoted) -> u64| {
        let each = |round| of(round) as f64 / round.objects.max(1) as f64;
        median(&run.rounds.iter().map(each).collect::<Vec<_>>())
    };
    Table::of(title, all)
        .text("program", |(one, ..)| one.name.as_str())
        .text("merged", |(_, promotion, _)| merges_name(promotion.merges))
        .figure("KiB", 0, |(_, promotion, _)| promotion.nursery >> 10)
        .figure("heap", 2, |(_, _, run)| run.multiple)
        .text("order", |(_, _, run)| run.order.name())
        .text("lookup", |(_, _, run)| lookup(run.finds))
        .figure("visits", 2, |(_, _, run)| per(run, |round| round.visits))
        .figure("updates", 3, |(_, _, run)| per(run, |round| round.updates))
        .figure("ns", 0, |(_, _, run)| per(run, |round| round.ns))
        .figure("cycles", 0, |(_, _, run)| {
            run.rounds.first().map(|round| round.collections)
        })
        .table()
}

/// The gain in heap management time of every program, one plot for each coalescing.
pub(super) fn plots(found: &[Found]) -> Vec<Plot> {
    let all = found.iter().flat_map(|one| &one.measured);
    let measured: Vec<_> = all.map(|measured| measured.merges).collect();
    let merges = MERGES.into_iter().filter(|of| measured.contains(of));
    merges.map(|merges| plot(found, merges)).collect()
}

fn plot(found: &[Found], merges: When) -> Plot {
    let line = |kind: Kind| {
        let points = (0..).map(f64::from).zip(found);
        let points = points.filter_map(|(place, one)| Some((place, gain(one, merges, kind)?)));
        Series::new(kind.name(), points.collect::<Vec<_>>())
    };
    Plot {
        title: format!(
            "{}: walk ÷ table, heap management time",
            merges_name(merges)
        ),
        x: Axis::kinds("program", found.iter().map(|one| one.name.clone())),
        y: Axis::from_zero("walk ÷ table"),
        series: Kind::ALL.map(line).to_vec(),
    }
}

/// In the program's first heap.
fn gain(found: &Found, merges: When, kind: Kind) -> Option<f64> {
    let measured = found.measured.iter().find(|one| one.merges == merges)?;
    let &multiple = measured.multiples().first()?;
    let pair = [Finds::Scan, Finds::NextHitTable];
    median(&measured.ratio(kind, pair, What::Management, multiple))
}

#[cfg(test)]
mod tests {
    use super::super::births::tests as births;
    use super::super::collectors::tests::made;
    use super::super::promote::Order;
    use super::super::promotions::tests as promotions;
    use super::{Found, all, plots};

    #[test]
    fn every_run_and_every_run_of_promotion_has_a_row() {
        let mut found = Found {
            name: "p".to_owned(),
            measured: vec![made(|_, _| (2, 1))],
            promotions: Vec::new(),
            births: Vec::new(),
        };
        let rows = |found: &Found| {
            let tables = all(std::slice::from_ref(found));
            tables
                .iter()
                .map(|table| table.rows.len())
                .collect::<Vec<_>>()
        };
        assert_eq!(rows(&found), [1, 18, 6]);
        found.promotions = vec![promotions::made(|_, _| 1)];
        assert_eq!(rows(&found), [1, 18, 6, 1, 6 * Order::ALL.len()]);
        found.births = births::made(|_| 1);
        let counted = [1, 18, 6, 1, 6 * Order::ALL.len(), 6];
        assert_eq!(rows(&found), counted);
        let plots = plots(&[found]);
        assert_eq!(plots.len(), 1, "one coalescing was measured");
        let lines = plots[0].series.iter();
        assert_eq!(lines.map(|line| line.points.len()).sum::<usize>(), 3);
    }
}
