//! The sizes of an arena.
#![deny(unsafe_code)]

/// The sizes of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Entries of the mark stack; at least one. Each has eight bytes.
    pub mark_stack: usize,
    /// The maximum number of types of objects. Each costs a pointer.
    pub kinds: usize,
    /// Bytes of the heap at the beginning. [`Arena::ensure`](crate::Arena::ensure) and
    /// [`Arena::retry`](crate::Arena::retry) let it grow up to the region.
    pub heap: usize,
}

/// The whole region, and 1024 entries and 256 types (10 KiB). For a tree, depth times arity entries
/// are enough; an overflow costs only time.
impl Default for Limits {
    fn default() -> Self {
        Self {
            mark_stack: 1024,
            kinds: 256,
            heap: usize::MAX,
        }
    }
}
