//! The configurations of the papers as heaps that a load runs on, with a choice of locks.

use std::fmt;
use std::mem::MaybeUninit;

use anyhow::{Context, Result, bail, ensure};
use surefit_compact::shared::{
    Granularity, PerClass, PerHeap, PerPage, ShardedHeap, SharedConfig, SharedHeap, SharedStats,
    Stepwise,
};
use surefit_compact::{Bound, Config, Geometry, GeometrySpec, Spacing};
use surefit_core::Usage;
use surefit_os::Reservation;

use super::drive::{Driven, drive};
use super::load::Load;
use super::lock::{Counted, Probe, Timed, Yielding};
use super::raw;
use super::worker::{ManyCf, OneCf};
use surefit_measure::error::Broken;

/// How threads share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// 1-CF with one lock.
    OneHeapLock,
    /// 1-CF with one lock per size-class.
    OneClassLocks,
    /// 1-CF with one lock per page.
    OnePageLocks,
    /// n-CF with class locks and a given number of threads per instance.
    Instances(u16),
    /// One raw heap per thread, without locks: optimised non-compacting Compact-fit, no sharing.
    DirectEach,
    /// One raw heap, optimised and non-compacting, with an instance of its own for each thread.
    DirectOwn,
    /// The same with a given number of threads per instance, under its group's lock.
    DirectGroups(u16),
}

/// A configuration.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// How threads share.
    pub(crate) scheme: Scheme,
    /// κ; `None` is ∞.
    pub(crate) kappa: Option<u32>,
    /// ι in bytes; `None` is ∞.
    pub(crate) increment: Option<u32>,
}

impl Setup {
    /// A configuration with whole moves.
    pub(crate) const fn new(scheme: Scheme, kappa: Option<u32>) -> Self {
        Self {
            scheme,
            kappa,
            increment: None,
        }
    }

    /// The same with moves in steps.
    pub(crate) const fn with_increment(self, increment: Option<u32>) -> Self {
        Self { increment, ..self }
    }
}

/// A bound or an increment as the papers write it.
pub(crate) fn or_infinite(number: Option<u32>) -> String {
    number.map_or_else(|| "∞".to_owned(), |number| number.to_string())
}

impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kappa, increment) = (or_infinite(self.kappa), or_infinite(self.increment));
        match self.scheme {
            Scheme::OneHeapLock => write!(f, "1-CF({kappa},{increment}), one lock"),
            Scheme::OneClassLocks => write!(f, "1-CF({kappa},{increment}), class locks"),
            Scheme::OnePageLocks => write!(f, "1-CF({kappa},{increment}), page locks"),
            Scheme::Instances(1) => write!(f, "n-CF({kappa},{increment})"),
            Scheme::Instances(each) => {
                write!(f, "n-CF({kappa},{increment}), {each} threads per instance")
            }
            Scheme::DirectEach => write!(f, "raw heaps, no locks"),
            Scheme::DirectOwn => write!(f, "raw n-CF(∞,∞)"),
            Scheme::DirectGroups(each) => write!(f, "raw n-CF(∞,∞), groups of {each}"),
        }
    }
}

/// What a run found, with the heap's own counters at its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// The threads' part.
    pub(crate) driven: Driven,
    /// The heap's, when everything was freed; none for raw heaps.
    pub(crate) stats: Option<SharedStats>,
}

impl Outcome {
    fn without_stats(driven: Driven) -> Self {
        Self {
            driven,
            stats: None,
        }
    }
}

/// What is looked at while a load runs.
pub(crate) type Watch<'a> = Option<&'a (dyn Fn(Usage, SharedStats) + Sync)>;

/// Runs a load with bare locks, for times.
///
/// # Errors
/// A refusal; no memory; a heap that breaks an invariant.
pub(crate) fn timed(setup: &Setup, threads: usize, load: &Load) -> Result<Outcome> {
    run::<parking_lot::RawMutex>(setup, threads, load, None)
}

/// Runs a load with locks that count.
///
/// # Errors
/// As [`timed`].
pub(crate) fn counted(setup: &Setup, threads: usize, load: &Load) -> Result<Outcome> {
    run::<Counted>(setup, threads, load, None)
}

/// Runs a load with locks that time.
///
/// # Errors
/// As [`timed`].
pub(crate) fn latencies(setup: &Setup, threads: usize, load: &Load) -> Result<Outcome> {
    run::<Timed>(setup, threads, load, None)
}

