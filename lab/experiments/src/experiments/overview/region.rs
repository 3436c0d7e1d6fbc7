//! Regions that begin at a multiple of 64 KiB: what a heap makes of its addresses is then the same
//! in every run.
#![deny(unsafe_code)]

use std::mem::MaybeUninit;

use anyhow::Result;
use surefit_os::Reservation;

/// A multiple of what any heap aligns its parts to.
const ALIGN: usize = 1 << 16;

/// A region.
#[derive(Debug)]
pub(super) struct Aligned {
    whole: Reservation,
    bytes: usize,
}

impl Aligned {
    /// A region of the given number of bytes.
    ///
    /// # Errors
    /// No memory.
    pub(super) fn new(bytes: usize) -> Result<Self> {
        let whole = Reservation::new(bytes + ALIGN)?;
        Ok(Self { whole, bytes })
    }

    /// Its bytes.
    pub(super) fn memory(&mut self) -> &mut [MaybeUninit<u8>] {
        let memory = self.whole.memory();
        let skipped = memory.as_ptr().align_offset(ALIGN);
        &mut memory[skipped..][..self.bytes]
    }
}
