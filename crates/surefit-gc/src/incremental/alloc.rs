//! Allocation: in the cycle that runs, and when there is no room.
#![deny(unsafe_code)]

use surefit_core::Refused;

use crate::client::Client;
use crate::incremental::{Incremental, Phase};
use crate::object::Object;
use crate::statistics::Clock;
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
            Err(refused) => self.paused(|gc| gc.alloc_after_all(client, bytes, refused)),
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
        if self.phase != Phase::Idle {
            self.steps.forced += 1;
            self.cycle.forced = true;
            let work = self.finish(client).work;
            self.steps.largest_forced = self.steps.largest_forced.max(work);
            if let Ok(object) = self.alloc_or_merge(bytes) {
                return Ok(object);
            }
        }
        self.steps.whole += 1;
        let work = self.collect(client).work;
        self.steps.largest_forced = self.steps.largest_forced.max(work);
        let mut served = self.alloc_or_merge(bytes);
        while served.is_err() && self.gc.space.grow(bytes) {
            served = self.alloc_as_is(bytes);
        }
        served
    }

    /// Allocates; if there is no room, merges what the space left apart, or moves objects together,
    /// and tries once more. No cycle runs.
    fn alloc_or_merge(&mut self, bytes: usize) -> Result<Object, Refused> {
        let served = self.alloc_as_is(bytes);
        match served.is_err() && self.gc.space.merge() {
            true => self.alloc_as_is(bytes),
            false => served,
        }
    }
}
