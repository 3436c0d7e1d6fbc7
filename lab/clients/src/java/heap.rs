//! What the program needs of either collector: the one that stops the program, and the one that
//! works in steps.
#![deny(unsafe_code)]

use surefit_gc::{Clock, Collector, Incremental, Object, Space, Stepwise};

/// Objects, as the program uses them.
pub(super) trait Heap {
    /// Whether an object lives.
    fn contains(&self, object: Object) -> bool;

    /// As [`Heap::contains`], for an object that no reference leads to: it will be used again.
    fn upgrade(&mut self, object: Object) -> bool;

    /// Notes that an object, which may be freed, was a root and is none any more.
    fn forget(&mut self, object: Object);

    /// Reads a word.
    fn load(&self, object: Object, word: u32) -> u32;

    /// Writes a reference, or none.
    fn store(&mut self, object: Object, word: u32, to: Option<Object>);

    /// Writes a word that never holds one.
    fn store_data(&mut self, object: Object, word: u32, value: u32);
}

impl<S: Space, K: Clock> Heap for Collector<'_, S, K> {
    #[inline]
    fn contains(&self, object: Object) -> bool {
        self.contains(object)
    }

    #[inline]
    fn upgrade(&mut self, object: Object) -> bool {
        self.contains(object)
    }

    #[inline]
    fn forget(&mut self, _: Object) {}

    #[inline]
    fn load(&self, object: Object, word: u32) -> u32 {
        self.load(object, word)
    }

    #[inline]
    fn store(&mut self, object: Object, word: u32, to: Option<Object>) {
        self.store(object, word, to);
    }

    #[inline]
    fn store_data(&mut self, object: Object, word: u32, value: u32) {
        self.store_data(object, word, value);
    }
}

impl<S: Stepwise, K: Clock> Heap for Incremental<'_, S, K> {
    #[inline]
    fn contains(&self, object: Object) -> bool {
        self.contains(object)
    }

    #[inline]
    fn upgrade(&mut self, object: Object) -> bool {
        self.upgrade(object).is_some()
    }

    #[inline]
    fn forget(&mut self, object: Object) {
        let _ = self.upgrade(object);
    }

    #[inline]
    fn load(&self, object: Object, word: u32) -> u32 {
        Collector::load(self, object, word)
    }

    #[inline]
    fn store(&mut self, object: Object, word: u32, to: Option<Object>) {
        self.store(object, word, to);
    }

    #[inline]
    fn store_data(&mut self, object: Object, word: u32, value: u32) {
        self.store_data(object, word, value);
    }
}
