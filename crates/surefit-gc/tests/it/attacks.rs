//! Hostile callers of the collector: clients, clocks and fits that lie, unwind and call back;
//! numbers up to the largest; regions of every length. After each attack the heap must be sound.
//! Run these under AddressSanitizer too.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

use surefit_compact::{Bound, Config, Geometry, GeometrySpec};
use surefit_core::Refused;
use surefit_freelist::{
    Bitmap, Deferred, Fit, Immediate, Index, Linear, NextHitTable, Segregated, SingleList, Tree,
    TwoLevel,
};
use surefit_gc::{
    Client, Clock, Collector, CompactFit, Edges, FreeList, Living, Object, Scanned, Settings,
    Space, Sweep,
};
use surefit_testkit::JunkRegion;

type Lists = Segregated<Bitmap, Immediate, Tree, 256>;
type Late = Segregated<NextHitTable, Deferred, Linear, 128>;
type Heap<'m, I = Lists> = Collector<'m, FreeList<'m, I>>;

/// Two to the power of `bits`, or `usize::MAX` if this machine cannot count as far.
const fn two_to(bits: u32) -> usize {
    match 1_usize.checked_shl(bits) {
        Some(power) => power,
        None => usize::MAX,
    }
}

/// Numbers of bytes and entries: small ones, those around the limits of 32-bit counts, the largest.
const NUMBERS: [usize; 16] = [
    0,
    1,
    7,
    8,
    4095,
    4096,
    1 << 16,
    1 << 31,
    u32::MAX as usize,
    two_to(32),
    two_to(34),
    two_to(35),
    isize::MAX as usize,
    two_to(63),
    usize::MAX - 7,
    usize::MAX,
];

/// A list: word 0 of every object refers to the next.
#[derive(Default)]
struct List(Vec<Object>);

impl<S: Space> Client<S> for List {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        self.0.iter().for_each(|&root| edges.report(root));
    }

    fn scan(&mut self, object: &Scanned<'_, S>, _from: u32, edges: &mut Edges<'_>) {
        object
            .reference(0)
            .into_iter()
            .for_each(|next| edges.report(next));
    }
}

/// Links a chain of objects behind a root.
fn linked<S: Space, K: Clock>(gc: &mut Collector<'_, S, K>, list: &mut List, objects: u32) {
    for _ in 0..objects {
        let object = gc.alloc(list, 24).expect("room");
        gc.store(object, 0, list.0.pop());
        list.0.push(object);
    }
}

/// A configuration for small regions, with pieces.
fn config() -> Config {
    let spec = GeometrySpec {
        page_bytes: 1024,
        ..CompactFit::GEOMETRY
    };
    let geometry = Geometry::new(&spec).expect("valid");
    Config::new(geometry, Bound::DEFAULT).expect("valid")
}

/// A clock that goes back and forth, and unwinds at one reading.
struct Hostile<'c> {
    read: &'c Cell<u32>,
    unwinds_at: u32,
}

impl Clock for Hostile<'_> {
    fn now(&self) -> u64 {
        let read = self.read.get();
        self.read.set(read + 1);
        assert!(read != self.unwinds_at, "the clock unwinds");
        [0, u64::MAX, 1, u64::MAX - 1, u64::MAX][read as usize % 5]
    }
}

#[test]
fn a_clock_may_lie_and_unwind() {
    for unwinds_at in 0..16 {
        let (mut region, read) = (JunkRegion::new(1 << 14, 8, 1), Cell::new(0));
        let (mut list, clock) = (
            List::default(),
            Hostile {
                read: &read,
                unwinds_at,
            },
        );
        let gc = Heap::<Lists>::new(region.memory(), Settings::default()).expect("large enough");
        let mut gc = gc.with_clock(clock);
        linked(&mut gc, &mut list, 20);
        let mut unwound = 0;
        for _ in 0..5 {
            let garbage = gc.alloc_as_is(16).expect("room");
            let collected = catch_unwind(AssertUnwindSafe(|| gc.collect(&mut list)));
            unwound += u32::from(collected.is_err());
            assert_eq!(gc.check(), Ok(()), "reading {unwinds_at}");
            assert_eq!(gc.objects().filter(|&object| object != garbage).count(), 20);
        }
        assert_eq!(unwound, u32::from(unwinds_at < 15));
        assert!(gc.totals().mark_ticks >= u64::MAX - 1, "it does not wrap");
    }
}

