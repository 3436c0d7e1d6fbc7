//! An operating system: no instructions are counted.

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
