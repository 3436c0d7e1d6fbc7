//! The settings of a collector over free lists.
#![deny(unsafe_code)]

/// The settings of a collector over free lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Entries of the mark stack; at least one. Each has eight bytes.
    pub mark_stack: usize,
    /// How free chunks are found.
    pub sweep: Sweep,
    /// Bytes of chunks, headers included, that the heap begins with; it grows up to its region on
    /// demand. If this is at least the region's size, the heap has all of it from the beginning: a
    /// fixed heap.
    pub limit: usize,
    /// Objects of at least this many bytes are large: they are allocated from the other end of the
    /// region. With `usize::MAX` no object is large.
    pub large_from: usize,
}

impl Settings {
    /// The default size from which objects are large: 4 KiB. In real programs at most a few percent
    /// of the objects are large, and each weighs as much as a hundred small ones.
    pub const LARGE: usize = 4096;
}

/// A fixed heap, and a mark stack of 256 entries (2 KiB). For a tree, depth times (arity − 1)
/// entries are enough; an overflow costs a pass over the mark bits. Recorded Java programs overflow
/// it once or twice per collection. This is cheap: with room for all entries, up to 11,000,
/// collections of one of these programs took 5 % fewer instructions.
impl Default for Settings {
    fn default() -> Self {
        Self {
            mark_stack: 256,
            sweep: Sweep::default(),
            limit: usize::MAX,
            large_from: Self::LARGE,
        }
    }
}

/// How a sweep finds free memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sweep {
    /// From header to header, as in the thesis.
    Walk,
    /// From mark to mark if the index merges free neighbours at once, otherwise as `Walk`. Dead
    /// objects are not read.
    #[default]
    Leap,
}
