//! The configurations, how many threads each has, and what was measured of them.

use crate::shared::threads::figures::spread;
use crate::shared::threads::heaps::{Outcome, Scheme, Setup};
use surefit_measure::ratio::Ratio;

/// Threads of parts (a) and (b).
pub(super) const THREADS: [usize; 5] = [1, 2, 3, 4, 8];

/// Threads of part (c).
pub(super) const SHARING: usize = 8;

/// Threads per instance of part (c).
pub(super) const EACH: [u16; 4] = [1, 2, 4, 8];

/// Percent of frees that another thread makes, of part (c).
pub(super) const FOREIGN: [u32; 3] = [0, 10, 50];

/// One line of a plot: a configuration over threads.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) setup: Setup,
    pub(super) part: char,
    /// For each of [`THREADS`].
    pub(super) points: Vec<Point>,
}

/// One configuration on so many threads.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) threads: usize,
    pub(super) foreign_percent: u32,
    pub(super) per_second: Vec<f64>,
    pub(super) counts: Counts,
}

/// What does not depend on cores, for each malloc and each free.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// The calls that it was counted in: mallocs, frees.
    pub(super) calls: (u64, u64),
    pub(super) locks: (f64, f64),
    pub(super) contended: (f64, f64),
    pub(super) rmw: (f64, f64),
}

impl Counts {
    /// How many acquisitions were contended.
    pub(super) fn contended_total(&self) -> f64 {
        self.contended.0 * self.calls.0 as f64 + self.contended.1 * self.calls.1 as f64
    }

    /// Contended acquisitions of a malloc and its free.
    pub(super) fn contended_each(&self) -> f64 {
        self.contended.0 + self.contended.1
    }

    pub(super) fn of(setup: &Setup, point: &Point, outcome: &Outcome) -> Self {
        let (mallocs, frees) = (outcome.driven.mallocs, outcome.driven.frees);
        let locks = (mallocs.locks_each(), frees.locks_each());
        let moves = outcome.stats.map_or(0.0, |stats| {
            stats.moves_total as f64 / outcome.driven.frees_in_all.max(1) as f64
        });
        let by_construction = entry_writes(setup, point);
        Self {
            calls: (mallocs.count, frees.count),
            locks,
            contended: (mallocs.contended_each(), frees.contended_each()),
            rmw: (
                2.0 * locks.0 + by_construction.0,
                2.0 * locks.1 + by_construction.1 + 2.0 * moves,
            ),
        }
    }
}

/// Atomic read-modify-writes of entries and deferred lists, by construction.
///
/// A malloc begins and ends the object's construction, and pins and unpins it for its first word. A
/// free marks the entry: by a store in 1-CF, by a read-modify-write in n-CF. Without a bound, a
/// free of another instance's object pins it, marks it, unpins it, claims it, and links it to the
/// deferred list.
pub(super) fn entry_writes(setup: &Setup, point: &Point) -> (f64, f64) {
    match setup.scheme {
        Scheme::OneHeapLock | Scheme::OneClassLocks | Scheme::OnePageLocks => (4.0, 0.0),
        Scheme::Instances(each) if setup.kappa.is_none() && point.threads > usize::from(each) => {
            // a thread's neighbour is in another instance once in so many threads
            (
                4.0,
                1.0 + 5.0 * f64::from(point.foreign_percent) / 100.0 / f64::from(each),
            )
        }
        Scheme::Instances(_) => (4.0, 1.0),
        Scheme::DirectEach => (0.0, 0.0),
    }
}

pub(super) fn lines() -> Vec<Line> {
    let parts = [
        ('a', Setup::new(Scheme::OneHeapLock, Some(1))),
        ('a', Setup::new(Scheme::OneClassLocks, Some(1))),
        ('a', Setup::new(Scheme::Instances(1), Some(1))),
        ('b', Setup::new(Scheme::Instances(1), None)),
        ('b', Setup::new(Scheme::DirectEach, None)),
    ];
    let line = |(part, setup)| Line {
        setup,
        part,
        points: THREADS.map(|threads| point(threads, 0)).to_vec(),
    };
    parts.into_iter().map(line).collect()
}

pub(super) fn sharing() -> Vec<(Setup, Point)> {
    let mut sharing = Vec::new();
    for kappa in [Some(1), None] {
        for each in EACH {
            for foreign in FOREIGN {
                sharing.push((
                    Setup::new(Scheme::Instances(each), kappa),
                    point(SHARING, foreign),
                ));
            }
        }
    }
    sharing
}

pub(super) fn point(threads: usize, foreign_percent: u32) -> Point {
    Point {
        threads,
        foreign_percent,
        per_second: Vec::new(),
        counts: Counts::default(),
    }
}

/// The throughput of so many threads over that of one.
pub(super) fn speedup(line: &Line, threads: usize) -> Option<Ratio> {
    let rounds = speedups(line, threads)?;
    (!rounds.is_empty()).then(|| spread(&rounds))
}

/// The same, round by round.
pub(super) fn speedups(line: &Line, threads: usize) -> Option<Vec<f64>> {
    let (one, many) = line.on(1).zip(line.on(threads))?;
    let rounds = many.per_second.iter().zip(&one.per_second);
    Some(rounds.map(|(many, one)| many / one).collect())
}

impl Line {
    /// The point of so many threads.
    pub(super) fn on(&self, threads: usize) -> Option<&Point> {
        self.points.iter().find(|point| point.threads == threads)
    }
}

pub(super) fn find(
    sharing: &[(Setup, Point)],
    kappa: Option<u32>,
    each: u16,
    foreign: u32,
) -> Option<&Point> {
    let found = sharing.iter().find(|(setup, point)| {
        setup.kappa == kappa
            && setup.scheme == Scheme::Instances(each)
            && point.foreign_percent == foreign
    });
    found.map(|(_, point)| point)
}
