//! A lock that notes the sections under it: how long each one takes, or where it begins and ends,
//! for valgrind.
//!
//! A section lasts from the acquisition of a lock by a thread that holds none to the release after
//! which it holds none again: no other thread can take over a lock in between, which is what the
//! slides call preemption time. Every thread notes its own sections.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::hint::black_box;
use std::time::Instant;

use parking_lot::RawMutex;

/// What is noted of every section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Note {
    /// Nothing.
    #[default]
    Nothing,
    /// How long it takes, in nanoseconds.
    Times,
    /// Where it begins and ends, by calls of functions that valgrind can distinguish.
    Marks,
}

/// Where a section begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The thread takes its first lock.
    Begins,
    /// It has released its last one.
    Ends,
}

/// Marks of one call that are made without an allocation.
const MARKED: usize = 256;

thread_local! {
    static NOTE: Cell<Note> = const { Cell::new(Note::Nothing) };
    static HELD: Cell<u32> = const { Cell::new(0) };
    static SINCE: Cell<Option<Instant>> = const { Cell::new(None) };
    static TIMES: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
    static MARKS: RefCell<Vec<Mark>> = const { RefCell::new(Vec::new()) };
}

/// From now on the calling thread notes this of its sections.
pub(super) fn note(what: Note) {
    NOTE.set(what);
}

/// The times of the calling thread's sections in nanoseconds, which begin anew.
pub(super) fn take_times() -> Vec<u32> {
    TIMES.take()
}

/// The marks of the calling thread's sections, which begin anew; there is room for more, so that to
/// mark a section allocates nothing.
pub(super) fn take_marks() -> Vec<Mark> {
    MARKS.replace(Vec::with_capacity(MARKED))
}

/// The name of the function that is called when a section begins.
pub(super) const BEGINS: &str = "section_begins";

/// The name of the function that is called when a section ends.
pub(super) const ENDS: &str = "section_ends";

// Both look at the mark last: valgrind would not see that a function returns that ends with a call.

#[inline(never)]
fn section_begins() {
    MARKS.with_borrow_mut(|marks| marks.push(Mark::Begins));
    black_box(Mark::Begins);
}

#[inline(never)]
fn section_ends() {
    MARKS.with_borrow_mut(|marks| marks.push(Mark::Ends));
    black_box(Mark::Ends);
}

/// Nanoseconds, at most four seconds.
pub(super) fn nanoseconds(since: Instant) -> u32 {
    u32::try_from(since.elapsed().as_nanos()).unwrap_or(u32::MAX)
}

fn taken() {
    let held = HELD.replace(HELD.get() + 1);
    match NOTE.get() {
        Note::Times if held == 0 => SINCE.set(Some(Instant::now())),
        Note::Marks if held == 0 => section_begins(),
        _ => {}
    }
}

fn releasing() {
    let held = HELD.replace(HELD.get() - 1);
    match NOTE.get() {
        Note::Times if held == 1 => {
            if let Some(since) = SINCE.take() {
                TIMES.with_borrow_mut(|times| times.push(nanoseconds(since)));
            }
        }
        Note::Marks if held == 1 => section_ends(),
        _ => {}
    }
}

/// A `parking_lot` lock whose sections are noted.
pub(super) struct Noted(RawMutex);

impl fmt::Debug for Noted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Noted")
    }
}

// SAFETY: the lock inside is exclusive, and every call is passed on to it.
unsafe impl lock_api::RawMutex for Noted {
    #[allow(
        clippy::declare_interior_mutable_const,
        reason = "how the trait hands out fresh locks"
    )]
    const INIT: Self = Self(<RawMutex as lock_api::RawMutex>::INIT);

    type GuardMarker = lock_api::GuardNoSend;

    fn lock(&self) {
        lock_api::RawMutex::lock(&self.0);
        taken();
    }

    fn try_lock(&self) -> bool {
        let is_taken = lock_api::RawMutex::try_lock(&self.0);
        if is_taken {
            taken();
        }
        is_taken
    }

    unsafe fn unlock(&self) {
        releasing();
        // SAFETY: the caller holds the lock.
        unsafe { lock_api::RawMutex::unlock(&self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::{Mark, Note, Noted, note, take_marks, take_times};
    use lock_api::Mutex;

    #[test]
    fn a_lock_inside_another_ones_section_begins_none() {
        let (outer, inner) = (Mutex::<Noted, ()>::new(()), Mutex::<Noted, ()>::new(()));
        let sections = || {
            let held = outer.lock();
            drop(inner.lock());
            drop(held);
            drop(inner.try_lock());
        };
        sections();
        assert!(take_times().is_empty());
        note(Note::Times);
        sections();
        assert_eq!((take_times().len(), take_times().len()), (2, 0));
        note(Note::Marks);
        sections();
        let (begins, ends) = (Mark::Begins, Mark::Ends);
        assert_eq!(take_marks(), [begins, ends, begins, ends]);
    }
}
