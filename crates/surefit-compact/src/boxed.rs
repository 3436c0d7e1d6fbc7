//! `BoxedHeap`: a [`Heap`] that owns its memory, so that a struct can own the heap.
//!
//! # Invariants
//! - X1 The box's memory is the heap's, and nothing else uses it. The heap is lent as a shared
//!   borrow, or exclusively to a function that takes a heap of any region: so nobody moves it out,
//!   and what it lends ends with the borrow. A heap over memory that lives forever may be put into
//!   its place: then nothing uses the box's memory.

extern crate alloc;

use alloc::boxed::Box;
use core::alloc::Layout;
use core::fmt;
use core::mem::MaybeUninit;
use core::ops::Deref;
use core::ptr::NonNull;

use surefit_core::Refused;

use crate::config::Config;
use crate::handle::{Byte, Bytes, Handle};
use crate::heap::Heap;
use crate::width::{Wide, Width};

/// A heap that owns its memory, from the global allocator: a field of a struct without a lifetime.
///
/// What needs only a shared borrow of a [`Heap`] is called as if it were one: `insert`, `get`,
/// `get_mut`, `insert_bytes`, `read_at`, `write_at`, `usage`, … What moves objects is here, or is
/// called by [`BoxedHeap::with`]. As with every heap, objects that live when it is dropped are not
/// dropped; only the memory is given back.
///
/// # Examples
/// ```
/// use std::collections::HashMap;
/// use surefit_compact::{BoxedHeap, Bytes, Config, Heap, Narrow};
/// use surefit_core::Refused;
///
/// static CONFIG: Config = Config::TINY;
///
/// /// Strings by number, in one megabyte.
/// struct Strings { heap: BoxedHeap<Narrow>, known: HashMap<u64, Bytes> }
///
/// impl Strings {
///     fn new() -> Result<Self, Refused> {
///         Ok(Self { heap: Heap::boxed(1 << 20, &CONFIG)?, known: HashMap::new() })
///     }
///
///     fn set(&mut self, number: u64, text: &str) -> Result<(), Refused> {
///         let new = self.heap.insert_bytes(text.as_bytes())?;
///         if let Some(old) = self.known.insert(number, new) {
///             self.heap.free_bytes(old);
///         }
///         Ok(())
///     }
///
///     fn get(&self, number: u64) -> Option<String> {
///         let bytes = self.known.get(&number)?;
///         let mut text = vec![0; bytes.len()];
///         self.heap.read_at(bytes, 0, &mut text);
///         String::from_utf8(text).ok()
///     }
/// }
///
/// let mut strings = Strings::new()?;
/// strings.set(7, "seven")?;
/// strings.set(7, "sieben")?;
/// assert_eq!(strings.get(7).as_deref(), Some("sieben"));
/// # Ok::<(), Refused>(())
/// ```
pub struct BoxedHeap<W: Width = Wide> {
    /// X1: its region lives as long as the memory, not forever. In a `MaybeUninit`, because the
    /// references in it dangle when the memory was freed and the box is still being dropped.
    heap: MaybeUninit<Heap<'static, W>>,
    memory: NonNull<[MaybeUninit<u8>]>,
}

// SAFETY: the memory belongs to the heap alone (X1), and the heap is `Send`.
unsafe impl<W: Width> Send for BoxedHeap<W> {}

impl<W: Width> Heap<'_, W> {
    /// A heap of `bytes` bytes that owns its memory. It is aligned to a page, so the
    /// `aligned_bytes` of a certificate are enough.
    ///
    /// # Errors
    /// As [`Heap::new`].
    ///
    /// # Panics
    /// As [`Heap::new`], and if `bytes` and a page are more than `isize::MAX`. Where the global
    /// allocator has no memory, the process ends, as with a `Box`; also for more bytes than the
    /// configuration can name.
    ///
    /// # Complexity
    /// As [`Heap::new`], and one allocation.
    pub fn boxed(bytes: usize, config: &'static Config) -> Result<BoxedHeap<W>, Refused> {
        let page = config.geometry().page_bytes();
        let all = bytes.saturating_add(page - 1);
        let memory = Box::<[u8]>::new_uninit_slice(all);
        let skipped = memory.as_ptr().align_offset(page).min(page - 1);
        let memory = NonNull::from(Box::leak(memory));
        // SAFETY: the first `skipped` bytes lie in the box, and `bytes` more behind them.
        let first = unsafe { memory.cast::<MaybeUninit<u8>>().add(skipped) };
        // SAFETY: as above; the memory is freed when the owner is dropped, after the last use of the
        // heap, and nothing else uses it (X1).
        let region = unsafe { core::slice::from_raw_parts_mut(first.as_ptr(), bytes) };
        let owner = Memory(memory);
        let heap = Heap::new(region, config)?;
        core::mem::forget(owner);
        let heap = MaybeUninit::new(heap);
        Ok(BoxedHeap { heap, memory })
    }
}

impl<W: Width> BoxedHeap<W> {
    /// Lends the heap exclusively, for what needs it and is not here:
    /// `heap.with(|heap| heap.alloc_contiguous(layout))`.
    #[inline]
    pub fn with<R>(&mut self, f: impl for<'m> FnOnce(&mut Heap<'m, W>) -> R) -> R {
        f(self.heap_mut())
    }

    /// As [`Heap::remove`].
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    #[inline]
    pub fn remove<T>(&mut self, handle: Handle<T>) -> T {
        self.heap_mut().remove(handle)
    }

    /// As [`Heap::free`].
    ///
    /// # Panics
    /// As [`Heap::free`].
    #[inline]
    pub fn free<T>(&mut self, handle: Handle<T>) {
        self.heap_mut().free(handle);
    }

    /// As [`Heap::free_bytes`].
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    #[inline]
    pub fn free_bytes<B: Byte>(&mut self, bytes: Bytes<B>) {
        self.heap_mut().free_bytes(bytes);
    }

    /// As [`Heap::resize`].
    ///
    /// # Errors
    /// As [`Heap::resize`].
    #[inline]
    pub fn resize<B: Byte>(&mut self, bytes: &mut Bytes<B>, layout: Layout) -> Result<(), Refused> {
        self.heap_mut().resize(bytes, layout)
    }

    /// As [`Heap::compact`].
    pub fn compact(&mut self, budget: u64) -> u64 {
        self.heap_mut().compact(budget)
    }

    #[inline]
    fn heap_mut(&mut self) -> &mut Heap<'static, W> {
        // SAFETY: `boxed` initialised it, and it stays so; X1: the memory lives until the drop.
        unsafe { self.heap.assume_init_mut() }
    }
}

impl<W: Width> Deref for BoxedHeap<W> {
    type Target = Heap<'static, W>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        // SAFETY: as in `heap_mut`.
        unsafe { self.heap.assume_init_ref() }
    }
}

impl<W: Width> fmt::Debug for BoxedHeap<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<W: Width> Drop for BoxedHeap<W> {
    fn drop(&mut self) {
        drop(Memory(self.memory));
    }
}

/// The memory of a box; it is freed when this is dropped.
struct Memory(NonNull<[MaybeUninit<u8>]>);

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: `boxed` leaked it; X1: the heap in it is not used again, and this is done once:
        // by `boxed` if there is no heap, else by the owner of the heap.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
