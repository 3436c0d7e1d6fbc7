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
use core::mem::{MaybeUninit, size_of};
use core::ptr::{NonNull, null_mut};

use surefit_core::{RawHeap, Refused};
#[cfg(any(feature = "direct", feature = "tiny"))]
use surefit_direct::DirectHeap;
#[cfg(all(feature = "pooled", any(feature = "direct", feature = "tiny")))]
use surefit_direct::PooledHeap;
#[cfg(feature = "tiny")]
use surefit_direct::Tiny;
#[cfg(feature = "tlsf")]
use surefit_freelist::Tlsf;
#[cfg(feature = "segregated")]
use surefit_freelist::{Immediate, NextHitTable, SegregatedFit, Tree};

use crate::lock::{Shared, surefit_lock};
use crate::place::{Magic, place};
use crate::status::{Answer, put, status, surefit_status};

/// "suref", "r" and the version of the structure.
const MAGIC: u64 = 0x7375_7265_6672_6101;

/// A kind of heap: pages of size-classes, and runs of 1 KiB units for objects over 2 KiB. The
/// fastest, for regions of 64 KiB and more.
pub const SUREFIT_RAW_DIRECT: u32 = 0;
/// A kind of heap: Two-Level Segregated Fit.
pub const SUREFIT_RAW_TLSF: u32 = 1;
/// A kind of heap: segregated lists of exact sizes, found through a Next Hit Table.
pub const SUREFIT_RAW_SEGREGATED: u32 = 2;
/// A kind of heap: as DIRECT, with pages of 512 bytes and units of 64, for regions of 2 KiB and
/// more; page-blocks serve up to 128 bytes.
pub const SUREFIT_RAW_TINY: u32 = 3;

/// The thesis's lists.
#[cfg(feature = "segregated")]
type Segregated = SegregatedFit<'static, NextHitTable, Immediate, Tree>;

/// A heap of raw pointers in a region.
#[derive(Debug)]
pub struct surefit_raw {
    magic: Magic,
    heap: Any,
    shared: Option<Shared>,
}

/// A heap of any kind that was compiled in.
#[allow(
    clippy::large_enum_variant,
    reason = "it lies in the caller's region: there is nothing to box it with"
)]
#[derive(Debug)]
pub(crate) enum Any {
    #[cfg(feature = "direct")]
    Direct(DirectHeap<'static>),
    #[cfg(all(feature = "direct", feature = "pooled"))]
    Pooled(PooledHeap<'static>),
    #[cfg(feature = "tiny")]
    Tiny(DirectHeap<'static, Tiny>),
    #[cfg(all(feature = "tiny", feature = "pooled"))]
    PooledTiny(PooledHeap<'static, Tiny>),
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
            #[cfg(all(feature = "direct", feature = "pooled"))]
            Any::Pooled($heap) => $then,
            #[cfg(feature = "tiny")]
            Any::Tiny($heap) => $then,
            #[cfg(all(feature = "tiny", feature = "pooled"))]
            Any::PooledTiny($heap) => $then,
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
            #[cfg(feature = "tiny")]
            SUREFIT_RAW_TINY => DirectHeap::with(region).map(Self::Tiny),
            #[cfg(feature = "tlsf")]
            SUREFIT_RAW_TLSF => Tlsf::new(region).map(Self::Tlsf),
            #[cfg(feature = "segregated")]
            SUREFIT_RAW_SEGREGATED => Segregated::new(region).map(Self::Segregated),
            _ => return Err(surefit_status::Config),
        };
        made.map_err(surefit_status::of)
    }
}

/// A heap in use: if it is shared, its lock is held until this is dropped.
struct InUse<'a> {
    any: &'a mut Any,
    shared: Option<&'a Shared>,
}

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        if let Some(shared) = self.shared {
            shared.give_back();
        }
    }
}

