//! The papers' incremental automaton, exhausted by the search that exhausts ours.
//!
//! The search takes every not-full page and every victim that an order of pages could choose, so
//! its values are those of all orders.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_models::papers::automaton::Counting::{self, Original, Strict};
use surefit_models::papers::{Action, Class, Freed, Order, Rules, Slip};
use surefit_models::{Measured, Simulated, SizeClass};

use super::rows::values;
use super::search::{Census, explore};

/// A configuration and the largest values that its states have, by calls in progress: 0, 1, …
struct Row {
    rules: Rules,
    /// Not-full and source pages − κ.
    excess: &'static [i32],
    /// Pages above those that the class needs without calls.
    pages: &'static [i32],
    /// Transient fragmentation in page-blocks.
    transient: &'static [i32],
}

/// κ, π blocks, a move of `steps` steps, and these numbers of calls and live blocks.
const fn row(
    counting: Counting,
    most: u16,
    [blocks, steps, calls, live]: [u16; 4],
    excess: &'static [i32],
    pages: &'static [i32],
    transient: &'static [i32],
) -> Row {
    let rules = Rules {
        counting,
        most,
        order: Order::Any,
        blocks,
        steps,
        calls,
        live,
        slip: Slip::None,
    };
    Row {
        rules,
        excess,
        pages,
        transient,
    }
}

/// Explores every row; reports at the end which of them had other largest values than expected.
fn explore_all(rows: impl IntoIterator<Item = Row>) {
    let mut other = Vec::new();
    for row in rows {
        let rules = row.rules;
        let (census, fault) = explore::<Class>(rules);
        if let Some(fault) = fault {
            panic!("{rules:?}\n{fault}");
        }
        print(&rules, &census);
        let found = [&census.excess, &census.pages, &census.transient].map(values);
        if found != [row.excess, row.pages, row.transient] {
            other.push((rules, found));
        }
        let moves = rules.blocks > 1 && rules.steps > 1;
        let most = if moves { u32::from(rules.calls) } else { 0 };
        assert_eq!(census.emptying, most, "an emptying page for each call");
        assert_eq!(
            census.steps,
            u32::from(if moves { rules.steps - 1 } else { 0 })
        );
    }
    assert!(other.is_empty(), "other values: {other:#?}");
}

fn print(rules: &Rules, census: &Census) {
    println!(
        "{rules:?}: states {} transitions {} not-full + source - k {:?}{} pages {:?}{} transient {:?} emptying {}",
        census.states,
        census.transitions,
        values(&census.excess),
        if census.reached {
            " (bound reached)"
        } else {
            ""
        },
        values(&census.pages),
        if census.pages_reached {
            " (bound reached)"
        } else {
            ""
        },
        values(&census.transient),
        census.emptying,
    );
}

#[test]
fn every_state_of_the_papers_class_keeps_its_bound() {
    explore_all([
        row(Original, 1, [1, 2, 2, 6], &[-1], &[0], &[0]),
        row(Original, 1, [4, 1, 2, 12], &[0], &[0], &[0]),
        row(
            Original,
            1,
            [2, 2, 3, 9],
            &[0; 4],
            &[0, 1, 2, 3],
            &[0, 2, 4, 6],
        ),
        row(
            Original,
            1,
            [3, 2, 3, 12],
            &[1; 4],
            &[1, 2, 3, 3],
            &[0, 3, 6, 9],
        ),
        row(
            Original,
            1,
            [4, 3, 3, 20],
            &[1; 4],
            &[1, 2, 3, 3],
            &[0, 4, 8, 12],
        ),
        row(
            Original,
            2,
            [4, 2, 4, 20],
            &[1; 5],
            &[1, 2, 3, 3, 4],
            &[0, 4, 8, 12, 16],
        ),
        row(
            Original,
            3,
            [3, 2, 3, 14],
            &[1; 4],
            &[1, 2, 2, 3],
            &[0, 3, 6, 9],
        ),
        row(
            Original,
            2,
            [8, 2, 3, 30],
            &[1; 4],
            &[1, 2, 2, 3],
            &[0, 8, 16, 24],
        ),
    ]);
}

#[test]
fn every_state_under_the_strict_rule_keeps_its_bound() {
    explore_all([
        row(
            Strict,
            1,
            [2, 2, 3, 9],
            &[0; 4],
            &[0, 1, 2, 3],
            &[0, 2, 4, 6],
        ),
        row(
            Strict,
            1,
            [3, 2, 3, 12],
            &[1; 4],
            &[1, 2, 3, 3],
            &[0, 3, 6, 9],
        ),
        row(
            Strict,
            1,
            [4, 3, 3, 20],
            &[1; 4],
            &[1, 2, 3, 3],
            &[0, 4, 8, 12],
        ),
        row(
            Strict,
            2,
            [4, 2, 4, 20],
            &[0; 5],
            &[0, 1, 2, 3, 4],
            &[0, 4, 8, 12, 16],
        ),
        row(
            Strict,
            3,
            [3, 2, 3, 14],
            &[0; 4],
            &[0, 1, 2, 3],
            &[0, 3, 6, 9],
        ),
        row(
            Strict,
            2,
            [8, 2, 3, 30],
            &[0; 4],
            &[0, 1, 2, 3],
            &[0, 8, 16, 24],
        ),
    ]);
}

