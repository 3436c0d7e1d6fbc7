//! A clock that counts instructions, and how long a critical section keeps interrupts off. On an
//! operating system both say 0.

use core::cell::UnsafeCell;

use super::machine;

/// The instructions of all handlers of interrupts since the program began; it wraps.
static HANDLERS: Word = Word(UnsafeCell::new(0));

/// A word that handlers change, none of which interrupts another.
struct Word(UnsafeCell<u32>);

// SAFETY: a processor loads and stores a word as a whole, and does both where they stand.
unsafe impl Sync for Word {}

impl Word {
    fn load(&self) -> u32 {
        // SAFETY: as above.
        unsafe { self.0.get().read_volatile() }
    }

    #[cfg(target_os = "none")]
    fn add(&self, more: u32) {
        // SAFETY: as above.
        unsafe { self.0.get().write_volatile(self.load().wrapping_add(more)) };
    }
}

/// Counts the instructions from its start on, with those of reading the clock once.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    ticks: u32,
    handlers: u32,
}

impl Stopwatch {
    /// Starts it.
    pub fn start() -> Self {
        loop {
            let handlers = HANDLERS.load();
            let ticks = machine::now();
            // Nothing has interrupted between the two.
            if HANDLERS.load() == handlers {
                return Self { ticks, handlers };
            }
        }
    }

    /// The instructions since its start without those of handlers.
    pub fn instructions(self) -> u32 {
        self.with_handlers().0
    }

    /// The instructions since its start, fewer than 600 million, and those of the handlers that
    /// interrupted meanwhile.
    pub fn with_handlers(self) -> (u32, u32) {
        let end = Self::start();
        let handlers = end.handlers.wrapping_sub(self.handlers);
        let all = machine::instructions(self.ticks, end.ticks);
        (all.saturating_sub(handlers), handlers)
    }
}

/// Does something, and counts its instructions, without those of handlers.
#[inline(never)]
pub fn timed<R>(work: impl FnOnce() -> R) -> (R, u32) {
    let watch = Stopwatch::start();
    let result = work();
    (result, watch.instructions())
}

/// Does what a handler does, in it: its instructions are not those of whom it interrupts. Handlers
/// do not interrupt each other.
pub fn handle<R>(work: impl FnOnce() -> R) -> R {
    let _watch = Stopwatch::start();
    let result = work();
    #[cfg(target_os = "none")]
    HANDLERS.add(_watch.instructions());
    result
}

/// The instructions of the longest critical section since the program began.
pub fn longest_section() -> u32 {
    #[cfg(target_os = "none")]
    return super::sections::longest();
    #[cfg(not(target_os = "none"))]
    0
}
