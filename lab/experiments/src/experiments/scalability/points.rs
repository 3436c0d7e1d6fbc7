//! The configurations, how many threads each has, and what was measured of them.

use std::fmt;

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

/// Objects that a batch of foreign frees of raw pointers holds at least, if they are of at most 1
/// KiB.
const LEAST_BATCH: f64 = 16.0;

/// How threads share an instance in part (c).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// n-CF with handles, and a κ.
    Handles(Option<u32>),
    /// Raw pointers; the threads of an instance are a group.
    RawGroups,
}

impl Sharing {
    /// All that part (c) has.
    pub(super) const ALL: [Self; 3] =
        [Self::Handles(Some(1)), Self::Handles(None), Self::RawGroups];

    /// The configuration with so many threads per instance.
    pub(super) fn setup(self, each: u16) -> Setup {
        match self {
            Self::Handles(kappa) => Setup::new(Scheme::Instances(each), kappa),
            Self::RawGroups => Setup::new(Scheme::DirectGroups(each), None),
        }
    }
}

impl fmt::Display for Sharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Handles(_) => self.setup(1).fmt(f),
            Self::RawGroups => f.write_str("raw, groups"),
        }
    }
}

/// Raw pointers, where each thread has an instance without a lock: nothing of part (c) but foreign
/// frees is shared.
pub(super) const RAW_OWN: Setup = Setup::new(Scheme::DirectOwn, None);

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

    /// How many atomic read-modify-writes there were.
    pub(super) fn rmw_total(&self) -> f64 {
        self.rmw.0 * self.calls.0 as f64 + self.rmw.1 * self.calls.1 as f64
    }

    /// Atomic read-modify-writes of a malloc and its free.
    pub(super) fn rmw_each(&self) -> f64 {
        self.rmw.0 + self.rmw.1
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

/// Atomic read-modify-writes of entries, deferred lists and inboxes, by construction.
///
/// A malloc begins and ends the object's construction, and pins and unpins it for its first word. A
/// free marks the entry: by a store in 1-CF, by a read-modify-write in n-CF. Without a bound, a
/// free of another instance's object pins it, marks it, unpins it, claims it, and links it to the
/// deferred list.
///
/// Raw pointers have no entry. A batch of foreign frees is put into the owner's inbox by one
/// compare-and-exchange, and the owner's malloc takes what is there by one exchange: at most one
/// for each batch. A thread that has an instance fills its batches; whoever has a group's lock
/// sends them when the call ends, so each holds one object.
pub(super) fn entry_writes(setup: &Setup, point: &Point) -> (f64, f64) {
    // a thread's neighbour is in another instance once in so many threads
    let foreign = |each: u16| {
        let is_alone = point.threads <= usize::from(each);
        let percent = if is_alone { 0 } else { point.foreign_percent };
        f64::from(percent) / 100.0 / f64::from(each)
    };
    match setup.scheme {
        Scheme::OneHeapLock | Scheme::OneClassLocks | Scheme::OnePageLocks => (4.0, 0.0),
        Scheme::Instances(each) if setup.kappa.is_none() => (4.0, 1.0 + 5.0 * foreign(each)),
        Scheme::Instances(_) => (4.0, 1.0),
        Scheme::DirectEach => (0.0, 0.0),
        Scheme::DirectOwn => (foreign(1) / LEAST_BATCH, foreign(1) / LEAST_BATCH),
        Scheme::DirectGroups(each) => (foreign(each), foreign(each)),
    }
}

pub(super) fn lines() -> Vec<Line> {
    let parts = [
        ('a', Setup::new(Scheme::OneHeapLock, Some(1))),
        ('a', Setup::new(Scheme::OneClassLocks, Some(1))),
        ('a', Setup::new(Scheme::Instances(1), Some(1))),
        ('b', Setup::new(Scheme::Instances(1), None)),
        ('b', RAW_OWN),
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
    let mut setups = Vec::new();
    for shared in Sharing::ALL {
        setups.extend(EACH.map(|each| shared.setup(each)));
    }
    setups.push(RAW_OWN);
    let with_foreign =
        |setup: Setup| FOREIGN.map(|foreign| (setup.clone(), point(SHARING, foreign)));
    setups.into_iter().flat_map(with_foreign).collect()
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

/// The point of a configuration with so many foreign frees.
pub(super) fn find<'a>(
    sharing: &'a [(Setup, Point)],
    setup: &Setup,
    foreign: u32,
) -> Option<&'a Point> {
    let found = sharing.iter().find(|(other, point)| {
        (other.scheme, other.kappa) == (setup.scheme, setup.kappa)
            && point.foreign_percent == foreign
    });
    found.map(|(_, point)| point)
}

#[cfg(test)]
mod tests {
    use std::mem::MaybeUninit;

    use super::{LEAST_BATCH, RAW_OWN, Sharing, entry_writes, lines, point, sharing};
    use parking_lot::RawMutex;
    use surefit_direct::shared::{Settings, SharedDirect};

    #[test]
    fn writes_are_those_of_the_threads_that_are_of_other_instances() {
        let writes = |setup: &_, threads, foreign| entry_writes(setup, &point(threads, foreign));
        for shared in Sharing::ALL {
            let setup = shared.setup(4);
            // all four are of one instance
            assert_eq!(writes(&setup, 4, 50), writes(&setup, 4, 0), "{setup}");
        }
        assert_eq!(writes(&Sharing::Handles(None).setup(2), 8, 50), (4.0, 2.25));
        assert_eq!(writes(&Sharing::RawGroups.setup(2), 8, 50), (0.25, 0.25));
        assert_eq!(writes(&RAW_OWN, 8, 0), (0.0, 0.0));
        assert_eq!(writes(&RAW_OWN, 8, 50), (0.5 / 16.0, 0.5 / 16.0));
        assert_eq!(writes(&RAW_OWN, 1, 50), (0.0, 0.0));
    }

    /// How many objects of `bytes` bytes one thread frees of another one's before the first
    /// arrives.
    fn frees_before_one_arrives(bytes: usize) -> usize {
        let mut region = vec![MaybeUninit::uninit(); 4 << 20];
        let settings = Settings {
            threads: 2,
            checks: false,
            delay: u32::MAX,
        };
        let heap: SharedDirect<'_, RawMutex> =
            SharedDirect::new(&mut region, settings).expect("fits");
        let (owner, other) = (heap.join().expect("two"), heap.join().expect("two"));
        let objects: Vec<_> = (0..64)
            .map(|_| owner.allocate(bytes, 8).expect("fits"))
            .collect();
        let allocated = || {
            owner.trim();
            heap.stats().allocated
        };
        let all = allocated();
        let mut frees = 0;
        while allocated() == all {
            // SAFETY: live, and freed once.
            unsafe { other.free(objects[frees]) };
            frees += 1;
        }
        for object in &objects[frees..] {
            // SAFETY: as above.
            unsafe { owner.free(*object) };
        }
        frees
    }

    #[test]
    fn a_batch_holds_at_least_so_many_objects_of_the_load() {
        assert_eq!(frees_before_one_arrives(1024) as f64, LEAST_BATCH);
        assert!(frees_before_one_arrives(16) as f64 > LEAST_BATCH);
    }

    #[test]
    fn every_part_has_the_optimised_heap() {
        let is_raw = |part| {
            let raw =
                |line: &&super::Line| line.part == part && line.setup.scheme == RAW_OWN.scheme;
            lines().iter().filter(raw).count()
        };
        assert_eq!(['a', 'b'].map(is_raw), [0, 1]);
        assert_eq!(sharing().len(), (3 * 4 + 1) * 3);
    }
}
