//! Heaps that hand out raw pointers: malloc and its family over the caller's region.
//!
//! ```text
//! the region   | tables and objects   …   | surefit_raw |
//! ```
//!
//! # Invariants
//! - W1 A `surefit_raw` that begins with [`MAGIC`] was written by `surefit_raw_init`; its region is
//!   the heap's alone until the caller uses the region otherwise.

use core::alloc::Layout;
use core::ffi::c_void;
use core::mem::{MaybeUninit, align_of, size_of};
use core::ptr::{NonNull, null_mut};

#[cfg(feature = "direct")]
use surefit_compact::DirectHeap;
use surefit_core::{RawHeap, Refused};
#[cfg(feature = "tlsf")]
use surefit_freelist::Tlsf;
#[cfg(feature = "segregated")]
use surefit_freelist::{Immediate, NextHitTable, SegregatedFit, Tree};

use crate::status::{Answer, put, status, surefit_status};

/// "suref", "r" and the version of the structure.
const MAGIC: u64 = 0x7375_7265_6672_6101;

/// A kind of heap: pages of size-classes, and runs of 1 KiB units for objects over 2 KiB. The fastest,
/// for regions of 64 KiB and more.
pub const SUREFIT_RAW_DIRECT: u32 = 0;
/// A kind of heap: Two-Level Segregated Fit.
pub const SUREFIT_RAW_TLSF: u32 = 1;
/// A kind of heap: segregated lists of exact sizes, found through a Next Hit Table.
pub const SUREFIT_RAW_SEGREGATED: u32 = 2;

/// The thesis's lists.
#[cfg(feature = "segregated")]
type Segregated = SegregatedFit<'static, NextHitTable, Immediate, Tree>;

/// A heap of raw pointers in a region.
#[derive(Debug)]
pub struct surefit_raw {
    magic: u64,
    heap: Any,
}

