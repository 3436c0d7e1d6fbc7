//! `surefit experiment gc-lists`: heap management time against the number of lists.
//!
//! ```text
//! systems   16 to 4096 lists, immediate coalescing, found by the table; last list linear or tree
//! heap      2 x what lives most, or the first greater multiple in which all numbers of lists, or most, complete
//! time      allocation, marking and sweeping, in processor time, interleaved rounds; ratios round by round
//! counts    visits, updates of the table and entries written, in a replay of their own: exact
//! ```
//!
//! # Source
//! The thesis on free-list organisation, figure 4-14.

use anyhow::Result;
use surefit_clients::java::{Clocking, Finds, Lists, Options, Outcome, Space};
use surefit_freelist::When;

use crate::kit::{Axis, Claim, Entry, Plot, Report, Request, Series, Table, Verdict};
use crate::shared::thesis::heaps::{self, common, replay, times_live};
use crate::shared::thesis::recorded::{self, Recorded};
use crate::shared::threads::figures::{ratio, spread};
use surefit_measure::progress::Progress;
use surefit_measure::ratio::median;
use surefit_measure::ratio::or_not_measured;
use surefit_measure::results::Ratio;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "gc-lists",
    about: "Heap management time of recorded Java programs against the number of lists",
    takes_traces: true,
    takes_rounds: true,
    run,
};

/// The numbers of lists.
const COUNTS: [u32; 9] = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096];

/// The number up to which the thesis sees time fall.
const BEST: u32 = 256;

/// One number of lists, with one kind of last list.
#[derive(Clone, Debug, Default)]
struct Row {
    lists: u32,
    is_tree: bool,
    /// Milliseconds of heap management, round by round.
    management_ms: Vec<f64>,
    /// Of allocation alone.
    allocation_ms: Vec<f64>,
    /// For an allocation: free chunks and heads visited, updates of the table, entries written.
    visits: f64,
    updates: f64,
    stores: f64,
}

impl Row {
    fn new((lists, is_tree): (u32, bool), outcome: &Outcome) -> Self {
        let allocations = outcome.totals.allocations.max(1) as f64;
        Self {
            lists,
            is_tree,
            visits: outcome.visits_per_allocation(),
            updates: outcome.counters.table_updates as f64 / allocations,
            stores: outcome.counters.table_stores as f64 / allocations,
            ..Self::default()
        }
    }

    /// One round.
    fn time(&mut self, recorded: &Recorded, bytes: usize) -> Result<()> {
        let options = Options {
            clocking: Clocking::Batch,
            ..Options::default()
        };
        let space = space((self.lists, self.is_tree));
        let found = replay(recorded, &space, bytes, &options)?;
        if let Some(times) = found.ok().and_then(|outcome| outcome.times) {
            self.management_ms.push(times.management_ns() as f64 / 1e6);
            self.allocation_ms.push(times.allocation_ns as f64 / 1e6);
        }
        Ok(())
    }
}

const fn space((count, is_tree): (u32, bool)) -> Space {
    Space::Segregated(Lists {
        finds: Finds::NextHitTable,
        merges: When::Immediate,
        is_tree,
        count,
    })
}

fn run(request: &Request) -> Result<Report> {
    let source = "the thesis on free-list organisation, figure 4-14";
    let rounds = request.rounds_or(3);
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting.push(format!(
        "{rounds} interleaved rounds, processor time; the clock's own cost and that of the replay beside allocating are subtracted. \
         Immediate coalescing, found by the table. Brackets hold the least and the greatest of the rounds."
    ));
    for recorded in recorded::all(request)? {
        let recorded = recorded?;
        match measured(&recorded, rounds)? {
            Some((times, rows)) => add(&mut report, &recorded, times, &rows),
            None => report.notes.push(heaps::no_common(&recorded.name)),
        }
    }
    report.notes.push(
        "256 lists end at 2 KiB here and at 1 KB in the thesis, whose last list is linear."
            .to_owned(),
    );
    Ok(report)
}

/// The heap in which all numbers of lists complete, or most of them, and every system that
/// completes there.
fn measured(recorded: &Recorded, rounds: u32) -> Result<Option<(f64, Vec<Row>)>> {
    let counted = Options::default();
    // The last list decides how long a search takes; where a chunk is found, hardly.
    let trees = COUNTS.map(|count| space((count, true)));
    let Some(found) = common(recorded, &trees, &counted)? else {
        return Ok(None);
    };
    let bytes = times_live(recorded, found.times);
    let progress = Progress::new(2 * COUNTS.len() as u64 * u64::from(1 + rounds));
    let step = |what, lists: u32, is_tree| {
        let system = format!("{lists} lists, {}", last_name(is_tree));
        progress.step(&recorded.name, what, &system);
    };
    let mut rows = Vec::new();
    for is_tree in [false, true] {
        for count in COUNTS {
            let system = (count, is_tree);
            let found = replay(recorded, &space(system), bytes, &counted)?;
            rows.extend(found.ok().map(|outcome| Row::new(system, &outcome)));
            step("counts", count, is_tree);
        }
    }
    for _round in 0..rounds {
        for row in &mut rows {
            row.time(recorded, bytes)?;
            step("times", row.lists, row.is_tree);
        }
    }
    progress.finish();
    Ok(Some((found.times, rows)))
}

