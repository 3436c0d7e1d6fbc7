//! An operating system: no instructions are counted. Another thread takes the place of what
//! interrupts at any instruction.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether something can interrupt anywhere.
pub const INTERRUPTS: bool = true;

/// Ticks of the clock.
pub const fn now() -> u32 {
    0
}

/// The instructions between two readings of the clock.
pub const fn instructions(_: u32, _: u32) -> u32 {
    0
}

/// Runs `work`, which an interrupt's handler does on a board.
pub fn in_handler(work: &mut dyn FnMut()) {
    work();
}

/// Runs `body` while another thread runs `work` again and again.
pub fn interrupted(work: &mut (dyn FnMut() -> u32 + Send), body: impl FnOnce()) {
    /// Ends the other thread, also if `body` panics.
    struct Over<'o>(&'o AtomicBool);

    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                work();
                std::thread::yield_now();
            }
        });
        let _over = Over(&is_over);
        body();
    });
}
