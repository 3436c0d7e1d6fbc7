//! An exact number of bytes, at the start of a page.

use core::mem::MaybeUninit;

/// Bytes that are junk for each new heap, at a fixed distance after an aligned address.
#[derive(Debug)]
pub struct Region {
    backing: Vec<MaybeUninit<u8>>,
    start: usize,
    bytes: usize,
}

impl Region {
    /// `bytes` bytes of which the first is aligned.
    #[must_use]
    pub fn aligned(bytes: usize, align: usize) -> Self {
        Self::behind(bytes, align, 0)
    }

    /// `bytes` bytes; the first is `offset` bytes after an aligned address.
    #[must_use]
    pub fn behind(bytes: usize, align: usize, offset: usize) -> Self {
        let backing = vec![MaybeUninit::new(0); bytes + align + offset];
        let address = backing.as_ptr().addr();
        Self {
            start: address.next_multiple_of(align) - address + offset,
            backing,
            bytes,
        }
    }

    /// The address of the first byte.
    #[must_use]
    pub fn address(&self) -> usize {
        self.backing[self.start..].as_ptr().addr()
    }

    /// The bytes, all junk again.
    pub fn fresh(&mut self) -> &mut [MaybeUninit<u8>] {
        let region = &mut self.backing[self.start..][..self.bytes];
        region.fill(MaybeUninit::new(0xa5));
        region
    }
}
