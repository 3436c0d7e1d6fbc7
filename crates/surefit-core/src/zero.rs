//! Sets the bytes of new objects to zero.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use core::ptr::NonNull;

/// Sets bytes to zero: as [`NonNull::write_bytes`], but without a call up to 64 bytes.
///
/// Two stores of a fixed length, which may overlap, cover both ends.
///
/// # Safety
/// S1: `bytes` bytes from `first` on may be written. S2: `bytes` is at least eight.
///
/// # Complexity
/// O(bytes).
#[inline]
pub unsafe fn zero(first: NonNull<u8>, bytes: usize) {
    debug_assert!(bytes >= 8, "S2");
    match bytes {
        // SAFETY: S1; each arm has at least as many bytes as it names.
        0..=16 => unsafe { zero_ends::<8>(first, bytes) },
        // SAFETY: as above.
        17..=32 => unsafe { zero_ends::<16>(first, bytes) },
        // SAFETY: as above.
        33..=64 => unsafe { zero_ends::<32>(first, bytes) },
        // SAFETY: S1.
        _ => unsafe { first.write_bytes(0, bytes) },
    }
}

/// Sets the first and the last `N` bytes to zero.
///
/// # Safety
/// S1: `bytes` bytes from `first` on may be written. S2: `bytes` is at least `N`.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "S2: the bytes are at least N"
)]
#[inline]
unsafe fn zero_ends<const N: usize>(first: NonNull<u8>, bytes: usize) {
    // SAFETY: S1, S2.
    unsafe { first.write_bytes(0, N) };
    // SAFETY: S2: inside.
    let last = unsafe { first.add(bytes - N) };
    // SAFETY: S1: the last `N` of them.
    unsafe { last.write_bytes(0, N) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_bytes_are_zero() {
        for bytes in 8..200 {
            let mut buffer = [0xa5_u8; 216];
            let first = NonNull::from(&mut buffer[8..]).cast();
            // SAFETY: S1, S2: there are at least eight bytes, fewer than follow `first`.
            unsafe { zero(first, bytes) };
            let expected = |at: usize| {
                if (8..8 + bytes).contains(&at) {
                    0
                } else {
                    0xa5
                }
            };
            assert!(
                buffer
                    .iter()
                    .enumerate()
                    .all(|(at, &byte)| byte == expected(at))
            );
        }
    }
}
