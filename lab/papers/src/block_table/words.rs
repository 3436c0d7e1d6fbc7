//! The words of a row.
#![deny(unsafe_code)]

use surefit_compact::Width;

/// The bit that distinguishes a frame from an entry of the address table.
pub(super) const fn tag<W: Width>() -> u32 {
    1 << (8 * W::WORD_BYTES - 1)
}

/// Words of one object: a row, or a spine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) entry: u32,
    pub(super) words: usize,
}
