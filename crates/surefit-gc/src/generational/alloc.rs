//! Allocation, and which collection follows a request without room.
#![deny(unsafe_code)]

use surefit_core::Refused;

use crate::client::Client;
use crate::generational::{Generational, WORD};
use crate::object::Object;
use crate::statistics::Clock;
use crate::stepwise::OneByOne;

impl<S: OneByOne, K: Clock> Generational<'_, S, K> {
    /// Allocates an object of at least `bytes` bytes, all zero. Collects if there is no room for
    /// it.
    ///
    /// The new object is young, and not a root: the next `alloc` may free it, unless the client
    /// reports it by then.
    ///
    /// # Errors
    /// As [`Collector::alloc`](crate::Collector::alloc).
    #[inline]
    pub fn alloc(&mut self, client: &mut impl Client<S>, bytes: usize) -> Result<Object, Refused> {
        match self.alloc_as_is(bytes) {
            Ok(object) => Ok(object),
            Err(refused) => self.alloc_after_all(client, bytes, refused),
        }
    }

    /// As [`Generational::alloc`], but never collects.
    ///
    /// # Errors
    /// What the space says.
    #[inline]
    pub fn alloc_as_is(&mut self, bytes: usize) -> Result<Object, Refused> {
        let object = self.gc.alloc_as_is(bytes)?;
        let bytes = u64::from(self.gc.words(object)) * WORD;
        self.live.add(bytes);
        self.young.add(bytes);
        Ok(object)
    }

    /// What `alloc` does when there is no room.
    #[cold]
    fn alloc_after_all(
        &mut self,
        client: &mut impl Client<S>,
        bytes: usize,
        refused: Refused,
    ) -> Result<Object, Refused> {
        let served = match refused {
            Refused::TooLarge { .. } => Err(refused),
            _ => self.make_room(client, bytes),
        };
        self.gc.totals.refusals += u64::from(served.is_err());
        served
    }

    /// Tries one means after another until the request is served.
    fn make_room(&mut self, client: &mut impl Client<S>, bytes: usize) -> Result<Object, Refused> {
        if self.gc.space.relieve() {
            if let Ok(object) = self.alloc_as_is(bytes) {
                return Ok(object);
            }
        }
        if !self.full_is_due() {
            self.collect_young(client);
            if let Ok(object) = self.alloc_or_merge(bytes) {
                return Ok(object);
            }
            self.generations.insufficient += 1;
        }
        self.collect(client);
        let mut served = self.alloc_or_merge(bytes);
        while served.is_err() && self.gc.space.grow(bytes) {
            served = self.alloc_as_is(bytes);
        }
        served
    }

    /// Asks after a collection; if it did not help, merges what the space left apart, and asks
    /// again.
    fn alloc_or_merge(&mut self, bytes: usize) -> Result<Object, Refused> {
        let served = self.alloc_as_is(bytes);
        match served.is_err() && self.gc.space.merge() {
            true => self.alloc_as_is(bytes),
            false => served,
        }
    }

    /// Whether a request without room needs a full collection, since a minor one would free little.
    fn full_is_due(&mut self) -> bool {
        let old = self.live.without(self.young);
        let room = *self.room.get_or_insert(self.young.bytes);
        old.objects == 0
            || self.young.objects == 0
            || self.young.bytes < room / 2
            || old.bytes / 2 > self.left_by_full
    }
}
