//! A heap that owns its brand: every handle of the brand is its own, so none is compared.

use core::alloc::Layout;
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_core::{Numbers, Refused};

use super::handle::{BrandedBytes, BrandedHandle};
use crate::handle::{Byte, Bytes, Full, Handle, Name};
use crate::heap::Heap;
use crate::pieces::Division;
use crate::width::{Wide, Width};

/// The brand of a heap that is lent to a closure: a lifetime that only this call has.
pub struct Scoped<'b>(PhantomData<fn(&'b ()) -> &'b ()>);

impl fmt::Debug for Scoped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scoped")
    }
}

/// A type that one heap of the process can have as its brand; [`brand!`](crate::brand) declares it.
///
/// # Safety
/// S1: `claims` always returns the same counter. No other type returns it, and nothing else takes
/// numbers from it.
pub unsafe trait Brand {
    /// The counter of the claims to this brand.
    #[doc(hidden)]
    fn claims() -> &'static Numbers;
}

/// A [`Heap`] whose handles are branded with `B`. They have four bytes, and no access compares
/// anything.
///
/// The rules of access are those of [`Heap`]: a shared handle is shared access, an exclusive handle
/// exclusive access, and what may move objects needs the heap exclusively. Handles of another heap
/// do not compile:
/// ```compile_fail
/// # use surefit_compact::{Config, Heap};
/// # static CONFIG: Config = Config::DEFAULT;
/// # let mut regions = [[const { core::mem::MaybeUninit::uninit() }; 1 << 18]; 2];
/// # let [one, two] = &mut regions;
/// # let mut one: Heap = Heap::new(one, &CONFIG).unwrap();
/// # let mut two: Heap = Heap::new(two, &CONFIG).unwrap();
/// one.branded(|one| {
///     two.branded(|two| {
///         let handle = one.insert(1_u64).unwrap();
///         two.free(handle);
///     });
/// });
/// ```
#[derive(Debug)]
#[repr(transparent)]
pub struct BrandedHeap<'m, B, W: Width = Wide> {
    pub(super) heap: Heap<'m, W>,
    brand: PhantomData<fn(B) -> B>,
}

impl<'m, W: Width> Heap<'m, W> {
    /// Lends the heap to a closure under a brand of its own. The handles that the heap gives there
    /// cannot leave the closure; [`BrandedHeap::unbrand`] makes them checked handles. Objects that
    /// are neither freed nor unbranded leak.
    ///
    /// # Examples
    /// See [`branded`](crate::branded).
    ///
    /// # Complexity
    /// O(1).
    pub fn branded<R>(
        &mut self,
        using: impl for<'b> FnOnce(&mut BrandedHeap<'m, Scoped<'b>, W>) -> R,
    ) -> R {
        let heap: *mut Self = self;
        // SAFETY: a branded heap is a heap (it is transparent), which is borrowed exclusively for
        // as long as the closure runs. The closure accepts every lifetime as the brand, so no type
        // outside it contains the one of this call (B1).
        using(unsafe { &mut *heap.cast() })
    }

    /// Makes this heap the one of a declared brand.
    ///
    /// # Errors
    /// The heap, if another heap claimed the brand before, even one that is gone.
    ///
    /// # Complexity
    /// O(1).
    #[expect(
        clippy::result_large_err,
        reason = "the error is the heap itself, which the caller still needs"
    )]
    pub fn into_branded<B: Brand>(self) -> Result<BrandedHeap<'m, B, W>, Self> {
        if B::claims().next().is_none_or(|claim| claim.get() != 1) {
            return Err(self);
        }
        Ok(BrandedHeap {
            heap: self,
            brand: PhantomData,
        })
    }
}

