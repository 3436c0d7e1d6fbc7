//! Access to the words of objects; writing a reference is a matter of the barrier.
#![deny(unsafe_code)]

use crate::generational::Generational;
use crate::object::Object;
use crate::statistics::Clock;
use crate::stepwise::OneByOne;

impl<S: OneByOne, K: Clock> Generational<'_, S, K> {
    /// How many words an object has, as [`Collector::words`](crate::Collector::words).
    ///
    /// # Panics
    /// If the reference names no live object.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn words(&self, object: Object) -> u32 {
        self.gc.words(object)
    }

    /// Reads a word of an object.
    ///
    /// # Panics
    /// If the reference names no live object, or the object has no such word.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn load(&self, object: Object, word: u32) -> u32 {
        self.gc.load(object, word)
    }

    /// Reads a word of an object as a reference; `None` for 0.
    ///
    /// # Panics
    /// As [`Generational::load`].
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn reference(&self, object: Object, word: u32) -> Option<Object> {
        self.gc.reference(object, word)
    }

    /// Writes a reference, or none, to a word of an object. If the object is old and the other
    /// young, the next minor collection scans it.
    ///
    /// # Panics
    /// As [`Generational::load`]; and if `to` is not `None` and names no live object.
    #[inline]
    #[track_caller]
    pub fn store_reference(&mut self, object: Object, word: u32, to: Option<Object>) {
        if let Some(to) = to {
            assert!(
                self.contains(to),
                "{to:?} was stored, but is no live object"
            );
        }
        self.store(object, word, to.map_or(0, Object::number));
    }

    /// Writes a word that may be a reference.
    ///
    /// A reference must be stored as [`Object::number`](crate::Object::number) for this: in another
    /// form, with a tag for example, an old object is not remembered, and a young one that only it
    /// refers to is freed. A language that needs another form writes with
    /// [`Generational::store_data`], and calls [`Generational::remember`].
    ///
    /// # Panics
    /// As [`Generational::load`].
    #[inline]
    #[track_caller]
    pub fn store(&mut self, object: Object, word: u32, value: u32) {
        self.gc.store(object, word, value);
        self.wrote(object, value);
    }

    /// Writes a word that is no reference.
    ///
    /// If it is one after all, the next minor collection may free the object to which it refers.
    ///
    /// # Panics
    /// As [`Generational::load`].
    #[inline]
    #[track_caller]
    pub fn store_data(&mut self, object: Object, word: u32, value: u32) {
        self.gc.store(object, word, value);
    }

    /// Reads two words as a number, as [`Collector::load_u64`](crate::Collector::load_u64).
    ///
    /// # Panics
    /// If the reference names no live object, or the object does not have both words.
    #[must_use]
    #[track_caller]
    pub fn load_u64(&self, object: Object, word: u32) -> u64 {
        self.gc.load_u64(object, word)
    }

    /// Reads two words as a floating-point number.
    ///
    /// # Panics
    /// As [`Generational::load_u64`].
    #[must_use]
    #[track_caller]
    pub fn load_f64(&self, object: Object, word: u32) -> f64 {
        self.gc.load_f64(object, word)
    }

    /// Reads bytes, from byte `from` of the object on.
    ///
    /// # Panics
    /// If the reference names no live object, or the object does not have all of them.
    #[track_caller]
    pub fn load_bytes(&self, object: Object, from: usize, into: &mut [u8]) {
        self.gc.load_bytes(object, from, into);
    }

    /// Writes a number to two words that may be references.
    ///
    /// # Panics
    /// As [`Generational::load_u64`]; then nothing is written.
    #[track_caller]
    pub fn store_u64(&mut self, object: Object, word: u32, value: u64) {
        self.gc.store_u64(object, word, value);
        self.wrote(object, value as u32);
        self.wrote(object, (value >> 32) as u32);
    }

    /// Writes a floating-point number to two words that may be references.
    ///
    /// # Panics
    /// As [`Generational::store_u64`].
    #[track_caller]
    pub fn store_f64(&mut self, object: Object, word: u32, value: f64) {
        self.store_u64(object, word, value.to_bits());
    }

    /// Writes bytes that are no references, from byte `from` of the object on.
    ///
    /// # Panics
    /// As [`Generational::load_bytes`]; then nothing is written.
    #[track_caller]
    pub fn store_bytes(&mut self, object: Object, from: usize, bytes: &[u8]) {
        self.gc.store_bytes(object, from, bytes);
    }
}
