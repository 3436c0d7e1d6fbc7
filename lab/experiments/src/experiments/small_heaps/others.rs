//! What is proved about heaps that never move an object, in bytes.
//!
//! ```text
//! Robson      M(½·log2 n + 1) − n + 1             no heap that never moves an object needs less, whatever its policy
//! o1heap      2M(1 + ⌈log2 n⌉)                    what Half-fit needs at most, headers left out
//!   refined   a·k + 2·l·n·Mf(1 + ⌈log2 nf⌉)/(l + n)    its README's figure with headers, "for sizing the heap space"
//!             Mf = ⌈M/l⌉, nf = ⌈n/l⌉, k = Mf − nf + 1; l: smallest request, a: header, 16 bytes on 32-bit machines
//! best fit    M(n − 2)                            and so TLSF: no better proof is known of either
//! ```
//! In the first, the second and the last, M and n count units of the smallest object, 16 bytes, and
//! no header or table is counted: the reading that favours those heaps.
//!
//! # Source
//! Robson 1971, 1974 and 1977; Ogasawara 1995; the README of o1heap 2.2 (May 2025), which gives
//! best fit's bound for TLSF.
#![deny(unsafe_code)]

/// The smallest object, and the unit of the bounds, in bytes.
pub(super) const UNIT_BYTES: u64 = 16;

/// a: the header of an allocation of o1heap on a 32-bit machine, four words.
const O1HEAP_HEADER_BYTES: u64 = 16;

/// M(½·log2 n + 1) − n + 1, rounded down, for the greatest power of two that is no more than n: a
/// floor under every heap that never moves an object.
pub(super) fn robson(live: u64, largest: u64) -> u64 {
    let (live, largest) = units(live, largest);
    let largest = 1_u64 << largest.ilog2();
    let halves = live * u64::from(largest.ilog2());
    (halves / 2 + live - largest + 1) * UNIT_BYTES
}

/// 2M(1 + ⌈log2 n⌉): Half-fit without headers.
pub(super) fn half_fit(live: u64, largest: u64) -> u64 {
    let (_, largest) = units(live, largest);
    2 * live * (1 + u64::from(largest.next_power_of_two().ilog2()))
}

/// o1heap's own figure for sizing a heap, headers included, rounded up.
pub(super) fn o1heap(live: u64, largest: u64) -> u64 {
    let (live_units, largest_units) = (live.div_ceil(UNIT_BYTES), largest.div_ceil(UNIT_BYTES));
    let fragments = live_units - largest_units + 1;
    let steps = 1 + u64::from(largest_units.next_power_of_two().ilog2());
    let worst = u128::from(2 * UNIT_BYTES * largest) * u128::from(live_units * steps);
    let worst = worst.div_ceil(u128::from(UNIT_BYTES + largest)) as u64;
    O1HEAP_HEADER_BYTES * fragments + worst
}

/// M(n − 2): best fit, and TLSF.
pub(super) fn best_fit(live: u64, largest: u64) -> u64 {
    let (_, largest) = units(live, largest);
    live * (largest - 2)
}

fn units(live: u64, largest: u64) -> (u64, u64) {
    (live / UNIT_BYTES, largest / UNIT_BYTES)
}

#[cfg(test)]
mod tests {
    use super::{best_fit, half_fit, o1heap, robson};

    #[test]
    fn robsons_bound_is_that_of_the_literature() {
        // M = 1024 and n = 32 objects of one unit: 3553 (and 16 and 2: 23).
        assert_eq!(robson(1024 * 16, 32 * 16), 3553 * 16);
        assert_eq!(robson(16 * 16, 2 * 16), 23 * 16);
        // A program with objects of up to 33 units may do with 32.
        assert_eq!(robson(1024 * 16, 33 * 16), 3553 * 16);
        assert_eq!(half_fit(1024 * 16, 32 * 16), 2 * 1024 * 6 * 16);
    }

    #[test]
    fn o1heaps_figure_is_that_of_its_readme() {
        // l = n: blocks of one size, of which it needs M and a header each.
        assert_eq!(o1heap(1 << 20, 16), (1 << 20) * 2);
        // 16·1009 + 2·16·256·1024·5/272
        assert_eq!(o1heap(16 << 10, 256), 16 * 1009 + 154_203);
    }

    #[test]
    fn best_fits_bound_grows_with_the_largest_object() {
        assert_eq!(best_fit(4096, 256), 14 * 4096);
        assert_eq!(best_fit(4096, 4096), 254 * 4096);
    }
}
