//! What a `cf` is in a region that is short for its demand: it takes fewer bytes, and more time.
//!
//! | region | words | pages, size-classes and pieces |
//! | --- | --- | --- |
//! | certifies the demand with words of four bytes | four bytes | as the keys say |
//! | certifies it with words of three bytes | three bytes | the same |
//! | smaller | three bytes | those of `Config::LEAN`, unless a key says them |

use std::sync::Arc;

use anyhow::Result;
use surefit_compact::certify::{Budget, Demand, DemandMeter, slack_bytes};
use surefit_compact::layout::{fixed_bytes, page_record_bytes};
use surefit_compact::{Bound, Config, Tail, Width};

use super::cf_keys::{SHAPES, config};
use crate::keys::Keys;

/// A moving heap with words of three bytes.
#[derive(Clone, Debug)]
pub struct Lean {
    /// The heap's configuration.
    pub config: Config,
    /// Regions of fewer bytes have this heap. 0 until it is told a demand that it can count.
    pub below_bytes: usize,
    /// The demand that it was told.
    pub needed: Option<Arc<Needed>>,
}

/// What is live at most: in all, and of each size-class.
#[derive(Debug)]
pub struct Needed {
    budget: Budget,
    peaks: Vec<u32>,
    settled_bytes: u64,
}

impl Needed {
    pub(super) fn of(meter: &DemandMeter<'_>) -> Option<Arc<Self>> {
        let Demand::Both(budget, peaks) = meter.both() else {
            return None;
        };
        let peaks = peaks.to_vec();
        Some(Arc::new(Self {
            budget,
            peaks,
            settled_bytes: meter.settled_bytes(),
        }))
    }

    pub(super) fn demand(&self) -> Demand<'_> {
        Demand::Both(self.budget, &self.peaks)
    }

    /// What a heap may lend: what the demand leaves over in any order of calls, or, in a region
    /// that is too small for that, what this run leaves over in its own order. That promises
    /// nothing, and moves less than a heap without holes.
    pub(super) fn slack<W: Width>(&self, config: &Config, region_bytes: usize) -> usize {
        let certified = slack_bytes::<W>(config, &self.demand(), region_bytes);
        certified.unwrap_or_else(|_| self.left_over::<W>(config, region_bytes))
    }

    fn left_over<W: Width>(&self, config: &Config, region_bytes: usize) -> usize {
        let (geometry, settled) = (config.geometry(), self.settled_bytes as usize);
        let page = geometry.page_bytes();
        let states = fixed_bytes::<W>(geometry.class_count(), 0);
        // The table of what is lent is less than a page; the address table has part of one.
        let taken = settled + states + 2 * page;
        region_bytes.saturating_sub(taken) / (page + page_record_bytes::<W>()) * page
    }
}

/// The heaps of smaller and smaller regions, with the same keys.
///
/// # Errors
/// The keys do not make a valid configuration.
pub(super) fn leaner(keys: &Keys) -> Result<Vec<Lean>> {
    let medium = config(keys, Tail::BackReferences { bytes: 3 })?;
    let least = (!SHAPES.iter().any(|key| keys.has(key))).then(|| {
        let least = with_bound(&Config::LEAN, medium.bound())?;
        Ok::<_, anyhow::Error>(least.with_order(medium.order())?)
    });
    let configs = [Some(Ok(medium)), least].into_iter().flatten();
    let lean = |config: Result<Config>| {
        Ok(Lean {
            config: config?,
            below_bytes: 0,
            needed: None,
        })
    };
    configs.map(lean).collect()
}

/// The same configuration with another bound.
///
/// # Errors
/// The bound is not possible.
pub(super) fn with_bound(config: &Config, bound: Bound) -> Result<Config> {
    let pieces = config.division();
    let other = Config::new(config.geometry().clone(), bound)?;
    let other = other.with_pieces(config.piece_bytes())?;
    Ok(other.with_large_pieces(pieces.large_bytes())?)
}
