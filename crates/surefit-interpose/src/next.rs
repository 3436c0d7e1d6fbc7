//! The allocator that would have served the calls, found with `dlsym`; and memory for the calls
//! that come before it is found.
//!
//! Finding it may itself allocate. Those calls, and those of other threads meanwhile, are served
//! from [`EARLY_BYTES`] bytes that are never reused; `free` and `realloc` recognise them.

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_void};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use crate::system;

/// Bytes for calls before the next allocator is found.
pub const EARLY_BYTES: usize = 64 << 10;

type Malloc = unsafe extern "C" fn(usize) -> *mut c_void;
type TwoNumbers = unsafe extern "C" fn(usize, usize) -> *mut c_void;
type Realloc = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void);
type UsableSize = unsafe extern "C" fn(*mut c_void) -> usize;

/// The functions of an allocator.
#[derive(Clone, Copy, Debug)]
struct Functions {
    malloc: Malloc,
    calloc: TwoNumbers,
    realloc: Realloc,
    free: Free,
    memalign: TwoNumbers,
    aligned_alloc: TwoNumbers,
    usable_size: UsableSize,
}

/// The next allocator: a static of the library that stands in for it.
#[derive(Debug)]
pub struct Next {
    state: AtomicU8,
    functions: UnsafeCell<Option<Functions>>,
    early: Early,
}

const UNKNOWN: u8 = 0;
const SEARCHED: u8 = 1;
const FOUND: u8 = 2;

// SAFETY: the functions are written by the one call that changes the state from UNKNOWN, before it
// becomes FOUND; they are read only then.
unsafe impl Sync for Next {}

impl Next {
    /// Nothing is found yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            state: AtomicU8::new(UNKNOWN),
            functions: UnsafeCell::new(None),
            early: Early::new(),
        }
    }

    #[inline]
    fn functions(&self) -> Option<&Functions> {
        if self.state.load(Ordering::Acquire) != FOUND {
            self.search();
            if self.state.load(Ordering::Acquire) != FOUND {
                return None;
            }
        }
        // SAFETY: FOUND, so it is written, and nobody writes it again.
        unsafe { (*self.functions.get()).as_ref() }
    }

    /// Finds the next allocator, unless somebody did or does.
    #[cold]
    fn search(&self) {
        let first =
            self.state
                .compare_exchange(UNKNOWN, SEARCHED, Ordering::AcqRel, Ordering::Acquire);
        if first.is_err() {
            return;
        }
        // SAFETY: each symbol, where there is one, is the function of the C library with that name,
        // whose type is the field's.
        let found = unsafe {
            let memalign = transmute::<*mut c_void, TwoNumbers>(symbol(c"memalign"));
            Functions {
                malloc: transmute::<*mut c_void, Malloc>(symbol(c"malloc")),
                calloc: transmute::<*mut c_void, TwoNumbers>(symbol(c"calloc")),
                realloc: transmute::<*mut c_void, Realloc>(symbol(c"realloc")),
                free: transmute::<*mut c_void, Free>(symbol(c"free")),
                memalign,
                // Of C11; an allocator may be older.
                aligned_alloc: transmute::<*mut c_void, Option<TwoNumbers>>(find(c"aligned_alloc"))
                    .unwrap_or(memalign),
                usable_size: transmute::<*mut c_void, UsableSize>(symbol(c"malloc_usable_size")),
            }
        };
        // SAFETY: only this call is here (the exchange), and nobody reads before FOUND.
        unsafe { *self.functions.get() = Some(found) };
        self.state.store(FOUND, Ordering::Release);
    }

    /// Where its `malloc` is; `None` while it is looked for.
    #[must_use]
    pub fn address(&self) -> Option<usize> {
        self.functions()
            .map(|next| (next.malloc as *const ()).addr())
    }

    /// `malloc`.
    #[inline]
    #[must_use]
    pub fn malloc(&self, size: usize) -> *mut c_void {
        match self.functions() {
            // SAFETY: any size.
            Some(next) => unsafe { (next.malloc)(size) },
            None => self.early.take(size, 16),
        }
    }

    /// `calloc`.
    #[inline]
    #[must_use]
    pub fn calloc(&self, count: usize, size: usize) -> *mut c_void {
        match self.functions() {
            // SAFETY: any sizes.
            Some(next) => unsafe { (next.calloc)(count, size) },
            // Fresh bytes are zero.
            None => count
                .checked_mul(size)
                .map_or(null_mut(), |bytes| self.early.take(bytes, 16)),
        }
    }

    /// `memalign`.
    #[inline]
    #[must_use]
    pub fn memalign(&self, align: usize, size: usize) -> *mut c_void {
        match self.functions() {
            // SAFETY: any numbers: what is no alignment is refused.
            Some(next) => unsafe { (next.memalign)(align, size) },
            None if align.is_power_of_two() => self.early.take(size, align),
            None => null_mut(),
        }
    }

    /// `aligned_alloc`.
    #[inline]
    #[must_use]
    pub fn aligned_alloc(&self, align: usize, size: usize) -> *mut c_void {
        match self.functions() {
            // SAFETY: any numbers: what is no alignment is refused.
            Some(next) => unsafe { (next.aligned_alloc)(align, size) },
            None => self.memalign(align, size),
        }
    }

    /// Whether the memory is from before the next allocator was found: then nobody else knows it.
    #[inline]
    #[must_use]
    pub fn is_early(&self, at: *mut c_void) -> bool {
        self.early.left(at).is_some()
    }

    /// `realloc`.
    ///
    /// # Safety
    /// The pointer is null, or of this or of the next allocator, and not freed.
    #[inline]
    pub unsafe fn realloc(&self, old: *mut c_void, size: usize) -> *mut c_void {
        if let Some(left) = self.early.left(old) {
            let new = self.malloc(size);
            if !new.is_null() {
                // SAFETY: `left` bytes from `old` are the early memory's; the new object has
                // `size`. They are apart: what is early is never given twice.
                unsafe { new.cast::<u8>().copy_from(old.cast(), size.min(left)) };
            }
            return new;
        }
        match self.functions() {
            // SAFETY: the caller's promise.
            Some(next) => unsafe { (next.realloc)(old, size) },
            None => self.early.take(size, 16),
        }
    }

    /// `free`.
    ///
    /// # Safety
    /// As [`Next::realloc`].
    #[inline]
    pub unsafe fn free(&self, old: *mut c_void) {
        if self.is_early(old) {
            return;
        }
        if let Some(next) = self.functions() {
            // SAFETY: the caller's promise.
            unsafe { (next.free)(old) };
        }
    }

    /// `malloc_usable_size`.
    ///
    /// # Safety
    /// As [`Next::realloc`].
    #[inline]
    #[must_use]
    pub unsafe fn usable_size(&self, of: *mut c_void) -> usize {
        if self.is_early(of) {
            return 0;
        }
        // SAFETY: the caller's promise.
        self.functions()
            .map_or(0, |next| unsafe { (next.usable_size)(of) })
    }
}