/// Runs a load while a watcher looks at the heap; threads take turns section by section.
///
/// # Errors
/// As [`timed`].
pub(crate) fn watched(
    setup: &Setup,
    threads: usize,
    load: &Load,
    watch: &(dyn Fn(Usage, SharedStats) + Sync),
) -> Result<Outcome> {
    run::<Yielding>(setup, threads, load, Some(watch))
}

fn run<R: Probe>(setup: &Setup, threads: usize, load: &Load, watch: Watch<'_>) -> Result<Outcome> {
    let mut region = Reservation::new(region_bytes(threads, load))?;
    let memory = region.memory();
    match setup.scheme {
        Scheme::OneHeapLock => {
            one::<R, PerHeap>(memory, &stepwise(setup, threads)?, threads, load, watch)
        }
        Scheme::OneClassLocks => {
            one::<R, PerClass>(memory, &stepwise(setup, threads)?, threads, load, watch)
        }
        Scheme::OnePageLocks => {
            ensure!(
                setup.increment.is_none(),
                "under page locks a move is one step"
            );
            one::<R, PerPage>(memory, &shared(setup, threads)?, threads, load, watch)
        }
        Scheme::Instances(each) => many::<R>(
            memory,
            &stepwise(setup, threads)?,
            each,
            threads,
            load,
            watch,
        ),
        Scheme::DirectEach => raw::each(memory, threads, load).map(Outcome::without_stats),
        Scheme::DirectOwn => raw::own::<R>(memory, threads, load).map(Outcome::without_stats),
        Scheme::DirectGroups(each) => {
            raw::groups::<R>(memory, each, threads, load).map(Outcome::without_stats)
        }
    }
    .with_context(|| format!("{setup}, {threads} threads"))
}

/// Room for every slot in a page of its own, which no heap needs, and for tables.
fn region_bytes(threads: usize, load: &Load) -> usize {
    let page = Geometry::DEFAULT.page_bytes();
    let pages = threads * (2 * load.slots as usize + 256);
    pages * page + (4 << 20)
}

/// The configuration, except for the increment; as many pins as threads, because each thread pins
/// what it writes to.
fn shared<G: Granularity>(setup: &Setup, threads: usize) -> Result<SharedConfig<G>> {
    let config = config(setup.kappa, Geometry::DEFAULT)?;
    let pins = u32::try_from(threads)?;
    let shared = SharedConfig::new(config).with_pins(pins);
    let buffered = shared.page_buffer();
    match shared.with_locals(u16::try_from(threads)?, buffered) {
        Ok(shared) => Ok(shared),
        Err(error) => bail!("{error}"),
    }
}

/// A configuration of κ not-full pages per size-class; objects up to a page are contiguous.
///
/// # Errors
/// κ = 0.
pub(crate) fn config(kappa: Option<u32>, geometry: Geometry) -> Result<Config> {
    let config = Config::new(geometry, kappa.map_or(Bound::Unbounded, Bound::Pages))?;
    Ok(config.with_pieces(None)?)
}

/// A geometry of one page-block size beside the page itself.
///
/// # Errors
/// A size that is no multiple of eight, or larger than the page; a page that is no power of two
/// from 1 to 64 KiB.
pub(crate) fn one_size(page_bytes: usize, block_bytes: u32) -> Result<Geometry> {
    Ok(Geometry::new(&GeometrySpec {
        page_bytes,
        spacing: Spacing::Explicit(&[block_bytes]),
        ..GeometrySpec::DEFAULT
    })?)
}

fn stepwise<G: Stepwise>(setup: &Setup, threads: usize) -> Result<SharedConfig<G>> {
    let shared = shared(setup, threads)?;
    let Some(bytes) = setup.increment else {
        return Ok(shared);
    };
    match shared.with_increment(bytes) {
        Ok(shared) => Ok(shared),
        Err(error) => bail!("{error}"),
    }
}

