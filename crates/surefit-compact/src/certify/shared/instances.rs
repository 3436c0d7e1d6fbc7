//! A certificate for a heap whose instances have demands of their own.
//!
//! ```text
//! pages     Σ over the instances: min(what its demand needs alone, its quota)
//!           one more for each of the T − 1 other calls in progress, once
//! entries   Σ over the instances, and b for every other group of all of them
//! buffers, fixed area                                                once
//! ```
//! # Source
//! [The bounds, 7.5 and 7.6](crate::bounds#75-from-a-demand-to-data-pages).
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::certificate::{SharedCertificate, allowed, lay_out};
use super::needs::{SharedNeeds, buffered_pages, groups_used, needs, spare_entries};
use super::sharing::Sharing;
use crate::certify::demand::{Budget, ClassSet, Demand};
use crate::certify::limits::least;
use crate::certify::needs::most_blocks;
use crate::certify::uncertifiable::Uncertifiable;
use crate::certify::work::Lending;
use crate::shared::{Granularity, SharedConfig};

/// What one instance of a [`ShardedHeap`](crate::shared::ShardedHeap) holds at most.
///
/// An object counts in the instance in which it was allocated, whoever frees it. So each thread
/// registers in the instance that is meant
/// ([`register_in`](crate::shared::ShardedHeap::register_in)). A byte object that a thread of
/// another instance resizes counts in that one from then on, and until then in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstanceDemand<'a> {
    /// What is live at most of the objects that were allocated in it, also where its quota refuses
    /// more: the entries of the handle table follow from this.
    pub demand: Demand<'a>,
    /// The quota in bytes that
    /// [`set_quota`](crate::shared::ShardedHeap::set_quota) gives it before its first object, or
    /// `usize::MAX`.
    pub quota: usize,
}

impl InstanceDemand<'static> {
    /// Of an instance that keeps to no demand, but is limited to these bytes by
    /// [`set_quota`](crate::shared::ShardedHeap::set_quota): whatever fits into its pages, of any
    /// size-class.
    ///
    /// # Examples
    /// In [`certify_instances`].
    #[must_use]
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a page has 2^10 to 2^16 bytes"
    )]
    pub const fn of_quota<G: Granularity>(config: &SharedConfig<G>, bytes: usize) -> Self {
        let geometry = config.config().geometry();
        let pages = (bytes / geometry.page_bytes()) as u64;
        let budget = Budget {
            objects: pages.saturating_mul(most_blocks(geometry) as u64),
            block_bytes: pages.saturating_mul(geometry.page_bytes() as u64),
            classes: ClassSet::all(geometry),
        };
        Self {
            demand: Demand::Joint(budget),
            quota: bytes,
        }
    }
}

/// Computes a certificate for a heap in which each instance has a demand of its own. The instances
/// of `sharing` do not count.
///
/// A quota caps the pages of its instance. Whether it is enough for a demand says
/// [`certify_shared`](super::certify_shared) of that demand alone: its `used_pages`.
///
/// # Errors
/// As [`certify_shared`](super::certify_shared).
///
/// # Complexity
/// For each instance, that of `certify_shared`.
///
/// # Examples
/// ```
/// use surefit_compact::certify::{Demand, InstanceDemand, Sharing, certify_instances};
/// use surefit_compact::shared::{PerClass, SharedConfig, ShardedHeap};
/// use surefit_compact::{Config, Wide};
///
/// type Lock = parking_lot::RawMutex;
/// static CONFIG: SharedConfig = SharedConfig::new(Config::DEFAULT);
/// // Instance 0 keeps to a demand, instance 1 to a quota of ten pages.
/// let kept = Demand::of_mix::<Wide>(CONFIG.config(), 1000, 512, 48 << 10);
/// let instances = [
///     InstanceDemand { demand: kept, quota: usize::MAX },
///     InstanceDemand::of_quota(&CONFIG, 160 << 10),
/// ];
/// let certificate = certify_instances::<Lock, _>(&CONFIG, &Sharing::new(2), &instances)
///     .expect("a heap can serve them");
/// let mut memory = vec![core::mem::MaybeUninit::uninit(); certificate.heap_bytes];
/// let heap: ShardedHeap<Lock, PerClass> = ShardedHeap::new(&mut memory, &CONFIG, 2)?;
/// heap.set_quota(1, instances[1].quota);
/// # Ok::<(), surefit_core::Refused>(())
/// ```
#[expect(
    clippy::arithmetic_side_effects,
    reason = "a page has 2^10 to 2^16 bytes; an index below the length"
)]
pub const fn certify_instances<R, G: Granularity>(
    config: &SharedConfig<G>,
    sharing: &Sharing,
    instances: &[InstanceDemand<'_>],
) -> Result<SharedCertificate, Uncertifiable> {
    if let Err(error) = allowed(config, sharing, instances.len()) {
        return Err(error);
    }
    let one = Sharing {
        instances: 1,
        is_beside_others: instances.len() > 1,
        ..*sharing
    };
    let (bound, geometry) = (config.config().bound(), config.config().geometry());
    let mut sum = SharedNeeds {
        alone_pages: 0,
        pin_pages: 0,
        call_pages: 0,
        fraction: 0,
        buffered_pages: buffered_pages(config, sharing),
        entries: 0,
        spare_entries: 0,
    };
    let (mut groups, mut next) = (0_u64, 0);
    while next < instances.len() {
        let InstanceDemand { demand, quota } = &instances[next];
        let alone = match needs(config, bound, &one, demand) {
            Ok(needs) => needs,
            Err(error) => return Err(error),
        };
        sum = sum.and(&alone, (*quota / geometry.page_bytes()) as u64);
        groups = groups.saturating_add(groups_used(geometry, &one, demand));
        next += 1;
    }
    sum.call_pages = least(sum.call_pages, sharing.other_threads() as u64);
    sum.spare_entries = spare_entries(config, sharing, groups);
    lay_out_all::<R, G>(config, sharing, instances, &sum)
}

impl SharedNeeds {
    /// The needs of one more instance, which gets at most so many pages.
    const fn and(self, other: &Self, quota: u64) -> Self {
        let alone = least(other.alone_pages, quota);
        let pinned = least(other.pin_pages, quota.saturating_sub(alone));
        let unpaid = quota.saturating_sub(alone).saturating_sub(pinned);
        Self {
            alone_pages: self.alone_pages.saturating_add(alone),
            pin_pages: self.pin_pages.saturating_add(pinned),
            call_pages: self
                .call_pages
                .saturating_add(least(other.call_pages, unpaid)),
            entries: self.entries.saturating_add(other.entries),
            ..self
        }
    }
}

/// Lays the region out, with the most work over all demands.
#[expect(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "as many instances as are allowed, at most 4096"
)]
const fn lay_out_all<R, G: Granularity>(
    config: &SharedConfig<G>,
    sharing: &Sharing,
    instances: &[InstanceDemand<'_>],
    needs: &SharedNeeds,
) -> Result<SharedCertificate, Uncertifiable> {
    let whole = sharing.with_instances(instances.len() as u32);
    let lending = Lending::nothing(config.config().bound());
    let nothing = Demand::PerClass(&[]);
    let laid_out = lay_out::<R, G>(config, &whole, &nothing, needs, lending);
    let Ok(mut certificate) = laid_out else {
        return laid_out;
    };
    let mut next = 0;
    while next < instances.len() {
        let one = lay_out::<R, G>(config, &whole, &instances[next].demand, needs, lending);
        if let Ok(one) = one {
            certificate.work = certificate.work.or(one.work);
        }
        next += 1;
    }
    Ok(certificate)
}
