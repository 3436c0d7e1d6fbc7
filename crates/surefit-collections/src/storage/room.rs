//! The room of a vector: how its object is allocated, grows and shrinks.
#![deny(unsafe_code)]

use core::alloc::Layout;

use surefit_core::Refused;

use super::elements::Vec;
use super::groups::Groups;
use crate::heap::ByteHeap;
use crate::names::Names;

impl<T, N: Names> Vec<T, N> {
    /// Makes room for at least `additional` more elements. May move objects.
    ///
    /// # Errors
    /// What was exhausted, or [`Refused::ForeignHandle`]; [`Refused::TooLarge`] if a piece does not
    /// hold one element. The vector is unchanged.
    ///
    /// # Complexity
    /// As [`surefit_compact::Heap::resize`].
    #[inline]
    pub fn reserve<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        additional: usize,
    ) -> Result<(), Refused> {
        if !self.is_of(heap) {
            return Err(Refused::ForeignHandle);
        }
        if additional <= self.capacity(heap) - self.len {
            return Ok(());
        }
        self.grow(heap, additional)
    }

    #[inline(never)]
    fn grow<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        additional: usize,
    ) -> Result<(), Refused> {
        let needed = self.len.checked_add(additional);
        let needed = needed.ok_or(Refused::TooLarge {
            limit: isize::MAX as usize,
        })?;
        let groups = Groups::<T>::new(heap.piece_bytes());
        let more = groups.grown(self.capacity(heap), heap.division().large_bytes());
        if more > needed && self.resize(heap, more).is_ok() {
            return Ok(());
        }
        self.resize(heap, needed)
    }

    /// Makes room for exactly `additional` more elements, as far as pieces allow. May move objects.
    ///
    /// # Errors
    /// As [`Vec::reserve`].
    pub fn reserve_exact<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        additional: usize,
    ) -> Result<(), Refused> {
        if !self.is_of(heap) {
            return Err(Refused::ForeignHandle);
        }
        let needed = self.len.checked_add(additional);
        let needed = needed.ok_or(Refused::TooLarge {
            limit: isize::MAX as usize,
        })?;
        if needed <= self.capacity(heap) {
            return Ok(());
        }
        self.resize(heap, needed)
    }

    /// Gives back the room for more than `capacity` elements, or than there are. May move objects.
    ///
    /// # Errors
    /// As [`surefit_compact::Heap::resize`]: even a shorter object may be refused. The vector is
    /// unchanged.
    pub fn shrink_to<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        capacity: usize,
    ) -> Result<(), Refused> {
        if !self.is_of(heap) {
            return Err(Refused::ForeignHandle);
        }
        let capacity = capacity.max(self.len);
        if self.bytes.is_none() || capacity >= self.capacity(heap) {
            return Ok(());
        }
        if capacity == 0 {
            self.free_object(heap);
            return Ok(());
        }
        self.resize(heap, capacity)
    }

    /// As [`Vec::shrink_to`], to the elements that there are.
    ///
    /// # Errors
    /// As [`Vec::shrink_to`].
    pub fn shrink_to_fit<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) -> Result<(), Refused> {
        self.shrink_to(heap, 0)
    }

    /// Changes the object so that it holds `capacity` elements, which is no less than there are.
    fn resize<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        capacity: usize,
    ) -> Result<(), Refused> {
        let layout = Self::layout(heap, capacity)?;
        match &mut self.bytes {
            Some(bytes) => heap.resize(bytes, layout),
            none => {
                *none = Some(heap.alloc(layout)?);
                Ok(())
            }
        }
    }

    /// An empty vector with room for `capacity` elements. Moves nothing.
    ///
    /// # Errors
    /// As [`Vec::reserve`].
    pub fn with_capacity<H: ByteHeap<Names = N>>(
        heap: &H,
        capacity: usize,
    ) -> Result<Self, Refused> {
        let mut vec = Self::new();
        if capacity > 0 && size_of::<T>() > 0 {
            vec.bytes = Some(heap.alloc(Self::layout(heap, capacity)?)?);
        }
        Ok(vec)
    }

    fn layout<H: ByteHeap<Names = N>>(heap: &H, capacity: usize) -> Result<Layout, Refused> {
        let bytes = Groups::<T>::new(heap.piece_bytes()).bytes(capacity)?;
        Layout::from_size_align(bytes, align_of::<T>()).map_err(|_| Refused::TooLarge {
            limit: isize::MAX as usize,
        })
    }

    /// Frees the object of a vector without elements.
    pub(super) fn free_object<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) {
        debug_assert!(self.len == 0, "elements would leak");
        if let Some(bytes) = self.bytes.take() {
            heap.free_bytes(bytes);
        }
    }
}
