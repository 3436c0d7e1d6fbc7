//! The programs against naive heaps, and the real heaps beside them.

use super::claims::{UnderRobson, theorem};
use super::ground::{Ground, Land};
use super::naive::{Holes, Naive, Sliding};
use super::program::{BestFit, Program, Robson};
use super::search::{self, Found};
use super::systems::{ESCAPE_BEST_FIT, ESCAPE_ROBSON, NEVER_MOVE, kind};
use crate::kit::{Request, Verdict};

fn real(name: &str, search: impl Fn(&mut Land<'_>) -> Found) -> Found {
    let system = NEVER_MOVE.iter().find(|system| system.name == name);
    let system = system.expect("a system");
    let kind = kind(system.spec).expect("an allocator");
    search(&mut Land::new(&kind, system.word))
}

const SMALL: Robson = Robson {
    live: 64,
    log2_largest: 3,
};

#[test]
fn robsons_bound_is_that_of_the_literature() {
    let bound = |live, log2_largest| Robson { live, log2_largest }.bound();
    assert_eq!(
        [bound(1024, 5), bound(4096, 6), bound(8192, 8)],
        [3553, 16321, 40705]
    );
    assert_eq!(bound(16, 1), 23, "Knuth's N(16, 2)");
}

#[test]
fn the_program_against_best_fit_keeps_as_many_words_live_as_its_formula_says() {
    for (largest, units, tail) in [(6, 2, 0), (8, 7, 0), (8, 7, 4), (16, 30, 0), (16, 30, 4)] {
        let best_fit = BestFit {
            largest,
            units,
            tail,
        };
        let ample = search::ample(&mut Naive(Holes::best_fit), best_fit).expect("naive");
        assert!(ample.run.completed);
        assert_eq!(ample.run.account.most_live, best_fit.live(), "{best_fit:?}");
        assert!(ample.run.account.span() >= best_fit.bound(), "{best_fit:?}");
    }
    let with_tail = BestFit::in_a_region(16, 200);
    let (m, live) = (16, with_tail.live());
    assert_eq!(with_tail.bound(), (live + 15 - 5 * m) * (m - 2));
    let alone = BestFit {
        tail: 0,
        ..with_tail
    };
    assert_eq!(alone.bound(), alone.robsons_bound());
}

#[test]
fn real_first_fit_and_best_fit_do_what_naive_ones_do() {
    let best_fit = BestFit::in_a_region(8, 12);
    let look = |found: Found| {
        let account = found.ample.run.account;
        (
            found.needed(),
            account.span(),
            account.places,
            found.below.run.completed,
        )
    };
    for (name, naive) in [
        ("first-fit", Holes::first_fit as fn(u64) -> Holes),
        ("best-fit", Holes::best_fit),
    ] {
        let on_real = real(name, |land| search::robson(land, SMALL).expect("runs"));
        let on_naive = search::robson(&mut Naive(naive), SMALL).expect("runs");
        assert_eq!(look(on_real), look(on_naive), "{name}");
        let on_real = real(name, |land| search::best_fit(land, best_fit).expect("runs"));
        let on_naive = search::best_fit(&mut Naive(naive), best_fit).expect("runs");
        assert_eq!(look(on_real), look(on_naive), "{name}");
    }
}

#[test]
fn who_moves_and_denies_it_is_found_out() {
    let verdict = |found: &[Found]| {
        let of = |found: &Found| UnderRobson {
            system: "s",
            known: None,
            found: vec![(SMALL, *found)],
        };
        theorem(&found.iter().map(of).collect::<Vec<_>>()).verdict
    };
    let honest = search::robson(&mut Naive(Holes::first_fit), SMALL).expect("runs");
    assert_eq!(verdict(&[honest]), Verdict::Holds);
    let cheat = search::robson(&mut Naive(Sliding::new), SMALL).expect("runs");
    assert!(cheat.is_below_bound());
    assert_eq!(verdict(&[cheat]), Verdict::DoesNot);
    let one = Verdict::HoldsOn { programs: 1, of: 2 };
    assert_eq!(verdict(&[honest, cheat]), one);
}

#[test]
fn a_region_has_exactly_the_words_that_were_asked_for() {
    for name in ["first-fit", "tlsf", "half-fit", "buddy", "peer-rlsf"] {
        real(name, |land| {
            for words in [100, 101, 777] {
                let filled = land.at_least(words, Program::Fill).expect("a region");
                assert_eq!(filled.capacity, words, "{name}");
                assert_eq!(filled.run.account.allocated, words, "{name}");
                assert_eq!(filled.run.account.span(), words, "{name}");
                let below = land.below(words, Program::Fill).expect("a region");
                assert!(below.capacity < words, "{name}");
            }
            search::robson(land, SMALL).expect("runs")
        });
    }
}

#[test]
fn every_system_is_an_allocator_under_a_name_of_its_own() {
    let mut names: Vec<_> = NEVER_MOVE.iter().map(|system| system.name).collect();
    names.extend(ESCAPE_ROBSON.iter().map(|system| system.name));
    let specs = NEVER_MOVE.iter().map(|system| system.spec);
    let escapes = ESCAPE_ROBSON
        .iter()
        .chain(ESCAPE_BEST_FIT)
        .map(|system| system.spec);
    for spec in specs.chain(escapes) {
        assert!(kind(spec).is_ok(), "{spec}");
    }
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}

#[test]
fn every_claim_holds_on_the_small_programs() {
    let request = Request {
        quick: true,
        ..Request::default()
    };
    let report = super::run(&request).expect("runs");
    assert_eq!(report.tables[0].rows.len(), NEVER_MOVE.len());
    let others: Vec<_> = report
        .claims
        .iter()
        .filter(|claim| claim.verdict != Verdict::Holds)
        .collect();
    // a short pattern says nothing of first fit, and a quick run replays no trace
    let starts: Vec<_> = others.iter().map(|claim| claim.claim.as_str()).collect();
    assert!(
        matches!(starts[..], [first, trace]
            if first.contains("harms first fit") && trace.ends_with("on every trace")),
        "{others:#?}"
    );
    let open = |claim: &&crate::kit::Claim| claim.verdict == Verdict::NotComparable;
    assert!(others.into_iter().all(|claim| open(&claim)));
}

#[test]
fn space_that_single_words_cannot_use_is_counted() {
    real("cf-direct", |land| {
        let capacities = [4033, 4097].map(|words| {
            let filled = land.at_least(words, Program::Fill).expect("a region");
            filled.capacity
        });
        assert_eq!(
            capacities,
            [4096, 4352],
            "half a page, for a run of 256 words"
        );
        search::robson(land, SMALL).expect("runs")
    });
}
