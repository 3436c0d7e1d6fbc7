//! How a region is divided, as numbers: what `Heap::new` lays out and what a certificate counts.
//!
//! ```text
//! 0            P            2P                        Q·P          fixed            len
//! | page 0     | page 1     | …      | table page     | slack      | class states | page records |
//! | data pages, from the front →     ← the address table, from the fixed area backwards         |
//! ```
//! Offsets in bytes from the aligned base. The address table grows towards lower addresses, through the slack first.
#![deny(unsafe_code)]

use crate::class::ClassState;
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

/// Bytes of the fixed area: class states, padded to eight bytes, and page records.
#[must_use]
pub const fn fixed_bytes<W: Width>(classes: usize, pages: usize) -> usize {
    let states = (classes * class_state_bytes::<W>()).next_multiple_of(8);
    (states + pages * page_record_bytes::<W>()).next_multiple_of(8)
}

/// The most pages that fit into `bytes` together with their fixed area.
#[must_use]
pub const fn pages_in<W: Width>(bytes: usize, page_bytes: usize, classes: usize) -> usize {
    let states = (classes * class_state_bytes::<W>()).next_multiple_of(8);
    let pages = bytes.saturating_sub(states) / (page_bytes + page_record_bytes::<W>());
    // One fewer where only the padding of the records does not fit.
    let fits = pages * page_bytes + fixed_bytes::<W>(classes, pages) <= bytes;
    if fits { pages } else { pages.saturating_sub(1) }
}