std::thread_local! {
    /// How many calls a fit answers before it unwinds.
    static ASKED: Cell<u32> = const { Cell::new(0) };
}

/// A fit that unwinds at a chosen call.
struct Unwinds;

impl Fit for Unwinds {
    fn is_final(_: u32, _: u32) -> bool {
        let left = ASKED.get();
        ASKED.set(left.wrapping_sub(1));
        assert!(left != 0, "the fit unwinds");
        true
    }
}

#[path = "attacks/arenas.rs"]
mod arenas;
#[path = "attacks/certificates.rs"]
mod certificates;
#[path = "attacks/generations.rs"]
mod generations;
#[path = "attacks/merging.rs"]
mod merging;
#[path = "attacks/schedules.rs"]
mod schedules;
#[path = "attacks/spaces.rs"]
mod spaces;
#[path = "attacks/step_arenas.rs"]
mod step_arenas;
#[path = "attacks/steps.rs"]
mod steps;

/// Makes heaps over every length around the length that they say they need, at every misalignment
/// up to 16.
fn regions(make: impl Fn(&mut [MaybeUninit<u8>]) -> Option<usize>) {
    let mut backing = vec![MaybeUninit::new(0x5a_u8); 64 << 10];
    let at = backing.as_ptr().align_offset(1024);
    let needed = make(&mut []).expect("nothing is too small");
    let lengths = (0..40).chain(needed.saturating_sub(40)..needed + 9);
    for (length, offset) in lengths.flat_map(|length| (0..17).map(move |at| (length, at))) {
        match make(&mut backing[at + offset..][..length]) {
            Some(says) => assert!(
                length < needed && length < says,
                "{length} at {offset}: {says}"
            ),
            None => assert!(length > 0),
        }
    }
}

