//! Every state of tiny heaps within a demand, in exactly the certified bytes: nothing is refused,
//! and no call moves more than certified. A page less is refused somewhere.

use std::collections::{HashSet, VecDeque};

use surefit_compact::certify::{ContiguousDemand, Demand, certify_contiguous};
use surefit_compact::{Bound, Config, Wide};
use surefit_testkit::JunkRegion;

use super::setup::{Checked, PAGE, bounds, config};

#[derive(Clone, Copy, Debug)]
enum Call {
    AllocLarge(usize),
    AllocSmall(usize),
    FreeLarge(usize),
    FreeSmall(usize),
}

/// A demand: the most live objects of each number of pages, and of each class of page-blocks.
struct Tiny {
    windows: &'static [(usize, u32)],
    peaks: [u32; 5],
}

/// Bytes of the page-blocks of each class.
const BLOCKS: [usize; 5] = [16, 64, 128, 504, PAGE];

struct Search<'c> {
    config: &'c Config,
    tiny: &'c Tiny,
    bytes: usize,
    /// The most pages that a call moved.
    most_moved: u64,
}

impl Search<'_> {
    /// Runs calls on a new heap; returns its shape and the further calls within the demand, or
    /// `None` if a call is refused.
    fn replay(&mut self, path: &[Call]) -> Option<(Vec<u32>, Vec<Call>)> {
        let mut region = JunkRegion::new(self.bytes, PAGE, 7);
        let mut checked: Checked<'_, Wide> = Checked::new(region.memory(), self.config);
        let mut moved = 0;
        for &call in path {
            let before = checked.heap.stats().moved_bytes_total;
            match call {
                Call::AllocLarge(pages) => checked.alloc_large(pages * PAGE, 1).ok()?,
                Call::AllocSmall(len) => checked.alloc_small(len).ok()?,
                Call::FreeLarge(at) => checked.free_large(at),
                Call::FreeSmall(at) => checked.free_small(at),
            }
            moved = checked.heap.stats().moved_bytes_total - before;
        }
        checked.check();
        self.most_moved = self.most_moved.max(moved);
        Some((checked.shape(), self.calls(&checked)))
    }

    /// The calls within the demand.
    fn calls(&self, checked: &Checked<'_, Wide>) -> Vec<Call> {
        let mut calls = Vec::new();
        let large: Vec<_> = checked.large.iter().map(|(it, _)| it.len()).collect();
        let small: Vec<_> = checked.small.iter().map(|(it, _)| it.len()).collect();
        for &(pages, most) in self.tiny.windows {
            if large.iter().filter(|&&len| len == pages * PAGE).count() < most as usize {
                calls.push(Call::AllocLarge(pages));
            }
        }
        for (bytes, most) in BLOCKS.into_iter().zip(self.tiny.peaks) {
            if small.iter().filter(|&&len| len == bytes).count() < most as usize {
                calls.push(Call::AllocSmall(bytes));
            }
        }
        calls.extend((0..large.len()).map(Call::FreeLarge));
        calls.extend((0..small.len()).map(Call::FreeSmall));
        calls
    }

    /// Walks all states; returns their number, or the calls whose last one was refused.
    fn all(&mut self) -> Result<usize, Vec<Call>> {
        let mut seen = HashSet::new();
        let mut paths = VecDeque::from([Vec::new()]);
        while let Some(path) = paths.pop_front() {
            let Some((shape, calls)) = self.replay(&path) else {
                return Err(path);
            };
            if seen.insert(shape) {
                paths.extend(calls.into_iter().map(|call| {
                    let mut longer = path.clone();
                    longer.push(call);
                    longer
                }));
            }
        }
        Ok(seen.len())
    }
}

/// Searches a demand under a bound. Returns the states, and the most pages that a call moved.
fn search(tiny: &Tiny, bound: Bound) -> (usize, u64) {
    let config = config(bound, 4);
    let windows: Vec<_> = tiny
        .windows
        .iter()
        .map(|&(pages, objects)| ContiguousDemand {
            bytes: pages * PAGE,
            objects,
        })
        .collect();
    let demand = Demand::PerClass(&tiny.peaks);
    let certificate = certify_contiguous::<Wide>(&config, &demand, &windows).expect("certifiable");
    let mut search = Search {
        config: &config,
        tiny,
        bytes: certificate.heap.aligned_bytes,
        most_moved: 0,
    };
    let states = search.all().expect("nothing within the demand is refused");
    assert!(search.most_moved <= certificate.moved_bytes_max_per_call);
    let most_moved = search.most_moved;
    search.bytes -= PAGE;
    search.all().expect_err("a page less is not enough");
    (states, most_moved / PAGE as u64)
}

#[test]
fn one_size_beside_whole_pages() {
    let tiny = Tiny {
        windows: &[(2, 2)],
        peaks: [0, 0, 0, 0, 2],
    };
    for bound in bounds() {
        let (states, moved) = search(&tiny, bound);
        println!("{bound}: {states} states, at most {moved} pages moved");
        assert!(states > 100 && moved == 2, "{states} states, {moved} pages");
    }
}

#[test]
fn ends_of_slots_serve_page_blocks() {
    let tiny = Tiny {
        windows: &[(3, 2)],
        peaks: [0, 0, 0, 2, 1],
    };
    for bound in bounds() {
        let (states, moved) = search(&tiny, bound);
        println!("{bound}: {states} states, at most {moved} pages moved");
        assert!(states > 100 && moved == 3, "{states} states, {moved} pages");
    }
}

#[test]
fn two_sizes_of_slots() {
    let tiny = Tiny {
        windows: &[(2, 1), (3, 1)],
        peaks: [0, 0, 0, 1, 1],
    };
    for bound in bounds() {
        let (states, moved) = search(&tiny, bound);
        println!("{bound}: {states} states, at most {moved} pages moved");
        assert!(states > 100 && moved >= 4, "{states} states, {moved} pages");
    }
}

#[test]
fn several_slots_of_two_sizes() {
    let tiny = Tiny {
        windows: &[(2, 2), (4, 1)],
        peaks: [0, 0, 0, 0, 1],
    };
    let (states, moved) = search(&tiny, bounds()[0]);
    println!("{states} states, at most {moved} pages moved");
    assert!(states > 100 && moved >= 5, "{states} states, {moved} pages");
}
