//! One size-class driven to its worst, by one thread that plays all of them in turn: counts that
//! are the same every time.
//!
//! ```text
//! memory    k = min(κ, m): k full pages, and as many more as m - k page-blocks fill; then all but one page-block of each
//!           of the k pages are freed. m (except in an unfilled page) stay live, and k (π - 1) holes: no order of calls
//!           leaves more.
//! work      m page-blocks are allocated, 4000 random ones freed or allocated anew, all freed; the most that one call did
//! ```
//! Instructions are counted under valgrind, in a run of its own of the second part, in which some
//! calls are made by [`callgrind::call`]: a search of lists takes no lock and copies nothing.
//!
//! In 1-CF the threads share the m page-blocks of all of them; in n-CF each instance has its own
//! and its own k pages.

use anyhow::{Result, bail};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::Geometry;
use surefit_compact::shared::{PerClass, ShardedHeap, SharedConfig, SharedHeap, SharedStats};
use surefit_core::Usage;
use surefit_os::Reservation;

use super::heaps::{config, one_size};
use super::lock::{Counted, counted};
use super::worker::{ManyCf, OneCf, Worker};
use crate::shared::callgrind;

/// Random calls of which the worst is counted.
const CALLS: usize = 4000;

/// So many calls of each kind are sampled where the heap is full, and as many where random calls
/// have left holes.
const SAMPLED: usize = 48;

/// The lock of counted heaps.
type Lock = Counted;

/// What one heap is probed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Whether every thread has an instance of its own.
    pub(crate) is_sharded: bool,
    /// n: threads.
    pub(crate) threads: u16,
    /// m: live page-blocks per thread.
    pub(crate) live: u32,
    /// P, bytes.
    pub(crate) page_bytes: usize,
    /// β, bytes.
    pub(crate) block_bytes: u32,
    /// κ; `None` is ∞.
    pub(crate) kappa: Option<u32>,
    /// ι, bytes; `None` is ∞.
    pub(crate) increment: Option<u32>,
}

impl Shape {
    /// π: page-blocks per page.
    ///
    /// # Errors
    /// No geometry has such pages.
    pub(crate) fn blocks(&self) -> Result<u32> {
        let geometry = one_size(self.page_bytes, self.block_bytes)?;
        let class = geometry.class_for_bytes(self.block_bytes as usize);
        Ok(class.map_or(1, |class| u32::from(geometry.layout(class).blocks)))
    }
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Most locks that one malloc took.
    pub(crate) malloc_locks: u64,
    /// Most locks that one free took.
    pub(crate) free_locks: u64,
    /// Most bytes that the moves of one free copied.
    pub(crate) free_bytes: u64,
    /// Most bytes copied while a lock was held once.
    pub(crate) section_bytes: u64,
    /// Pages in use with m page-blocks per thread live, in the worst order.
    pub(crate) pages: u64,
    /// Holes then.
    pub(crate) holes: u64,
    /// Administrative bytes then, of all pages that there are.
    pub(crate) administrative_bytes: u64,
}

/// A kind of call that is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Malloc,
    Free,
}

