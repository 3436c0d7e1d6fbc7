//! `surefit experiment memory-threads`: memory of 1-CF and n-CF against threads, beside what is
//! proven.
//!
//! ```text
//! worst order   each thread keeps m page-blocks of one size-class live; pages in use beside ⌊(h + κ (π - 1)) / π⌋ for
//!               every instance, with equality                                     one thread plays all of them: exact
//! at random     threads allocate and free 16 B to 4 KiB; the most pages that a watcher sees, beside the same bound over
//!               all size-classes, with frees in progress, pins and buffered pages
//! ```
//!
//! # Source
//! Craciunas et al. (2009): memory size of 1-CF and n-CF, by its order only:
//!
//! ```text
//! 1-CF(κ)  O((n·m + κ(π-1))·β)     n-CF(κ)  O(n·(m + κ(π-1))·β)     both without a bound  O(n·m·π·β)
//! ```
//! The paper's line is what stands in the brackets, in pages: divided by π·β.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use anyhow::Result;
use surefit_compact::automaton::incremental::pages_bound_in_flight;
use surefit_compact::{Bound, Geometry};

use crate::kit::{Axis, Claim, Entry, Plot, Report, Request, Series, Table, papers};
use crate::shared::threads::figures::cores;
use crate::shared::threads::heaps::{Scheme, Setup, or_infinite, watched};
use crate::shared::threads::load::{Load, Sizes};
use crate::shared::threads::probe::{Counts, Shape, probe};

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "memory-threads",
    about: "Memory of 1-CF and n-CF against threads, beside the proven bounds",
    takes_traces: false,
    takes_rounds: false,
    run,
};

const THREADS: [u16; 4] = [1, 2, 4, 8];

const KAPPAS: [Option<u32>; 3] = [Some(1), Some(8), None];

/// Both heaps: names, and whether every thread has an instance.
const HEAPS: [(&str, bool); 2] = [("1-CF", false), ("n-CF", true)];

/// One worst order.
#[derive(Clone, Copy, Debug)]
struct Worst {
    heap: usize,
    kappa: Option<u32>,
    threads: u16,
    counts: Counts,
    bound: u64,
    /// What stands in the brackets of the paper's order, in pages.
    order: f64,
}

/// One random run.
#[derive(Clone, Copy, Debug)]
struct Random {
    heap: usize,
    kappa: Option<u32>,
    threads: u16,
    looks: u64,
    pages: u64,
    bound: u64,
    administrative_bytes: u64,
}

fn run(request: &Request) -> Result<Report> {
    let (mut worst, mut random) = (Vec::new(), Vec::new());
    for kappa in KAPPAS {
        for heap in 0..HEAPS.len() {
            for threads in THREADS {
                worst.push(worst_order(request, heap, kappa, threads)?);
                random.push(at_random(request, heap, kappa, threads)?);
            }
        }
    }
    Ok(report(request, &worst, &random))
}

fn shape(request: &Request, heap: usize, kappa: Option<u32>, threads: u16) -> Shape {
    Shape {
        is_sharded: HEAPS[heap].1,
        threads,
        live: if request.quick { 64 } else { 512 },
        page_bytes: 4096,
        block_bytes: 248,
        kappa,
        increment: None,
    }
}

fn worst_order(request: &Request, heap: usize, kappa: Option<u32>, threads: u16) -> Result<Worst> {
    let shape = shape(request, heap, kappa, threads);
    let (counts, blocks) = (probe(&shape)?, shape.blocks()?);
    // what is live: all that fits in the pages that are in use, less their holes
    let live = counts.pages * u64::from(blocks) - counts.holes;
    let instances = if shape.is_sharded {
        u64::from(threads)
    } else {
        1
    };
    let each = u32::try_from(live / instances)?;
    // without a bound a page stays as long as one of its page-blocks is live
    let most = match kappa {
        Some(kappa) => pages_bound_in_flight(Bound::Pages(kappa), blocks, each, u32::MAX, 0, 0),
        None => each,
    };
    Ok(Worst {
        heap,
        kappa,
        threads,
        counts,
        bound: u64::from(most) * instances,
        order: order(&shape, blocks, instances),
    })
}

/// What stands in the brackets of the paper's order of memory size, in pages.
fn order(shape: &Shape, blocks: u32, instances: u64) -> f64 {
    let live = u64::from(shape.threads) * u64::from(shape.live);
    shape.kappa.map_or(live as f64, |kappa| {
        let holes = instances * u64::from(kappa) * u64::from(blocks - 1);
        (live + holes) as f64 / f64::from(blocks)
    })
}

