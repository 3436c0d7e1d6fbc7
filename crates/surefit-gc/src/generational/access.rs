//! Writing to objects; writing a reference is a matter of the barrier.
#![deny(unsafe_code)]

use crate::generational::Generational;
use crate::object::Object;
use crate::statistics::Clock;
use crate::stepwise::OneByOne;
use crate::word::Word;

impl<S: OneByOne, K: Clock> Generational<'_, S, K> {
    /// Writes a reference, `Some(object)` or `None`, or another value of the language, from `word`
    /// on. If the object is old and the value refers to a young one, the next minor collection
    /// scans it.
    ///
    /// # Panics
    /// As [`Collector::load`](crate::Collector::load); and if the value refers to no live object.
    /// Then nothing is written.
    #[inline]
    #[track_caller]
    pub fn store<W: Word>(&mut self, object: Object, word: u32, value: W) {
        self.gc.store(object, word, value);
        if let Some(to) = value.reference() {
            self.refers(object, to);
        }
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
        self.gc.store_data(object, word, value);
    }

    /// Writes a number to two words that are no references.
    ///
    /// # Panics
    /// As [`Collector::load_u64`](crate::Collector::load_u64); then nothing is written.
    #[track_caller]
    pub fn store_u64(&mut self, object: Object, word: u32, value: u64) {
        self.gc.store_u64(object, word, value);
    }

    /// Writes a floating-point number to two words that are no references.
    ///
    /// # Panics
    /// As [`Generational::store_u64`].
    #[track_caller]
    pub fn store_f64(&mut self, object: Object, word: u32, value: f64) {
        self.gc.store_f64(object, word, value);
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
