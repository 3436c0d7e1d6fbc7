//! What a moving heap of one owner reports.

use surefit_compact::{Geometry, Heap, Width};
use surefit_core::Usage;

use crate::subject::{ClassUse, Classes, Moves};

/// What every byte of a heap is used for, its control structure included.
pub(super) fn usage<W: Width>(heap: &Heap<'_, W>) -> Usage {
    let mut usage = heap.usage();
    usage.administrative_bytes += control_bytes::<W>();
    usage
}

/// What the pages of each size-class hold.
pub(super) fn classes<W: Width>(heap: &Heap<'_, W>, geometry: &Geometry) -> Classes {
    let of_class = |class| {
        let (live, pages) = heap.details().class_usage(class);
        let layout = geometry.layout(class);
        ClassUse {
            block_bytes: u64::from(layout.block_bytes),
            blocks: u64::from(layout.blocks),
            pages: u64::from(pages),
            not_full_pages: u64::from(heap.details().class_counts(class).not_full),
            live_blocks: u64::from(live),
        }
    };
    Classes {
        page_bytes: geometry.page_bytes(),
        classes: geometry.classes().map(of_class).collect(),
    }
}

/// What a heap moved so far.
pub(super) fn moves<W: Width>(heap: &Heap<'_, W>) -> Moves {
    let stats = heap.stats();
    Moves {
        total: stats.moves_total,
        bytes_total: stats.moved_bytes_total,
        bytes_max_per_op: Some(stats.moved_bytes_max_per_op),
        bytes_max_per_section: None,
    }
}

/// Bytes of the heap's own control structure, subtracted from the region.
pub(super) const fn control_bytes<W: Width>() -> usize {
    size_of::<Heap<'_, W>>().next_multiple_of(8)
}