fn one<R: Probe, G: Granularity>(
    memory: &mut [MaybeUninit<u8>],
    config: &SharedConfig<G>,
    threads: usize,
    load: &Load,
    watch: Watch<'_>,
) -> Result<Outcome> {
    let heap: SharedHeap<'_, R, G> = SharedHeap::new(memory, config)?;
    let locals: Result<Vec<_>, _> = (0..threads).map(|_| heap.register()).collect();
    let workers = locals?
        .into_iter()
        .map(|local| OneCf { heap: &heap, local })
        .collect();
    let look = watch.map(|watch| || watch(heap.usage(), heap.stats()));
    let driven = drive(
        workers,
        load,
        look.as_ref().map(|look| look as &(dyn Fn() + Sync)),
    )?;
    ended(driven, heap.stats(), || heap.check(false))
}

fn many<R: Probe>(
    memory: &mut [MaybeUninit<u8>],
    config: &SharedConfig<PerClass>,
    each: u16,
    threads: usize,
    load: &Load,
    watch: Watch<'_>,
) -> Result<Outcome> {
    let instances = threads.div_ceil(usize::from(each));
    let heap: ShardedHeap<'_, R> = ShardedHeap::new(memory, config, u16::try_from(instances)?)?;
    // neighbours share an instance, and the frees of one thread's objects by others are made by its
    // neighbour
    let instance_of = |thread| u32::try_from(thread / usize::from(each));
    let mut workers = Vec::new();
    for thread in 0..threads {
        let local = heap.register_in(instance_of(thread)?)?;
        workers.push(ManyCf { heap: &heap, local });
    }
    let look = watch.map(|watch| || watch(heap.usage(), heap.stats()));
    let driven = drive(
        workers,
        load,
        look.as_ref().map(|look| look as &(dyn Fn() + Sync)),
    )?;
    heap.compact(u64::MAX);
    ended(driven, heap.stats(), || heap.check(false))
}

/// The outcome of a run after which everything was freed.
fn ended<E: fmt::Debug>(
    driven: Driven,
    stats: SharedStats,
    check: impl FnOnce() -> Result<(), E>,
) -> Result<Outcome> {
    if let Err(corruption) = check() {
        return Err(Broken(format!("an invariant does not hold: {corruption:?}")).into());
    }
    if stats.live_blocks != 0 || stats.pages != 0 {
        let (blocks, pages) = (stats.live_blocks, stats.pages);
        return Err(Broken(format!("{blocks} page-blocks and {pages} pages are left")).into());
    }
    Ok(Outcome {
        driven,
        stats: Some(stats),
    })
}

#[cfg(test)]
mod tests {
    use super::{Driven, Outcome, Scheme, Setup, counted, latencies, timed, watched};
    use crate::shared::threads::load::{Load, Sizes};
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    const LOAD: Load = Load {
        slots: 40,
        calls: 2000,
        sizes: Sizes::FIGURE_12,
        foreign_percent: 0,
    };

    fn setups() -> Vec<Setup> {
        let schemes = [
            Scheme::OneHeapLock,
            Scheme::OneClassLocks,
            Scheme::OnePageLocks,
            Scheme::Instances(1),
            Scheme::Instances(2),
            Scheme::DirectEach,
            Scheme::DirectOwn,
            Scheme::DirectGroups(1),
            Scheme::DirectGroups(2),
        ];
        let all = schemes.map(|scheme| [Some(1), None].map(|kappa| Setup::new(scheme, kappa)));
        all.into_iter().flatten().collect()
    }

    fn is_direct(scheme: Scheme) -> bool {
        matches!(
            scheme,
            Scheme::DirectEach | Scheme::DirectOwn | Scheme::DirectGroups(_)
        )
    }

    fn calls(outcome: &Outcome) -> u64 {
        outcome.driven.mallocs.count + outcome.driven.frees.count
    }

    #[test]
    fn every_configuration_serves_two_threads_and_ends_empty() {
        for setup in setups() {
            let outcome = timed(&setup, 2, &LOAD).expect("served");
            assert_eq!(calls(&outcome), 2 * LOAD.calls, "{setup}");
            assert!(outcome.driven.ns > 0);
            let moves = outcome.stats.map_or(0, |stats| stats.moves_total);
            assert_eq!(
                moves > 0,
                setup.kappa.is_some() && !is_direct(setup.scheme),
                "{setup}"
            );
        }
    }

