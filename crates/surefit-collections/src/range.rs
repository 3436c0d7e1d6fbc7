//! Ranges of indices.
#![deny(unsafe_code)]

use core::ops::{Bound, RangeBounds};

/// The beginning and the end of a range of `len` elements.
///
/// # Panics
/// If the range ends above the length, or before it begins.
pub(crate) fn bounds(range: &impl RangeBounds<usize>, len: usize) -> (usize, usize) {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&last) => last.saturating_add(1),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => len,
    };
    assert!(
        start <= end && end <= len,
        "{start} to {end} is no range of {len} elements"
    );
    (start, end)
}
