//! Objects that the store gave other names.

use crate::store::Name;

/// The old and the new name of every object that has another one now, in the order of the old ones.
#[derive(Debug)]
pub(super) struct Renamed<N>(Vec<(N, N)>);

impl<N: Name> Renamed<N> {
    /// From the objects before and after, in the same order.
    pub(super) fn new(before: &[(N, usize)], after: &[(N, usize)]) -> Self {
        let pairs = before.iter().zip(after).map(|(old, new)| (old.0, new.0));
        let mut pairs: Vec<_> = pairs.filter(|(old, new)| old != new).collect();
        pairs.sort_unstable();
        Self(pairs)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What an old name is now.
    pub(super) fn get(&self, name: N) -> N {
        let place = self.0.binary_search_by_key(&name, |&(old, _)| old);
        place.map_or(name, |place| self.0[place].1)
    }
}
