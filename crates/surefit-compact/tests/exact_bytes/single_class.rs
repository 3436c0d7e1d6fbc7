//! Demands for one size-class: every number of objects up to three hundred, in exactly the aligned
//! bytes.

use surefit_compact::Bound;
use surefit_compact::certify::{Demand, Uncertifiable};
use surefit_testkit::ExactMemory;

use crate::heaps;
use crate::setup::{ALIGN, Kind, Setup};

/// The number of demands, for 1 to `most` objects of a length, that are refused.
fn refused(setup: &Setup, len: usize, most: u32, memory: &mut ExactMemory) -> u32 {
    let config = setup.config().expect("valid");
    let cost = setup.cost_in(&config, len, ALIGN).expect("fits a page");
    let (class, _) = cost.classes[0];
    let mut refused = 0;
    for count in 1..=most {
        let mut peaks = vec![0; class.index() + 1];
        peaks[class.index()] = count;
        let limits = Demand::PerClass(&peaks);
        let certified = match setup.certify(&limits) {
            Ok(certified) => certified,
            Err(Uncertifiable::TooManyPages { .. }) if setup.kind.word_bytes() == 2 => break,
            Err(error) => panic!("{error}"),
        };
        let region = memory.region(certified.aligned_bytes, certified.align, 0);
        let made = heaps::run(setup, region, &mut |heap| {
            let served = (0..count).take_while(|_| heap.allocate(0, len).is_ok());
            refused += u32::from(served.count() < count as usize);
        });
        refused += u32::from(made.is_err());
    }
    assert!(memory.is_intact(), "nothing is written beside a region");
    refused
}

#[test]
fn one_class_is_served_whatever_its_peak() {
    let mut memory = ExactMemory::new();
    let kinds = Kind::ALL.into_iter();
    let mut failures = Vec::new();
    for kind in kinds {
        for handle_buffer in [1, 2, 32, 1000] {
            let setup = Setup {
                page_bytes: 16 << 10,
                handle_buffer,
                bound: Bound::DEFAULT,
                ..Setup::new(kind)
            };
            for len in [16, 512, 4096] {
                let refused = refused(&setup, len, 300, &mut memory);
                if refused > 0 {
                    failures.push(format!(
                        "{kind:?}, {len} B, b = {handle_buffer}: {refused} of 300 refused"
                    ));
                }
            }
            if !kind.is_shared() {
                break; // there is no buffer of handles
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
