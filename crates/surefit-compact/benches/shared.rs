//! Instructions of the shared heap's events on one thread, beside those of an uncontended lock
//! (R7).
//!
//! One scripted worst path per event, as in `events`: page-blocks of 40 bytes, locks by size-class,
//! whole moves, nothing pinned. Each path runs with some thousands and with about a million live
//! objects. The counts must be equal, and within the budget. Needs valgrind and the runner of the
//! gungraun crate: `cargo bench -p surefit-compact --bench shared`. A budget is the measured
//! number, rounded up by a tenth.
#![allow(
    missing_docs,
    unused_qualifications,
    clippy::must_use_candidate,
    reason = "the benchmark macros make items of their own"
)]

use core::hint::black_box;
use core::mem::MaybeUninit;

use gungraun::{
    Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use parking_lot::{Mutex, RawMutex};
use surefit_compact::shared::{Local, PerClass, SharedConfig, SharedHeap, SharedStats};
use surefit_compact::{Bound, Config, Geometry, Handle};

/// An object of 40 bytes.
type Object = [u64; 5];
/// Larger than the page-blocks of [`Object`], and of another size-class.
type Large = MaybeUninit<[u64; 250]>;
type Shared = SharedHeap<'static, RawMutex>;

/// The most pairs that a size-class parks: half of the buffered handles.
const MOST_PARKED: u64 = 16;

/// A heap in the state before the event. It is boxed, so that passing it is not counted.
struct Scene {
    heap: &'static Shared,
    local: Local<'static, 'static, RawMutex, PerClass>,
    /// The object that the event frees or reads.
    object: Option<Handle<Object>>,
    /// The other objects, page by page; no event frees one of them.
    others: Vec<Option<Handle<Object>>>,
    /// Objects of another size-class.
    large: Vec<Handle<Large>>,
}

fn blocks_per_page() -> usize {
    let geometry = Geometry::DEFAULT;
    let class = geometry.class_for(size_of::<Object>(), 8).expect("fits");
    usize::from(geometry.layout(class).blocks)
}

/// Touched memory that begins at a page, so that two heaps of one size are divided alike.
fn region(bytes: usize) -> &'static mut [MaybeUninit<u8>] {
    let page = Geometry::DEFAULT.page_bytes();
    let memory = vec![MaybeUninit::new(0xa5_u8); bytes + page].leak();
    let first = memory.as_ptr().align_offset(page);
    &mut memory[first..][..bytes]
}

/// Full pages of about `live` objects.
fn full_pages(live: usize, bound: Bound) -> Box<Scene> {
    let config = Config::new(Geometry::DEFAULT, bound).expect("valid");
    let config = Box::leak(Box::new(SharedConfig::new(config)));
    let heap = Shared::new(region(live * 80 + (1 << 20)), config).expect("large enough");
    let heap: &'static Shared = Box::leak(Box::new(heap));
    let mut scene = Box::new(Scene {
        heap,
        local: heap.register().expect("registered"),
        object: None,
        others: Vec::new(),
        large: Vec::new(),
    });
    for _ in 0..(live / blocks_per_page()).max(4) * blocks_per_page() {
        scene.add();
    }
    scene
}

impl Scene {
    fn add(&mut self) {
        let value = [self.others.len() as u64; 5];
        let handle = self.local.insert(value).expect("fits");
        self.others.push(Some(handle));
    }

    fn take(&mut self, index: usize) -> Handle<Object> {
        self.others[index].take().expect("taken once")
    }

    /// Frees an object of the full pages.
    fn free(&mut self, index: usize) {
        let handle = self.take(index);
        self.local.free(handle).expect("ours");
    }

    fn without(mut self: Box<Self>, freed: &[usize]) -> Box<Self> {
        freed.iter().for_each(|&index| self.free(index));
        self
    }

    /// Chooses the object that the event is about.
    fn about(mut self: Box<Self>, index: usize) -> Box<Self> {
        self.object = Some(self.take(index));
        self
    }

    /// Gives back what is parked.
    fn unparked(self: Box<Self>) -> Box<Self> {
        self.heap.compact(0);
        self
    }

    fn parked(&self) -> u64 {
        self.heap.stats().parked_blocks
    }
}

/// Objects of all pages in turn: one of each page, then the second one of each.
fn in_turn(scene: &Scene) -> impl Iterator<Item = usize> + use<> {
    let (blocks, all) = (blocks_per_page(), scene.others.len());
    (0..blocks).flat_map(move |number| (number..all).step_by(blocks))
}

// ---- allocations -------------------------------------------------------------------------------

/// All pages are full, and all handles that were made are in use: the next object needs both, but
/// the address table has room.
fn opens_a_page(live: usize) -> Box<Scene> {
    let makes_handles = |scene: &Scene| {
        // The handles that are made together are used from the last one on.
        let names = scene.others.iter().rev().flatten().map(number).take(2);
        names.is_sorted_by(|last, before| last > before)
    };
    let first = full_pages(live, Bound::DEFAULT);
    let mut scene = full_pages(live, Bound::DEFAULT);
    loop {
        while scene.others.len() % blocks_per_page() != 0 {
            scene.add();
        }
        let table = scene.heap.usage().administrative_bytes;
        scene.add();
        // The table grows by pages.
        let grew = scene.heap.usage().administrative_bytes - table > 8 << 10;
        if makes_handles(&scene) && !grew {
            break;
        }
    }
    let mut again = first;
    while again.others.len() + 1 < scene.others.len() {
        again.add();
    }
    again
}

