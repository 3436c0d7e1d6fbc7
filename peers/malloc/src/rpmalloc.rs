//! rpmalloc, told of the process and of its threads.
//!
//! ```text
//! first malloc of the process  the process, and a key whose destructor runs at the end of each thread
//! first malloc of a thread     the thread; its word says so, and the key is set
//! end of a thread              the thread, and its caches to others; a later call of a destructor begins anew
//! ```

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::{null_mut, without_provenance};
use std::sync::atomic::{AtomicU32, Ordering};

use rpmalloc_sys as rp;
use surefit_interpose::calls::Calls;
use surefit_interpose::system::{pthread_key_create, pthread_setspecific};
use surefit_interpose::thread::ThreadWord;

use crate::can_align;

/// The process's rpmalloc.
#[derive(Clone, Copy, Debug)]
pub struct Rpmalloc;

/// Whether rpmalloc knows this thread: 1 if so.
const KNOWN: ThreadWord<0> = ThreadWord;

/// Nobody has told rpmalloc of the process, somebody does, somebody did.
const STATES: [u32; 3] = [0, 1, 2];

static STATE: AtomicU32 = AtomicU32::new(STATES[0]);

/// The key, once the process is known.
static KEY: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" {
    // The crate declares it without its argument.
    #[link_name = "rpmalloc_thread_finalize"]
    fn thread_finalize(release_caches: c_int);
}

/// Before each call that may allocate.
#[inline(always)]
fn know() {
    if KNOWN.get() == 0 {
        begin();
    }
}

#[cold]
#[inline(never)]
fn begin() {
    // First of all: what follows may allocate.
    KNOWN.set(1);
    begin_process();
    // SAFETY: the process is known.
    unsafe { rp::rpmalloc_thread_initialize() };
    let key = KEY.load(Ordering::Relaxed);
    // SAFETY: the key was made with the process, and is never deleted.
    unsafe { pthread_setspecific(key, without_provenance(1)) };
}

/// Tells rpmalloc of the process, if nobody did; or waits for who does.
fn begin_process() {
    let [fresh, begun, known] = STATES;
    match STATE.compare_exchange(fresh, begun, Ordering::Acquire, Ordering::Acquire) {
        Ok(_) => {
            let mut key: c_uint = 0;
            // SAFETY: this happens once; a place for the key.
            unsafe {
                rp::rpmalloc_initialize();
                pthread_key_create(&raw mut key, Some(end));
            }
            KEY.store(key, Ordering::Relaxed);
            STATE.store(known, Ordering::Release);
        }
        Err(_) => {
            while STATE.load(Ordering::Acquire) != known {
                std::thread::yield_now();
            }
        }
    }
}

/// The thread ends. Destructors of other keys may still allocate: then it begins anew, and ends
/// again.
unsafe extern "C" fn end(_: *mut c_void) {
    KNOWN.set(0);
    // SAFETY: rpmalloc knows the thread.
    unsafe { thread_finalize(1) };
}

// SAFETY: rpmalloc's own contract.
unsafe impl Calls for Rpmalloc {
    #[inline]
    fn malloc(&self, size: usize) -> *mut c_void {
        know();
        // SAFETY: any size will do.
        unsafe { rp::rpmalloc(size) }
    }

    #[inline]
    fn calloc(&self, count: usize, size: usize) -> *mut c_void {
        know();
        match surefit_interpose::calls::array_bytes(count, size) {
            // SAFETY: any size will do.
            Some(bytes) => unsafe { rp::rpcalloc(1, bytes) },
            None => null_mut(),
        }
    }

    #[inline]
    unsafe fn realloc(&self, old: *mut c_void, size: usize) -> *mut c_void {
        know();
        // SAFETY: the caller's.
        unsafe { rp::rprealloc(old, size) }
    }

    #[inline]
    unsafe fn free(&self, old: *mut c_void) {
        // A thread that is unknown, or not known any more, frees as if it had not allocated the
        // object: the C library frees after a thread's end, and would make it known for ever.
        // SAFETY: the caller's.
        unsafe { rp::rpfree(old) }
    }

    fn memalign(&self, align: usize, size: usize) -> *mut c_void {
        if !can_align(align, size) {
            return null_mut();
        }
        know();
        // SAFETY: the alignment is a power of two.
        unsafe { rp::rpmemalign(align, size) }
    }

    unsafe fn usable_size(&self, of: *mut c_void) -> usize {
        if of.is_null() {
            return 0;
        }
        // SAFETY: the caller's.
        unsafe { rp::rpmalloc_usable_size(of) }
    }
}
