//! The incremental automaton, exhaustively: every state into which threads can bring a class with a
//! move in flight.
//!
//! `surefit_models::ours` composes `automaton::incremental` over vectors of pages, one critical
//! section at a time. `search` interleaves frees, allocations, compactions, readers and writers in
//! every way between sections (and pins also within them), and checks in every state:
//!
//! - no page or block is lost, each is in one place, and a reserved block belongs to the one move
//!   in flight;
//! - R2: no write is lost to a copy, and no pinned object moves; v is never in a full page, nor
//!   outside the reservoir;
//! - R3: n or the holes are within `bound_in_flight`, and the pages within `pages_bound_in_flight`,
//!   for the calls now in progress;
//! - no free takes more steps than allowed; if left alone, every call returns, and no move stays in
//!   flight;
//! - from every state at rest without pins, a compaction leaves at most one not-full page.
//!
//! The papers' incremental automaton (`surefit_models::papers`) is exhausted by the same search, in
//! `papers`: its source pages, emptying pages and transient fragmentation.
//!
//! Tables here hold the largest values found, and the tests assert them: `--nocapture` prints them.

mod decisions;
mod papers;
mod rows;
mod search;

use rows::{
    Row, holes, large_holes, large_pages, lent, no_moves, one_call, pages, parked, pinned, row,
    three_calls, two_calls, values,
};
use search::explore;
use surefit_classes::Bound;
use surefit_models::ours::{Class, Slip};

/// Explores every row; reports at the end which of them had other largest values than expected.
fn explore_all(rows: impl IntoIterator<Item = Row>) {
    let (mut states, mut transitions, mut other) = (0, 0, Vec::new());
    for row in rows {
        let (census, fault) = explore::<Class>(row.rules);
        if let Some(fault) = fault {
            panic!("{:?}\n{fault}", row.rules);
        }
        row.print(&census);
        states += census.states;
        transitions += census.transitions;
        let found = (values(&census.excess), values(&census.pages));
        if found != (row.excess.to_vec(), row.pages.to_vec()) {
            other.push((row.rules, found));
        }
    }
    println!("{states} states, {transitions} transitions");
    assert!(other.is_empty(), "other values: {other:#?}");
}

#[test]
fn every_state_of_a_small_class_keeps_its_bound() {
    let rows = [one_call(), no_moves(), two_calls(), three_calls(), pinned()];
    explore_all(rows.into_iter().flatten());
}

/// Each row once with parked blocks and once without: both have the same largest values.
#[test]
fn every_state_of_a_class_that_parks_blocks_keeps_its_bound() {
    explore_all(parked().into_iter().map(|mut row| {
        row.rules.parks = false;
        row
    }));
    explore_all(parked());
}

/// What is lent moves: the slack that size-classes of a shared heap borrow.
#[test]
fn every_state_of_a_class_that_borrows_holes_keeps_its_bound() {
    explore_all(lent());
}

#[test]
#[ignore = "half a minute"]
fn every_state_of_a_larger_class_keeps_its_bound() {
    explore_all(large_pages().into_iter().chain(large_holes()));
}

// ---- errors that the search must find ----------------------------------------------------------

fn slipped(slip: Slip, bound: Bound) -> String {
    let mut rules = row(bound, [3, 2, 1, 2, 8], &[], &[]).rules;
    rules.slip = slip;
    let (_, fault) = explore::<Class>(rules);
    fault.unwrap_or_else(|| panic!("{slip:?} was not found"))
}

fn slipped_while_parking(slip: Slip) -> String {
    let mut rules = row(holes(2, 1, 4), [3, 2, 0, 1, 10], &[], &[]).rules;
    (rules.parks, rules.slip) = (true, slip);
    let (_, fault) = explore::<Class>(rules);
    fault.unwrap_or_else(|| panic!("{slip:?} was not found"))
}

#[test]
fn a_block_that_is_parked_although_the_bound_must_be_checked_is_found() {
    let fault = slipped_while_parking(Slip::ParksWithoutCredit);
    assert!(fault.contains("exceeds the bound"), "{fault}");
}

#[test]
fn a_page_of_parked_blocks_alone_is_found() {
    let fault = slipped_while_parking(Slip::ParksLast);
    assert!(fault.contains("the bound is kept"), "{fault}");
}

#[test]
fn a_write_during_a_move_that_goes_on_is_lost() {
    let fault = slipped(Slip::WritesOn, pages(1));
    assert!(fault.contains("a write was lost"), "{fault}");
}

#[test]
fn a_commit_that_ignores_pins_moves_a_pinned_object() {
    let fault = slipped(Slip::CommitsPinned, holes(0, 0, 1));
    assert!(fault.contains("a pinned object moved"), "{fault}");
}

#[test]
fn a_move_that_outlives_the_last_free_block_of_its_page_is_found() {
    let fault = slipped(Slip::FillsSource, pages(1));
    assert!(fault.contains("the page of v is full"), "{fault}");
}
