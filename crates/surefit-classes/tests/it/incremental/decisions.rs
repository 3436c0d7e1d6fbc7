//! The decisions one by one.

use core::num::NonZeroUsize;

use surefit_classes::Bound;
use surefit_classes::automaton::incremental::{
    self as incremental, Effort, InFlight, Next, keeps_full, next, pages_bound_in_flight, step,
    steps_per_move,
};
use surefit_classes::automaton::{ClassCounts, PageCounts, pages_bound};

use super::rows::{holes, pages};

#[test]
fn the_steps_of_a_move_copy_everything_once_and_at_most_the_increment() {
    for bytes in 1..=40 {
        for increment in (1..=45).map(NonZeroUsize::new).chain([None]) {
            let (mut done, mut steps) = (0, 0);
            loop {
                let now = step(bytes, done, increment);
                assert!(now.bytes > 0 && increment.is_none_or(|most| now.bytes <= most.get()));
                done += now.bytes;
                steps += 1;
                assert_eq!(now.commits, done == bytes, "{bytes} {increment:?} {done}");
                if now.commits {
                    break;
                }
            }
            assert_eq!(
                steps,
                steps_per_move(bytes, increment),
                "{bytes} {increment:?}"
            );
        }
    }
    assert_eq!(steps_per_move(0, None), 1);
}

#[test]
fn an_abort_gives_steps_back_and_leaves_a_whole_move_to_pay() {
    let rules = incremental::Rules {
        bound: pages(1),
        steps_per_move: 3,
    };
    let took = |steps| (0..steps).fold(Effort::new(u32::MAX), |effort, _| effort.step());
    assert_eq!(took(8).met(u32::MAX, rules).steps(), 8, "no abort");
    assert_eq!(took(5).met(0, rules).steps(), 2, "one, as the count wraps");
    assert_eq!(took(8).met(0, rules).steps(), 3, "three of six are left");
    assert_eq!(took(5).met(1, rules).steps(), 0, "two");
    assert_eq!(took(5).met(0, rules).met(0, rules).steps(), 2, "met once");
}

#[test]
fn a_free_ends_its_own_move_even_when_nothing_is_left_to_pay() {
    let rules = incremental::Rules {
        bound: pages(1),
        steps_per_move: 2,
    };
    let class = |not_full| ClassCounts {
        live: 9,
        not_full,
        holes: 0,
    };
    let paid = (0..4).fold(Effort::new(0), |effort, _| effort.step());
    for (not_full, in_flight, effort, decision) in [
        (1, InFlight::Own, Effort::new(0), Next::Step),
        (2, InFlight::Own, paid, Next::Step),
        (1, InFlight::Other, Effort::new(0), Next::Leave),
        (2, InFlight::Other, Effort::new(0), Next::Step),
        (2, InFlight::Other, paid, Next::Leave),
        (2, InFlight::Nothing, paid, Next::Leave),
        (2, InFlight::Nothing, Effort::new(0), Next::Move),
        (1, InFlight::Nothing, Effort::new(0), Next::Leave),
    ] {
        let got = next(rules, class(not_full), in_flight, effort);
        assert_eq!(got, decision, "n = {not_full}, {in_flight:?}, {effort:?}");
    }
}

#[test]
fn only_a_full_page_of_several_blocks_stays_full_and_only_at_the_bound() {
    let class = |not_full| ClassCounts {
        live: 9,
        not_full,
        holes: 0,
    };
    let page = |used, blocks| PageCounts { used, blocks };
    assert!(keeps_full(pages(2), class(2), page(4, 4), false));
    assert!(!keeps_full(pages(2), class(1), page(4, 4), false));
    assert!(!keeps_full(pages(2), class(2), page(3, 4), false));
    assert!(
        !keeps_full(pages(2), class(2), page(4, 4), true),
        "a move is in flight"
    );
    assert!(!keeps_full(pages(1), class(1), page(1, 1), false), "π = 1");
    assert!(!keeps_full(holes(0, 0, 1), class(9), page(4, 4), false));
}

#[test]
fn without_calls_and_pins_the_bound_is_that_of_one_owner() {
    let bounds = [
        pages(1),
        pages(3),
        holes(0, 0, 1),
        holes(2, 1, 3),
        Bound::Unbounded,
    ];
    for bound in bounds {
        for (blocks, peak) in (1..=6).flat_map(|blocks| (0..=40).map(move |peak| (blocks, peak))) {
            for live in 0..=peak {
                let owner = pages_bound(bound, blocks, live, peak);
                let flight =
                    |calls, pins| pages_bound_in_flight(bound, blocks, live, peak, calls, pins);
                assert_eq!(
                    flight(0, 0),
                    owner,
                    "{bound:?} π {blocks} h {live} H {peak}"
                );
                assert!(flight(1, 0) <= flight(2, 0) && flight(1, 0) <= flight(1, 1));
            }
        }
    }
}
