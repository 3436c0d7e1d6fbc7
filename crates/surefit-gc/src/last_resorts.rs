//! What is tried when there is no room, for every collector in the same order.
//!
//! ```text
//! alloc(n):   ask for what is free as it is
//!             else relieve the space: it moves objects together, or grows if it was crowded
//!                 after the last collection; ask again
//!             else collect, in the collector's way; after each collection ask, merge what the
//!                 space left apart, and ask again
//!             else grow, as long as the space can; ask again
//!             else the heap is too small: an error
//! ```
#![deny(unsafe_code)]

use surefit_core::Refused;

use crate::client::Client;
use crate::object::Object;
use crate::space::Space;
use crate::statistics::Totals;

/// A collector, as far as the order needs it.
pub(crate) trait LastResorts<S: Space> {
    /// Allocates what is free as it is.
    fn ask(&mut self, bytes: usize) -> Result<Object, Refused>;

    /// Collects, at most twice, and asks after each collection with [`ask_or_merge`].
    fn collect_and_ask(
        &mut self,
        client: &mut impl Client<S>,
        bytes: usize,
    ) -> Result<Object, Refused>;

    fn space_mut(&mut self) -> &mut S;

    fn totals_mut(&mut self) -> &mut Totals;
}

/// What an allocation does after it was refused what is free as it is. No collection helps a
/// request that is too large.
#[cold]
pub(crate) fn after_all<S: Space>(
    gc: &mut impl LastResorts<S>,
    client: &mut impl Client<S>,
    bytes: usize,
    refused: Refused,
) -> Result<Object, Refused> {
    let served = match refused {
        Refused::TooLarge { .. } => Err(refused),
        _ => make_room(gc, client, bytes),
    };
    gc.totals_mut().refusals += u64::from(served.is_err());
    served
}

/// Tries one means after another until the request is served.
fn make_room<S: Space>(
    gc: &mut impl LastResorts<S>,
    client: &mut impl Client<S>,
    bytes: usize,
) -> Result<Object, Refused> {
    if gc.space_mut().relieve() {
        if let Ok(object) = gc.ask(bytes) {
            return Ok(object);
        }
    }
    let mut served = gc.collect_and_ask(client, bytes);
    while served.is_err() && gc.space_mut().grow(bytes) {
        served = gc.ask(bytes);
    }
    served
}

/// Asks after a collection; if it did not help, merges what the space left apart, or moves objects
/// together, and asks again.
pub(crate) fn ask_or_merge<S: Space>(
    gc: &mut impl LastResorts<S>,
    bytes: usize,
) -> Result<Object, Refused> {
    let served = gc.ask(bytes);
    match served.is_err() && gc.space_mut().merge() {
        true => gc.ask(bytes),
        false => served,
    }
}
