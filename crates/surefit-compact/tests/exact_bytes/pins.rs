//! Pins of objects in a size-class that only an alignment reaches, in exactly the bytes of a
//! certificate that names the longest pinned object and its alignment.

use surefit_compact::certify::{Budget, ClassSet, Demand};
use surefit_compact::{Bound, Spacing};
use surefit_testkit::ExactMemory;

use crate::heaps::{self, UnderTest};
use crate::setup::{ALIGN, Kind, Setup};

/// Objects that guards keep, each in a page of its own.
const GUARDS: usize = 6;

/// Length and alignment of the pinned objects: their page-blocks have 48 bytes; unaligned they
/// would have 40.
const PINNED: (usize, usize) = (40, 16);

/// Fills pages, frees all but one pinned object of each, and takes the rest of the budget in whole
/// pages. Returns how many of these were refused.
fn refused(heap: &mut dyn UnderTest, per_page: usize, pages: usize) -> usize {
    let page = 1024;
    let mut name = || {
        heap.allocate_aligned(0, PINNED.0, PINNED.1)
            .expect("within the demand")
    };
    let names: Vec<_> = (0..GUARDS * per_page).map(|_| name()).collect();
    let kept: Vec<_> = names.iter().copied().step_by(per_page).collect();
    let mut refused = 0;
    heap.pinned(&kept, &mut |heap| {
        for name in names.iter().filter(|name| !kept.contains(name)) {
            heap.free(0, *name);
        }
        let rest = (0..pages).map(|_| heap.allocate_aligned(0, page, ALIGN));
        refused = rest.filter(Result::is_err).count();
    });
    refused
}

#[test]
fn pinned_objects_of_an_alignment_are_certified() {
    let mut memory = ExactMemory::new();
    let kinds = Kind::ALL.into_iter();
    for kind in kinds.filter(|kind| kind.is_shared() && !kind.has_values()) {
        let pinned = |align| Setup {
            spacing: Spacing::Explicit(&[40, 48]),
            bound: Bound::Pages(1),
            guards: u32::try_from(GUARDS).expect("few"),
            pinned: Some((PINNED.0, align)),
            ..Setup::new(kind)
        };
        let setup = pinned(PINNED.1);
        let config = setup.config().expect("valid");
        let geometry = config.geometry();
        let class = |len, align| geometry.class_for(len, align).expect("fits");
        let (small, page) = (class(PINNED.0, PINNED.1), class(setup.page_bytes, ALIGN));
        let layout = geometry.layout(small);
        let per_page = usize::from(layout.blocks);
        let live = (GUARDS * per_page) as u64;
        let budget = Budget {
            objects: live,
            block_bytes: live * u64::from(layout.block_bytes),
            classes: ClassSet::EMPTY.with(small).with(page),
        };
        let limits = Demand::Joint(budget);
        let rest = budget.block_bytes - (GUARDS as u64) * u64::from(layout.block_bytes);
        let pages = usize::try_from(rest).expect("small") / setup.page_bytes;
        // Without the alignment the pinned class is left out: then the pages are too few.
        for (setup, is_served) in [(setup, true), (pinned(ALIGN), false)] {
            let certified = setup.certify(&limits).expect("small");
            let region = memory.region(certified.aligned_bytes, certified.align, 0);
            let made = heaps::run(&setup, region, &mut |heap| {
                let refused = refused(heap, per_page, pages);
                assert_eq!(refused == 0, is_served, "{kind:?}: {refused} of {pages}");
                heap.check().expect("every invariant holds");
            });
            assert_eq!(made, Ok(()), "{kind:?}");
        }
    }
}
