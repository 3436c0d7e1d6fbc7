//! The claims about the Next Hit Table, each with one verdict over all programs.

use surefit_freelist::When;

use super::rows::{Row, find};
use crate::shared::collector_gain::Gains;
use surefit_clients::lists::{Finds, Lists};

use super::systems::{LISTS, SWEEP, thesis};
use crate::kit::{Claim, OnProgram, Verdict};
use crate::shared::merges::{MERGES, merges_name};
use surefit_measure::ratio::or_not_measured;
use surefit_measure::results::Ratio;

/// Allocations between two updates of the table under deferred coalescing, on average over the
/// programs of table 3-1.
pub(super) const PAPERS_ALLOCATIONS_PER_UPDATE: f64 = 1029.0;

/// The same for the program of table 3-1 that updates the table most.
const PAPERS_LEAST_PER_UPDATE: f64 = 25.0;

/// By how many times the table makes a collector's heap management faster: "by 100 %".
pub(super) const PAPERS_GAIN: f64 = 2.0;

/// Counts that differ by no more than this are the same: a curve that is flat in a printed figure.
const LEVEL: f64 = 0.03;

/// The rule of a claim about instructions, and the condition under which it decides nothing.
fn counted(rule: &str) -> String {
    format!(
        "{rule}; instructions are valgrind's count; not comparable where they were not counted: in a \
         quick run, or without valgrind"
    )
}

/// The rule of a claim about times.
fn timed(rule: &str) -> String {
    format!("{rule}; not comparable if rounds disagree: then the clock decides nothing")
}

/// What was measured of one program.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) name: String,
    pub(super) rows: Vec<Row>,
}

/// All of them; `gains` are the table's under a collector in the same run.
pub(super) fn all(programs: &[Program], gains: Option<&Gains>) -> Vec<Claim> {
    let fewer = MERGES.map(|merges| fewer_instructions(programs, merges));
    let faster = MERGES.map(|merges| faster(programs, merges));
    let others = [
        improves_up_to_256(programs),
        improves_in_instructions(programs),
        is_flat_beyond(programs),
        is_flat_in_instructions(programs),
        rarely_updated(programs),
        often_updated(programs),
        gains_less(programs, gains),
        immediate_is_best(programs),
    ];
    fewer.into_iter().chain(faster).chain(others).collect()
}

/// What each program says: a test, a ratio if it is about one, and what was found.
fn each(
    programs: &[Program],
    on: impl Fn(&[Row]) -> (Option<bool>, Option<Ratio>, Option<String>),
) -> Vec<OnProgram> {
    let of = |program: &Program| {
        let (test, ratio, shown) = on(&program.rows);
        OnProgram {
            name: program.name.clone(),
            test,
            ratio,
            shown: or_not_measured(shown),
        }
    };
    programs.iter().map(of).collect()
}

fn usual(rows: &[Row], finds: Finds, merges: When) -> Option<&Row> {
    find(rows, thesis(finds, merges))
}

fn fewer_instructions(programs: &[Program], merges: When) -> Claim {
    let on = |rows: &[Row]| {
        let instructions =
            Finds::ALL.map(|finds| usual(rows, finds, merges).and_then(Row::instructions));
        let [scan, table, bitmap] = instructions;
        let both = scan.zip(table);
        let shown = both.zip(bitmap).map(|((scan, table), bitmap)| {
            format!("scan {scan:.1}, table {table:.1}, bitmap {bitmap:.1}")
        });
        let ratio = both.and_then(|(scan, table)| Ratio::of(&[scan / table]));
        (both.map(|(scan, table)| table < scan), ratio, shown)
    };
    Claim::that(format!(
        "{} coalescing: the table takes fewer instructions than the walk",
        merges_name(merges)
    ))
    .ours_alone()
    .papers("none: its visits and gains are of a collector (gc-visits, gc-times)")
    .over(
        each(programs, on),
        counted("a malloc and its free; it holds if the table's are fewer"),
    )
}

fn faster(programs: &[Program], merges: When) -> Claim {
    let on = |rows: &[Row]| {
        let [scan, table, bitmap] = Finds::ALL.map(|finds| usual(rows, finds, merges));
        let over = |row: Option<&Row>| scan?.over(row?);
        let shown = over(table).zip(over(bitmap));
        let shown = shown.map(|(table, bitmap)| format!("walk ÷ table {table}, ÷ bitmap {bitmap}"));
        (
            over(table).and_then(Verdict::is_greater),
            over(table),
            shown,
        )
    };
    Claim::that(format!(
        "{} coalescing: the table takes less time than the walk",
        merges_name(merges)
    ))
    .ours_alone()
    .papers("none: its times are of a collector (gc-times)")
    .over(
        each(programs, on),
        timed("updates included; it holds if the walk takes over 3 % longer in the median"),
    )
}

