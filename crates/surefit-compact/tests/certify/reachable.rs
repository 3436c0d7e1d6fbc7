//! The page bound of one size-class: never exceeded in any reachable state, and reached at every
//! count.

use std::collections::HashMap;

use surefit_compact::Bound;
use surefit_compact::automaton::pages_bound;
use surefit_compact::certify::moves_max;

use crate::model::Model;
use crate::{bounds, holes};

/// Every state that is reachable with at most `most` live page-blocks: for each (live, peak), the
/// most pages.
fn explore(blocks: u32, bound: Bound, most: u32) -> HashMap<(u32, u32), u32> {
    let mut pages: HashMap<(u32, u32), u32> = HashMap::new();
    let mut seen = std::collections::HashSet::new();
    let mut todo = vec![Model::new(blocks, bound)];
    while let Some(model) = todo.pop() {
        let count = pages.entry((model.live, model.peak)).or_default();
        *count = model.page_count().max(*count);
        for next in successors(&model, most) {
            assert_holds(&next, bound);
            if seen.insert((next.shape(), next.peak)) {
                todo.push(next);
            }
        }
    }
    pages
}

fn successors(model: &Model, most: u32) -> Vec<Model> {
    let mut next = Vec::new();
    if model.live < most {
        let mut more = model.clone();
        more.malloc();
        next.push(more);
    }
    let used = model
        .pages
        .iter()
        .enumerate()
        .filter(|(_, used)| **used > 0);
    for (page, _) in used {
        let mut less = model.clone();
        let moves = less.free(page);
        let most = moves_max(model.bound, model.blocks as u16);
        assert!(moves <= most, "{moves} moves by one free: {model:?}");
        next.push(less);
    }
    next
}

fn assert_holds(model: &Model, bound: Bound) {
    match bound {
        Bound::Pages(most) => {
            let not_full = model.not_full.len();
            assert!(model.blocks == 1 || not_full <= most as usize, "{model:?}");
        }
        Bound::Holes { .. } => assert!(model.holes() <= model.limit(), "{model:?}"),
        Bound::Unbounded => {}
    }
    let pages = pages_bound(bound, model.blocks, model.live, model.peak);
    assert!(model.page_count() <= pages, "{pages} pages bound {model:?}");
}

#[test]
fn no_reachable_state_passes_the_page_bound_and_some_state_reaches_it_at_every_count() {
    for blocks in 1..=4 {
        let most = [9, 12, 13, 14][blocks as usize - 1];
        for bound in bounds() {
            let pages = explore(blocks, bound, most);
            for (&(live, peak), &reached) in &pages {
                let bound_pages = pages_bound(bound, blocks, live, peak);
                assert_eq!(
                    reached, bound_pages,
                    "π {blocks}, {bound}, h {live}, H {peak}"
                );
            }
        }
    }
}

#[test]
fn a_fraction_of_one_half_needs_no_third_move() {
    for (blocks, most) in [(2, 14), (3, 16), (5, 16)] {
        for base in 0..3 {
            explore(blocks, holes(base, 1, 2), most);
        }
    }
}

/// Fills as many pages as the bound allows, empties the last one down to one block, then frees one
/// by one from the others: no free moves.
fn stretch(blocks: u32, bound: Bound, live: u32, peak: u32) -> u32 {
    let pages = pages_bound(bound, blocks, live, peak);
    let mut model = Model::new(blocks, bound);
    (0..peak.min(pages * blocks)).for_each(|_| model.malloc());
    for page in (0..model.pages.len()).rev() {
        while model.live > live && model.pages[page] > 1 {
            assert_eq!(model.free(page), 0, "a move: {model:?}");
        }
    }
    model.page_count()
}

#[test]
fn the_page_bound_is_reached_for_up_to_eight_page_blocks_a_page() {
    for blocks in 2..=8 {
        for bound in bounds()
            .into_iter()
            .filter(|bound| matches!(bound, Bound::Holes { .. }))
        {
            for live in 1..70 {
                for peak in [live, live + 1, live + blocks, 3 * live + 40] {
                    let pages = pages_bound(bound, blocks, live, peak);
                    let reached = stretch(blocks, bound, live, peak);
                    assert_eq!(reached, pages, "π {blocks}, {bound}, h {live}, H {peak}");
                }
            }
        }
    }
}
