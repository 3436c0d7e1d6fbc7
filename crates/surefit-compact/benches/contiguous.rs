//! The instructions of calls on contiguous objects over a page, with budgets.
//!
//! Each path runs in a heap with about a thousand and with about a million live objects of 40 bytes
//! (371 page-blocks in a page of 16 KiB, all used). The counts must be equal: no call depends on
//! the size of the heap. Needs valgrind and the runner of the gungraun crate.
//!
//! A budget is the measured value plus a tenth: raise one only with a reason in the commit.
#![allow(
    missing_docs,
    unused_qualifications,
    clippy::must_use_candidate,
    reason = "the benchmark macros make items of their own"
)]

use core::alloc::Layout;
use core::mem::MaybeUninit;

use gungraun::{
    Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use surefit_compact::{Config, Contiguous, Heap};

/// Bytes of a page.
const PAGE: usize = 16 << 10;

/// A heap in the state before the call.
struct Scene {
    heap: Heap<'static>,
    /// The windows, in the order of their allocations.
    windows: Vec<Contiguous<MaybeUninit<u8>>>,
}

fn layout(pages: usize) -> Layout {
    Layout::from_size_align(pages * PAGE, 8).expect("valid")
}

/// Windows of these pages, then full pages of about `live` objects; the last pages are free.
fn full_pages(live: usize, windows: &[usize]) -> Scene {
    let memory = vec![MaybeUninit::new(0xa5_u8); live * 64 + (4 << 20)];
    let config = Box::leak(Box::new(Config::DEFAULT));
    let mut heap: Heap<'static> = Heap::new(memory.leak(), config).expect("large enough");
    let windows = windows
        .iter()
        .map(|&pages| heap.alloc_contiguous(layout(pages)).expect("fits"))
        .collect();
    let pages = (live / 371).max(20);
    for number in 0..pages as u64 * 371 {
        // Dropping a handle leaks its object, which is meant here.
        drop(heap.insert([number; 5]).expect("fits"));
    }
    // Makes one entry and frees it, so that the address table need not grow in the call.
    let spare = heap.insert([0_u64; 5]).expect("fits");
    heap.free(spare);
    Scene { heap, windows }
}

fn budget(instructions: u64) -> LibraryBenchmarkConfig {
    let mut callgrind = Callgrind::default();
    callgrind.hard_limits([(EventKind::Ir, instructions)]);
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(callgrind);
    config
}

fn one_size(live: usize) -> Scene {
    full_pages(live, &[4, 4, 4])
}

fn two_sizes(live: usize) -> Scene {
    full_pages(live, &[2, 2, 4])
}

fn alloc(mut scene: Scene) -> (Scene, Contiguous<MaybeUninit<u8>>) {
    let object = scene.heap.alloc_contiguous(layout(4)).expect("fits");
    (scene, object)
}

fn free(mut scene: Scene, index: usize) -> Scene {
    let object = scene.windows.swap_remove(index);
    scene.heap.free_contiguous(object);
    scene
}

#[library_benchmark(setup = one_size, config = budget(227_000))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn alloc_clears_four_pages(scene: Scene) -> (Scene, Contiguous<MaybeUninit<u8>>) {
    alloc(scene)
}

#[library_benchmark(setup = two_sizes, config = budget(469_000))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn alloc_shifts_smaller_slots(scene: Scene) -> (Scene, Contiguous<MaybeUninit<u8>>) {
    alloc(scene)
}

#[library_benchmark(setup = one_size, config = budget(74_000))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn free_moves_the_last_window(scene: Scene) -> Scene {
    free(scene, 0)
}

#[library_benchmark(setup = two_sizes, config = budget(74_000))]
#[bench::thousand(1_000)]
#[bench::million(1_000_000)]
fn free_shifts_smaller_slots(scene: Scene) -> Scene {
    free(scene, 2)
}

library_benchmark_group!(
    name = contiguous,
    benchmarks = [
        alloc_clears_four_pages,
        alloc_shifts_smaller_slots,
        free_moves_the_last_window,
        free_shifts_smaller_slots,
    ]
);

main!(library_benchmark_groups = contiguous);
