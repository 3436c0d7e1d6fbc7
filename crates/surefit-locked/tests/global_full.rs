//! A program whose heap has no room for the names of a backtrace, for which std needs megabytes.

use std::alloc::{GlobalAlloc, Layout};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use spinning_top::RawSpinlock;
use surefit_core::{Page4K, Refused, Region};
use surefit_freelist::Tlsf;
use surefit_locked::{Locked, OneThread};

static MEMORY: Region<{ 64 << 20 }, Page4K> = Region::new();

#[global_allocator]
static HEAP: Locked<RawSpinlock, Tlsf<'static>> =
    Locked::new(|| Tlsf::new(MEMORY.take().ok_or(Refused::Busy)?));

/// A program that has not ended by then hangs.
const ENOUGH: Duration = Duration::from_secs(8);

/// Leaves the heap less than a mebibyte.
fn fill() {
    let mut all = Vec::<u8>::new();
    while all.try_reserve_exact(1 << 20).is_ok() {
        std::mem::forget(std::mem::take(&mut all));
    }
}

/// Runs the test of that name again in a program of its own, which `misuse` must abort after the
/// message `says`, whether it prints backtraces or not.
fn is_aborted(test: &str, says: &str, backtraces: &[&str], misuse: impl FnOnce()) {
    const CHILD: &str = "SUREFIT_MISUSES";
    if std::env::var_os(CHILD).is_some() {
        fill();
        misuse();
        return;
    }
    for backtrace in backtraces {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(CHILD, "1")
            .env("RUST_BACKTRACE", backtrace)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let started = Instant::now();
        while child.try_wait().unwrap().is_none() && started.elapsed() < ENOUGH {
            sleep(Duration::from_millis(20));
        }
        let _ = child.kill(); // SIGKILL, unless it ended
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.signal(), Some(6), "SIGABRT: {said}");
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn a_double_free_ends_a_program_without_memory_for_a_backtrace() {
    let test = "a_double_free_ends_a_program_without_memory_for_a_backtrace";
    let says = "what is freed or resized is no live object";
    is_aborted(test, says, &["0", "1", "full"], || {
        let layout = Layout::from_size_align(100_000, 8).unwrap();
        // SAFETY: the layout has bytes.
        let object = unsafe { HEAP.alloc(layout) };
        // SAFETY: the object is live and has this layout.
        unsafe { HEAP.dealloc(object, layout) };
        // SAFETY: none: this is the error that is to be detected, by the block's tag.
        unsafe { HEAP.dealloc(object, layout) };
    });
}

#[test]
fn a_heap_of_one_thread_used_inside_a_use_ends_a_program_without_memory_for_a_backtrace() {
    let test =
        "a_heap_of_one_thread_used_inside_a_use_ends_a_program_without_memory_for_a_backtrace";
    let says = "a heap of one thread is used inside a use of it";
    is_aborted(test, says, &["0"], || {
        let mut memory = vec![std::mem::MaybeUninit::uninit(); 1 << 16];
        let heap: Locked<OneThread, _> = Locked::over(Tlsf::new(&mut memory).unwrap());
        // SAFETY: the layout has bytes.
        let inside = heap.inspect(|_| unsafe { heap.alloc(Layout::new::<u64>()) });
        assert!(inside.is_err(), "the program goes on");
    });
}
