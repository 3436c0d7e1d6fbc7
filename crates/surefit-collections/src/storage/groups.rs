//! Where the elements of a vector lie in its byte object.
//!
//! ```text
//! up to a piece    element i at i × size
//! beyond           groups of ⌊piece / size⌋ elements, each at the start of a piece, so that no
//!                  element straddles two; where the size is a power of two, at i × size too
//! ```
#![deny(unsafe_code)]

use core::marker::PhantomData;

use surefit_core::Refused;

/// The fewest elements for which growing makes room.
const LEAST: usize = 4;

/// The places of elements of type `T`, which has bytes.
pub(super) struct Groups<T> {
    /// A power of two, or the largest number where no object is in pieces.
    piece: usize,
    elements: PhantomData<fn() -> T>,
}

/// Where an element lies.
pub(super) struct Place {
    pub(super) offset: usize,
    /// The elements from this one to the end of its group, at least; the end of the object or of
    /// its piece may come before.
    pub(super) room: usize,
}

impl<T> Groups<T> {
    #[inline]
    pub(super) const fn new(piece: usize) -> Self {
        Self {
            piece,
            elements: PhantomData,
        }
    }

    /// The elements of a group.
    #[inline]
    pub(super) const fn per(&self) -> usize {
        self.piece / size_of::<T>()
    }

    /// The bytes of an object that holds `elements`: whole pieces if it is more than one.
    pub(super) fn bytes(&self, elements: usize) -> Result<usize, Refused> {
        let per = self.per();
        if elements <= per {
            return Ok(elements * size_of::<T>());
        }
        if per == 0 {
            return Err(Refused::TooLarge { limit: self.piece });
        }
        let groups = elements.div_ceil(per);
        groups.checked_mul(self.piece).ok_or(Refused::TooLarge {
            limit: isize::MAX as usize,
        })
    }

    /// The elements of a large piece, and no fewer than those of a piece.
    const fn per_large(&self, large: usize) -> usize {
        let pieces = large / self.piece;
        if pieces > 1 {
            pieces * self.per()
        } else {
            self.per()
        }
    }

    /// For how many elements a full vector makes room, if it is to grow: for twice as many up to a
    /// large piece, but contiguously if they were; beyond for those of a large piece more. (Small
    /// pieces are copied when a large one takes their place.)
    pub(super) fn grown(&self, capacity: usize, large: usize) -> usize {
        let (per, per_large) = (self.per(), self.per_large(large));
        if capacity >= per_large {
            let pieces = capacity.checked_div(per_large).unwrap_or(0) + 1;
            return pieces.saturating_mul(per_large);
        }
        let limit = if capacity < per { per } else { per_large };
        capacity.saturating_mul(2).max(LEAST).min(limit)
    }

    /// For how many elements a vector that grows to `elements` ever makes room.
    pub(super) fn most(&self, elements: usize, large: usize) -> usize {
        let (per, per_large) = (self.per(), self.per_large(large));
        if elements > per_large {
            let pieces = elements.checked_div(per_large).map_or(0, |whole| whole + 1);
            return pieces.saturating_mul(per_large).max(elements);
        }
        let limit = if elements <= per { per } else { per_large };
        elements
            .saturating_mul(2)
            .max(LEAST)
            .min(limit)
            .max(elements)
    }

    /// The elements that an object of so many bytes holds.
    #[inline]
    pub(super) const fn capacity(&self, bytes: usize) -> usize {
        if bytes <= self.piece || size_of::<T>().is_power_of_two() {
            return bytes / size_of::<T>();
        }
        bytes / self.piece * self.per()
    }

    /// The place of an element in an object of so many bytes.
    #[inline]
    pub(super) const fn place(&self, bytes: usize, index: usize) -> Place {
        if bytes <= self.piece || size_of::<T>().is_power_of_two() {
            return Place {
                offset: index * size_of::<T>(),
                room: usize::MAX,
            };
        }
        let (group, within) = (index / self.per(), index % self.per());
        Place {
            offset: group * self.piece + within * size_of::<T>(),
            room: self.per() - within,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Groups;

    fn places_are_apart<T>(piece: usize, most: usize) {
        let groups = Groups::<T>::new(piece);
        let size = size_of::<T>();
        for elements in 1..=most {
            let bytes = groups.bytes(elements).expect("few elements");
            assert!(groups.capacity(bytes) >= elements, "{elements} of {size}");
            let mut end = 0;
            for index in 0..elements {
                let place = groups.place(bytes, index);
                assert!(place.offset >= end && place.room > 0);
                end = place.offset + size;
                assert!(end <= bytes);
                assert_eq!(
                    place.offset / piece,
                    (end - 1) / piece,
                    "no element straddles"
                );
            }
        }
    }

    #[test]
    fn no_element_straddles_two_pieces() {
        for piece in [64, 256, 1024] {
            places_are_apart::<u8>(piece, 1100);
            places_are_apart::<[u8; 3]>(piece, 800);
            places_are_apart::<u64>(piece, 300);
            places_are_apart::<[u64; 3]>(piece, 200);
            places_are_apart::<[u64; 5]>(piece, 100);
            places_are_apart::<[u64; 8]>(piece, 40);
        }
    }

    #[test]
    fn no_vector_makes_room_for_more_than_the_certificate_counts() {
        for (piece, large) in [(64, 64), (64, 1024), (256, 1024), (usize::MAX, 1 << 31)] {
            let groups = Groups::<[u64; 3]>::new(piece);
            let (mut capacity, mut elements) = (0, 0);
            while elements < 1000 {
                if elements == capacity {
                    capacity = groups.grown(capacity, large);
                    assert!(capacity > elements, "it grows");
                    assert!(capacity - elements <= elements.max(groups.per_large(large)).max(4));
                }
                elements += 1;
                assert!(capacity <= groups.most(elements, large), "{elements}");
            }
        }
        assert_eq!(Groups::<[u8; 65]>::new(64).grown(0, 64), 0);
        assert_eq!(Groups::<[u8; 65]>::new(64).most(7, 64), 7);
    }

    #[test]
    fn what_no_piece_holds_is_refused() {
        assert!(Groups::<[u8; 65]>::new(64).bytes(1).is_err());
        assert!(Groups::<u64>::new(64).bytes(usize::MAX).is_err());
        assert_eq!(Groups::<[u8; 65]>::new(64).bytes(0), Ok(0));
    }
}