fn add(report: &mut Report, recorded: &Recorded, times: f64, rows: &[Row]) {
    let name = &recorded.name;
    let mebibytes = times_live(recorded, times) as f64 / f64::from(1 << 20);
    let heap = format!("{name}, {times} x what lives most ({mebibytes:.2} MiB)");
    report.tables.push(table(&heap, rows));
    report.plots.extend(plots(name, rows));
    for is_tree in [false, true] {
        report.claims.extend(claims(name, is_tree, rows));
    }
}

const fn last_name(is_tree: bool) -> &'static str {
    if is_tree { "tree" } else { "linear" }
}

fn of_kind(rows: &[Row], is_tree: bool) -> impl Iterator<Item = &Row> {
    rows.iter().filter(move |row| row.is_tree == is_tree)
}

fn find(rows: &[Row], is_tree: bool, lists: u32) -> Option<&Row> {
    of_kind(rows, is_tree).find(|row| row.lists == lists)
}

/// A row's time over that with 256 lists.
fn to_best(rows: &[Row], row: &Row) -> Option<Ratio> {
    let best = find(rows, row.is_tree, BEST)?;
    let both = !row.management_ms.is_empty() && !best.management_ms.is_empty();
    both.then(|| ratio(&row.management_ms, &best.management_ms))
}

fn table(heap: &str, rows: &[Row]) -> Table {
    let title =
        format!("{heap}: by the number of lists; visits, updates and entries for an allocation");
    Table::of(title, rows.iter().map(|row| (row, to_best(rows, row))))
        .text("last list", |(row, _)| last_name(row.is_tree))
        .figure("lists", 0, |(row, _)| row.lists)
        .figure("management ms", 2, |(row, _)| median(&row.management_ms))
        .figure("÷ 256", 3, |(_, to_best)| {
            to_best.map(|ratio| ratio.median)
        })
        .figure("least", 3, |(_, to_best)| to_best.map(|ratio| ratio.min))
        .figure("greatest", 3, |(_, to_best)| to_best.map(|ratio| ratio.max))
        .figure("allocation ms", 2, |(row, _)| median(&row.allocation_ms))
        .figure("visits", 2, |(row, _)| row.visits)
        .figure("updates", 3, |(row, _)| row.updates)
        .figure("entries", 2, |(row, _)| row.stores)
        .table()
}

fn plots(name: &str, rows: &[Row]) -> [Plot; 2] {
    let plot = |what: &str, y: Axis, series: [Series; 2]| Plot {
        title: format!("{name}: {what}"),
        x: Axis::named("lists", COUNTS.iter().map(ToString::to_string)),
        y,
        series: series.into(),
    };
    let places = |is_tree| {
        (0..)
            .map(f64::from)
            .zip(of_kind(rows, is_tree).collect::<Vec<_>>())
    };
    let times = [false, true].map(|is_tree| {
        let mut series = Series::new(last_name(is_tree), Vec::new());
        for (place, row) in places(is_tree).filter(|(_, row)| !row.management_ms.is_empty()) {
            let time = spread(&row.management_ms);
            series.points.push((place, time.median));
            series.spread.push((time.min, time.max));
        }
        series
    });
    let visits = [false, true].map(|is_tree| {
        let visited = places(is_tree).filter(|(_, row)| row.visits > 0.0);
        let points = visited.map(|(place, row)| (place, row.visits));
        Series::new(last_name(is_tree), points.collect::<Vec<_>>())
    });
    [
        plot("heap management", Axis::logarithmic("ms"), times),
        plot(
            "nodes of the last list",
            Axis::logarithmic("visits per allocation"),
            visits,
        ),
    ]
}

// ---- claims
// --------------------------------------------------------------------------------------------------------------

fn claims(name: &str, is_tree: bool, rows: &[Row]) -> [Claim; 4] {
    let last = last_name(is_tree);
    let of = |claim: Claim| Claim {
        claim: format!("{name}, last list {last}: {}", claim.claim),
        ..claim
    };
    let (few, many): (Vec<_>, Vec<_>) = of_kind(rows, is_tree)
        .filter(|row| row.lists != BEST)
        .partition(|row| row.lists < BEST);
    [
        improves(rows, &few),
        is_flat(rows, &many),
        visits_fall(rows, &few),
        visits_stay(rows, &many),
    ]
    .map(of)
}

/// The ratios of all rows, or none if one is missing.
fn ratios(rows: &[Row], some: &[&Row]) -> Option<Vec<(u32, Ratio)>> {
    let all = some
        .iter()
        .map(|row| Some((row.lists, to_best(rows, row)?)));
    all.collect::<Option<Vec<_>>>()
        .filter(|all| !all.is_empty())
}

