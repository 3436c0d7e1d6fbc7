//! What a call that collects freed and left.
#![deny(unsafe_code)]

/// What `collect` of an arena did. Bytes are those of chunks, headers included, as
/// [`Gc::BYTES`](crate::Gc::BYTES) counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collected {
    /// Objects that it freed.
    pub freed_objects: u64,
    /// Objects that it kept.
    pub live_objects: u64,
    /// Bytes of these.
    pub live_bytes: usize,
    /// Free bytes that it left: what [`Arena::free_bytes`](crate::Arena::free_bytes) returns.
    pub free_bytes: usize,
}
