//! The collector's own words, cut from the front of the region. Only this file turns bytes into
//! words.
//!
//! ```text
//! region  | alignment | live bits | mark bits | mark stack | the rest: the space |
//! ```

use core::mem::MaybeUninit;

/// Bytes of a word of a table.
pub(crate) const WORD: usize = 8;

/// Bytes for values: aligned, not written yet.
pub(crate) type Table<'m, T = u64> = &'m mut [MaybeUninit<T>];

/// Cuts `count` values from the front of a region. Returns them and the rest, or `None` if the
/// region is too small.
pub(crate) fn split<T>(
    region: &mut [MaybeUninit<u8>],
    count: usize,
) -> Option<(Table<'_, T>, &mut [MaybeUninit<u8>])> {
    let lead = region.as_ptr().align_offset(align_of::<T>());
    let (_, aligned) = region.split_at_mut_checked(lead)?;
    let (table, rest) = aligned.split_at_mut_checked(count.checked_mul(size_of::<T>())?)?;
    // SAFETY: aligned by `lead`, `count` values long, and borrowed by this slice alone; they need
    // not be initialised.
    let table = unsafe { core::slice::from_raw_parts_mut(table.as_mut_ptr().cast(), count) };
    Some((table, rest))
}

/// The words, all set to zero.
pub(crate) fn zeroed(table: Table<'_>) -> &mut [u64] {
    filled(table, 0)
}

/// The values, all set to the same one.
pub(crate) fn filled<T: Copy>(table: Table<'_, T>, value: T) -> &mut [T] {
    table.fill(MaybeUninit::new(value));
    // SAFETY: all of them were written just now.
    unsafe { core::slice::from_raw_parts_mut(table.as_mut_ptr().cast(), table.len()) }
}
