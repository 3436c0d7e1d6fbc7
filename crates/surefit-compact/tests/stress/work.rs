//! What one thread does, what the watcher asks, and what must hold at the end.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

use lock_api::RawMutex;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::automaton::incremental::{bound_in_flight, pages_bound_in_flight};
use surefit_compact::shared::{Granularity, Increment, Local, SharedConfig, SharedHeap};
use surefit_compact::{Bound, Bytes, Handle};
use surefit_testkit::layout;

/// An operating system's lock whose holder lets others run now and then, as if it were preempted.
pub(crate) struct Lock(parking_lot::RawMutex);

thread_local! {
    static SECTIONS: Cell<u32> = const { Cell::new(0) };
}

fn now_and_then() {
    let sections = SECTIONS.get().wrapping_add(1);
    SECTIONS.set(sections);
    if sections % 512 == 0 {
        thread::yield_now();
    }
}

// SAFETY: the inner lock is one.
unsafe impl RawMutex for Lock {
    const INIT: Self = Self(parking_lot::RawMutex::INIT);
    type GuardMarker = <parking_lot::RawMutex as RawMutex>::GuardMarker;

    fn lock(&self) {
        self.0.lock();
        now_and_then();
    }

    fn try_lock(&self) -> bool {
        let locked = self.0.try_lock();
        if locked {
            now_and_then();
        }
        locked
    }

    unsafe fn unlock(&self) {
        // SAFETY: the caller's duty.
        unsafe { self.0.unlock() };
    }
}

type Heap<'m, G> = SharedHeap<'m, Lock, G>;

/// More than the cores of most machines that build this.
pub(crate) const THREADS: u16 = 8;
/// Pins held at once: each thread may hold one, and read or insert another object.
pub(crate) const PINS: u32 = 2 * THREADS as u32;

const REGION: usize = 16 << 20;
const LARGEST: usize = 16 << 10;
/// Lengths of few size-classes, so that each has several pages.
const LENGTHS: [usize; 12] = [
    16, 40, 64, 200, 700, 1000, 1500, 2500, 4000, 5400, 8000, LARGEST,
];
/// The most objects that a thread keeps.
const KEPT: usize = 120;

fn rounds() -> u32 {
    let rounds = if cfg!(miri) { 20 } else { 20_000 };
    let times = std::env::var("SUREFIT_STRESS").ok();
    let times = times.map_or(1.0, |times| times.parse::<f64>().expect("a number"));
    (f64::from(rounds) * times) as u32
}

/// Bytes that look alike nowhere: an object holds those from its seed on.
fn pattern() -> Vec<u8> {
    let mut random = ChaCha8Rng::seed_from_u64(0xF111);
    (0..LARGEST + 256).map(|_| random.random()).collect()
}

/// A byte object, and where in the pattern its bytes begin.
struct Object {
    bytes: Bytes<u8>,
    seed: u8,
}

/// What all threads see.
struct World<'h, 'm, G: Granularity + Sync> {
    heap: &'h Heap<'m, G>,
    pattern: &'h [u8],
    common: &'h [Object],
    /// Objects on the way from one thread to another.
    post: &'h Mutex<Vec<Object>>,
    dropped: &'h Arc<()>,
}

impl<G: Granularity + Sync> World<'_, '_, G> {
    fn expect(&self, object: &Object, found: &[u8]) {
        let seed = usize::from(object.seed);
        assert!(
            found == &self.pattern[seed..][..found.len()],
            "an object has other bytes"
        );
    }

    fn read(&self, object: &Object) {
        self.expect(object, &self.heap.pin_bytes(&object.bytes).unwrap());
    }

    fn write(&self, object: &mut Object, seed: u8) {
        let mut pinned = self.heap.pin_bytes_mut(&mut object.bytes).unwrap();
        let (half, whole) = (pinned.len() / 2, pinned.len());
        let pattern = &self.pattern[usize::from(seed)..];
        pinned[..half].copy_from_slice(&pattern[..half]);
        now_and_then();
        pinned[half..].copy_from_slice(&pattern[half..whole]);
        drop(pinned);
        object.seed = seed;
    }

