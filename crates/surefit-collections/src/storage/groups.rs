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
    fn what_no_piece_holds_is_refused() {
        assert!(Groups::<[u8; 65]>::new(64).bytes(1).is_err());
        assert!(Groups::<u64>::new(64).bytes(usize::MAX).is_err());
        assert_eq!(Groups::<[u8; 65]>::new(64).bytes(0), Ok(0));
    }
}
