//! Hashes that differ between seeds, and are the same for one.
//!
//! A key has several hashes. `SCAN` shows which keys are in a bucket, so a client can collect keys
//! of one bucket. When it is full, the next ones go where their second hash says, and so on: keys
//! that fill the buckets of all hashes are too rare to be collected.

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

/// The hashes of a key.
pub(super) const HASHES: u16 = 4;

impl Seeded {
    /// The first hash of a key.
    #[expect(clippy::cast_possible_truncation, reason = "the low half")]
    #[inline]
    pub(super) fn of(self, key: &[u8]) -> u32 {
        let mut hasher = self.build_hasher();
        hasher.write(key);
        hasher.finish() as u32
    }

    /// A hash of a key by its number, from 0 on.
    pub(super) fn of_number(self, number: u16, key: &[u8]) -> u32 {
        Self(self.0.wrapping_add(u64::from(number))).of(key)
    }
}
