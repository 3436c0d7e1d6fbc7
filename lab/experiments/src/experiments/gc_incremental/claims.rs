//! The claims, each over all programs and kinds of coalescing.
#![deny(unsafe_code)]

use surefit_clients::java::Finds;

use super::births::{Born, over_nursery};
use super::collectors::{Kind, Measured, What};
use super::found::Found;
use super::promote::Order;
use super::promotions::Promotion;
use super::ratios::{geometric_mean, lookup, over};
use crate::kit::{Claim, OnProgram, Verdict};
use crate::shared::merges::merges_name;
use surefit_measure::results::Ratio;

/// The walk's time over the table's.
const GAIN: [Finds; 2] = [Finds::Scan, Finds::NextHitTable];

/// All of them.
pub(super) fn all(found: &[Found]) -> Vec<Claim> {
    let mut claims = vec![
        allocates_faster(found, Kind::InSteps),
        allocates_faster(found, Kind::TwoGenerations),
        gains_less(found, Kind::InSteps),
        gains_less(found, Kind::TwoGenerations),
        updates_more(found),
        bitmap_is_as_good(found),
    ];
    claims.extend([Finds::Scan, Finds::Bitmap].map(|base| promotion_pays(found, base)));
    claims.extend([Order::Rising, Order::Falling].map(|order| order_pays(found, order)));
    claims.extend([Born::CompactFit, Born::Lists].map(|base| nursery_pays(found, base)));
    claims
}

fn nursery_pays(found: &[Found], base: Born) -> Claim {
    let on = |one: &Found| {
        let rounds = over_nursery(&one.births, base);
        let verdict = Ratio::of(&rounds).and_then(Verdict::is_greater);
        OnProgram::timed(one.name.clone(), verdict, &rounds)
    };
    let found = found.iter();
    Claim::that(format!("a nursery pays, beside: {}", base.name()))
        .ours_alone()
        .papers("none: ours")
        .ours(format!("{} ÷ nursery, heap management time", base.name()))
        .over(
            found.filter(|one| !one.births.is_empty()).map(on).collect::<Vec<_>>(),
            "by over 3 % in every round, over all heaps in which both complete; nothing is decided if rounds disagree",
        )
}

/// What each program says with each coalescing: ratios round by round, and the test of them.
fn on_each(
    found: &[Found],
    rounds: impl Fn(&Measured) -> Vec<f64>,
    test: impl Fn(Ratio) -> Option<bool>,
) -> Vec<OnProgram> {
    let all = found
        .iter()
        .flat_map(|one| one.measured.iter().map(move |measured| (one, measured)));
    let on = |(one, measured): (&Found, &Measured)| {
        let rounds = rounds(measured);
        let name = format!("{} {}", one.name, merges_name(measured.merges));
        OnProgram::timed(name, Ratio::of(&rounds).and_then(&test), &rounds)
    };
    all.map(on).collect()
}

/// The same of each nursery.
fn on_nursery(
    found: &[Found],
    rounds: impl Fn(&Promotion) -> Vec<f64>,
    test: impl Fn(Ratio) -> Option<bool>,
) -> Vec<OnProgram> {
    let all = found
        .iter()
        .flat_map(|one| one.promotions.iter().map(move |promotion| (one, promotion)));
    let on = |(one, promotion): (&Found, &Promotion)| {
        let rounds = rounds(promotion);
        let merges = merges_name(promotion.merges);
        let name = format!("{} {merges} {} KiB", one.name, promotion.nursery >> 10);
        OnProgram::timed(name, Ratio::of(&rounds).and_then(&test), &rounds)
    };
    all.map(on).collect()
}

fn allocates_faster(found: &[Found], kind: Kind) -> Claim {
    let of = |one: &Measured| one.over(kind, GAIN, What::Allocation);
    Claim::that(format!(
        "the table speeds allocation, collector: {}",
        kind.name()
    ))
    .ours_alone()
    .papers("faster, at once: figure 4-8")
    .ours("walk ÷ table, allocation time")
    .over(
        on_each(found, of, Verdict::is_greater),
        "by over 3 % in every round, over all heaps in which it collects; nothing is decided if rounds disagree",
    )
}

