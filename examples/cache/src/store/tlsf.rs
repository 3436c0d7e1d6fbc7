//! Surefit's TLSF: a free-list heap over one reservation, without moves.
//!
//! An object's name is its offset in granules of eight bytes, four bytes.

use std::alloc::Layout;
use std::ptr::NonNull;

use surefit_core::RawHeap;
use surefit_freelist::Tlsf;

use super::Store;
use super::surefit::region;

/// The bytes of a granule, and the alignment of every object.
const GRANULE: usize = 8;

/// The two-level segregated-fit heap.
#[derive(Debug)]
pub struct TlsfStore {
    heap: Tlsf<'static>,
    base: NonNull<u8>,
    /// The lengths of all live objects.
    live_bytes: usize,
}

impl TlsfStore {
    /// A heap over at most `region_bytes`. The memory belongs to the process until it ends.
    ///
    /// # Errors
    /// What the operating system refuses, or that the region is too small or over 8 GiB.
    pub fn new(region_bytes: usize) -> anyhow::Result<Self> {
        let region = region(region_bytes)?;
        let base = NonNull::from(&mut *region).cast();
        Ok(Self {
            heap: Tlsf::new(region)?,
            base,
            live_bytes: 0,
        })
    }

    /// The address that a name stands for.
    #[inline]
    fn address(&self, name: u32) -> NonNull<u8> {
        // SAFETY: names come from `allocate`, so the offset lies inside the region.
        unsafe { self.base.add(name as usize * GRANULE) }
    }

    fn layout(len: usize) -> Option<Layout> {
        Layout::from_size_align(len, GRANULE).ok()
    }
}

impl Store for TlsfStore {
    type Name = u32;
    const KEY: &'static str = "tlsf";
    const WHOLE_BYTES: usize = usize::MAX;

    #[inline]
    fn allocate(&mut self, len: usize) -> Option<u32> {
        let object = self.heap.allocate(Self::layout(len)?).ok()?;
        self.live_bytes += len;
        let offset = object.addr().get() - self.base.addr().get();
        u32::try_from(offset / GRANULE).ok()
    }

    #[inline]
    unsafe fn free(&mut self, name: u32, len: usize) {
        let layout = Self::layout(len).expect("an allocated length");
        let object = self.address(name);
        // SAFETY: S1.
        unsafe { self.heap.free(object, layout) };
        self.live_bytes -= len;
    }

    #[inline]
    unsafe fn read(&self, name: u32, len: usize, offset: usize) -> &[u8] {
        // SAFETY: S1 to S3: `len` written bytes of a live object, while the store is borrowed.
        let all = unsafe { std::slice::from_raw_parts(self.address(name).as_ptr(), len) };
        &all[offset..]
    }

    #[inline]
    unsafe fn edit(&mut self, name: u32, len: usize, offset: usize) -> &mut [u8] {
        // SAFETY: as in `read`; the store is borrowed mutably.
        let all = unsafe { std::slice::from_raw_parts_mut(self.address(name).as_ptr(), len) };
        &mut all[offset..]
    }

    #[inline]
    unsafe fn write(&mut self, name: u32, len: usize, offset: usize, bytes: &[u8]) {
        let is_inside = offset
            .checked_add(bytes.len())
            .is_some_and(|end| end <= len);
        assert!(is_inside, "the bytes go beyond the object");
        // SAFETY: inside the object, by the assertion.
        let target = unsafe { self.address(name).add(offset) };
        // SAFETY: the range lies inside a live object; no reference to it exists while the store is
        // borrowed mutably, so the ranges do not overlap.
        unsafe { target.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len()) };
    }

    fn held_bytes(&self) -> usize {
        self.live_bytes
    }
}
