//! Mutations: what a program does between two collections.

use core::alloc::Layout;
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::mem::needs_drop;
use core::ptr::NonNull;

use surefit_core::Refused;

use super::allocator::{Allocator, chunk_bytes};
use super::array::{Array, GcArray, GcStr};
use super::finalizable::UNFINISHED;
use super::full::Full;
use super::gc::Gc;
use super::kinds::{End, Kind};
use super::supply::Supply;
use super::trace::{Trace, Tracer};
use super::weak::{WEAK, WeakCell, WeakGc};

/// The right to allocate in an arena and to follow its references, for as long as a call of
/// [`Arena::mutate`](crate::Arena::mutate) lasts.
///
/// Nothing is collected meanwhile, so no reference has to be registered. But a mutation that never
/// ends fills the arena although there is garbage: call [`Arena::ensure`](crate::Arena::ensure)
/// before it, or use [`Arena::retry`](crate::Arena::retry).
pub struct Mutation<'gc> {
    allocator: &'gc Allocator<'gc, dyn Supply + 'gc>,
    /// The lifetime is exactly this `'gc`, neither longer nor shorter.
    brand: PhantomData<Cell<&'gc ()>>,
}

/// What the collector knows about a type of values.
struct Value<T>(PhantomData<T>);

impl<T: Trace> Value<T> {
    const KIND: &'static Kind = &Kind {
        trace: trace_value::<T>,
        end: if needs_drop::<T>() {
            End::Drop(drop_value::<T>)
        } else {
            End::Nothing
        },
    };
}

/// Reports the references of a value.
///
/// # Safety
/// S1: the object is a live `T`.
unsafe fn trace_value<T: Trace>(object: NonNull<u8>, _from: u32, tracer: &mut Tracer<'_>) {
    // SAFETY: S1.
    unsafe { object.cast::<T>().as_ref() }.trace(tracer);
}

/// Drops a value.
///
/// # Safety
/// S1: the object is a `T` that is not used again.
unsafe fn drop_value<T>(object: NonNull<u8>) {
    // SAFETY: S1.
    unsafe { object.cast::<T>().drop_in_place() };
}

impl<T: Trace> Gc<'_, T> {
    /// Bytes of the heap that an object takes, header and type included: ask
    /// [`Arena::ensure`](crate::Arena::ensure) for these. Where free chunks are short, an object
    /// may take 8 bytes more.
    pub const BYTES: usize = chunk_bytes(Value::<T>::KIND, Layout::new::<T>());
}

impl<'gc> Mutation<'gc> {
    pub(super) fn new(allocator: &'gc Allocator<'gc, dyn Supply + 'gc>) -> Self {
        Self {
            allocator,
            brand: PhantomData,
        }
    }

    /// Allocates an object.
    ///
    /// # Errors
    /// [`Full`] if there is no room now, or can never be; the value is dropped.
    ///
    /// # Complexity
    /// One comparison and a few stores; when the bump chunk is used up, what the index takes to
    /// find another one. A type that is not among the last 64 or so is searched among all of them.
    #[inline]
    pub fn alloc<T: Trace + 'gc>(&self, value: T) -> Result<Gc<'gc, T>, Full> {
        let (kind, layout) = (Value::<T>::KIND, Layout::new::<T>());
        let (place, number) = self.allocator.claim(kind, layout)?;
        let object = place.object.cast::<T>();
        // SAFETY: claimed for this layout, and nobody else's.
        unsafe { object.write(value) };
        // SAFETY: S1: claimed for the kind, and written.
        unsafe { self.allocator.finish(&place, kind, number) };
        // SAFETY: S1: it holds a `T`, and nothing is freed while `'gc` lasts.
        Ok(unsafe { Gc::new(object) })
    }

