//! `surefit experiment gc-visits`: how many free chunks and heads an allocation looks at, and how
//! that grows from one collection to the next.

use anyhow::Result;
use surefit_clients::java::{Finds, Options, Outcome, Sample, Space};
use surefit_freelist::When;

use crate::kit::{Axis, Claim, Entry, Plot, Report, Request, Series, Table};
use crate::shared::merges::{MERGES, merges_name};
use crate::shared::thesis::measured::{counts, minimum_of};
use crate::shared::thesis::recorded::{self, Recorded};
use crate::shared::thesis::systems::{lists, space};

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "gc-visits",
    about: "Free chunks and list heads that an allocation visits, over a program's life",
    takes_traces: true,
    takes_rounds: false,
    run,
};

const SOURCE: &str = "the thesis on free-list organisation, table 2-2 and figure 3-1";

/// The thesis's heap, in bytes.
const HEAP: usize = 6 << 20;

/// Points of a line of figure 3-1.
const POINTS: usize = 150;

/// Samples between two collections from which on the interval is judged: its first and its last
/// third.
const LONG: usize = 6;

/// Visits of never and deferred, and of immediate coalescing, in table 2-2.
const PRINTED: [(f64, f64); 3] = [(15.0, 40.0), (17.0, 40.0), (50.0, 50.0)];

/// A system in a heap.
struct Row<'c> {
    client: &'c Recorded,
    name: &'static str,
    /// `None` is a single list, first fit.
    merges: Option<When>,
    bytes: usize,
    /// Whether the heap has the thesis's size.
    is_thesis: bool,
    outcome: Option<Outcome>,
}

fn run(request: &Request) -> Result<Report> {
    let clients = recorded::all(request)?.collect::<Result<Vec<_>>>()?;
    let mut rows = Vec::new();
    for client in &clients {
        for merges in MERGES {
            let system = space(lists(merges, Finds::Scan));
            let least = minimum_of(client, merges)?;
            rows.extend(in_two_heaps(
                client,
                merges_name(merges),
                Some(merges),
                &system,
                least,
            )?);
        }
        let least = minimum_of(client, When::Immediate)?;
        rows.extend(in_two_heaps(
            client,
            "single list",
            None,
            &Space::FirstFit,
            least,
        )?);
    }
    let mut report = Report::new(ENTRY.name, ENTRY.about, SOURCE, request.quick);
    report.setting.push(
        "256 lists whose heads are walked, and a last one that is searched from end to end; the single list is first fit with \
         immediate coalescing, in the heaps of immediate. Counted."
            .to_owned(),
    );
    report.tables.push(table(&rows));
    for client in &clients {
        for is_thesis in [true, false] {
            report.plots.extend(plot(client, &rows, is_thesis));
        }
        report.claims.extend(claims(&client.name, &rows));
    }
    report.notes.push("A heap of 6 MiB is left out where the program does not complete in it. A visit is a look at a free chunk or at a head.".to_owned());
    Ok(report)
}

fn in_two_heaps<'c>(
    client: &'c Recorded,
    name: &'static str,
    merges: Option<When>,
    system: &Space,
    least: usize,
) -> Result<[Row<'c>; 2]> {
    let row = |bytes: usize| {
        Ok::<_, anyhow::Error>(Row {
            client,
            name,
            merges,
            bytes,
            is_thesis: bytes == HEAP,
            outcome: counts(client, system, bytes, Options::default())?,
        })
    };
    Ok([row(HEAP)?, row(2 * least)?])
}

