//! What a certificate says.
#![deny(unsafe_code)]

/// The bytes that are enough for a demand, and the most work of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// Bytes of region that are enough, wherever it begins: the sum of `parts`.
    pub heap_bytes: usize,
    /// Bytes that are enough if the region begins at a multiple of the page size.
    pub aligned_bytes: usize,
    /// What the bytes are for.
    pub parts: CertifiedParts,
    /// Data pages that the demand can fill at once.
    pub data_pages: u64,
    /// Entries of the address table that the demand can need at once, retired ones included.
    pub entries: u64,
    /// The most moves that the free of one page-block causes; an allocation causes none.
    pub moves_max_per_op: u32,
    /// The most bytes that these moves copy.
    pub moved_bytes_max_per_op: u64,
    /// The most pages of the region that the allocation or free of one page-block touches. Under a
    /// bound in holes, or without a bound, one call may give up to 31 parked page-blocks of each
    /// size-class back to their pages, and touches those.
    pub pages_touched_max_per_op: u64,
}

/// The bytes that are enough for page-blocks and contiguous objects, and the most work of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContiguousCertificate {
    /// The bytes for everything. Its work of one call is that of calls on page-blocks.
    pub heap: Certificate,
    /// The most pages of contiguous objects at once: Σ n·m.
    pub window_pages: u64,
    /// The most pages of their slots at once: Σ n·s.
    pub slot_pages: u64,
    /// The most bytes that allocating or freeing one contiguous object moves. A resize that changes
    /// the slot does both.
    pub moved_bytes_max_per_call: u64,
}

/// What the bytes of a certificate are for. The parts add up to `heap_bytes`;
/// `back_reference_bytes` is contained in `data_page_bytes`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CertifiedParts {
    /// Data pages.
    pub data_page_bytes: usize,
    /// The address table, padded to eight bytes.
    pub handle_bytes: usize,
    /// Page records, padded to eight bytes.
    pub page_record_bytes: usize,
    /// Class states, and in a heap with slack the table of what is lent.
    pub class_state_bytes: usize,
    /// Bytes that may be skipped until a page begins.
    pub alignment_bytes: usize,
    /// The part of the data pages, at most, that exists because of the live objects'
    /// back-references.
    pub back_reference_bytes: usize,
}
