//! Every safe function of a heap that takes a size or an alignment, with extreme values: refused,
//! and nothing changes.

use core::alloc::Layout;

use surefit_core::RawHeap;
use surefit_direct::DirectHeap;
use surefit_testkit::JunkRegion;
use surefit_testkit::extremes::{HALF, SIZES, too_aligned, too_large};

fn small() -> Layout {
    Layout::from_size_align(5000, 8).expect("valid")
}

#[test]
fn a_direct_heap_refuses_what_no_region_holds() {
    let mut region = JunkRegion::new(100_000, 1024, 4);
    let mut heap = DirectHeap::new(region.memory()).expect("large enough");
    let object = heap.allocate(small()).expect("room");
    let before = (heap.stats(), heap.usage());
    for layout in too_large().chain(too_aligned()) {
        assert!(heap.allocate(layout).is_err(), "{layout:?}");
    }
    for layout in too_large().filter(|layout| layout.align() == 8 && layout.size() <= HALF - 7) {
        // SAFETY: S1, S2: the object is live, with this layout; the size, rounded up, does not
        // overflow.
        let resized = unsafe { heap.resize(object, small(), layout.size()) };
        assert!(resized.is_err(), "{layout:?}");
    }
    for size in SIZES {
        let most = heap.degree_of_fragmentation(size);
        assert!(most <= 100_000 / size.max(1), "{most} of {size}");
        for align in [0, 1, 3, 8, 1 << 14, 1 << 30, usize::MAX] {
            let _ = heap.class_stats(size, align);
        }
    }
    assert_eq!((heap.stats(), heap.usage()), before);
    assert_eq!(heap.check(), Ok(()));
}
