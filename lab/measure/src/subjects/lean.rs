//! What a `cf` is in a region that is short for its demand: it takes fewer bytes, and more time.
//!
//! | region | words | pages, size-classes and pieces |
//! | --- | --- | --- |
//! | certifies the demand with words of four bytes | four bytes | as the keys say |
//! | certifies it with words of three bytes | three bytes | the same |
//! | smaller | three bytes | those of `Config::LEAN`, unless a key says them |

use std::sync::Arc;

use anyhow::Result;
use surefit_compact::certify::{Budget, Demand, DemandMeter};
use surefit_compact::{Bound, Config, Tail};

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
}

impl Needed {
    pub(super) fn of(meter: &DemandMeter<'_>) -> Option<Arc<Self>> {
        let Demand::Both(budget, peaks) = meter.both() else {
            return None;
        };
        let peaks = peaks.to_vec();
        Some(Arc::new(Self { budget, peaks }))
    }

    pub(super) fn demand(&self) -> Demand<'_> {
        Demand::Both(self.budget, &self.peaks)
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
