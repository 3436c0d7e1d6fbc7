//! Tiny heaps, objects whose every byte is known, and the explorer of schedules.

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use lock_api::{GuardSend, RawMutex};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::thread;
use surefit_compact::automaton::incremental::{bound_in_flight, pages_bound_in_flight};
use surefit_compact::shared::{Granularity, Local, SharedConfig, SharedHeap, SharedStats};
use surefit_compact::{Bound, Bytes, Config, Geometry, GeometrySpec, Spacing, Tail};

/// A lock that the explorer may switch threads at: before it is taken, and while somebody waits.
pub(crate) struct SpinLock(AtomicBool);

// SAFETY: `held` is set by one thread at a time, by a swap, and cleared by that thread.
unsafe impl RawMutex for SpinLock {
    #[expect(
        clippy::declare_interior_mutable_const,
        reason = "how `lock_api` initialises locks"
    )]
    const INIT: Self = Self(AtomicBool::new(false));
    type GuardMarker = GuardSend;

    fn lock(&self) {
        while !self.try_lock() {
            thread::yield_now();
        }
    }

    fn try_lock(&self) -> bool {
        if !thread::panicking() {
            thread::sleep(Duration::ZERO);
        }
        !self.0.swap(true, Relaxed)
    }

    unsafe fn unlock(&self) {
        self.0.store(false, Relaxed);
    }
}

pub(crate) type Heap<'m, G> = SharedHeap<'m, SpinLock, G>;

/// The bytes of a page.
pub(crate) const PAGE: usize = 1024;
/// Three page-blocks of 320 bytes to a page.
pub(crate) const THREE: usize = 320;
/// Two page-blocks of 504 bytes to a page.
pub(crate) const TWO: usize = 504;
/// Fifteen page-blocks of 64 bytes to a page.
pub(crate) const MANY: usize = 64;
/// One page-block of a page's size.
pub(crate) const ONE: usize = 1024;

/// The layout of so many bytes, aligned to eight.
pub(crate) fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 8).unwrap()
}

/// Pages of 1 KiB with four size-classes.
pub(crate) fn config(bound: Bound) -> Config {
    let geometry = Geometry::new(&GeometrySpec {
        page_bytes: 1024,
        granule: 8,
        smallest: MANY,
        spacing: Spacing::Explicit(&[64, 320, 504, 1024]),
        tail: Tail::BackReferences { bytes: 4 },
    });
    let config = Config::new(geometry.unwrap(), bound).unwrap();
    config.with_pieces(None).unwrap()
}

/// An object and what each of its bytes must be.
pub(crate) struct Object {
    bytes: Bytes<u8>,
    tag: u8,
}

fn byte(tag: u8, at: usize) -> u8 {
    tag.wrapping_mul(37) ^ at.to_le_bytes()[0].wrapping_mul(3) ^ at.to_le_bytes()[1]
}

fn intact(bytes: &[u8], tag: u8) {
    for (at, &found) in bytes.iter().enumerate() {
        assert_eq!(found, byte(tag, at), "byte {at} of object {tag}");
    }
}

fn fill(bytes: &mut [u8], from: usize, tag: u8) {
    for (at, place) in bytes.iter_mut().enumerate() {
        *place = byte(tag, from + at);
    }
}

/// A registered thread.
pub(crate) struct Worker<'h, 'm, G: Granularity> {
    pub(crate) heap: &'h Heap<'m, G>,
    local: Local<'h, 'm, SpinLock, G>,
}

impl<'h, 'm, G: Granularity> Worker<'h, 'm, G> {
    pub(crate) fn new(heap: &'h Heap<'m, G>) -> Self {
        let local = heap.register().unwrap();
        Self { heap, local }
    }

    /// A new object, unless the heap is full.
    pub(crate) fn try_insert(&self, len: usize, tag: u8) -> Option<Object> {
        let bytes = self.local.alloc_zeroed(layout(len)).ok()?;
        let mut object = Object { bytes, tag };
        assert!(
            self.heap
                .pin_bytes(&object.bytes)
                .unwrap()
                .iter()
                .all(|&byte| byte == 0)
        );
        self.write(&mut object, tag);
        Some(object)
    }

    pub(crate) fn insert(&self, len: usize, tag: u8) -> Object {
        self.try_insert(len, tag).expect("the region has room")
    }

    /// So many objects, their tags counted from `tag`.
    pub(crate) fn insert_all(&self, len: usize, count: u8, tag: u8) -> Vec<Object> {
        (tag..tag + count)
            .map(|tag| self.insert(len, tag))
            .collect()
    }

    pub(crate) fn read(&self, object: &Object) {
        read(self.heap, object);
    }

    /// Writes half of the object, lets others run, writes the rest.
    pub(crate) fn write(&self, object: &mut Object, tag: u8) {
        let mut pinned = self.heap.pin_bytes_mut(&mut object.bytes).unwrap();
        let half = pinned.len() / 2;
        fill(&mut pinned[..half], 0, tag);
        thread::sleep(Duration::ZERO);
        fill(&mut pinned[half..], half, tag);
        intact(&pinned, tag);
        drop(pinned);
        object.tag = tag;
    }

    pub(crate) fn free(&self, object: Object) {
        self.local.free_bytes(object.bytes).unwrap();
    }

    pub(crate) fn free_all(&self, objects: Vec<Object>) {
        for object in objects {
            self.read(&object);
            self.free(object);
        }
    }
}

