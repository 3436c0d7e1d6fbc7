//! Numbers in fewer bits.
#![deny(unsafe_code)]

/// `value`, which must be below 2^8.
#[expect(clippy::cast_possible_truncation, reason = "checked in debug builds")]
#[inline]
pub(super) const fn byte(value: usize) -> u8 {
    debug_assert!(value <= u8::MAX as usize, "the value fits");
    value as u8
}

/// `value`, which must be below 2^16.
#[expect(clippy::cast_possible_truncation, reason = "checked in debug builds")]
#[inline]
pub(super) const fn half(value: usize) -> u16 {
    debug_assert!(value <= u16::MAX as usize, "the value fits");
    value as u16
}

/// `value`, which must be below 2^32.
#[expect(clippy::cast_possible_truncation, reason = "checked in debug builds")]
#[inline]
pub(super) const fn word(value: u64) -> u32 {
    debug_assert!(value <= u32::MAX as u64, "the value fits");
    value as u32
}
