//! A Rust program whose allocator it is, with handlers at forks that were registered before its
//! first allocation.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

use std::ffi::{c_int, c_uint};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use surefit_malloc::SurefitMalloc;

#[global_allocator]
static ALLOCATOR: SurefitMalloc = SurefitMalloc;

unsafe extern "C" {
    fn alarm(seconds: c_uint) -> c_uint;
    fn fork() -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
    fn pthread_atfork(
        before: extern "C" fn(),
        in_parent: extern "C" fn(),
        in_child: extern "C" fn(),
    ) -> c_int;
}

static CALLS: AtomicU32 = AtomicU32::new(0);

fn allocate() -> usize {
    (0..20)
        .map(|round| vec![round; 100_000].len() + vec![round; 20].len())
        .sum()
}

extern "C" fn handler() {
    assert_eq!(allocate(), 20 * 100_020);
    CALLS.fetch_add(1, Ordering::Relaxed);
}

extern "C" fn begin() {
    // SAFETY: functions that live as long as the process.
    unsafe { pthread_atfork(handler, handler, handler) };
}

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

#[test]
fn handlers_at_forks_may_allocate() {
    // SAFETY: it ends a process that waits for ever.
    unsafe { alarm(60) };
    thread::spawn(allocate).join().expect("it ends");
    for forks in 1..=5 {
        // SAFETY: the child calls nothing but the allocator, and ends.
        let child = unsafe { fork() };
        assert!(child >= 0);
        if child == 0 {
            allocate();
            // SAFETY: it ends the child.
            unsafe { _exit(0) };
        }
        let mut status = 1;
        // SAFETY: a place for the status.
        assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
        assert_eq!(CALLS.load(Ordering::Relaxed), 2 * forks);
    }
}
