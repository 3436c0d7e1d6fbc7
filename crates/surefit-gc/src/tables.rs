//! The collector's own words, cut from the front of the region: the only file that turns bytes into words.
//!
//! ```text
//! region  | alignment | live bits | mark bits | mark stack | the rest: the space |
//! ```

use core::mem::MaybeUninit;

/// Bytes of a word of a table.
pub(crate) const WORD: usize = 8;

/// Bytes for words, aligned but not yet written.
pub(crate) type Table<'m> = &'m mut [MaybeUninit<u64>];

/// Cuts so many words from the front of a region; returns them and the rest, or `None` if it is too small.
pub(crate) fn split(
    region: &mut [MaybeUninit<u8>],
    words: usize,
) -> Option<(Table<'_>, &mut [MaybeUninit<u8>])> {
    let lead = region.as_ptr().align_offset(align_of::<u64>());
    let (_, aligned) = region.split_at_mut_checked(lead)?;
    let (table, rest) = aligned.split_at_mut_checked(words.checked_mul(WORD)?)?;
    // SAFETY: aligned by `lead`, `words` words long, and borrowed by this slice alone; they need not be initialised.
    let table = unsafe { core::slice::from_raw_parts_mut(table.as_mut_ptr().cast(), words) };
    Some((table, rest))
}

/// The words, all zero.
pub(crate) fn zeroed(table: Table<'_>) -> &mut [u64] {
    table.fill(MaybeUninit::new(0));
    // SAFETY: all of them were written just now.
    unsafe { core::slice::from_raw_parts_mut(table.as_mut_ptr().cast(), table.len()) }
}
