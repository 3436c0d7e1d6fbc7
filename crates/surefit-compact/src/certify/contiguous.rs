//! What contiguous objects over a page take beside page-blocks, and the most that one call moves.
//!
//! ```text
//! m, n     pages of an object; the most such objects live at once
//! s        pages of its slot: 2^⌈log₂ m⌉
//! D        max(Σ n·s, D of the page-blocks + Σ n·m)
//! E        E of the page-blocks + Σ n
//! moved    allocate: m + 2·g·s pages    free: 2·(most m) − (least m) + 2·g·s pages
//!          most and least over the objects of this slot; g: sizes of smaller slots in the demand
//! ```
//! # Bounds
//! O(k²) for a demand of k numbers of pages, besides the certificate of the page-blocks.
//!
//! # Source
//! [The bounds, section 9](crate::bounds#9-contiguous-objects-over-a-page).
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::limits::{least, most};
use super::uncertifiable::Uncertifiable;

/// Contiguous objects of one number of pages, two or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContiguousDemand {
    /// The length of the longest of these objects, in bytes; each has as many pages as this one.
    pub bytes: usize,
    /// The most of them that are live at once. A resize that changes the slot holds two for a
    /// moment.
    pub objects: u32,
}

/// What contiguous objects take.
pub(super) struct Windows {
    /// Σ n·m.
    pub(super) pages: u64,
    /// Σ n·s.
    pub(super) slots: u64,
    /// Σ n.
    pub(super) objects: u64,
    /// The most pages that one call moves.
    pub(super) moved_pages: u64,
}

/// What the contiguous objects of a demand take.
pub(super) const fn windows(
    page_bytes: usize,
    contiguous: &[ContiguousDemand],
) -> Result<Windows, Uncertifiable> {
    let mut sum = Windows {
        pages: 0,
        slots: 0,
        objects: 0,
        moved_pages: 0,
    };
    let mut index = 0;
    while index < contiguous.len() {
        let ContiguousDemand { bytes, objects } = contiguous[index];
        index = index.saturating_add(1);
        if bytes <= page_bytes {
            return Err(Uncertifiable::WithinPage { limit: page_bytes });
        }
        if objects == 0 {
            continue;
        }
        let (pages, slot, count) = (
            pages_of(page_bytes, bytes),
            slot_of(page_bytes, bytes),
            objects as u64,
        );
        sum.pages = sum.pages.saturating_add(pages.saturating_mul(count));
        sum.slots = sum.slots.saturating_add(slot.saturating_mul(count));
        sum.objects = sum.objects.saturating_add(count);
        let moved = moved_pages(page_bytes, contiguous, bytes);
        sum.moved_pages = most(sum.moved_pages, moved);
    }
    Ok(sum)
}

const fn pages_of(page_bytes: usize, bytes: usize) -> u64 {
    bytes.div_ceil(page_bytes) as u64
}

const fn slot_of(page_bytes: usize, bytes: usize) -> u64 {
    // A length has at most 2^63 pages or, with fewer bits, 2^31.
    pages_of(page_bytes, bytes).next_power_of_two()
}

/// The most pages that allocating or freeing an object of `bytes` bytes moves beside others of the
/// demand.
const fn moved_pages(page_bytes: usize, contiguous: &[ContiguousDemand], bytes: usize) -> u64 {
    let slot = slot_of(page_bytes, bytes);
    let (mut smaller, mut longest, mut shortest) = (0_u64, 0, u64::MAX);
    let mut index = 0;
    while index < contiguous.len() {
        let other = contiguous[index];
        let other_slot = slot_of(page_bytes, other.bytes);
        if other.objects > 0 && other_slot == slot {
            longest = most(longest, pages_of(page_bytes, other.bytes));
            shortest = least(shortest, pages_of(page_bytes, other.bytes));
        }
        if other_slot < slot && is_first_of_its_slot(page_bytes, contiguous, index) {
            smaller = smaller.saturating_add(1);
        }
        index = index.saturating_add(1);
    }
    let replaced = longest.saturating_add(longest.saturating_sub(shortest));
    let shifted = smaller.saturating_mul(2).saturating_mul(slot);
    replaced.saturating_add(shifted)
}

/// Whether no earlier part of a demand has objects with slots of this size, and this part has.
const fn is_first_of_its_slot(
    page_bytes: usize,
    contiguous: &[ContiguousDemand],
    index: usize,
) -> bool {
    let slot = slot_of(page_bytes, contiguous[index].bytes);
    let mut earlier = 0;
    while earlier < index {
        let other = contiguous[earlier];
        if other.objects > 0 && slot_of(page_bytes, other.bytes) == slot {
            return false;
        }
        earlier = earlier.saturating_add(1);
    }
    contiguous[index].objects > 0
}