/// # Safety
/// The pointer is NULL, or leads to the bytes of a heap (W1) or of no heap.
unsafe fn vet(raw: *const surefit_raw) -> Answer {
    if raw.is_null() {
        return Err(surefit_status::Null);
    }
    // SAFETY: not NULL; aligned where it is read; readable by the caller's promise.
    if !raw.is_aligned() || !unsafe { (*raw).magic.is(MAGIC) } {
        return Err(surefit_status::NotAHeap);
    }
    Ok(())
}

/// Takes the lock of a heap that is shared.
///
/// # Safety
/// As [`vet`].
unsafe fn raw<'a>(raw: *mut surefit_raw) -> Result<InUse<'a>, surefit_status> {
    // SAFETY: the caller's promise.
    unsafe { vet(raw) }?;
    // SAFETY: W1. The lock is a field of its own: other threads use it while one uses the heap.
    let shared = unsafe { (*raw).shared.as_ref() };
    if let Some(shared) = shared {
        // SAFETY: as above, also for the bytes of a heap that ended while the thread waited.
        shared.acquire(|| unsafe { vet(raw) }.is_ok())?;
    }
    // SAFETY: W1; one thread at a time uses the heap: the caller's promise, or the lock.
    let any = unsafe { &mut (*raw).heap };
    Ok(InUse { any, shared })
}

/// The layout of a request: aligned for every scalar type that fits in it.
pub(crate) fn layout(bytes: usize) -> Option<Layout> {
    let widest = if size_of::<usize>() == 8 { 16 } else { 8 };
    let align = if bytes < widest { 8 } else { widest };
    Layout::from_size_align(bytes, align).ok()
}

fn pointer(object: Result<NonNull<u8>, Refused>) -> *mut c_void {
    object.map_or(null_mut(), |object| object.as_ptr().cast())
}

/// Makes a heap of raw pointers of a kind (SUREFIT_RAW_…) in a region, whatever its contents,
/// wherever it begins. Once it is not used any more, the region may be used otherwise. See
/// surefit_raw_destroy. Objects of up to 100 bytes are served from a region of 20 KiB on for
/// DIRECT, 2 KiB for SEGREGATED and TINY, 1 KiB for TLSF; a smaller one may be accepted and serve
/// none.
///
/// Answers NULL, CONFIG for a kind that was not compiled in, REGION if the region is too small,
/// TOO_LARGE if it is larger than the kind can use. O(tables). On a 32-bit processor no call for a
/// raw heap takes more than 0.5 KiB of stack, except surefit_raw_init_certified and
/// surefit_raw_certify: they take 3 KiB.
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
    if raw.is_null() {
        return Err(surefit_status::Null);
    }
    // SAFETY: the caller's promise.
    let (memory, place) = unsafe { place::<surefit_raw>(region, bytes) }?;
    let made = surefit_raw::new(Any::new(kind, memory)?);
    // SAFETY: the place is the structure's.
    unsafe { place.write(made) };
    // SAFETY: not NULL.
    unsafe { put(raw, place) }
}

impl surefit_raw {
    pub(crate) fn new(heap: Any) -> Self {
        Self {
            magic: Magic::new(MAGIC),
            heap,
            shared: None,
        }
    }
}

/// Lets threads or interrupts share a heap by a lock of the caller: from now on every call for the
/// heap takes it and gives it back, and lasts as long as the heap's call does: with the lock held,
/// or the interrupts off. Call it before other threads use the heap. A call is answered LOCKED if
/// its thread holds the lock (it interrupts another call, and `acquire` did not keep it out), and
/// UNLOCKED if `caller` answers 0; calls that give an object give NULL, and
/// surefit_raw_usable_size 0.
///
/// Answers NULL (also for a function that is NULL), NOT_A_HEAP, LOCKED if the heap has a lock.
/// O(1).
///
/// # Safety
/// As surefit_raw_malloc; the functions can be called with their context as long as the heap is
/// used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_raw_share(
    raw: *mut surefit_raw,
    lock: *const surefit_lock,
) -> surefit_status {
    let share = || {
        if lock.is_null() {
            return Err(surefit_status::Null);
        }
        // SAFETY: the caller's promise.
        unsafe { vet(raw) }?;
        // SAFETY: W1; no other thread uses the heap yet.
        let shared = unsafe { &mut (*raw).shared };
        if shared.is_some() {
            return Err(surefit_status::Locked);
        }
        // SAFETY: not NULL.
        *shared = Some(Shared::new(unsafe { lock.read_unaligned() })?);
        Ok(())
    };
    status(share())
}

