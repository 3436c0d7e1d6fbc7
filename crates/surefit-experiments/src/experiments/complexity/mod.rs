//! `surefit experiment complexity`: how the work and memory of five configurations grow, by
//! counting.
//!
//! ```text
//! configuration       1-CF(∞,∞)  1-CF(κ,∞)  n-CF(∞,∞)  n-CF(κ,∞)  1-CF(κ,ι)
//! parameters          n threads, m page-blocks per thread, β, π, κ, ι: one grows, the others stay
//! malloc, free        locks taken and words copied by the call that did most
//! latency             most words copied while a lock was held once, and one for the section itself
//! memory, fragments   pages in use, and holes, in bytes, in the worst order of calls
//! exponent            of the counted figure, and of the claimed expression, over the same points
//! ```
//! O(·) bounds from above: a claim holds where no counted exponent is above the claimed one, or no
//! counted figure above the claimed expression itself. The n in the claimed times of 1-CF is
//! waiting for a lock; it is shown as the longest queue that formed before one.
//!
//! # Source
//! Craciunas et al. (2009): the complexities of the five configurations.

use anyhow::Result;

use crate::kit::{Axis, Cell, Claim, Column, Entry, Plot, Report, Request, Series, Table, Whose};
use crate::shared::threads::figures::{cores, exponent};
use crate::shared::threads::heaps::{Scheme, Setup, counted};
use crate::shared::threads::load::{Load, Sizes};
use crate::shared::threads::probe::{Counts, Shape, probe};

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "complexity",
    about: "How work and memory of the five configurations grow, beside the claimed O(.)",
    takes_traces: false,
    takes_rounds: false,
    run,
};

/// Exponents that differ by less are equal: the constants beside the leading term.
const CLOSE: f64 = 0.1;

/// A figure within this factor of the claimed expression itself, taken without a constant, is
/// within it: pages are rounded.
const EXACT: f64 = 1.1;

/// Bytes of a word that a move copies.
const WORD: f64 = 8.0;

/// The five configurations: their name, whether they are sharded, and whether κ and ι are finite.
const CONFIGURATIONS: [(&str, bool, bool, bool); 5] = [
    ("1-CF(∞,∞)", false, false, false),
    ("1-CF(κ,∞)", false, true, false),
    ("n-CF(∞,∞)", true, false, false),
    ("n-CF(κ,∞)", true, true, false),
    ("1-CF(κ,ι)", false, true, true),
];

/// Locks that any call may take, whatever the parameters: of the size-class, of the thread's
/// buffer, of the pool for pages and for entries. How many of them the worst of some thousand calls
/// meets is chance, so fewer count as so many.
const LOCKS: u64 = 4;

/// What grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parameter {
    Threads,
    Live,
    BlockBytes,
    Blocks,
    Kappa,
    Increment,
}

const PARAMETERS: [(Parameter, &str); 6] = [
    (Parameter::Threads, "n"),
    (Parameter::Live, "m"),
    (Parameter::BlockBytes, "β"),
    (Parameter::Blocks, "π"),
    (Parameter::Kappa, "κ"),
    (Parameter::Increment, "ι"),
];

/// What is counted: its name and the papers' expressions for the five configurations.
const COLUMNS: [(&str, [&str; 5]); 5] = [
    ("malloc", ["O(n)", "O(n)", "O(1)", "O(1)", "O(n)"]),
    ("free", ["O(n)", "O(n+β)", "O(1)", "O(β)", "O(n+β+β/ι)"]),
    ("latency", ["O(1)", "O(β)", "O(1)", "O(β)", "O(min(β,ι))"]),
    (
        "memory",
        [
            "O(nmπβ)",
            "O((nm+κ(π-1))β)",
            "O(nmπβ)",
            "O(n(m+κ(π-1))β)",
            "O((nm+nπ+κ(π-1))β)",
        ],
    ),
    (
        "fragmentation",
        [
            "O(nm(π-1)β)",
            "O(κ(π-1)β)",
            "O(nm(π-1)β)",
            "O(nκ(π-1)β)",
            "O((nπ+κ(π-1))β)",
        ],
    ),
];

