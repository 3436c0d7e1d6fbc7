//! Surefit's handle heap over the operating system's memory, which gives back what it does not
//! need.
//!
//! An object's name is the number of its entry, four bytes. Objects over 4 KiB are in pieces.

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::time::Duration;

use surefit_compact::os::{Limits, OsHeap};
use surefit_compact::{Bound, Bytes, Config, Geometry, GeometrySpec, Spacing};
use surefit_os::{OsError, Reservation};

use super::Store;

/// Sixteen size-classes in each power of two: values have any length, and a cache is large enough
/// that one page more or less per class does not count.
static CONFIG: Config = {
    let spec = GeometrySpec {
        spacing: Spacing::Fraction(16),
        ..GeometrySpec::DEFAULT
    };
    let Ok(geometry) = Geometry::new(&spec) else {
        panic!("the geometry is valid");
    };
    let Ok(config) = Config::new(geometry, Bound::DEFAULT) else {
        panic!("the configuration is valid");
    };
    config
};

/// For how long a page is empty before it is given back.
const KEPT: Duration = Duration::from_millis(200);

/// System calls of a tick, at most: about a millisecond in each hundred.
const CALLS: u32 = 256;

/// The handle heap over the operating system's memory.
#[derive(Debug)]
pub struct Surefit {
    heap: OsHeap<'static>,
}

impl Surefit {
    /// A heap of at most `region_bytes`.
    ///
    /// # Errors
    /// What the operating system refuses, or that the region is too small.
    pub fn new(region_bytes: usize) -> anyhow::Result<Self> {
        let limits = Limits {
            delay: KEPT,
            calls_per_tick: CALLS,
            ..Limits::new(region_bytes, region_bytes)
        };
        let heap = OsHeap::new(&CONFIG, limits)?;
        Ok(Self { heap })
    }

    /// Accounts for every byte of the heap's address space. Linear in the heap.
    #[must_use]
    pub fn usage(&self) -> surefit_core::Usage {
        self.heap.heap().usage()
    }

    /// Verifies every invariant of the heap. Linear in the heap.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check(&self) -> Result<(), surefit_core::Corruption> {
        self.heap.check()
    }
}

/// A region of fresh memory that is never unmapped.
pub(super) fn region(bytes: usize) -> Result<&'static mut [MaybeUninit<u8>], OsError> {
    Ok(Box::leak(Box::new(Reservation::new(bytes)?)).memory())
}

impl Store for Surefit {
    type Name = u32;
    const KEY: &'static str = "surefit";
    const WHOLE_BYTES: usize = 4096;

    #[inline]
    fn allocate(&mut self, len: usize) -> Option<u32> {
        let layout = Layout::from_size_align(len, 1).ok()?;
        let bytes = self.heap.alloc(layout).ok()?;
        Some(bytes.into_entry(self.heap.heap()))
    }

    #[inline]
    unsafe fn free(&mut self, name: u32, len: usize) {
        // SAFETY: S1; no other handle is in use.
        let bytes: Bytes<MaybeUninit<u8>> =
            unsafe { Bytes::from_entry(self.heap.heap(), name, len) };
        self.heap.free_bytes(bytes);
    }

    #[inline]
    unsafe fn read(&self, name: u32, len: usize, offset: usize) -> &[u8] {
        // SAFETY: S1, S2 and S3. No handle for a mutable access is in use: that borrows the store
        // mutably.
        let bytes: Bytes<u8> = unsafe { Bytes::from_entry(self.heap.heap(), name, len) };
        let chunk: *const [u8] = self.heap.heap().chunk(&bytes, offset);
        // SAFETY: the object stays live and where it is as long as the store is borrowed; only the
        // borrow of the handle, which is made for this call, ends here.
        unsafe { &*chunk }
    }

    #[inline]
    unsafe fn edit(&mut self, name: u32, len: usize, offset: usize) -> &mut [u8] {
        // SAFETY: S1, S2 and S3. The store is borrowed mutably, so no other handle is in use.
        let mut bytes: Bytes<u8> = unsafe { Bytes::from_entry(self.heap.heap(), name, len) };
        let chunk: *mut [u8] = self.heap.heap().chunk_mut(&mut bytes, offset);
        // SAFETY: as in `read`; this is the only borrow.
        unsafe { &mut *chunk }
    }

    #[inline]
    unsafe fn write(&mut self, name: u32, len: usize, offset: usize, source: &[u8]) {
        // SAFETY: S1 and S2. The store is borrowed mutably, so no other handle is in use.
        let mut bytes: Bytes<MaybeUninit<u8>> =
            unsafe { Bytes::from_entry(self.heap.heap(), name, len) };
        // SAFETY: written bytes may be seen as bytes that need not be written.
        let source: &[MaybeUninit<u8>] =
            unsafe { std::slice::from_raw_parts(source.as_ptr().cast(), source.len()) };
        self.heap.heap().write_at(&mut bytes, offset, source);
    }

    fn held_bytes(&self) -> usize {
        self.heap.stats().resident_bytes
    }

    /// Gives back pages that were empty for a while. Where the system refuses, a later tick tries
    /// again.
    fn tick(&mut self, now: u64) {
        let _ = self.heap.tick(Duration::from_millis(now));
    }

    const RENUMBERS: bool = true;

    unsafe fn renumber(&mut self, objects: &mut [(u32, usize)]) {
        let heap = self.heap.heap();
        // SAFETY: S1; every object has one handle.
        let handle = |&(name, len): &(u32, usize)| unsafe { Bytes::from_entry(heap, name, len) };
        let mut handles: Vec<Bytes<MaybeUninit<u8>>> = objects.iter().map(handle).collect();
        self.heap.renumber(&mut handles);
        for (object, handle) in objects.iter_mut().zip(handles) {
            object.0 = handle.into_entry(self.heap.heap());
        }
    }

    /// Moves objects until no size-class has more than one page that is not full.
    fn purge(&mut self) {
        self.heap.compact(u64::MAX);
        let _ = self.heap.give_all_back();
        // The lists with which objects were renumbered were the C library's memory.
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        // SAFETY: it may be called at any time.
        unsafe {
            libc::malloc_trim(0);
        }
    }
}