/// Reads a whole object several times under one pin, others running in between.
pub(crate) fn read<G: Granularity>(heap: &Heap<'_, G>, object: &Object) {
    let pinned = heap.pin_bytes(&object.bytes).unwrap();
    for _ in 0..6 {
        intact(&pinned, object.tag);
        thread::sleep(Duration::ZERO);
    }
    intact(&pinned, object.tag);
}

/// Every size-class is within its bound, with `calls` frees and compactions in progress and `pins`
/// pins held.
pub(crate) fn within_bounds<G: Granularity>(
    heap: &Heap<'_, G>,
    config: &Config,
    calls: u32,
    pins: u32,
) {
    let geometry = config.geometry();
    for class in geometry.classes() {
        let layout = geometry.layout(class);
        let usage = heap.class_usage(class).expect("a class of this heap");
        let (bound, blocks, live) = (config.bound(), u32::from(layout.blocks), usage.live_blocks);
        let pages = pages_bound_in_flight(bound, blocks, live, u32::MAX, calls, pins);
        assert!(usage.pages <= pages, "{usage:?}, {pages} pages at most");
        if let Some(most) = bound_in_flight(bound, blocks, live, calls, pins) {
            let excess = match bound {
                Bound::Pages(_) => usage.not_full_pages,
                _ => usage.holes,
            };
            assert!(excess <= most, "{usage:?}, {most} at most");
        }
    }
}

/// What happened in all schedules of a scenario.
#[derive(Default)]
pub(crate) struct Seen {
    moves: AtomicU64,
    abandoned: AtomicU64,
}

impl Seen {
    fn add(&self, stats: &SharedStats) {
        self.moves.fetch_add(stats.moves_total, Relaxed);
        self.abandoned.fetch_add(stats.moves_abandoned, Relaxed);
    }
}

/// A heap, and what happens on it until everything is freed.
pub(crate) struct Scenario<G: Granularity + 'static> {
    pub(crate) config: SharedConfig<G>,
    /// Bytes; the region begins at a page.
    pub(crate) region: usize,
    /// What the heap lends, if anything.
    pub(crate) slack: Option<usize>,
    pub(crate) act: fn(&Heap<'_, G>),
}

impl<G: Granularity> Scenario<G> {
    /// One schedule: the scenario, and what must hold when it is over.
    fn run(&self, seen: &Seen) {
        let mut memory = vec![MaybeUninit::new(0xA5); self.region + PAGE];
        let skipped = memory.as_ptr().align_offset(PAGE);
        let region = &mut memory[skipped..][..self.region];
        let heap = match self.slack {
            None => Heap::new(region, &self.config),
            Some(slack) => Heap::with_slack(region, &self.config, slack),
        };
        let heap = heap.unwrap();
        (self.act)(&heap);
        heap.check(false).unwrap();
        let stats = heap.stats();
        assert_eq!(
            (stats.live_blocks, stats.pages, stats.debt),
            (0, 0, 0),
            "{stats:?}"
        );
        assert_eq!((stats.holes, stats.reserved_blocks), (0, 0), "{stats:?}");
        let step = u64::from(match self.config.increment() {
            surefit_compact::shared::Increment::Whole => u32::MAX,
            surefit_compact::shared::Increment::Bytes(bytes) => bytes.get(),
        });
        assert!(
            stats.copied_in_section_max <= step.min(ONE as u64),
            "{stats:?}"
        );
        assert_eq!(heap.usage().total(), self.region);
        seen.add(&stats);
    }
}

/// Which events a scenario must have met in some schedule.
#[derive(Clone, Copy)]
pub(crate) struct Expect {
    pub(crate) moves: bool,
    pub(crate) abandoned: bool,
}

/// Schedules of each scenario and scheduler; SUREFIT_SHUTTLE multiplies them.
fn schedules(most: usize) -> usize {
    let times = std::env::var("SUREFIT_SHUTTLE").ok();
    most * times.map_or(1, |times| times.parse::<usize>().expect("a number"))
}

/// Runs a scenario under random schedules and under schedules of few preemptions, each with fixed
/// seeds.
pub(crate) fn explore<G: Granularity>(
    name: &str,
    count: usize,
    expect: Expect,
    scenario: fn() -> Scenario<G>,
) {
    let seen = std::sync::Arc::new(Seen::default());
    let count = schedules(count);
    let mut ran = under(
        RandomScheduler::new_from_seed(0x5EED, count),
        scenario,
        &seen,
    );
    for depth in [2, 3, 5] {
        let scheduler = PctScheduler::new_from_seed(0x5EED + depth as u64, depth, count / 3);
        ran += under(scheduler, scenario, &seen);
    }
    let (moves, abandoned) = (seen.moves.load(Relaxed), seen.abandoned.load(Relaxed));
    println!("{name}: {ran} schedules, {moves} moves, {abandoned} given up");
    assert!(
        !expect.moves || moves > 0,
        "{name}: no move in any schedule"
    );
    assert!(
        !expect.abandoned || abandoned > 0,
        "{name}: no move was given up"
    );
}

fn under<G: Granularity>(
    scheduler: impl Scheduler + 'static,
    scenario: fn() -> Scenario<G>,
    seen: &std::sync::Arc<Seen>,
) -> usize {
    let mut config = shuttle::Config::new();
    config.stack_size = 1 << 17;
    let seen = std::sync::Arc::clone(seen);
    shuttle::Runner::new(scheduler, config).run(move || scenario().run(&seen))
}
