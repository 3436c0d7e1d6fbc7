//! What a cache needs of its heap, for the certificate.
#![deny(unsafe_code)]

use surefit_compact::certify::Budget;
use surefit_compact::{Config, Width};

use super::cache::LruCache;
use super::keyed::{Keyed, Known};
use super::list::Link;
use crate::demand::both;
use crate::map::HashMap;
use crate::names::Checked;
use crate::storage::Vec;

impl<K, V, S> LruCache<K, V, S, Checked> {
    /// The page-blocks of a cache of up to `entries` entries, its capacity say, with any hasher:
    /// what certifies a heap for it, with words of width `W`. What keys and values own is not
    /// counted. It is also enough for [`Branded`](crate::Branded) names.
    ///
    /// `None` if no heap of this configuration holds so many, if its pieces have fewer than 128
    /// bytes, or if entries are aligned to more than 8.
    ///
    /// # Complexity
    /// As [`HashMap::for_demand`].
    #[must_use]
    pub fn for_demand<W: Width>(config: &Config, entries: usize) -> Option<Budget> {
        // The oldest entry goes when the new one is there.
        let most = entries.checked_add(1)?;
        let of_map = HashMap::<Keyed<K>, V, Known>::for_demand::<W>(config, most)?;
        let of_list = Vec::<Link>::for_demand::<W>(config, most)?;
        both(config, of_map, of_list)
    }
}
