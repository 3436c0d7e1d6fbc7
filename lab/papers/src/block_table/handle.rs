//! Handles: owning names of objects whose bytes never move.

use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::num::NonZeroU64;

use surefit_compact::Byte;
use surefit_core::{Numbers, Refused};

/// The process-unique number of a heap; not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeapId(u32);

impl HeapId {
    /// A number that no other heap of this process has or had.
    pub(super) fn unique() -> Result<Self, Refused> {
        static HEAPS: Numbers = Numbers::new();
        let number = HEAPS.next().ok_or(Refused::NoHeapId)?;
        Ok(Self(number.get()))
    }
}

/// The number of a row's entry and that of its heap, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name(NonZeroU64);

impl Name {
    #[inline]
    pub(super) const fn new(entry: u32, heap: HeapId) -> Self {
        match NonZeroU64::new((heap.0 as u64) << 32 | entry as u64) {
            Some(word) => Self(word),
            None => panic!("no heap has the number zero"),
        }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the low half")]
    pub(super) const fn entry(self) -> u32 {
        self.0.get() as u32
    }

    /// Whether the name belongs to this heap.
    #[inline]
    pub(super) const fn is_of(self, heap: HeapId) -> bool {
        self.0.get() >> 32 == heap.0 as u64
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "object {} of heap {}", self.entry(), self.0.get() >> 32)
    }
}

/// Makes a type invariant in `T`.
type Invariant<T> = fn(T) -> T;

/// An owning name of a `T` in a [`BlockTableHeap`](super::BlockTableHeap).
///
/// It is neither `Copy` nor `Clone`: freeing consumes it.
#[must_use = "dropping a handle leaks its object"]
pub struct Handle<T> {
    pub(super) name: Name,
    object: PhantomData<(T, Invariant<T>)>,
}

impl<T> Handle<T> {
    #[inline]
    pub(super) const fn new(name: Name) -> Self {
        Self {
            name,
            object: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle({})", self.name)
    }
}

/// An owning name of a byte object in a [`BlockTableHeap`](super::BlockTableHeap), and its length.
#[must_use = "dropping a handle leaks its object"]
pub struct Bytes<B: Byte = u8> {
    pub(super) name: Name,
    len: usize,
    bytes: PhantomData<B>,
}

impl<B: Byte> Bytes<B> {
    #[inline]
    pub(super) const fn new(name: Name, len: usize) -> Self {
        Self {
            name,
            len,
            bytes: PhantomData,
        }
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
    pub const fn into_name(self) -> BytesName<B> {
        BytesName {
            name: self.name,
            bytes: PhantomData,
        }
    }
}

impl Bytes<u8> {
    /// The same object, without the promise that its bytes are initialised.
    pub const fn into_uninit(self) -> Bytes<MaybeUninit<u8>> {
        Bytes::new(self.name, self.len)
    }
}

impl Bytes<MaybeUninit<u8>> {
    /// The same object, with the promise that its bytes are initialised.
    ///
    /// # Safety
    /// S1: every byte of the object was written.
    pub const unsafe fn assume_init(self) -> Bytes<u8> {
        Bytes::new(self.name, self.len)
    }
}

impl<B: Byte> fmt::Debug for Bytes<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({}, {} bytes)", self.name, self.len)
    }
}

/// An owning name of a byte object without its length: eight bytes, for a table that has the
/// lengths elsewhere.
#[must_use = "dropping a name leaks its object"]
pub struct BytesName<B: Byte = u8> {
    name: Name,
    bytes: PhantomData<B>,
}

impl<B: Byte> BytesName<B> {
    /// The object, with its length.
    ///
    /// # Safety
    /// S1: the object has this length: that of the [`Bytes`] from which the name was made.
    #[inline]
    pub const unsafe fn with_len(self, len: usize) -> Bytes<B> {
        Bytes::new(self.name, len)
    }
}

impl<B: Byte> fmt::Debug for BytesName<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BytesName({})", self.name)
    }
}

const _: () = assert!(size_of::<BytesName>() == 8 && size_of::<Option<Handle<u8>>>() == 8);