/// The time with a given number of lists over that with 256, found by the table, merged at once.
fn to_256(rows: &[Row], lists: u32) -> Option<Ratio> {
    let system = thesis(Finds::NextHitTable, When::Immediate);
    find(
        rows,
        Lists {
            count: lists,
            ..system
        },
    )?
    .over(find(rows, system)?)
}

fn to_256_in_words(rows: &[Row], lists: &[u32]) -> Option<String> {
    let of = |lists: &u32| Some(format!("{lists}: {}", to_256(rows, *lists)?));
    let all: Option<Vec<_>> = lists.iter().map(of).collect();
    all.map(|all| format!("time ÷ that with {LISTS} lists, {}", all.join(", ")))
}

fn fewer_lists() -> Vec<u32> {
    SWEEP.into_iter().filter(|lists| *lists < LISTS).collect()
}

fn more_lists() -> Vec<u32> {
    SWEEP.into_iter().filter(|lists| *lists > LISTS).collect()
}

fn improves_up_to_256(programs: &[Program]) -> Claim {
    let fewer = fewer_lists();
    let on = |rows: &[Row]| {
        let slower = fewer.iter();
        let slower = slower.map(|&lists| Verdict::is_greater(to_256(rows, lists)?));
        (Verdict::all_of(slower), None, to_256_in_words(rows, &fewer))
    };
    Claim::that(format!("with the table, time falls up to {LISTS} lists"))
        .ours_alone()
        .papers("none: figure 4-14 is of a collector (gc-lists)")
        .over(
            each(programs, on),
            timed(&format!(
                "each smaller number takes over 3 % longer than {LISTS} in the median"
            )),
        )
}

/// The instructions with each of these numbers of lists over those with 256, found by the table,
/// merged at once.
fn instructions_to_256(rows: &[Row], lists: &[u32]) -> Option<Vec<f64>> {
    let system = thesis(Finds::NextHitTable, When::Immediate);
    let of = |lists: u32| {
        find(
            rows,
            Lists {
                count: lists,
                ..system
            },
        )?
        .instructions()
    };
    let base = of(LISTS)?;
    lists.iter().map(|&lists| Some(of(lists)? / base)).collect()
}

fn instructions_in_words(lists: &[u32], ratios: &[f64]) -> String {
    let both = lists.iter().zip(ratios);
    let shown: Vec<_> = both
        .map(|(lists, ratio)| format!("{lists}: {ratio:.3}"))
        .collect();
    format!(
        "instructions ÷ those with {LISTS} lists, {}",
        shown.join(", ")
    )
}

/// A test of the instructions with these numbers of lists over those with 256.
fn on_instructions(
    lists: &[u32],
    test: impl Fn(f64) -> bool,
) -> impl Fn(&[Row]) -> (Option<bool>, Option<Ratio>, Option<String>) {
    move |rows| {
        let ratios = instructions_to_256(rows, lists);
        let decided = ratios.as_ref();
        let decided = decided.map(|ratios| ratios.iter().all(|ratio| test(*ratio)));
        let shown = ratios.map(|ratios| instructions_in_words(lists, &ratios));
        (decided, None, shown)
    }
}

fn improves_in_instructions(programs: &[Program]) -> Claim {
    Claim::that(format!(
        "with the table, instructions fall up to {LISTS} lists"
    ))
    .ours_alone()
    .papers("none: figure 4-14 is of a collector (gc-lists)")
    .over(
        each(
            programs,
            on_instructions(&fewer_lists(), |ratio| ratio > 1.0),
        ),
        counted(&format!("each smaller number takes more than {LISTS}")),
    )
}

fn is_flat_in_instructions(programs: &[Program]) -> Claim {
    let is_level = |ratio: f64| (ratio - 1.0).abs() <= LEVEL;
    Claim::that(format!(
        "with the table, instructions stay the same beyond {LISTS} lists"
    ))
    .ours_alone()
    .papers("none: figure 4-14 is of a collector (gc-lists)")
    .over(
        each(programs, on_instructions(&more_lists(), is_level)),
        counted("within 3 % of 1, as flat as a printed curve shows"),
    )
}

fn is_flat_beyond(programs: &[Program]) -> Claim {
    let more = more_lists();
    let on = |rows: &[Row]| {
        let level = more.iter();
        let level = level.map(|&lists| Verdict::is_level(to_256(rows, lists)?));
        (Verdict::all_of(level), None, to_256_in_words(rows, &more))
    };
    Claim::that(format!(
        "with the table, more than {LISTS} lists change nothing"
    ))
    .ours_alone()
    .papers("none: figure 4-14 is of a collector (gc-lists)")
    .over(each(programs, on), timed("every round is within 3 % of 1"))
}