/// One heap that was probed.
#[derive(Clone, Copy, Debug)]
struct Probed {
    configuration: usize,
    parameter: Parameter,
    shape: Shape,
    /// π.
    blocks: u32,
    counts: Counts,
}

fn run(request: &Request) -> Result<Report> {
    let mut probed = Vec::new();
    for (configuration, (_, is_sharded, is_bounded, is_stepwise)) in
        CONFIGURATIONS.into_iter().enumerate()
    {
        for (parameter, _) in PARAMETERS {
            let has_it = match parameter {
                Parameter::Kappa => is_bounded,
                Parameter::Increment => is_stepwise,
                _ => true,
            };
            for step in 0..if has_it { steps(request.quick) } else { 0 } {
                let shape = Shape {
                    is_sharded,
                    kappa: is_bounded.then_some(2),
                    increment: is_stepwise.then_some(64),
                    ..base(request.quick)
                };
                let shape = grown(shape, parameter, step);
                probed.push(Probed {
                    configuration,
                    parameter,
                    shape,
                    blocks: shape.blocks()?,
                    counts: probe(&shape)?,
                });
            }
        }
    }
    report(request, &probed)
}

const fn steps(is_quick: bool) -> u32 {
    if is_quick { 3 } else { 5 }
}

fn base(is_quick: bool) -> Shape {
    Shape {
        is_sharded: false,
        threads: 2,
        live: if is_quick { 64 } else { 256 },
        page_bytes: 4096,
        block_bytes: 248,
        kappa: None,
        increment: None,
    }
}

/// The shape with one parameter grown `step` times; each time it doubles.
fn grown(shape: Shape, parameter: Parameter, step: u32) -> Shape {
    let factor = 1_u32 << step;
    match parameter {
        Parameter::Threads => Shape {
            threads: 1 << step,
            ..shape
        },
        Parameter::Live => Shape {
            live: shape.live * factor,
            ..shape
        },
        // π stays 16 while page and page-block grow together
        Parameter::BlockBytes => {
            let page_bytes = shape.page_bytes << step;
            let block_bytes = (page_bytes / 16 - 8) as u32;
            Shape {
                page_bytes,
                block_bytes,
                ..shape
            }
        }
        Parameter::Blocks => Shape {
            page_bytes: 1024 << step,
            ..shape
        },
        Parameter::Kappa => Shape {
            kappa: Some(factor),
            ..shape
        },
        Parameter::Increment => Shape {
            increment: Some(16 << step),
            ..shape
        },
    }
}

impl Probed {
    fn parameter(&self) -> f64 {
        let shape = self.shape;
        f64::from(match self.parameter {
            Parameter::Threads => u32::from(shape.threads),
            Parameter::Live => shape.live,
            Parameter::BlockBytes => shape.block_bytes,
            Parameter::Blocks => self.blocks,
            Parameter::Kappa => shape.kappa.unwrap_or(0),
            Parameter::Increment => shape.increment.unwrap_or(0),
        })
    }

    /// What was counted for a column of [`COLUMNS`].
    fn measured(&self, column: usize) -> f64 {
        let counts = &self.counts;
        let page = self.shape.page_bytes as f64;
        match column {
            0 => counts.malloc_locks.max(LOCKS) as f64,
            1 => counts.free_locks.max(LOCKS) as f64 + counts.free_bytes as f64 / WORD,
            2 => 1.0 + counts.section_bytes as f64 / WORD,
            3 => counts.pages as f64 * page,
            _ => counts.holes as f64 * f64::from(self.shape.block_bytes),
        }
    }

