//! A lock at which a call can be paused between two of its sections, while another thread makes
//! calls.

use std::cell::{Cell, RefCell};
use std::sync::mpsc::{Receiver, Sender};

use lock_api::{GuardSend, RawMutex};

/// Where a thread pauses.
struct Pause {
    /// The number of further sections after which it pauses.
    sections: usize,
    here: Sender<()>,
    go_on: Receiver<()>,
}

thread_local! {
    /// Locks held.
    static HELD: Cell<u32> = const { Cell::new(0) };
    static PAUSE: RefCell<Option<Pause>> = const { RefCell::new(None) };
}

/// A lock that reports the end of each section to the thread's pause.
pub(crate) struct Lock(parking_lot::RawMutex);

// SAFETY: the lock within excludes; the rest happens before it is taken, and after it is given
// back.
unsafe impl RawMutex for Lock {
    const INIT: Self = Self(parking_lot::RawMutex::INIT);
    type GuardMarker = GuardSend;

    fn lock(&self) {
        self.0.lock();
        HELD.set(HELD.get() + 1);
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
        if HELD.get() == 0 {
            section_ended();
        }
    }
}

fn section_ended() {
    PAUSE.with_borrow_mut(|pause| {
        let Some(now) = pause else { return };
        now.sections -= 1;
        if now.sections == 0 {
            let now = pause.take().expect("just seen");
            now.here.send(()).expect("somebody waits");
            now.go_on.recv().expect("somebody lets it go on");
        }
    });
}

/// Runs `outer` on another thread. Runs `inner` here while `outer` pauses after `sections` of its
/// sections, or after it, if it has fewer.
pub(crate) fn during<T: Send>(
    sections: usize,
    outer: impl FnOnce() -> T + Send,
    inner: impl FnOnce(),
) -> T {
    let (here, paused) = std::sync::mpsc::channel();
    let (resume, go_on) = std::sync::mpsc::channel();
    std::thread::scope(|threads| {
        let outer = threads.spawn(move || {
            PAUSE.set(Some(Pause {
                sections,
                here,
                go_on,
            }));
            let value = outer();
            // A waiting thread learns that there is no pause.
            PAUSE.set(None);
            value
        });
        let is_paused = paused.recv().is_ok();
        inner();
        if is_paused {
            resume.send(()).expect("it waits");
        }
        outer.join().expect("no panic")
    })
}
