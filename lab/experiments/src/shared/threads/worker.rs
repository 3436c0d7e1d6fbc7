//! One thread's way into a heap. A worker writes the first word of every object that it allocates.

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::atomic::AtomicPtr;

use lock_api::RawMutex;
use surefit_compact::Bytes;
use surefit_compact::shared::{Granularity, Local, PerClass, ShardedHeap, SharedHeap};
use surefit_core::{RawHeap, Refused};
use surefit_direct::DirectHeap;
use surefit_direct::shared::{Local as DirectInstance, SharedDirect};

use super::lock::Probe;

/// One thread's way into a heap.
pub(crate) trait Worker: Send {
    /// What names a live object.
    type Object: Send;

    /// Whether the heap's locks count.
    const COUNTS: bool = false;

    /// Allocates an object of at least eight bytes and writes its first word.
    ///
    /// # Errors
    /// What was exhausted.
    fn allocate(&mut self, bytes: u32) -> Result<Self::Object, Refused>;

    /// Frees an object of the given number of bytes, which may be of another worker if the heap
    /// serves several.
    ///
    /// # Errors
    /// The object is not of this heap.
    fn free(&mut self, object: Self::Object, bytes: u32) -> Result<(), Refused>;
}

/// A byte object of a shared heap.
pub(crate) type Object = Bytes<MaybeUninit<u8>>;

/// Writes the first word.
fn write(bytes: &mut [MaybeUninit<u8>]) {
    if let Some(word) = bytes.first_chunk_mut::<8>() {
        *word = 1_u64.to_ne_bytes().map(MaybeUninit::new);
    }
}

/// A registered thread of 1-CF.
pub(crate) struct OneCf<'h, 'm, R: RawMutex, G: Granularity> {
    pub(crate) heap: &'h SharedHeap<'m, R, G>,
    pub(crate) local: Local<'h, 'm, R, G>,
}

impl<R: Probe, G: Granularity> Worker for OneCf<'_, '_, R, G> {
    type Object = Object;

    const COUNTS: bool = R::COUNTS;

    #[inline]
    fn allocate(&mut self, bytes: u32) -> Result<Object, Refused> {
        let mut object = self.local.alloc(layout(bytes))?;
        write(&mut self.heap.pin_bytes_mut(&mut object)?);
        Ok(object)
    }

    #[inline]
    fn free(&mut self, object: Object, _bytes: u32) -> Result<(), Refused> {
        self.local.free_bytes(object)
    }
}

/// A registered thread of n-CF.
pub(crate) struct ManyCf<'h, 'm, R: RawMutex> {
    pub(crate) heap: &'h ShardedHeap<'m, R>,
    pub(crate) local: Local<'h, 'm, R, PerClass>,
}

impl<R: Probe> Worker for ManyCf<'_, '_, R> {
    type Object = Object;

    const COUNTS: bool = R::COUNTS;

    #[inline]
    fn allocate(&mut self, bytes: u32) -> Result<Object, Refused> {
        let mut object = self.local.alloc(layout(bytes))?;
        write(&mut self.heap.pin_bytes_mut(&mut object)?);
        Ok(object)
    }

    #[inline]
    fn free(&mut self, object: Object, _bytes: u32) -> Result<(), Refused> {
        self.local.free_bytes(object)
    }
}

/// A raw heap of one thread: nobody else allocates from it or frees in it.
pub(crate) struct Direct<'m>(pub(crate) DirectHeap<'m>);

/// The layout of an object.
fn layout(bytes: u32) -> Layout {
    Layout::from_size_align(bytes as usize, 8).expect("small")
}

/// Writes the first word of an object, and names it by its address.
///
/// # Safety
/// The object is the caller's, aligned to 8, and at least eight bytes long.
#[inline]
unsafe fn written(object: NonNull<u8>) -> AtomicPtr<u8> {
    // SAFETY: the caller's.
    unsafe { object.cast::<u64>().write(1) };
    AtomicPtr::new(object.as_ptr())
}

#[inline]
fn address(object: AtomicPtr<u8>) -> NonNull<u8> {
    NonNull::new(object.into_inner()).expect("made from an address")
}

impl Worker for Direct<'_> {
    type Object = AtomicPtr<u8>;

    #[inline]
    fn allocate(&mut self, bytes: u32) -> Result<AtomicPtr<u8>, Refused> {
        let object = self.0.allocate(layout(bytes))?;
        // SAFETY: the object is fresh, this thread's, aligned to 8 and at least as long as a word
        // (the trait's contract).
        Ok(unsafe { written(object) })
    }

    #[inline]
    fn free(&mut self, object: AtomicPtr<u8>, bytes: u32) -> Result<(), Refused> {
        let object = address(object);
        // SAFETY: the object is live, of this heap (no frees are made by others: `heaps` refuses
        // such a load), and was allocated with this layout.
        unsafe { self.0.free(object, layout(bytes)) };
        Ok(())
    }
}

/// A thread's own instance of a raw heap that threads share.
pub(crate) struct DirectLocal<'h, R: RawMutex>(pub(crate) DirectInstance<'h, R>);

impl<R: Probe> Worker for DirectLocal<'_, R> {
    type Object = AtomicPtr<u8>;

    const COUNTS: bool = R::COUNTS;

    #[inline]
    fn allocate(&mut self, bytes: u32) -> Result<AtomicPtr<u8>, Refused> {
        allocate_in(&self.0, bytes)
    }

    #[inline]
    fn free(&mut self, object: AtomicPtr<u8>, _bytes: u32) -> Result<(), Refused> {
        // SAFETY: the object is live, of this heap, and nobody has its address any more.
        unsafe { free_in(&self.0, object) }
    }
}

/// A thread that shares an instance of a raw heap with others.
pub(crate) struct DirectGroup<'h, 'm, R> {
    pub(crate) heap: &'h SharedDirect<'m, R>,
    pub(crate) group: usize,
}

impl<R: Probe> Worker for DirectGroup<'_, '_, R> {
    type Object = AtomicPtr<u8>;

    const COUNTS: bool = R::COUNTS;

    #[inline]
    fn allocate(&mut self, bytes: u32) -> Result<AtomicPtr<u8>, Refused> {
        self.heap
            .grouped(self.group, |local| allocate_in(local, bytes))
    }

    #[inline]
    fn free(&mut self, object: AtomicPtr<u8>, _bytes: u32) -> Result<(), Refused> {
        self.heap.grouped(self.group, |local| {
            // SAFETY: the object is live, of this heap, and nobody has its address any more.
            unsafe { free_in(local, object) }
        })
    }
}

#[inline]
fn allocate_in<R: RawMutex>(
    local: &DirectInstance<'_, R>,
    bytes: u32,
) -> Result<AtomicPtr<u8>, Refused> {
    let object = local.allocate(bytes as usize, 8).ok_or(Refused::NoPage)?;
    // SAFETY: the object is fresh, this thread's, aligned to 16 and at least as long as a word (the
    // contract of `Worker`).
    Ok(unsafe { written(object) })
}

/// # Safety
/// The object is live, of this heap, and not used after.
#[inline]
unsafe fn free_in<R: RawMutex>(
    local: &DirectInstance<'_, R>,
    object: AtomicPtr<u8>,
) -> Result<(), Refused> {
    // SAFETY: the caller's.
    let freed = unsafe { local.try_free(address(object)) };
    freed.map_err(|_misuse| Refused::StaleHandle)
}
