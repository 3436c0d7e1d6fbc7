//! What an ordered map needs of its heap, for the certificate.
#![deny(unsafe_code)]

use surefit_compact::certify::{BlockCount, Budget, ClassSet};
use surefit_compact::{Config, Width};

use super::map::BTreeMap;
use super::node::Node;
use crate::demand::{NONE, both, times};
use crate::names::Checked;

impl<K, V> BTreeMap<K, V, Checked> {
    /// The page-blocks of a map of up to `entries` entries, as it grows and shrinks: what certifies
    /// a heap for it, with words of width `W`. What keys and values own is not counted. It is also
    /// enough for [`Branded`](crate::Branded) names.
    ///
    /// `None` if no heap of this configuration holds so many.
    ///
    /// # Complexity
    /// O(levels of spines).
    #[must_use]
    pub fn for_demand<W: Width>(config: &Config, entries: usize) -> Option<Budget> {
        if entries == 0 || size_of::<(K, V)>() == 0 {
            return Some(NONE);
        }
        // Every node but the root has so many entries at least, every one with children but the
        // root so many children.
        let nodes = entries / Node::<K, V, Checked>::FEWEST + 1;
        let with_children = match entries > Node::<K, V, Checked>::MOST {
            true => nodes / Node::<K, V, Checked>::HALF + 1,
            false => 0,
        };
        let most = Node::<K, V, Checked>::MOST;
        let of_entries = of_objects::<(K, V), W>(config, nodes, most)?;
        let of_children = of_objects::<Node<K, V, Checked>, W>(config, with_children, most + 1)?;
        both(config, of_entries, of_children)
    }
}

/// What so many vectors of `most` elements take, of which one may be growing.
fn of_objects<T, W: Width>(config: &Config, objects: usize, most: usize) -> Option<Budget> {
    if objects == 0 {
        return Some(NONE);
    }
    let (_, per, piece) = crate::storage::Vec::<T, Checked>::shares(config)?;
    let bytes = match most <= per {
        true => most * size_of::<T>(),
        false => most.div_ceil(per).checked_mul(piece)?,
    };
    let each = BlockCount::most::<W>(config, bytes, align_of::<T>())?;
    let growing = BlockCount::in_resize::<W>(config, bytes, align_of::<T>())?;
    let (objects, block_bytes) = times(objects, each, growing)?;
    Some(Budget {
        objects,
        block_bytes,
        classes: ClassSet::of_objects(config, bytes, align_of::<T>()),
    })
}
