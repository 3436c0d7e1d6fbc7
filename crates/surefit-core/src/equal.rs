//! Which bytes of several are the same as another one.

/// How many bytes [`equal`] compares.
pub const AT_ONCE: usize = 32;

/// A bit for every byte that is `byte`, the lowest bit for the first one. Without a branch.
#[inline]
#[must_use]
pub fn equal(bytes: &[u8; AT_ONCE], byte: u8) -> u32 {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(miri)))]
    {
        wide::equal(bytes, byte)
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2", not(miri))))]
    {
        words::equal(bytes, byte)
    }
}

/// Sixteen bytes at a time.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(miri)))]
mod wide {
    use core::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};

    use super::AT_ONCE;

    #[inline]
    pub(super) fn equal(bytes: &[u8; AT_ONCE], byte: u8) -> u32 {
        let half = |start: usize| {
            let first = bytes[start..start + 16].as_ptr();
            // SAFETY: sixteen bytes are read, which the slice has; every such processor can do it.
            let bits = unsafe {
                let half = _mm_loadu_si128(first.cast());
                let byte = _mm_set1_epi8(i8::from_ne_bytes([byte]));
                _mm_movemask_epi8(_mm_cmpeq_epi8(half, byte))
            };
            u32::from_ne_bytes(bits.to_ne_bytes())
        };
        half(0) | half(16) << 16
    }
}

/// Eight bytes at a time.
#[cfg(any(test, miri, not(all(target_arch = "x86_64", target_feature = "sse2"))))]
mod words {
    use super::AT_ONCE;

    const LOW: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = LOW << 7;
    /// Brings the highest bits of all bytes side by side into the highest byte.
    const GATHER: u64 = 0x0002_0408_1020_4081;

    #[inline]
    pub(super) fn equal(bytes: &[u8; AT_ONCE], byte: u8) -> u32 {
        let words = bytes.chunks_exact(8).enumerate();
        words.fold(0, |bits, (number, word)| {
            let word = u64::from_le_bytes(word.try_into().expect("eight bytes"));
            let differs = word ^ (LOW * u64::from(byte));
            // A byte keeps its highest bit here if none of its bits is set.
            let equal = !(((differs & !HIGH) + !HIGH) | differs) & HIGH;
            let highest = (equal.wrapping_mul(GATHER) >> 56) as u32;
            bits | (highest << (8 * number))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{AT_ONCE, equal, words};

    #[test]
    fn the_bits_are_those_of_a_comparison_byte_by_byte() {
        let mut seed = 7_u64;
        for round in 0..2000 {
            // Few values, so that many are equal and many are neighbours.
            let values = [[0, 1, 2, 3], [127, 128, 129, 255], [0, 128, 1, 129]][round % 3];
            let mut bytes = [0; AT_ONCE];
            for byte in &mut bytes {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *byte = values[(seed >> 62) as usize];
            }
            for byte in values.into_iter().chain([77]) {
                let naive =
                    (0..AT_ONCE).fold(0, |bits, at| bits | u32::from(bytes[at] == byte) << at);
                assert_eq!(equal(&bytes, byte), naive);
                assert_eq!(words::equal(&bytes, byte), naive);
            }
        }
    }
}
