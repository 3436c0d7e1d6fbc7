//! A heap in the caller's region, and its objects.
//!
//! ```text
//! the region   | pages …   … address table | tables | surefit_heap |
//! ```
//! The control structure is at the end, so that pages begin where the region does.
//!
//! # Invariants
//! - C1 A `surefit_heap` that begins with [`MAGIC`] was written by `surefit_heap_init`; its region
//!   and its configuration are the heap's alone until the caller uses the region otherwise.
//! - C2 A heap with a lock is used by the thread that holds it, and by no other.

use core::alloc::Layout;
use core::ffi::c_void;
use core::mem::{MaybeUninit, align_of};
use core::num::NonZeroU64;
use core::ptr::NonNull;

use surefit_compact::{ByteKey, Config};

use crate::config::surefit_config;
use crate::lock::{Shared, surefit_lock};
use crate::place::{Magic, control_bytes, place};
use crate::status::{Answer, put, status, surefit_status};
use crate::words::{AnyHeap, with_heap};

/// "sure", "fit" and the version of the structure.
const MAGIC: u64 = 0x7375_7265_6669_7401;

/// The bytes of a region that a heap's control structure takes at most, on any machine.
pub const SUREFIT_CONTROL_BYTES: usize = 512;
const _: () = assert!(control_bytes::<surefit_heap>() <= SUREFIT_CONTROL_BYTES);

/// A heap in a region.
#[derive(Debug)]
pub struct surefit_heap {
    magic: Magic,
    heap: AnyHeap,
    shared: Option<Shared>,
}

/// The name of an object. It may be copied; it is stale once its object is freed or resized. All
/// zeros are never a key.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct surefit_key {
    /// The object and its heap.
    pub name: u64,
    /// How often the name was given before, exclusive or the length: a key of which one of both was
    /// changed is stale.
    pub generation: u32,
    /// The length of the object, in bytes.
    pub length: u32,
}

type Key = ByteKey<MaybeUninit<u8>>;

impl surefit_key {
    /// # Safety
    /// The key came from a call of this library.
    unsafe fn get(self) -> Result<Key, surefit_status> {
        let name = NonZeroU64::new(self.name).ok_or(surefit_status::Stale)?;
        // SAFETY: the caller's promise: `new` wrote this, and the length is taken out of the
        // generation again.
        Ok(unsafe { Key::from_parts(name, self.generation ^ self.length, self.length as usize) })
    }

    fn new(key: Key) -> Self {
        let (name, generation, length) = key.to_parts();
        // `layout` lets no longer object be.
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        Self {
            name: name.get(),
            generation: generation ^ length,
            length,
        }
    }
}

/// The longest object: its length is a number of 32 bits, and of a pointer's difference.
pub(crate) const LONGEST: usize = if usize::BITS > u32::BITS {
    u32::MAX as usize
} else {
    isize::MAX as usize
};

/// Of the longest object whole pieces remain if its length is cut to a multiple of this: pieces are
/// powers of two up to the largest page.
const LARGEST_PIECE: usize = 64 << 10;

/// A request of C: an alignment of zero means that of any scalar type.
pub(crate) fn layout(bytes: usize, align: usize) -> Result<Layout, surefit_status> {
    if bytes > LONGEST {
        return Err(surefit_status::TooLarge);
    }
    let align = if align == 0 { align_of::<u64>() } else { align };
    // The alignment is no power of two, or so strict that no memory has room for it.
    Layout::from_size_align(bytes, align).map_err(|_| surefit_status::Align)
}

/// A heap that a caller names.
///
/// # Safety
/// The pointer is NULL, or leads to the bytes of a heap (C1) or of no heap.
pub(crate) unsafe fn heap<'a>(heap: *const surefit_heap) -> Result<&'a AnyHeap, surefit_status> {
    // SAFETY: the caller's promise.
    unsafe { vet_held(heap) }?;
    // SAFETY: C1; nobody changes the heap meanwhile, because one thread at a time uses it: the
    // caller's promise, or C2.
    Ok(unsafe { &(*heap).heap })
}

