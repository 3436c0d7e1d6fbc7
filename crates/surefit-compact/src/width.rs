//! The width of a heap's words: entries of the address table, and back-references.
//!
//! | region | width | bytes of entry and back-reference | an access reads |
//! | --- | --- | --- | --- |
//! | up to 32 GiB | [`Wide`] | 8 | one word |
//! | up to 128 MiB, where bytes matter most | [`Medium`] | 6 | a word in two parts |
//! | up to 1 MiB, pages of 1 KiB | [`Narrow`] | 4 | one word, and a block size |
//!
//! On recorded programs `Medium` needs .3 to 2.4 % less memory than `Wide`, and 6 to 16
//! instructions more per allocation or free. [`Keyed`] adds a generation to every entry. The links
//! and counts of pages and size-classes have four bytes in `Medium`, too: there are few.
#![deny(unsafe_code)]

use core::fmt::Debug;

mod sealed {
    pub trait Sealed {}
}

/// An unsigned word of a heap's tables.
pub trait Word: sealed::Sealed + Copy + Eq + Debug + 'static {
    /// The word that names nothing.
    const NIL: Self;
    /// The word as a number.
    fn get(self) -> u32;
    /// A number as a word. It must fit; the region was checked against the width.
    fn new(value: u32) -> Self;
}

macro_rules! word {
    ($($t:ty)*) => {$(
        impl sealed::Sealed for $t {}
        impl Word for $t {
            const NIL: Self = Self::MAX;
            #[inline]
            fn get(self) -> u32 {
                u32::from(self)
            }
            #[inline]
            #[allow(clippy::cast_possible_truncation, reason = "the value fits: Heap::new checks the region against the width")]
            fn new(value: u32) -> Self {
                debug_assert!(u64::from(value) <= u64::from(Self::MAX), "the region was checked against the width");
                value as $t
            }
        }
    )*};
}
word! { u16 u32 }

/// A word of three bytes, at any address. It is read and written as a word of two bytes and one of
/// one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreeBytes([u8; 3]);

impl sealed::Sealed for ThreeBytes {}
impl Word for ThreeBytes {
    const NIL: Self = Self([u8::MAX; 3]);

    #[inline]
    fn get(self) -> u32 {
        let [low, middle, high] = self.0;
        u32::from_le_bytes([low, middle, high, 0])
    }

    #[inline]
    fn new(value: u32) -> Self {
        let [low, middle, high, rest] = value.to_le_bytes();
        debug_assert!(rest == 0, "the region was checked against the width");
        Self([low, middle, high])
    }
}

/// The generation that a keyed entry carries. It never wraps: an entry that reaches the last one
/// retires.
pub trait Generation: sealed::Sealed + Copy + Eq + Debug + 'static {
    /// Bytes that the generation takes in an entry.
    const BYTES: usize;
    /// The generation of an entry that was never freed.
    const FIRST: Self;
    /// The generation of a retired entry; no key ever carries it.
    const RETIRED: Self;
    /// The next generation; `None` when the entry must retire.
    fn next(self) -> Option<Self>;
    /// The generation as a number.
    fn get(self) -> u32;
}

impl sealed::Sealed for () {}
impl Generation for () {
    const BYTES: usize = 0;
    const FIRST: Self = ();
    const RETIRED: Self = ();
    #[inline]
    fn next(self) -> Option<Self> {
        Some(())
    }
    #[inline]
    fn get(self) -> u32 {
        0
    }
}

impl sealed::Sealed for u8 {}

macro_rules! generation {
    ($($t:ty)*) => {$(
        impl Generation for $t {
            const BYTES: usize = size_of::<$t>();
            const FIRST: Self = 0;
            const RETIRED: Self = Self::MAX;
            #[inline]
            fn next(self) -> Option<Self> {
                self.checked_add(1).filter(|&next| next != Self::RETIRED)
            }
            #[inline]
            fn get(self) -> u32 {
                u32::from(self)
            }
        }
    )*};
}
generation! { u8 u16 u32 }

