//! `surefit experiment throughput-locks`: what a lock costs one thread, by how much it covers.
//!
//! ```text
//! per round: one lock, class locks, page locks × κ = 1, 8, ∞     interleaved; the same calls each time
//! relative   the time of class locks ÷ this one's, and of κ = 1 ÷ this one's, taken inside the round
//! ```
//! Times are of the thread's processor, so that other programs on the machine do not count.
//! One thread never waits, so only the work of locking shows: acquisitions are counted in a run of
//! their own, exactly.
//!
//! # Source
//! Craciunas et al. (2009), of one thread, in words: size-class locks do better than page locks,
//! and less compaction may give better throughput. The paper's figures are not known here.

use anyhow::Result;

use crate::kit::{Axis, Claim, Entry, Plot, Report, Request, Series, Table, Verdict, papers};
use crate::shared::threads::figures::{cores, ratio, spread, timed_ratio, untimed};
use crate::shared::threads::heaps::{Scheme, Setup, counted, or_infinite, timed};
use crate::shared::threads::load::{Load, Sizes};
use surefit_measure::progress::Progress;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "throughput-locks",
    about: "Throughput of one thread under one lock, size-class locks and page locks",
    takes_traces: false,
    takes_rounds: true,
    run,
};

const KAPPAS: [Option<u32>; 3] = [Some(1), Some(8), None];

const SCHEMES: [(Scheme, &str); 3] = [
    (Scheme::OneHeapLock, "one lock"),
    (Scheme::OneClassLocks, "class locks"),
    (Scheme::OnePageLocks, "page locks"),
];

/// Places in [`SCHEMES`].
const CLASS: usize = 1;
const PAGE: usize = 2;

/// One configuration.
#[derive(Clone, Debug)]
struct Row {
    kappa: Option<u32>,
    scheme: usize,
    /// Nanoseconds of processor time of an allocation and its free, round by round.
    pair_ns: Vec<f64>,
    /// Acquisitions of a malloc and of a free.
    locks: (f64, f64),
}

fn run(request: &Request) -> Result<Report> {
    let rounds = request.rounds_or(9);
    let load = load(request.quick);
    let mut rows = Vec::new();
    for kappa in KAPPAS {
        for (scheme, _) in SCHEMES {
            let driven = counted(
                &Setup::new(scheme, kappa),
                1,
                &Load {
                    calls: load.calls / 10,
                    ..load
                },
            )?
            .driven;
            let locks = (driven.mallocs.locks_each(), driven.frees.locks_each());
            rows.push(Row {
                kappa,
                scheme: rows.len() % SCHEMES.len(),
                pair_ns: Vec::new(),
                locks,
            });
        }
    }
    let progress = Progress::new(u64::from(rounds) * rows.len() as u64);
    for _ in 0..rounds {
        for row in &mut rows {
            let driven = timed(&Setup::new(SCHEMES[row.scheme].0, row.kappa), 1, &load)?.driven;
            row.pair_ns.push(driven.cpu_ns_each());
            progress.step(ENTRY.name, "rounds", &SCHEMES[row.scheme].1);
        }
    }
    progress.finish();
    Ok(report(request, rounds, &load, &rows))
}

/// Small objects, so that locking weighs.
fn load(quick: bool) -> Load {
    Load {
        slots: 2000,
        calls: if quick { 20_000 } else { 2_000_000 },
        sizes: Sizes::Between(16, 512),
        foreign_percent: 0,
    }
}

fn report(request: &Request, rounds: u32, load: &Load, rows: &[Row]) -> Report {
    let source = papers::of_2009!("single-thread throughput");
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting.push(format!(
        "One thread, {} slots, objects of 16 to 512 B at random, {} calls a round, {rounds} interleaved rounds, pages of \
         16 KiB, locks of the operating system; {} cores. The first word of every object is written. Times are of the \
         thread's processor.",
        load.slots,
        load.calls,
        cores()
    ));
    report.tables.push(table(rows));
    report.plots.push(plot(rows));
    for kappa in KAPPAS {
        report.claims.push(class_beats_page(rows, kappa));
    }
    report.claims.push(less_compaction(rows));
    report.claims.push(fewer_locks(rows));
    report.notes.push(
        "Under page locks a malloc that leaves its page not-full, and a free into a not-full page, take the lock of the \
         page and of the thread's buffer instead of that of the size-class; what changes lists takes both."
            .to_owned(),
    );
    report
}

fn of(rows: &[Row], kappa: Option<u32>, scheme: usize) -> Option<&Row> {
    rows.iter()
        .find(|row| row.kappa == kappa && row.scheme == scheme)
}

fn table(rows: &[Row]) -> Table {
    let to_class = |row: &Row| {
        let class = of(rows, row.kappa, CLASS)?;
        Some(ratio(&class.pair_ns, &row.pair_ns))
    };
    Table::of("an allocation with its free", rows)
        .text("κ", |row| or_infinite(row.kappa))
        .text("locks", |row| SCHEMES[row.scheme].1)
        .figure("ns/pair", 1, |row| spread(&row.pair_ns).median)
        .ratios("class locks ÷ this", 3, |row| to_class(row))
        .figure("locks/malloc", 3, |row| row.locks.0)
        .figure("locks/free", 3, |row| row.locks.1)
        .table()
}

fn plot(rows: &[Row]) -> Plot {
    let series = SCHEMES.iter().enumerate().map(|(scheme, (_, name))| {
        let mut series = Series::new(*name, Vec::new());
        for (place, kappa) in KAPPAS.into_iter().enumerate() {
            if let Some(row) = of(rows, kappa, scheme) {
                let per_second: Vec<_> = row.pair_ns.iter().map(|ns| 1e3 / ns).collect();
                let spread = spread(&per_second);
                series.points.push((place as f64, spread.median));
                series.spread.push((spread.min, spread.max));
            }
        }
        series
    });
    Plot {
        title: "throughput of one thread".to_owned(),
        x: Axis::named("κ", KAPPAS.map(or_infinite)),
        y: Axis::from_zero("million allocations/s"),
        series: series.collect(),
    }
}