/// The gain in heap management time at once over that of another collector.
fn gains(measured: &Measured, kind: Kind) -> Vec<f64> {
    let gain = |kind| measured.over(kind, GAIN, What::Management);
    over(&gain(Kind::AtOnce), &gain(kind))
}

fn gains_less(found: &[Found], kind: Kind) -> Claim {
    let claim = Claim::that(format!(
        "heap management gains less by the table than at once, collector: {}",
        kind.name()
    ));
    let claim = match kind {
        Kind::InSteps => claim.of("incremental collector").papers("less: predicted"),
        _ => claim.ours_alone().papers("none: ours"),
    };
    claim.ours("gain at once ÷ gain here; gain: walk ÷ table").over(
        on_each(found, |one| gains(one, kind), Verdict::is_greater),
        "by over 3 % in every round, over all heaps in which both collect; nothing is decided if rounds disagree",
    )
}

/// Updates per allocation while the program runs, in steps over at once.
fn updates(measured: &Measured) -> Vec<f64> {
    let of = |kind| {
        let updates = measured.counted(kind, Finds::NextHitTable, |round| {
            round.counters.table_updates
        });
        updates.into_iter().collect::<Vec<_>>()
    };
    over(&of(Kind::InSteps), &of(Kind::AtOnce))
}

fn updates_more(found: &[Found]) -> Claim {
    Claim::that("in steps the table is updated more often than at once")
        .ours_alone()
        .papers("none: ours")
        .ours("updates per allocation, in steps ÷ at once; a rebuild is none")
        .over(
            on_each(found, updates, |ratio| Some(ratio.median > 1.0)),
            "counted, exact, on average over the heaps in which each collects",
        )
}

/// The bitmap's allocation time over the table's, over all collectors.
fn to_table(measured: &Measured) -> Vec<f64> {
    let pair = [Finds::Bitmap, Finds::NextHitTable];
    let of = |kind| measured.over(kind, pair, What::Allocation);
    geometric_mean(&Kind::ALL.map(of))
}

fn bitmap_is_as_good(found: &[Found]) -> Claim {
    Claim::that("a bitmap is as good as the table under all three collectors")
        .ours_alone()
        .papers("none: ours")
        .ours("bitmap ÷ table, allocation time")
        .over(
            on_each(found, to_table, |ratio| {
                Verdict::is_greater(ratio).map(|is_slower| !is_slower)
            }),
            "in no round slower by over 3 %, over all heaps and collectors; nothing is decided if rounds disagree",
        )
}

fn promotion_pays(found: &[Found], base: Finds) -> Claim {
    let order = Order::Allocated;
    let of = |one: &Promotion| one.over((base, order), (Finds::NextHitTable, order));
    Claim::that(format!(
        "promotion through the table pays, beside: {}",
        lookup(base)
    ))
    .of("generations")
    .papers("a possible use")
    .ours(format!("{} ÷ table, objects as allocated", lookup(base)))
    .over(
        on_nursery(found, of, Verdict::is_greater),
        "by over 3 % in every round, over all old spaces; nothing is decided if rounds disagree",
    )
}

fn order_pays(found: &[Found], order: Order) -> Claim {
    let table = Finds::NextHitTable;
    let of = |one: &Promotion| one.over((table, Order::Allocated), (table, order));
    Claim::that(format!(
        "promotion in batches by size pays, order: {}",
        order.name()
    ))
    .ours_alone()
    .papers("none: ours")
    .ours("as allocated ÷ by size, through the table, sorting included")
    .over(
        on_nursery(found, of, Verdict::is_greater),
        "by over 3 % in every round, over all old spaces; nothing is decided if rounds disagree",
    )
}

#[cfg(test)]
mod tests {
    use surefit_clients::java::Finds;

    use super::super::births::{Born, tests as births};
    use super::super::collectors::{Kind, Measured, tests as collectors};
    use super::super::promotions::{Promotion, tests as promotions};
    use super::{
        Found, Order, allocates_faster, bitmap_is_as_good, gains_less, nursery_pays, order_pays,
        promotion_pays, updates_more,
    };
    use crate::kit::Verdict;

    fn measured(measured: Measured) -> Vec<Found> {
        vec![Found {
            name: "p".to_owned(),
            measured: vec![measured],
            promotions: Vec::new(),
            births: Vec::new(),
        }]
    }