/// Allocates until there is no room, and collects.
fn used_up<S: Space>(made: Result<Collector<'_, S>, Refused>) -> Option<usize> {
    match made {
        Ok(mut gc) => {
            while gc.alloc_as_is(12).is_ok() {}
            gc.collect(&mut List::default());
            assert_eq!((gc.check(), gc.objects().count()), (Ok(()), 0));
            None
        }
        Err(Refused::Region { needed }) => Some(needed),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn regions_of_any_length_do_or_say_what_would() {
    let settings = Settings {
        mark_stack: 2,
        ..Settings::default()
    };
    regions(|region| used_up(Heap::<Lists>::new(region, settings)));
    regions(|region| used_up(Heap::<Late>::new(region, settings)));
    let config = config();
    regions(|region| used_up(Collector::compact_fit(region, &config, 2)));
    for nursery in [0, 9, 600, 1 << 13] {
        regions(|region| used_up(Collector::nursery(region, &config, nursery, 2)));
    }
}

/// Allocates, reads and writes with every number. Every served object has as many words as
/// requested.
fn numbers_of<S: Space>(gc: &mut Collector<'_, S>) {
    let mut list = List::default();
    linked(gc, &mut list, 5);
    for bytes in NUMBERS {
        if let Ok(object) = gc.alloc(&mut list, bytes) {
            let words = gc.words(object);
            assert!(u64::from(words) * 4 >= bytes as u64, "{bytes}");
            gc.store_data(object, words - 1, u32::MAX);
            for word in [words, words + 1, 1 << 30, u32::MAX] {
                let beyond = catch_unwind(AssertUnwindSafe(|| gc.load(object, word)));
                let stored = catch_unwind(AssertUnwindSafe(|| gc.store_data(object, word, 1)));
                assert!(beyond.is_err() && stored.is_err(), "{word} of {words}");
            }
            gc.store_data(object, words - 1, 0);
        }
        gc.collect(&mut list);
        assert_eq!((gc.check(), gc.objects().count()), (Ok(()), 5), "{bytes}");
    }
}

#[test]
fn bytes_and_words_of_any_number_are_served_or_told() {
    let mut region = JunkRegion::misaligned(1 << 15, 64, 3, 1);
    numbers_of(&mut Heap::<Lists>::new(region.memory(), Settings::default()).expect("room"));
    numbers_of(&mut Heap::<Late>::new(region.memory(), Settings::default()).expect("room"));
    let config = config();
    numbers_of(&mut Collector::compact_fit(region.memory(), &config, 2).expect("room"));
    for nursery in [0, 8, 1000, 12 << 10] {
        let gc = Collector::nursery(region.memory(), &config, nursery, 2);
        numbers_of(&mut gc.expect("room"));
    }
}

#[test]
fn settings_of_any_number_make_a_collector_or_say_what_would() {
    for mark_stack in NUMBERS {
        for (limit, large_from) in NUMBERS.into_iter().flat_map(|a| NUMBERS.map(|b| (a, b))) {
            let mut region = JunkRegion::new(1 << 13, 8, 1);
            let settings = Settings {
                mark_stack,
                limit,
                large_from,
                sweep: Sweep::Leap,
            };
            match Heap::<Lists>::new(region.memory(), settings) {
                Ok(mut gc) => {
                    assert!(gc.alloc(&mut List::default(), 100).is_ok(), "{settings:?}");
                    assert_eq!(gc.check(), Ok(()), "{settings:?}");
                }
                Err(Refused::Region { needed }) => assert!(needed > 1 << 13, "{settings:?}"),
                Err(other) => panic!("{settings:?}: {other}"),
            }
        }
        let (mut region, config) = (JunkRegion::new(1 << 14, 1024, 1), config());
        match Collector::compact_fit(region.memory(), &config, mark_stack) {
            Ok(gc) => assert_eq!(gc.check(), Ok(())),
            Err(Refused::Region { needed }) => assert!(needed > 1 << 14, "{mark_stack}"),
            Err(other) => panic!("{other}"),
        }
        for (nursery, stack) in [(mark_stack, 1), (1 << 12, mark_stack)] {
            match Collector::nursery(region.memory(), &config, nursery, stack) {
                Ok(gc) => assert_eq!(gc.check(), Ok(())),
                Err(Refused::Region { needed }) => assert!(needed > 1 << 14, "{mark_stack}"),
                Err(other) => panic!("{other}"),
            }
        }
    }
}

#[test]
fn a_space_of_its_own_takes_any_number() {
    let (mut region, config) = (JunkRegion::new(1 << 15, 1024, 1), config());
    for bytes in NUMBERS {
        let words = CompactFit::piece_words(bytes, &config);
        assert!(words > 0 && words <= bytes / 64 + 1);
        let mut pieces = vec![0; CompactFit::piece_words(1 << 15, &config)];
        let mut space = CompactFit::new(region.memory(), &config, &mut pieces).expect("room");
        let fits = space.would_fit(bytes);
        assert_eq!(space.allocate(bytes).is_ok(), fits, "{bytes}");
        space.relieve();
        space.merge();
        space.grow(bytes);
        assert_eq!(space.check(), Ok(()), "{bytes}");
        let space = FreeList::<Lists>::new(region.memory(), Sweep::Walk).expect("room");
        let mut space = space.with_large_from(bytes).with_limit(bytes);
        for request in NUMBERS {
            let _ = space.allocate(request);
            space.relieve();
            space.grow(request);
            space.merge();
            assert_eq!(space.check(), Ok(()), "{bytes}, {request}");
        }
        assert!(space.largest_request() < 1 << 15);
        assert_eq!(space.usage().total(), 1 << 15);
    }
}

/// Catches the panics of its reports, collects a heap of its own in every scan, and asks for
/// everything that it can.
struct Meddler<'m> {
    roots: Vec<Object>,
    own: Heap<'m>,
    told: u32,
}

impl<S: Space> Client<S> for Meddler<'_> {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        for number in (1..300).chain([u32::MAX - 1, u32::MAX]) {
            let forged = Object::of(number).expect("not 0");
            let known = self.roots.contains(&forged);
            let told = catch_unwind(AssertUnwindSafe(|| edges.report(forged)));
            assert_eq!(told.is_ok(), known);
        }
        let told = catch_unwind(AssertUnwindSafe(|| edges.again_from(u32::MAX)));
        self.told += u32::from(told.is_err());
    }

    fn scan(&mut self, object: &Scanned<'_, S>, from: u32, edges: &mut Edges<'_>) {
        let mut list = List::default();
        linked(&mut self.own, &mut list, 3);
        assert_eq!(self.own.collect(&mut list).swept.live_objects, 3);
        for word in [object.words(), u32::MAX] {
            let told = catch_unwind(AssertUnwindSafe(|| object.load(word)));
            self.told += u32::from(told.is_err());
        }
        assert!(from == 0 || from == u32::MAX);
        if from == 0 {
            edges.again_from(u32::MAX);
            let told = catch_unwind(AssertUnwindSafe(|| edges.again_from(0)));
            self.told += u32::from(told.is_err());
        }
        self.roots.iter().for_each(|&root| edges.report(root));
    }

    fn weak(&mut self, living: &Living<'_>) {
        assert!(self.roots.iter().all(|&root| living.contains(root)));
        assert!(!living.contains(Object::of(u32::MAX).expect("not 0")));
        self.own.collect(&mut List::default());
    }
}

