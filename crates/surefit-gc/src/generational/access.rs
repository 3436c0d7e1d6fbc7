//! Writing to objects; writing a reference is a matter of the barrier.
#![deny(unsafe_code)]

use crate::generational::Generational;
use crate::object::Object;
use crate::statistics::Clock;
use crate::stepwise::OneByOne;

impl<S: OneByOne, K: Clock> Generational<'_, S, K> {
    /// Writes a reference, or none, to a word of an object. If the object is old and the other
    /// young, the next minor collection scans it.
    ///
    /// # Panics
    /// As [`Collector::load`](crate::Collector::load); and if `to` is not `None` and names no live
    /// object.
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
    /// As [`Collector::load`](crate::Collector::load).
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
    /// As [`Collector::load`](crate::Collector::load).
    #[inline]
    #[track_caller]
    pub fn store_data(&mut self, object: Object, word: u32, value: u32) {
        self.gc.store(object, word, value);
    }

    /// Writes a number to two words that may be references.
    ///
    /// # Panics
    /// As [`Collector::load_u64`](crate::Collector::load_u64); then nothing is written.
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
    /// As [`Collector::load_bytes`](crate::Collector::load_bytes); then nothing is written.
    #[track_caller]
    pub fn store_bytes(&mut self, object: Object, from: usize, bytes: &[u8]) {
        self.gc.store_bytes(object, from, bytes);
    }
}
