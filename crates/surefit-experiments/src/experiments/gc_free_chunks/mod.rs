//! `surefit experiment gc-free-chunks`: the sizes of free chunks after each collection.
//!
//! ```text
//! systems   256 lists, last list linear, found by the table; never, deferred, immediate, all in one heap
//! when      each collection, once the request that caused it has been served; at most 64 B is small, above 1 KiB large
//! ```
//! Sizes are payloads: a chunk of 1 KiB serves a request of 1 KiB. Every figure is counted.
//!
//! # Source
//! The thesis on free-list organisation, figures 2-9, 2-10 and 3-3; "few free chunks above 1 KB" of
//! its chapter 4, which explains why more than 256 lists gain nothing.

use anyhow::Result;
use surefit_clients::java::{Collected, Finds, Options, Outcome};
use surefit_freelist::When;

use crate::kit::{Axis, Cell, Claim, Column, Entry, Plot, Report, Request, Series, Table};
use crate::shared::merges::{MERGES, merges_name};
use crate::shared::thesis::heaps::{self, common, segregated, times_live};
use crate::shared::thesis::recorded::{self, Recorded};

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "gc-free-chunks",
    about: "Sizes of free chunks after each collection of recorded Java programs",
    takes_traces: true,
    takes_rounds: false,
    run,
};

/// The greatest size of each row of the distribution, in bytes; the last row has no end.
const ENDS: [u32; 10] = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, u32::MAX];

/// Small chunks have at most so many bytes.
const SMALL: u32 = 64;

/// Large chunks have more.
const LARGE: u32 = 1024;

/// Few: at most so many percent.
const FEW: f64 = 5.0;

/// The sizes after each collection of one program with one strategy.
#[derive(Clone, Debug)]
struct Sizes {
    merges: When,
    /// For each collection, sizes and how many chunks have them.
    collections: Vec<Vec<(u32, u32)>>,
}

impl Sizes {
    fn new(merges: When, outcome: &Outcome) -> Self {
        let sizes = |collected: &Collected| collected.free_sizes.clone();
        Self {
            merges,
            collections: outcome.collections.iter().map(sizes).collect(),
        }
    }

    /// Chunks of sizes that are wanted, on average over the collections; `None` if there was none.
    fn mean(&self, is_wanted: impl Fn(u32) -> bool) -> Option<f64> {
        self.mean_of(is_wanted, |_| 1)
    }

    /// Bytes of such chunks.
    fn mean_bytes(&self, is_wanted: impl Fn(u32) -> bool) -> Option<f64> {
        self.mean_of(is_wanted, u64::from)
    }

    fn mean_of(&self, is_wanted: impl Fn(u32) -> bool, figure: fn(u32) -> u64) -> Option<f64> {
        let all = self.collections.iter().flatten();
        let wanted = all.filter(|(size, _)| is_wanted(*size));
        let sum: u64 = wanted
            .map(|&(size, count)| u64::from(count) * figure(size))
            .sum();
        let collections = self.collections.len();
        (collections > 0).then(|| sum as f64 / collections as f64)
    }

    /// Large chunks, in percent of all free chunks.
    fn percent_large(&self) -> Option<f64> {
        percent(self.mean(|size| size > LARGE)?, self.mean(|_| true)?)
    }

    /// Their bytes, in percent of all free bytes.
    fn percent_of_bytes(&self) -> Option<f64> {
        percent(
            self.mean_bytes(|size| size > LARGE)?,
            self.mean_bytes(|_| true)?,
        )
    }

    /// For each row of the distribution, how many percent of the chunks are no larger.
    fn up_to_each(&self) -> Vec<(f64, f64)> {
        let points = ENDS.iter().enumerate().filter_map(|(place, &end)| {
            let share = percent(self.mean(|size| size <= end)?, self.mean(|_| true)?)?;
            Some((place as f64, share))
        });
        points.collect()
    }

    /// For each collection, the mean size.
    fn means(&self) -> Vec<(f64, f64)> {
        let means = (0..self.collections.len()).filter_map(|collection| {
            let (_, mean) = self.at(collection)?;
            Some((collection as f64 + 1.0, mean))
        });
        means.collect()
    }

