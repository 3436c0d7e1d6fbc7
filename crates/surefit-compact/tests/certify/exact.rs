//! A certificate per class is exact up to a page record: every class at its peak fits in the
//! aligned bytes, and does not fit in a record and eight bytes fewer.

use core::alloc::Layout;

use surefit_compact::certify::{Demand, certify};
use surefit_compact::layout::page_record_bytes;
use surefit_compact::{Bound, Config, Heap, Medium, Narrow, Wide, Width};
use surefit_testkit::JunkRegion;

use crate::geometry;

/// How many objects are served with every class filled to its peak.
fn served<W: Width>(config: &Config, most: &[u32], bytes: usize) -> u64 {
    let page = config.geometry().page_bytes();
    let mut region = JunkRegion::new(bytes, page, 5);
    let Ok(heap) = Heap::<W>::new(region.memory(), config) else {
        return 0;
    };
    let mut served = 0;
    for (class, most) in config.geometry().classes().zip(most) {
        let beta = config.geometry().layout(class).block_bytes as usize;
        let layout = Layout::from_size_align(beta, 1).expect("valid");
        for _ in 0..*most {
            served += u64::from(heap.alloc(layout).is_ok());
        }
    }
    served
}

fn check<W: Width>(config: &Config, most: &[u32]) {
    let certificate = certify::<W>(config, &Demand::PerClass(most)).expect("small");
    let demanded: u64 = most.iter().map(|&most| u64::from(most)).sum();
    assert_eq!(demanded * W::ENTRY_BYTES as u64 % 8, 0, "no padding");
    let bytes = certificate.aligned_bytes;
    assert_eq!(served::<W>(config, most, bytes), demanded, "{most:?}");
    let fewer = bytes - page_record_bytes::<W>() - 8;
    assert!(served::<W>(config, most, fewer) < demanded, "{most:?}");
    for more in [
        8, 16, 24, 40, 48, 56, 1000, 1016, 1024, 1048, 1072, 1080, 2096, 5000,
    ] {
        assert_eq!(
            served::<W>(config, most, bytes + more),
            demanded,
            "{more} bytes more"
        );
    }
}

#[test]
fn the_peaks_of_all_classes_fit_the_aligned_bytes_exactly() {
    for most in [
        &[4][..],
        &[256],
        &[512],
        &[1024],
        &[60, 0, 4],
        &[4, 4, 4, 4, 8, 8, 8, 100, 200, 0, 0, 0, 400],
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 252, 256, 260, 44],
    ] {
        let narrow = Config::new(geometry(1024, 2), Bound::DEFAULT).expect("valid");
        check::<Narrow>(&narrow.with_pieces(None).expect("valid"), most);
        if most.iter().sum::<u32>() % 8 == 0 {
            let medium = Config::new(geometry(1024, 3), Bound::DEFAULT).expect("valid");
            check::<Medium>(&medium.with_pieces(None).expect("valid"), most);
        }
        let wide = Config::new(geometry(1024, 4), Bound::Pages(1)).expect("valid");
        check::<Wide>(&wide.with_pieces(None).expect("valid"), most);
    }
}