    /// What is claimed for it, without waiting and without constants: β and ι in words where they
    /// are work.
    fn claimed(&self, column: usize) -> f64 {
        let shape = self.shape;
        let (n, m) = (f64::from(shape.threads), f64::from(shape.live));
        let (pi, beta) = (f64::from(self.blocks), f64::from(shape.block_bytes));
        let kappa = f64::from(shape.kappa.unwrap_or(0));
        let iota = f64::from(shape.increment.unwrap_or(u32::MAX));
        let (_, is_sharded, is_bounded, is_stepwise) = CONFIGURATIONS[self.configuration];
        let instances = if is_sharded { n } else { 1.0 };
        let sparse = if is_bounded { instances * kappa } else { n * m };
        let reserved = if is_stepwise { n * pi } else { 0.0 };
        match column {
            0 => 1.0,
            1 if !is_bounded => 1.0,
            1 => {
                1.0 + beta / WORD
                    + if is_stepwise {
                        (beta / iota).ceil()
                    } else {
                        0.0
                    }
            }
            2 if !is_bounded => 1.0,
            2 => 1.0 + beta.min(iota) / WORD,
            3 => (n * m + reserved + sparse * (pi - 1.0)) * beta,
            _ => (reserved + sparse * (pi - 1.0)) * beta,
        }
    }
}

// ---- report
// ----------------------------------------------------------------------------------------------------------

fn report(request: &Request, probed: &[Probed]) -> Result<Report> {
    let mut report = Report::new(
        ENTRY.name,
        ENTRY.about,
        "Craciunas et al. (2009), complexities",
        request.quick,
    );
    let base = base(request.quick);
    report.setting.push(format!(
        "One size-class. Where they do not grow: n = {} threads, m = {} page-blocks a thread, β = {} B, π = {}, κ = 2, ι = \
         64 B; each parameter doubles {} times. One thread plays all of them, so every figure is the same every time.",
        base.threads,
        base.live,
        base.block_bytes,
        base.blocks()?,
        steps(request.quick) - 1
    ));
    for column in 0..COLUMNS.len() {
        report.tables.push(exponents_table(probed, column));
    }
    report.tables.push(points_table(probed));
    report.plots.extend(
        [(1, Parameter::BlockBytes), (4, Parameter::Threads)]
            .map(|(column, of)| plot(probed, column, of)),
    );
    for (configuration, (name, ..)) in CONFIGURATIONS.iter().enumerate() {
        for column in 0..COLUMNS.len() {
            report
                .claims
                .push(claim(probed, configuration, name, column));
        }
    }
    add_waiting(&mut report, request.quick)?;
    report.notes.push(
        "Work is counted as locks taken, at least the four of size-class, buffer, and pool (pages, entries), which a call meets \
         by chance, and words of eight bytes copied; looks at lists and bitmaps are bounded by constants \
         of the configuration (at most 64 bitmap words a page, Π + 1 victims a move) and have no counters."
            .to_owned(),
    );
    Ok(report)
}

fn points(
    probed: &[Probed],
    configuration: usize,
    parameter: Parameter,
) -> impl Iterator<Item = &Probed> {
    let is_of = move |probed: &&Probed| {
        probed.configuration == configuration && probed.parameter == parameter
    };
    probed.iter().filter(is_of)
}

/// The exponents of a column in a parameter: counted and claimed; `None` where a figure is zero or
/// there are no points. A figure that is zero throughout grows like a constant.
fn exponents(
    probed: &[Probed],
    configuration: usize,
    column: usize,
    parameter: Parameter,
) -> Option<(f64, f64)> {
    let of = |value: fn(&Probed, usize) -> f64| -> Vec<(f64, f64)> {
        let points = points(probed, configuration, parameter);
        points
            .map(|probed| (probed.parameter(), value(probed, column)))
            .collect()
    };
    let (measured, claimed) = (of(Probed::measured), of(Probed::claimed));
    if measured.is_empty() {
        return None;
    }
    Some((exponent(&measured)?, exponent(&claimed)?))
}

fn exponents_table(probed: &[Probed], column: usize) -> Table {
    let (name, claimed) = COLUMNS[column];
    let mut columns = vec![Column::text("configuration"), Column::text("claimed")];
    columns.extend(PARAMETERS.map(|(_, parameter)| Column::figure(parameter, 2)));
    let mut table = Table::new(format!("{name}: exponents"), columns);
    for (configuration, (title, ..)) in CONFIGURATIONS.iter().enumerate() {
        let mut cells: Vec<Cell> = vec![(*title).into(), claimed[configuration].into()];
        for (parameter, _) in PARAMETERS {
            let pair = exponents(probed, configuration, column, parameter);
            cells.push(pair.map(|pair| pair.0).into());
        }
        table.row(cells);
    }
    table
}

