//! A whole Linux program, the test harness included, on TLSF.

mod common;

use spinning_top::RawSpinlock;
use surefit_core::{Page64K, RawHeap, Refused, Region};
use surefit_freelist::Tlsf;
use surefit_locked::Locked;

static MEMORY: Region<{ 64 << 20 }, Page64K> = Region::new();

#[global_allocator]
static HEAP: Locked<RawSpinlock, Tlsf<'static>> =
    Locked::new(|| Tlsf::new(MEMORY.take().ok_or(Refused::Busy)?));

/// The heap's own account, and the first broken invariant.
fn check() {
    HEAP.inspect(|heap| {
        assert_eq!(heap.check(), Ok(()));
        assert!(heap.usage().total() <= 64 << 20);
    })
    .unwrap();
}

#[test]
fn collections_and_threads_live_in_the_region() {
    let inside = Box::new(0_u8);
    let region = &raw const MEMORY as usize..&raw const MEMORY as usize + (64 << 20);
    assert!(region.contains(&(&raw const *inside as usize)));
    assert!(MEMORY.take().is_none());
    for _ in 0..3 {
        common::program();
        check();
    }
}

#[test]
fn objects_grow_and_zeroed_memory_is_zero() {
    common::large_objects();
    check();
}

#[test]
fn what_does_not_fit_is_refused_and_the_program_goes_on() {
    let mut huge: Vec<u8> = Vec::new();
    assert!(huge.try_reserve_exact(65 << 20).is_err());
    assert!(huge.try_reserve_exact(isize::MAX as usize).is_err());
    huge.extend_from_slice(b"there is room for this");
    assert!(huge.ends_with(b"this"));
    check();
}
