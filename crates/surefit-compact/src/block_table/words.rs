//! The words of a row, as bytes of a byte object.
#![deny(unsafe_code)]

use core::mem::MaybeUninit;

use crate::handle::{Bytes, Name};
use crate::width::Width;

/// The bit that distinguishes a frame from an entry of the address table.
pub(super) const fn tag<W: Width>() -> u32 {
    1 << (8 * W::WORD_BYTES - 1)
}

/// Reads a word of a row; `bytes` begins with it.
#[inline]
pub(super) fn get<W: Width>(bytes: &[u8]) -> u32 {
    if W::WORD_BYTES == 2 {
        return u32::from(u16::from_ne_bytes([bytes[0], bytes[1]]));
    }
    u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// Writes a word of a row.
#[inline]
pub(super) fn set<W: Width>(bytes: &mut [MaybeUninit<u8>], word: u32) {
    if W::WORD_BYTES == 2 {
        #[expect(clippy::cast_possible_truncation, reason = "words of two bytes fit")]
        let word = word as u16;
        bytes.copy_from_slice(&word.to_ne_bytes().map(MaybeUninit::new));
        return;
    }
    bytes.copy_from_slice(&word.to_ne_bytes().map(MaybeUninit::new));
}

/// A row of `frames` entries, by its name.
#[inline]
pub(super) fn row<W: Width>(name: Name, frames: usize) -> Bytes<u8> {
    Bytes::new(name, frames * W::WORD_BYTES)
}