/// Ends a heap and all its objects at once. From now on every call for it answers NOT_A_HEAP, or
/// gives NULL, also the calls of threads that wait for its lock; until they returned, the region
/// and the lock must stay as they are.
///
/// Answers NULL, NOT_A_HEAP (also the second time), UNLOCKED, LOCKED (see surefit_raw_share). O(1).
///
/// # Safety
/// As surefit_raw_malloc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_raw_destroy(raw: *mut surefit_raw) -> surefit_status {
    let destroy = || {
        // SAFETY: the caller's promise.
        unsafe { vet(raw) }?;
        // SAFETY: W1. The lock is a field of its own: other threads use it while one uses the heap.
        let shared = unsafe { (*raw).shared.as_ref() };
        if let Some(shared) = shared {
            // SAFETY: as in `raw`.
            shared.acquire(|| unsafe { vet(raw) }.is_ok())?;
        }
        // The lock is copied: once it is given back, the region may be used otherwise.
        let lock = shared.map(Shared::lock);
        // SAFETY: W1. The heap owns nothing but its region; what has no magic is no heap.
        unsafe { (*raw).magic.end() };
        if let Some(lock) = lock {
            lock.give();
        }
        Ok(())
    };
    status(destroy())
}

/// As malloc: an object of some bytes, which are not initialised, aligned for every scalar type
/// that fits in it, as C23 says; NULL if there is no room, or `raw` is no heap. A size of 0 is
/// served like 1.
///
/// O(1) for DIRECT, TINY and TLSF, also the refusal. SEGREGATED: O(log region) if a chunk of a
/// longer list is found at once; O(chunks) for a refusal and for an object for which no such chunk
/// is aligned, on 64-bit processors from 16 bytes on.
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
        |used| with_raw!(&mut *used.any, heap => pointer(heap.allocate(layout))),
    )
}

/// As calloc: `count` times `bytes` zeros; NULL also if the product overflows. As
/// surefit_raw_malloc, and O(bytes); a shared heap is not locked meanwhile.
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
/// gives (64 KiB for DIRECT and TINY, 1 GiB for the others). As surefit_raw_malloc; SEGREGATED:
/// O(chunks).
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
        |used| with_raw!(&mut *used.any, heap => pointer(heap.allocate(layout))),
    )
}

/// As realloc: in place where possible; NULL, and the object as it was, if there is no room, or the
/// heap finds that the object is not live. NULL for an object is a malloc; a size of 0 is served
/// like 1. As surefit_raw_malloc, and O(bytes copied).
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
    let (Ok(used), Some(new)) = (unsafe { self::raw(raw) }, layout(bytes)) else {
        return null_mut();
    };
    with_raw!(&mut *used.any, heap => {
        // SAFETY: the caller's promise.
        let old = unsafe { heap.usable_bytes(object) };
        // SAFETY: the object is live and has `old` bytes, or none.
        pointer(unsafe { resize(heap, object, old, new) })
    })
}