pub(crate) unsafe fn heap_mut<'a>(
    heap: *mut surefit_heap,
) -> Result<&'a mut AnyHeap, surefit_status> {
    // SAFETY: the caller's promise.
    unsafe { vet_held(heap) }?;
    // SAFETY: as in `heap`.
    Ok(unsafe { &mut (*heap).heap })
}

/// The lock of a heap, if it has one. It is a field of its own: other threads use it while one uses
/// the heap.
///
/// # Safety
/// As [`heap`].
unsafe fn shared<'a>(heap: *const surefit_heap) -> Result<Option<&'a Shared>, surefit_status> {
    // SAFETY: the caller's promise.
    unsafe { vet(heap) }?;
    // SAFETY: C1; only `surefit_share` writes it, before other threads use the heap.
    Ok(unsafe { (*heap).shared.as_ref() })
}

unsafe fn vet_held(heap: *const surefit_heap) -> Answer {
    // SAFETY: the caller's promise.
    match unsafe { shared(heap) }? {
        Some(shared) if !shared.is_held() => Err(surefit_status::Unlocked),
        _ => Ok(()),
    }
}

unsafe fn vet(heap: *const surefit_heap) -> Answer {
    if heap.is_null() {
        return Err(surefit_status::Null);
    }
    if !heap.is_aligned() {
        return Err(surefit_status::NotAHeap);
    }
    // SAFETY: not NULL, aligned; the bytes are readable (the caller's promise), and a word of any
    // bytes is a number.
    if !unsafe { (*heap).magic.is(MAGIC) } {
        return Err(surefit_status::NotAHeap);
    }
    Ok(())
}

/// Makes a heap in a region, whatever its contents, wherever it begins. The heap is in the region:
/// once it is not used any more, the region may be used otherwise. See surefit_destroy.
///
/// Answers NULL, CONFIG, REGION if it is too small (surefit_certify computes what a demand needs,
/// and the least for a demand of zeros), TOO_LARGE if it has more pages than the configuration's
/// words can name, HEAPS. O(classes), and 16 bytes written per page. Heaps are numbered, 4 billion
/// in a process. On a processor without compare-and-exchange, two calls at the same time (one
/// interrupts the other, or runs on another core) may use the numbers up: both answers and all
/// later ones are HEAPS.
///
/// # Safety
/// The region has so many bytes, which nothing else uses as long as the heap is used; the
/// configuration stays as long.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_heap_init(
    region: *mut c_void,
    bytes: usize,
    config: *const surefit_config,
    heap: *mut *mut surefit_heap,
) -> surefit_status {
    let make = AnyHeap::new;
    // SAFETY: the caller's promise.
    status(unsafe { init(region.cast(), bytes, config, heap, make) })
}

/// Makes a heap that `make` makes of its pages and a configuration.
///
/// # Safety
/// As surefit_heap_init.
pub(crate) unsafe fn init(
    region: *mut u8,
    bytes: usize,
    config: *const surefit_config,
    heap: *mut *mut surefit_heap,
    make: impl FnOnce(
        &'static mut [MaybeUninit<u8>],
        &'static Config,
    ) -> Result<AnyHeap, surefit_status>,
) -> Answer {
    if config.is_null() || heap.is_null() {
        return Err(surefit_status::Null);
    }
    if !config.is_aligned() {
        return Err(surefit_status::Config);
    }
    // SAFETY: not NULL, aligned; the caller keeps it.
    let config = unsafe { &(*config).0 };
    // SAFETY: the caller's promise.
    let (pages, place) = unsafe { place::<surefit_heap>(region, bytes) }?;
    let made = make(pages, config)?;
    // SAFETY: the place is the structure's. Each field is written where it stays: as a whole the
    // structure would be copied once more.
    unsafe {
        (&raw mut (*place).heap).write(made);
        (&raw mut (*place).shared).write(None);
        (&raw mut (*place).magic).write(Magic::new(MAGIC));
    }
    // SAFETY: not NULL.
    unsafe { put(heap, place) }
}

