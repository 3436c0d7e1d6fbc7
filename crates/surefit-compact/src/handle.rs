//! Handles: owning names of objects that the heap may move.

use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::num::{NonZeroU32, NonZeroU64};

use surefit_core::{Numbers, Refused};

/// The process-unique number of a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeapId(NonZeroU32);

impl HeapId {
    /// A number that no other heap of this process has or had.
    pub(crate) fn unique() -> Result<Self, Refused> {
        static HEAPS: Numbers = Numbers::new();
        HEAPS.next().map(Self).ok_or(Refused::NoHeapId)
    }

    /// The number.
    pub(crate) const fn get(self) -> u32 {
        self.0.get()
    }

    /// The heap of that number, which must not be zero.
    #[inline]
    pub(crate) const fn numbered(number: u32) -> Option<Self> {
        match NonZeroU32::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }
}

/// An entry as names carry it: its number, counted down from the largest one.
///
/// The address table grows down too. So the word of an entry is `Number` times its size behind an
/// address that is the same for all of them, and the processor computes where it is while it loads
/// it. Every instruction less between two loads lets more accesses wait for memory at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number(u32);

impl Number {
    #[inline]
    pub(crate) const fn of(index: u32) -> Self {
        Self(!index)
    }

    #[inline]
    pub(crate) const fn index(self) -> u32 {
        !self.0
    }

    /// The number itself, for example of a name that stores it.
    #[inline]
    pub(crate) const fn get(self) -> u32 {
        self.0
    }

    /// The number of which this is [`Number::get`].
    #[inline]
    pub(crate) const fn stored(number: u32) -> Self {
        Self(number)
    }
}

/// The number of an entry and that of its heap, in one word.
///
/// This is not two fields, because the compiler copies a handle as one word, and loading a word
/// that was just stored in halves stalls (5 ns per allocation on the machine where it was
/// measured).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name(NonZeroU64);

impl Name {
    #[inline]
    pub(crate) const fn new(index: u32, heap: HeapId) -> Self {
        let word = (heap.0.get() as u64) << 32 | Number::of(index).get() as u64;
        match NonZeroU64::new(word) {
            Some(word) => Self(word),
            None => unreachable!(),
        }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the low half")]
    pub(crate) const fn number(self) -> Number {
        Number::stored(self.0.get() as u32)
    }

    #[inline]
    pub(crate) const fn index(self) -> u32 {
        self.number().index()
    }

    /// The number of the heap.
    #[inline]
    pub(crate) const fn heap_number(self) -> u32 {
        (self.0.get() >> 32) as u32
    }

    /// Both numbers in one word.
    pub(crate) const fn to_word(self) -> NonZeroU64 {
        self.0
    }

    /// The name of which this is [`Name::to_word`].
    pub(crate) const fn of_word(word: NonZeroU64) -> Self {
        Self(word)
    }

    /// Whether the name belongs to this heap.
    #[inline]
    pub(crate) const fn is_of(self, heap: HeapId) -> bool {
        self.0.get() >> 32 == heap.0.get() as u64
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "object {} of heap {}", self.index(), self.0.get() >> 32)
    }
}

/// Makes a type invariant in `T`.
type Invariant<T> = fn(T) -> T;

/// An owning name of a `T` in a [`Heap`](crate::Heap): a relocatable box of eight bytes.
///
/// It is neither `Copy` nor `Clone`: freeing consumes it, so safe code cannot free an object twice
/// or use a freed object. Dropping it without freeing leaks the object, as forgetting a box does.
/// At the end of a program or of a test, [`Heap::live_blocks`](crate::Heap::live_blocks) lists what
/// leaked:
///
/// ```
/// # use surefit_compact::{Config, Heap};
/// # static CONFIG: Config = Config::DEFAULT;
/// # let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
/// let mut heap: Heap = Heap::new(&mut memory, &CONFIG)?;
/// let (kept, leaked) = (heap.insert([1_u64; 3])?, heap.insert([2_u64; 5])?);
/// drop(leaked);
/// heap.free(kept);
/// let leaked: Vec<u32> = heap.live_blocks().map(|block| block.block_bytes).collect();
/// assert_eq!(leaked, [40]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ```compile_fail
/// # use surefit_compact::{Config, Heap};
/// # static CONFIG: Config = Config::DEFAULT;
/// # let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
/// let mut heap: Heap = Heap::new(&mut memory, &CONFIG).unwrap();
/// let handle = heap.insert(7_u64).unwrap();
/// heap.free(handle);
/// heap.get(&handle); // the handle is gone
/// ```
#[must_use = "dropping a handle leaks its object"]
pub struct Handle<T> {
    pub(crate) name: Name,
    object: PhantomData<(T, Invariant<T>)>,
}

impl<T> Handle<T> {
    #[inline]
    pub(crate) const fn new(name: Name) -> Self {
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

const _: () = assert!(size_of::<Handle<[u64; 9]>>() == 8 && size_of::<Option<Handle<u8>>>() == 8);

mod sealed {
    pub trait Sealed {}
    impl Sealed for u8 {}
    impl Sealed for core::mem::MaybeUninit<u8> {}
}

/// The contents of a byte object: `u8`, initialised, or `MaybeUninit<u8>`.
pub trait Byte: sealed::Sealed + Copy + 'static {
    /// Whether bytes that are added to an object are zeroed.
    const ZEROED: bool;
}

impl Byte for u8 {
    const ZEROED: bool = true;
}

impl Byte for MaybeUninit<u8> {
    const ZEROED: bool = false;
}

/// An owning name of a byte object in a [`Heap`](crate::Heap), and its length: what `Box<[u8]>` is
/// to `Box<T>`.
///
/// An object over the configuration's piece size is kept in pieces. Programs access its bytes by
/// position, by chunk, or as an I/O vector.
#[must_use = "dropping a handle leaks its object"]
pub struct Bytes<B: Byte = u8> {
    pub(crate) name: Name,
    len: usize,
    bytes: PhantomData<B>,
}

impl<B: Byte> Bytes<B> {
    #[inline]
    pub(crate) const fn new(name: Name, len: usize) -> Self {
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
}

impl<B: Byte> Bytes<B> {
    /// Forgets the length. The caller has to know it to name the object again.
    #[inline]
    pub const fn into_name(self) -> BytesName<B> {
        BytesName {
            name: self.name,
            bytes: PhantomData,
        }
    }
}

/// An owning name of a byte object without its length: eight bytes, for a table that has the
/// lengths elsewhere.
///
/// It gives access to nothing: add the length again first.
///
/// # Examples
/// ```
/// use core::alloc::Layout;
/// use surefit_compact::{Config, Heap};
///
/// static CONFIG: Config = Config::DEFAULT;
/// let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
/// let mut heap: Heap = Heap::new(&mut memory, &CONFIG)?;
/// let name = heap.alloc_zeroed(Layout::new::<[u8; 24]>())?.into_name();
/// assert_eq!(size_of_val(&name), 8);
/// // SAFETY: the object has 24 bytes.
/// let bytes = unsafe { name.with_len(24) };
/// assert_eq!(heap.chunk(&bytes, 0), [0; 24]);
/// heap.free_bytes(bytes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

const _: () = assert!(size_of::<BytesName>() == 8 && size_of::<Option<BytesName>>() == 8);

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

/// A value for which there was no room, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full<T> {
    /// The value, returned to the caller.
    pub value: T,
    /// What was exhausted.
    pub refused: Refused,
}

impl<T> fmt::Display for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refused.fmt(f)
    }
}

impl<T: fmt::Debug> core::error::Error for Full<T> {}