    /// Allocates an array. `element` makes its elements one after the other, and may allocate.
    ///
    /// # Errors
    /// [`Full`] if there is no room now, or can never be; then no element is made.
    ///
    /// # Panics
    /// If `element` panics; the elements that it made are dropped.
    pub fn alloc_array<T: Trace + 'gc>(
        &self,
        length: usize,
        element: impl FnMut(usize) -> T,
    ) -> Result<GcArray<'gc, T>, Full> {
        self.alloc_array_noted(length, element, |_| {})
    }

    /// As [`Mutation::alloc_array`]. `note` is called with the object before any element is made.
    #[inline]
    pub(super) fn alloc_array_noted<T: Trace + 'gc>(
        &self,
        length: usize,
        mut element: impl FnMut(usize) -> T,
        note: impl FnOnce(NonNull<u8>),
    ) -> Result<GcArray<'gc, T>, Full> {
        let fill = |elements: NonNull<T>| {
            let mut made = Made { elements, count: 0 };
            while made.count < length {
                let next = element(made.count);
                // SAFETY: less than the length.
                unsafe { elements.add(made.count).write(next) };
                made.count += 1;
            }
            core::mem::forget(made);
        };
        // SAFETY: S1: every element is written.
        unsafe { self.alloc_filled(length, note, fill) }
    }

    /// Allocates a copy of a string.
    ///
    /// # Errors
    /// As [`Mutation::alloc_array`].
    pub fn alloc_str(&self, string: &str) -> Result<GcStr<'gc>, Full> {
        let length = string.len();
        let fill = |bytes: NonNull<u8>| {
            let string = NonNull::from(string).cast();
            // SAFETY: both are so long, and the array is nobody else's.
            unsafe { bytes.copy_from_nonoverlapping(string, length) };
        };
        // SAFETY: S1: every byte is written.
        let bytes = unsafe { self.alloc_filled(length, |_| {}, fill) }?;
        // SAFETY: S1: the bytes of a `str`.
        Ok(unsafe { GcStr::new(bytes) })
    }

    /// Allocates an array that `fill` fills, after `note` is called with the object.
    ///
    /// # Safety
    /// S1: `fill` writes all elements, unless it unwinds.
    unsafe fn alloc_filled<T: Trace + 'gc>(
        &self,
        length: usize,
        note: impl FnOnce(NonNull<u8>),
        fill: impl FnOnce(NonNull<T>),
    ) -> Result<GcArray<'gc, T>, Full> {
        let kind = Array::<T>::KIND;
        let layout = Array::<T>::layout(length).unwrap_or(NOWHERE);
        let (place, number) = self.allocator.claim(kind, layout)?;
        // SAFETY: S1: claimed. Until it is finished, the object has no value.
        unsafe { place.set_kind(UNFINISHED) };
        note(place.object);
        let array = place.object.cast::<Array<T>>();
        // SAFETY: S1: claimed for this layout, and nobody else's.
        fill(unsafe { Array::begin(array, length) });
        // SAFETY: S1: claimed for the kind, and filled (S1 of this function).
        unsafe { self.allocator.finish(&place, kind, number) };
        // SAFETY: S1: written, and nothing is freed while `'gc` lasts.
        Ok(unsafe { GcArray::new(array) })
    }

    /// Allocates a weak reference to an object.
    ///
    /// # Errors
    /// As [`Mutation::alloc`].
    pub fn downgrade<T>(&self, object: Gc<'gc, T>) -> Result<WeakGc<'gc, T>, Full> {
        let layout = Layout::new::<WeakCell>();
        let (place, number) = self.allocator.claim(WEAK, layout)?;
        let cell = place.object.cast::<WeakCell>();
        // SAFETY: claimed for this layout, and nobody else's.
        unsafe { cell.write(WeakCell::new(object.as_ptr().cast())) };
        // SAFETY: S1: claimed for the kind, and written.
        unsafe { self.allocator.finish(&place, WEAK, number) };
        // SAFETY: S1: it holds a weak cell.
        let cell = unsafe { Gc::new(cell) };
        // SAFETY: S1: its target is that object.
        Ok(unsafe { WeakGc::new(cell) })
    }

    /// Free bytes, headers included. They may be in chunks that are too short for a request.
    #[must_use]
    pub fn free_bytes(&self) -> usize {
        self.allocator.free_bytes()
    }

    /// Why the last refused request was refused; `None` if none was.
    #[must_use]
    pub fn refused(&self) -> Option<Refused> {
        self.allocator.refused()
    }
}

/// The elements that were made so far. They are dropped if making the next one unwinds.
struct Made<T> {
    elements: NonNull<T>,
    count: usize,
}

impl<T> Drop for Made<T> {
    fn drop(&mut self) {
        let made = NonNull::slice_from_raw_parts(self.elements, self.count);
        // SAFETY: written, and of an array that was not finished, so that nobody knows of them.
        unsafe { made.drop_in_place() };
    }
}

/// A layout for which no heap has room.
const NOWHERE: Layout = match Layout::from_size_align(isize::MAX as usize, 1) {
    Ok(layout) => layout,
    Err(_) => Layout::new::<()>(),
};

impl fmt::Debug for Mutation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutation")
            .field("free_bytes", &self.free_bytes())
            .finish_non_exhaustive()
    }
}