fn load(request: &Request) -> Load {
    Load {
        slots: 400,
        calls: if request.quick { 2_000 } else { 100_000 },
        sizes: Sizes::Between(16, 4096),
        foreign_percent: 0,
    }
}

fn at_random(request: &Request, heap: usize, kappa: Option<u32>, threads: u16) -> Result<Random> {
    let load = load(request);
    let scheme = if HEAPS[heap].1 {
        Scheme::Instances(1)
    } else {
        Scheme::OneClassLocks
    };
    let [pages, looks, administrative] = [const { AtomicU64::new(0) }; 3];
    let look = |usage: surefit_core::Usage, stats: surefit_compact::shared::SharedStats| {
        looks.fetch_add(1, Relaxed);
        pages.fetch_max(stats.pages, Relaxed);
        administrative.fetch_max(usage.administrative_bytes as u64, Relaxed);
    };
    watched(
        &Setup::new(scheme, kappa),
        usize::from(threads),
        &load,
        &look,
    )?;
    Ok(Random {
        heap,
        kappa,
        threads,
        looks: looks.into_inner(),
        pages: pages.into_inner(),
        bound: random_bound(&load, HEAPS[heap].1, kappa, threads),
        administrative_bytes: administrative.into_inner(),
    })
}

/// The most pages of all size-classes, each at the most objects that the scripts ever have live in
/// it. In 1-CF those of the threads add up, and all of them may have a free or a pin in progress;
/// in n-CF each instance serves one thread.
fn random_bound(load: &Load, is_sharded: bool, kappa: Option<u32>, threads: u16) -> u64 {
    let geometry = Geometry::DEFAULT;
    let peaks: Vec<_> = (0..usize::from(threads))
        .map(|thread| load.peaks(thread, &geometry))
        .collect();
    let bound = kappa.map_or(Bound::Unbounded, Bound::Pages);
    let class_bound = |class: surefit_compact::SizeClass, peak: u32, calls: u32| {
        let blocks = u32::from(geometry.layout(class).blocks);
        u64::from(pages_bound_in_flight(
            bound, blocks, peak, peak, calls, calls,
        ))
    };
    let of_class = |class: surefit_compact::SizeClass| {
        let peaks = peaks.iter().map(|peaks| peaks[class.index()]);
        if is_sharded {
            peaks.map(|peak| class_bound(class, peak, 1)).sum::<u64>()
        } else {
            class_bound(class, peaks.sum(), u32::from(threads))
        }
    };
    geometry.classes().map(of_class).sum()
}

// ---- report
// -------------------------------------------------------------------------------------------------

fn report(request: &Request, worst: &[Worst], random: &[Random]) -> Report {
    let source = papers::of_2009!("memory size");
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting.push(format!(
        "Worst order: {} page-blocks of 248 B per thread, pages of 4 KiB, class locks. At random: {} slots per thread, 16 B to 4 \
         KiB, {} calls per thread, pages of 16 KiB; {} cores.",
        shape(request, 0, None, 1).live,
        load(request).slots,
        load(request).calls,
        cores()
    ));
    report.tables.push(worst_table(worst));
    report.tables.push(random_table(random));
    report
        .plots
        .extend([worst_plot(worst), random_plot(random)]);
    report.claims.push(tight(worst));
    report.claims.push(of_order(worst));
    report.claims.push(within(random));
    report.claims.push(one_is_smaller(worst));
    report.notes.push(
        "Pages are those of size-classes; a registered thread may buffer two free pages beside them. Administrative bytes are \
         those of the whole region: tables of all its pages, and for every instance a record for each size-class."
            .to_owned(),
    );
    report
}

fn worst_table(rows: &[Worst]) -> Table {
    Table::of(
        "worst order, one size-class; order: what stands in the paper's O(…), in pages",
        rows,
    )
    .text("heap", |row| HEAPS[row.heap].0)
    .text("κ", |row| or_infinite(row.kappa))
    .figure("threads", 0, |row| u32::from(row.threads))
    .figure("pages", 0, |row| row.counts.pages)
    .figure("bound", 0, |row| row.bound)
    .papers("order", 1, |row| row.order)
    .figure("holes", 0, |row| row.counts.holes)
    .figure("administrative B", 0, |row| row.counts.administrative_bytes)
    .table()
}