/// Resizes an object of `old` bytes; one of no byte is not live. It moves if it is not aligned as
/// its new length demands.
///
/// # Safety
/// The object is live and has the old bytes, if those are not 0.
unsafe fn resize(
    heap: &mut impl RawHeap,
    object: NonNull<u8>,
    old: usize,
    new: Layout,
) -> Result<NonNull<u8>, Refused> {
    let old = Layout::from_size_align(old, new.align()).map_err(|_| Refused::StaleHandle)?;
    if old.size() == 0 {
        return Err(Refused::StaleHandle);
    }
    if object.addr().get() % new.align() == 0 {
        // SAFETY: the caller's promise. These heaps need no other layout than one that is not
        // longer than the object.
        return unsafe { heap.resize(object, old, new.size()) };
    }
    let moved = heap.allocate(new)?;
    let bytes = old.size().min(new.size());
    // SAFETY: both are live and have so many bytes.
    unsafe { object.copy_to_nonoverlapping(moved, bytes) };
    // SAFETY: the caller's promise. `try_free`, because then a later free of the old address is
    // found.
    let freed = unsafe { heap.try_free(object, old) };
    debug_assert!(freed.is_ok(), "the object was live");
    Ok(moved)
}

/// As free; NULL is none. A double or a foreign free is answered where the heap finds it, and is
/// undefined behaviour where it does not. All kinds find addresses outside the heap. DIRECT and
/// TINY find large objects and the last of a page; TLSF and SEGREGATED find every object, until its
/// bytes are part of another object.
///
/// Answers NULL or NOT_A_HEAP for the heap, UNLOCKED, LOCKED, STALE, FOREIGN. O(1).
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
    status(any.and_then(|used| {
        let Some(object) = NonNull::new(object.cast::<u8>()) else {
            return Ok(());
        };
        // SAFETY: the caller's promise; these heaps do not look at the layout.
        let freed = with_raw!(&mut *used.any, heap => unsafe { heap.try_free(object, Layout::new::<u8>()) });
        freed.map_err(surefit_status::of)
    }))
}

/// The bytes of a live object, all of which may be used: at least its request. 0 for NULL, and
/// where the heap finds that the object is not live; never more than lies between it and the
/// region's end. O(1).
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
    both.map_or(0, |(used, object)| {
        // SAFETY: the caller's promise.
        with_raw!(&mut *used.any, heap => unsafe { heap.usable_bytes(object) })
    })
}

/// Verifies every invariant of the heap.
///
/// Answers NULL, NOT_A_HEAP, UNLOCKED, LOCKED, CORRUPT. O(region).
///
/// # Safety
/// As surefit_raw_malloc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_raw_check(raw: *mut surefit_raw) -> surefit_status {
    // SAFETY: the caller's promise.
    let any = unsafe { self::raw(raw) };
    status(any.and_then(|used| {
        with_raw!(&mut *used.any, heap => heap.check()).map_err(|_| surefit_status::Corrupt)
    }))
}

/// The account of a raw heap's bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct surefit_raw_stats {
    /// Bytes of the region, less the control structure.
    pub region_bytes: usize,
    /// Bytes of objects, each rounded up as the heap does it.
    pub used_bytes: usize,
    /// Bytes that tables and headers take, and bytes around the region's units.
    pub administrative_bytes: usize,
}

/// Writes the account of a heap's bytes; what is neither used nor administrative is free.
///
/// Answers NULL, NOT_A_HEAP, UNLOCKED, LOCKED. O(region).
///
/// # Safety
/// As surefit_raw_malloc; the other pointer is NULL or the caller's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_raw_stats_get(
    raw: *mut surefit_raw,
    stats: *mut surefit_raw_stats,
) -> surefit_status {
    // SAFETY: the caller's promise.
    let any = unsafe { self::raw(raw) };
    status(any.and_then(|used| {
        let usage = with_raw!(&mut *used.any, heap => heap.usage());
        let filled = surefit_raw_stats {
            region_bytes: usage.total(),
            used_bytes: usage.block_bytes + usage.large_tail_bytes,
            administrative_bytes: usage.administrative_bytes,
        };
        // SAFETY: the caller's promise.
        unsafe { put(stats, filled) }
    }))
}
