//! The largest number of instructions for every event of the size-class automaton (R7), with
//! budgets.
//!
//! One scripted worst path per event: page-blocks of 40 bytes (π = 371), with the bitmap and the
//! list of free blocks in the page. Each path runs with about a thousand and with about a million
//! live objects. The counts must be equal, and within the budget. Needs valgrind and the runner of
//! the gungraun crate: `cargo bench -p surefit-compact`.
//!
//! Loops of a thousand accesses through views are counted too, beside the same loop over a bare
//! table. Their budgets leave no room for another instruction an access.
//!
//! A budget is the measured value plus a tenth: raise one only with a reason in the commit.
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
use surefit_compact::branded::{BrandedHandle, BrandedHeap};
use surefit_compact::{Bound, Config, Geometry, Handle, Heap};

/// An object of 40 bytes.
type Object = [u64; 5];

/// The most pairs that a size-class parks.
const MOST_PARKED: usize = 31;

/// Larger than the page-blocks of [`Object`], and of another size-class.
type Large = MaybeUninit<[u64; 250]>;

/// A heap in the state before the event. It is boxed, so that passing it is not counted.
struct Scene {
    heap: Heap<'static>,
    /// The object that the event frees or reads.
    object: Option<Handle<Object>>,
    /// The other objects. No event frees one of them.
    others: Vec<Handle<Object>>,
    /// Objects of another size-class.
    large: Vec<Handle<Large>>,
}

fn blocks_per_page() -> usize {
    let geometry = Geometry::DEFAULT;
    let class = geometry.class_for(size_of::<Object>(), 8).expect("fits");
    usize::from(geometry.layout(class).blocks)
}

/// Full pages of about `live` objects, all memory touched before.
fn full_pages(live: usize, bound: Bound) -> Box<Scene> {
    let config = Config::new(Geometry::DEFAULT, bound).expect("valid");
    let memory = vec![MaybeUninit::new(0xa5_u8); live * 64 + (1 << 20)];
    let heap = Heap::new(memory.leak(), Box::leak(Box::new(config))).expect("large enough");
    let pages = (live / blocks_per_page()).max(4);
    let others = (0..pages * blocks_per_page())
        .map(|i| heap.insert([i as u64; 5]).expect("fits"))
        .collect();
    let mut scene = Box::new(Scene {
        heap,
        object: None,
        others,
        large: Vec::new(),
    });
    // Makes one entry and frees it, so that the address table need not grow in the event.
    let spare = scene.heap.insert([0; 5]).expect("fits");
    scene.heap.free(spare);
    scene
}

impl Scene {
    /// Chooses the object that the event is about.
    fn about(mut self: Box<Self>, index: usize) -> Box<Self> {
        self.object = Some(self.others.swap_remove(index));
        self
    }

    /// Frees an object of the full pages.
    fn without(mut self: Box<Self>, index: usize) -> Box<Self> {
        let handle = self.others.swap_remove(index);
        self.heap.free(handle);
        self
    }

    /// Adds an object, the last of `others`.
    fn with_one_more(mut self: Box<Self>) -> Box<Self> {
        let handle = self.heap.insert([1; 5]).expect("fits");
        self.others.push(handle);
        self
    }
}

fn opens_a_page(live: usize) -> Box<Scene> {
    full_pages(live, Bound::DEFAULT)
}

fn page_has_more(live: usize) -> Box<Scene> {
    opens_a_page(live).with_one_more()
}

fn last_block_of_a_page(live: usize) -> Box<Scene> {
    opens_a_page(live).with_one_more().without(0)
}

/// A pair is parked, of a page that was not full any more.
fn parked(live: usize) -> Box<Scene> {
    last_block_of_a_page(live).without(1)
}

fn free_in_full_page(live: usize) -> Box<Scene> {
    opens_a_page(live).with_one_more().about(blocks_per_page())
}

fn free_refills(live: usize) -> Box<Scene> {
    full_pages(live, Bound::Pages(1))
        .without(0)
        .about(2 * blocks_per_page())
}

fn free_refills_and_releases(live: usize) -> Box<Scene> {
    full_pages(live, Bound::Pages(1))
        .with_one_more()
        .about(blocks_per_page())
}

fn free_in_not_full_page(live: usize) -> Box<Scene> {
    opens_a_page(live).with_one_more().without(0).about(1)
}