fn random_table(rows: &[Random]) -> Table {
    Table::of("at random, all size-classes", rows)
        .text("heap", |row| HEAPS[row.heap].0)
        .text("κ", |row| or_infinite(row.kappa))
        .figure("threads", 0, |row| u32::from(row.threads))
        .figure("looks", 0, |row| row.looks)
        .figure("most pages", 0, |row| (row.looks > 0).then_some(row.pages))
        .figure("bound", 0, |row| row.bound)
        .figure("administrative B", 0, |row| {
            (row.looks > 0).then_some(row.administrative_bytes)
        })
        .table()
}

fn series(points: impl Iterator<Item = (usize, Option<u32>, u16, u64)> + Clone) -> Vec<Series> {
    let mut all = Vec::new();
    for kappa in KAPPAS {
        for (heap, (name, _)) in HEAPS.iter().enumerate() {
            let of_it = points
                .clone()
                .filter(|(of, bound, ..)| *of == heap && *bound == kappa);
            let points: Vec<_> = of_it
                .map(|(_, _, threads, pages)| (f64::from(threads), pages as f64))
                .collect();
            all.push(Series::new(
                format!("{name}, κ={}", or_infinite(kappa)),
                points,
            ));
        }
    }
    all
}

fn worst_plot(rows: &[Worst]) -> Plot {
    let mut series = series(
        rows.iter()
            .map(|row| (row.heap, row.kappa, row.threads, row.counts.pages)),
    );
    // of the others the paper's line lies on ours as well, and twelve lines are too many
    let kappa = KAPPAS[1];
    for (heap, (name, _)) in HEAPS.iter().enumerate() {
        let of_it = rows
            .iter()
            .filter(|row| row.heap == heap && row.kappa == kappa);
        let points = of_it.map(|row| (f64::from(row.threads), row.order));
        let name = format!("{name}, κ={}, order", or_infinite(kappa));
        series.push(Series::papers(name, points.collect::<Vec<_>>()));
    }
    Plot {
        title: "worst order: pages in use".to_owned(),
        x: Axis::from_zero("threads"),
        y: Axis::logarithmic("pages"),
        series,
    }
}

fn random_plot(rows: &[Random]) -> Plot {
    Plot {
        title: "at random: most pages in use".to_owned(),
        x: Axis::from_zero("threads"),
        y: Axis::from_zero("pages"),
        series: series(
            rows.iter()
                .filter(|row| row.looks > 0)
                .map(|row| (row.heap, row.kappa, row.threads, row.pages)),
        ),
    }
}

fn tight(rows: &[Worst]) -> Claim {
    let equal = rows
        .iter()
        .filter(|row| row.counts.pages == row.bound)
        .count();
    Claim::that("pages in the worst order are exactly what our bound allows")
        .ours_alone()
        .ours(format!("equal in {equal} of {} cases", rows.len()))
        .decide(
            (!rows.is_empty()).then_some(equal == rows.len()),
            "counted and computed pages are equal: ⌊(h + κ(π-1)) / π⌋ for every instance",
        )
}

fn of_order(rows: &[Worst]) -> Claim {
    let over = rows
        .iter()
        .filter(|row| row.counts.pages as f64 > row.order)
        .count();
    let ratios = rows.iter().map(|row| row.counts.pages as f64 / row.order);
    let (least, most) = ratios.fold((f64::INFINITY, 0.0_f64), |(least, most), ratio| {
        (least.min(ratio), most.max(ratio))
    });
    Claim::that("memory in the worst order is of the paper's order, with a constant of 1 at most")
        .of("complexity")
        .papers("O((n·m + κ(π-1))·β), O(n·(m + κ(π-1))·β), O(n·m·π·β)")
        .measured((!rows.is_empty()).then(|| format!("{least:.2} to {most:.2} of it")))
        .decide(
            (!rows.is_empty()).then_some(over == 0),
            "counted pages are nowhere above what stands in the paper's brackets, divided by π·β",
        )
}

