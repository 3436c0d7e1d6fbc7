//! The one heap of the process, from its first call to its end.
//!
//! ```text
//! library begins    registers its fork handlers before all others; it stays loaded
//! first call        choose addresses, read the variables, make the heap in its first pages       (one thread)
//! before a fork     all locks of the heap are taken, behind that of the list of streams; after it they
//!                   are released in both processes
//! end               nothing: other threads, and destructors, still use the heap
//! ```
//! # Invariants
//! - H1 If `state` is READY, the heap and the options were written, and nobody writes them again.

use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use lock_api::Mutex;
use surefit_direct::shared::{Local, Settings, SharedDirect, Units};
use surefit_interpose::loading::keep_loaded;
use surefit_interpose::{streams, system};

use crate::errors;
use crate::lock::Futex;
use crate::options::{Options, PREFIX, Statistics, VARIABLES, meant};
use crate::os::{Os, Range, ask_for_huge_pages, choose, unmap_all};
use crate::text::say;
use crate::word::own_address;

pub(crate) type Heap = SharedDirect<'static, Futex, Os>;
pub(crate) type Own<'h> = Local<'h, Futex, Os>;

/// The most threads with an instance of their own, in a range of 4 GiB or more.
const MOST_THREADS: usize = 4096;
const LEAST_THREADS: usize = 64;

const NOTHING: u32 = 0;
const READY: u32 = 1;

/// Where the heap's units are; nowhere before there is a heap.
static UNITS: AtomicPtr<u8> = AtomicPtr::new(Units::none().into_raw());

struct Process {
    state: AtomicU32,
    begins: Mutex<Futex, ()>,
    heap: UnsafeCell<MaybeUninit<Heap>>,
    options: UnsafeCell<Options>,
}

// SAFETY: H1; before READY only the thread that has `begins` accesses the cells.
unsafe impl Sync for Process {}

static PROCESS: Process = Process {
    state: AtomicU32::new(NOTHING),
    begins: Mutex::new(()),
    heap: UnsafeCell::new(MaybeUninit::uninit()),
    options: UnsafeCell::new(Options::DEFAULT),
};

/// The heap; made at the first call. `None` if there is no memory for it now.
#[inline]
pub(crate) fn heap() -> Option<&'static Heap> {
    heap_if_begun().or_else(begin)
}

/// The heap, if a call was made before.
#[inline]
pub(crate) fn heap_if_begun() -> Option<&'static Heap> {
    // SAFETY: READY.
    (PROCESS.state.load(Ordering::Acquire) == READY).then(|| unsafe { begun() })
}

/// Where the units of the heap are, if there is one.
#[inline]
pub(crate) fn units() -> Units<'static> {
    // SAFETY: nothing else is stored there.
    unsafe { Units::from_raw(UNITS.load(Ordering::Acquire)) }
}

/// The heap, without checking that there is one.
///
/// # Safety
/// The heap was made: the state is READY, or this thread has or had an instance of it.
#[inline]
pub(crate) unsafe fn begun() -> &'static Heap {
    // SAFETY: the caller's; H1.
    unsafe { (*PROCESS.heap.get()).assume_init_ref() }
}

/// How the heap is used; the defaults before the first call.
pub(crate) fn options() -> &'static Options {
    static DEFAULT: Options = Options::DEFAULT;
    match heap_if_begun() {
        // SAFETY: READY, H1.
        Some(_) => unsafe { &*PROCESS.options.get() },
        None => &DEFAULT,
    }
}

#[cold]
fn begin() -> Option<&'static Heap> {
    let guard = PROCESS.begins.lock();
    if let Some(heap) = heap_if_begun() {
        return Some(heap);
    }
    // SAFETY: this thread has `begins`, and nothing is READY.
    unsafe { make() }?;
    PROCESS.state.store(READY, Ordering::Release);
    let units = heap_if_begun()?.units();
    UNITS.store(units.into_raw(), Ordering::Release);
    drop(guard);
    prepare_forks();
    heap_if_begun()
}

/// Registers the heap's fork handlers, once.
///
/// The handlers that are registered first are called last before a fork and first after it. So this
/// is done as early as possible: handlers of the program may allocate, and then the heap's locks
/// are not held. A library that exports malloc calls it before others register.
pub fn prepare_forks() {
    static DONE: AtomicBool = AtomicBool::new(false);
    if DONE.swap(true, Ordering::AcqRel) {
        return;
    }
    // It may allocate. If it fails, forked children of a process with threads may find a lock
    // taken.
    // SAFETY: functions that live as long as the process.
    unsafe {
        system::pthread_atfork(
            Some(before_fork),
            Some(after_fork_in_parent),
            Some(after_fork_in_child),
        )
    };
}

