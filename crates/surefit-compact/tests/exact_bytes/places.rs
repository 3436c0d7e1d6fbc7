//! Where a region may begin, and how large it may be: every misalignment, and the last page that a
//! width can name.

use surefit_compact::Spacing;
use surefit_compact::certify::{Demand, Uncertifiable};
use surefit_testkit::ExactMemory;

use crate::drive::{Drive, Order, Size};
use crate::heaps;
use crate::setup::{ALIGN, Kind, Setup};

/// A demand for a few objects of two lengths.
fn small_demand(setup: &Setup, peaks: &mut [u32]) -> Vec<Size> {
    let sizes: Vec<Size> = [24, 200]
        .into_iter()
        .map(|len| Size::of(setup, len, ALIGN).expect("fits a page"))
        .collect();
    for size in &sizes {
        for &(class, count) in &size.cost.classes {
            peaks[class.index()] += 13 * count;
        }
    }
    sizes
}

/// Every address that a region can begin at, seen from a page: those whose remainders by eight and
/// by the page differ.
#[test]
fn heap_bytes_suffice_wherever_a_region_begins() {
    let mut memory = ExactMemory::new();
    for kind in Kind::ALL {
        let setup = Setup {
            spacing: Spacing::Fraction(2),
            handle_buffer: 3,
            ..Setup::new(kind)
        };
        let mut peaks = vec![0; class_count(&setup)];
        let sizes = small_demand(&setup, &mut peaks);
        let limits = Demand::PerClass(&peaks);
        let certified = setup.certify(&limits).expect("small");
        for offset in 0..certified.align {
            let region = memory.region(certified.heap_bytes, certified.align, offset);
            let made = heaps::run(&setup, region, &mut |heap| {
                let numbers = ((certified.pages, certified.copied), offset as u64);
                let mut drive = Drive::new(heap, &setup, &sizes, &limits, numbers);
                let served = drive.run(Order::Minimal);
                served.unwrap_or_else(|failure| panic!("{kind:?} at {offset}: {failure}"));
            });
            assert_eq!(made, Ok(()), "{kind:?} at {offset}");
            assert!(memory.is_intact(), "{kind:?} at {offset}");
        }
    }
}

fn class_count(setup: &Setup) -> usize {
    let config = setup.config().expect("valid");
    config.geometry().class_count()
}

/// What is certified can be made, up to the last page that words of two bytes can name.
#[test]
fn a_certified_region_is_never_too_large() {
    let mut memory = ExactMemory::new();
    let mut most = 0;
    for kind in [Kind::Narrow, Kind::NarrowKeys] {
        let setup = Setup::new(kind);
        let size = Size::of(&setup, setup.page_bytes, ALIGN).expect("a page");
        let (class, _) = size.cost.classes[0];
        for pages in 900.. {
            let mut peaks = vec![0; class.index() + 1];
            peaks[class.index()] = pages;
            let certified = match setup.certify(&Demand::PerClass(&peaks)) {
                Ok(certified) => certified,
                Err(Uncertifiable::TooManyPages { .. }) => break,
                Err(error) => panic!("{error}"),
            };
            most = most.max(pages);
            for (bytes, offset) in [
                (certified.aligned_bytes, 0),
                (certified.heap_bytes, 0),
                (certified.heap_bytes, 1),
            ] {
                let region = memory.region(bytes, certified.align, offset);
                let made = heaps::run(&setup, region, &mut |heap| {
                    let served = (0..pages).take_while(|_| heap.allocate(0, size.len).is_ok());
                    assert_eq!(served.count(), pages as usize, "{kind:?}");
                });
                assert_eq!(made, Ok(()), "{kind:?}, {pages} pages");
            }
        }
    }
    assert!(most > 1000, "{most} pages were certified at most");
}
