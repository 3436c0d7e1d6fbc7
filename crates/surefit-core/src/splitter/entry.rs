//! How a caller enters a splitter and leaves it, over registers of any kind.

use core::hint::black_box;

/// A word that is loaded and stored as a whole, by any caller at any time. All callers see the
/// accesses in one order.
pub(super) trait Register {
    fn load(&self) -> usize;
    fn store(&self, value: usize);
}

/// The registers of a splitter.
pub(super) struct Splitter<'a, L, C> {
    pub(super) last: &'a L,
    pub(super) closed: &'a C,
}

impl<L: Register, C: Register> Splitter<'_, L, C> {
    /// Calls `kept` if the splitter kept this caller, whose name is `me`.
    pub(super) fn enter<T>(&self, me: usize, kept: impl FnOnce() -> T) -> Option<T> {
        if self.closed.load() != 0 {
            return None;
        }
        self.last.store(me);
        if self.closed.load() != 0 {
            return None;
        }
        self.closed.store(1);
        (self.last.load() == me).then(kept)
    }

    /// Opens the splitter again; only for a caller that was kept.
    pub(super) fn leave(&self) {
        self.closed.store(0);
    }
}

/// Calls `f` with a number that is not zero and that no other call in progress has.
pub(super) fn named<T>(f: impl FnOnce(usize) -> T) -> T {
    let here = 0_u8;
    let result = f(core::ptr::from_ref(black_box(&here)).addr());
    // Until here, the variable and its address belong to this call.
    black_box(&here);
    result
}

/// The number after `next`, from one upwards; no other caller gets it.
pub(super) fn count<L: Register, C: Register>(
    splitter: &Splitter<'_, L, C>,
    next: &impl Register,
    me: usize,
) -> Option<u32> {
    splitter.enter(me, || {
        let number = next.load().checked_add(1);
        if let Some(number) = number {
            next.store(number);
        }
        splitter.leave();
        number.and_then(|number| u32::try_from(number).ok())
    })?
}
