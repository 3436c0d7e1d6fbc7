//! What words can number, and the lesser and the greater of two numbers.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::width::Width;

/// The lesser of two numbers.
pub(super) const fn least(a: u64, b: u64) -> u64 {
    if a < b { a } else { b }
}

/// The greater of two numbers.
pub(super) const fn most(a: u64, b: u64) -> u64 {
    if a > b { a } else { b }
}

/// The bits of a word.
pub(super) const fn word_bits<W: Width>() -> u32 {
    match W::WORD_BYTES {
        2 => u16::BITS,
        3 => 24,
        _ => u32::BITS,
    }
}

/// The entries and pages that a word can number: its greatest value names nothing.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "words have 16, 24 or 32 bits"
)]
pub(super) const fn numbers<W: Width>() -> u64 {
    u64::MAX >> (u64::BITS - word_bits::<W>())
}

/// The entries that words can number, less one value that names nothing.
pub(super) const ENTRIES_MAX: u64 = u32::MAX as u64 - 1;
