//! What stores remember, and what is old.
#![deny(unsafe_code)]

use crate::generational::Generational;
use crate::object::Object;
use crate::statistics::Clock;
use crate::stepwise::OneByOne;

impl<S: OneByOne, K: Clock> Generational<'_, S, K> {
    /// Remembers a live object if it is old, and the one to which it refers now is young.
    #[inline]
    pub(super) fn refers(&mut self, object: Object, to: Object) {
        let marks = &self.gc.marks;
        if marks.contains(object) && !marks.contains(to) {
            self.add_remembered(object);
        }
    }

    /// Lets the next minor collection scan an object, if it is old.
    ///
    /// Call it when an object comes to refer to another in a way that no store sees: the client
    /// keeps the reference beside the heap and reports it in
    /// [`Client::scan`](crate::Client::scan). It may be called before the change or after it, if no
    /// collection runs in between, and more than once. It is not needed if the other object is old,
    /// or if a root leads to it at the next minor collection.
    ///
    /// Without the call, a young object to which nothing else leads is freed. The set of remembered
    /// objects cannot overflow: it is a bit of each.
    ///
    /// # Panics
    /// If the reference names no live object.
    ///
    /// # Complexity
    /// O(1).
    #[inline]
    #[track_caller]
    pub fn remember(&mut self, object: Object) {
        assert!(
            self.contains(object),
            "{object:?} is to be remembered, but is no live object"
        );
        if self.gc.marks.contains(object) {
            self.add_remembered(object);
        }
    }

    fn add_remembered(&mut self, object: Object) {
        if !self.gc.marks.is_grey(object) {
            self.gc.marks.make_grey(object);
            self.remembered += 1;
            self.lowest = Some(self.lowest.map_or(object, |lowest| lowest.min(object)));
        }
    }

    /// Whether a reference names a live object: it was allocated, and no collection freed it.
    #[inline]
    #[must_use]
    pub fn contains(&self, object: Object) -> bool {
        self.gc.contains(object)
    }

    /// Whether a reference names a live object that a collection has kept.
    #[must_use]
    pub fn is_old(&self, object: Object) -> bool {
        self.contains(object) && self.gc.marks.contains(object)
    }

    /// Whether a reference names an old object in which a reference to a young one was stored since
    /// the last collection, or for which [`Generational::remember`] was called. The next minor one
    /// scans it.
    #[must_use]
    pub fn is_remembered(&self, object: Object) -> bool {
        self.contains(object) && self.gc.marks.is_grey(object)
    }
}