impl Default for Next {
    fn default() -> Self {
        Self::new()
    }
}

/// The next definition of a function, or null.
fn find(name: &CStr) -> *mut c_void {
    // SAFETY: a name that ends with zero.
    unsafe { system::dlsym(system::RTLD_NEXT, name.as_ptr()) }
}

fn symbol(name: &CStr) -> *mut c_void {
    let found = find(name);
    assert!(!found.is_null(), "the C library has malloc and its family");
    found
}

/// Memory that is given once.
#[derive(Debug)]
struct Early {
    used: AtomicUsize,
    bytes: UnsafeCell<Aligned>,
}

#[derive(Debug)]
#[repr(align(4096))]
struct Aligned {
    #[expect(dead_code, reason = "its bytes are reached by address")]
    bytes: [u8; EARLY_BYTES],
}

impl Early {
    const fn new() -> Self {
        Self {
            used: AtomicUsize::new(0),
            bytes: UnsafeCell::new(Aligned {
                bytes: [0; EARLY_BYTES],
            }),
        }
    }

    fn base(&self) -> *mut u8 {
        self.bytes.get().cast()
    }

    /// Bytes that were never given, or null.
    fn take(&self, size: usize, align: usize) -> *mut c_void {
        let mut used = self.used.load(Ordering::Relaxed);
        loop {
            let place = used.checked_next_multiple_of(align);
            let end = place.and_then(|place| place.checked_add(size.max(1)));
            let (Some(place), Some(end)) = (place, end) else {
                return null_mut();
            };
            if end > EARLY_BYTES || align > 4096 {
                return null_mut();
            }
            match self
                .used
                .compare_exchange_weak(used, end, Ordering::Relaxed, Ordering::Relaxed)
            {
                // SAFETY: `place` is inside the bytes.
                Ok(_) => return unsafe { self.base().add(place) }.cast(),
                Err(other) => used = other,
            }
        }
    }

    /// The bytes from an address to the end of what was given; `None` for other addresses.
    #[inline]
    fn left(&self, at: *mut c_void) -> Option<usize> {
        let offset = at.addr().wrapping_sub(self.base().addr());
        (offset < EARLY_BYTES).then(|| self.used.load(Ordering::Relaxed).saturating_sub(offset))
    }
}

#[cfg(test)]
mod tests {
    use super::{EARLY_BYTES, Early, Next};

    #[test]
    fn early_memory_is_given_once_aligned_and_recognised() {
        let early = Early::new();
        let first = early.take(3, 16);
        let second = early.take(100, 64);
        assert_eq!(first.addr() % 16, 0);
        assert_eq!(second.addr() % 64, 0);
        assert!(second.addr() >= first.addr() + 3);
        assert_eq!(early.left(second), Some(100));
        assert_eq!(early.left(core::ptr::null_mut()), None);
        assert!(early.take(EARLY_BYTES, 1).is_null());
        assert!(early.take(1, 8192).is_null());
        assert!(!early.take(EARLY_BYTES - 200, 1).is_null());
    }

    #[test]
    fn the_next_allocator_serves() {
        static NEXT: Next = Next::new();
        let object = NEXT.malloc(10);
        assert!(!object.is_null() && !NEXT.is_early(object));
        // SAFETY: an object of this allocator.
        let object = unsafe { NEXT.realloc(object, 100) };
        // SAFETY: as above.
        assert!(unsafe { NEXT.usable_size(object) } >= 100);
        // SAFETY: as above; the last use.
        unsafe { NEXT.free(object) };
        assert!(NEXT.memalign(256, 5).addr() % 256 == 0);
    }
}