/// The pairs that may be parked are parked, the next free clears a block of a not-full page.
fn free_beside_parked(live: usize) -> Box<Scene> {
    let mut scene = opens_a_page(live).with_one_more();
    for place in 0..=MOST_PARKED {
        scene = scene.without(place);
    }
    let last = scene.others.len() - 2;
    scene.about(last)
}

/// A full region but for parked page-blocks, as many as a class may park, in one page with `beside`
/// live objects. An object of another size-class lacks room.
fn full_but_for_parked(live: usize, beside: usize) -> Box<Scene> {
    let mut scene = full_pages(live, Bound::DEFAULT);
    for _ in 0..beside + MOST_PARKED {
        scene = scene.with_one_more();
    }
    while let Ok(large) = scene.heap.insert(Large::uninit()) {
        scene.large.push(large);
    }
    for _ in 0..MOST_PARKED {
        let last = scene.others.len() - 1;
        scene = scene.without(last);
    }
    scene
}

fn parked_alone_in_a_page(live: usize) -> Box<Scene> {
    full_but_for_parked(live, 0)
}

fn parked_beside_an_object(live: usize) -> Box<Scene> {
    full_but_for_parked(live, 1)
}

fn free_of_the_last(live: usize) -> Box<Scene> {
    let scene = opens_a_page(live).with_one_more();
    let last = scene.others.len() - 1;
    scene.about(last)
}

/// The hole bound is reached, and the next free lowers it too: two moves.
fn free_moves_twice(live: usize) -> Box<Scene> {
    let mut scene = opens_a_page(live).with_one_more().with_one_more();
    let mut scattered = 0;
    loop {
        let stats = scene.heap.stats();
        let limit = 4 + stats.live_blocks / 16;
        if stats.holes == limit && stats.live_blocks % 16 == 0 {
            break;
        }
        scattered = (scattered + 7919) % scene.others.len();
        scene = scene.without(scattered);
    }
    let moves = scene.heap.stats().moves_total;
    assert!(
        moves < scene.others.len() as u64,
        "holes gather before blocks move"
    );
    scene.about(0)
}

fn budget(instructions: u64) -> LibraryBenchmarkConfig {
    let mut callgrind = Callgrind::default();
    callgrind.hard_limits([(EventKind::Ir, instructions)]);
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(callgrind);
    config
}

fn insert(scene: Box<Scene>) -> (Box<Scene>, Handle<Object>) {
    let handle = scene.heap.insert(black_box([7; 5])).expect("fits");
    (scene, handle)
}

/// Allocates an object of another size-class; panics if it is served or refused unexpectedly.
fn allocate_large(mut scene: Box<Scene>, served: bool) -> Box<Scene> {
    let large = scene.heap.insert(Large::uninit());
    assert_eq!(large.is_ok(), served);
    scene.large.extend(large);
    scene
}

fn free(mut scene: Box<Scene>) -> Box<Scene> {
    if let Some(object) = scene.object.take() {
        scene.heap.free(object);
    }
    scene
}

fn get(scene: Box<Scene>) -> (Box<Scene>, u64) {
    let value = scene
        .object
        .as_ref()
        .map_or(0, |object| scene.heap.get(object)[2]);
    (scene, value)
}

/// Accesses of a loop.
const LOOPED: usize = 1000;

surefit_compact::brand! {
    /// The brand of the heap of the loop.
    struct Looped;
}

/// A branded heap of a thousand objects or more.
struct BrandedScene {
    heap: BrandedHeap<'static, Looped>,
    objects: Vec<BrandedHandle<Looped, Object>>,
}

/// Each benchmark has its own process, so the brand is free.
fn branded(live: usize) -> Box<BrandedScene> {
    let Scene { heap, others, .. } = *opens_a_page(live);
    let heap = heap.into_branded().expect("the only one");
    let brand = |handle| heap.brand(handle).expect("its own");
    let objects = others.into_iter().map(brand).collect();
    Box::new(BrandedScene { heap, objects })
}

/// Objects behind a bare table: the floor of every heap of handles.
struct Bare {
    words: Vec<u32>,
    objects: Vec<Object>,
    numbers: Vec<u32>,
}

fn bare(live: usize) -> Box<Bare> {
    let numbers = (0..live as u32).collect::<Vec<_>>();
    Box::new(Bare {
        words: numbers.iter().map(|number| 5 * number).collect(),
        objects: vec![[0; 5]; live],
        numbers,
    })
}

