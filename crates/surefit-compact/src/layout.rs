//! How a region is divided, as numbers: used by `Heap::new` and by certificates.
//!
//! ```text
//! 0            P            2P                        Q·P          fixed            len
//! | page 0     | page 1     | …      | table page     | rest       | class states | page records |
//! | data pages, from the front →     ← the address table, from the fixed area backwards         |
//! ```
//! Offsets are in bytes from the aligned base. The address table grows towards lower addresses,
//! first through the rest.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

#[cfg(feature = "slack")]
use surefit_core::Refused;

use crate::class::ClassState;
use crate::config::Config;
use crate::page::PageRecord;
use crate::width::Width;

/// Bytes of the state of one size-class.
#[must_use]
pub const fn class_state_bytes<W: Width>() -> usize {
    size_of::<ClassState<W>>()
}

/// Bytes of the record of one page.
#[must_use]
pub const fn page_record_bytes<W: Width>() -> usize {
    size_of::<PageRecord<W>>()
}

/// Bytes of the fixed area: class states, padded to eight bytes, and page records. `usize::MAX` if
/// there are more.
#[must_use]
pub const fn fixed_bytes<W: Width>(classes: usize, pages: usize) -> usize {
    let states = padded(classes.saturating_mul(class_state_bytes::<W>()), 8);
    let records = pages.saturating_mul(page_record_bytes::<W>());
    padded(states.saturating_add(records), 8)
}

/// The refusal of a region of which `more` bytes are not the heap's own.
#[cfg(feature = "slack")]
pub(crate) fn refused_beside(refused: Refused, more: usize) -> Refused {
    match refused {
        Refused::Region { needed } => Refused::Region {
            needed: needed.saturating_add(more),
        },
        other => other,
    }
}

/// The next multiple of `to`, which must not be zero; `usize::MAX` if that is too large.
pub(crate) const fn padded(bytes: usize, to: usize) -> usize {
    match bytes.checked_next_multiple_of(to) {
        Some(padded) => padded,
        None => usize::MAX,
    }
}

/// The most pages that fit into `bytes` together with their fixed area.
#[must_use]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "a page and its record are at least the record's bytes, which are not zero"
)]
pub const fn pages_in<W: Width>(bytes: usize, page_bytes: usize, classes: usize) -> usize {
    let states = padded(classes.saturating_mul(class_state_bytes::<W>()), 8);
    let pages = bytes.saturating_sub(states) / page_bytes.saturating_add(page_record_bytes::<W>());
    // One fewer if only the padding of the records does not fit.
    let data = pages.saturating_mul(page_bytes);
    let fits = match data.checked_add(fixed_bytes::<W>(classes, pages)) {
        Some(needed) => needed <= bytes,
        None => false,
    };
    if fits { pages } else { pages.saturating_sub(1) }
}

/// The bytes at the end of a region that a heap with a limit always uses: its tables, with entries
/// for `objects` objects at once (all pieces of long ones counted). The region has `region_bytes`
/// bytes and begins at a multiple of the page size. `None` if the region is too short for them and
/// one page.
#[must_use]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "whole pages below `top`, which is at most the region's bytes; a page has some"
)]
pub fn table_bytes<W: Width>(
    config: &Config,
    region_bytes: usize,
    objects: usize,
) -> Option<usize> {
    let geometry = config.geometry();
    let (page, classes) = (geometry.page_bytes(), geometry.class_count());
    let pages = pages_in::<W>(region_bytes & !7, page, classes);
    let top = (region_bytes & !7).checked_sub(fixed_bytes::<W>(classes, pages))?;
    let floor = top.checked_sub(objects.checked_mul(W::ENTRY_BYTES)?)?;
    let floor = (floor / page).min(pages) * page;
    (floor > 0).then(|| region_bytes - floor)
}