fn points_table(probed: &[Probed]) -> Table {
    Table::of(
        "what was counted: the most of one call, and memory in the worst order",
        probed.iter().map(|one| {
            (
                one,
                PARAMETERS
                    .iter()
                    .find(|(parameter, _)| *parameter == one.parameter),
            )
        }),
    )
    .text("configuration", |(one, _)| {
        CONFIGURATIONS[one.configuration].0
    })
    .text("grows", |(_, name)| name.map_or("", |(_, name)| *name))
    .figure("to", 0, |(one, _)| one.parameter())
    .figure("locks/malloc", 0, |(one, _)| one.counts.malloc_locks)
    .figure("locks/free", 0, |(one, _)| one.counts.free_locks)
    .figure("B/free", 0, |(one, _)| one.counts.free_bytes)
    .figure("B/section", 0, |(one, _)| one.counts.section_bytes)
    .figure("pages", 0, |(one, _)| one.counts.pages)
    .figure("holes", 0, |(one, _)| one.counts.holes)
    .table()
}

fn plot(probed: &[Probed], column: usize, parameter: Parameter) -> Plot {
    let label = PARAMETERS
        .iter()
        .find(|(other, _)| *other == parameter)
        .map_or("", |(_, name)| *name);
    let mut series = Vec::new();
    for (configuration, (name, ..)) in CONFIGURATIONS.iter().enumerate() {
        let of = |value: fn(&Probed, usize) -> f64| -> Vec<(f64, f64)> {
            let points = points(probed, configuration, parameter);
            points
                .map(|probed| (probed.parameter(), value(probed, column).max(1.0)))
                .collect()
        };
        series.push(Series::new(*name, of(Probed::measured)));
        if configuration == 4 {
            let claimed = Series::new(format!("{name} claimed"), of(Probed::claimed));
            series.push(Series {
                whose: Whose::Papers,
                ..claimed
            });
        }
    }
    let (name, what) = if column == 1 {
        ("free", "locks and words copied")
    } else {
        ("fragmentation", "bytes")
    };
    Plot {
        title: format!("{name} against {label}"),
        x: Axis::logarithmic(label),
        y: Axis::logarithmic(what),
        series,
    }
}

// ---- claims
// ----------------------------------------------------------------------------------------------------------

fn claim(probed: &[Probed], configuration: usize, name: &str, column: usize) -> Claim {
    let mut words = Vec::new();
    let of_it: Vec<_> = probed
        .iter()
        .filter(|one| one.configuration == configuration)
        .collect();
    let is_below = of_it
        .iter()
        .all(|one| one.measured(column) <= EXACT * one.claimed(column));
    let (mut any, mut grows_no_faster) = (false, true);
    for (parameter, letter) in PARAMETERS {
        let Some((ours, claimed)) = exponents(probed, configuration, column, parameter) else {
            continue;
        };
        any = true;
        grows_no_faster &= ours <= claimed + CLOSE;
        words.push(format!("{letter} {ours:.2}, {claimed:.2}"));
    }
    let (what, expressions) = COLUMNS[column];
    Claim::that(format!("{name}: {what} is {}", expressions[configuration]))
        .papers(expressions[configuration].to_owned())
        .ours(format!(
            "exponents, counted and claimed: {}",
            words.join("; ")
        ))
        .decide(
            any.then_some(grows_no_faster || is_below),
            format!(
                "no counted exponent is above the claimed one by more than {CLOSE}, or \
                 no counted figure above {EXACT} times the claimed expression; waiting \
                 (n) is apart"
            ),
        )
}

