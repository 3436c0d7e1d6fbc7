//! How much slack a region has beside a demand, and what a heap with slack needs.
//!
//! # Source
//! [The bounds, 3.1](crate::bounds#31-pooled-slack).
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use surefit_classes::Bound;

use super::budget;
use super::certificate::Certificate;
use super::demand::Demand;
use super::limits::least;
use super::needs::{Needs, lay_out, needs, retired_max};
use super::uncertifiable::Uncertifiable;
use super::work::Lending;
use crate::config::Config;
use crate::layout;
use crate::slack::NO_HOLES;
use crate::width::Width;

/// Slack with which no free ever moves anything.
const BOUNDLESS: usize = usize::MAX >> 1;

/// The slack of a heap of `region_bytes` bytes that serves a demand, in bytes of pages: what
/// [`Heap::with_slack`](crate::Heap::with_slack) may lend to size-classes as holes, so that the
/// heap still refuses nothing that stays within the demand. The region begins at a page.
///
/// It is the greatest number where the demand needs no compaction in so many bytes, and 0 where the
/// configuration's bound is not in holes: such a heap lends nothing, and the region must have its
/// certificate's bytes.
///
/// # Errors
/// The demand has no certificate, or [`Uncertifiable::TooSmall`]: the region has fewer bytes than
/// the demand needs without any holes.
///
/// # Complexity
/// As [`certify`](super::certify).
///
/// # Source
/// [The bounds, 3.1](crate::bounds#31-pooled-slack).
pub const fn slack_bytes<W: Width>(
    config: &Config,
    demand: &Demand<'_>,
    region_bytes: usize,
) -> Result<usize, Uncertifiable> {
    slack_bytes_for_life::<W>(config, demand, 0, region_bytes)
}

/// As [`slack_bytes`], for a heap of keys that frees or resizes objects at most `frees` times in
/// its life: [`certify_for_life`](super::certify_for_life) says what retires, and which `W` such a
/// heap has.
///
/// # Errors
/// As [`slack_bytes`].
pub const fn slack_bytes_for_life<W: Width>(
    config: &Config,
    demand: &Demand<'_>,
    frees: u64,
    region_bytes: usize,
) -> Result<usize, Uncertifiable> {
    let lends = matches!(config.bound(), Bound::Holes { .. });
    let settled = if lends { NO_HOLES } else { config.bound() };
    let needs = match needs_for_life::<W>(config, settled, demand, frees) {
        Ok(needs) => needs,
        Err(error) => return Err(error),
    };
    let fewest = match aligned_bytes::<W>(config, demand, &needs, Lending::nothing(settled)) {
        Ok(bytes) => bytes,
        Err(error) => return Err(error),
    };
    if region_bytes < fewest {
        return Err(Uncertifiable::TooSmall { needed: fewest });
    }
    if !lends {
        return Ok(0);
    }
    let lending = Lending::of(config);
    if let Ok(boundless) = needs_for_life::<W>(config, Bound::Unbounded, demand, frees) {
        match aligned_bytes::<W>(config, demand, &boundless, lending) {
            Ok(bytes) if bytes <= region_bytes => return Ok(BOUNDLESS),
            _ => {}
        }
    }
    let page = config.geometry().page_bytes();
    let rest = region_bytes.checked_sub(fewest.saturating_add(lending.table_bytes));
    let Some(rest) = rest else {
        return Ok(0);
    };
    let record = layout::page_record_bytes::<W>();
    let Some(pages) = rest.checked_div(page.saturating_add(record)) else {
        return Ok(0);
    };
    // One fewer if only the padding of the records does not fit, or words cannot name one more.
    let more = needs.with_pages(pages as u64);
    let pages = match aligned_bytes::<W>(config, demand, &more, lending) {
        Ok(bytes) if bytes <= region_bytes => pages,
        _ => pages.saturating_sub(1),
    };
    Ok(budget::slack_in(pages, page, needs.fraction))
}

/// The certificate of a heap with `slack` bytes of slack
/// ([`Heap::with_slack`](crate::Heap::with_slack)): the bytes that are enough for both, and the
/// most work of one call. In a region of [`Certificate::aligned_bytes`], [`slack_bytes`] finds so
/// much slack or more. `frees` is as in [`certify_for_life`](super::certify_for_life): 0 for a heap
/// of handles.
///
/// Where the configuration's bound is not in holes, slack means nothing, and the certificate is
/// that of [`certify_for_life`](super::certify_for_life).
///
/// # Errors
/// As [`certify`](super::certify).
///
/// # Complexity
/// As [`certify`](super::certify).
///
/// # Examples
/// ```
/// use surefit_compact::certify::{Demand, certify_with_slack, slack_bytes};
/// use surefit_compact::{Config, Wide};
///
/// let config = Config::DEFAULT;
/// let demand = Demand::of_mix::<Wide>(&config, 1000, 512, 48 << 10);
/// let certificate = certify_with_slack::<Wide>(&config, &demand, 0, 64 << 10)?;
/// assert_eq!(certificate.moves_max_per_op, 1);
/// let slack = slack_bytes::<Wide>(&config, &demand, certificate.aligned_bytes)?;
/// assert!(slack >= 64 << 10);
/// # Ok::<(), surefit_compact::certify::Uncertifiable>(())
/// ```
pub const fn certify_with_slack<W: Width>(
    config: &Config,
    demand: &Demand<'_>,
    frees: u64,
    slack: usize,
) -> Result<Certificate, Uncertifiable> {
    if !matches!(config.bound(), Bound::Holes { .. }) {
        return match needs_for_life::<W>(config, config.bound(), demand, frees) {
            Ok(needs) => lay_out::<W>(config, demand, &needs, Lending::nothing(config.bound())),
            Err(error) => Err(error),
        };
    }
    let settled = match needs_for_life::<W>(config, NO_HOLES, demand, frees) {
        Ok(needs) => needs,
        Err(error) => return Err(error),
    };
    let boundless = match needs_for_life::<W>(config, Bound::Unbounded, demand, frees) {
        Ok(needs) => needs,
        Err(error) => return Err(error),
    };
    let page = config.geometry().page_bytes();
    let mut needs = settled.with_pages(budget::pages_for(slack, page, settled.fraction));
    needs.pages = least(needs.pages, boundless.pages);
    let lending = match slack {
        0 => Lending::nothing(NO_HOLES),
        BOUNDLESS.. => Lending {
            bound: Bound::Unbounded,
            ..Lending::of(config)
        },
        _ => Lending::of(config),
    };
    lay_out::<W>(config, demand, &needs, lending)
}

const fn needs_for_life<W: Width>(
    config: &Config,
    bound: Bound,
    demand: &Demand<'_>,
    frees: u64,
) -> Result<Needs, Uncertifiable> {
    match needs::<W>(config, bound, demand) {
        Ok(mut needs) => {
            needs.entries = needs.entries.saturating_add(retired_max::<W>(frees));
            Ok(needs)
        }
        Err(error) => Err(error),
    }
}

const fn aligned_bytes<W: Width>(
    config: &Config,
    demand: &Demand<'_>,
    needs: &Needs,
    lending: Lending,
) -> Result<usize, Uncertifiable> {
    match lay_out::<W>(config, demand, needs, lending) {
        Ok(certificate) => Ok(certificate.aligned_bytes),
        Err(error) => Err(error),
    }
}
