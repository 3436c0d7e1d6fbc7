//! Allocation, and which collection follows a request without room.
#![deny(unsafe_code)]

use surefit_core::Refused;

use crate::client::Client;
use crate::generational::{Generational, WORD};
use crate::last_resorts::{LastResorts, after_all, ask_or_merge};
use crate::object::Object;
use crate::statistics::{Clock, Totals};
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
            Err(refused) => after_all(self, client, bytes, refused),
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

impl<S: OneByOne, K: Clock> LastResorts<S> for Generational<'_, S, K> {
    fn ask(&mut self, bytes: usize) -> Result<Object, Refused> {
        self.alloc_as_is(bytes)
    }

    /// A minor collection, unless a full one is due; then a full one.
    fn collect_and_ask(
        &mut self,
        client: &mut impl Client<S>,
        bytes: usize,
    ) -> Result<Object, Refused> {
        if !self.full_is_due() {
            self.collect_young(client);
            if let Ok(object) = ask_or_merge(self, bytes) {
                return Ok(object);
            }
            self.generations.insufficient += 1;
        }
        self.collect(client);
        ask_or_merge(self, bytes)
    }

    fn space_mut(&mut self) -> &mut S {
        &mut self.gc.space
    }

    fn totals_mut(&mut self) -> &mut Totals {
        &mut self.gc.totals
    }
}