    /// Free chunks after a collection, and their mean size.
    fn at(&self, collection: usize) -> Option<(u64, f64)> {
        let sizes = self.collections.get(collection)?;
        let chunks: u64 = sizes.iter().map(|&(_, count)| u64::from(count)).sum();
        let bytes: u64 = sizes
            .iter()
            .map(|&(size, count)| u64::from(size) * u64::from(count))
            .sum();
        (chunks > 0).then(|| (chunks, bytes as f64 / chunks as f64))
    }
}

fn percent(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| 100.0 * part / whole)
}

fn run(request: &Request) -> Result<Report> {
    let source = "the thesis on free-list organisation, figures 2-9, 2-10 and 3-3";
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting.push(
        "256 lists, last list linear, found by the table; sizes of payloads, noted when the request that caused a collection had \
         been served; all strategies in one heap, the smallest of 2, 3, 4, 6, 8, 12, 16 x what lives most in which each completes. \
         Counted: the same run gives the same figures."
            .to_owned(),
    );
    for recorded in recorded::all(request)? {
        add(&mut report, &recorded?)?;
    }
    Ok(report)
}

fn add(report: &mut Report, recorded: &Recorded) -> Result<()> {
    let options = Options {
        free_sizes: true,
        ..Options::default()
    };
    let spaces = MERGES.map(|merges| segregated(Finds::NextHitTable, merges, false));
    let name = &recorded.name;
    let Some(found) = common(recorded, &spaces, &options)? else {
        report.notes.push(heaps::no_common(name));
        return Ok(());
    };
    let both = MERGES.iter().zip(&found.outcomes);
    let sizes = both.filter_map(|(&merges, outcome)| Some(Sizes::new(merges, outcome.as_ref()?)));
    let sizes: Vec<_> = sizes.collect();
    let mebibytes = times_live(recorded, found.times) as f64 / f64::from(1 << 20);
    let heap = format!(
        "{name}, {} x what lives most ({mebibytes:.2} MiB)",
        found.times
    );
    report.tables.extend([
        distribution(&heap, &sizes),
        sums(&heap, &sizes),
        drift(&heap, &sizes),
    ]);
    report.plots.extend(plots(name, &sizes));
    report.claims.extend(claims(name, &sizes));
    Ok(())
}

// ---- tables and plots
// ----------------------------------------------------------------------------------------------------

/// The sizes of a row of the distribution.
fn in_row(row: usize) -> impl Fn(u32) -> bool {
    let after = if row == 0 { 0 } else { ENDS[row - 1] };
    move |size| size > after && size <= ENDS[row]
}

fn row_name(row: usize) -> String {
    match ENDS[row] {
        u32::MAX => "more".to_owned(),
        end if end < 1024 => format!("{end}"),
        end => format!("{}K", end / 1024),
    }
}

fn columns(first: &str, all: &[Sizes]) -> Vec<Column> {
    let strategies = all
        .iter()
        .map(|sizes| Column::figure(merges_name(sizes.merges), 1));
    [Column::text(first)]
        .into_iter()
        .chain(strategies)
        .collect()
}

fn distribution(heap: &str, all: &[Sizes]) -> Table {
    let columns = columns("bytes, up to", all);
    let title = format!("{heap}: free chunks after a collection, on average");
    let mut table = Table::new(title, columns);
    for row in 0..ENDS.len() {
        let counts = all.iter().map(|sizes| Cell::from(sizes.mean(in_row(row))));
        let cells = [row_name(row).into()].into_iter().chain(counts);
        table.row(cells.collect::<Vec<_>>());
    }
    table
}

/// A figure of a strategy.
type Figure = fn(&Sizes) -> Option<f64>;

