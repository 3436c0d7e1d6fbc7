//! Copies of values that may own objects of a heap.
#![deny(unsafe_code)]

use core::convert::Infallible;

use surefit_core::Refused;

use crate::heap::ByteHeap;
use crate::names::Names;
use crate::release::Release;
use crate::storage::Vec;

/// A value of which a copy may be refused: what `Clone` is for values that own nothing in a heap.
///
/// # Examples
/// ```
/// use core::convert::Infallible;
/// use surefit_collections::TryClone;
/// use surefit_core::Refused;
///
/// #[derive(Clone, Copy)]
/// struct Point(i32, i32);
/// impl<H> TryClone<H> for Point {
///     type Partial = Infallible;
///     fn try_clone_in(&self, _: &H) -> Result<Self, (Option<Infallible>, Refused)> {
///         Ok(*self)
///     }
/// }
/// ```
pub trait TryClone<H: ?Sized>: Sized {
    /// What was copied when the copy was refused, to be released: [`Infallible`] if there is never
    /// any.
    type Partial;

    /// A copy. It only allocates, so nothing moves.
    ///
    /// # Errors
    /// What was copied before, for the caller to release, and what was exhausted.
    ///
    /// # Panics
    /// If the copy of an element does: then what was copied before leaks.
    fn try_clone_in(&self, heap: &H) -> Result<Self, (Option<Self::Partial>, Refused)>;
}

/// Copies a value, or releases what was copied before the copy was refused.
pub(crate) fn try_clone<H, T: TryClone<H, Partial: Release<H>>>(
    value: &T,
    heap: &mut H,
) -> Result<T, Refused> {
    value.try_clone_in(heap).map_err(|(partial, refused)| {
        partial.release(heap);
        refused
    })
}

/// Types that own nothing in a heap.
macro_rules! plain {
    ($($plain:ty)*) => {
        $(impl<H: ?Sized> TryClone<H> for $plain {
            type Partial = Infallible;

            #[inline]
            fn try_clone_in(&self, _: &H) -> Result<Self, (Option<Infallible>, Refused)> {
                Ok(*self)
            }
        })*
    };
}

plain! {
    () bool char u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64
    core::num::NonZeroU8 core::num::NonZeroU16 core::num::NonZeroU32 core::num::NonZeroU64
    core::num::NonZeroUsize core::time::Duration
}

impl<H: ?Sized, T: TryClone<H>> TryClone<H> for Option<T> {
    type Partial = T::Partial;

    fn try_clone_in(&self, heap: &H) -> Result<Self, (Option<T::Partial>, Refused)> {
        match self {
            Some(value) => value.try_clone_in(heap).map(Some),
            None => Ok(None),
        }
    }
}

impl<H: ?Sized, T: TryClone<H>, U: TryClone<H>> TryClone<H> for (T, U) {
    type Partial = (Option<T::Partial>, Option<(T, Option<U::Partial>)>);

    fn try_clone_in(&self, heap: &H) -> Result<Self, (Option<Self::Partial>, Refused)> {
        let first = match self.0.try_clone_in(heap) {
            Ok(first) => first,
            Err((partial, refused)) => return Err((Some((partial, None)), refused)),
        };
        match self.1.try_clone_in(heap) {
            Ok(second) => Ok((first, second)),
            Err((partial, refused)) => Err((Some((None, Some((first, partial)))), refused)),
        }
    }
}

impl<T, N, H> TryClone<H> for Vec<T, N>
where
    T: TryClone<H> + Send,
    N: Names,
    H: ByteHeap<Names = N>,
{
    type Partial = (Self, Option<T::Partial>);

    fn try_clone_in(&self, heap: &H) -> Result<Self, (Option<Self::Partial>, Refused)> {
        clone_with_capacity(self, heap, self.len())
    }
}

/// What is returned where a copy of a vector is refused.
type Refusal<T, N, H> = (Option<<Vec<T, N> as TryClone<H>>::Partial>, Refused);

/// A copy of a vector with room for `capacity` elements, no fewer than there are.
pub(crate) fn clone_with_capacity<T, N, H>(
    vec: &Vec<T, N>,
    heap: &H,
    capacity: usize,
) -> Result<Vec<T, N>, Refusal<T, N, H>>
where
    T: TryClone<H> + Send,
    N: Names,
    H: ByteHeap<Names = N>,
{
    if !vec.is_of(heap) {
        return Err((None, Refused::ForeignHandle));
    }
    let copy = Vec::with_capacity(heap, capacity);
    let mut copy = copy.map_err(|refused| (None, refused))?;
    for value in vec.iter(heap) {
        match value.try_clone_in(heap) {
            Ok(value) => {
                let pushed = copy.push_within_capacity(heap, value);
                debug_assert!(pushed.is_ok(), "room was made");
            }
            Err((partial, refused)) => return Err((Some((copy, partial)), refused)),
        }
    }
    Ok(copy)
}