/// Ends a heap and all its objects at once. From now on every call for it answers NOT_A_HEAP, and
/// its keys are FOREIGN to every later heap, also one in the same region. The lock of a shared
/// heap, which the thread must hold, is given back. Threads that wait for it in surefit_acquire are
/// answered NOT_A_HEAP; until they are, the region and the lock must stay as they are.
///
/// Answers NULL, NOT_A_HEAP (also the second time), UNLOCKED. O(1).
///
/// # Safety
/// As surefit_alloc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_destroy(heap: *mut surefit_heap) -> surefit_status {
    let destroy = || {
        // SAFETY: the caller's promise.
        unsafe { vet_held(heap) }?;
        // SAFETY: as above. The lock is copied: once it is given back, the region may be used
        // otherwise.
        let lock = unsafe { shared(heap) }?.map(Shared::lock);
        // SAFETY: C1. The heap owns nothing but its region; what has no magic is no heap.
        unsafe { (*heap).magic.end() };
        if let Some(lock) = lock {
            lock.give();
        }
        Ok(())
    };
    status(destroy())
}

/// Lets threads or interrupts share a heap by a lock of the caller. From now on every call for the
/// heap answers UNLOCKED unless the thread holds the lock: see surefit_acquire. Call it before
/// other threads use the heap.
///
/// Answers NULL (also for a function that is NULL), NOT_A_HEAP, LOCKED if the heap has a lock.
/// O(1).
///
/// # Safety
/// As surefit_alloc; the functions can be called with their context as long as the heap is used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_share(
    heap: *mut surefit_heap,
    lock: *const surefit_lock,
) -> surefit_status {
    let share = || {
        if lock.is_null() {
            return Err(surefit_status::Null);
        }
        // SAFETY: the caller's promise.
        if unsafe { shared(heap) }?.is_some() {
            return Err(surefit_status::Locked);
        }
        // SAFETY: not NULL.
        let shared = Shared::new(unsafe { lock.read_unaligned() })?;
        // SAFETY: C1, by `shared`; no other thread uses the heap yet.
        unsafe { (&raw mut (*heap).shared).write(Some(shared)) };
        Ok(())
    };
    status(share())
}

/// Takes the lock of a shared heap. The addresses that surefit_get gives are good at most until
/// surefit_release: then other threads free, and objects move. An interrupt may use the heap if
/// `acquire` keeps it out.
///
/// Answers NULL, NOT_A_HEAP (also if another thread ended the heap meanwhile), UNLOCKED if the heap
/// has no lock or `caller` answers 0, LOCKED if the thread holds it; then the lock is not held.
/// O(1), and the time of `acquire`.
///
/// # Safety
/// As surefit_alloc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_acquire(heap: *mut surefit_heap) -> surefit_status {
    // SAFETY: the caller's promise, also for the bytes of a heap that ended while the thread
    // waited.
    let is_there = || unsafe { vet(heap) }.is_ok();
    // SAFETY: the caller's promise.
    let shared = unsafe { shared(heap) };
    status(shared.and_then(|shared| shared.ok_or(surefit_status::Unlocked)?.acquire(is_there)))
}

/// Gives the lock of a shared heap back.
///
/// Answers NULL, NOT_A_HEAP, UNLOCKED if the thread does not hold it. O(1), and the time of
/// `release`.
///
/// # Safety
/// As surefit_alloc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_release(heap: *mut surefit_heap) -> surefit_status {
    // SAFETY: the caller's promise.
    let shared = unsafe { shared(heap) };
    status(shared.and_then(|shared| shared.ok_or(surefit_status::Unlocked)?.release()))
}

