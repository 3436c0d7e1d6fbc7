//! What is known of the live objects of a trace, by their numbers.
//!
//! A table with open addressing: an object is in the first free place from its own on. So a look-up
//! touches one line of the cache, and a free leaves no mark: it moves back what stands behind.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;

use crate::Problem;

/// A value for each live object. Its memory follows the most objects live at once, not their number
/// in all: a trace of hours is read in the memory of one of minutes.
///
/// # Complexity
/// O(1) a call, expected; a value and a number of 32 bits for at most 8/3 of the most live objects.
#[derive(Clone, Debug)]
pub struct Live<T> {
    /// None yet, or a power of two of them, a quarter of which are empty.
    places: Vec<Place<T>>,
    len: usize,
    /// Numbers are multiplied by this. It differs from table to table, so that nobody can write a
    /// file whose numbers collide.
    factor: u64,
    /// The value of the object whose number marks an empty place.
    last: Option<T>,
}

#[derive(Clone, Copy, Debug)]
struct Place<T> {
    id: u32,
    value: T,
}

/// The number in an empty place.
const EMPTY: u32 = u32::MAX;

/// Places of the first table.
const LEAST_PLACES: usize = 16;

impl<T> Default for Live<T> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            len: 0,
            factor: RandomState::new().hash_one(0) | 1,
            last: None,
        }
    }
}

impl<T: Copy + Default> Live<T> {
    /// An object comes to life; what it was is given back, if it lived already.
    ///
    /// # Errors
    /// There is no memory for one more.
    #[inline]
    pub fn insert(&mut self, id: u32, value: T) -> Result<Option<T>, Problem> {
        if id == EMPTY {
            return Ok(self.last.replace(value));
        }
        if self.len >= (self.places.len() / 4).saturating_mul(3) {
            self.grow()?;
        }
        let at = self.find(id);
        let place = &mut self.places[at];
        if place.id == id {
            return Ok(Some(std::mem::replace(&mut place.value, value)));
        }
        *place = Place { id, value };
        self.len = self.len.wrapping_add(1);
        Ok(None)
    }

    /// The value of a live object.
    #[inline]
    #[must_use]
    pub fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        if id == EMPTY {
            return self.last.as_mut();
        }
        if self.places.is_empty() {
            return None;
        }
        let at = self.find(id);
        let place = &mut self.places[at];
        (place.id == id).then_some(&mut place.value)
    }

    /// An object dies; what it was is given back, if it lived.
    #[inline]
    pub fn remove(&mut self, id: u32) -> Option<T> {
        if id == EMPTY {
            return self.last.take();
        }
        if self.places.is_empty() {
            return None;
        }
        let at = self.find(id);
        let place = self.places[at];
        if place.id != id {
            return None;
        }
        self.empty(at);
        self.len = self.len.wrapping_sub(1);
        Some(place.value)
    }

    /// How many live.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len.saturating_add(self.last.is_some().into())
    }

    /// Whether none lives.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The live objects and their values, by number.
    #[must_use]
    pub fn into_sorted(self) -> Vec<(u32, T)> {
        let places = self.places.into_iter().filter(|place| place.id != EMPTY);
        let last = self.last.map(|value| (EMPTY, value));
        let mut all: Vec<_> = places
            .map(|place| (place.id, place.value))
            .chain(last)
            .collect();
        all.sort_unstable_by_key(|(id, _)| *id);
        all
    }

    /// The place of an object, or the empty one where it would be. There are places.
    #[inline]
    fn find(&self, id: u32) -> usize {
        let mut at = self.home(id);
        loop {
            let there = self.places[at].id;
            if there == id || there == EMPTY {
                return at;
            }
            at = self.after(at);
        }
    }

    /// The first place that an object tries. There are places.
    #[inline]
    fn home(&self, id: u32) -> usize {
        let product = u64::from(id).wrapping_mul(self.factor);
        (product >> 32) as usize & self.mask()
    }

    #[inline]
    fn after(&self, at: usize) -> usize {
        at.wrapping_add(1) & self.mask()
    }

    #[inline]
    fn mask(&self) -> usize {
        self.places.len().wrapping_sub(1)
    }

    /// Empties a place, and moves those back that would not be found behind it any more.
    #[inline]
    fn empty(&mut self, mut hole: usize) {
        let mut at = hole;
        loop {
            at = self.after(at);
            let place = self.places[at];
            if place.id == EMPTY {
                break;
            }
            let from_home = at.wrapping_sub(self.home(place.id)) & self.mask();
            let from_hole = at.wrapping_sub(hole) & self.mask();
            if from_home >= from_hole {
                self.places[hole] = place;
                hole = at;
            }
        }
        self.places[hole].id = EMPTY;
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Problem> {
        let count = self.places.len().saturating_mul(2).max(LEAST_PLACES);
        let mut places = Vec::new();
        let room = places.try_reserve_exact(count);
        room.map_err(|_| Problem::OutOfMemory)?;
        let empty = Place {
            id: EMPTY,
            value: T::default(),
        };
        places.resize(count, empty);
        let old = std::mem::replace(&mut self.places, places);
        for place in old.into_iter().filter(|place| place.id != EMPTY) {
            let at = self.find(place.id);
            self.places[at] = place;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Live;
    use std::collections::BTreeMap;

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
        assert!(live.places.len() <= 2048, "{}", live.places.len());
        assert_eq!(live.get_mut(999_999).copied(), Some(999_999));
        assert_eq!(live.get_mut(0), None);
        assert_eq!(live.insert(999_999, 7).ok(), Some(Some(999_999)));
    }

    #[test]
    fn any_calls_do_what_they_do_to_a_map() {
        for seed in 0..30_u64 {
            let (mut live, mut map) = (Live::default(), BTreeMap::new());
            let mut random = seed;
            for step in 0..3000_u64 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let number = u32::try_from(random >> 33).expect("31 bits");
                // Few numbers, of which the greatest are some; each table in turn is rather full.
                let id = match number % 61 {
                    few @ 0..30 => few,
                    few => u32::MAX - (few - 30),
                };
                match number >> 8 & 3 {
                    0 => assert_eq!(live.remove(id), map.remove(&id)),
                    1 => assert_eq!(live.get_mut(id).copied(), map.get(&id).copied()),
                    _ => assert_eq!(live.insert(id, step).ok(), Some(map.insert(id, step))),
                }
                assert_eq!((live.len(), live.is_empty()), (map.len(), map.is_empty()));
            }
            assert_eq!(live.into_sorted(), map.into_iter().collect::<Vec<_>>());
        }
    }
}