/// What a heap is driven for.
enum Aim<'a> {
    /// Memory in the worst order.
    Memory(&'a mut Counts),
    /// The most work of one call.
    Work(&'a mut Counts),
    /// The same calls, some of them by [`callgrind::call`]: their kinds.
    Sample(&'a mut Vec<Kind>),
}

/// Probes a heap.
///
/// # Errors
/// A shape that no heap has; a refusal; no memory.
pub(crate) fn probe(shape: &Shape) -> Result<Counts> {
    let mut counts = Counts::default();
    on_a_heap(shape, &mut Aim::Memory(&mut counts))?;
    on_a_heap(shape, &mut Aim::Work(&mut counts))?;
    Ok(counts)
}

/// Makes the calls of the second part, some of them by [`callgrind::call`]; returns the kinds of
/// these, in order.
///
/// # Errors
/// As [`probe`].
pub(crate) fn sample(shape: &Shape) -> Result<Vec<Kind>> {
    let mut kinds = Vec::new();
    on_a_heap(shape, &mut Aim::Sample(&mut kinds))?;
    Ok(kinds)
}

fn on_a_heap(shape: &Shape, aim: &mut Aim<'_>) -> Result<()> {
    let geometry = one_size(shape.page_bytes, shape.block_bytes)?;
    let config = shared(shape, geometry)?;
    let most = u64::from(shape.threads) * u64::from(shape.live) * u64::from(shape.blocks()?);
    let pages = most / u64::from(shape.blocks()?) + u64::from(shape.threads) * 8 + 64;
    let bytes =
        usize::try_from(pages)? * shape.page_bytes + usize::try_from(most)? * 32 + (1 << 20);
    let mut region = Reservation::new(bytes)?;
    if shape.is_sharded {
        let heap: ShardedHeap<'_, Lock> =
            ShardedHeap::new(region.memory(), &config, shape.threads)?;
        let mut workers = Vec::new();
        for instance in 0..u32::from(shape.threads) {
            workers.push(ManyCf {
                heap: &heap,
                local: heap.register_in(instance)?,
            });
        }
        let looks = Looks {
            stats: &|| heap.stats(),
            usage: &|| heap.usage(),
        };
        drive(shape, workers, &looks, aim)
    } else {
        let heap: SharedHeap<'_, Lock> = SharedHeap::new(region.memory(), &config)?;
        let mut workers = Vec::new();
        for _ in 0..shape.threads {
            workers.push(OneCf {
                heap: &heap,
                local: heap.register()?,
            });
        }
        let looks = Looks {
            stats: &|| heap.stats(),
            usage: &|| heap.usage(),
        };
        drive(shape, workers, &looks, aim)
    }
}

fn shared(shape: &Shape, geometry: Geometry) -> Result<SharedConfig<PerClass>> {
    let shared = SharedConfig::new(config(shape.kappa, geometry)?);
    let buffered = shared.page_buffer();
    // The papers' heaps keep no freed page-blocks with their handles: here at most one per class.
    let shared = shared
        .with_handle_buffer(1)
        .and_then(|shared| shared.with_locals(shape.threads, buffered));
    let shared = match (shared, shape.increment) {
        (Ok(shared), Some(bytes)) => shared.with_increment(bytes),
        (shared, _) => shared,
    };
    match shared {
        Ok(shared) => Ok(shared),
        Err(error) => bail!("{error}"),
    }
}

/// How a heap is looked at.
struct Looks<'a> {
    stats: &'a dyn Fn() -> SharedStats,
    usage: &'a dyn Fn() -> Usage,
}

fn drive<W: Worker>(
    shape: &Shape,
    mut workers: Vec<W>,
    looks: &Looks<'_>,
    aim: &mut Aim<'_>,
) -> Result<()> {
    match aim {
        Aim::Memory(counts) => memory(shape, &mut workers, looks, counts),
        Aim::Work(counts) => {
            work(shape, &mut workers, &mut Counting { looks, counts })?;
            counts.section_bytes = (looks.stats)().copied_in_section_max;
            Ok(())
        }
        Aim::Sample(kinds) => work(shape, &mut workers, &mut Sampling { kinds }),
    }
}

fn memory<W: Worker>(
    shape: &Shape,
    workers: &mut [W],
    looks: &Looks<'_>,
    counts: &mut Counts,
) -> Result<()> {
    let (blocks, bytes) = (shape.blocks()?, shape.block_bytes);
    let mut kept = Vec::new();
    // in 1-CF the first thread stands for all: who allocates makes no difference there
    let (users, live) = if shape.is_sharded {
        (workers.len(), shape.live)
    } else {
        (1, shape.live * u32::from(shape.threads))
    };
    for worker in workers.iter_mut().take(users) {
        let sparse = shape.kappa.map_or(live, |kappa| kappa.min(live));
        let mut freed = Vec::new();
        for number in 0..sparse * blocks {
            let object = worker.allocate(bytes)?;
            if number % blocks == 0 {
                kept.push(object)
            } else {
                freed.push(object)
            }
        }
        for _ in 0..(live - sparse) / blocks * blocks {
            kept.push(worker.allocate(bytes)?);
        }
        for object in freed {
            worker.free(object, bytes)?;
        }
    }
    let stats = (looks.stats)();
    counts.pages = stats.pages;
    counts.holes = stats.pages * u64::from(blocks) - stats.live_blocks;
    counts.administrative_bytes = (looks.usage)().administrative_bytes as u64;
    for object in kept {
        workers[0].free(object, bytes)?;
    }
    Ok(())
}

/// Who makes the calls of [`work`].
trait Calls {
    /// Makes a malloc; `is_chosen` if it is to be sampled.
    fn malloc<W: Worker>(
        &mut self,
        worker: &mut W,
        bytes: u32,
        is_chosen: bool,
    ) -> Result<W::Object>;

    /// Makes a free.
    fn free<W: Worker>(
        &mut self,
        worker: &mut W,
        object: W::Object,
        bytes: u32,
        is_chosen: bool,
    ) -> Result<()>;
}

fn work<W: Worker>(shape: &Shape, workers: &mut [W], calls: &mut impl Calls) -> Result<()> {
    let bytes = shape.block_bytes;
    let mut random = ChaCha8Rng::seed_from_u64(26);
    let mut objects = Vec::new();
    let all = workers.len() * shape.live as usize;
    for (number, worker) in workers.iter_mut().enumerate() {
        for _ in 0..shape.live {
            let is_chosen = objects.len() + SAMPLED >= all;
            objects.push((number, Some(calls.malloc(worker, bytes, is_chosen)?)));
        }
    }
    for call in 0..CALLS {
        let is_chosen = call + 2 * SAMPLED >= CALLS;
        let place = random.random_range(0..objects.len());
        let (worker, object) = &mut objects[place];
        let worker = &mut workers[*worker];
        if let Some(object) = object.take() {
            calls.free(worker, object, bytes, is_chosen)?;
        } else {
            *object = Some(calls.malloc(worker, bytes, is_chosen)?);
        }
    }
    for (at, (worker, object)) in objects.into_iter().enumerate() {
        if let Some(object) = object {
            calls.free(&mut workers[worker], object, bytes, at < SAMPLED)?;
        }
    }
    Ok(())
}

/// Counts locks and copied bytes.
struct Counting<'a, 'l> {
    looks: &'a Looks<'l>,
    counts: &'a mut Counts,
}

impl Calls for Counting<'_, '_> {
    fn malloc<W: Worker>(&mut self, worker: &mut W, bytes: u32, _: bool) -> Result<W::Object> {
        let before = counted();
        let object = worker.allocate(bytes)?;
        let locks = counted().since(before).taken;
        self.counts.malloc_locks = self.counts.malloc_locks.max(locks);
        Ok(object)
    }

    fn free<W: Worker>(
        &mut self,
        worker: &mut W,
        object: W::Object,
        bytes: u32,
        _: bool,
    ) -> Result<()> {
        let copied = (self.looks.stats)().moved_bytes_total;
        let before = counted();
        worker.free(object, bytes)?;
        let locks = counted().since(before).taken;
        let copied = (self.looks.stats)().moved_bytes_total - copied;
        self.counts.free_locks = self.counts.free_locks.max(locks);
        self.counts.free_bytes = self.counts.free_bytes.max(copied);
        Ok(())
    }
}

/// Makes the chosen calls where valgrind counts them, and notes their kinds.
struct Sampling<'a> {
    kinds: &'a mut Vec<Kind>,
}

