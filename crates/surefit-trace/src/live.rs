//! What is known of the live objects of a trace, by their numbers.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use crate::Problem;

/// A value for each live object. Its memory follows the most objects live at once, not their number
/// in all: a trace of hours is read in the memory of one of minutes.
///
/// # Complexity
/// O(1) a call; the value, its key and a byte, for at most four times the most live objects.
#[derive(Clone, Debug)]
pub struct Live<T>(HashMap<u32, T, Seed>);

impl<T> Default for Live<T> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<T> Live<T> {
    /// An object comes to life; what it was is given back, if it lived already.
    ///
    /// # Errors
    /// There is no memory for one more.
    #[inline]
    pub fn insert(&mut self, id: u32, value: T) -> Result<Option<T>, Problem> {
        if self.0.len() == self.0.capacity() {
            let more = self.0.try_reserve(1);
            more.map_err(|_| Problem::OutOfMemory)?;
        }
        Ok(self.0.insert(id, value))
    }

    /// The value of a live object.
    #[inline]
    #[must_use]
    pub fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        self.0.get_mut(&id)
    }

    /// An object dies; what it was is given back, if it lived.
    #[inline]
    pub fn remove(&mut self, id: u32) -> Option<T> {
        self.0.remove(&id)
    }

    /// How many live.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none lives.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The live objects and their values, by number.
    #[must_use]
    pub fn into_sorted(self) -> Vec<(u32, T)> {
        let mut all: Vec<_> = self.0.into_iter().collect();
        all.sort_unstable_by_key(|(id, _)| *id);
        all
    }
}

/// Hashes numbers of 32 bits by one multiplication. The seed differs from table to table, so that
/// nobody can write a file whose numbers collide.
#[derive(Clone, Debug)]
struct Seed(u64);

impl Default for Seed {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0))
    }
}

impl BuildHasher for Seed {
    type Hasher = Folded;

    #[inline]
    fn build_hasher(&self) -> Folded {
        Folded(self.0)
    }
}

/// The seed, then the hash.
struct Folded(u64);

impl Hasher for Folded {
    fn write(&mut self, _: &[u8]) {
        unreachable!("numbers of 32 bits are hashed, nothing else");
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "both halves of the product are used"
    )]
    #[inline]
    fn write_u32(&mut self, id: u32) {
        // The fractional part of the golden ratio, made odd.
        const FACTOR: u128 = 0x9E37_79B9_7F4A_7C15;
        let product = u128::from(u64::from(id) ^ self.0).wrapping_mul(FACTOR);
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Live;

    #[test]
    fn memory_follows_what_is_live_and_not_what_ever_was() {
        let mut live = Live::default();
        for id in 0..1_000_000 {
            assert_eq!(live.insert(id, u64::from(id)).ok(), Some(None));
            if let Some(old) = id.checked_sub(1000) {
                assert_eq!(live.remove(old), Some(u64::from(old)));
            }
        }
        assert_eq!(live.len(), 1000);
        assert!(live.0.capacity() <= 4 * 1000, "{}", live.0.capacity());
        assert_eq!(live.get_mut(999_999).copied(), Some(999_999));
        assert_eq!(live.get_mut(0), None);
        assert_eq!(live.insert(999_999, 7).ok(), Some(Some(999_999)));
    }
}