fn meddled<S: Space>(gc: &mut Collector<'_, S>) {
    let mut region = JunkRegion::new(1 << 13, 8, 9);
    let own = Heap::<Lists>::new(region.memory(), Settings::default()).expect("large enough");
    let roots = (0..9).map(|_| gc.alloc_as_is(24).expect("room")).collect();
    let mut meddler = Meddler {
        roots,
        own,
        told: 0,
    };
    for _ in 0..3 {
        assert_eq!(gc.collect(&mut meddler).swept.live_objects, 9);
        assert_eq!(gc.check(), Ok(()));
    }
    assert!(meddler.told > 100, "{}", meddler.told);
}

#[test]
fn a_client_may_catch_report_nonsense_and_collect_another_heap() {
    for mark_stack in [1, 2, 256] {
        let mut region = JunkRegion::new(1 << 14, 1024, 1);
        let settings = Settings {
            mark_stack,
            ..Settings::default()
        };
        meddled(&mut Heap::<Lists>::new(region.memory(), settings).expect("room"));
        let config = config();
        meddled(&mut Collector::compact_fit(region.memory(), &config, mark_stack).expect("room"));
    }
}

#[test]
fn an_index_may_unwind_while_a_collector_allocates() {
    for asked in 0..60 {
        let mut region = JunkRegion::new(1 << 13, 8, 1);
        let mut list = List::default();
        ASKED.set(u32::MAX);
        let made = Heap::<SingleList<Unwinds>>::new(region.memory(), Settings::default());
        let mut gc = made.expect("large enough");
        linked(&mut gc, &mut list, 5);
        ASKED.set(asked);
        for _ in 0..80 {
            let call = || gc.alloc(&mut list, 96);
            let _ = catch_unwind(AssertUnwindSafe(call));
            assert_eq!(gc.check(), Ok(()), "{asked}");
        }
        gc.collect(&mut list);
        assert_eq!((gc.check(), gc.objects().count()), (Ok(()), 5));
    }
}
