//! How many bytes are enough for a shared heap, and what a call of it can cost.
//!
//! ```text
//! data pages    the worst mix of the demand, each class in G instances          budget, G copies
//! pins          n ≤ max(κ, Π + 1), or Π(π − 1) more holes, in every class       budget, with Π
//!               of every instance
//! calls         one page for each of the T − 1 other calls in progress: unpaid frees, targets
//! buffers       L free pages for each of the other threads
//! entries       12 bytes × (objects + b for every other group, with page locks for every thread);
//!               entries that are made early take no page
//! fixed area    groups, instances, thread buffers, page records, page locks: exactly as laid out
//! ```
//! Only the term of the calls is divided between classes. A class owes moves because of pins until
//! frees of that class, or a compaction, pay them; so every class of every instance may owe moves
//! at once.
//!
//! # Bounds
//! Two evaluations of a joint budget: about 1200 passes over the classes.
//!
//! # Drawbacks
//! Every thread that may be in the middle of an insertion counts as a pin. So many threads on small
//! heaps cost several pages per class. Fewer classes, smaller pages and a bound in pages keep this
//! low.
//!
//! # Source
//! [The bounds, section 7](crate::bounds#7-threads), with proofs.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

mod certificate;
mod instances;
mod needs;
mod sharing;
mod slack;
mod work;

pub use certificate::{SharedCertificate, SharedParts};
pub use instances::{InstanceDemand, certify_instances};
pub use sharing::Sharing;
pub use slack::{certify_shared_with_slack, shared_slack_bytes};
pub use work::SharedWork;

use self::certificate::{certifiable, lay_out};
use super::demand::Demand;
use super::uncertifiable::Uncertifiable;
use crate::certify::work::Lending;
use crate::shared::{Granularity, SharedConfig};

/// Computes a certificate for a demand on a shared heap with locks `R` of granularity `G`, divided
/// between instances and threads in any way.
///
/// An object counts as live from the call that inserts it until the return of the call that frees
/// it or destroys its instance, and as long as it is pinned. A resize that does not stay in place
/// holds the new object beside the old one. For each thread that resizes, add
/// [`BlockCount::of`](super::BlockCount::of) the new object.
///
/// # Errors
/// Why no heap of this configuration can serve the demand. [`Uncertifiable::TooManyPins`] if more
/// objects can be pinned at once than the configuration allows, [`Uncertifiable::TooManyInstances`]
/// if there are more than 4096 groups.
///
/// # Complexity
/// See the module.
///
/// # Examples
/// ```
/// use surefit_compact::certify::{Demand, Sharing, certify_shared};
/// use surefit_compact::shared::{PerClass, SharedConfig, SharedHeap};
/// use surefit_compact::{Config, Wide};
///
/// type Lock = parking_lot::RawMutex;
/// static CONFIG: SharedConfig = SharedConfig::new(Config::DEFAULT);
/// // At most 1000 objects of up to 512 bytes, 48 KiB in all, two threads.
/// let demand = Demand::of_mix::<Wide>(CONFIG.config(), 1000, 512, 48 << 10);
/// let certificate = certify_shared::<Lock, _>(&CONFIG, &Sharing::new(2), &demand)
///     .expect("a heap can serve it");
/// let mut memory = vec![core::mem::MaybeUninit::uninit(); certificate.heap_bytes];
/// let heap: SharedHeap<Lock, PerClass> = SharedHeap::new(&mut memory, &CONFIG)?;
/// # Ok::<(), surefit_core::Refused>(())
/// ```
pub const fn certify_shared<R, G: Granularity>(
    config: &SharedConfig<G>,
    sharing: &Sharing,
    demand: &Demand<'_>,
) -> Result<SharedCertificate, Uncertifiable> {
    let bound = config.config().bound();
    match certifiable(config, bound, sharing, demand) {
        Ok(needs) => lay_out::<R, G>(config, sharing, demand, &needs, Lending::nothing(bound)),
        Err(error) => Err(error),
    }
}

/// The `BYTES` of a [`Region`](surefit_core::Region), aligned to the page size and to 128, that is
/// enough for a demand. One of these bytes records whether the region was taken.
///
/// # Panics
/// If the demand has no certificate. In a constant this is a compile error that gives the reason.
#[must_use]
pub const fn shared_region_bytes<R, G: Granularity>(
    config: &SharedConfig<G>,
    sharing: &Sharing,
    demand: &Demand<'_>,
) -> usize {
    match certify_shared::<R, G>(config, sharing, demand) {
        // No certificate is for more bytes than a region can have, half of the range of usize.
        Ok(certificate) => certificate.aligned_bytes.saturating_add(1),
        Err(error) => panic!("{}", error.message()),
    }
}