/// Allocates an object of some bytes, which are not initialised. No object moves. An alignment of 0
/// means 8. A size of 0 is served: the object has a key and no byte.
///
/// An object of more bytes than the configuration's pieces is not contiguous; the alignment applies
/// to each piece. No object is longer than UINT32_MAX bytes or, where none is in pieces, than a
/// page.
///
/// Answers NULL, NOT_A_HEAP, UNLOCKED, ALIGN, TOO_LARGE, NO_MEMORY, NO_ENTRY. O(1), or O(pieces).
///
/// # Safety
/// The heap is NULL or came from surefit_heap_init; the key is NULL or the caller's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_alloc(
    heap: *mut surefit_heap,
    bytes: usize,
    align: usize,
    key: *mut surefit_key,
) -> surefit_status {
    let alloc = || {
        if key.is_null() {
            return Err(surefit_status::Null);
        }
        // SAFETY: the caller's promise.
        let any = unsafe { heap_mut(heap) }?;
        let layout = layout(bytes, align)?;
        let made = with_heap!(any, heap => heap.alloc(layout)).map_err(surefit_status::of)?;
        // SAFETY: not NULL.
        unsafe { put(key, surefit_key::new(made)) }
    };
    status(alloc())
}

/// As surefit_alloc; the bytes are zero. O(bytes).
///
/// # Safety
/// As surefit_alloc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_alloc_zeroed(
    heap: *mut surefit_heap,
    bytes: usize,
    align: usize,
    key: *mut surefit_key,
) -> surefit_status {
    // SAFETY: the caller's promise.
    let made = unsafe { surefit_alloc(heap, bytes, align, key) };
    if made != surefit_status::Ok {
        return made;
    }
    // SAFETY: not NULL, and written.
    status(unsafe { zero(heap, key.read_unaligned()) })
}

/// Zeroes an object.
///
/// # Safety
/// As surefit_get.
unsafe fn zero(heap: *mut surefit_heap, key: surefit_key) -> Answer {
    let (mut at, len) = (0, key.length as usize);
    while at < len {
        // SAFETY: the caller's promise.
        let chunk = unsafe { chunk(heap, &key, at, 0) }?;
        chunk.fill(MaybeUninit::new(0));
        at += chunk.len();
    }
    Ok(())
}

/// The bytes of an object from an offset on, as far as they lie together, if it has `count` there.
/// One function for all that take an offset.
///
/// # Safety
/// As surefit_get.
#[inline(never)]
unsafe fn chunk<'a>(
    heap: *mut surefit_heap,
    key: &surefit_key,
    offset: usize,
    count: usize,
) -> Result<&'a mut [MaybeUninit<u8>], surefit_status> {
    // SAFETY: the caller's promise.
    let (any, key) = unsafe { (heap_mut(heap)?, key.get()?) };
    in_range(key, offset, count)?;
    with_heap!(any, heap => heap.chunk_mut(key, offset)).map_err(surefit_status::of)
}

/// The bytes of an object from an offset on, as far as they lie together: to the end of the object,
/// or of its piece. The pointer is good until any object of the heap is freed, resized or
/// compacted; an allocation does not move objects. At the end of the object there are 0 bytes.
///
/// Answers NULL, NOT_A_HEAP, UNLOCKED, STALE, FOREIGN, RANGE. O(1); in pieces O(levels): the pieces
/// of an object are found through words that are in pieces themselves, if there are many. See
/// surefit_options.
///
/// # Safety
/// As surefit_alloc; the key came from a call of this library, or is all zeros.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_get(
    heap: *mut surefit_heap,
    key: surefit_key,
    offset: usize,
    first: *mut *mut c_void,
    count: *mut usize,
) -> surefit_status {
    let get = || {
        if first.is_null() || count.is_null() {
            return Err(surefit_status::Null);
        }
        // SAFETY: the caller's promise.
        let chunk = unsafe { chunk(heap, &key, offset, 0) }?;
        let (start, len) = (chunk.as_mut_ptr(), chunk.len());
        // SAFETY: neither is NULL.
        unsafe {
            put(first, start.cast())?;
            put(count, len)
        }
    };
    status(get())
}