impl Calls for Sampling<'_> {
    fn malloc<W: Worker>(
        &mut self,
        worker: &mut W,
        bytes: u32,
        is_chosen: bool,
    ) -> Result<W::Object> {
        if !is_chosen {
            return Ok(worker.allocate(bytes)?);
        }
        self.kinds.push(Kind::Malloc);
        let mut made = None;
        callgrind::call(&mut || made = Some(worker.allocate(bytes)));
        Ok(made.expect("called once")?)
    }

    fn free<W: Worker>(
        &mut self,
        worker: &mut W,
        object: W::Object,
        bytes: u32,
        is_chosen: bool,
    ) -> Result<()> {
        if !is_chosen {
            return Ok(worker.free(object, bytes)?);
        }
        self.kinds.push(Kind::Free);
        let (mut object, mut freed) = (Some(object), None);
        callgrind::call(&mut || freed = object.take().map(|object| worker.free(object, bytes)));
        Ok(freed.expect("called once")?)
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, SAMPLED, Shape, probe, sample};

    const SHAPE: Shape = Shape {
        is_sharded: false,
        threads: 2,
        live: 64,
        page_bytes: 4096,
        block_bytes: 248,
        kappa: Some(2),
        increment: None,
    };

    #[test]
    fn the_worst_order_leaves_as_many_holes_as_the_bound_allows() {
        let blocks = u64::from(SHAPE.blocks().expect("a geometry"));
        assert_eq!(blocks, 16);
        for (is_sharded, instances) in [(false, 1), (true, 2)] {
            let counts = probe(&Shape {
                is_sharded,
                ..SHAPE
            })
            .expect("served");
            assert_eq!(counts.holes, instances * 2 * (blocks - 1), "{counts:?}");
            assert!(counts.administrative_bytes > 0);
        }
        let unbounded = probe(&Shape {
            kappa: None,
            ..SHAPE
        })
        .expect("served");
        assert_eq!(
            (unbounded.pages, unbounded.holes),
            (128, 128 * (blocks - 1))
        );
    }

    #[test]
    fn sampled_calls_are_of_both_kinds_and_the_same_every_time() {
        let kinds = sample(&SHAPE).expect("served");
        let mallocs = kinds.iter().filter(|kind| **kind == Kind::Malloc).count();
        assert!(
            mallocs > SAMPLED && kinds.len() - mallocs > SAMPLED,
            "{kinds:?}"
        );
        assert_eq!(kinds[..SAMPLED], [Kind::Malloc; SAMPLED]);
        assert_eq!(sample(&SHAPE).expect("served"), kinds);
    }

    #[test]
    fn moves_copy_whole_page_blocks_and_sections_the_increment() {
        let whole = probe(&SHAPE).expect("served");
        assert_eq!((whole.free_bytes % 248, whole.section_bytes), (0, 248));
        let steps = probe(&Shape {
            increment: Some(64),
            ..SHAPE
        })
        .expect("served");
        assert_eq!(
            (steps.free_bytes, steps.section_bytes),
            (whole.free_bytes, 64)
        );
        assert!(steps.free_locks > whole.free_locks, "{steps:?} {whole:?}");
        assert_eq!(probe(&SHAPE).expect("served"), whole);
        let unbounded = probe(&Shape {
            kappa: None,
            ..SHAPE
        })
        .expect("served");
        assert_eq!((unbounded.free_bytes, unbounded.section_bytes), (0, 0));
    }
}
