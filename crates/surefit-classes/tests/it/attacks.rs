//! Numbers of any size, up to the largest, for every function: it answers, or says why not.

use core::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};

use surefit_classes::automaton::incremental::{self, Effort, InFlight, Rules};
use surefit_classes::automaton::{self, ClassCounts, PageCounts};
use surefit_classes::{Bound, Fraction, Geometry, GeometrySpec, Spacing, Tail};
use surefit_testkit::extremes::sizes;

fn words() -> Vec<u32> {
    let powers = (0..u32::BITS).flat_map(|bit| [(1_u32 << bit) - 1, 1 << bit, (1 << bit) + 1]);
    powers.chain([u32::MAX - 1, u32::MAX]).collect()
}

fn bounds() -> [Bound; 5] {
    let fraction = Fraction::new(u32::MAX / 2, u32::MAX).expect("less than one half");
    let base = u32::MAX;
    [
        Bound::DEFAULT,
        Bound::Pages(1),
        Bound::Pages(u32::MAX),
        Bound::Holes { base, fraction },
        Bound::Unbounded,
    ]
}

/// Runs a call that must panic and leave the heap unchanged.
fn panics<T>(call: impl FnOnce() -> T) {
    assert!(catch_unwind(AssertUnwindSafe(|| drop(call()))).is_err());
}

#[test]
fn a_partitioning_answers_requests_of_any_size() {
    let small = GeometrySpec {
        page_bytes: 1024,
        granule: 8,
        smallest: 8,
        spacing: Spacing::Fraction(4),
        tail: Tail::BackReferences { bytes: 2 },
    };
    for geometry in [Geometry::DEFAULT, Geometry::new(&small).expect("valid")] {
        for size in sizes() {
            for align in sizes() {
                if let Some(class) = geometry.class_for(size, align) {
                    let bytes = geometry.layout(class).block_bytes as usize;
                    assert!(bytes >= size && (align <= 8 || bytes % align == 0));
                }
                if let Some(at_once) = geometry.class_at_once(size, align) {
                    assert_eq!(Some(at_once), geometry.class_for(size, align));
                }
            }
            let class = geometry.class_for_bytes(size);
            assert_eq!(class.is_some(), size <= geometry.page_bytes());
            assert_eq!(
                geometry.class(size).is_some(),
                size < geometry.class_count()
            );
            for &word in &words() {
                let first = geometry.class(0).expect("a class");
                let _ = geometry.layout(first).block_at(word);
            }
        }
    }
}

#[test]
fn fractions_of_any_numbers_are_refused_or_exact() {
    for numerator in words() {
        for denominator in words() {
            let Ok(fraction) = Fraction::new(numerator, denominator) else {
                assert!(denominator == 0 || numerator > denominator / 2);
                continue;
            };
            for n in words() {
                let exact = u64::from(n) * u64::from(numerator) / u64::from(denominator);
                assert_eq!(u64::from(fraction.of(n)), exact);
            }
        }
    }
}

/// Counts that no size-class has, but that a caller may pass to the pure functions.
const ENDS: [u32; 7] = [0, 1, 2, 1 << 16, u32::MAX / 2, u32::MAX - 1, u32::MAX];

fn pairs() -> impl Iterator<Item = (u32, u32)> {
    ENDS.into_iter().flat_map(|a| ENDS.map(|b| (a, b)))
}

fn class_counts() -> Vec<ClassCounts> {
    let all = pairs().flat_map(|(live, not_full)| {
        ENDS.map(|holes| ClassCounts {
            live,
            not_full,
            holes,
        })
    });
    all.collect()
}

fn page_counts() -> Vec<PageCounts> {
    let all = pairs().map(|(used, blocks)| PageCounts { used, blocks });
    all.collect()
}

#[test]
fn the_automaton_answers_counts_of_any_size() {
    for page in page_counts() {
        let _ = automaton::malloc(Some(page));
        let _ = incremental::malloc_cancels(page, true);
        let _ = automaton::swaps_roles(page.used, page.blocks);
    }
    for bound in bounds() {
        for class in class_counts() {
            let _ = automaton::settle(bound, class);
            let _ = automaton::credit(bound, class);
            assert!(automaton::frees_in_a_row(bound, class) <= class.live);
            let _ = incremental::over(bound, class);
            let _ = incremental::may_swap_roles(bound, class, false);
            for page in page_counts() {
                let _ = automaton::free(bound, class, page, None);
                let _ = automaton::free(bound, class, page, Some(page));
                let _ = incremental::keeps_full(bound, class, page, false);
            }
        }
    }
}

#[test]
fn rounds_answer_counts_of_any_size() {
    let rules = bounds().into_iter().flat_map(|bound| {
        ENDS.map(|steps_per_move| Rules {
            bound,
            steps_per_move,
        })
    });
    for rules in rules {
        let _ = incremental::most_steps(rules);
        let effort = Effort::new(3).met(u32::MAX, rules).step();
        assert_eq!(effort.steps(), 1);
        for class in class_counts() {
            for in_flight in [InFlight::Nothing, InFlight::Own, InFlight::Other] {
                let _ = incremental::next(rules, class, in_flight, effort);
                let _ = incremental::compaction(class, in_flight, true);
            }
        }
    }
    for size in sizes() {
        for done in sizes() {
            let _ = incremental::step(size, done, NonZeroUsize::new(16));
            let step = incremental::step(size, done, None);
            assert!(step.commits && step.bytes == size.saturating_sub(done));
        }
        assert_eq!(incremental::steps_per_move(size, None), 1);
        let most = incremental::steps_per_move(size, NonZeroUsize::new(usize::MAX));
        assert_eq!(most, 1);
    }
}

#[test]
fn bounds_of_pages_answer_counts_of_any_size() {
    for bound in bounds() {
        for (live, peak) in pairs() {
            for blocks in ENDS.into_iter().filter(|&blocks| blocks > 0) {
                assert!(automaton::pages_bound(bound, blocks, live, peak) <= live);
                for (calls, pins) in pairs() {
                    let _ = incremental::bound_in_flight(bound, blocks, live, calls, pins);
                    let _ =
                        incremental::pages_bound_in_flight(bound, blocks, live, peak, calls, pins);
                }
            }
            panics(|| automaton::pages_bound(bound, 0, live, peak));
            panics(|| incremental::pages_bound_in_flight(bound, 0, live, peak, 1, 1));
        }
    }
}