    fn promoted(promotion: Promotion) -> Vec<Found> {
        vec![Found {
            name: "p".to_owned(),
            measured: Vec::new(),
            promotions: vec![promotion],
            births: Vec::new(),
        }]
    }

    #[test]
    fn allocation_is_compared_under_its_own_collector() {
        let found = measured(collectors::made(|kind, finds| {
            let is_slow = kind == Kind::InSteps && finds == Finds::Scan;
            (if is_slow { 120 } else { 100 }, 100)
        }));
        let verdict = |kind| allocates_faster(&found, kind).verdict;
        assert_eq!(verdict(Kind::InSteps), Verdict::Holds);
        assert_eq!(verdict(Kind::TwoGenerations), Verdict::DoesNot);
        let nothing = allocates_faster(&[], Kind::InSteps).verdict;
        assert_eq!(nothing, Verdict::NotComparable);
    }

    #[test]
    fn a_gain_is_smaller_if_the_rest_takes_longer() {
        let with = |rest: u64| {
            let found = measured(collectors::made(move |kind, finds| {
                let allocation = if finds == Finds::Scan { 200 } else { 100 };
                let rest = if kind == Kind::InSteps { rest } else { 100 };
                (allocation, rest)
            }));
            gains_less(&found, Kind::InSteps).verdict
        };
        assert_eq!(with(400), Verdict::Holds);
        assert_eq!(with(100), Verdict::DoesNot);
        let ours = gains_less(&[], Kind::TwoGenerations);
        assert_eq!(
            (ours.of, ours.verdict),
            (vec!["ours".to_owned()], Verdict::NotComparable)
        );
    }

    #[test]
    fn updates_are_compared_as_counted() {
        let with = |in_steps: u64| {
            let mut one = collectors::made(|_, _| (1, 1));
            for timed in &mut one.timed {
                let is_in_steps = timed.kind == Kind::InSteps;
                let updates = if is_in_steps { in_steps } else { 10 };
                timed.rounds[0].counters.table_updates = updates;
            }
            updates_more(&measured(one)).verdict
        };
        assert_eq!(with(11), Verdict::Holds);
        assert_eq!(with(10), Verdict::DoesNot);
    }

    #[test]
    fn a_bitmap_that_is_slower_anywhere_is_not_as_good() {
        let with = |slow: u64| {
            bitmap_is_as_good(&measured(collectors::made(|kind, finds| {
                let is_slow = kind == Kind::AtOnce && finds == Finds::Bitmap;
                (if is_slow { slow } else { 100 }, 1)
            })))
            .verdict
        };
        assert_eq!(with(102), Verdict::Holds);
        assert_eq!(with(150), Verdict::DoesNot);
    }

    #[test]
    fn promotion_is_compared_with_each_of_the_others() {
        let found = promoted(promotions::made(|finds, _| match finds {
            Finds::Scan => 200,
            Finds::NextHitTable => 100,
            Finds::Bitmap => 99,
        }));
        let verdict = |base| promotion_pays(&found, base).verdict;
        assert_eq!(verdict(Finds::Scan), Verdict::Holds);
        assert_eq!(verdict(Finds::Bitmap), Verdict::DoesNot);
    }

    #[test]
    fn a_nursery_pays_if_it_is_faster_than_what_it_is_compared_with() {
        let found = vec![Found {
            name: "p".to_owned(),
            measured: Vec::new(),
            promotions: Vec::new(),
            births: births::made(|born| match born {
                Born::Lists => 90,
                Born::CompactFit => 200,
                Born::Nursery => 100,
            }),
        }];
        let verdict = |base| nursery_pays(&found, base).verdict;
        assert_eq!(verdict(Born::CompactFit), Verdict::Holds);
        assert_eq!(verdict(Born::Lists), Verdict::DoesNot);
    }

    #[test]
    fn an_order_pays_if_it_is_faster_than_that_of_allocation() {
        let found = promoted(promotions::made(|_, order| match order {
            Order::Allocated => 100,
            Order::Rising => 90,
            Order::Falling => 110,
        }));
        let verdict = |order| order_pays(&found, order).verdict;
        assert_eq!(verdict(Order::Rising), Verdict::Holds);
        assert_eq!(verdict(Order::Falling), Verdict::DoesNot);
    }
}