fn updates(rows: &[Row], merges: When) -> Option<f64> {
    Some(usual(rows, Finds::NextHitTable, merges)?.counts?.updates())
}

fn rarely_updated(programs: &[Program]) -> Claim {
    let on = |rows: &[Row]| {
        let between = updates(rows, When::Deferred).map(|updates| 1.0 / updates);
        let shown = between.map(|between| format!("once in {between:.1} allocations"));
        let test = between.map(|between| between >= PAPERS_LEAST_PER_UPDATE);
        (test, None, shown)
    };
    Claim::that("deferred coalescing updates the table as rarely with explicit frees")
        .ours_alone()
        .papers(format!(
            "none: table 3-1 is of a collector (gc-table-updates), once in {PAPERS_ALLOCATIONS_PER_UPDATE} allocations \
             on average, 25 to 3530 by program"
        ))
        .over(
            each(programs, on),
            format!(
                "counted; it holds if the table is updated at most once in \
                 {PAPERS_LEAST_PER_UPDATE} allocations, as in the program that updates it most there"
            ),
        )
}

fn often_updated(programs: &[Program]) -> Claim {
    let on = |rows: &[Row]| {
        let updates = updates(rows, When::Immediate);
        let shown = updates.map(|updates| format!("{updates:.3} per allocation"));
        (updates.map(|updates| updates >= 1.0), None, shown)
    };
    Claim::that("immediate coalescing updates the table at every allocation")
        .ours_alone()
        .over(
            each(programs, on),
            "counted; it holds from one update per allocation on",
        )
}

/// The greatest gain of several policies: walk ÷ table.
fn greatest(gains: impl IntoIterator<Item = (When, Ratio)>) -> Option<(When, Ratio)> {
    gains
        .into_iter()
        .max_by(|one, other| one.1.median.total_cmp(&other.1.median))
}

fn gains_less(programs: &[Program], collector: Option<&Gains>) -> Claim {
    let with = collector.and_then(|gains| greatest(gains.gains.iter().copied()));
    let on = |rows: &[Row]| {
        let gain = |merges| {
            let [scan, table] =
                [Finds::Scan, Finds::NextHitTable].map(|finds| usual(rows, finds, merges));
            Some((merges, scan?.over(table?)?))
        };
        let gains: Option<Vec<_>> = MERGES.map(gain).into_iter().collect();
        let best = gains.and_then(greatest);
        let less = with.zip(best).map(|((_, with), (_, gain))| Ratio {
            median: with.median / gain.median,
            min: with.min / gain.max,
            max: with.max / gain.min,
        });
        let shown =
            best.map(|(merges, gain)| format!("gains {gain} at most ({})", merges_name(merges)));
        (less.and_then(Verdict::is_greater), less, shown)
    };
    let shown = with.zip(collector).map(|((merges, gain), gains)| {
        format!(
            "walk ÷ table under a collector: {gain} at most ({}; {}, heap {} times the smallest, {} \
             collections or more)",
            merges_name(merges),
            gains.program,
            gains.heap,
            gains.collections
        )
    });
    let shown = shown.unwrap_or_else(|| "nothing was collected".to_owned());
    Claim::that("explicit frees gain less from the table than a collector does")
        .of("explicit free")
        .papers(format!(
            "predicted; with a collector heap management is {PAPERS_GAIN} times as fast with the table"
        ))
        .ours(shown)
        .over(
            each(programs, on),
            timed(
                "the collector's greatest gain in this run is over 3 % above the program's in the \
                 median, and above it in every round; not comparable if nothing was collected",
            ),
        )
}

fn immediate_is_best(programs: &[Program]) -> Claim {
    let on = |rows: &[Row]| {
        let immediate = usual(rows, Finds::NextHitTable, When::Immediate);
        let over = |merges| {
            let other = usual(rows, Finds::NextHitTable, merges)?;
            Some((merges, immediate?.over(other)?))
        };
        let ratios: Option<Vec<_>> = [When::Never, When::Deferred]
            .map(over)
            .into_iter()
            .collect();
        let slower = ratios.iter().flatten();
        let slower = slower.map(|(_, ratio)| Verdict::is_greater(*ratio));
        let is_best = Verdict::any_of(slower).map(|is_slower| !is_slower);
        let shown = ratios.map(|ratios| {
            let ratios = ratios.into_iter();
            let shown = ratios.map(|(merges, ratio)| format!("{}: {ratio}", merges_name(merges)));
            format!(
                "immediate's time ÷ {}",
                shown.collect::<Vec<_>>().join(", ÷ ")
            )
        });
        (is_best, None, shown)
    };
    Claim::that("with the table, immediate coalescing is the best or equal")
        .ours_alone()
        .papers("none: figures 4-11 to 4-13 are of a collector (gc-times)")
        .over(
            each(programs, on),
            timed("in no round is its time over 3 % above that of never or deferred"),
        )
}

