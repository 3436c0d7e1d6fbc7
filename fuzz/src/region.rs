//! Memory of a heap under test, with junk in it: the fuzzer makes thousands a second, so the junk
//! is one byte's.

use std::mem::MaybeUninit;
use std::ops::Range;

/// Memory that begins a chosen number of bytes behind a multiple of an alignment.
#[derive(Debug)]
pub struct Region {
    backing: Vec<MaybeUninit<u8>>,
    start: usize,
    bytes: usize,
}

impl Region {
    /// `bytes` bytes, the first of them `offset` behind a multiple of `align`.
    pub fn new(bytes: usize, align: usize, offset: usize) -> Self {
        let backing = vec![MaybeUninit::new(0xA5); bytes + align + offset];
        let start = backing.as_ptr().align_offset(align) + offset;
        Self {
            backing,
            start,
            bytes,
        }
    }

    /// The memory, to be handed to a heap.
    pub fn memory(&mut self) -> &mut [MaybeUninit<u8>] {
        &mut self.backing[self.start..][..self.bytes]
    }

    /// Its addresses.
    pub fn span(&self) -> Range<usize> {
        let first = self.backing.as_ptr().addr() + self.start;
        first..first + self.bytes
    }
}
