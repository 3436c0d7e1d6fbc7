//! Keys that know their hash, and which link of the list is theirs.
#![deny(unsafe_code)]

use core::hash::{BuildHasher, Hasher};

use surefit_core::Refused;

use crate::clone::TryClone;
use crate::lookup::Lookup;
use crate::release::Release;

/// A key of the cache's map.
pub(super) struct Keyed<K> {
    pub(super) key: K,
    pub(super) hash: u32,
    /// Its link.
    pub(super) link: u32,
}

/// What a key is asked for by, and its hash.
pub(super) struct Asked<'q, Q: ?Sized> {
    pub(super) query: &'q Q,
    pub(super) hash: u32,
}

/// A link, and the hash of its key.
pub(super) struct At {
    pub(super) hash: u32,
    pub(super) link: u32,
}

impl<H: ?Sized, K: Lookup<H, Q>, Q: ?Sized> Lookup<H, Asked<'_, Q>> for Keyed<K> {
    #[inline]
    fn hash_of<S: Hasher>(asked: &Asked<'_, Q>, _: &H, state: &mut S) {
        state.write_u32(asked.hash);
    }

    #[inline]
    fn is(&self, asked: &Asked<'_, Q>, heap: &H) -> bool {
        self.hash == asked.hash && self.key.is(asked.query, heap)
    }
}

impl<H: ?Sized, K> Lookup<H, At> for Keyed<K> {
    #[inline]
    fn hash_of<S: Hasher>(at: &At, _: &H, state: &mut S) {
        state.write_u32(at.hash);
    }

    #[inline]
    fn is(&self, at: &At, _: &H) -> bool {
        self.link == at.link
    }
}

/// As a key that is added, or that moves to another bucket: no user code runs.
impl<H: ?Sized, K> Lookup<H, Self> for Keyed<K> {
    #[inline]
    fn hash_of<S: Hasher>(keyed: &Self, _: &H, state: &mut S) {
        state.write_u32(keyed.hash);
    }

    #[inline]
    fn is(&self, keyed: &Self, _: &H) -> bool {
        self.link == keyed.link
    }
}

impl<H: ?Sized, K: Release<H>> Release<H> for Keyed<K> {
    fn release(self, heap: &mut H) {
        self.key.release(heap);
    }

    fn belongs_to(&self, heap: &H) -> bool {
        self.key.belongs_to(heap)
    }
}

impl<H: ?Sized, K: TryClone<H>> TryClone<H> for Keyed<K> {
    type Partial = K::Partial;

    fn try_clone_in(&self, heap: &H) -> Result<Self, (Option<K::Partial>, Refused)> {
        let key = self.key.try_clone_in(heap)?;
        Ok(Self { key, ..*self })
    }
}

/// The hash of a query, by the cache's hasher.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
pub(super) fn hash<H: ?Sized, K: Lookup<H, Q>, Q: ?Sized, S: BuildHasher>(
    hasher: &S,
    heap: &H,
    query: &Q,
) -> u32 {
    let mut state = hasher.build_hasher();
    K::hash_of(query, heap, &mut state);
    let hash = state.finish();
    (hash ^ (hash >> 32)) as u32
}

/// Hashes that are known: the map's hasher.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known(u32);

impl Known {
    pub(super) const NEW: Self = Self(0);
}

impl BuildHasher for Known {
    type Hasher = Self;

    #[inline]
    fn build_hasher(&self) -> Self {
        Self::NEW
    }
}

impl Hasher for Known {
    #[inline]
    fn finish(&self) -> u64 {
        u64::from(self.0)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u32::from(*byte);
        }
    }

    #[inline]
    fn write_u32(&mut self, hash: u32) {
        self.0 = hash;
    }
}
