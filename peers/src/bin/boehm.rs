//! Binary trees on the Boehm-Demers-Weiser collector: a conservative mark-sweep collector for C.
//!
//! Settings: `divisor=N`, about one byte is allocated between two collections for every N of the
//! heap; `initial=BYTES`, the heap to begin with; `heap=BYTES`, its limit; `interior=1`, pointers
//! into the middle of objects in the heap count too, for which every object is a byte longer (the
//! collector's default; no program of references to starts of objects needs it); `many=0`, one call
//! an object instead of a list of objects at a time; `markers=N` threads that mark;
//! `incremental=1`, it marks in steps and only what was written since the last collection, which it
//! learns from the pages; then `pause_ms=N` is how long a step may take (999999 is no limit: only
//! generations are left, and no steps).

use std::ffi::{c_int, c_ulong, c_void};
use std::process::ExitCode;
use std::ptr::{self, NonNull};

use surefit_peers::{Settings, Trees};

unsafe extern "C" {
    fn GC_init();
    fn GC_enable_incremental();
    fn GC_is_incremental_mode() -> c_int;
    fn GC_set_time_limit(ms: c_ulong);
    fn GC_set_all_interior_pointers(is_on: c_int);
    fn GC_set_free_space_divisor(divisor: usize);
    fn GC_set_max_heap_size(bytes: usize);
    fn GC_expand_hp(bytes: usize) -> c_int;
    fn GC_malloc(bytes: usize) -> *mut c_void;
    fn GC_malloc_many(bytes: usize) -> *mut c_void;
    fn GC_get_gc_no() -> usize;
}

/// Two references, 16 bytes.
struct Node {
    left: Option<NonNull<Node>>,
    right: Option<NonNull<Node>>,
}

/// Trees in the collector's heap, of which a process has one.
///
/// It stays on the stack, where the collector looks for references.
struct Boehm {
    kept: Option<NonNull<Node>>,
    /// Objects that were handed out together, linked by their first words.
    unused: *mut c_void,
    is_many: bool,
}

impl Boehm {
    fn new(settings: &mut Settings) -> Result<Self, String> {
        let is_interior = settings.number::<u8>("interior")?.unwrap_or(0) != 0;
        let is_many = settings.number::<u8>("many")?.unwrap_or(1) != 0;
        let markers: u32 = settings.number("markers")?.unwrap_or(1);
        // SAFETY: B1 these are called once, from the only thread; the first two before `GC_init`,
        // as the manual demands.
        unsafe {
            std::env::set_var("GC_MARKERS", markers.to_string());
            GC_set_all_interior_pointers(is_interior.into());
            GC_init();
        }
        if settings.number::<u8>("incremental")?.unwrap_or(0) != 0 {
            enable_incremental(settings.number("pause_ms")?)?;
        }
        if let Some(divisor) = settings.number("divisor")? {
            // SAFETY: as B1, after `GC_init`.
            unsafe { GC_set_free_space_divisor(divisor) };
        }
        if let Some(bytes) = settings.bytes("heap")? {
            // SAFETY: as B1, after `GC_init`.
            unsafe { GC_set_max_heap_size(bytes) };
        }
        if let Some(bytes) = settings.bytes("initial")? {
            // SAFETY: as B1, after `GC_init`.
            let is_done = unsafe { GC_expand_hp(bytes) } != 0;
            is_done
                .then_some(())
                .ok_or(format!("initial={bytes}: no memory"))?;
        }
        Ok(Self {
            kept: None,
            unused: ptr::null_mut(),
            is_many,
        })
    }

    /// An object of its own, uninitialized; `None` if the heap is full.
    fn allocate(&mut self) -> Option<NonNull<Node>> {
        let bytes = size_of::<Node>();
        if !self.is_many {
            // SAFETY: the collector runs since `new`.
            return NonNull::new(unsafe { GC_malloc(bytes) }.cast());
        }
        if self.unused.is_null() {
            // SAFETY: the collector runs since `new`.
            self.unused = unsafe { GC_malloc_many(bytes) };
        }
        let node = NonNull::new(self.unused)?;
        // SAFETY: B2 an object of the list holds the next one in its first word until it is handed
        // out.
        self.unused = unsafe { node.cast::<*mut c_void>().read() };
        Some(node.cast())
    }

    fn build(&mut self, depth: u32) -> Option<NonNull<Node>> {
        let (left, right) = if depth > 0 {
            (Some(self.build(depth - 1)?), Some(self.build(depth - 1)?))
        } else {
            (None, None)
        };
        let node = self.allocate()?;
        // SAFETY: `allocate` hands out memory for one node that nobody else has.
        unsafe { node.write(Node { left, right }) };
        Some(node)
    }
}

/// Marks in steps from now on, each of at most so many milliseconds, if a number is given.
fn enable_incremental(pause_ms: Option<c_ulong>) -> Result<(), String> {
    if let Some(ms) = pause_ms {
        // SAFETY: as B1, after `GC_init`.
        unsafe { GC_set_time_limit(ms) };
    }
    // SAFETY: as B1, after `GC_init`.
    let is_on = unsafe {
        GC_enable_incremental();
        GC_is_incremental_mode() != 0
    };
    is_on
        .then_some(())
        .ok_or("incremental=1: this collector cannot".to_owned())
}

/// The nodes of a tree.
///
/// # Safety
/// S1 `node` is a live node, and so is all that it refers to.
unsafe fn count(node: NonNull<Node>) -> u64 {
    let of = |child: Option<NonNull<Node>>| match child {
        // SAFETY: S1.
        Some(child) => unsafe { count(child) },
        None => 0,
    };
    // SAFETY: S1.
    let node = unsafe { node.as_ref() };
    1 + of(node.left) + of(node.right)
}

fn full() -> String {
    "the heap is full: give heap=BYTES more".to_owned()
}

impl Trees for Boehm {
    fn build_and_count(&mut self, depth: u32) -> Result<u64, String> {
        let tree = self.build(depth).ok_or_else(full)?;
        // SAFETY: S1 the tree was just made, and a reference on the stack keeps it.
        Ok(unsafe { count(tree) })
    }

    fn build_and_keep(&mut self, depth: u32) -> Result<(), String> {
        self.kept = Some(self.build(depth).ok_or_else(full)?);
        Ok(())
    }

    fn count_kept(&mut self) -> u64 {
        // SAFETY: S1 `self` is on the stack, where the collector finds `kept`.
        self.kept.map_or(0, |kept| unsafe { count(kept) })
    }

    fn collections(&mut self) -> Option<u64> {
        // SAFETY: B1; there is one thread.
        u64::try_from(unsafe { GC_get_gc_no() }).ok()
    }
}

fn main() -> ExitCode {
    surefit_peers::run(Boehm::new)
}
