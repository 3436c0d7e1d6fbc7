//! One thread's way into a heap. A worker writes the first word of every object that it allocates.

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::atomic::AtomicPtr;

use lock_api::RawMutex;
use surefit_compact::shared::{Granularity, Local, PerClass, ShardedHeap, SharedHeap};
use surefit_compact::{Bytes, DirectHeap};
use surefit_core::{RawHeap, Refused};

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
        let mut object = self.local.insert_bytes(bytes as usize)?;
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
        let mut object = self.local.insert_bytes(bytes as usize)?;
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

impl Worker for Direct<'_> {
    type Object = AtomicPtr<u8>;

    #[inline]
    fn allocate(&mut self, bytes: u32) -> Result<AtomicPtr<u8>, Refused> {
        let object = self.0.allocate(layout(bytes))?;
        // SAFETY: the object is fresh, this thread's, aligned to 8 and at least as long as a word
        // (the trait's contract).
        unsafe { object.cast::<u64>().write(1) };
        Ok(AtomicPtr::new(object.as_ptr()))
    }

    #[inline]
    fn free(&mut self, object: AtomicPtr<u8>, bytes: u32) -> Result<(), Refused> {
        let object = NonNull::new(object.into_inner()).expect("made from an address");
        // SAFETY: the object is live, of this heap (no frees are made by others: `heaps` refuses
        // such a load), and was allocated with this layout.
        unsafe { self.0.free(object, layout(bytes)) };
        Ok(())
    }
}
