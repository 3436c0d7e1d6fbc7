//! The size-classes of direct heaps, as tables that the fast paths read.

use super::memory::{PAGE_BYTES, UNIT_BYTES};
use crate::geometry::{Geometry, GeometrySpec, Spacing, Tail};

/// The largest request in bytes that a page-block serves: a quarter of a page. Runs of units serve
/// larger ones.
pub(super) const LARGEST_BLOCK: usize = PAGE_BYTES / 4;
/// The strictest alignment that page-blocks serve; the base of the region is aligned to no more.
const MOST_ALIGNED: usize = UNIT_BYTES;
/// The entries of a table with one entry per class: a power of two, so that a class is masked
/// instead of checked.
pub(super) const CLASSES: usize = 128;

/// The partitioning: 1/8 spacing, from eight bytes.
pub(super) static GEOMETRY: Geometry = match Geometry::new(&GeometrySpec {
    page_bytes: PAGE_BYTES,
    granule: 8,
    smallest: 8,
    spacing: Spacing::Fraction(8),
    tail: Tail::None,
}) {
    Ok(geometry) => geometry,
    Err(error) => panic!("{}", error.message()),
};

/// The class of a request of `8 · i` bytes, or of up to seven bytes fewer.
static CLASS_OF: [u8; LARGEST_BLOCK / 8 + 1] = {
    let mut table = [0; LARGEST_BLOCK / 8 + 1];
    let mut i = 0;
    while i < table.len() {
        table[i] = class_index(i * 8, 8);
        i += 1;
    }
    table
};

/// β of every class, in bytes; 0 where there is no class.
pub(super) static BLOCK_BYTES: [u16; CLASSES] = {
    let mut table = [0; CLASSES];
    let mut class = 0;
    while class < GEOMETRY.class_count() {
        let Some(size_class) = GEOMETRY.class(class) else {
            break;
        };
        let bytes = GEOMETRY.layout(size_class).block_bytes;
        if bytes as usize <= LARGEST_BLOCK {
            table[class] = bytes as u16;
        }
        class += 1;
    }
    table
};

const fn class_index(bytes: usize, align: usize) -> u8 {
    let bytes = if bytes == 0 { 1 } else { bytes };
    match GEOMETRY.class_for(bytes, align) {
        Some(class) => class.index() as u8,
        None => u8::MAX,
    }
}

/// β of a class, in bytes; 0 where there is no class.
pub(super) fn block_bytes(class: u8) -> u16 {
    BLOCK_BYTES.get(usize::from(class)).copied().unwrap_or(0)
}

/// π of a class; 0 where there is no class.
pub(super) fn blocks(class: u8) -> u16 {
    let bytes = block_bytes(class);
    (PAGE_BYTES as u16).checked_div(bytes).unwrap_or(0)
}

/// The class of a request, if page-blocks serve it.
#[inline]
pub(super) fn class_of(bytes: usize, align: usize) -> Option<u8> {
    if bytes > LARGEST_BLOCK {
        return None;
    }
    if align > 8 {
        return class_of_aligned(bytes, align);
    }
    Some(CLASS_OF[bytes.div_ceil(8)])
}

#[cold]
fn class_of_aligned(bytes: usize, align: usize) -> Option<u8> {
    if align > MOST_ALIGNED {
        return None;
    }
    let class = class_index(bytes, align);
    (usize::from(BLOCK_BYTES.get(usize::from(class)).copied()?) >= bytes.max(1)).then_some(class)
}