fn class_beats_page(rows: &[Row], kappa: Option<u32>) -> Claim {
    let pair = of(rows, kappa, PAGE).zip(of(rows, kappa, CLASS));
    let ratio = pair.map(|(page, class)| ratio(&page.pair_ns, &class.pair_ns));
    let timed = pair.and_then(|(page, class)| timed_ratio(&page.pair_ns, &class.pair_ns));
    Claim::that(format!(
        "κ={}: size-class locks do better than page locks",
        or_infinite(kappa)
    ))
    .of("throughput")
    .of("size-class concurrency")
    .of("question 2")
    .papers("stated in words, of one thread")
    .measured(ratio.map(|ratio| format!("time under page locks ÷ under class locks: {ratio}")))
    .decide(
        timed.and_then(Verdict::is_greater),
        format!(
            "class locks are faster in every round, and by over 3 % in the median; {}",
            untimed()
        ),
    )
}

/// It may: one scheme is enough.
fn less_compaction(rows: &[Row]) -> Claim {
    let gains = SCHEMES
        .iter()
        .enumerate()
        .filter_map(|(scheme, (_, name))| {
            let (full, none) = of(rows, Some(1), scheme).zip(of(rows, None, scheme))?;
            let shown = ratio(&full.pair_ns, &none.pair_ns);
            let test = timed_ratio(&full.pair_ns, &none.pair_ns).and_then(Verdict::is_greater);
            Some((*name, shown, test))
        });
    let gains: Vec<_> = gains.collect();
    let words: Vec<_> = gains
        .iter()
        .map(|(name, ratio, _)| format!("{name} {ratio}"))
        .collect();
    Claim::that("less compaction may give better throughput")
        .of("throughput")
        .papers("stated in words, of one thread")
        .ours(format!("time of κ=1 ÷ of κ=∞: {}", words.join(", ")))
        .decide(
            Verdict::any_of(gains.iter().map(|(.., test)| *test)),
            format!(
                "under one scheme of locks at least, κ=∞ is faster than κ=1 in every round, and by over 3 % in the \
                 median; {}",
                untimed()
            ),
        )
}

fn fewer_locks(rows: &[Row]) -> Claim {
    let both = |row: &Row| row.locks.0 + row.locks.1;
    let pairs = KAPPAS
        .iter()
        .filter_map(|kappa| of(rows, *kappa, CLASS).zip(of(rows, *kappa, PAGE)));
    let pairs: Vec<_> = pairs
        .map(|(class, page)| (both(class), both(page)))
        .collect();
    let words: Vec<_> = pairs
        .iter()
        .map(|(class, page)| format!("{class:.2} to {page:.2}"))
        .collect();
    Claim::that(
        "page locks take more acquisitions for a malloc and its free than class \
         locks",
    )
    .ours_alone()
    .ours(format!("class to page, κ = 1, 8, ∞: {}", words.join(", ")))
    .decide(
        (!pairs.is_empty()).then(|| pairs.iter().all(|(class, page)| class < page)),
        "counted, at every κ",
    )
}

#[cfg(test)]
mod tests {
    use super::{Row, class_beats_page, fewer_locks, less_compaction};
    use crate::kit::Verdict;

    fn rows(page_ns: &[f64], page_locks: f64) -> Vec<Row> {
        let row = |scheme, pair_ns: &[f64], each| Row {
            kappa: Some(1),
            scheme,
            pair_ns: pair_ns.to_vec(),
            locks: (each, each),
        };
        vec![
            row(1, &[10.0, 10.0, 10.0], 1.0),
            row(2, page_ns, page_locks),
        ]
    }

    #[test]
    fn verdicts_follow_the_figures() {
        let verdict = |page_ns: &[f64]| class_beats_page(&rows(page_ns, 2.0), Some(1)).verdict;
        assert_eq!(verdict(&[12.0, 11.0, 13.0]), Verdict::Holds);
        assert_eq!(verdict(&[12.0, 9.0, 13.0]), Verdict::NotComparable);
        assert_eq!(verdict(&[10.1, 10.1, 10.1]), Verdict::DoesNot);
        // two rounds decide nothing
        assert_eq!(verdict(&[12.0, 11.0]), Verdict::NotComparable);
        assert_eq!(
            class_beats_page(&[], Some(1)).verdict,
            Verdict::NotComparable
        );
        assert_eq!(fewer_locks(&rows(&[1.0], 2.0)).verdict, Verdict::Holds);
        assert_eq!(fewer_locks(&rows(&[1.0], 0.5)).verdict, Verdict::DoesNot);
        assert_eq!(fewer_locks(&[]).verdict, Verdict::NotComparable);
    }

    #[test]
    fn less_compaction_is_better_if_it_is_under_one_scheme() {
        let row = |kappa, scheme, ns: f64| Row {
            kappa,
            scheme,
            pair_ns: vec![ns; 3],
            locks: (1.0, 1.0),
        };
        let verdict = |none: [f64; 2]| {
            let full = [0, 1].map(|scheme| row(Some(1), scheme, 10.0));
            let none = [0, 1].map(|scheme| row(None, scheme, none[scheme]));
            less_compaction(&[full, none].concat()).verdict
        };
        assert_eq!(verdict([10.0, 8.0]), Verdict::Holds);
        assert_eq!(verdict([10.0, 12.0]), Verdict::DoesNot);
        assert_eq!(less_compaction(&[]).verdict, Verdict::NotComparable);
    }
}