/// The caller's bytes: NULL only if there are none.
fn bytes_at(
    first: *mut MaybeUninit<u8>,
    count: usize,
) -> Result<NonNull<MaybeUninit<u8>>, surefit_status> {
    match NonNull::new(first) {
        None if count == 0 => Ok(NonNull::dangling()),
        first => first.ok_or(surefit_status::Null),
    }
}

fn in_range(key: Key, offset: usize, count: usize) -> Answer {
    match offset.checked_add(count) {
        Some(end) if end <= key.len() => Ok(()),
        _ => Err(surefit_status::Range),
    }
}

/// Copies bytes of an object, from an offset on, to the caller's memory. No byte may be copied to
/// NULL.
///
/// Answers NULL, NOT_A_HEAP, UNLOCKED, STALE, FOREIGN, RANGE. O(bytes), and O(levels) per piece.
///
/// # Safety
/// As surefit_get; the target has so many bytes, outside the heap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_read(
    heap: *const surefit_heap,
    key: surefit_key,
    offset: usize,
    target: *mut c_void,
    count: usize,
) -> surefit_status {
    let read = || {
        let target = bytes_at(target.cast(), count)?;
        // SAFETY: the caller's promise.
        let (any, key) = unsafe { (self::heap(heap)?, key.get()?) };
        in_range(key, offset, count)?;
        // SAFETY: so many bytes of the caller.
        let target = unsafe { core::slice::from_raw_parts_mut(target.as_ptr(), count) };
        with_heap!(any, heap => heap.read_at(key, offset, target)).map_err(surefit_status::of)
    };
    status(read())
}

/// Copies bytes of the caller's memory to an object, from an offset on. No byte may be copied from
/// NULL.
///
/// Answers NULL, NOT_A_HEAP, UNLOCKED, STALE, FOREIGN, RANGE. O(bytes), and O(levels) per piece.
///
/// # Safety
/// As surefit_get; the source has so many bytes, outside the heap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_write(
    heap: *mut surefit_heap,
    key: surefit_key,
    offset: usize,
    source: *const c_void,
    count: usize,
) -> surefit_status {
    let write = || {
        let source = bytes_at(source.cast_mut().cast(), count)?;
        // SAFETY: so many bytes of the caller.
        let source = unsafe { core::slice::from_raw_parts(source.as_ptr(), count) };
        let mut written = 0;
        // Also of no bytes: the key may be stale.
        loop {
            let rest = source.get(written..).unwrap_or_default();
            // SAFETY: the caller's promise.
            let chunk = unsafe { chunk(heap, &key, offset.saturating_add(written), rest.len()) }?;
            let len = chunk.len().min(rest.len());
            // SAFETY: both have so many bytes, and the source is outside the heap.
            unsafe {
                rest.as_ptr()
                    .copy_to_nonoverlapping(chunk.as_mut_ptr(), len)
            };
            written += len;
            if written == count {
                return Ok(());
            }
        }
    };
    status(write())
}

/// Changes the length of an object, and its alignment: from now on it has the one of this call,
/// where 0 means 8, also if that is looser. Give an object that surefit_alloc aligned its alignment
/// again. The bytes up to the smaller length are kept; more bytes are not initialised. The key is
/// replaced by a new one; copies of the former are stale. May move two other objects per page-block
/// that is freed.
///
/// Old and new page-blocks are live at once: those of an object that is not in pieces, and of the
/// last piece of one that is. An object in pieces is copied as a whole, with room for both, if its
/// alignment changes so that its pieces need other page-blocks. Even a shorter length may be
/// refused then. surefit_certify counts what a resize without another alignment needs:
/// resized_largest of surefit_demand.
///
/// Answers as surefit_alloc, STALE, FOREIGN; then the object and the key are as they were. O(1) and
/// a copy of the object; in pieces O(pieces that are added or freed) and a copy of one piece, or
/// O(pieces) and a copy of the object as said above.
///
/// # Safety
/// As surefit_get; the key is NULL or the caller's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_resize(
    heap: *mut surefit_heap,
    key: *mut surefit_key,
    bytes: usize,
    align: usize,
) -> surefit_status {
    let resize = || {
        if key.is_null() {
            return Err(surefit_status::Null);
        }
        // SAFETY: the caller's promise.
        let (any, old) = unsafe { (heap_mut(heap)?, key.read_unaligned().get()?) };
        let layout = layout(bytes, align)?;
        let resized = with_heap!(any, heap => heap.resize(old, layout));
        let resized = resized.map_err(surefit_status::of)?;
        // SAFETY: not NULL.
        unsafe { put(key, surefit_key::new(resized)) }
    };
    status(resize())
}