    fn insert(&self, local: &Local<'_, '_, Lock, G>, random: &mut ChaCha8Rng) -> Option<Object> {
        let len = LENGTHS[random.random_range(0..LENGTHS.len())];
        let (bytes, seed) = (local.alloc_zeroed(layout(len)).ok()?, random.random());
        let mut object = Object { bytes, seed };
        self.write(&mut object, seed);
        Some(object)
    }
}

/// One thread: its `Local`, what it owns, its choices.
struct Worker<'w, 'h, 'm, G: Granularity + Sync> {
    world: &'w World<'h, 'm, G>,
    local: Local<'h, 'm, Lock, G>,
    random: ChaCha8Rng,
    own: Vec<Object>,
    values: Vec<Handle<Arc<()>>>,
}

impl<G: Granularity + Sync> Worker<'_, '_, '_, G> {
    fn any(&mut self) -> Option<Object> {
        if self.own.is_empty() {
            return None;
        }
        let which = self.random.random_range(0..self.own.len());
        Some(self.own.swap_remove(which))
    }

    fn free(&mut self, object: Object) {
        self.world.read(&object);
        self.local.free_bytes(object.bytes).unwrap();
    }

    fn free_any(&mut self) {
        if let Some(object) = self.any() {
            self.free(object);
        }
    }

    fn round(&mut self) {
        match self.random.random_range(0..16) {
            0..9 if self.own.len() < KEPT => {
                let new = self.world.insert(&self.local, &mut self.random);
                self.own.extend(new);
            }
            0..11 => self.free_any(),
            11 => self.free_while_pinned(),
            12 => {
                let which = self.random.random_range(0..self.world.common.len());
                self.world.read(&self.world.common[which]);
            }
            13 => {
                if let Some(mut object) = self.any() {
                    self.world.write(&mut object, self.random.random());
                    self.own.push(object);
                }
            }
            14 => self.exchange(),
            _ if self.random.random() => {
                let value = self.local.insert(Arc::clone(self.world.dropped));
                self.values.extend(value.ok());
            }
            _ => self.drop_value(),
        }
    }

    /// Sends an object to the others, and frees one of theirs.
    fn exchange(&mut self) {
        let sent = self.any();
        let mut post = self.world.post.lock().unwrap();
        post.extend(sent);
        let received = self.random.random_range(0..post.len().max(1));
        let foreign = (received < post.len()).then(|| post.swap_remove(received));
        drop(post);
        foreign.into_iter().for_each(|object| self.free(object));
    }

    /// Frees some objects while another is pinned, which must not move.
    fn free_while_pinned(&mut self) {
        let Some(held) = self.any() else {
            return;
        };
        let pinned = self.world.heap.pin_bytes(&held.bytes).unwrap();
        for _ in 0..3 {
            self.free_any();
            now_and_then();
        }
        self.world.expect(&held, &pinned);
        drop(pinned);
        self.own.push(held);
    }

    fn drop_value(&mut self) {
        let Some(handle) = self.values.pop() else {
            return;
        };
        if self.random.random() {
            self.local.free(handle).unwrap();
        } else {
            let value = self.local.remove(handle).unwrap();
            assert!(Arc::ptr_eq(&value, self.world.dropped));
        }
    }
}

