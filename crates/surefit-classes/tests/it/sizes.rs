//! Every function that takes a size, a count or an alignment, with extreme values.

use core::num::NonZeroUsize;

use surefit_classes::automaton::incremental::{self, pages_bound_in_flight};
use surefit_classes::automaton::{self, ClassCounts, Malloc, PageCounts, pages_bound};
use surefit_classes::{Bound, Fraction, Geometry, GeometrySpec, Spacing, Tail};
use surefit_testkit::extremes::SIZES;

#[test]
fn fractions_of_any_numbers_are_at_most_one_half() {
    let ends = [
        0,
        1,
        2,
        3,
        1 << 16,
        (1 << 31) - 1,
        1 << 31,
        u32::MAX - 1,
        u32::MAX,
    ];
    for above in ends {
        for below in ends {
            let fraction = Fraction::new(above, below);
            let fits = below > 0 && u64::from(above) * 2 <= u64::from(below);
            assert_eq!(fraction.is_ok(), fits, "{above}/{below}");
            let Ok(fraction) = fraction else { continue };
            for n in ends {
                let exact = u128::from(n) * u128::from(above) / u128::from(below);
                assert_eq!(u128::from(fraction.of(n)), exact, "{above}/{below} of {n}");
            }
        }
    }
}

#[test]
fn geometries_of_any_numbers_are_or_say_why_not() {
    let numbers = SIZES
        .into_iter()
        .chain([8, 15, 16, 64, 1000, 1024, 1 << 15, 1 << 16]);
    for page_bytes in numbers.clone() {
        for granule in numbers.clone() {
            for smallest in numbers.clone() {
                for fraction in [0, 1, 8, 64, 65, u32::MAX] {
                    for bytes in [2, 4, usize::MAX] {
                        let spec = GeometrySpec {
                            page_bytes,
                            granule,
                            smallest,
                            spacing: Spacing::Fraction(fraction),
                            tail: Tail::BackReferences { bytes },
                        };
                        if let Ok(geometry) = Geometry::new(&spec) {
                            assert_answers(&geometry);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn lists_of_any_sizes_are_geometries_or_say_why_not() {
    let ramp: Vec<u32> = (1..5000).map(|n| 8 * n).collect();
    let lists: [&[u32]; 9] = [
        &[],
        &[0],
        &[u32::MAX],
        &[u32::MAX - 7],
        &[16, 16],
        &[32, 16],
        &ramp,
        &ramp[..127],
        &[8, 1 << 16, u32::MAX - 7],
    ];
    for list in lists {
        for page_log2 in 10..17 {
            for granule in [8, 16] {
                let spec = GeometrySpec {
                    page_bytes: 1 << page_log2,
                    granule,
                    spacing: Spacing::Explicit(list),
                    ..GeometrySpec::DEFAULT
                };
                if let Ok(geometry) = Geometry::new(&spec) {
                    assert_answers(&geometry);
                }
            }
        }
    }
}

fn assert_answers(geometry: &Geometry) {
    for size in SIZES {
        for align in [0, 1, 3, 16, 1 << 16, 1 << 17, usize::MAX] {
            let class = geometry.class_for(size, align);
            assert!(class.is_none() || size <= geometry.page_bytes());
        }
        assert_eq!(
            geometry.class(size).is_some(),
            size < geometry.class_count()
        );
    }
    let layout = geometry.layout(geometry.largest());
    assert!(layout.block_at(u32::MAX) <= u32::MAX / layout.block_bytes + 1);
}

/// The ends of counts.
const COUNTS: [u32; 6] = [0, 1, 2, 1 << 31, u32::MAX - 1, u32::MAX];

fn bounds() -> [Bound; 5] {
    let fraction = Fraction::new(u32::MAX / 2, u32::MAX).expect("at most one half");
    let base = u32::MAX;
    let steep = Bound::Holes { base, fraction };
    [
        Bound::Pages(u32::MAX),
        Bound::Pages(1),
        steep,
        Bound::DEFAULT,
        Bound::Unbounded,
    ]
}

fn assert_decides(bound: Bound, [a, b, c]: [u32; 3]) {
    let page = PageCounts { used: a, blocks: b };
    let class = ClassCounts {
        live: a,
        not_full: b,
        holes: c,
    };
    // A page without page-blocks is nobody's.
    let fills = automaton::malloc(Some(page)) == Malloc::Fill;
    assert!(b == 0 || fills == (a == b - 1), "{page:?}");
    let _ = (
        automaton::free(bound, class, page, Some(page)),
        automaton::settle(bound, class),
        automaton::credit(bound, class),
        incremental::over(bound, class),
        incremental::may_swap_roles(bound, class, false),
        incremental::malloc_cancels(page, true),
    );
}

fn assert_bounded(bound: Bound, [blocks, live, peak]: [u32; 3]) {
    let alone = pages_bound(bound, blocks, live, peak);
    assert!(alone <= live.min(peak.div_ceil(blocks)));
    for calls in COUNTS {
        for pins in COUNTS {
            let beside = pages_bound_in_flight(bound, blocks, live, peak, calls, pins);
            assert!(
                beside >= alone,
                "{bound:?} {blocks} {live} {peak} {calls} {pins}"
            );
        }
    }
}

#[test]
fn the_automaton_answers_for_any_counts() {
    for bound in bounds() {
        for a in COUNTS {
            for b in COUNTS {
                for c in COUNTS {
                    assert_decides(bound, [a, b, c]);
                    assert_bounded(bound, [a.max(1), b, c]);
                }
            }
        }
    }
}

#[test]
fn steps_of_any_page_block_are_at_most_what_is_counted() {
    for bytes in SIZES {
        for increment in SIZES {
            let steps = incremental::steps_per_move(bytes, NonZeroUsize::new(increment));
            let exact = bytes
                .checked_div(increment)
                .map_or(1, |_| bytes.div_ceil(increment));
            assert_eq!(steps, u32::try_from(exact.max(1)).unwrap_or(u32::MAX));
        }
    }
}