    #[test]
    fn a_call_takes_at_least_the_lock_of_its_class() {
        for setup in setups() {
            let outcome = counted(&setup, 1, &LOAD).expect("served");
            let each =
                [outcome.driven.mallocs, outcome.driven.frees].map(|calls| calls.locks_each());
            // an instance of a thread's own asks for the pool's lock now and then
            let least = match setup.scheme {
                Scheme::DirectEach | Scheme::DirectOwn => 0.0,
                _ => 1.0,
            };
            assert!(each.iter().all(|each| *each >= least), "{setup}: {each:?}");
            assert_eq!(outcome.driven.mallocs.contended_each(), 0.0);
            let again = counted(&setup, 1, &LOAD).expect("served");
            assert_eq!(
                again.driven.frees.locks, outcome.driven.frees.locks,
                "{setup}"
            );
        }
    }

    #[test]
    fn frees_that_were_left_to_the_owner_are_made() {
        let load = Load {
            foreign_percent: 50,
            ..LOAD
        };
        timed(&Setup::new(Scheme::Instances(1), None), 3, &load).expect("served");
    }

    #[test]
    fn foreign_frees_bring_everything_back() {
        let load = Load {
            foreign_percent: 50,
            ..LOAD
        };
        for scheme in [
            Scheme::OneClassLocks,
            Scheme::OnePageLocks,
            Scheme::Instances(1),
        ] {
            timed(&Setup::new(scheme, Some(1)), 3, &load).expect("served");
        }
        assert!(timed(&Setup::new(Scheme::DirectEach, None), 2, &load).is_err());
    }

    #[test]
    fn foreign_frees_of_raw_pointers_bring_everything_back() {
        let raw = timed(&Setup::new(Scheme::DirectEach, None), 5, &LOAD).expect("served");
        for foreign_percent in [0, 10, 50, 100] {
            let load = Load {
                foreign_percent,
                ..LOAD
            };
            for scheme in [
                Scheme::DirectOwn,
                Scheme::DirectGroups(1),
                Scheme::DirectGroups(3),
            ] {
                let outcome = timed(&Setup::new(scheme, None), 5, &load).expect("served");
                let mallocs = [&outcome, &raw].map(|outcome| outcome.driven.mallocs.count);
                assert_eq!(mallocs[0], mallocs[1], "{scheme:?}");
                let freed = [&outcome, &raw].map(|outcome| outcome.driven.frees_in_all);
                assert_eq!(freed[0], freed[1], "{scheme:?}");
            }
        }
    }

    #[test]
    fn an_instance_of_its_own_takes_only_the_lock_of_the_pool() {
        let taken = |scheme| {
            let outcome = counted(&Setup::new(scheme, None), 1, &LOAD).expect("served");
            let Driven { mallocs, frees, .. } = outcome.driven;
            assert_eq!(mallocs.count + frees.count, LOAD.calls);
            [mallocs, frees].map(|calls| (calls.locks.taken, calls.count))
        };
        assert!(
            taken(Scheme::DirectOwn)
                .iter()
                .all(|(taken, calls)| taken < calls)
        );
        // Under its group's lock, each call takes that one too; and the pool's no less often, since
        // a group keeps nothing of what it frees in a free list.
        let [own, group] = [Scheme::DirectOwn, Scheme::DirectGroups(1)].map(taken);
        for ((own, calls), (group, _)) in own.into_iter().zip(group) {
            assert!(
                (own + calls..2 * calls).contains(&group),
                "{own} {group} of {calls}"
            );
        }
    }

    #[test]
    fn more_groups_than_a_heap_has_are_an_error() {
        let error = timed(&Setup::new(Scheme::DirectGroups(1), None), 9, &LOAD).expect_err("9");
        assert!(format!("{error:#}").contains("8 groups"), "{error:#}");
    }

    #[test]
    fn times_are_of_the_heaps_locks_and_watchers_look() {
        let setup = Setup::new(Scheme::OneClassLocks, Some(1)).with_increment(Some(64));
        let outcome = latencies(&setup, 2, &LOAD).expect("served");
        let times = outcome.driven.times.expect("timed");
        assert!(times.held.len() >= 2 * LOAD.calls);
        assert!(
            outcome
                .stats
                .is_some_and(|stats| stats.copied_in_section_max == 64)
        );
        let looks = AtomicU64::new(0);
        watched(&setup, 2, &LOAD, &|usage, stats| {
            assert!(usage.total() > 0 && stats.reserved_blocks <= 100);
            looks.fetch_add(1, Relaxed);
        })
        .expect("served");
        assert!(looks.load(Relaxed) > 0);
    }
}