/// The number of an object's handle.
fn number(handle: &Handle<Object>) -> u32 {
    let name = format!("{handle:?}");
    let digits = name.split(|c: char| !c.is_ascii_digit());
    let numbers: Vec<u32> = digits.filter_map(|number| number.parse().ok()).collect();
    numbers[0]
}

fn page_has_more(live: usize) -> Box<Scene> {
    let freed = [7, 8, 9];
    full_pages(live, Bound::DEFAULT).without(&freed).unparked()
}

fn last_block_of_a_page(live: usize) -> Box<Scene> {
    full_pages(live, Bound::DEFAULT).without(&[7]).unparked()
}

/// A pair is parked, of a page that was not full any more.
fn parked(live: usize) -> Box<Scene> {
    full_pages(live, Bound::DEFAULT).without(&[7, 8])
}

/// A full region but for parked page-blocks, as many as a class may park, in one page with `beside`
/// live objects. An object of another size-class lacks room.
fn full_but_for_parked(live: usize, beside: usize) -> Box<Scene> {
    let mut scene = full_pages(live, Bound::DEFAULT);
    let first = scene.others.len();
    // The first free of a class checks the bound, and does not park.
    let freed = 1 + MOST_PARKED as usize;
    for _ in 0..beside + freed {
        scene.add();
    }
    while let Ok(large) = scene.local.insert(Large::uninit()) {
        scene.large.push(large);
    }
    (first..first + freed).for_each(|index| scene.free(index));
    assert_eq!(scene.parked(), MOST_PARKED);
    scene
}

fn parked_alone_in_a_page(live: usize) -> Box<Scene> {
    full_but_for_parked(live, 0)
}

fn parked_beside_an_object(live: usize) -> Box<Scene> {
    full_but_for_parked(live, 1)
}

// ---- frees -------------------------------------------------------------------------------------

/// The first free of an object of a full page: it checks the bound, and does not park.
fn first_free(live: usize) -> Box<Scene> {
    let last = blocks_per_page();
    full_pages(live, Bound::DEFAULT).about(last)
}

fn free_parks(live: usize) -> Box<Scene> {
    parked(live).about(blocks_per_page())
}

/// As many pairs as may be are parked: the next free clears a block of a full page.
fn free_beside_parked(live: usize) -> Box<Scene> {
    let mut scene = full_pages(live, Bound::DEFAULT);
    for index in 0..=MOST_PARKED as usize {
        scene.free(index);
    }
    assert_eq!(scene.parked(), MOST_PARKED);
    let full = 2 * blocks_per_page();
    scene.about(full)
}

/// Full pages, with objects of all pages freed in turn up to the first free that is `event`, which
/// compares the statistics before and after it. That one is left to be counted.
fn up_to(live: usize, event: fn(&SharedStats, &SharedStats) -> bool) -> Box<Scene> {
    let mut scene = full_pages(live, Bound::DEFAULT);
    let mut before = scene.heap.stats();
    let count = in_turn(&scene).position(|index| {
        scene.free(index);
        let after = scene.heap.stats();
        event(&core::mem::replace(&mut before, after), &after)
    });
    let count = count.expect("the event happens");
    let scene = full_pages(live, Bound::DEFAULT);
    let freed: Vec<_> = in_turn(&scene).take(count + 1).collect();
    scene.without(&freed[..count]).about(freed[count])
}

/// As many pairs as may be are parked, and the next free must check the bound: it gives all of them
/// back before.
fn free_gives_back(live: usize) -> Box<Scene> {
    up_to(live, |before, after| {
        before.parked_blocks == MOST_PARKED && after.parked_blocks == 0
    })
}

fn free_refills(live: usize) -> Box<Scene> {
    let scene = full_pages(live, Bound::Pages(1)).without(&[7]);
    scene.about(blocks_per_page())
}

fn free_refills_and_releases(live: usize) -> Box<Scene> {
    let mut scene = full_pages(live, Bound::Pages(1));
    scene.add();
    scene.about(blocks_per_page())
}

fn free_of_the_last(live: usize) -> Box<Scene> {
    let mut scene = full_pages(live, Bound::DEFAULT);
    scene.add();
    let last = scene.others.len() - 1;
    scene.about(last)
}

/// The hole bound is reached, and the next free lowers it too: two moves.
fn free_moves_twice(live: usize) -> Box<Scene> {
    up_to(live, |before, after| {
        before.parked_blocks == 0
            && after.moves_total == before.moves_total + 2
            && after.pages == before.pages
    })
}

// ---- events ------------------------------------------------------------------------------------

fn budget(instructions: u64) -> LibraryBenchmarkConfig {
    let mut callgrind = Callgrind::default();
    callgrind.hard_limits([(EventKind::Ir, instructions)]);
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(callgrind);
    config
}