#[library_benchmark(setup = opens_a_page, config = budget(340))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn m1_opens_a_page(scene: Box<Scene>) -> (Box<Scene>, Handle<Object>) {
    insert(scene)
}

#[library_benchmark(setup = page_has_more, config = budget(160))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn m2_takes_a_block(scene: Box<Scene>) -> (Box<Scene>, Handle<Object>) {
    insert(scene)
}

#[library_benchmark(setup = last_block_of_a_page, config = budget(163))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn m3_fills_a_page(scene: Box<Scene>) -> (Box<Scene>, Handle<Object>) {
    insert(scene)
}

#[library_benchmark(setup = free_in_full_page, config = budget(367))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn f1_full_page_becomes_not_full(scene: Box<Scene>) -> Box<Scene> {
    free(scene)
}

#[library_benchmark(setup = free_refills, config = budget(268))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn f2_refills_from_the_source(scene: Box<Scene>) -> Box<Scene> {
    free(scene)
}

#[library_benchmark(setup = free_refills_and_releases, config = budget(319))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn f3_refills_and_releases_the_source(scene: Box<Scene>) -> Box<Scene> {
    free(scene)
}

#[library_benchmark(setup = free_beside_parked, config = budget(136))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn f4_stays_not_full(scene: Box<Scene>) -> Box<Scene> {
    free(scene)
}

#[library_benchmark(setup = free_of_the_last, config = budget(167))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn f5_releases_the_page(scene: Box<Scene>) -> Box<Scene> {
    free(scene)
}

#[library_benchmark(setup = free_moves_twice, config = budget(760))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn holes_two_moves(scene: Box<Scene>) -> Box<Scene> {
    free(scene)
}

#[library_benchmark(setup = parked, config = budget(63))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn takes_a_parked_pair(scene: Box<Scene>) -> (Box<Scene>, Handle<Object>) {
    insert(scene)
}

#[library_benchmark(setup = free_in_not_full_page, config = budget(41))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn parks_a_pair(scene: Box<Scene>) -> Box<Scene> {
    free(scene)
}

#[library_benchmark(setup = parked_alone_in_a_page, config = budget(3387))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn gives_back_and_serves(scene: Box<Scene>) -> Box<Scene> {
    allocate_large(scene, true)
}

#[library_benchmark(setup = parked_beside_an_object, config = budget(4151))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn gives_back_and_refuses(scene: Box<Scene>) -> Box<Scene> {
    allocate_large(scene, false)
}

#[library_benchmark(setup = free_in_full_page, config = budget(27))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn access(scene: Box<Scene>) -> (Box<Scene>, u64) {
    get(scene)
}

#[library_benchmark(setup = bare, config = budget(4143))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn loop_over_a_bare_table(mut scene: Box<Bare>) -> Box<Bare> {
    let base = scene.objects.as_mut_ptr().cast::<u64>();
    for &number in &scene.numbers[..LOOPED] {
        // SAFETY: every number is that of a word, and the word that of an object's first one.
        unsafe { *base.add(*scene.words.get_unchecked(number as usize) as usize + 2) += 1 };
    }
    scene
}

#[library_benchmark(setup = branded, config = budget(4143))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn loop_over_a_branded_view(mut scene: Box<BrandedScene>) -> Box<BrandedScene> {
    let view = scene.heap.view();
    for object in &mut scene.objects[..LOOPED] {
        view.get_mut(object)[2] += 1;
    }
    scene
}

#[library_benchmark(setup = opens_a_page, config = budget(10_469))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn loop_over_a_view(mut scene: Box<Scene>) -> Box<Scene> {
    let view = scene.heap.view();
    for object in &mut scene.others[..LOOPED] {
        view.get_mut(object)[2] += 1;
    }
    scene
}

library_benchmark_group!(
    name = events,
    benchmarks = [
        m1_opens_a_page,
        m2_takes_a_block,
        m3_fills_a_page,
        f1_full_page_becomes_not_full,
        f2_refills_from_the_source,
        f3_refills_and_releases_the_source,
        f4_stays_not_full,
        f5_releases_the_page,
        holes_two_moves,
        takes_a_parked_pair,
        parks_a_pair,
        gives_back_and_serves,
        gives_back_and_refuses,
        access,
        loop_over_a_bare_table,
        loop_over_a_branded_view,
        loop_over_a_view,
    ]
);

main!(library_benchmark_groups = events);
