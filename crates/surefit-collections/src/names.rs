//! How containers name their objects: by checked handles, or by those of a brand.

use core::fmt::Debug;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use surefit_compact::branded::{BrandedBytes, BrandedName};
use surefit_compact::{Bytes, BytesName};

use crate::short::ShortName;

pub(crate) mod sealed {
    /// Nobody else implements the traits that extend this one.
    pub trait Sealed {}
}

use sealed::Sealed;

/// A kind of names: [`Checked`] or [`Branded`].
pub trait Names: Sealed {
    /// An owning name of a byte object, and its length.
    #[doc(hidden)]
    type Bytes: Debug + Send;

    /// An owning name without the length.
    #[doc(hidden)]
    type Name: Debug + Send + ShortName<Self::Bytes>;

    /// The length of a byte object.
    #[doc(hidden)]
    fn len(bytes: &Self::Bytes) -> usize;

    /// Forgets the length.
    #[doc(hidden)]
    fn into_name(bytes: Self::Bytes) -> Self::Name;
}

/// Names that carry the number of their heap: every access compares it. For a
/// [`Heap`](surefit_compact::Heap), and for what owns one.
#[derive(Debug)]
pub enum Checked {}

/// Names of the one heap of a brand: a container used with another heap does not compile. For a
/// [`BrandedHeap`](surefit_compact::branded::BrandedHeap).
#[derive(Debug)]
pub struct Branded<B>(PhantomData<fn(B) -> B>);

impl Sealed for Checked {}

impl Names for Checked {
    type Bytes = Bytes<MaybeUninit<u8>>;
    type Name = BytesName<MaybeUninit<u8>>;

    #[inline]
    fn len(bytes: &Self::Bytes) -> usize {
        bytes.len()
    }

    #[inline]
    fn into_name(bytes: Self::Bytes) -> Self::Name {
        bytes.into_name()
    }
}

impl<B> Sealed for Branded<B> {}

impl<B> Names for Branded<B> {
    type Bytes = BrandedBytes<B, MaybeUninit<u8>>;
    type Name = BrandedName<B, MaybeUninit<u8>>;

    #[inline]
    fn len(bytes: &Self::Bytes) -> usize {
        bytes.len()
    }

    #[inline]
    fn into_name(bytes: Self::Bytes) -> Self::Name {
        bytes.into_name()
    }
}
