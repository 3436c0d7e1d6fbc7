//! Where the stack of this thread is. The threads' library knows it too, but says it under a lock
//! that it also holds while it allocates.

use core::sync::atomic::{AtomicUsize, Ordering};

use surefit_interpose::system;

use crate::mappings;
use crate::thread::{HIGH, LOW, SEARCHES, unrecorded};

/// The kernel keeps so many bytes free below the stack with which a program began.
const GAP: usize = 1 << 20;

/// How often a stack is looked for; after that it is nobody's.
const MOST_SEARCHES: usize = 16;

/// The C library's record of the thread with which the program began; 0 before that.
static FIRST: AtomicUsize = AtomicUsize::new(0);

/// The program begins in this thread.
pub(crate) fn first_thread_begins() {
    FIRST.store(system::thread_record(), Ordering::Relaxed);
}

/// The end of this thread's stack, if an address that is in use is in it; `None` on another stack
/// than the thread's own (a coroutine's, a signal handler's), or if nobody knows. What is between
/// the two is mapped.
#[inline]
pub(super) fn end_above(address: usize) -> Option<usize> {
    let (low, high) = (LOW.get(), HIGH.get());
    if (low..high).contains(&address) {
        return Some(high);
    }
    end_after_search(address)
}

#[cold]
fn end_after_search(address: usize) -> Option<usize> {
    let (low, high) = (LOW.get(), HIGH.get());
    // The first stack grows; others have a place that no other stack is next to.
    if address < low && low - address < GAP && high != system::thread_record() {
        LOW.set(address);
        return Some(high);
    }
    let searches = SEARCHES.get();
    if searches >= MOST_SEARCHES {
        return None;
    }
    SEARCHES.set(searches + 1);
    let (low, high) = unrecorded(|| find(address))?;
    LOW.set(low);
    HIGH.set(high);
    Some(high)
}

/// The stack that holds an address: in a thread that the program began, the C library's record of
/// the thread is at its upper end. The first thread's record is elsewhere, and a coroutine's stack
/// may be next to that: it could be unmapped while we take it for the thread's.
fn find(address: usize) -> Option<(usize, usize)> {
    let record = system::thread_record();
    let is_first = record == FIRST.load(Ordering::Relaxed);
    let mut found = None;
    let all = mappings::for_each(|mapping| {
        if mapping.is_first_stack && mapping.holds(address) {
            found = Some((mapping.start, mapping.end));
        } else if !is_first && mapping.holds(record) && mapping.holds(address) && address < record {
            found = Some((mapping.start, record));
        }
    });
    found.filter(|_| all)
}
