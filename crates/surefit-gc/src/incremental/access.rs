//! Writing to objects; what is written over a reference is a matter of the barrier.
#![deny(unsafe_code)]

use crate::incremental::Incremental;
use crate::object::Object;
use crate::statistics::Clock;
use crate::stepwise::Stepwise;

impl<S: Stepwise, K: Clock> Incremental<'_, S, K> {
    /// Writes a reference, or none, to a word of an object. While a cycle marks, what the word
    /// referred to is kept by this cycle.
    ///
    /// # Panics
    /// As [`Collector::load`](crate::Collector::load); and if `to` is not `None` and names no live
    /// object, or one that the cycle will free: the program has lost it.
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

    /// Writes a word that may have held a reference. While a cycle marks, the old word counts as
    /// one: if it is the number of an object, this is kept by the cycle.
    ///
    /// A reference must be stored as [`Object::number`](crate::Object::number) for this. A language
    /// that stores it in another form, with a tag for example, gives the old one to
    /// [`Incremental::upgrade`], and then writes with [`Incremental::store_data`].
    ///
    /// # Panics
    /// As [`Collector::load`](crate::Collector::load).
    #[inline]
    #[track_caller]
    pub fn store(&mut self, object: Object, word: u32, value: u32) {
        if self.keeps_old() {
            let old = self.gc.load(object, word);
            self.shade_old(old);
        }
        self.gc.store(object, word, value);
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
        self.gc.store(object, word, value);
    }

    /// Writes a number to two words that may have held references, as [`Incremental::store`].
    ///
    /// # Panics
    /// As [`Collector::load_u64`](crate::Collector::load_u64); then nothing is written.
    #[track_caller]
    pub fn store_u64(&mut self, object: Object, word: u32, value: u64) {
        if self.keeps_old() {
            let old = self.gc.load_u64(object, word);
            self.shade_old(old as u32);
            self.shade_old((old >> 32) as u32);
        }
        self.gc.store_u64(object, word, value);
    }

    /// Writes a floating-point number to two words that may have held references.
    ///
    /// # Panics
    /// As [`Incremental::store_u64`].
    #[track_caller]
    pub fn store_f64(&mut self, object: Object, word: u32, value: f64) {
        self.store_u64(object, word, value.to_bits());
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