const FIGURES: [(&str, Figure); 7] = [
    ("collections", |sizes| Some(sizes.collections.len() as f64)),
    ("free chunks", |sizes| sizes.mean(|_| true)),
    ("free KiB", |sizes| {
        Some(sizes.mean_bytes(|_| true)? / 1024.0)
    }),
    ("chunks of at most 64 B", |sizes| {
        sizes.mean(|size| size <= SMALL)
    }),
    ("chunks above 1 KiB", |sizes| {
        sizes.mean(|size| size > LARGE)
    }),
    ("  % of the chunks", Sizes::percent_large),
    ("  % of the free bytes", Sizes::percent_of_bytes),
];

fn sums(heap: &str, all: &[Sizes]) -> Table {
    let columns = columns("after a collection", all);
    let mut table = Table::new(format!("{heap}: small and large free chunks"), columns);
    for (name, figure) in FIGURES {
        let figures = all.iter().map(|sizes| Cell::from(figure(sizes)));
        let cells = [name.into()].into_iter().chain(figures);
        table.row(cells.collect::<Vec<_>>());
    }
    table
}

/// Figure 3-3: how the distribution changes from collection to collection.
fn drift(heap: &str, all: &[Sizes]) -> Table {
    let columns = [
        Column::text("coalescing"),
        Column::text("collection"),
        Column::figure("number", 0),
        Column::figure("free chunks", 0),
        Column::figure("mean B", 1),
    ];
    let title = format!("{heap}: how free chunks change from collection to collection");
    let mut table = Table::new(title, columns);
    for sizes in all {
        let last = sizes.collections.len().saturating_sub(1);
        for (name, collection) in [("first", 0), ("middle", last / 2), ("last", last)] {
            let figures = sizes.at(collection);
            table.row([
                merges_name(sizes.merges).into(),
                name.into(),
                figures.map(|_| collection as u64 + 1).into(),
                figures.map(|(chunks, _)| chunks).into(),
                figures.map(|(_, mean)| mean).into(),
            ]);
        }
    }
    table
}

fn plots(name: &str, all: &[Sizes]) -> impl Iterator<Item = Plot> {
    // A strategy keeps its colour where another one is missing.
    let series = |points: fn(&Sizes) -> Vec<(f64, f64)>| {
        let one = |merges| {
            let sizes = all.iter().find(|sizes| sizes.merges == merges);
            Series::new(merges_name(merges), sizes.map(points).unwrap_or_default())
        };
        MERGES.map(one).to_vec()
    };
    let sizes = Plot {
        title: format!("{name}: free chunks after a collection"),
        x: Axis::named("bytes, up to", (0..ENDS.len()).map(row_name)),
        y: Axis::from_zero("% of the chunks are so small"),
        series: series(Sizes::up_to_each),
    };
    let drift = Plot {
        title: format!("{name}: drift of their sizes"),
        x: Axis::new("collection"),
        y: Axis::logarithmic("mean size, bytes"),
        series: series(Sizes::means),
    };
    let has_drift = all.iter().any(|sizes| sizes.collections.len() > 1);
    [sizes].into_iter().chain(has_drift.then_some(drift))
}

// ---- claims
// --------------------------------------------------------------------------------------------------------------

fn claims(name: &str, all: &[Sizes]) -> Vec<Claim> {
    let few = all.iter().map(|sizes| few_large(name, sizes));
    few.chain([fewer_small(name, all), more_large(name, all)])
        .collect()
}

fn few_large(name: &str, sizes: &Sizes) -> Claim {
    let share = sizes.percent_large();
    let bytes = sizes.percent_of_bytes();
    Claim::that(format!(
        "{name}, {}: few free chunks above 1 KB",
        merges_name(sizes.merges)
    ))
    .papers("chapter 4: few, so that more than 256 lists gain nothing")
    .ours(share.zip(bytes).map_or_else(
        || "no collection".to_owned(),
        |(share, bytes)| format!("{share:.2} % of the chunks, with {bytes:.1} % of the free bytes"),
    ))
    .decide(
        share.map(|share| share <= FEW),
        format!("counted over all collections; few is up to {FEW} % of the chunks"),
    )
}

