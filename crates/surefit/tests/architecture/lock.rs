//! A lock that counts the sections of a thread, and acts between two of them.

use std::cell::{Cell, RefCell};

use surefit::compact::shared::RawMutex;

/// What a thread does after so many sections more.
struct Hook {
    sections: u32,
    act: Box<dyn FnOnce()>,
}

thread_local! {
    /// Locks held.
    static HELD: Cell<u32> = const { Cell::new(0) };
    /// Sections ended.
    static SECTIONS: Cell<u32> = const { Cell::new(0) };
    static HOOK: RefCell<Option<Hook>> = const { RefCell::new(None) };
}

/// A lock that notices the end of each section of a thread.
pub(crate) struct Lock(parking_lot::RawMutex);

// SAFETY: the lock within excludes; the rest happens while it is held or after it is given back,
// and touches what belongs to the thread.
unsafe impl RawMutex for Lock {
    const INIT: Self = Self(parking_lot::RawMutex::INIT);
    type GuardMarker = <parking_lot::RawMutex as RawMutex>::GuardMarker;

    fn lock(&self) {
        assert!(
            self.try_lock(),
            "one thread: a lock is free when it is taken"
        );
    }

    fn try_lock(&self) -> bool {
        let is_taken = self.0.try_lock();
        HELD.set(HELD.get() + u32::from(is_taken));
        is_taken
    }

    unsafe fn unlock(&self) {
        // SAFETY: the caller's duty is this lock's.
        unsafe { self.0.unlock() };
        HELD.set(HELD.get() - 1);
        if !is_held() {
            section_ended();
        }
    }
}

/// Whether the thread holds a lock.
pub(crate) fn is_held() -> bool {
    HELD.get() > 0
}

fn section_ended() {
    SECTIONS.set(SECTIONS.get() + 1);
    let act = HOOK.with_borrow_mut(|hook| {
        let now = hook.as_mut()?;
        now.sections -= 1;
        if now.sections > 0 {
            return None;
        }
        hook.take().map(|hook| hook.act)
    });
    if let Some(act) = act {
        act();
    }
}

/// The sections that a call takes, without those of an act in between.
pub(crate) fn sections(call: impl FnOnce()) -> u32 {
    let before = SECTIONS.get();
    call();
    SECTIONS.get() - before
}

/// Acts once, when so many sections more of this thread have ended: between two sections of a call.
pub(crate) fn after(sections: u32, act: impl FnOnce() + 'static) {
    let act = Box::new(move || {
        let before = SECTIONS.get();
        act();
        SECTIONS.set(before);
    });
    HOOK.set(Some(Hook { sections, act }));
}

/// Whether what was to be done is still to be done.
pub(crate) fn is_pending() -> bool {
    HOOK.with_borrow(Option::is_some)
}