fn ratios_in_words(ratios: Option<&Vec<(u32, Ratio)>>) -> String {
    or_not_measured(ratios.map(|ratios| {
        let one = |(lists, ratio): &(u32, Ratio)| format!("{lists}: {}", ratio);
        let all: Vec<_> = ratios.iter().map(one).collect();
        format!("time ÷ that with {BEST}, {}", all.join(", "))
    }))
}

fn improves(rows: &[Row], few: &[&Row]) -> Claim {
    let ratios = ratios(rows, few);
    let slower = ratios.as_ref().and_then(|ratios| {
        let slower: Option<Vec<_>> = ratios
            .iter()
            .map(|(_, ratio)| Verdict::is_greater(*ratio))
            .collect();
        Some(slower?.into_iter().all(|slower| slower))
    });
    Claim::that(format!(
        "heap management is faster with {BEST} lists than with fewer"
    ))
    .papers("figure 4-14: improves up to 256")
    .ours(ratios_in_words(ratios.as_ref()))
    .decide(
        slower,
        "each smaller number takes over 3 % longer in the median; if a round \
         disagrees, the clock decides nothing",
    )
}

fn is_flat(rows: &[Row], many: &[&Row]) -> Claim {
    let ratios = ratios(rows, many);
    let level = ratios.as_ref().and_then(|ratios| {
        let level: Option<Vec<_>> = ratios
            .iter()
            .map(|(_, ratio)| Verdict::is_level(*ratio))
            .collect();
        Some(level?.into_iter().all(|level| level))
    });
    Claim::that(format!("more than {BEST} lists change nothing"))
        .papers("figure 4-14: flat beyond 256")
        .ours(ratios_in_words(ratios.as_ref()))
        .decide(
            level,
            "the medians are within 3 % of 1; if they are not and rounds disagree, \
             the clock decides nothing",
        )
}

/// Visits with each of these numbers of lists, and with 256.
fn visits_in_words(rows: &[Row], some: &[&Row]) -> Option<(Vec<f64>, f64, String)> {
    let first = some.first()?;
    let best = find(rows, first.is_tree, BEST)?.visits;
    let visits: Vec<_> = some.iter().map(|row| row.visits).collect();
    let all: Vec<_> = some
        .iter()
        .map(|row| format!("{}: {:.3}", row.lists, row.visits))
        .collect();
    let words = format!("{BEST}: {best:.3}; {}", all.join(", "));
    Some((visits, best, words))
}

fn visits_claim(
    found: Option<(Vec<f64>, f64, String)>,
    claim: String,
    test: fn(f64, f64) -> bool,
    because: &str,
) -> Claim {
    let verdict = found
        .as_ref()
        .map(|(visits, best, _)| visits.iter().all(|visits| test(*visits, *best)));
    Claim::that(claim)
        .papers("figure 4-14 shows time")
        .measured(found.map(|(_, _, words)| words))
        .decide(verdict, because.to_owned())
}

fn visits_fall(rows: &[Row], few: &[&Row]) -> Claim {
    let found = visits_in_words(rows, few);
    let claim =
        format!("fewer nodes of the last list are visited with {BEST} lists than with fewer");
    visits_claim(
        found,
        claim,
        |visits, best| visits > best,
        "counted, for an allocation; each smaller number visits more",
    )
}

fn visits_stay(rows: &[Row], many: &[&Row]) -> Claim {
    let found = visits_in_words(rows, many);
    let claim = format!("more than {BEST} lists save less than one visit an allocation");
    visits_claim(
        found,
        claim,
        |visits, best| best - visits < 1.0,
        "counted, for an allocation",
    )
}

#[cfg(test)]
mod tests {
    use super::{COUNTS, Row, claims};
    use crate::kit::Verdict;

    fn verdicts(time: impl Fn(u32) -> f64, visits: impl Fn(u32) -> f64) -> [Verdict; 4] {
        let row = |lists| Row {
            lists,
            management_ms: vec![time(lists), 1.01 * time(lists)],
            visits: visits(lists),
            ..Row::default()
        };
        let rows = COUNTS.map(row);
        claims("t", false, &rows).map(|claim| claim.verdict)
    }

    #[test]
    fn the_thesis_is_a_fall_up_to_256_and_a_level_beyond() {
        let falls = |lists: u32| 1.0 + 100.0 / f64::from(lists.min(256));
        assert_eq!(verdicts(falls, falls), [Verdict::Holds; 4]);
    }

    #[test]
    fn a_rise_then_a_fall_refutes_it() {
        let other = |lists: u32| if lists == 256 { 10.0 } else { 5.0 };
        assert_eq!(verdicts(other, other), [Verdict::DoesNot; 4]);
    }

    #[test]
    fn without_times_the_clock_says_nothing() {
        assert_eq!(
            claims("t", false, &[]).map(|claim| claim.verdict),
            [Verdict::NotComparable; 4]
        );
    }
}