/// A heap of any kind that was compiled in.
#[allow(
    clippy::large_enum_variant,
    reason = "it lies in the caller's region: there is nothing to box it with"
)]
#[derive(Debug)]
enum Any {
    #[cfg(feature = "direct")]
    Direct(DirectHeap<'static>),
    #[cfg(feature = "tlsf")]
    Tlsf(Tlsf<'static>),
    #[cfg(feature = "segregated")]
    Segregated(Segregated),
}

macro_rules! with_raw {
    ($any:expr, $heap:ident => $then:expr) => {
        match $any {
            #[cfg(feature = "direct")]
            Any::Direct($heap) => $then,
            #[cfg(feature = "tlsf")]
            Any::Tlsf($heap) => $then,
            #[cfg(feature = "segregated")]
            Any::Segregated($heap) => $then,
        }
    };
}

impl Any {
    fn new(kind: u32, region: &'static mut [MaybeUninit<u8>]) -> Result<Self, surefit_status> {
        let made: Result<Self, Refused> = match kind {
            #[cfg(feature = "direct")]
            SUREFIT_RAW_DIRECT => DirectHeap::new(region).map(Self::Direct),
            #[cfg(feature = "tlsf")]
            SUREFIT_RAW_TLSF => Tlsf::new(region).map(Self::Tlsf),
            #[cfg(feature = "segregated")]
            SUREFIT_RAW_SEGREGATED => Segregated::new(region).map(Self::Segregated),
            _ => return Err(surefit_status::Config),
        };
        made.map_err(surefit_status::of)
    }
}

/// # Safety
/// The pointer is NULL, or leads to the bytes of a heap (W1) or of no heap.
unsafe fn raw<'a>(raw: *mut surefit_raw) -> Result<&'a mut Any, surefit_status> {
    if raw.is_null() {
        return Err(surefit_status::Null);
    }
    // SAFETY: not NULL; aligned where it is read; readable by the caller's promise.
    if !raw.is_aligned() || unsafe { (&raw const (*raw).magic).read() } != MAGIC {
        return Err(surefit_status::NotAHeap);
    }
    // SAFETY: W1; one thread at a time uses the heap.
    Ok(unsafe { &mut (*raw).heap })
}

/// The layout of a request: aligned for every scalar type that fits in it.
fn layout(bytes: usize) -> Option<Layout> {
    let widest = if size_of::<usize>() == 8 { 16 } else { 8 };
    let align = if bytes < widest { 8 } else { widest };
    Layout::from_size_align(bytes, align).ok()
}

fn pointer(object: Result<NonNull<u8>, Refused>) -> *mut c_void {
    object.map_or(null_mut(), |object| object.as_ptr().cast())
}

/// Makes a heap of raw pointers of a kind (SUREFIT_RAW_…) in a region, whatever its contents, wherever it begins. There is
/// nothing to destroy.
///
/// Answers NULL, CONFIG for a kind that was not compiled in, REGION if the region is too small,
/// TOO_LARGE if it is larger than the kind can use. O(tables).
///
/// # Safety
/// The region has so many bytes, which nothing else uses as long as the heap is used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_raw_init(
    region: *mut c_void,
    bytes: usize,
    kind: u32,
    raw: *mut *mut surefit_raw,
) -> surefit_status {
    // SAFETY: the caller's promise.
    status(unsafe { init(region.cast(), bytes, kind, raw) })
}

unsafe fn init(region: *mut u8, bytes: usize, kind: u32, raw: *mut *mut surefit_raw) -> Answer {
    if region.is_null() || raw.is_null() {
        return Err(surefit_status::Null);
    }
    if isize::try_from(bytes).is_err() || region.addr().checked_add(bytes).is_none() {
        return Err(surefit_status::TooLarge);
    }
    let control = (region.addr() + bytes)
        .checked_sub(size_of::<surefit_raw>())
        .map(|at| at & !(align_of::<surefit_raw>() - 1))
        .filter(|at| *at > region.addr())
        .ok_or(surefit_status::Region)?;
    let before = control - region.addr();
    // SAFETY: the bytes are the caller's, and the heap's from here on.
    let memory = unsafe { core::slice::from_raw_parts_mut(region.cast(), before) };
    let made = surefit_raw {
        magic: MAGIC,
        heap: Any::new(kind, memory)?,
    };
    // SAFETY: behind that memory, inside the region, aligned.
    let place = unsafe { region.add(before) }.cast::<surefit_raw>();
    // SAFETY: as above.
    unsafe { place.write(made) };
    // SAFETY: not NULL.
    unsafe { put(raw, place) }
}

/// As malloc: an object of some bytes, which are not initialised, aligned for every scalar type; NULL
/// if there is no room, or `raw` is no heap. A size of 0 is served like 1. O(1) for DIRECT and TLSF.
///
/// # Safety
/// The heap is NULL or came from surefit_raw_init.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_raw_malloc(raw: *mut surefit_raw, bytes: usize) -> *mut c_void {
    let Some(layout) = layout(bytes) else {
        return null_mut();
    };
    // SAFETY: the caller's promise.
    let any = unsafe { self::raw(raw) };
    any.map_or(
        null_mut(),
        |any| with_raw!(any, heap => pointer(heap.allocate(layout))),
    )
}

/// As calloc: `count` times `bytes` zeros; NULL also if the product overflows. O(bytes).
///
/// # Safety
/// As surefit_raw_malloc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_raw_calloc(
    raw: *mut surefit_raw,
    count: usize,
    bytes: usize,
) -> *mut c_void {
    let Some(all) = count.checked_mul(bytes) else {
        return null_mut();
    };
    // SAFETY: the caller's promise.
    let object = unsafe { surefit_raw_malloc(raw, all) };
    if !object.is_null() {
        // SAFETY: so many bytes were just allocated.
        unsafe { object.cast::<u8>().write_bytes(0, all) };
    }
    object
}