fn within(rows: &[Random]) -> Claim {
    let seen: Vec<_> = rows.iter().filter(|row| row.looks > 0).collect();
    let nearest = seen
        .iter()
        .map(|row| row.pages as f64 / row.bound as f64)
        .fold(0.0, f64::max);
    let over = seen.iter().filter(|row| row.pages > row.bound).count();
    Claim::that("at random, pages stay within our bound while threads run")
        .ours_alone()
        .ours(format!(
            "{over} of {} runs above it; at most {:.0} % of it",
            seen.len(),
            nearest * 100.0
        ))
        .decide(
            (!seen.is_empty()).then_some(over == 0),
            "no look saw more pages than the bound at the scripts' own peaks; not comparable without a look",
        )
}

fn one_is_smaller(rows: &[Worst]) -> Claim {
    let of = |heap, kappa, threads| {
        let is_it = |row: &&Worst| row.heap == heap && row.kappa == kappa && row.threads == threads;
        rows.iter().find(is_it).map(|row| row.counts.holes)
    };
    let last = THREADS[THREADS.len() - 1];
    let pairs: Option<Vec<_>> = KAPPAS[..2]
        .iter()
        .map(|kappa| Some((of(0, *kappa, last)?, of(1, *kappa, last)?)))
        .collect();
    let words = pairs
        .iter()
        .flatten()
        .map(|(one, many)| format!("{one} and {many}"));
    Claim::that("size-class fragmentation of n-CF is n times that of 1-CF")
        .of("complexity")
        .of("question 4")
        .papers("O(nκ(π-1)β) and O(κ(π-1)β)")
        .ours(format!(
            "holes on {last} threads, κ = 1 and 8: {}",
            words.collect::<Vec<_>>().join("; ")
        ))
        .decide(
            pairs.map(|pairs| {
                pairs
                    .iter()
                    .all(|(one, many)| *many == one * u64::from(last))
            }),
            "counted in the worst order",
        )
}

#[cfg(test)]
mod tests {
    use super::{
        KAPPAS, Random, Worst, of_order, one_is_smaller, order, run, shape, tight, within,
    };
    use crate::kit::{Cell, Request, Verdict};
    use crate::shared::threads::probe::Counts;

    /// Worst orders on 8 threads, whose pages are so many more than the bound.
    fn worst(more: u64) -> Vec<Worst> {
        let cases = KAPPAS.iter().flat_map(|kappa| [(0, *kappa), (1, *kappa)]);
        let one = |(heap, kappa)| {
            let instances = if heap == 1 { 8 } else { 1 };
            let quick = Request {
                quick: true,
                ..Request::default()
            };
            let order = order(&shape(&quick, heap, kappa, 8), 16, instances);
            let bound = order as u64;
            Worst {
                heap,
                kappa,
                threads: 8,
                counts: Counts {
                    pages: bound + more,
                    holes: instances * 15 + heap as u64 * more,
                    ..Counts::default()
                },
                bound,
                order,
            }
        };
        cases.map(one).collect()
    }

    #[test]
    fn verdicts_on_the_worst_order_follow_the_counts() {
        let claims = |rows: &[Worst]| [tight(rows), of_order(rows), one_is_smaller(rows)];
        let verdicts = |rows: &[Worst]| claims(rows).map(|claim| claim.verdict);
        assert_eq!(verdicts(&worst(0)), [Verdict::Holds; 3]);
        assert_eq!(verdicts(&worst(1)), [Verdict::DoesNot; 3]);
        assert_eq!(verdicts(&[]), [Verdict::NotComparable; 3]);
    }

    #[test]
    fn a_look_that_sees_too_many_pages_refutes_the_bound() {
        let verdict = |looks, pages| {
            let run = Random {
                heap: 0,
                kappa: Some(1),
                threads: 2,
                looks,
                pages,
                bound: 80,
                administrative_bytes: 0,
            };
            within(&[run]).verdict
        };
        assert_eq!(verdict(3, 80), Verdict::Holds);
        assert_eq!(verdict(3, 81), Verdict::DoesNot);
        assert_eq!(verdict(0, 0), Verdict::NotComparable);
    }

    #[test]
    fn pages_reach_the_bound_in_the_worst_order_and_never_pass_it() {
        let report = run(&Request {
            quick: true,
            ..Request::default()
        })
        .expect("probed");
        assert_eq!(report.tables[0].rows.len(), 24);
        for claim in &report.claims {
            assert_eq!(
                claim.verdict,
                Verdict::Holds,
                "{claim:?}\n{:?}",
                report.tables
            );
        }
        // n-CF(∞): as many pages as live page-blocks
        assert_eq!(report.tables[0].rows[20][3], Cell::Count(64));
    }
}