/// All threads at work on one heap, watched; then everything is freed.
pub(crate) fn stress<G: Granularity + Sync>(config: &SharedConfig<G>, seed: u64) {
    let mut memory = vec![MaybeUninit::uninit(); REGION];
    let heap = Heap::new(&mut memory, config).unwrap();
    let (pattern, post, dropped) = (pattern(), Mutex::new(Vec::new()), Arc::new(()));
    let main = heap.register().unwrap();
    let mut common = Vec::new();
    for len in [16, 100, 1000, 2000, 5000, 16_384] {
        let mut bytes = main.alloc_zeroed(layout(len)).unwrap();
        heap.pin_bytes_mut(&mut bytes)
            .unwrap()
            .copy_from_slice(&pattern[..len]);
        common.push(Object { bytes, seed: 0 });
    }
    let world = World {
        heap: &heap,
        pattern: &pattern,
        common: &common,
        post: &post,
        dropped: &dropped,
    };
    let mut left = at_work(&world, config, seed);
    left.append(&mut world.post.lock().unwrap());
    heap.check(true).unwrap();
    heap.compact(u64::MAX);
    heap.check(false).unwrap();
    left.iter()
        .chain(&common)
        .for_each(|object| world.read(object));
    assert_eq!(
        Arc::strong_count(&dropped),
        1,
        "a value was not dropped, or twice"
    );
    for object in left.into_iter().chain(common) {
        main.free_bytes(object.bytes).unwrap();
    }
    ends_empty(&heap, config);
}

fn ends_empty<G: Granularity + Sync>(heap: &Heap<'_, G>, config: &SharedConfig<G>) {
    heap.check(false).unwrap();
    let stats = heap.stats();
    assert_eq!(
        (stats.live_blocks, stats.pages, stats.debt),
        (0, 0, 0),
        "{stats:?}"
    );
    assert_eq!(heap.usage().total(), REGION);
    let moves = stats.moves_total > 0 || config.config().bound() == Bound::Unbounded;
    assert!(moves || cfg!(miri), "nothing was moved: {stats:?}");
}

/// Runs the threads to their end; what they did not free.
fn at_work<G: Granularity + Sync>(
    world: &World<'_, '_, G>,
    config: &SharedConfig<G>,
    seed: u64,
) -> Vec<Object> {
    let over = AtomicBool::new(false);
    thread::scope(|threads| {
        let watcher = threads.spawn(|| {
            let mut samples = 0_u64;
            while !over.load(Relaxed) {
                watch(world.heap, config);
                samples += 1;
                thread::yield_now();
            }
            samples
        });
        let workers: Vec<_> = (0..u64::from(THREADS))
            .map(|number| threads.spawn(move || work(world, seed << 8 | number)))
            .collect();
        let left = workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap());
        let left = left.collect();
        over.store(true, Relaxed);
        watcher.join().unwrap();
        // At least one look at the heap with nothing in progress.
        watch(world.heap, config);
        left
    })
}

fn work<G: Granularity + Sync>(world: &World<'_, '_, G>, seed: u64) -> Vec<Object> {
    let mut worker = Worker {
        world,
        local: world.heap.register().unwrap(),
        random: ChaCha8Rng::seed_from_u64(seed),
        own: Vec::new(),
        values: Vec::new(),
    };
    for _ in 0..rounds() {
        worker.round();
    }
    while !worker.values.is_empty() {
        worker.drop_value();
    }
    worker.own
}

/// R4 and the bound of every size-class, with a free of every thread in progress.
fn watch<G: Granularity + Sync>(heap: &Heap<'_, G>, config: &SharedConfig<G>) {
    let geometry = config.config().geometry();
    let step = match config.increment() {
        Increment::Whole => u64::MAX,
        Increment::Bytes(bytes) => u64::from(bytes.get()),
    };
    let copied = heap.stats().copied_in_section_max;
    assert!(
        copied <= step.min(geometry.page_bytes() as u64),
        "{copied} bytes in a section"
    );
    let calls = u32::from(THREADS);
    for class in geometry.classes() {
        let (bound, blocks) = (
            config.config().bound(),
            u32::from(geometry.layout(class).blocks),
        );
        let usage = heap.class_usage(class).expect("a class of this heap");
        let live = usage.live_blocks;
        let most = pages_bound_in_flight(bound, blocks, live, u32::MAX, calls, PINS);
        assert!(usage.pages <= most, "{usage:?}: {most} pages at most");
        let excess = match bound {
            Bound::Pages(_) => usage.not_full_pages,
            _ => usage.holes,
        };
        let most = bound_in_flight(bound, blocks, live, calls, PINS).unwrap_or(u32::MAX);
        assert!(excess <= most, "{usage:?}: {most} at most");
    }
}
