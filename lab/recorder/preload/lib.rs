//! The preloaded library: it passes each call on, and writes it into a log.
//!
//! build.rs compiles it without Cargo, so it uses `core`, `surefit-interpose` and the layout of a
//! log alone. A panic ends the process.

mod begun;
mod caller;
mod file;
#[path = "../src/log.rs"]
#[allow(dead_code, unreachable_pub, reason = "the reader uses the rest")]
mod log;
mod lost;
mod mappings;
mod process;
mod seen;
mod serving;
mod stacks;
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(dead_code, reason = "stacks are walked by them on x86-64 alone")
)]
mod tables;
mod text;
mod thread;
mod unloaded;
mod unwind;

use core::ffi::c_void;

use surefit_interpose::calls::Calls;

use log::kind;
use process::{stamp, stamp_called};
use serving::NEXT;

struct Recorder;

/// Writes that an object was given, and returns it.
#[inline]
fn given(what: u8, object: *mut c_void, size: usize, align: usize) -> *mut c_void {
    if !object.is_null() && !NEXT.is_early(object) {
        stamp_called(what, object, size, align);
    }
    object
}

fn given_aligned(object: *mut c_void, size: usize, align: usize) -> *mut c_void {
    let align = if align.is_power_of_two() { align } else { 1 };
    given(kind::ALIGNED, object, size, align)
}

// SAFETY: the next allocator gives the memory.
unsafe impl Calls for Recorder {
    #[inline]
    fn malloc(&self, size: usize) -> *mut c_void {
        given(kind::MALLOC, NEXT.malloc(size), size, 1)
    }

    #[inline]
    fn calloc(&self, count: usize, size: usize) -> *mut c_void {
        // If it overflows, nothing is given.
        let bytes = count.wrapping_mul(size);
        given(kind::CALLOC, NEXT.calloc(count, size), bytes, 1)
    }

    unsafe fn realloc(&self, old: *mut c_void, size: usize) -> *mut c_void {
        if old.is_null() || NEXT.is_early(old) {
            // SAFETY: the caller's promise.
            let new = unsafe { NEXT.realloc(old, size) };
            return given(kind::MALLOC, new, size, 1);
        }
        stamp(kind::REALLOC, old, 0, 1);
        // SAFETY: the caller's promise.
        let new = unsafe { NEXT.realloc(old, size) };
        let what = match (new.is_null(), size) {
            (false, _) => kind::REALLOCATED,
            (true, 0) => kind::REALLOC_FREED,
            (true, _) => kind::REALLOC_REFUSED,
        };
        stamp_called(what, new, size, 1);
        new
    }

    #[inline]
    unsafe fn free(&self, old: *mut c_void) {
        if old.is_null() || NEXT.is_early(old) {
            return;
        }
        stamp(kind::FREE, old, 0, 1);
        // SAFETY: the caller's promise.
        unsafe { NEXT.free(old) };
    }

    fn memalign(&self, align: usize, size: usize) -> *mut c_void {
        given_aligned(NEXT.memalign(align, size), size, align)
    }

    fn aligned_alloc(&self, align: usize, size: usize) -> *mut c_void {
        given_aligned(NEXT.aligned_alloc(align, size), size, align)
    }

    unsafe fn usable_size(&self, of: *mut c_void) -> usize {
        // SAFETY: the caller's promise.
        unsafe { NEXT.usable_size(of) }
    }
}

surefit_interpose::export!(Recorder);

/// Begins the log before the program does anything, so that each program has one.
extern "C" fn begin() {
    process::program_begins();
    begun::find();
}

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

extern "C" fn end() {
    process::program_ends();
}

#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = end;
