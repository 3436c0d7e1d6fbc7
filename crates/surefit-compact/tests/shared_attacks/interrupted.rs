//! What a shared heap reports while others work on it. At every moment between two sections,
//! another thread frees all objects of one size-class and fills the heap with objects of another.

use std::mem::MaybeUninit;

use surefit_compact::shared::{
    Granularity, PerClass, PerHeap, PerPage, ShardedHeap, SharedConfig, SharedHeap, Stepwise,
};
use surefit_compact::{Bound, Bytes, Config, Geometry, GeometrySpec, Spacing, Tail};
use surefit_core::{Corruption, Usage};
use surefit_testkit::layout;

use crate::lock::{Watched, interrupted, locks_taken, moments_of};

const PAGE: usize = 1024;
const REGION: usize = 12 * PAGE;
const BOUNDS: [Bound; 3] = [Bound::Pages(1), Bound::DEFAULT, Bound::Unbounded];
/// Lengths of two size-classes: 64 bytes, of which a page holds 13 to 15, and 256.
const LENS: [usize; 2] = [64, 250];

fn config<G: Granularity + Sync>(bound: Bound) -> SharedConfig<G> {
    let spec = GeometrySpec {
        page_bytes: PAGE,
        granule: 8,
        smallest: 16,
        spacing: Spacing::Explicit(&[16, 64, 128, 256, 512, 1024]),
        tail: Tail::BackReferences { bytes: 4 },
    };
    let config = Config::new(Geometry::new(&spec).expect("valid"), bound).expect("valid");
    let config = config.with_pieces(None).expect("valid");
    SharedConfig::new(config).with_locals(2, 2).expect("valid")
}

/// A heap, what another thread does to it, and what it says of itself.
trait Shared {
    type Object;
    fn insert(&self, len: usize) -> Option<Self::Object>;
    fn free(&self, object: Self::Object);
    fn usage(&self) -> Usage;
    fn check(&self) -> Result<(), Corruption>;
    /// Calls everything that takes `&self` and says something.
    fn say_all(&self);
}

/// Objects of one size-class until the heap is full.
fn fill<S: Shared>(heap: &S, len: usize, objects: &mut Vec<S::Object>) {
    while let Some(object) = heap.insert(len) {
        objects.push(object);
    }
}

/// Interrupts `call` at each of its moments, in both directions; returns the number of schedules.
fn interrupt_everywhere<S: Shared>(heap: &S, call: impl Fn(&S)) -> usize {
    let mut schedules = 0;
    for (from, to) in [(LENS[0], LENS[1]), (LENS[1], LENS[0])] {
        for after in 1.. {
            let mut objects = Vec::new();
            fill(heap, from, &mut objects);
            assert!(objects.len() >= 20, "the heap was empty");
            let mut others = Vec::new();
            let mut swap = || {
                while let Some(object) = objects.pop() {
                    heap.free(object);
                }
                fill(heap, to, &mut others);
            };
            let was = interrupted(after, &mut swap, || call(heap));
            for object in objects.into_iter().chain(others) {
                heap.free(object);
            }
            heap.check().expect("sound at rest");
            assert_eq!(heap.usage().total(), REGION, "exact at rest");
            schedules += 1;
            if !was {
                break;
            }
        }
    }
    schedules
}

/// All that a heap says, interrupted everywhere.
fn attack<S: Shared>(heap: &S) {
    let moments = moments_of(|| heap.say_all());
    let schedules = interrupt_everywhere(heap, S::say_all);
    assert!(schedules >= 2 * moments, "{schedules} of {moments}");
    // None of the parts is so large that it can only have gone below zero.
    let parts_are_small = |heap: &S| assert!(heap.usage().total() <= 2 * REGION);
    interrupt_everywhere(heap, parts_are_small);
}

struct OfHandles<'a, 'm, G: Granularity> {
    heap: &'a SharedHeap<'m, Watched, G>,
    local: surefit_compact::shared::Local<'a, 'm, Watched, G>,
}

impl<G: Granularity> Shared for OfHandles<'_, '_, G> {
    type Object = Bytes<u8>;

    fn insert(&self, len: usize) -> Option<Bytes<u8>> {
        self.local.alloc_zeroed(layout(len)).ok()
    }