/// As aligned_alloc, for any power of two; NULL also if `align` is none, or stricter than the heap
/// gives (64 KiB for DIRECT).
///
/// # Safety
/// As surefit_raw_malloc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_raw_aligned_alloc(
    raw: *mut surefit_raw,
    align: usize,
    bytes: usize,
) -> *mut c_void {
    let Ok(layout) = Layout::from_size_align(bytes, align) else {
        return null_mut();
    };
    // SAFETY: the caller's promise.
    let any = unsafe { self::raw(raw) };
    any.map_or(
        null_mut(),
        |any| with_raw!(any, heap => pointer(heap.allocate(layout))),
    )
}

/// As realloc: in place where possible; NULL, and the object as it was, if there is no room, or the
/// heap finds that the object is not live. NULL for an object is a malloc; a size of 0 is served
/// like 1. O(bytes copied).
///
/// # Safety
/// As surefit_raw_malloc; the object is NULL, or live in this heap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_raw_realloc(
    raw: *mut surefit_raw,
    object: *mut c_void,
    bytes: usize,
) -> *mut c_void {
    let Some(object) = NonNull::new(object.cast::<u8>()) else {
        // SAFETY: the caller's promise.
        return unsafe { surefit_raw_malloc(raw, bytes) };
    };
    // SAFETY: the caller's promise.
    let (Ok(any), Some(new)) = (unsafe { self::raw(raw) }, layout(bytes)) else {
        return null_mut();
    };
    with_raw!(any, heap => {
        // SAFETY: the caller's promise.
        let old = unsafe { heap.usable_bytes(object) };
        match Layout::from_size_align(old, new.align()) {
            // SAFETY: the object is live and has `old` bytes. These heaps need no other layout than
            // one that is not longer than the object.
            Ok(old) if old.size() > 0 => pointer(unsafe { heap.resize(object, old, bytes) }),
            _ => null_mut(),
        }
    })
}

/// As free; NULL is none. A double or a foreign free is answered where the heap finds it, and is
/// undefined behaviour where it does not: DIRECT finds large objects and the last of a page, the
/// others find objects that were not merged with free neighbours.
///
/// Answers NULL or NOT_A_HEAP for the heap, STALE, FOREIGN. O(1).
///
/// # Safety
/// As surefit_raw_realloc, except for what the heap finds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_raw_free(
    raw: *mut surefit_raw,
    object: *mut c_void,
) -> surefit_status {
    // SAFETY: the caller's promise.
    let any = unsafe { self::raw(raw) };
    status(any.and_then(|any| {
        let Some(object) = NonNull::new(object.cast::<u8>()) else {
            return Ok(());
        };
        // SAFETY: the caller's promise; these heaps do not look at the layout.
        let freed = with_raw!(any, heap => unsafe { heap.try_free(object, Layout::new::<u8>()) });
        freed.map_err(surefit_status::of)
    }))
}

/// The bytes of a live object, all of which may be used: at least its request. 0 for NULL, and where
/// the heap finds that the object is not live. O(1).
///
/// # Safety
/// As surefit_raw_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_raw_usable_size(
    raw: *mut surefit_raw,
    object: *mut c_void,
) -> usize {
    // SAFETY: the caller's promise.
    let any = unsafe { self::raw(raw) };
    let both = any.ok().zip(NonNull::new(object.cast::<u8>()));
    both.map_or(0, |(any, object)| {
        // SAFETY: the caller's promise.
        with_raw!(any, heap => unsafe { heap.usable_bytes(object) })
    })
}

/// Verifies every invariant of the heap.
///
/// Answers NULL, NOT_A_HEAP, CORRUPT. O(region).
///
/// # Safety
/// As surefit_raw_malloc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_raw_check(raw: *mut surefit_raw) -> surefit_status {
    // SAFETY: the caller's promise.
    let any = unsafe { self::raw(raw) };
    status(
        any.and_then(|any| {
            with_raw!(any, heap => heap.check()).map_err(|_| surefit_status::Corrupt)
        }),
    )
}
