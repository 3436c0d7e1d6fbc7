//! A lock for tests. It runs code of the test whenever a call has released all its locks, as
//! another thread could, and records what is locked.
//!
//! Everything runs on one thread, so each schedule is the same in every run. The permutation tests
//! cover what happens while another thread holds a lock.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use lock_api::{GuardSend, RawMutex};

/// What interrupts, and at the how-manieth moment.
struct Interrupt {
    after: usize,
    code: *mut dyn FnMut(),
}

thread_local! {
    static INTERRUPT: RefCell<Option<Interrupt>> = const { RefCell::new(None) };
    static LOCKED: RefCell<BTreeSet<usize>> = const { RefCell::new(BTreeSet::new()) };
    static HELD: Cell<usize> = const { Cell::new(0) };
    static MOMENTS: Cell<usize> = const { Cell::new(0) };
}

/// The lock.
pub(crate) struct Watched(AtomicBool);

// SAFETY: the flag goes from false to true by one exchange, whose caller holds the lock until
// `unlock`.
unsafe impl RawMutex for Watched {
    #[allow(
        clippy::declare_interior_mutable_const,
        reason = "the trait asks for it"
    )]
    const INIT: Self = Self(AtomicBool::new(false));
    type GuardMarker = GuardSend;

    fn lock(&self) {
        assert!(self.try_lock(), "the thread waits for itself");
    }

    fn try_lock(&self) -> bool {
        let is_taken = !self.0.swap(true, Ordering::Acquire);
        if is_taken {
            LOCKED.with_borrow_mut(|locked| locked.insert(core::ptr::from_ref(self).addr()));
            HELD.set(HELD.get() + 1);
        }
        is_taken
    }

    unsafe fn unlock(&self) {
        self.0.store(false, Ordering::Release);
        HELD.set(HELD.get() - 1);
        if HELD.get() == 0 {
            MOMENTS.set(MOMENTS.get() + 1);
            interrupt();
        }
    }
}

/// Runs what interrupts, if this is its moment.
fn interrupt() {
    let due = INTERRUPT.with_borrow_mut(|interrupt| {
        let interrupt = interrupt.as_mut()?;
        interrupt.after = interrupt.after.checked_sub(1)?;
        (interrupt.after == 0).then_some(interrupt.code)
    });
    if let Some(code) = due {
        // SAFETY: `interrupted` lends the code until it takes the interrupt away; it runs once, so
        // not within itself.
        unsafe { (*code)() };
    }
}

/// Takes the interrupt away, also from a call that panics.
struct Lent;

impl Drop for Lent {
    fn drop(&mut self) {
        INTERRUPT.take();
    }
}

/// Calls `call`, interrupted by `code` at the moment number `after`, from 1 on, at which it holds
/// no lock; whether there was one.
pub(crate) fn interrupted(after: usize, code: &mut dyn FnMut(), call: impl FnOnce()) -> bool {
    let code: *mut (dyn FnMut() + '_) = code;
    // SAFETY: only the lifetime differs; the interrupt is taken away below, before it ends.
    let code: *mut dyn FnMut() = unsafe { core::mem::transmute(code) };
    INTERRUPT.set(Some(Interrupt { after, code }));
    let _lent = Lent;
    call();
    INTERRUPT.with_borrow(|left| left.as_ref().expect("set above").after == 0)
}

/// The different locks that a call takes.
pub(crate) fn locks_taken(call: impl FnOnce()) -> usize {
    LOCKED.take();
    call();
    LOCKED.take().len()
}

/// How often a call has given all its locks back.
pub(crate) fn moments_of(call: impl FnOnce()) -> usize {
    let before = MOMENTS.get();
    call();
    MOMENTS.get() - before
}

/// How many locks the thread holds.
pub(crate) fn held() -> usize {
    HELD.get()
}
