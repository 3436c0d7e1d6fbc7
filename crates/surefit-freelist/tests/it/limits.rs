//! The largest regions, the strictest alignments, and sizes from zero to the largest.
#![cfg(target_pointer_width = "64")] // regions of 8 GiB

use std::alloc::Layout;

use surefit_core::{RawHeap, Refused};
use surefit_freelist::{
    BestFit, BinnedFit, Buddy, Deferred, FirstFit, HalfFit, Linear, NextFit, NextHitTable,
    SegregatedFit, Tlsf, TreeFit, WorstFit,
};

/// Bytes of the largest region, except what alignment cuts off: sizes in granules take 30 bits.
const MOST: usize = ((1 << 30) - 1) * 8;

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).expect("a valid layout")
}

/// Memory of which only touched pages exist; `None` where the system promises no more than it has.
fn reserved(bytes: usize) -> Option<Vec<u8>> {
    let mut memory = Vec::new();
    memory.try_reserve_exact(bytes).ok()?;
    Some(memory)
}

/// Objects of all sizes and alignments at both ends of the region, none of which is ever written.
fn a_large_region_is_served(heap: &mut impl RawHeap, most_aligned: usize, largest: usize) {
    let mut live = Vec::new();
    for (size, align) in [
        (0, 1),
        (1, most_aligned),
        (largest / 4, 8),
        (0, most_aligned / 2),
        (largest / 4 - 77, 4096),
        (1 << 20, 1 << 16),
    ] {
        let layout = layout(size, align);
        let object = heap.allocate(layout).expect("there is room");
        assert_eq!(object.addr().get() % align, 0, "{layout:?}");
        live.push((object, layout));
        assert_eq!(heap.check(), Ok(()));
    }
    live.sort_by_key(|(object, _)| object.addr());
    for pair in live.windows(2) {
        let end = pair[0].0.addr().get() + pair[0].1.size();
        assert!(end <= pair[1].0.addr().get(), "{pair:?} overlap");
    }
    for (object, layout) in live {
        // SAFETY: the object is live and has this layout.
        unsafe { heap.free(object, layout) };
        assert_eq!(heap.check(), Ok(()));
    }
    assert_eq!(heap.usage().block_bytes, 0);
    let refused = heap.allocate(layout(largest + 1, 1));
    assert_eq!(refused, Err(Refused::TooLarge { limit: largest }));
    let all = heap.allocate(layout(largest, 1)).expect("all there is");
    for (old, new) in [(largest, 0), (0, largest), (largest, 1 << 20)] {
        // SAFETY: the object is live and has this layout.
        let resized = unsafe { heap.resize(all, layout(old, 1), new) };
        assert_eq!(resized, Ok(all), "{old} -> {new}");
        assert_eq!(heap.check(), Ok(()));
    }
    // SAFETY: the object is live and has this layout.
    let refused = unsafe { heap.resize(all, layout(1 << 20, 1), isize::MAX as usize) };
    assert_eq!(refused, Err(Refused::TooLarge { limit: largest }));
    // SAFETY: the object is live and has this layout.
    unsafe { heap.free(all, layout(1 << 20, 1)) };
    assert_eq!((heap.usage().block_bytes, heap.check()), (0, Ok(())));
}

#[test]
#[cfg(target_pointer_width = "64")]
fn regions_of_8_gib_are_served_and_larger_ones_refused() {
    let Some(mut memory) = reserved(MOST + 16) else {
        eprintln!("no 8 GiB of addresses: not tested");
        return;
    };
    let start = memory.spare_capacity_mut().as_ptr().align_offset(8);
    let all = &mut memory.spare_capacity_mut()[start..];
    macro_rules! claims {
        ($($heap:ty)*) => {$(
            let too_large = <$heap>::new(&mut all[..MOST + 8]).map(|_| ());
            assert_eq!(too_large, Err(Refused::TooLarge { limit: MOST }));
            let mut heap = <$heap>::new(&mut all[..MOST + 7]).expect("the largest");
            let largest = heap.largest_request();
            a_large_region_is_served(&mut heap, 1 << 30, largest);
        )*};
    }
    claims! {
        Tlsf<'_> FirstFit<'_> BestFit<'_> WorstFit<'_> NextFit<'_> HalfFit<'_> TreeFit<'_> BinnedFit<'_>
        SegregatedFit<'_>
        SegregatedFit<'_, NextHitTable, Deferred, Linear, 4096, 16>
    }
    let too_large = Buddy::<4096>::new(&mut all[..MOST + 8]).map(|_| ());
    assert_eq!(too_large, Err(Refused::TooLarge { limit: MOST }));
    let mut buddy = Buddy::<4096>::new(&mut all[..MOST]).expect("the largest");
    let largest = buddy.largest_request();
    a_large_region_is_served(&mut buddy, 1 << 16, largest);
}