    fn free(&self, object: Bytes<u8>) {
        self.local.free_bytes(object).expect("live");
    }

    fn usage(&self) -> Usage {
        self.heap.usage()
    }

    fn check(&self) -> Result<(), Corruption> {
        self.heap.check(true)
    }

    fn say_all(&self) {
        self.heap.usage();
        self.heap.stats();
        // Objects that come and go meanwhile may be reported.
        let _ = self.heap.check(true);
        let _ = self.heap.check(false);
        for class in Geometry::DEFAULT.classes() {
            let usage = self.heap.class_usage(class);
            assert_eq!(usage.is_some(), class.index() < 6);
        }
        assert!(!format!("{:?} {:?}", self.heap, self.local).is_empty());
    }
}

fn handles<G: Granularity + Sync>() {
    for bound in BOUNDS {
        let config = config::<G>(bound);
        let mut memory = vec![MaybeUninit::new(9); REGION];
        let heap = SharedHeap::new(&mut memory, &config).expect("large enough");
        let local = heap.register().expect("the first");
        attack(&OfHandles { heap: &heap, local });
    }
}

#[test]
fn a_heap_that_is_interrupted_says_nothing_absurd() {
    handles::<PerHeap>();
    handles::<PerClass>();
    handles::<PerPage>();
}

struct OfInstances<'a, 'm, G: Stepwise> {
    heap: &'a ShardedHeap<'m, Watched, G>,
    locals: [surefit_compact::shared::Local<'a, 'm, Watched, G>; 2],
}

impl<G: Stepwise> Shared for OfInstances<'_, '_, G> {
    type Object = Bytes<u8>;

    /// The two size-classes belong to two instances.
    fn insert(&self, len: usize) -> Option<Bytes<u8>> {
        self.locals[usize::from(len == LENS[0])]
            .alloc_zeroed(layout(len))
            .ok()
    }

    fn free(&self, object: Bytes<u8>) {
        self.locals[0].free_bytes(object).expect("live");
    }

    fn usage(&self) -> Usage {
        self.heap.usage()
    }

    fn check(&self) -> Result<(), Corruption> {
        self.heap.compact(u64::MAX);
        self.heap.check(true)
    }

    fn say_all(&self) {
        self.heap.usage();
        self.heap.stats();
        let _ = self.heap.check(true);
        let _ = self.heap.check(false);
        for instance in 0..self.heap.instances() {
            self.heap.instance_stats(instance);
        }
        assert_eq!(self.heap.threads_per_instance(), 1);
        assert!(!format!("{:?} {:?}", self.heap, self.locals).is_empty());
    }
}

fn instances<G: Stepwise + Sync>() {
    for bound in BOUNDS {
        let config = config::<G>(bound);
        let mut memory = vec![MaybeUninit::new(9); REGION];
        let heap = ShardedHeap::new(&mut memory, &config, 2).expect("large enough");
        let locals = [
            heap.register().expect("first"),
            heap.register().expect("second"),
        ];
        attack(&OfInstances {
            heap: &heap,
            locals,
        });
    }
}

#[test]
fn instances_that_are_interrupted_say_nothing_absurd() {
    instances::<PerHeap>();
    instances::<PerClass>();
}

/// Under page locks, `check` looks at each page under the page's own lock: full pages too, which no
/// list names.
#[test]
fn check_takes_the_lock_of_every_page_it_looks_at() {
    for bound in BOUNDS {
        let config = config::<PerPage>(bound);
        let mut memory = vec![MaybeUninit::new(9); REGION];
        let heap: SharedHeap<Watched, PerPage> =
            SharedHeap::new(&mut memory, &config).expect("large enough");
        let local = heap.register().expect("the first");
        let check = || locks_taken(|| heap.check(false).expect("sound"));
        let empty = check();
        // An object of 900 bytes fills its page: no page is not-full.
        for pages in 1..=6 {
            let _leaked = local.alloc_zeroed(layout(900)).expect("room");
            let stats = heap.stats();
            assert_eq!((stats.pages, stats.not_full_pages), (pages, 0));
            assert_eq!(check(), empty + usize::try_from(pages).expect("six"));
        }
    }
}
