//! The border between the chunks of the lists and the large objects. `large` describes the large
//! objects and their invariants, W2 to W7.
#![deny(unsafe_code)]

use crate::chunk::{Chunk, SMALLEST};

/// Where the large objects begin, and how many there are.
#[derive(Debug)]
pub(crate) struct Large {
    /// The granule that the chunks of the lists may reach. The lowest large object is the chunk
    /// after it.
    pub(crate) floor: u32,
    pub(crate) objects: usize,
    /// Granules below the floor that the lists leave free, as far as they can.
    pub(crate) reserve: u32,
    /// Every gap is shorter than this many granules: the least such number that is known without a
    /// walk.
    pub(crate) gaps_below: u32,
    /// Where the search for a gap continues for a displaced object.
    pub(crate) next: Chunk,
}

impl Large {
    /// No large objects, in a region of `granules` granules.
    pub(crate) const fn none(granules: u32) -> Self {
        Self {
            floor: granules,
            objects: 0,
            reserve: 0,
            gaps_below: SMALLEST,
            next: Chunk::at(granules),
        }
    }
}