#[test]
#[ignore = "half a minute"]
fn every_state_of_a_larger_class_of_the_papers_keeps_its_bound() {
    explore_all([
        row(
            Original,
            2,
            [4, 3, 4, 16],
            &[1; 5],
            &[1, 2, 3, 3, 4],
            &[0, 4, 8, 12, 16],
        ),
        row(
            Original,
            3,
            [4, 2, 5, 20],
            &[1; 6],
            &[1, 2, 3, 4, 4, 5],
            &[0, 4, 8, 12, 16, 20],
        ),
        row(
            Strict,
            2,
            [4, 3, 4, 16],
            &[0; 5],
            &[0, 1, 2, 3, 4],
            &[0, 4, 8, 12, 16],
        ),
        row(
            Strict,
            3,
            [4, 2, 5, 20],
            &[0; 6],
            &[0, 1, 2, 3, 4, 5],
            &[0, 4, 8, 12, 16, 20],
        ),
    ]);
}

// ---- errors that the search must find ----------------------------------------------------------

fn slipped(slip: Slip) -> String {
    let mut rules = row(Original, 1, [3, 3, 2, 12], &[], &[], &[]).rules;
    rules.slip = slip;
    let (_, fault) = explore::<Class>(rules);
    fault.unwrap_or_else(|| panic!("{slip:?} was not found"))
}

#[test]
fn a_move_that_takes_another_moves_target_loses_writes() {
    let fault = slipped(Slip::ForgetsWrites);
    assert!(fault.contains("a write was lost"), "{fault}");
}

#[test]
fn an_old_move_that_goes_on_has_no_target() {
    let fault = slipped(Slip::KeepsMove);
    assert!(fault.contains("a target without its move"), "{fault}");
}

// ---- a random walk -----------------------------------------------------------------------------

/// The most not-full and source pages, emptying pages, and pages above what the class needs at
/// rest, over walks of a class with T threads.
fn walk(counting: Counting, [blocks, most, threads]: [u16; 3]) -> (u32, u32, i32) {
    let rules = Rules {
        counting,
        most,
        order: Order::Packed,
        blocks,
        steps: 3,
        calls: threads,
        live: u16::MAX,
        slip: Slip::None,
    };
    let (mut census, mut not_full) = (Census::default(), 0);
    for seed in 0..12 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut class = Class::default();
        for turn in 0..6000 {
            // The number of live objects rises and falls about these.
            let about = 60 + 40 * (turn / 600 % 2);
            step(&mut class, &rules, about, &mut random);
            assert_eq!(class.fault(&rules), None, "{class:?}");
            let found = class.measured(&rules);
            assert!(census.note(&found), "{class:?} {found:?}");
            not_full = found.held.max(not_full);
        }
    }
    let pages = census.pages.into_values().max();
    (not_full, census.emptying, pages.expect("a walk"))
}

/// One section of a thread drawn at random: the next one of its free, or the first of another call.
fn step(class: &mut Class, rules: &Rules, about: u32, random: &mut ChaCha8Rng) {
    let Measured { calls, .. } = class.measured(rules);
    if random.random_range(0..usize::from(rules.calls)) < calls {
        let call = random.random_range(0..calls);
        return class.proceed(rules, call);
    }
    let live = class.live();
    let grows = if live < about { 0.62 } else { 0.38 };
    if random.random_bool(grows) {
        return class.allocate(rules);
    }
    let mut actions = Vec::new();
    class.actions(rules, &mut actions);
    actions.retain(|action| matches!(action, Action::Free(Freed::Moving(_), _)));
    // Objects in motion are freed more often than chance would do: X1.
    if !actions.is_empty() && random.random_bool(0.15) {
        let action = actions[random.random_range(0..actions.len())];
        class.act(rules, action);
    } else if live > 0 {
        let nth = random.random_range(0..live);
        class.release(rules, nth, &mut |choices| random.random_range(0..choices));
    }
}

/// What walks find is within what the search finds: one page above κ, or κ itself (two for κ = 1)
/// under the strict rule. They meet few of the states with many moves in flight, in which the
/// search finds an emptying page for each call.
#[test]
fn walks_overshoot_as_the_search_does() {
    let sizes = [[4, 1, 3], [4, 2, 4], [4, 3, 8], [8, 2, 8]];
    let original = sizes.map(|sizes| walk(Original, sizes));
    let strict = sizes.map(|sizes| walk(Strict, sizes));
    println!("{original:?}\n{strict:?}");
    assert_eq!(original.map(|(not_full, ..)| not_full), [2, 3, 4, 3]);
    assert_eq!(strict.map(|(not_full, ..)| not_full), [2, 2, 3, 2]);
}