fn table(rows: &[Row<'_>]) -> Table {
    Table::of(
        "Visits per allocation: over the program's life, before its first collection, after it",
        rows.iter().map(|row| {
            let outcome = row.outcome.as_ref();
            let halves = outcome.map(|outcome| around_the_first(&outcome.samples));
            let papers = row
                .merges
                .map(|merges| PRINTED[place(merges)])
                .filter(|_| row.is_thesis);
            (row, outcome, halves, papers)
        }),
    )
    .text("program", |(row, _, _, _)| row.client.name.as_str())
    .text("lists", |(row, _, _, _)| row.name)
    .figure("heap bytes", 0, |(row, _, _, _)| row.bytes as u64)
    .figure("collections", 0, |(_, outcome, _, _)| {
        outcome.map(|outcome| outcome.totals.collections)
    })
    .figure("visits", 1, |(_, outcome, _, _)| {
        outcome.map(Outcome::visits_per_allocation)
    })
    .figure("before", 1, |(_, _, halves, _)| {
        halves.and_then(|halves| halves.0)
    })
    .figure("after", 1, |(_, _, halves, _)| {
        halves.and_then(|halves| halves.1)
    })
    .papers("visits", 0, |(_, _, _, papers)| {
        papers.map(|papers| papers.0)
    })
    .papers("to", 0, |(_, _, _, papers)| papers.map(|papers| papers.1))
    .table()
}

fn place(merges: When) -> usize {
    MERGES
        .iter()
        .position(|known| *known == merges)
        .unwrap_or_default()
}

/// Visits an allocation from one sample to another; `None` if there are no allocations between.
fn between(from: Sample, to: Sample) -> Option<f64> {
    let allocations = to
        .allocations
        .checked_sub(from.allocations)
        .filter(|count| *count > 0)?;
    Some((to.visits - from.visits) as f64 / allocations as f64)
}

const START: Sample = Sample {
    allocations: 0,
    collections: 0,
    visits: 0,
};

/// Visits an allocation before the first collection, and after it.
fn around_the_first(samples: &[Sample]) -> (Option<f64>, Option<f64>) {
    let first = samples
        .iter()
        .take_while(|sample| sample.collections == 0)
        .last();
    let first = first.copied().unwrap_or(START);
    let last = samples.last().copied().unwrap_or(START);
    (between(START, first), between(first, last))
}

/// In how many of the intervals between two collections visits rise, and how many there are: the
/// mean of the last third over that of the first.
fn rises(samples: &[Sample]) -> (u32, u32) {
    let (mut rising, mut all) = (0, 0);
    for interval in samples.chunk_by(|a, b| a.collections == b.collections) {
        if interval.len() < LONG || interval[0].collections == 0 {
            continue;
        }
        let third = interval.len() / 3;
        let last = interval.len() - 1;
        let first = between(interval[0], interval[third]);
        let later = between(interval[last - third], interval[last]);
        all += 1;
        rising += u32::from(later > first);
    }
    (rising, all)
}

fn plot(client: &Recorded, rows: &[Row<'_>], is_thesis: bool) -> Option<Plot> {
    let of_plot = |row: &&Row<'_>| {
        row.client.name == client.name && row.is_thesis == is_thesis && row.merges.is_some()
    };
    let series = rows.iter().filter(of_plot).filter_map(|row| {
        let points = points(&row.outcome.as_ref()?.samples);
        (!points.is_empty()).then(|| Series::new(row.name, points))
    });
    let series: Vec<_> = series.collect();
    let heap = if is_thesis {
        "heap of 6 MiB"
    } else {
        "heap of 2 x the minimum"
    };
    (!series.is_empty()).then(|| Plot {
        title: format!("{}: {heap}", client.name),
        x: Axis::from_zero("thousand allocations"),
        y: Axis::from_zero("visits per allocation"),
        series,
    })
}

fn points(samples: &[Sample]) -> Vec<(f64, f64)> {
    let step = samples.len().div_ceil(POINTS).max(1);
    let mut before = START;
    let mut points = Vec::new();
    for &sample in samples.iter().skip(step - 1).step_by(step) {
        let visits = between(before, sample);
        points.extend(visits.map(|visits| (sample.allocations as f64 / 1e3, visits)));
        before = sample;
    }
    points
}

/// What claims rest on: visits per allocation, and the samples, of a program's rows.
fn claims(name: &str, rows: &[Row<'_>]) -> Vec<Claim> {
    let find = |merges: Option<When>, is_thesis: bool| {
        let row = rows.iter().find(|row| {
            row.client.name == name && row.merges == merges && row.is_thesis == is_thesis
        });
        row.and_then(|row| row.outcome.as_ref())
    };
    // Without a collection, what is seen is the beginning alone.
    let collected = |merges| find(merges, true).filter(|outcome| outcome.totals.collections > 0);
    let thesis = {
        let of = |merges| collected(merges).map(Outcome::visits_per_allocation);
        [
            of(Some(When::Never)),
            of(Some(When::Deferred)),
            of(Some(When::Immediate)),
            of(None),
        ]
    };
    let samples = |merges: When| {
        let both = [true, false].map(|is_thesis| find(Some(merges), is_thesis));
        both.into_iter()
            .flatten()
            .map(|outcome| outcome.samples.as_slice())
            .collect::<Vec<_>>()
    };
    let mut claims = vec![
        in_the_range(name, 0, thesis[0]),
        in_the_range(name, 1, thesis[1]),
        in_the_range(name, 2, thesis[2]),
        immediate_visits_most(name, thesis),
        one_list_visits_more(name, thesis),
    ];
    for merges in MERGES {
        let name = format!("{name}, {}", merges_name(merges));
        claims.push(very_high_before_the_first(&name, &samples(merges)));
        claims.push(rises_between_collections(&name, &samples(merges)));
    }
    claims
}

fn figures(visits: [Option<f64>; 4]) -> String {
    let names = ["never", "deferred", "immediate", "single list"];
    let shown = names.iter().zip(visits).map(|(name, visits)| match visits {
        Some(visits) => format!("{name} {visits:.1}"),
        None => format!("{name} does not complete or collect"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn in_the_range(name: &str, strategy: usize, visits: Option<f64>) -> Claim {
    let (least, most) = PRINTED[strategy];
    let merges = merges_name(MERGES[strategy]);
    let range = match least < most {
        true => format!("{least} to {most}"),
        false => format!("about {least}"),
    };
    Claim::that(format!(
        "{name}: {merges} coalescing visits {range} an allocation at 6 MB"
    ))
    .papers(format!("table 2-2: {range}"))
    .ours(visits.map_or_else(
        || "does not complete, or never collects".to_owned(),
        |visits| format!("{visits:.1}"),
    ))
    .decide(
        visits.map(|visits| (least / 1.5..=most * 1.5).contains(&visits)),
        "counted; within a factor of 1.5 of the range, since the programs are \
         others",
    )
}

fn immediate_visits_most(name: &str, visits: [Option<f64>; 4]) -> Claim {
    let others = visits[..2].iter().flatten().copied().reduce(f64::max);
    Claim::that(format!(
        "{name}: immediate coalescing visits more than never and deferred"
    ))
    .papers("table 2-2: 50 beside 15 to 40 and 17 to 40")
    .ours(figures(visits))
    .decide(
        others
            .zip(visits[2])
            .map(|(others, immediate)| immediate > others),
        "counted, in a heap of 6 MiB; compared with those of the two that \
         complete in it",
    )
}

fn one_list_visits_more(name: &str, visits: [Option<f64>; 4]) -> Claim {
    let segregated = visits[..3].iter().flatten().copied().reduce(f64::max);
    Claim::that(format!(
        "{name}: one list takes several hundred visits, more than segregated \
         lists"
    ))
    .papers("table 2-2: several hundred")
    .ours(figures(visits))
    .decide(
        visits[3]
            .zip(segregated)
            .map(|(one, most)| one >= 200.0 && one > most),
        "counted, in a heap of 6 MiB; 200 or more, and more than each of the \
         others",
    )
}

fn very_high_before_the_first(name: &str, all: &[&[Sample]]) -> Claim {
    let pairs = all.iter().filter_map(|samples| {
        let (before, after) = around_the_first(samples);
        before.zip(after)
    });
    let pairs: Vec<_> = pairs.collect();
    let shown = pairs
        .iter()
        .map(|(before, after)| format!("{before:.1} then {after:.1}"));
    Claim::that(format!(
        "{name}: visits are highest before the first collection"
    ))
    .papers("figure 3-1: very high before it")
    .ours(match pairs.is_empty() {
        true => "no collection".to_owned(),
        false => format!(
            "before it, after it: {}",
            shown.collect::<Vec<_>>().join("; ")
        ),
    })
    .decide(
        (!pairs.is_empty()).then(|| pairs.iter().all(|(before, after)| before > after)),
        "counted, in each heap in which it completes and collects",
    )
}

fn rises_between_collections(name: &str, all: &[&[Sample]]) -> Claim {
    let sums = all.iter().map(|samples| rises(samples));
    let (rising, intervals) = sums.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    Claim::that(format!(
        "{name}: visits are low right after a collection and rise towards the \
         next"
    ))
    .papers("figure 3-1")
    .ours(format!("{rising} of {intervals} intervals"))
    .decide(
        (intervals > 0).then(|| rising * 10 >= intervals * 9),
        "counted, in every heap in which it completes; the last third of an \
         interval has more visits than the first in nine of ten",
    )
}

#[cfg(test)]
mod tests {
    use surefit_clients::java::Sample;

    use super::{
        around_the_first, immediate_visits_most, in_the_range, one_list_visits_more, rises,
        rises_between_collections,
    };
    use crate::kit::Verdict;

    /// Samples of intervals of ten, in which visits are as given.
    fn samples(visits: impl Fn(u64, u64) -> u64) -> Vec<Sample> {
        let mut sum = 0;
        let sample = |index: u64| {
            sum += visits(index / 10, index % 10) * 100;
            Sample {
                allocations: (index + 1) * 100,
                collections: index / 10,
                visits: sum,
            }
        };
        (0..60).map(sample).collect()
    }

    #[test]
    fn intervals_that_rise_are_counted() {
        let rising = samples(|interval, place| if interval == 0 { 100 } else { 1 + place });
        assert_eq!(rises(&rising), (5, 5));
        let (before, after) = around_the_first(&rising);
        assert_eq!(before, Some(100.0));
        assert!(after.is_some_and(|after| after < 10.0));
        let falling = samples(|_, place| 10 - place);
        assert_eq!(rises(&falling), (0, 5));
        let verdict = |all: &[&[Sample]]| rises_between_collections("t", all).verdict;
        assert_eq!(verdict(&[rising.as_slice()]), Verdict::Holds);
        assert_eq!(verdict(&[falling.as_slice()]), Verdict::DoesNot);
        assert_eq!(verdict(&[]), Verdict::NotComparable);
    }

    #[test]
    fn verdicts_follow_the_visits() {
        let thesis = [Some(20.0), Some(30.0), Some(50.0), Some(300.0)];
        let contrary = [Some(90.0), Some(1.0), Some(5.0), Some(60.0)];
        for (visits, verdict) in [(thesis, Verdict::Holds), (contrary, Verdict::DoesNot)] {
            assert_eq!(in_the_range("t", 0, visits[0]).verdict, verdict);
            assert_eq!(immediate_visits_most("t", visits).verdict, verdict);
            assert_eq!(one_list_visits_more("t", visits).verdict, verdict);
        }
        assert_eq!(in_the_range("t", 2, None).verdict, Verdict::NotComparable);
    }
}
