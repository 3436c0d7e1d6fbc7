//! The claims, each over all programs.

use surefit_freelist::When;

use super::counted::{Counted, Row};
use crate::kit::{Claim, OnProgram};
use crate::shared::thesis::published::{AVERAGE_ALLOCATIONS_PER_UPDATE, Updates};

/// An order of magnitude: figures within this factor are alike, since the programs are others and
/// the thesis does not name its heaps.
const ALIKE: f64 = 10.0;

/// What stands where a strategy does not complete, or never collects.
const NO_COLLECTION: &str = "no collection";

/// All of them.
pub(super) fn all(rows: &[Row]) -> Vec<Claim> {
    vec![
        rarely(rows),
        as_often(rows),
        more_filled(rows),
        immediate_as_rarely(rows),
    ]
}

fn rarely(rows: &[Row]) -> Claim {
    let counted: Vec<_> = rows
        .iter()
        .filter_map(|row| row.of(When::Deferred))
        .collect();
    let (allocations, updates) = counted.iter().fold((0, 0), |sum, counted| {
        (sum.0 + counted.allocations, sum.1 + counted.updates())
    });
    let ratio = (updates > 0).then(|| allocations as f64 / updates as f64);
    let least = AVERAGE_ALLOCATIONS_PER_UPDATE / ALIKE;
    Claim::that("deferred coalescing updates the table only once in about 1000 allocations")
        .of("table 3-1")
        .papers(format!(
            "once in {AVERAGE_ALLOCATIONS_PER_UPDATE}: all allocations over all updates"
        ))
        .measured(ratio.map(|ratio| {
            format!(
                "once in {ratio:.1}, over {} programs that collect",
                counted.len()
            )
        }))
        .decide(
            ratio.map(|ratio| ratio >= least),
            format!(
                "counted, collections included; it holds from {least:.0} allocations per update \
                 on; not comparable if no program collects"
            ),
        )
}

fn as_often(rows: &[Row]) -> Claim {
    let programs = rows.iter().map(|row| {
        let ours = row
            .of(When::Deferred)
            .and_then(Counted::allocations_per_update);
        let theirs = row.theirs.map(Updates::allocations_per_update);
        let ratio = ours.zip(theirs).map(|(ours, theirs)| ours / theirs);
        let mut on = OnProgram::timed(
            row.name.as_str(),
            ratio.map(|ratio| ratio >= 1.0 / ALIKE),
            ratio.as_slice(),
        );
        on.shown = match (ours, theirs) {
            (None, _) => NO_COLLECTION.to_owned(),
            (Some(ours), None) => format!("once in {ours:.1}, no counterpart in the thesis"),
            (Some(ours), Some(theirs)) => format!("once in {ours:.1} (thesis {theirs:.0})"),
        };
        on
    });
    Claim::that("deferred: the table is updated as rarely as in the thesis's program")
        .of("table 3-1")
        .papers("table 3-1, program by program")
        .over(
            programs.collect(),
            format!(
                "counted, collections included; allocations per update are at least a tenth \
                 ({ALIKE} x fewer) of the thesis's; not comparable without a collection, or a \
                 program of this kind. The mean is of ours ÷ the thesis's"
            ),
        )
}

fn more_filled(rows: &[Row]) -> Claim {
    let programs = rows.iter().map(|row| {
        let counted = row.of(When::Deferred);
        OnProgram {
            name: row.name.clone(),
            test: counted.map(|counted| counted.filled() > counted.emptied()),
            ratio: None,
            shown: counted.map_or_else(
                || NO_COLLECTION.to_owned(),
                |counted| format!("{} and {}", counted.filled(), counted.emptied()),
            ),
        }
    });
    Claim::that("deferred: more lists become non-empty than empty")
        .of("table 3-1")
        .papers("153 and 125 on average; 25 to 30 more in every program")
        .over(
            programs.collect(),
            "counted, collections included; the difference is the number of lists that hold a \
             chunk at the end, so it does not hold where none does",
        )
}

fn immediate_as_rarely(rows: &[Row]) -> Claim {
    let programs = rows.iter().map(|row| {
        let of = |merges| row.of(merges).and_then(Counted::allocations_per_update);
        let both = of(When::Immediate).zip(of(When::Deferred));
        let ratio = both.map(|(immediate, deferred)| immediate / deferred);
        let mut on = OnProgram::timed(
            row.name.as_str(),
            ratio.map(|ratio| ratio >= 1.0 / ALIKE),
            ratio.as_slice(),
        );
        on.shown = both.map_or_else(
            || NO_COLLECTION.to_owned(),
            |(immediate, deferred)| format!("once in {immediate:.1}, deferred {deferred:.1}"),
        );
        on
    });
    Claim::that("immediate coalescing updates the table as rarely as deferred")
        .ours_alone()
        .papers("none: the thesis counts updates under deferred coalescing only")
        .over(
            programs.collect(),
            format!(
                "counted, in the same heap; allocations per update are at least a tenth ({ALIKE} \
                 x fewer) of those of deferred; not comparable unless both complete and collect"
            ),
        )
}

#[cfg(test)]
mod tests {
    use super::super::counted::{Counted, Row};
    use super::super::thesis;
    use super::all;
    use crate::kit::Verdict;
    use crate::shared::merges::MERGES;
    use crate::shared::thesis::collecting::Collecting;
    use crate::shared::thesis::java::counterpart;
    use surefit_freelist::{Counters, When};

    /// A program that fills and empties so many lists, a half of what is filled by collections.
    fn row(figures: impl Fn(When) -> (u64, u64)) -> Row {
        let counted = |merges| {
            let (filled, emptied) = figures(merges);
            Counted {
                system: thesis(merges),
                counters: Counters {
                    table_updates: filled / 2 + emptied,
                    table_fills: filled / 2,
                    table_rebuilt_fills: filled - filled / 2,
                    ..Counters::default()
                },
                allocations: 222_891,
                collections: 3,
            }
        };
        Row {
            name: "Compile".to_owned(),
            heap: Collecting {
                least: 1 << 20,
                multiple: 2.0,
                collections: 3,
            },
            counted: MERGES.map(counted).to_vec(),
            theirs: counterpart("Compile").and_then(|theirs| theirs.updates),
        }
    }

    fn verdicts(rows: &[Row]) -> Vec<Verdict> {
        all(rows).iter().map(|claim| claim.verdict).collect()
    }

    #[test]
    fn the_thesis_holds_in_its_own_figures() {
        assert_eq!(verdicts(&[row(|_| (152, 122))]), [Verdict::Holds; 4]);
    }

    #[test]
    fn frequent_updates_and_lists_that_end_empty_refute_it() {
        let often = row(|merges| match merges {
            When::Immediate => (200_000, 200_000),
            _ => (10_000, 10_000),
        });
        assert_eq!(verdicts(&[often]), [Verdict::DoesNot; 4]);
    }

    #[test]
    fn without_a_collection_nothing_is_comparable() {
        let mut never = row(|_| (152, 122));
        never
            .counted
            .iter_mut()
            .for_each(|counted| counted.collections = 0);
        assert_eq!(verdicts(&[never]), [Verdict::NotComparable; 4]);
        assert_eq!(verdicts(&[]), [Verdict::NotComparable; 4]);
    }

    #[test]
    fn what_collections_fill_is_counted() {
        let row = row(|_| (150, 100));
        let counted = row.of(When::Deferred).expect("it collects");
        assert_eq!(
            (counted.filled(), counted.emptied(), counted.updates()),
            (150, 100, 250)
        );
        assert_eq!(counted.counters.table_updates, 175);
    }
}
