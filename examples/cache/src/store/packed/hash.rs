//! Hashes that differ between seeds, and are the same for one.

use std::hash::{BuildHasher, DefaultHasher, Hasher};

/// What makes hashers of one seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seeded(pub(super) u64);

impl BuildHasher for Seeded {
    type Hasher = DefaultHasher;

    #[inline]
    fn build_hasher(&self) -> DefaultHasher {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.0);
        hasher
    }
}

impl Seeded {
    /// The hash of a key.
    #[expect(clippy::cast_possible_truncation, reason = "the low half")]
    #[inline]
    pub(super) fn of(self, key: &[u8]) -> u32 {
        let mut hasher = self.build_hasher();
        hasher.write(key);
        hasher.finish() as u32
    }
}
