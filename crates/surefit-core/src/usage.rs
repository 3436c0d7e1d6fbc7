//! The account of where every byte of a region is.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

/// An exact account of a region: the parts add up to its size. All values are bytes.
///
/// The parts have the names that the Compact-fit papers give to kinds of fragmentation. A part that
/// a system does not have is zero. Only the caller knows how many bytes were *requested*;
/// `block_bytes` less the requested bytes is the page-block-internal (or chunk-internal)
/// fragmentation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Page-blocks or chunk payloads that hold live objects.
    pub block_bytes: usize,
    /// Bytes of pages in use that belong to no page-block: what partitioning loses in each page.
    pub page_internal_bytes: usize,
    /// Free page-blocks of not-full pages: size-class fragmentation.
    pub size_class_bytes: usize,
    /// Page-blocks held by unfinished moves: transient size-class fragmentation.
    pub transient_bytes: usize,
    /// The unused ends of runs of pages that hold one large object each.
    pub large_tail_bytes: usize,
    /// Everything that the system needs for itself: tables, headers, handles, back-references,
    /// alignment of the region.
    pub administrative_bytes: usize,
    /// Free chunks of free-list systems.
    pub free_chunk_bytes: usize,
    /// Free pages, and pages that were never used.
    pub free_page_bytes: usize,
}

impl Usage {
    /// The sum of all parts, in bytes: the size of the region.
    ///
    /// The sum does not overflow: it is at most `usize::MAX`, whatever the parts.
    #[must_use]
    pub const fn total(&self) -> usize {
        self.block_bytes
            .saturating_add(self.page_internal_bytes)
            .saturating_add(self.size_class_bytes)
            .saturating_add(self.transient_bytes)
            .saturating_add(self.large_tail_bytes)
            .saturating_add(self.administrative_bytes)
            .saturating_add(self.free_chunk_bytes)
            .saturating_add(self.free_page_bytes)
    }
}
