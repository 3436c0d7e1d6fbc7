//! Two threads write one word in turn, and only a relaxed counter says whose turn it is, which
//! orders nothing. The thread sanitizer must say so, or what it says of others is worth nothing.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

const TURNS: u64 = 100;

/// A word that claims to be shareable, and is not.
struct Unguarded(UnsafeCell<u64>);

// SAFETY: none. This program exists to be caught.
unsafe impl Sync for Unguarded {}

/// Takes every other turn, from `first`.
fn write(word: &Unguarded, turn: &AtomicU64, first: u64) {
    for mine in (first..TURNS).step_by(2) {
        while turn.load(Relaxed) != mine {
            thread::yield_now();
        }
        // SAFETY: none. Nothing orders this after what the other thread wrote.
        unsafe { word.0.get().write_volatile(mine) };
        turn.store(mine + 1, Relaxed);
    }
}

#[test]
fn two_threads_write_one_word() {
    let word = Unguarded(UnsafeCell::new(0));
    let turn = AtomicU64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| write(&word, &turn, 1));
        write(&word, &turn, 0);
    });
    println!("the last of {TURNS} turns wrote {}", word.0.into_inner());
}
