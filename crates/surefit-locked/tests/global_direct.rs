//! A whole Linux program, the test harness included, on CF(∞) with raw pointers.

mod common;

use std::alloc::{GlobalAlloc, Layout};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

use spinning_top::RawSpinlock;
use surefit_core::{Page64K, RawHeap, Refused, Region};
use surefit_direct::DirectHeap;
use surefit_locked::Locked;

static MEMORY: Region<{ 64 << 20 }, Page64K> = Region::new();

#[global_allocator]
static HEAP: Locked<RawSpinlock, DirectHeap<'static>> =
    Locked::new(|| DirectHeap::new(MEMORY.take().ok_or(Refused::Busy)?));

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

/// Runs the test of that name again in a program of its own, which the misuse must end.
fn ends_the_program(test: &str, misuse: impl FnOnce()) {
    const CHILD: &str = "SUREFIT_MISUSES";
    if std::env::var_os(CHILD).is_some() {
        let unwound = catch_unwind(AssertUnwindSafe(misuse));
        println!("unwound: {}", unwound.is_err());
        return;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stderr);
    assert_eq!(child.status.code(), None, "a signal ends it: {said}");
    assert!(
        said.contains("what is freed or resized is no live object"),
        "{said}"
    );
    assert!(!String::from_utf8_lossy(&child.stdout).contains("unwound"));
}

#[test]
fn a_double_free_that_the_heap_detects_ends_the_program() {
    let test = "a_double_free_that_the_heap_detects_ends_the_program";
    ends_the_program(test, || {
        let layout = Layout::from_size_align(100_000, 8).unwrap();
        // SAFETY: the layout has bytes.
        let object = unsafe { HEAP.alloc(layout) };
        // SAFETY: the object is live and has this layout.
        unsafe { HEAP.dealloc(object, layout) };
        // SAFETY: none: this is the error that is to be detected. The run's tag says so before
        // anything is written.
        unsafe { HEAP.dealloc(object, layout) };
    });
}

#[test]
fn a_foreign_object_that_is_resized_ends_the_program() {
    let test = "a_foreign_object_that_is_resized_ends_the_program";
    ends_the_program(test, || {
        let mut outside = [0_u64; 64];
        let layout = Layout::new::<u64>();
        // SAFETY: none: this is the error that is to be detected, by the address alone.
        unsafe { HEAP.realloc((&raw mut outside[32]).cast(), layout, 5000) };
    });
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
