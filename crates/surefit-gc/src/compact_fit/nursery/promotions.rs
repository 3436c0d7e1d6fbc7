//! What a nursery gave to its heap, counted.
#![deny(unsafe_code)]

/// What the nursery gave to the heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Promotions {
    /// Times that the nursery was emptied.
    pub rounds: u64,
    /// Headers that were read.
    pub headers: u64,
    /// Objects that were copied into the heap.
    pub objects: u64,
    /// Bytes of their words.
    pub bytes: u64,
    /// Objects that stayed in the nursery since the heap had no room for them. One that stays twice
    /// counts twice.
    pub stayed: u64,
    /// Bytes of their words, which may have moved within the nursery.
    pub stayed_bytes: u64,
}
