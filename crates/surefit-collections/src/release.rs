//! Giving back what a value owns in a heap.

use surefit_compact::branded::{BrandedBytes, BrandedHandle, BrandedHeap};
use surefit_compact::{Byte, ByteVec, Bytes, Handle, Heap, Width};

/// A value that may own objects of a heap `H`, and gives them back.
///
/// A handle that is dropped leaks its object. So a container releases the values that it discards,
/// with their own handles inside. A type that owns nothing in a heap says so with an empty
/// implementation; one that does releases its fields.
///
/// # Examples
/// ```
/// use surefit_collections::{ByteHeap, ByteString, Checked, Release};
///
/// #[derive(Clone, Copy)]
/// struct Point(i32, i32);
/// impl<H> Release<H> for Point {}
///
/// struct Place {
///     at: Point,
///     name: ByteString,
/// }
/// impl<H: ByteHeap<Names = Checked>> Release<H> for Place {
///     fn release(self, heap: &mut H) {
///         self.name.release(heap);
///     }
/// }
/// ```
pub trait Release<H: ?Sized>: Sized {
    /// Whether values own nothing in the heap, and dropping them does nothing: then a container
    /// discards them without a call for each. `false` is always right.
    const OWNS_NOTHING: bool = false;

    /// Gives back what the value owns in the heap, and drops the value.
    fn release(self, heap: &mut H) {
        let _ = heap;
    }

    /// Whether the value may be released into this heap: `false` if what it owns is of another one,
    /// for which [`Release::release`] panics. A container asks, while a panic unwinds, before it
    /// releases a key or a value that it was given, since a second panic would end the process;
    /// what is of another heap leaks. `true` is right for a value that owns nothing. Containers
    /// answer for their own object, not for those of their elements; [`Handle`] and [`Bytes`] do
    /// not know.
    fn belongs_to(&self, heap: &H) -> bool {
        let _ = heap;
        true
    }
}

/// Types that own nothing in a heap.
macro_rules! plain {
    ($($plain:ty)*) => {
        $(impl<H: ?Sized> Release<H> for $plain {
            const OWNS_NOTHING: bool = true;
        })*
    };
}

plain! {
    () bool char u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64
    core::num::NonZeroU8 core::num::NonZeroU16 core::num::NonZeroU32 core::num::NonZeroU64
    core::num::NonZeroUsize core::time::Duration
}

plain!(core::convert::Infallible);

/// Not for every reference: `value.release(heap)` of a type without an implementation would
/// compile, and release nothing.
impl<H: ?Sized> Release<H> for &str {
    const OWNS_NOTHING: bool = true;
}

impl<H: ?Sized, T: Release<H>> Release<H> for Option<T> {
    const OWNS_NOTHING: bool = T::OWNS_NOTHING;

    #[inline]
    fn release(self, heap: &mut H) {
        if let Some(value) = self {
            value.release(heap);
        }
    }

    fn belongs_to(&self, heap: &H) -> bool {
        self.as_ref().is_none_or(|value| value.belongs_to(heap))
    }
}

/// Releases a value when it is dropped, unless the value was taken out, as it is where nothing
/// unwinds: so a panic of user code meanwhile leaks nothing. A value of another heap is left: its
/// release would panic again.
pub(crate) struct Later<'a, H: ?Sized, T: Release<H>> {
    value: Option<T>,
    pub(crate) heap: &'a mut H,
}

impl<'a, H: ?Sized, T: Release<H>> Later<'a, H, T> {
    #[inline]
    pub(crate) const fn new(value: T, heap: &'a mut H) -> Self {
        Self {
            value: Some(value),
            heap,
        }
    }

    /// The value.
    #[inline]
    pub(crate) fn value(&self) -> &T {
        self.value.as_ref().expect("it was not taken out")
    }

    /// Takes the value out.
    #[inline]
    pub(crate) fn into_value(mut self) -> T {
        self.value.take().expect("it was not taken out")
    }
}

/// Releases one value and returns another, which is released too if the release of the first one
/// panics.
#[inline]
pub(crate) fn release_and_keep<H: ?Sized, T: Release<H>, U: Release<H>>(
    released: T,
    heap: &mut H,
    kept: U,
) -> U {
    let later = Later::new(kept, heap);
    released.release(later.heap);
    later.into_value()
}

impl<H: ?Sized, T: Release<H>> Drop for Later<'_, H, T> {
    fn drop(&mut self) {
        if let Some(value) = self
            .value
            .take()
            .filter(|value| value.belongs_to(self.heap))
        {
            value.release(self.heap);
        }
    }
}

impl<H: ?Sized, T: Release<H>, U: Release<H>> Release<H> for (T, U) {
    const OWNS_NOTHING: bool = T::OWNS_NOTHING && U::OWNS_NOTHING;

    #[inline]
    fn release(self, heap: &mut H) {
        let (first, second) = self;
        release_and_keep(first, heap, second).release(heap);
    }

    fn belongs_to(&self, heap: &H) -> bool {
        self.0.belongs_to(heap) && self.1.belongs_to(heap)
    }
}

impl<H: ?Sized, T: Release<H>, const N: usize> Release<H> for [T; N] {
    const OWNS_NOTHING: bool = T::OWNS_NOTHING;

    fn release(self, heap: &mut H) {
        release_all(self.into_iter(), heap);
    }

    fn belongs_to(&self, heap: &H) -> bool {
        self.iter().all(|value| value.belongs_to(heap))
    }
}

/// Releases all values that are left, also those behind one whose release panics.
pub(crate) fn release_all<H: ?Sized, T: Release<H>>(values: impl Iterator<Item = T>, heap: &mut H) {
    struct All<'a, H: ?Sized, T: Release<H>, I: Iterator<Item = T>>(I, &'a mut H);

    impl<H: ?Sized, T: Release<H>, I: Iterator<Item = T>> Drop for All<'_, H, T, I> {
        fn drop(&mut self) {
            for value in self.0.by_ref() {
                value.release(self.1);
            }
        }
    }

    let mut all = All(values, heap);
    for value in all.0.by_ref() {
        value.release(all.1);
    }
}

/// The handles of a heap of checked names.
macro_rules! handles {
    ($owner:ty $(, $life:lifetime)?) => {
        impl<$($life,)? T: Release<$owner>, W: Width> Release<$owner> for Handle<T> {
            fn release(self, heap: &mut $owner) {
                heap.remove(self).release(heap);
            }
        }

        impl<$($life,)? B: Byte, W: Width> Release<$owner> for Bytes<B> {
            fn release(self, heap: &mut $owner) {
                heap.free_bytes(self);
            }
        }
    };
}

handles!(Heap<'m, W>, 'm);
#[cfg(feature = "std")]
handles!(surefit_compact::BoxedHeap<W>);
#[cfg(feature = "os")]
handles!(surefit_compact::os::OsHeap<'m, W>, 'm);

impl<W: Width> Release<Heap<'_, W>> for ByteVec {
    fn release(self, heap: &mut Heap<'_, W>) {
        self.free(heap);
    }
}

impl<'m, B, T, W: Width> Release<BrandedHeap<'m, B, W>> for BrandedHandle<B, T>
where
    T: Release<BrandedHeap<'m, B, W>>,
{
    fn release(self, heap: &mut BrandedHeap<'m, B, W>) {
        heap.remove(self).release(heap);
    }
}

impl<B, Y: Byte, W: Width> Release<BrandedHeap<'_, B, W>> for BrandedBytes<B, Y> {
    fn release(self, heap: &mut BrandedHeap<'_, B, W>) {
        heap.free_bytes(self);
    }
}
