//! What the words of objects hold: values of the language, each of which may be a reference.
#![deny(unsafe_code)]

use crate::object::Object;

/// A value of a language, as one or two words of an object hold it.
///
/// `Option<Object>` is one: a reference is its [`Object::number`], none is 0. A language that tags
/// its values implements `Word` for their type. So every collector knows what a word referred to
/// before it was overwritten, and what it refers to afterwards: [`Incremental`] and
/// [`Generational`] must. A `u32` is no `Word`, because it does not say whether it is a reference.
///
/// A word is of one type for ever: it is read, by `load_as` and in `scan`, and overwritten as the
/// type that was stored. A word that was stored as another type names another object, or none. All
/// zero bits are no reference: objects begin with them. If [`Word::reference`] lies, the
/// collector frees an object too early or too late; access is checked all the same.
///
/// [`Incremental`]: crate::Incremental
/// [`Generational`]: crate::Generational
///
/// # Examples
/// ```
/// use surefit_gc::{Object, Word};
///
/// /// Odd: the number `bits >> 1`; even: the object with the number `bits >> 1`, 0 for nil.
/// #[derive(Clone, Copy)]
/// struct Value(u32);
///
/// impl Word for Value {
///     type Bits = u32;
///
///     fn from_bits(bits: u32) -> Self {
///         Self(bits)
///     }
///
///     fn to_bits(self) -> u32 {
///         self.0
///     }
///
///     fn reference(self) -> Option<Object> {
///         (self.0 & 1 == 0).then(|| Object::of(self.0 >> 1)).flatten()
///     }
/// }
/// ```
/// With this, `heap.store(cell, 1, Value(7))` compiles, and `heap.store(cell, 1, 7)` does not.
/// A NaN-boxed value has `u64` for its bits, and takes two words.
#[diagnostic::on_unimplemented(
    message = "a `{Self}` does not say whether it is a reference",
    label = "not a `Word`",
    note = "a reference is stored as `Some(object)`, a word that never is one by `store_data`",
    note = "values with a tag are of a type of their own that implements `Word`"
)]
pub trait Word: Copy {
    /// `u32` for one word, `u64` for two, the lower half first.
    type Bits: Bits;

    /// The value with these bits.
    fn from_bits(bits: Self::Bits) -> Self;

    /// Its bits.
    fn to_bits(self) -> Self::Bits;

    /// The object to which it refers.
    fn reference(self) -> Option<Object>;
}

impl Word for Option<Object> {
    type Bits = u32;

    #[inline]
    fn from_bits(bits: u32) -> Self {
        Object::of(bits)
    }

    #[inline]
    fn to_bits(self) -> u32 {
        self.map_or(0, Object::number)
    }

    #[inline]
    fn reference(self) -> Self {
        self
    }
}

/// The bits of a [`Word`]: `u32` or `u64`.
pub trait Bits: Copy + sealed::Words {}

impl Bits for u32 {}
impl Bits for u64 {}

pub(crate) mod sealed {
    /// A number of one word or two.
    pub trait Words {
        /// Reads it from `word` on.
        fn read(word: u32, load: impl Fn(u32) -> u32) -> Self;

        /// Writes it from `word` on, the last word first: if there is no such word, none is
        /// written.
        fn write(self, word: u32, store: impl FnMut(u32, u32));
    }

    impl Words for u32 {
        #[inline(always)]
        #[track_caller]
        fn read(word: u32, load: impl Fn(u32) -> u32) -> Self {
            load(word)
        }

        #[inline(always)]
        #[track_caller]
        fn write(self, word: u32, mut store: impl FnMut(u32, u32)) {
            store(word, self);
        }
    }

    impl Words for u64 {
        #[inline(always)]
        #[track_caller]
        fn read(word: u32, load: impl Fn(u32) -> u32) -> Self {
            let high = load(word.saturating_add(1));
            Self::from(load(word)) | Self::from(high) << 32
        }

        #[inline(always)]
        #[track_caller]
        fn write(self, word: u32, mut store: impl FnMut(u32, u32)) {
            store(word.saturating_add(1), (self >> 32) as u32);
            store(word, self as u32);
        }
    }
}