fn insert(scene: Box<Scene>) -> (Box<Scene>, Handle<Object>) {
    let handle = scene.local.insert(black_box([1; 5])).expect("fits");
    (scene, handle)
}

/// Allocates an object of another size-class; panics if it is served or refused unexpectedly.
fn allocate_large(mut scene: Box<Scene>, served: bool) -> Box<Scene> {
    let large = scene.local.insert(Large::uninit());
    assert_eq!(large.is_ok(), served);
    scene.large.extend(large);
    scene
}

fn free(mut scene: Box<Scene>) -> Box<Scene> {
    if let Some(object) = scene.object.take() {
        scene.local.free(object).expect("ours");
    }
    scene
}

fn mutex() -> Mutex<u64> {
    Mutex::new(7)
}

#[library_benchmark(setup = mutex, config = budget(30))]
#[bench::uncontended()]
fn lock_read_unlock(mutex: Mutex<u64>) -> (u64, Mutex<u64>) {
    let value = *black_box(&mutex).lock();
    (value, mutex)
}

#[library_benchmark(setup = first_free, config = budget(52))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn pin_read_unpin(scene: Box<Scene>) -> (u64, Box<Scene>) {
    let object = scene.object.as_ref().expect("chosen");
    let pinned = black_box(scene.heap).pin(black_box(object));
    let value = pinned.expect("ours")[2];
    (value, scene)
}

#[library_benchmark(setup = first_free, config = budget(63))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn pin_write_unpin(mut scene: Box<Scene>) -> Box<Scene> {
    let object = scene.object.as_mut().expect("chosen");
    let pinned = black_box(scene.heap).pin_mut(black_box(object));
    pinned.expect("ours")[2] = black_box(1);
    scene
}

#[library_benchmark(setup = opens_a_page, config = budget(1283))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn insert_opens_a_page(scene: Box<Scene>) -> (Box<Scene>, Handle<Object>) {
    insert(scene)
}

#[library_benchmark(setup = page_has_more, config = budget(267))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn insert_takes_a_block(scene: Box<Scene>) -> (Box<Scene>, Handle<Object>) {
    insert(scene)
}

#[library_benchmark(setup = last_block_of_a_page, config = budget(278))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn insert_fills_a_page(scene: Box<Scene>) -> (Box<Scene>, Handle<Object>) {
    insert(scene)
}

#[library_benchmark(setup = parked, config = budget(202))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn insert_takes_a_parked_pair(scene: Box<Scene>) -> (Box<Scene>, Handle<Object>) {
    insert(scene)
}

#[library_benchmark(setup = parked_alone_in_a_page, config = budget(6622))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn insert_after_giving_back(scene: Box<Scene>) -> Box<Scene> {
    allocate_large(scene, true)
}

#[library_benchmark(setup = parked_beside_an_object, config = budget(12174))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn insert_refused_after_giving_back(scene: Box<Scene>) -> Box<Scene> {
    allocate_large(scene, false)
}

#[library_benchmark(setup = first_free, config = budget(704))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn free_checks_the_bound(scene: Box<Scene>) -> Box<Scene> {
    free(scene)
}

#[library_benchmark(setup = free_parks, config = budget(205))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn free_parks_a_pair(scene: Box<Scene>) -> Box<Scene> {
    free(scene)
}

#[library_benchmark(setup = free_beside_parked, config = budget(449))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn free_in_full_page_beside_parked(scene: Box<Scene>) -> Box<Scene> {
    free(scene)
}

#[library_benchmark(setup = free_gives_back, config = budget(2922))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn free_gives_parked_back(scene: Box<Scene>) -> Box<Scene> {
    free(scene)
}

#[library_benchmark(setup = free_of_the_last, config = budget(658))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn free_releases_the_page(scene: Box<Scene>) -> Box<Scene> {
    free(scene)
}

#[library_benchmark(setup = free_refills, config = budget(890))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn free_with_a_move(scene: Box<Scene>) -> Box<Scene> {
    free(scene)
}

#[library_benchmark(setup = free_refills_and_releases, config = budget(1018))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn free_with_a_move_releases_the_source(scene: Box<Scene>) -> Box<Scene> {
    free(scene)
}

#[library_benchmark(setup = free_moves_twice, config = budget(2037))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn free_with_two_moves(scene: Box<Scene>) -> Box<Scene> {
    free(scene)
}

library_benchmark_group!(
    name = shared,
    benchmarks = [
        lock_read_unlock,
        pin_read_unpin,
        pin_write_unpin,
        insert_opens_a_page,
        insert_takes_a_block,
        insert_fills_a_page,
        insert_takes_a_parked_pair,
        insert_after_giving_back,
        insert_refused_after_giving_back,
        free_checks_the_bound,
        free_parks_a_pair,
        free_in_full_page_beside_parked,
        free_gives_parked_back,
        free_releases_the_page,
        free_with_a_move,
        free_with_a_move_releases_the_source,
        free_with_two_moves,
    ]
);

main!(library_benchmark_groups = shared);