impl<'m, B, W: Width> BrandedHeap<'m, B, W> {
    /// The heap without its brand, for statistics, invariants, and objects with checked handles.
    #[must_use]
    pub const fn as_heap(&self) -> &Heap<'m, W> {
        &self.heap
    }

    // ---- objects of a type ---------------------------------------------------------------------

    /// Moves a value into the heap. Never moves another object.
    ///
    /// # Errors
    /// As [`Heap::insert`].
    ///
    /// # Complexity
    /// O(1), plus writing the value.
    #[inline]
    pub fn insert<T: Send>(&self, value: T) -> Result<BrandedHandle<B, T>, Full<T>> {
        let handle = self.heap.insert(value)?;
        Ok(BrandedHandle::new(handle.name.index()))
    }

    /// Borrows an object.
    ///
    /// # Complexity
    /// A load and an add.
    #[inline]
    #[must_use]
    pub fn get<'a, T>(&'a self, handle: &'a BrandedHandle<B, T>) -> &'a T {
        self.view().get(handle)
    }

    /// Borrows an object mutably. Different objects may be borrowed mutably at once.
    ///
    /// # Complexity
    /// A load and an add.
    #[inline]
    #[must_use]
    pub fn get_mut<'a, T>(&'a self, handle: &'a mut BrandedHandle<B, T>) -> &'a mut T {
        self.view().get_mut(handle)
    }

    /// Takes a value out of the heap, and frees its memory. May move up to two other objects.
    #[inline]
    pub fn remove<T>(&mut self, handle: BrandedHandle<B, T>) -> T {
        let handle = self.unbrand(handle);
        self.heap.remove(handle)
    }

    /// Drops an object, and frees its memory. May move up to two other objects.
    ///
    /// # Panics
    /// If the value's `drop` panics; even then the memory is freed.
    #[inline]
    pub fn free<T>(&mut self, handle: BrandedHandle<B, T>) {
        drop(self.remove(handle));
    }

    /// Makes a branded handle from one of [`Heap::insert`]: one comparison instead of one per
    /// access.
    ///
    /// # Errors
    /// The handle, if it belongs to another heap.
    #[inline]
    pub fn brand<T>(&self, handle: Handle<T>) -> Result<BrandedHandle<B, T>, Handle<T>> {
        match self.heap.own(handle.name) {
            Ok(()) => Ok(BrandedHandle::new(handle.name.index())),
            Err(_) => Err(handle),
        }
    }

    /// Makes a handle that is compared on every access, and may outlive the brand.
    #[inline]
    pub fn unbrand<T>(&self, handle: BrandedHandle<B, T>) -> Handle<T> {
        Handle::new(self.name(handle.index()))
    }

    // ---- byte objects --------------------------------------------------------------------------

    /// Allocates a byte object whose bytes are not initialised. Never moves an object.
    ///
    /// # Errors
    /// As [`Heap::alloc`].
    #[inline]
    pub fn alloc(&self, layout: Layout) -> Result<BrandedBytes<B, MaybeUninit<u8>>, Refused> {
        let bytes = self.heap.alloc(layout)?;
        Ok(BrandedBytes::new(bytes.name.index(), bytes.len()))
    }

    /// Allocates a byte object of zeros. Never moves an object.
    ///
    /// # Errors
    /// As [`Heap::alloc_zeroed`].
    pub fn alloc_zeroed(&self, layout: Layout) -> Result<BrandedBytes<B, u8>, Refused> {
        let bytes = self.heap.alloc_zeroed(layout)?;
        Ok(BrandedBytes::new(bytes.name.index(), bytes.len()))
    }

    /// Copies bytes into the heap, as [`Heap::insert_bytes`].
    ///
    /// # Errors
    /// As [`Heap::alloc`].
    pub fn insert_bytes(&self, source: &[u8]) -> Result<BrandedBytes<B, u8>, Refused> {
        let bytes = self.heap.insert_bytes(source)?;
        Ok(BrandedBytes::new(bytes.name.index(), bytes.len()))
    }

    /// Frees a byte object. May move up to two objects per piece.
    #[inline]
    pub fn free_bytes<Y: Byte>(&mut self, bytes: BrandedBytes<B, Y>) {
        let bytes = self.unbrand_bytes(bytes);
        self.heap.free_bytes(bytes);
    }

    /// Changes the length of a byte object, as [`Heap::resize`].
    ///
    /// # Errors
    /// As [`Heap::resize`]; the object is unchanged.
    pub fn resize<Y: Byte>(
        &mut self,
        bytes: &mut BrandedBytes<B, Y>,
        layout: Layout,
    ) -> Result<(), Refused> {
        let mut checked = self.checked(bytes);
        self.heap.resize(&mut checked, layout)?;
        *bytes = BrandedBytes::new(checked.name.index(), checked.len());
        Ok(())
    }

    /// The bytes from `offset` to the end of their piece or of the object; empty at the end of the
    /// object.
    ///
    /// # Panics
    /// If `offset` is above the length.
    #[inline]
    #[must_use]
    pub fn chunk<'a, Y: Byte>(&'a self, bytes: &'a BrandedBytes<B, Y>, offset: usize) -> &'a [Y] {
        self.view().chunk(bytes, offset)
    }

    /// As [`Heap::chunk_start`].
    ///
    /// # Panics
    /// If `offset` is above the length.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn chunk_start<Y: Byte>(
        &self,
        bytes: &BrandedBytes<B, Y>,
        offset: usize,
    ) -> (NonNull<Y>, usize) {
        let view = self.heap.view();
        view.chunk_at_once(bytes.number(), bytes.len(), offset)
    }

    /// As [`Heap::block_start`].
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn block_start<Y: Byte>(&self, bytes: &BrandedBytes<B, Y>) -> Option<NonNull<Y>> {
        let view = self.heap.view();
        view.block_of(bytes.number(), bytes.len())
    }

    /// As [`Heap::division`].
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub const fn division(&self) -> Division {
        self.heap.division()
    }

    /// As [`Heap::owns`], which is known.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub const fn owns<Y: Byte>(&self, _: &BrandedBytes<B, Y>) -> bool {
        true
    }

    /// As [`Heap::is_whole`].
    #[doc(hidden)]
    #[must_use]
    pub fn is_whole<Y: Byte>(&self, bytes: &BrandedBytes<B, Y>, align: usize) -> bool {
        self.heap.is_whole(&self.checked(bytes), align)
    }

    /// As [`BrandedHeap::chunk`], but mutable.
    ///
    /// # Panics
    /// If `offset` is above the length.
    #[inline]
    #[must_use]
    pub fn chunk_mut<'a, Y: Byte>(
        &'a self,
        bytes: &'a mut BrandedBytes<B, Y>,
        offset: usize,
    ) -> &'a mut [Y] {
        self.view().chunk_mut(bytes, offset)
    }

    /// Copies bytes from the object, from `offset` on.
    ///
    /// # Panics
    /// If the range ends after the object.
    pub fn read_at<Y: Byte>(&self, bytes: &BrandedBytes<B, Y>, offset: usize, target: &mut [Y]) {
        self.heap.read_at(&self.checked(bytes), offset, target);
    }

    /// Copies bytes to the object, from `offset` on.
    ///
    /// # Panics
    /// If the range ends after the object.
    pub fn write_at<Y: Byte>(&self, bytes: &mut BrandedBytes<B, Y>, offset: usize, source: &[Y]) {
        self.heap.write_at(&mut self.checked(bytes), offset, source);
    }

    /// Makes a branded handle from one of [`Heap::alloc`].
    ///
    /// # Errors
    /// The handle, if it belongs to another heap.
    #[inline]
    pub fn brand_bytes<Y: Byte>(&self, bytes: Bytes<Y>) -> Result<BrandedBytes<B, Y>, Bytes<Y>> {
        match self.heap.own(bytes.name) {
            Ok(()) => Ok(BrandedBytes::new(bytes.name.index(), bytes.len())),
            Err(_) => Err(bytes),
        }
    }

    /// Makes a handle that is compared on every access, and may outlive the brand.
    #[inline]
    pub fn unbrand_bytes<Y: Byte>(&self, bytes: BrandedBytes<B, Y>) -> Bytes<Y> {
        self.checked(&bytes)
    }

    // ---- both ----------------------------------------------------------------------------------

    /// Moves at most `budget` objects, as [`Heap::compact`]; returns the number of moves.
    pub fn compact(&mut self, budget: u64) -> u64 {
        self.heap.compact(budget)
    }

    #[inline]
    const fn name(&self, index: u32) -> Name {
        Name::new(index, self.heap.id)
    }

    /// A checked handle of a byte object, for one call: the comparison in it is one of a number
    /// with itself, and disappears. It is a second owner, so it must not free the object unless the
    /// branded handle is consumed.
    #[inline]
    const fn checked<Y: Byte>(&self, bytes: &BrandedBytes<B, Y>) -> Bytes<Y> {
        Bytes::new(self.name(bytes.index()), bytes.len())
    }
}
