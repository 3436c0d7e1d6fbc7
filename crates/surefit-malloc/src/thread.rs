//! The instance of each thread.
//!
//! ```text
//! first call of a thread    joins: the instance's address into a word of the thread
//! each call                 the word is not zero: that is all a call asks
//! the thread ends           leaves in the last round of destructors, so that all others have an instance
//! after that                calls of the C library for the thread go through a group, under its lock
//! ```
//! Threads that share instances (`SUREFIT_SHARING`), or for which none is left, always go through a group.

use core::ffi::c_void;
use core::mem::ManuallyDrop;
use core::ptr::{NonNull, with_exposed_provenance_mut, without_provenance};
use core::sync::atomic::{AtomicUsize, Ordering};

use surefit_compact::shared_direct::GROUPS;
use surefit_interpose::system;
use surefit_interpose::thread::ThreadWord;

use crate::process::{Heap, Own, begun, heap, key, options};

/// The address of the thread's instance; 0 if it has none.
const OWN: ThreadWord<0> = ThreadWord;
/// The number of the thread's group plus 1; 0 before it has one.
const GROUP: ThreadWord<1> = ThreadWord;

/// Threads that went through a group.
static GROUPED: AtomicUsize = AtomicUsize::new(0);

/// The address of this thread's instance, if it has one.
#[inline]
pub(crate) fn own_address() -> Option<NonNull<u8>> {
    NonNull::new(with_exposed_provenance_mut(OWN.get()))
}

/// The instance of this thread, if it has one.
#[inline]
pub(crate) fn own() -> Option<ManuallyDrop<Own<'static>>> {
    let own = own_address()?;
    // SAFETY: `join` set the word, so there is a heap; the instance is this thread's until `ends`, and calls of one thread do not
    // nest: the heap calls nobody.
    Some(unsafe { Own::from_raw(begun(), own) })
}

/// Calls a function with the thread's instance, or with that of its group. `None` if there is no heap.
#[inline]
pub(crate) fn with<R>(call: impl FnOnce(&Own<'_>) -> R) -> Option<R> {
    match own() {
        Some(own) => Some(call(&own)),
        None => with_some(call),
    }
}

/// As [`with`], for a thread that has no instance of its own yet.
#[cold]
pub(crate) fn with_some<R>(call: impl FnOnce(&Own<'_>) -> R) -> Option<R> {
    let heap = heap()?;
    if GROUP.get() == 0 {
        if let Some(own) = join(heap) {
            return Some(call(&own));
        }
    }
    Some(heap.grouped(GROUP.get().wrapping_sub(1), call))
}

/// Makes an instance this thread's own, or finds its group.
fn join(heap: &'static Heap) -> Option<ManuallyDrop<Own<'static>>> {
    let sharing = options().sharing as usize;
    let joined = if sharing > 1 { None } else { heap.join().ok() };
    let Some(joined) = joined else {
        let number = GROUPED.fetch_add(1, Ordering::Relaxed);
        GROUP.set(number / sharing % GROUPS + 1);
        return None;
    };
    OWN.set(joined.into_raw().as_ptr().expose_provenance());
    // After the word is set: the C library may allocate.
    stay(1);
    own()
}

/// Has the C library call [`ends`] when this thread ends, with a number.
fn stay(round: usize) {
    if let Some(key) = key() {
        // SAFETY: the key was made. If it fails, the instance stays with the thread that ended.
        unsafe { system::pthread_setspecific(key, without_provenance(round)) };
    }
}

/// Called by the C library for a thread that ends, in each round of destructors that finds the key set.
pub(crate) unsafe extern "C" fn ends(round: *mut c_void) {
    if round.addr() < system::PTHREAD_DESTRUCTOR_ITERATIONS {
        stay(round.addr() + 1);
    } else if let Some(own) = own() {
        OWN.set(0);
        GROUP.set(1);
        drop(ManuallyDrop::into_inner(own));
    }
}
