//! Where the strings are that `intern()` returned.

use std::collections::{BTreeMap, BTreeSet};

/// The interned strings that are no constants: the numbers of their entries, and the hashes of
/// their texts.
#[derive(Debug, Default)]
pub(crate) struct Interned {
    numbers: BTreeSet<(u64, u32)>,
    hashes: BTreeMap<u32, u64>,
}

impl Interned {
    pub(crate) fn add(&mut self, hash: u64, number: u32) {
        self.numbers.insert((hash, number));
        self.hashes.insert(number, hash);
    }

    /// An entry is no longer used, whatever it was for. O(log n).
    pub(crate) fn forget(&mut self, number: u32) {
        if let Some(hash) = self.hashes.remove(&number) {
            self.numbers.remove(&(hash, number));
        }
    }

    /// The entries whose texts have a hash.
    pub(crate) fn with(&self, hash: u64) -> impl Iterator<Item = u32> {
        let numbers = self.numbers.range((hash, 0)..=(hash, u32::MAX));
        numbers.map(|&(_, number)| number)
    }
}

#[cfg(test)]
mod tests {
    use super::Interned;

    #[test]
    fn what_is_forgotten_takes_no_room() {
        let mut interned = Interned::default();
        for (hash, number) in [(5, 1), (5, 2), (6, 3)] {
            interned.add(hash, number);
        }
        let with = |interned: &Interned, hash| interned.with(hash).collect::<Vec<_>>();
        assert_eq!(with(&interned, 5), [1, 2]);
        interned.forget(1);
        interned.forget(3);
        interned.forget(9);
        assert_eq!(with(&interned, 5), [2]);
        assert!(with(&interned, 6).is_empty());
        assert_eq!((interned.numbers.len(), interned.hashes.len()), (1, 1));
    }
}
