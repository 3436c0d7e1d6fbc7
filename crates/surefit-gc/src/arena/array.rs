//! Arrays, whose length is fixed when they are allocated, and strings.
//!
//! ```text
//! | header | length: one word of the machine | element 0 | element 1 | ... | link | kind |
//! ```
//! The elements begin at the next multiple of their alignment. A reference to an array is one
//! pointer; the length is in the object.

use core::alloc::Layout;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;
use core::ptr::NonNull;

use super::gc::Gc;
use super::kinds::{End, Kind};
use super::trace::{Trace, Tracer};

/// The length in front of the elements. No value of this type is ever made.
#[repr(C)]
pub(super) struct Array<T> {
    length: usize,
    elements: [T; 0],
}

impl<T: Trace> Array<T> {
    pub(super) const KIND: &'static Kind = &Kind {
        trace: trace_elements::<T>,
        end: if core::mem::needs_drop::<T>() {
            End::Drop(drop_elements::<T>)
        } else {
            End::Nothing
        },
    };

    /// Whether elements can hold references.
    const TRACED: bool = T::TRACED && size_of::<T>() > 0;
}

impl<T> Array<T> {
    /// The layout of an array of `length` elements, if there is one.
    pub(super) fn layout(length: usize) -> Option<Layout> {
        let elements = Layout::array::<T>(length).ok()?;
        let (layout, _) = Layout::new::<Self>().extend(elements).ok()?;
        Some(layout)
    }

    /// Writes the length. Returns where the first element is.
    ///
    /// # Safety
    /// S1: `array` is room for the layout of `length` elements, and belongs to the caller alone.
    pub(super) const unsafe fn begin(array: NonNull<Self>, length: usize) -> NonNull<T> {
        // SAFETY: S1.
        unsafe { (&raw mut (*array.as_ptr()).length).write(length) };
        // SAFETY: S1: the length was written.
        unsafe { elements(array) }.cast()
    }
}

/// A reference to an array of `T` in an arena: one pointer, which derefs to a slice.
///
/// [`Mutation::alloc_array`](crate::Mutation::alloc_array) makes it. Elements change by interior
/// mutability.
pub struct GcArray<'gc, T> {
    array: NonNull<Array<T>>,
    brand: PhantomData<Gc<'gc, T>>,
}

impl<'gc, T> GcArray<'gc, T> {
    /// A reference to an array.
    ///
    /// # Safety
    /// S1: `array` is a live object of the arena of `'gc`; its length and its elements were
    /// written.
    pub(super) const unsafe fn new(array: NonNull<Array<T>>) -> Self {
        Self {
            array,
            brand: PhantomData,
        }
    }

    /// The elements, for as long as the mutation lasts.
    #[inline]
    #[must_use]
    pub const fn as_slice(self) -> &'gc [T] {
        // SAFETY: S1 of `new`, and A1.
        unsafe { elements(self.array).as_ref() }
    }

    /// Whether two references name the same array.
    #[inline]
    #[must_use]
    pub fn ptr_eq(self, other: Self) -> bool {
        self.array == other.array
    }
}

/// The elements of an array.
///
/// # Safety
/// S1: the array is an object whose length was written.
const unsafe fn elements<T>(array: NonNull<Array<T>>) -> NonNull<[T]> {
    let array = array.as_ptr();
    // SAFETY: S1: inside the object.
    let length = unsafe { (*array).length };
    // SAFETY: S1: inside the object, or at its end.
    let first = unsafe { &raw mut (*array).elements };
    // SAFETY: no object is at address 0.
    let first = unsafe { NonNull::new_unchecked(first.cast()) };
    NonNull::slice_from_raw_parts(first, length)
}

/// Reports the references of a stride of elements.
///
/// # Safety
/// S1: the object is a live array of `T`.
unsafe fn trace_elements<T: Trace>(object: NonNull<u8>, stride: u32, tracer: &mut Tracer<'_>) {
    if !Array::<T>::TRACED {
        return;
    }
    // SAFETY: S1.
    let elements = unsafe { elements::<T>(object.cast()).as_ref() };
    let mut strides = elements.chunks(Tracer::STRIDE).skip(stride as usize);
    let Some(elements) = strides.next() else {
        return;
    };
    if strides.next().is_some() {
        tracer.again_from(object, stride + 1);
    }
    elements.iter().for_each(|element| element.trace(tracer));
}

/// Drops the elements.
///
/// # Safety
/// S1: the object is an array of `T` that is not used again.
unsafe fn drop_elements<T>(object: NonNull<u8>) {
    // SAFETY: S1.
    let elements = unsafe { elements::<T>(object.cast()) };
    // SAFETY: S1: initialised, and dropped this once.
    unsafe { elements.drop_in_place() };
}

impl<T> Clone for GcArray<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for GcArray<'_, T> {}

impl<T> Deref for GcArray<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

/// Shows only the address and the length: elements may lead back to the array.
impl<T> fmt::Debug for GcArray<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GcArray({:?}; {})", self.array, self.len())
    }
}

// SAFETY: T1: it is reported. T2: it has no `Drop`. T3: nothing is changed. T4: `T: 'gc` is written
// down.
unsafe impl<'gc, T: Trace + 'gc> Trace for GcArray<'gc, T> {
    const TRACED: bool = true;

    #[inline]
    fn trace(&self, tracer: &mut Tracer<'_>) {
        tracer.reach(self.array.cast(), Array::<T>::TRACED);
    }
}

/// A reference to a string in an arena: one pointer, which derefs to a `str`.
///
/// [`Mutation::alloc_str`](crate::Mutation::alloc_str) makes it.
#[derive(Clone, Copy)]
pub struct GcStr<'gc> {
    bytes: GcArray<'gc, u8>,
}

impl<'gc> GcStr<'gc> {
    /// A string, whose bytes are those of a `str`.
    ///
    /// # Safety
    /// S1: the bytes are UTF-8.
    pub(super) const unsafe fn new(bytes: GcArray<'gc, u8>) -> Self {
        Self { bytes }
    }

    /// The object.
    pub(super) const fn object(self) -> NonNull<u8> {
        self.bytes.array.cast()
    }

    /// The string, for as long as the mutation lasts.
    #[inline]
    #[must_use]
    pub const fn as_str(self) -> &'gc str {
        // SAFETY: S1 of `new`; bytes have no interior mutability.
        unsafe { core::str::from_utf8_unchecked(self.bytes.as_slice()) }
    }
}

impl Deref for GcStr<'_> {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Debug for GcStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for GcStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

// SAFETY: T1: it is reported. T2: it has no `Drop`. T3: nothing is changed.
unsafe impl Trace for GcStr<'_> {
    const TRACED: bool = true;

    #[inline]
    fn trace(&self, tracer: &mut Tracer<'_>) {
        self.bytes.trace(tracer);
    }
}