/// A generation that distinguishes the objects of an entry. Keys need one; `()` is not.
pub trait Counted: Generation {}
impl Counted for u8 {}
impl Counted for u16 {}
impl Counted for u32 {}

/// The width of a heap's words, and what an entry carries.
pub trait Width: sealed::Sealed + Debug + 'static {
    /// Entries and back-references: what there is of for every object.
    type Word: Word;
    /// Page numbers and counts, of which a page or a size-class has a few. No narrower than a word.
    type Count: Word;
    /// What an entry carries besides its location.
    type Generation: Generation;
    /// Bytes of a word: 2, 3 or 4.
    const WORD_BYTES: usize;
    /// Bytes of a spine per piece: a word, and up to a power of two, so that no word lies across
    /// two pieces of a spine.
    const SPINE_WORD_BYTES: usize = Self::WORD_BYTES.next_power_of_two();
    /// Bytes of an entry of the address table.
    const ENTRY_BYTES: usize;
    /// Whether a location names a page and a block (two bytes), or an offset in units of eight
    /// bytes (three and four bytes).
    const BY_BLOCK: bool;
    /// Nothing, with the alignment that the record of a page needs.
    type Line: Copy + Default + Debug;
}

/// Four-byte words: heaps up to 32 GiB, eight bytes of administrative space per object.
#[derive(Clone, Copy, Debug)]
pub struct Wide;

/// Three-byte words: heaps up to 128 MiB, six bytes of administrative space per object. To read or
/// write such a word takes two accesses to memory.
#[derive(Clone, Copy, Debug)]
pub struct Medium;

/// Two-byte words: heaps up to 1 MiB, four bytes of administrative space per object.
#[derive(Clone, Copy, Debug)]
pub struct Narrow;

/// As [`Wide`], but the record of every page has its own cache line: for heaps whose pages serve
/// different threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread;

/// Nothing, at the beginning of a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct CacheLine;

/// The words of `W`, and a generation in every entry.
#[derive(Clone, Copy, Debug)]
pub struct Keyed<W, G = u32>(core::marker::PhantomData<(W, G)>);

impl sealed::Sealed for Wide {}
impl Width for Wide {
    type Word = u32;
    type Count = u32;
    type Generation = ();
    const WORD_BYTES: usize = 4;
    const ENTRY_BYTES: usize = 4;
    const BY_BLOCK: bool = false;
    type Line = ();
}

impl sealed::Sealed for Spread {}
impl Width for Spread {
    type Word = u32;
    type Count = u32;
    type Generation = ();
    const WORD_BYTES: usize = 4;
    const ENTRY_BYTES: usize = 4;
    const BY_BLOCK: bool = false;
    type Line = CacheLine;
}

impl sealed::Sealed for Medium {}
impl Width for Medium {
    type Word = ThreeBytes;
    type Count = u32;
    type Generation = ();
    const WORD_BYTES: usize = 3;
    const ENTRY_BYTES: usize = 3;
    const BY_BLOCK: bool = false;
    type Line = ();
}

impl sealed::Sealed for Narrow {}
impl Width for Narrow {
    type Word = u16;
    type Count = u16;
    type Generation = ();
    const WORD_BYTES: usize = 2;
    const ENTRY_BYTES: usize = 2;
    const BY_BLOCK: bool = true;
    type Line = ();
}

impl<W: Width<Generation = ()>, G: Generation> sealed::Sealed for Keyed<W, G> {}
impl<W: Width<Generation = ()>, G: Generation> Width for Keyed<W, G> {
    type Word = W::Word;
    type Count = W::Count;
    type Generation = G;
    const WORD_BYTES: usize = W::WORD_BYTES;
    const ENTRY_BYTES: usize =
        (W::WORD_BYTES + G::BYTES).next_multiple_of(if align_of::<W::Word>() > align_of::<G>() {
            align_of::<W::Word>()
        } else {
            align_of::<G>()
        });
    const BY_BLOCK: bool = W::BY_BLOCK;
    type Line = W::Line;
}
