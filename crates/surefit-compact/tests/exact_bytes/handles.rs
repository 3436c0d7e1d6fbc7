//! Exactly as many entries as a certificate counts: an adversary uses up the pages and entries of a
//! demand, so that a heap with 128 bytes less refuses. A heap that used a few more entries would
//! fail here.

use surefit_compact::Bound;
use surefit_compact::certify::Demand;
use surefit_testkit::ExactMemory;

use crate::drive::{Drive, Order, Size, budget};
use crate::heaps;
use crate::setup::{ALIGN, Kind, OwnedDemand, Setup};

/// Whether adversaries of a few seeds are served in this number of bytes.
fn is_served(
    setup: &Setup,
    sizes: &[Size],
    limits: &Demand<'_>,
    bytes: usize,
    memory: &mut ExactMemory,
) -> bool {
    (0..8).all(|seed| {
        let region = memory.region(bytes, setup.page_bytes, 0);
        let mut served = false;
        let made = heaps::run(setup, region, &mut |heap| {
            let mut drive = Drive::new(heap, setup, sizes, limits, ((u64::MAX, u64::MAX), seed));
            served = drive.run(Order::Adversarial).is_ok();
        });
        made.is_ok() && served
    })
}

/// Demands for at most N objects of 16 bytes, or of a page, or both: a budget with one thread; with
/// more threads, a budget and peaks in a heap that never compacts, where calls in progress and pins
/// cost no page.
fn demand(setup: &Setup, sizes: &[Size], (objects, pages): (u64, u64)) -> OwnedDemand {
    let bytes = pages * setup.page_bytes as u64 + 16;
    if setup.threads == 1 {
        return OwnedDemand::Joint(budget(sizes, objects, bytes));
    }
    let mut peaks = vec![0; 128];
    for (size, most) in sizes.iter().zip([objects, pages]) {
        peaks[size.cost.classes[0].0.index()] = u32::try_from(most).expect("small");
    }
    OwnedDemand::Both(budget(sizes, objects, bytes + 16 * objects), peaks)
}

/// The number of demands that are served, and of those that are only just served.
fn tight(setup: &Setup, memory: &mut ExactMemory) -> (u32, u32) {
    let size = |len| Size::of(setup, len, ALIGN).expect("fits a page");
    let sizes = [size(16), size(setup.page_bytes)];
    let (mut tried, mut tight) = (0, 0);
    for pages in [4, 9] {
        for objects in (40..140).step_by(2) {
            let demand = demand(setup, &sizes, (objects, pages));
            let limits = demand.limits();
            let certified = setup.certify(&limits).expect("small");
            let served = |bytes, memory: &mut _| is_served(setup, &sizes, &limits, bytes, memory);
            assert!(
                served(certified.aligned_bytes, memory),
                "{objects} objects, {pages} pages: {setup:?}"
            );
            tried += 1;
            tight += u32::from(!served(certified.aligned_bytes - 128, memory));
        }
    }
    (tried, tight)
}

#[test]
fn an_adversary_uses_all_entries_that_are_certified() {
    let mut memory = ExactMemory::new();
    for kind in [Kind::PerHeap, Kind::PerClass, Kind::PerPage] {
        for handle_buffer in [1, 2, 3, 4, 8] {
            for threads in [1, 3] {
                let setup = Setup {
                    handle_buffer,
                    threads,
                    locals: 3,
                    page_buffer: 0,
                    bound: if threads == 1 {
                        Bound::Pages(1)
                    } else {
                        Bound::Unbounded
                    },
                    ..Setup::new(kind)
                };
                let (tried, tight) = tight(&setup, &mut memory);
                // Under page locks a thread that is alone uses up its own buffer first: b entries
                // are for objects of large classes, of which there are too few here.
                let alone = kind == Kind::PerPage && threads == 1 && handle_buffer == 8;
                assert!(
                    alone || tight >= 10,
                    "{tight} of {tried} are tight: {setup:?}"
                );
                println!(
                    "{kind:?}, b = {handle_buffer}, {threads} threads: {tight} of {tried} tight"
                );
            }
        }
    }
}