#[cfg(test)]
mod tests {
    use super::{Claim, Gains, Program, Ratio, all};
    use crate::experiments::nht::counts::Counts;
    use crate::experiments::nht::rows::Row;
    use crate::experiments::nht::systems;
    use crate::kit::Verdict;
    use surefit_clients::lists::{Finds, Lists};
    use surefit_freelist::{Counters, When};

    /// Rows made of the time, the instructions and the updates of a thousand allocations that a
    /// system takes.
    fn rows(figures: impl Fn(Lists) -> (f64, f64, u64)) -> Vec<Row> {
        let row = |system| {
            let (time, instructions, table_updates) = figures(system);
            Row {
                system: Some(system),
                pair_ns: vec![time, time * 1.01, time * 0.99],
                malloc: Some(instructions),
                free: Some(0.0),
                counts: Some(Counts {
                    counters: Counters {
                        table_updates,
                        ..Counters::default()
                    },
                    table_bytes: 0,
                    allocations: 1000,
                }),
            }
        };
        systems::all().into_iter().map(row).collect()
    }

    /// One program of these rows, and a collector with a gain of 2.
    fn judged(rows: Vec<Row>, gain: f64) -> Vec<Claim> {
        let gains = Gains {
            program: "p".to_owned(),
            heap: 2.0,
            collections: 3,
            gains: vec![(When::Never, Ratio::of(&[gain]).expect("one"))],
        };
        let name = "t".to_owned();
        all(&[Program { name, rows }], Some(&gains))
    }

    /// As the thesis has it.
    fn thesis(system: Lists) -> (f64, f64, u64) {
        let walk = if system.finds == Finds::Scan {
            1.5
        } else {
            1.0
        };
        let lists = 1.0 + 10.0 / f64::from(system.count.min(256));
        let updates = if system.merges == When::Immediate {
            1500
        } else {
            1
        };
        (20.0 * walk * lists, 100.0 * walk * lists, updates)
    }

    /// The contrary.
    fn contrary(system: Lists) -> (f64, f64, u64) {
        let walk = match system.finds {
            Finds::Scan if system.merges == When::Never => 3.0,
            Finds::Scan => 0.9,
            _ => 1.0,
        };
        let merges = if system.merges == When::Immediate {
            1.5
        } else {
            1.0
        };
        let lists = f64::from(system.count).sqrt();
        let instructions = 90.0 + f64::from(system.count) / 10.0;
        (walk * merges * lists, instructions, 100)
    }

    #[test]
    fn verdicts_follow_the_figures() {
        for claim in judged(rows(thesis), 2.0) {
            assert_eq!(claim.verdict, Verdict::Holds, "{claim:?}");
        }
        let contrary = rows(|system| {
            let (time, instructions, updates) = contrary(system);
            let more = if system.finds == Finds::NextHitTable {
                10.0
            } else {
                0.0
            };
            (time, instructions + more, updates)
        });
        for claim in judged(contrary, 2.0) {
            // a gain of more than two is made by the walk under this strategy
            let gains = claim
                .claim
                .contains("never coalescing: the table takes less time");
            let expected = if gains {
                Verdict::Holds
            } else {
                Verdict::DoesNot
            };
            assert_eq!(claim.verdict, expected, "{claim:?}");
        }
    }

    /// The thesis predicts that explicit frees gain less, and says nothing else of them: as printed
    /// before, its figures 4-11 to 4-14, table 3-1 and the headline "did not hold" here.
    #[test]
    fn of_the_thesis_is_its_outlook_alone() {
        for claim in judged(rows(thesis), 2.0) {
            let expected = if claim.claim.contains("than a collector does") {
                "explicit free"
            } else {
                "ours"
            };
            assert_eq!(claim.of, [expected], "{claim:?}");
        }
    }

    #[test]
    fn the_collectors_gain_in_the_same_run_decides() {
        let verdict = |gain| {
            let claims = judged(rows(thesis), gain);
            let less = claims.iter().find(|claim| claim.of == ["explicit free"]);
            less.expect("a claim").verdict
        };
        assert_eq!(verdict(1.6), Verdict::Holds, "explicit frees gain 1.5");
        assert_eq!(verdict(1.4), Verdict::DoesNot);
    }

    #[test]
    fn what_was_not_measured_decides_nothing() {
        for claim in judged(Vec::new(), 2.0).iter().chain(&all(&[], None)) {
            assert_eq!(claim.verdict, Verdict::NotComparable, "{claim:?}");
        }
    }
}
