//! How a region is divided between a Compact-fit heap, the collector's tables and a nursery.
//!
//! ```text
//! region  | the heap, aligned to a page | live bits | mark bits | pieces' bits | stack | nursery |
//! ```
//! In front of the bits and at the end lie bytes for alignment.
//! The heap comes first: it skips the bytes before the first page.
#![deny(unsafe_code)]

use core::mem::MaybeUninit;

use surefit_compact::{Config, EntryHeap, Wide};
use surefit_core::Refused;

use super::CompactFit;
use crate::bits::BITS;
use crate::tables::{self, WORD};

/// What decides how a region is divided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Division<'m> {
    pub(super) config: &'m Config,
    /// Entries of the mark stack.
    pub(super) mark_stack: usize,
    /// Words of a nursery; 0 without one.
    pub(super) nursery: usize,
}

/// The parts of a region.
#[derive(Debug)]
pub(super) struct Divided<'m> {
    pub(super) heap: EntryHeap<'m, Wide>,
    /// Live bits and mark bits.
    pub(super) bits: &'m mut [u64],
    pub(super) pieces: &'m mut [u64],
    pub(super) stack: &'m mut [u64],
    pub(super) nursery: &'m mut [u64],
    /// What the bits and the stack take, with alignment.
    pub(super) table_bytes: usize,
}

impl<'m> Division<'m> {
    /// The tables for a region of so many bytes.
    ///
    /// When an entry gets its number first, no lower one is free: each of them is that of a
    /// page-block or of an object in the nursery, which takes two words at least, or it is the one
    /// that an object needs for a moment when it is taken in. So there are no more than
    /// [`CompactFit::piece_words`] has bits for, and those that a nursery adds here.
    pub(super) fn tables(&self, region_bytes: usize) -> Tables {
        let nursery_bytes = self.nursery.saturating_mul(WORD);
        let heap_bytes = region_bytes.saturating_sub(nursery_bytes);
        let of_heap = CompactFit::piece_words(heap_bytes, self.config);
        let of_nursery = match self.nursery {
            0 => 0,
            words => (words / 2 + 1).div_ceil(BITS as usize),
        };
        let pieces = of_heap + of_nursery;
        Tables {
            bits: 2 * (2 * pieces + 1),
            pieces,
            stack: self.mark_stack.max(1),
        }
    }

    /// Bytes of the heap in a region of so many.
    pub(super) fn heap_bytes(&self, region_bytes: usize) -> usize {
        region_bytes.saturating_sub(self.beside(region_bytes))
    }

    /// Bytes of all but the heap.
    fn beside(&self, region_bytes: usize) -> usize {
        let nursery_bytes = self.nursery.saturating_mul(WORD);
        self.tables(region_bytes)
            .bytes()
            .saturating_add(nursery_bytes)
    }

    /// Divides a region.
    ///
    /// # Errors
    /// [`Refused::Region`] if it is too small; others as [`EntryHeap::new`].
    pub(super) fn divide(&self, region: &'m mut [MaybeUninit<u8>]) -> Result<Divided<'m>, Refused> {
        let sizes = self.tables(region.len());
        let (heap, behind) = region.split_at_mut(self.heap_bytes(region.len()));
        let words = sizes.words().saturating_add(self.nursery);
        let Some((words, _)) = tables::split(behind, words) else {
            let nothing = EntryHeap::<Wide>::new(&mut [], self.config).map(|_| ());
            let refused = nothing.err().unwrap_or(Refused::NoPage);
            return Err(self.of_whole_region(refused));
        };
        let heap = EntryHeap::new(heap, self.config);
        let heap = heap.map_err(|refused| self.of_whole_region(refused))?;
        let (bits, rest) = tables::zeroed(words).split_at_mut(sizes.bits);
        let (pieces, rest) = rest.split_at_mut(sizes.pieces);
        let (stack, nursery) = rest.split_at_mut(sizes.stack);
        Ok(Divided {
            heap,
            bits,
            pieces,
            stack,
            nursery,
            table_bytes: sizes.bytes(),
        })
    }

    /// Turns a refusal of the heap into one of the collector: the size that is needed is that of
    /// the whole region.
    fn of_whole_region(&self, refused: Refused) -> Refused {
        let Refused::Region { needed: heap } = refused else {
            return refused;
        };
        let whole = |guess: usize| heap.saturating_add(self.beside(guess));
        let mut needed = heap;
        // Tables are a small part of the region, so this loop ends soon.
        while needed < whole(needed) {
            needed = whole(needed);
        }
        Refused::Region { needed }
    }
}

/// Words of the tables of a collector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tables {
    /// Words of live bits and mark bits: two bits of each kind per entry, and one more.
    bits: usize,
    /// Words of bits for pieces.
    pieces: usize,
    stack: usize,
}

impl Tables {
    /// Words of the live bits alone.
    pub(super) const fn bit_words(self) -> usize {
        self.bits / 2
    }

    /// Words of all.
    const fn words(self) -> usize {
        (self.bits + self.pieces).saturating_add(self.stack)
    }

    /// Bytes of the tables, and the maximum that alignment costs.
    pub(super) const fn bytes(self) -> usize {
        self.words().saturating_mul(WORD).saturating_add(WORD - 1)
    }
}