/// One figure of all three strategies, if each collected.
fn of_all(all: &[Sizes], figure: impl Fn(&Sizes) -> Option<f64>) -> Option<[f64; 3]> {
    let of = |merges: When| figure(all.iter().find(|sizes| sizes.merges == merges)?);
    Some([of(When::Never)?, of(When::Deferred)?, of(When::Immediate)?])
}

fn compared(figures: Option<[f64; 3]>) -> String {
    figures.map_or_else(
        || "not all three complete and collect".to_owned(),
        |[never, deferred, immediate]| {
            format!("never {never:.1}, deferred {deferred:.1}, immediate {immediate:.1}")
        },
    )
}

fn fewer_small(name: &str, all: &[Sizes]) -> Claim {
    let small = of_all(all, |sizes| sizes.mean(|size| size <= SMALL));
    let test = |[never, deferred, immediate]: [f64; 3]| 2.0 * immediate < never.min(deferred);
    Claim::that(format!(
        "{name}: never and deferred leave many small chunks, immediate few"
    ))
    .papers("figures 2-9 and 2-10")
    .ours(format!("of at most {SMALL} B: {}", compared(small)))
    .decide(
        small.map(test),
        "counted after each collection; immediate leaves less than half of \
         either's",
    )
}

fn more_large(name: &str, all: &[Sizes]) -> Claim {
    let large = of_all(all, |sizes| sizes.mean(|size| size > LARGE));
    let test = |[never, deferred, immediate]: [f64; 3]| immediate > never.max(deferred);
    Claim::that(format!(
        "{name}: immediate leaves more large chunks than never and deferred"
    ))
    .papers("figures 2-9 and 2-10")
    .ours(format!("above 1 KiB: {}", compared(large)))
    .decide(large.map(test), "counted after each collection")
}

#[cfg(test)]
mod tests {
    use super::{ENDS, Sizes, claims, in_row};
    use crate::kit::Verdict;
    use crate::shared::merges::MERGES;
    use surefit_freelist::When;

    fn sizes(of: impl Fn(When) -> Vec<Vec<(u32, u32)>>) -> Vec<Sizes> {
        let one = |merges| Sizes {
            merges,
            collections: of(merges),
        };
        MERGES.map(one).to_vec()
    }

    fn verdicts(all: &[Sizes]) -> Vec<Verdict> {
        claims("t", all).iter().map(|claim| claim.verdict).collect()
    }

    #[test]
    fn few_large_and_few_small_if_immediate_is_the_thesis() {
        let thesis = sizes(|merges| match merges {
            When::Immediate => vec![vec![(24, 10), (512, 200), (4096, 5)]],
            _ => vec![vec![(24, 500), (2048, 1)], vec![(24, 600)]],
        });
        assert_eq!(verdicts(&thesis), [Verdict::Holds; 5]);
    }

    #[test]
    fn many_large_and_many_small_refute_it() {
        let other = sizes(|merges| match merges {
            When::Immediate => vec![vec![(24, 100), (1025, 50)]],
            _ => vec![vec![(24, 100), (4096, 60)]],
        });
        assert_eq!(verdicts(&other), [Verdict::DoesNot; 5]);
    }

    #[test]
    fn without_collections_nothing_is_comparable() {
        assert_eq!(
            verdicts(&sizes(|_| Vec::new())),
            [Verdict::NotComparable; 5]
        );
    }

    #[test]
    fn every_size_is_in_one_row() {
        for size in [8, 16, 17, 64, 65, 1024, 1025, 4096, 4097, u32::MAX] {
            let rows = (0..ENDS.len()).filter(|&row| in_row(row)(size));
            assert_eq!(rows.count(), 1, "{size}");
        }
    }

    #[test]
    fn means_are_over_collections() {
        let two = Sizes {
            merges: When::Never,
            collections: vec![vec![(16, 4), (2000, 1)], vec![(16, 2)]],
        };
        assert_eq!(two.mean(|size| size <= 64), Some(3.0));
        assert_eq!(
            two.mean_bytes(|_| true),
            Some(f64::from(4 * 16 + 2000 + 2 * 16) / 2.0)
        );
        assert_eq!(two.at(1), Some((2, 16.0)));
        assert_eq!(two.at(2), None);
    }
}
