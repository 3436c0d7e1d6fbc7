//! Every safe function of a heap that takes a size or an alignment, with extreme values: refused,
//! and nothing changes.

use core::alloc::Layout;

use surefit_core::RawHeap;
use surefit_direct::DirectHeap;
use surefit_testkit::JunkRegion;

const HALF: usize = isize::MAX as usize;

/// Sizes; those above `HALF` belong to no layout.
const SIZES: [usize; 16] = [
    0,
    1,
    7,
    4096,
    4097,
    1 << 14,
    (1 << 14) + 1,
    1 << 17,
    1 << 30,
    HALF - (1 << 16),
    HALF - 4096,
    HALF - 1,
    HALF,
    HALF + 1,
    usize::MAX - 1,
    usize::MAX,
];

/// Layouts larger than a small region.
fn too_large() -> impl Iterator<Item = Layout> {
    let sizes = SIZES.into_iter().filter(|&size| size >= 1 << 17);
    let aligns = [1, 8, 16, 4096, 1 << 14, 1 << 16];
    sizes.flat_map(move |size| {
        aligns
            .into_iter()
            .filter_map(move |align| Layout::from_size_align(size, align).ok())
    })
}

fn too_aligned() -> impl Iterator<Item = Layout> {
    (17..usize::BITS - 1).map(|log2| Layout::from_size_align(1, 1 << log2).expect("valid"))
}

fn small() -> Layout {
    Layout::from_size_align(5000, 8).expect("valid")
}

#[test]
fn a_direct_heap_refuses_what_no_region_holds() {
    let mut region = JunkRegion::new(100_000, 1024, 4);
    let mut heap = DirectHeap::new(region.memory()).expect("large enough");
    let object = heap.allocate(small()).expect("room");
    let before = (heap.stats(), heap.parts());
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
    assert_eq!((heap.stats(), heap.parts()), before);
    assert_eq!(heap.check(), Ok(()));
}
