//! Handles without the number of their heap: the brand in their type names it.

use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::num::NonZeroU32;

use crate::handle::{Byte, Number};

/// The number of an entry, which is never zero.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stored(NonZeroU32);

impl Stored {
    #[inline]
    const fn new(index: u32) -> Self {
        // No entry has the last index: it is the end of lists (`Word::NIL`).
        match NonZeroU32::new(Number::of(index).get()) {
            Some(number) => Self(number),
            None => unreachable!(),
        }
    }

    #[inline]
    const fn number(self) -> Number {
        Number::stored(self.0.get())
    }
}

/// Makes a type invariant in `T`.
type Invariant<T> = fn(T) -> T;

/// An owning name of a `T` in the [`BrandedHeap`](super::BrandedHeap) of the brand `B`: four bytes.
///
/// It is neither `Copy` nor `Clone`: freeing consumes it. Dropping it without freeing leaks the
/// object.
///
/// A freed object cannot be used:
/// ```compile_fail
/// # use surefit_compact::{Config, Heap};
/// # static CONFIG: Config = Config::DEFAULT;
/// # let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
/// # let mut heap: Heap = Heap::new(&mut memory, &CONFIG).unwrap();
/// heap.branded(|heap| {
///     let handle = heap.insert(7_u64).unwrap();
///     heap.free(handle);
///     assert_eq!(*heap.get(&handle), 7); // the handle is gone
/// });
/// ```
#[must_use = "dropping a handle leaks its object"]
pub struct BrandedHandle<B, T> {
    number: Stored,
    object: PhantomData<(T, Invariant<T>, Invariant<B>)>,
}

impl<B, T> BrandedHandle<B, T> {
    #[inline]
    pub(super) const fn new(index: u32) -> Self {
        Self {
            number: Stored::new(index),
            object: PhantomData,
        }
    }

    #[inline]
    pub(super) const fn number(&self) -> Number {
        self.number.number()
    }

    #[inline]
    pub(super) const fn index(&self) -> u32 {
        self.number().index()
    }
}

impl<B, T> fmt::Debug for BrandedHandle<B, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BrandedHandle(object {})", self.index())
    }
}

/// An owning name of a byte object in the [`BrandedHeap`](super::BrandedHeap) of a brand, and its
/// length.
#[must_use = "dropping a handle leaks its object"]
pub struct BrandedBytes<B, Y: Byte = u8> {
    name: BrandedName<B, Y>,
    len: usize,
}

impl<B, Y: Byte> BrandedBytes<B, Y> {
    #[inline]
    pub(super) const fn new(index: u32, len: usize) -> Self {
        let name = BrandedName {
            number: Stored::new(index),
            bytes: PhantomData,
        };
        Self { name, len }
    }

    #[inline]
    pub(super) const fn number(&self) -> Number {
        self.name.number.number()
    }

    #[inline]
    pub(super) const fn index(&self) -> u32 {
        self.number().index()
    }

    /// The length in bytes.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the object has no bytes. Even then it has a name.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Forgets the length. The caller has to know it to name the object again.
    #[inline]
    pub const fn into_name(self) -> BrandedName<B, Y> {
        BrandedName {
            number: self.name.number,
            bytes: PhantomData,
        }
    }
}

impl<B> BrandedBytes<B, u8> {
    /// The same object, without the promise that its bytes are initialised.
    pub const fn into_uninit(self) -> BrandedBytes<B, MaybeUninit<u8>> {
        BrandedBytes::new(self.index(), self.len)
    }
}

impl<B> BrandedBytes<B, MaybeUninit<u8>> {
    /// The same object, with the promise that its bytes are initialised.
    ///
    /// # Safety
    /// S1: every byte of the object was written.
    pub const unsafe fn assume_init(self) -> BrandedBytes<B, u8> {
        BrandedBytes::new(self.index(), self.len)
    }
}

impl<B, Y: Byte> fmt::Debug for BrandedBytes<B, Y> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "BrandedBytes(object {}, {} bytes)",
            self.index(),
            self.len
        )
    }
}

/// An owning name of a byte object without its length: four bytes, for a table that has the lengths
/// elsewhere. It gives access to nothing: add the length again first.
#[must_use = "dropping a name leaks its object"]
pub struct BrandedName<B, Y: Byte = u8> {
    number: Stored,
    bytes: PhantomData<(Y, Invariant<B>)>,
}

impl<B, Y: Byte> BrandedName<B, Y> {
    /// The object, with its length.
    ///
    /// # Safety
    /// S1: the object has this length: that of the [`BrandedBytes`] from which the name was made.
    #[inline]
    pub const unsafe fn with_len(self, len: usize) -> BrandedBytes<B, Y> {
        BrandedBytes { name: self, len }
    }
}

impl<B, Y: Byte> fmt::Debug for BrandedName<B, Y> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BrandedName(object {})", self.number.number().index())
    }
}

const _: () = {
    assert!(size_of::<Option<BrandedHandle<(), [u64; 9]>>>() == 4);
    assert!(size_of::<Option<BrandedName<()>>>() == 4);
};
