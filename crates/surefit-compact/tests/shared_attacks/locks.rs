//! Locks of the caller that unwind. In the middle of a heap's work that ends the process before
//! anything half done is used.

use std::cell::Cell;
use std::env;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};

use lock_api::{GuardSend, RawMutex};
use surefit_compact::shared::{SharedConfig, SharedHeap};
use surefit_compact::{Bytes, Config};
use surefit_testkit::layout;

/// Says to the child at which of its locks it unwinds; 0 for none.
const CHILD: &str = "SUREFIT_UNWINDING_LOCK";

thread_local! {
    static LEFT: Cell<u32> = const { Cell::new(0) };
}

/// Unwinds once, when so many locks were taken.
struct Unwinds(AtomicBool);

// SAFETY: the flag goes from false to true by one exchange, whose caller holds the lock until
// `unlock`.
unsafe impl RawMutex for Unwinds {
    #[allow(
        clippy::declare_interior_mutable_const,
        reason = "the trait asks for it"
    )]
    const INIT: Self = Self(AtomicBool::new(false));
    type GuardMarker = GuardSend;

    fn lock(&self) {
        while !self.try_lock() {
            std::hint::spin_loop();
        }
    }

    fn try_lock(&self) -> bool {
        if LEFT.get() == 1 {
            resume_unwind(Box::new(()));
        }
        LEFT.set(LEFT.get().saturating_sub(1));
        !self.0.swap(true, Ordering::Acquire)
    }

    unsafe fn unlock(&self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Catches what unwinds, and goes on.
fn go_on(at: u32) {
    let config: SharedConfig = SharedConfig::new(Config::DEFAULT);
    let mut memory = vec![MaybeUninit::new(9); 1 << 18];
    let heap: SharedHeap<Unwinds> = SharedHeap::new(&mut memory, &config).expect("room");
    let local = heap.register().expect("a place");
    LEFT.set(at);
    let mut live: Vec<(Bytes<u8>, u8)> = Vec::new();
    for round in 0..200_u8 {
        let inserted = catch_unwind(AssertUnwindSafe(|| local.alloc_zeroed(layout(4000))));
        if let Ok(Ok(mut bytes)) = inserted {
            heap.pin_bytes_mut(&mut bytes).expect("free").fill(round);
            live.push((bytes, round));
        }
        if round % 3 > 0 && !live.is_empty() {
            let (bytes, _) = live.swap_remove(usize::from(round) * 7 % live.len());
            let _ = catch_unwind(AssertUnwindSafe(|| local.free_bytes(bytes)));
        }
        for (bytes, content) in &live {
            let pinned = heap.pin_bytes(bytes).expect("free");
            assert!(pinned.iter().all(|byte| byte == content));
        }
    }
    println!("went on");
}

/// Runs [`go_on`] in a process of its own.
fn child(at: u32) -> Output {
    let mut command = Command::new(env::current_exe().expect("a test has a file"));
    command.args([
        "--exact",
        "locks::a_lock_that_unwinds_ends_the_process",
        "--nocapture",
    ]);
    command
        .env(CHILD, at.to_string())
        .env("RUST_BACKTRACE", "0");
    command.output().expect("the test runs")
}

#[test]
fn a_lock_that_unwinds_ends_the_process() {
    if let Ok(at) = env::var(CHILD) {
        return go_on(at.parse().expect("a number"));
    }
    let sound = child(0);
    assert!(sound.status.success() && String::from_utf8_lossy(&sound.stdout).contains("went on"));
    for at in [1, 2, 5, 30, 99, 200, 301] {
        let ended = child(at);
        assert!(!ended.status.success(), "{at}");
        assert!(
            !String::from_utf8_lossy(&ended.stdout).contains("went on"),
            "{at}"
        );
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(said.contains("a lock has unwound"), "{at}: {said}");
    }
}
