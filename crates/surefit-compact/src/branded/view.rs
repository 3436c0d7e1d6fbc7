//! The view of a branded heap: access without a comparison, from registers.

use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

use super::handle::{BrandedBytes, BrandedHandle};
use super::heap::BrandedHeap;
use crate::handle::Byte;
use crate::view::View;
use crate::width::{Wide, Width};

/// A [`BrandedHeap`] that is borrowed, by value: what [`View`] is to a heap.
/// [`BrandedHeap::view`] makes it.
///
/// # Examples
/// ```
/// # use surefit_compact::{Config, Heap};
/// # static CONFIG: Config = Config::DEFAULT;
/// # let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
/// # let mut heap: Heap = Heap::new(&mut memory, &CONFIG)?;
/// let sum = heap.branded(|heap| {
///     let mut counts: Vec<_> = (0..8_u64).map(|i| heap.insert(i).expect("room")).collect();
///     let view = heap.view();
///     for count in &mut counts {
///         *view.get_mut(count) += 1;
///     }
///     let sum = counts.iter().map(|count| *view.get(count)).sum::<u64>();
///     counts.into_iter().for_each(|count| heap.free(count));
///     sum
/// });
/// assert_eq!(sum, 36);
/// # Ok::<(), surefit_core::Refused>(())
/// ```
pub struct BrandedView<'a, B, W: Width = Wide> {
    view: View<'a, W>,
    brand: PhantomData<fn(B) -> B>,
}

impl<B, W: Width> Clone for BrandedView<'_, B, W> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<B, W: Width> Copy for BrandedView<'_, B, W> {}

impl<B, W: Width> fmt::Debug for BrandedView<'_, B, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BrandedView").field(&self.view).finish()
    }
}

impl<B, W: Width> BrandedHeap<'_, B, W> {
    /// The heap by value, for a loop that accesses many objects.
    ///
    /// # Complexity
    /// A few loads.
    #[inline]
    #[must_use]
    pub const fn view(&self) -> BrandedView<'_, B, W> {
        BrandedView {
            view: self.heap.view(),
            brand: PhantomData,
        }
    }
}

impl<'a, B, W: Width> BrandedView<'a, B, W> {
    /// Borrows an object, as [`BrandedHeap::get`].
    ///
    /// # Complexity
    /// A load and an add.
    #[inline]
    #[must_use]
    pub fn get<'h, T>(self, handle: &'h BrandedHandle<B, T>) -> &'h T
    where
        'a: 'h,
    {
        // SAFETY: B1, B2: a live `T` of this heap. The shared borrow of the handle excludes mutable
        // ones, and that of the heap excludes moves (O3). Both last for `'h`.
        unsafe { self.view.named::<T>(handle.number()).as_ref() }
    }

    /// Borrows an object mutably, as [`BrandedHeap::get_mut`].
    ///
    /// # Complexity
    /// A load and an add.
    #[inline]
    #[must_use]
    pub fn get_mut<'h, T>(self, handle: &'h mut BrandedHandle<B, T>) -> &'h mut T
    where
        'a: 'h,
    {
        // SAFETY: B1, B2: a live `T` of this heap, which no other handle names, and this one is
        // borrowed exclusively for `'h`; O3 for moves.
        unsafe { self.view.named::<T>(handle.number()).as_mut() }
    }

    /// The bytes from `offset` to the end of their piece or of the object, as
    /// [`BrandedHeap::chunk`].
    ///
    /// # Panics
    /// If `offset` is above the length.
    #[inline]
    #[must_use]
    pub fn chunk<'h, Y: Byte>(self, bytes: &'h BrandedBytes<B, Y>, offset: usize) -> &'h [Y]
    where
        'a: 'h,
    {
        let (first, len) = self.chunk_start(bytes, offset);
        // SAFETY: B1, B2: `len` bytes from `first` belong to the object, whose handle is borrowed
        // for `'h`, and so is the heap (O3); for `u8` they are initialised.
        unsafe { NonNull::slice_from_raw_parts(first, len).as_ref() }
    }

    /// Of the bytes from `offset` to the end of their piece, the first one, and how many there are.
    #[inline]
    pub(super) fn chunk_start<Y: Byte>(
        self,
        bytes: &BrandedBytes<B, Y>,
        offset: usize,
    ) -> (NonNull<Y>, usize) {
        self.view.chunk_at(bytes.number(), bytes.len(), offset)
    }

    /// As [`BrandedView::chunk`], but mutable.
    ///
    /// # Panics
    /// If `offset` is above the length.
    #[inline]
    #[must_use]
    pub fn chunk_mut<'h, Y: Byte>(
        self,
        bytes: &'h mut BrandedBytes<B, Y>,
        offset: usize,
    ) -> &'h mut [Y]
    where
        'a: 'h,
    {
        let (first, len) = self.chunk_start(bytes, offset);
        // SAFETY: as in `chunk`, and the handle is borrowed exclusively for `'h`.
        unsafe { NonNull::slice_from_raw_parts(first, len).as_mut() }
    }

    /// All bytes of an object in one slice; `None` if it is in pieces, as [`View::bytes`].
    #[inline]
    #[must_use]
    pub fn bytes<'h, Y: Byte>(self, bytes: &'h BrandedBytes<B, Y>) -> Option<&'h [Y]>
    where
        'a: 'h,
    {
        let first = self.view.block_of(bytes.number(), bytes.len())?;
        // SAFETY: as in `chunk`.
        Some(unsafe { NonNull::slice_from_raw_parts(first, bytes.len()).as_ref() })
    }

    /// As [`BrandedView::bytes`], but mutable.
    #[inline]
    #[must_use]
    pub fn bytes_mut<'h, Y: Byte>(self, bytes: &'h mut BrandedBytes<B, Y>) -> Option<&'h mut [Y]>
    where
        'a: 'h,
    {
        let first = self.view.block_of(bytes.number(), bytes.len())?;
        // SAFETY: as in `chunk`, and the handle is borrowed exclusively for `'h`.
        Some(unsafe { NonNull::slice_from_raw_parts(first, bytes.len()).as_mut() })
    }
}