/// The longest queue before a lock, with real threads in one size-class.
fn add_waiting(report: &mut Report, is_quick: bool) -> Result<()> {
    let load = Load {
        slots: 100,
        calls: if is_quick { 2_000 } else { 200_000 },
        sizes: Sizes::All(240),
        foreign_percent: 0,
    };
    let columns = [
        Column::figure("threads", 0),
        Column::figure("1-CF(1,∞): longest queue", 0),
        Column::figure("contended/k calls", 2),
        Column::figure("n-CF(1,∞): longest queue", 0),
        Column::figure("contended/k calls", 2),
    ];
    let mut table = Table::new(
        "waiting: threads before one lock, all in one size-class",
        columns,
    );
    let mut queues = Vec::new();
    for threads in [1, 2, 4, 8] {
        let mut most = 0;
        let mut cells: Vec<Cell> = vec![(threads as u64).into()];
        for scheme in [Scheme::OneClassLocks, Scheme::Instances(1)] {
            let driven = counted(&Setup::new(scheme, Some(1)), threads, &load)?.driven;
            let locks = [driven.mallocs.locks, driven.frees.locks];
            let queue = locks
                .iter()
                .map(|locks| locks.longest_queue)
                .max()
                .unwrap_or(0);
            let contended = locks.iter().map(|locks| locks.contended).sum::<u64>();
            let calls = driven.mallocs.count + driven.frees.count;
            most = most.max(queue);
            cells.push(queue.into());
            cells.push((contended as f64 * 1e3 / calls as f64).into());
        }
        table.row(cells);
        queues.push((threads, most));
    }
    report.tables.push(table);
    report.claims.push(waiting_grows(&queues, cores()));
    Ok(())
}

/// Whether the queue grows with the threads, where each of them has a core.
fn waiting_grows(queues: &[(usize, u32)], cores: usize) -> Claim {
    let points: Vec<_> = queues
        .iter()
        .map(|&(threads, queue)| (threads as f64, f64::from(queue)))
        .collect();
    let (threads, most) = queues.last().copied().unwrap_or_default();
    let grows = exponent(&points).map(|slope| (slope - 1.0).abs() <= CLOSE);
    Claim::that("waiting is O(n)")
        .of("complexity")
        .papers("the n in the times of 1-CF")
        .ours(format!(
            "longest queue, the caller included: {most} of {threads} threads"
        ))
        .decide(
            grows.filter(|_| cores >= threads),
            format!(
                "the exponent of the longest queue in threads is 1, give or take {CLOSE}; \
                     with fewer cores ({cores}) than threads the machine decides how long it \
                     gets: not comparable"
            ),
        )
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, CONFIGURATIONS, PARAMETERS, claim, exponents, run, waiting_grows};
    use crate::kit::{Request, Verdict};

    #[test]
    fn every_configuration_grows_no_faster_than_claimed() {
        let report = run(&Request {
            quick: true,
            ..Request::default()
        })
        .expect("probed");
        assert_eq!(
            report.claims.len(),
            COLUMNS.len() * CONFIGURATIONS.len() + 1
        );
        let (waiting, grown) = report.claims.split_last().expect("counted");
        for claim in grown {
            assert_eq!(claim.verdict, Verdict::Holds, "{claim:?}");
        }
        assert!(waiting.claim.contains("waiting"), "{waiting:?}");
    }

    #[test]
    fn waiting_is_judged_where_every_thread_has_a_core() {
        let verdict =
            |last, cores| waiting_grows(&[(1, 1), (2, 2), (4, 4), (8, last)], cores).verdict;
        assert_eq!(verdict(8, 8), Verdict::Holds);
        assert_eq!(verdict(2, 8), Verdict::DoesNot);
        assert_eq!(verdict(8, 7), Verdict::NotComparable);
    }

    #[test]
    fn a_figure_that_grows_faster_is_found() {
        let mut probed = Vec::new();
        for step in 0..3 {
            let shape = super::grown(super::base(true), super::Parameter::Threads, step);
            let counts = super::Counts {
                malloc_locks: 8 << step,
                ..super::Counts::default()
            };
            probed.push(super::Probed {
                configuration: 0,
                parameter: super::Parameter::Threads,
                shape,
                blocks: 16,
                counts,
            });
        }
        let pair = exponents(&probed, 0, 0, PARAMETERS[0].0).expect("points");
        assert!((pair.0 - 1.0).abs() < 1e-9 && pair.1.abs() < 1e-9);
        assert_eq!(claim(&probed, 0, "1-CF", 0).verdict, Verdict::DoesNot);
        assert_eq!(claim(&probed, 1, "1-CF", 0).verdict, Verdict::NotComparable);
    }
}
