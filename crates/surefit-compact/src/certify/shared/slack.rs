//! How much slack a shared heap's region has beside a demand, and what a shared heap with slack
//! needs.
//!
//! # Source
//! [The bounds, 7.9](crate::bounds#79-pooled-slack).
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use surefit_classes::Bound;

use super::certificate::{SharedCertificate, certifiable, lay_out};
use super::needs::SharedNeeds;
use super::sharing::Sharing;
use crate::certify::budget;
use crate::certify::demand::Demand;
use crate::certify::limits::least;
use crate::certify::uncertifiable::Uncertifiable;
use crate::certify::work::Lending;
use crate::shared::{BOUNDLESS, Granularity, SharedConfig, slack_table_bytes};
use crate::slack::NO_HOLES;

/// The slack of a shared heap of `region_bytes` bytes that serves a demand, in bytes of pages: what
/// [`SharedHeap::with_slack`](crate::shared::SharedHeap::with_slack) may lend to size-classes as
/// holes, so that the heap still refuses nothing that stays within the demand. The region begins at
/// a multiple of the page size and of 128.
///
/// It is the greatest number where the demand needs no compaction in so many bytes, and 0 where the
/// configuration's bound is not in holes: such a heap lends nothing, and the region must have its
/// certificate's bytes.
///
/// # Errors
/// The demand has no certificate; [`Uncertifiable::TooManyInstances`] for more than one instance;
/// or [`Uncertifiable::TooSmall`]: the region has fewer bytes than the demand needs without any
/// holes.
///
/// # Complexity
/// A few times that of [`certify_shared`](super::certify_shared).
///
/// # Source
/// [The bounds, 7.9](crate::bounds#79-pooled-slack).
pub const fn shared_slack_bytes<R, G: Granularity>(
    config: &SharedConfig<G>,
    sharing: &Sharing,
    demand: &Demand<'_>,
    region_bytes: usize,
) -> Result<usize, Uncertifiable> {
    let bound = settled(config);
    let needs = match of_one_instance(config, bound, sharing, demand) {
        Ok(needs) => needs,
        Err(error) => return Err(error),
    };
    let nothing = Lending::nothing(bound);
    let fewest = match aligned_bytes::<R, G>(config, sharing, demand, &needs, nothing) {
        Ok(bytes) => bytes,
        Err(error) => return Err(error),
    };
    if region_bytes < fewest {
        return Err(Uncertifiable::TooSmall { needed: fewest });
    }
    if !lends(config) {
        return Ok(0);
    }
    if let Ok(boundless) = certifiable(config, Bound::Unbounded, sharing, demand) {
        match aligned_bytes::<R, G>(config, sharing, demand, &boundless, nothing) {
            Ok(bytes) if bytes <= region_bytes => return Ok(BOUNDLESS),
            _ => {}
        }
    }
    let lending = lending(config);
    let page = config.config().geometry().page_bytes();
    let rest = region_bytes.checked_sub(fewest.saturating_add(lending.table_bytes));
    let Some(rest) = rest else {
        return Ok(0);
    };
    let Some(mut pages) = rest.checked_div(page) else {
        return Ok(0);
    };
    // Pages have records beside them, a small part of their bytes: a few tries are enough.
    while pages > 0 {
        let more = needs.with_pages(pages as u64);
        let less = match aligned_bytes::<R, G>(config, sharing, demand, &more, lending) {
            Ok(bytes) if bytes <= region_bytes => break,
            Ok(bytes) => bytes.saturating_sub(region_bytes).div_ceil(page),
            Err(_) => pages.div_ceil(2),
        };
        pages = pages.saturating_sub(less);
    }
    Ok(budget::slack_in(pages, page, needs.fraction))
}

/// The certificate of a shared heap with `slack` bytes of slack
/// ([`SharedHeap::with_slack`](crate::shared::SharedHeap::with_slack)): the bytes that are enough
/// for both, and the most work of one call. In a region of [`SharedCertificate::aligned_bytes`],
/// [`shared_slack_bytes`] finds so much slack or more.
///
/// Where the configuration's bound is not in holes, slack means nothing, and the certificate is
/// that of [`certify_shared`](super::certify_shared).
///
/// # Errors
/// As [`certify_shared`](super::certify_shared); [`Uncertifiable::TooManyInstances`] for more than
/// one instance.
///
/// # Complexity
/// As [`certify_shared`](super::certify_shared).
pub const fn certify_shared_with_slack<R, G: Granularity>(
    config: &SharedConfig<G>,
    sharing: &Sharing,
    demand: &Demand<'_>,
    slack: usize,
) -> Result<SharedCertificate, Uncertifiable> {
    let boundless = lends(config) && slack >= BOUNDLESS;
    let bound = match boundless {
        true => Bound::Unbounded,
        false => settled(config),
    };
    let needs = match of_one_instance(config, bound, sharing, demand) {
        Ok(needs) => needs,
        Err(error) => return Err(error),
    };
    if boundless || slack == 0 || !lends(config) {
        return lay_out::<R, G>(config, sharing, demand, &needs, Lending::nothing(bound));
    }
    let page = config.config().geometry().page_bytes();
    let pages = budget::pages_for(slack, page, needs.fraction);
    let most = match certifiable(config, Bound::Unbounded, sharing, demand) {
        Ok(boundless) => boundless.used_pages().saturating_sub(needs.used_pages()),
        Err(_) => pages,
    };
    let needs = needs.with_pages(least(pages, most));
    lay_out::<R, G>(config, sharing, demand, &needs, lending(config))
}

/// Whether the heap lends anything.
const fn lends<G: Granularity>(config: &SharedConfig<G>) -> bool {
    matches!(config.config().bound(), Bound::Holes { .. })
}

/// The bound of a class to which nothing is lent.
const fn settled<G: Granularity>(config: &SharedConfig<G>) -> Bound {
    if lends(config) {
        NO_HOLES
    } else {
        config.config().bound()
    }
}

const fn lending<G: Granularity>(config: &SharedConfig<G>) -> Lending {
    let classes = config.config().geometry().class_count();
    Lending {
        table_bytes: slack_table_bytes(classes),
        ..Lending::of(config.config())
    }
}

const fn of_one_instance<G: Granularity>(
    config: &SharedConfig<G>,
    bound: Bound,
    sharing: &Sharing,
    demand: &Demand<'_>,
) -> Result<SharedNeeds, Uncertifiable> {
    if sharing.instances > 1 {
        return Err(Uncertifiable::TooManyInstances { limit: 1 });
    }
    certifiable(config, bound, sharing, demand)
}

const fn aligned_bytes<R, G: Granularity>(
    config: &SharedConfig<G>,
    sharing: &Sharing,
    demand: &Demand<'_>,
    needs: &SharedNeeds,
    lending: Lending,
) -> Result<usize, Uncertifiable> {
    match lay_out::<R, G>(config, sharing, demand, needs, lending) {
        Ok(certificate) => Ok(certificate.aligned_bytes),
        Err(error) => Err(error),
    }
}
