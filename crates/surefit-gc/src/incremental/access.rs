//! Writing to objects; what is written over a reference is a matter of the barrier.
#![deny(unsafe_code)]

use crate::incremental::Incremental;
use crate::object::Object;
use crate::statistics::Clock;
use crate::stepwise::Stepwise;
use crate::word::Word;

impl<S: Stepwise, K: Clock> Incremental<'_, S, K> {
    /// Writes a reference, `Some(object)` or `None`, or another value of the language, from `word`
    /// on. While a cycle marks, what the old value of the same type referred to is kept by this
    /// cycle.
    ///
    /// # Panics
    /// As [`Collector::load`](crate::Collector::load); and if the value refers to no live object,
    /// or to one that the cycle will free: the program has lost it. Then nothing is written.
    #[inline]
    #[track_caller]
    pub fn store<W: Word>(&mut self, object: Object, word: u32, value: W) {
        if let Some(to) = value.reference() {
            assert!(
                self.contains(to),
                "{to:?} was stored, but is no live object"
            );
        }
        if self.keeps_old() {
            self.shade_old::<W>(object, word);
        }
        self.gc.write(object, word, value);
    }

    /// Follows the reference that a word loses.
    #[inline(always)]
    #[track_caller]
    fn shade_old<W: Word>(&mut self, object: Object, word: u32) {
        let old: W = self.gc.load_as(object, word);
        if let Some(old) = old.reference() {
            self.shade(old);
        }
    }

    /// Writes a word that never holds a reference.
    ///
    /// If it held one after all, the object that it referred to may be freed although the program
    /// has loaded the reference before.
    ///
    /// # Panics
    /// As [`Collector::load`](crate::Collector::load).
    #[inline]
    #[track_caller]
    pub fn store_data(&mut self, object: Object, word: u32, value: u32) {
        self.gc.store_data(object, word, value);
    }

    /// Writes a number to two words that never hold references.
    ///
    /// # Panics
    /// As [`Collector::load_u64`](crate::Collector::load_u64); then nothing is written.
    #[track_caller]
    pub fn store_u64(&mut self, object: Object, word: u32, value: u64) {
        self.gc.store_u64(object, word, value);
    }

    /// Writes a floating-point number to two words that never hold references.
    ///
    /// # Panics
    /// As [`Incremental::store_u64`].
    #[track_caller]
    pub fn store_f64(&mut self, object: Object, word: u32, value: f64) {
        self.gc.store_f64(object, word, value);
    }

    /// Writes bytes that never hold references, from byte `from` of the object on.
    ///
    /// # Panics
    /// As [`Collector::load_bytes`](crate::Collector::load_bytes); then nothing is written.
    #[track_caller]
    pub fn store_bytes(&mut self, object: Object, from: usize, bytes: &[u8]) {
        self.gc.store_bytes(object, from, bytes);
    }
}
