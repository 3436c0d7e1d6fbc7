//! Allocation: in the cycle that runs, and when there is no room.
#![deny(unsafe_code)]

use surefit_core::Refused;

use crate::client::Client;
use crate::incremental::{Incremental, Phase};
use crate::last_resorts::{LastResorts, after_all, ask_or_merge};
use crate::object::Object;
use crate::statistics::{Clock, Totals};
use crate::stepwise::Stepwise;

impl<S: Stepwise, K: Clock> Incremental<'_, S, K> {
    /// Allocates an object of at least `bytes` bytes, all zero. If there is no room for it,
    /// finishes the cycle that runs, and then, if that did not help, runs a whole one.
    ///
    /// The new object is not a root: the next cycle may free it, unless the client reports it when
    /// that starts.
    ///
    /// # Errors
    /// As [`Collector::alloc`](crate::Collector::alloc).
    #[inline]
    pub fn alloc(&mut self, client: &mut impl Client<S>, bytes: usize) -> Result<Object, Refused> {
        self.pace(client, bytes);
        match self.alloc_as_is(bytes) {
            Ok(object) => Ok(object),
            Err(refused) => self.paused(|gc| after_all(gc, client, bytes, refused)),
        }
    }

    /// As [`Incremental::alloc`], but neither finishes nor starts a cycle.
    ///
    /// # Errors
    /// What the space says.
    #[inline]
    pub fn alloc_as_is(&mut self, bytes: usize) -> Result<Object, Refused> {
        let object = self.gc.alloc_as_is(bytes)?;
        self.born(object);
        Ok(object)
    }
}

impl<S: Stepwise, K: Clock> LastResorts<S> for Incremental<'_, S, K> {
    fn ask(&mut self, bytes: usize) -> Result<Object, Refused> {
        self.alloc_as_is(bytes)
    }

    /// The cycle that runs is finished; then a whole one.
    fn collect_and_ask(
        &mut self,
        client: &mut impl Client<S>,
        bytes: usize,
    ) -> Result<Object, Refused> {
        if self.phase != Phase::Idle {
            self.steps.forced += 1;
            self.cycle.forced = true;
            let work = self.finish(client).work;
            self.steps.largest_forced = self.steps.largest_forced.max(work);
            if let Ok(object) = ask_or_merge(self, bytes) {
                return Ok(object);
            }
        }
        self.steps.whole += 1;
        let work = self.collect(client).work;
        self.steps.largest_forced = self.steps.largest_forced.max(work);
        ask_or_merge(self, bytes)
    }

    fn space_mut(&mut self) -> &mut S {
        &mut self.gc.space
    }

    fn totals_mut(&mut self) -> &mut Totals {
        &mut self.gc.totals
    }
}
