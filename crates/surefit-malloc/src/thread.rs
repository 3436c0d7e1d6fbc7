//! The instance of each thread.
//!
//! ```text
//! first call of a thread    joins: the instance's address into a word of the thread
//! each call                 compares the address with zero, and nothing else
//! the thread ends           leaves, in the first round of destructors of keys that finds ours set
//! after that                later destructors, and the C library, go through a group, under its lock
//! ```
//! Threads that share instances (`SUREFIT_SHARING`), or for which none is left, always go through a
//! group.

use core::ffi::{c_uint, c_void};
use core::mem::ManuallyDrop;
use core::ptr::without_provenance;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use surefit_direct::shared::GROUPS;
use surefit_interpose::system;
use surefit_interpose::thread::ThreadWord;

use crate::process::{Heap, Own, begun, heap, options};
use crate::word::{own_address, set_none, set_own};

/// The number of the thread's group plus 1; 0 before it has one.
const GROUP: ThreadWord<1> = ThreadWord;

/// Threads that went through a group.
static GROUPED: AtomicUsize = AtomicUsize::new(0);

/// The instance of this thread, if it has one.
#[inline]
pub(crate) fn own() -> Option<ManuallyDrop<Own<'static>>> {
    let own = own_address()?;
    // SAFETY: `join` set the word, so there is a heap; the instance is this thread's until `ends`.
    // Calls nest only where the soft limit's function allocates or frees: the call that it is
    // called by is in the middle of no change then.
    Some(unsafe { Own::from_raw(begun(), own) })
}

/// Calls a function with the thread's instance, or with that of its group. `None` if there is no
/// heap.
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
    set_own(joined.into_raw());
    // After the word is set: the C library may allocate.
    stay();
    own()
}

/// The C library's key for a thread's instance. If two threads create it at once, the second one's
/// stays unused.
fn key() -> Option<c_uint> {
    /// The key plus 1; 0 before there is one.
    static KEY: AtomicU32 = AtomicU32::new(0);
    if let Some(key) = KEY.load(Ordering::Acquire).checked_sub(1) {
        return Some(key);
    }
    let mut key = 0;
    // SAFETY: a place for the key; the destructor takes any value.
    if unsafe { system::pthread_key_create(&raw mut key, Some(ends)) } != 0 {
        return None;
    }
    let first = KEY.compare_exchange(0, key + 1, Ordering::AcqRel, Ordering::Acquire);
    Some(first.map_or_else(|other| other - 1, |_| key))
}

/// Has [`ends`] called when this thread ends, in the round of destructors that comes next: also if
/// the thread's first call is made by the destructor of another key, for which this one's round is
/// over. Only what first allocates in the last round keeps its instance for ever.
fn stay() {
    if let Some(key) = key() {
        // SAFETY: the key was made. If it fails, the instance stays with the thread that ended.
        unsafe { system::pthread_setspecific(key, without_provenance(1)) };
    }
}

/// Called by the C library for a thread that ends.
unsafe extern "C" fn ends(_value: *mut c_void) {
    if let Some(own) = own() {
        set_none();
        GROUP.set(1);
        drop(ManuallyDrop::into_inner(own));
    }
}