extern "C" fn begins() {
    streams::find();
    prepare_forks();
    // Threads that end call it, and so do forks.
    let begins: extern "C" fn() = begins;
    // SAFETY: the linker calls this.
    unsafe { keep_loaded((begins as *const ()).addr()) };
    // Otherwise a program that never allocates has no heap.
    if is_asked() {
        heap();
    }
}

/// Called when the program or library that contains this begins, before its functions without a
/// priority.
#[used]
#[unsafe(link_section = ".init_array.00099")]
static BEGINS: extern "C" fn() = begins;

/// Writes all cells.
///
/// # Safety
/// Nobody else accesses them.
unsafe fn make() -> Option<()> {
    let range = choose()?;
    // SAFETY: the caller's.
    let options = unsafe { &mut *PROCESS.options.get() };
    read_options(options);
    if options.statistics != Statistics::None && options.file().is_none() {
        errors::keep();
    }
    if options.huge_pages {
        ask_for_huge_pages();
    }
    let Some(heap) = heap_over(range, options) else {
        unmap_all();
        return None;
    };
    heap.set_limit(options.limit);
    heap.set_soft_limit(options.soft_limit);
    // SAFETY: the caller's.
    unsafe { (*PROCESS.heap.get()).write(heap) };
    Some(())
}

fn heap_over(range: Range, options: &Options) -> Option<Heap> {
    #[expect(clippy::cast_possible_truncation, reason = "at most 4096")]
    let settings = Settings {
        threads: (range.bytes >> 20).clamp(LEAST_THREADS, MOST_THREADS) as u32,
        checks: options.checks,
        delay: options.delay,
    };
    // SAFETY: what is mapped of the range is the heap's alone, and zero; it is aligned to 2 MiB.
    unsafe { Heap::over(range.base, range.bytes, settings, Os) }.ok()
}

fn read_options(options: &mut Options) {
    *options = Options::DEFAULT;
    for (name, set) in VARIABLES {
        // SAFETY: a name that ends with zero.
        let value = unsafe { system::secure_getenv(name.as_ptr()) };
        if value.is_null() {
            continue;
        }
        // SAFETY: it ends with zero, and this thread does not change the environment meanwhile.
        let value = unsafe { CStr::from_ptr(value) }.to_bytes();
        if let Err(bad) = set(options, value) {
            let (name, value) = (name.to_bytes(), value.escape_ascii());
            say!("{}={value} should be {}", name.escape_ascii(), bad.wanted);
        }
    }
    if options.without_idle_soft_limit() {
        say!("SUREFIT_SOFT_LIMIT should be below SUREFIT_LIMIT; there is no soft limit");
    }
    name_slips();
}

/// Names the variables whose names are nearly those of ours.
fn name_slips() {
    each_variable(|entry| {
        if let Some(known) = meant(entry) {
            let name = entry.split(|byte| *byte == b'=').next().unwrap_or_default();
            let (name, known) = (name.escape_ascii(), known.to_bytes().escape_ascii());
            say!("{name} is no variable of it and does nothing; {known} is one");
        }
    });
}

/// Whether the environment has a variable of ours, or one whose name begins as theirs.
fn is_asked() -> bool {
    let mut found = false;
    each_variable(|entry| found |= entry.starts_with(PREFIX));
    found
}

/// Each `NAME=value` of the environment.
fn each_variable(mut look: impl FnMut(&[u8])) {
    // SAFETY: null until the C library has begun, or an array that ends with null.
    let mut at = unsafe { system::environ };
    // SAFETY: as above; this thread does not change the environment meanwhile.
    while !at.is_null() && unsafe { !(*at).is_null() } {
        // SAFETY: a text that ends with zero.
        look(unsafe { CStr::from_ptr(*at) }.to_bytes());
        // SAFETY: as above: null is behind the last.
        at = unsafe { at.add(1) };
    }
}

/// Nobody makes the heap until the fork is over: so the locks that are taken before it are those
/// released after it, in both processes.
unsafe extern "C" fn before_fork() {
    streams::lock();
    core::mem::forget(PROCESS.begins.lock());
    if let Some(heap) = heap_if_begun() {
        heap.before_fork();
    }
}

unsafe extern "C" fn after_fork_in_parent() {
    after_fork(false);
}

unsafe extern "C" fn after_fork_in_child() {
    after_fork(true);
}

fn after_fork(is_child: bool) {
    if let Some(heap) = heap_if_begun() {
        // SAFETY: the word of this thread.
        let own = own_address().map(|own| unsafe { Own::from_raw(heap, own) });
        // SAFETY: the C library calls `before_fork` before, in this thread, and this once in each
        // process.
        unsafe { heap.after_fork(is_child, own.as_deref()) };
    }
    // SAFETY: locked by `before_fork`.
    unsafe { PROCESS.begins.force_unlock() };
    if is_child {
        // SAFETY: `before_fork` locked, in this thread.
        unsafe { streams::reset() };
    } else {
        // SAFETY: as above.
        unsafe { streams::unlock() };
    }
}