/// Frees an object. Moves at most two other objects per page-block, so that fragmentation keeps its
/// bound: pointers into objects are stale, keys are not.
///
/// Answers NULL, NOT_A_HEAP, UNLOCKED, STALE (a double free), FOREIGN. O(1) and copies of at most
/// two page-blocks; in pieces the same per piece.
///
/// # Safety
/// As surefit_get.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_free(heap: *mut surefit_heap, key: surefit_key) -> surefit_status {
    let free = || {
        // SAFETY: the caller's promise.
        let (any, key) = unsafe { (heap_mut(heap)?, key.get()?) };
        with_heap!(any, heap => heap.free_bytes(key)).map_err(surefit_status::of)
    };
    status(free())
}

/// Whether a key names a live object of this heap; false where surefit_get answers that it may not
/// be called. O(1).
///
/// # Safety
/// As surefit_get.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_is_live(heap: *const surefit_heap, key: surefit_key) -> bool {
    // SAFETY: the caller's promise.
    let both = unsafe { self::heap(heap).and_then(|any| Ok((any, key.get()?))) };
    both.is_ok_and(|(any, key)| with_heap!(any, heap => heap.contains_bytes(key)))
}

/// Moves at most `budget` page-blocks together, until each size-class has at most one page that is
/// not full. Writes how many it moved, unless `moves` is NULL.
///
/// Answers NULL, NOT_A_HEAP, UNLOCKED. O(budget), and as many copies of page-blocks.
///
/// # Safety
/// As surefit_alloc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_compact(
    heap: *mut surefit_heap,
    budget: u64,
    moves: *mut u64,
) -> surefit_status {
    // SAFETY: the caller's promise.
    let any = unsafe { heap_mut(heap) };
    status(any.map(|any| {
        let moved = with_heap!(any, heap => heap.compact(budget));
        // SAFETY: NULL is not written to.
        let _ = unsafe { put(moves, moved) };
    }))
}

/// Whether an object of these bytes can be allocated now; false where surefit_alloc refuses for
/// another reason than room, also for a thread without the lock. O(1), or O(levels of its pieces).
///
/// # Safety
/// As surefit_alloc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_can_alloc(
    heap: *const surefit_heap,
    bytes: usize,
    align: usize,
) -> bool {
    // SAFETY: the caller's promise.
    let any = unsafe { self::heap(heap) };
    let both = any.and_then(|any| Ok((any, layout(bytes, align)?)));
    both.is_ok_and(|(any, layout)| {
        with_heap!(any, heap => heap.can_allocate_bytes(layout.size(), layout.align()))
    })
}

/// A size that can be allocated now with an alignment of 1: the largest contiguous one or, if more
/// fits in pieces, the most whole pieces that a binary search finds, up to UINT32_MAX bytes. 0
/// without a heap, and for a thread without the lock. O(classes + log region).
///
/// # Safety
/// As surefit_alloc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_largest_free(heap: *const surefit_heap) -> usize {
    // SAFETY: the caller's promise.
    let any = unsafe { self::heap(heap) };
    let free = any.map_or(0, |any| with_heap!(any, heap => heap.largest_free_bytes()));
    free.min(LONGEST & !(LARGEST_PIECE - 1))
}
