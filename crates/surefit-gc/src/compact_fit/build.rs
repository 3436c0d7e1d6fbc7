//! How a region is divided between a Compact-fit heap and the collector's tables.
//!
//! ```text
//! region  | the heap, aligned to a page | live bits | mark bits | bits for pieces | mark stack |
//!                                                                    and at the end: alignment |
//! ```
//! The heap comes first: it skips the bytes before the first page.
#![deny(unsafe_code)]

use core::mem::MaybeUninit;

use surefit_compact::{Config, EntryHeap, SizeClass, Wide};
use surefit_core::Refused;

use super::pieces::Pieces;
use super::stub::{STUB, WORD};
use super::{CompactFit, Relief, lens};
use crate::bits::BITS;
use crate::collector::Collector;
use crate::tables;

/// A stub counts the words of its object in 32 bits: no object has more bytes than this.
const MOST: usize = (u32::MAX as usize).saturating_mul(WORD);

impl<'m> CompactFit<'m> {
    /// A space over a region, whose bytes may hold anything and which is best aligned to a page.
    /// `pieces` has room for one bit per entry.
    ///
    /// # Errors
    /// As [`EntryHeap::new`].
    ///
    /// # Panics
    /// If the configuration has one size-class only, or there are fewer words than
    /// [`CompactFit::piece_words`].
    pub fn new(
        region: &'m mut [MaybeUninit<u8>],
        config: &'m Config,
        pieces: &'m mut [u64],
    ) -> Result<Self, Refused> {
        let words = Self::piece_words(region.len(), config);
        assert!(pieces.len() >= words, "{words} words are needed for pieces");
        let heap = EntryHeap::new(region, config)?;
        Ok(Self::over(heap, &mut pieces[..words]))
    }

    /// A space over a new heap, and words for all bits that it needs.
    pub(super) fn over(heap: EntryHeap<'m, Wide>, pieces: &'m mut [u64]) -> Self {
        let geometry = heap.config().geometry();
        let class = |index| geometry.class(index).expect("at least two size-classes");
        Self {
            pieces: Pieces::none(pieces),
            stubs: class(0),
            least: geometry.smallest_request(class(1)),
            most: largest_request(&heap).min(MOST),
            heap,
            refused: 0,
            relief: Relief::default(),
            dying: None,
        }
    }

    /// How many words hold one bit for every entry that a heap over `bytes` bytes can have.
    ///
    /// For every whole piece of a long object there are at most three page-blocks of the smallest
    /// class: its stub, its last piece and a spine. So there are at most π₁ + 3 π_q entries per
    /// data page, where π₁ is that of the second class and π_q that of whole pieces. Each entry
    /// takes four bytes of the address table.
    #[must_use]
    pub fn piece_words(bytes: usize, config: &Config) -> usize {
        let geometry = config.geometry();
        let blocks = |class: Option<SizeClass>| {
            class.map_or(0, |class| u128::from(geometry.layout(class).blocks))
        };
        let piece = config
            .piece_bytes()
            .and_then(|bytes| geometry.class_for(bytes, 1));
        let of_a_page = blocks(geometry.class(1)) + 3 * blocks(piece);
        let entries =
            bytes as u128 * of_a_page / (geometry.page_bytes() as u128 + WORD as u128 * of_a_page);
        entries as usize / BITS as usize + 1
    }
}

impl<'m> Collector<'m, CompactFit<'m>> {
    /// Makes a collector over a region, which is best aligned to a page. The heap comes first;
    /// behind it lie the bits and a mark stack of `mark_stack` entries. The bits take 1/38 of the
    /// region if the smallest objects have 16 bytes.
    ///
    /// # Errors
    /// [`Refused::Region`] if the region is too small; others as [`EntryHeap::new`].
    ///
    /// # Panics
    /// If the configuration has one size-class only.
    pub fn compact_fit(
        region: &'m mut [MaybeUninit<u8>],
        config: &'m Config,
        mark_stack: usize,
    ) -> Result<Self, Refused> {
        let sizes = Tables::of(region.len(), config, mark_stack);
        let beside = |bytes| Tables::of(bytes, config, mark_stack).bytes();
        let heap_bytes = region.len().saturating_sub(sizes.bytes());
        let (heap, behind) = region.split_at_mut(heap_bytes);
        let Some((table, _)) = tables::split(behind, sizes.words()) else {
            let nothing = EntryHeap::<Wide>::new(&mut [], config).map(|_| ());
            let refused = nothing.err().unwrap_or(Refused::NoPage);
            return Err(with_tables(refused, beside));
        };
        let heap = EntryHeap::new(heap, config);
        let heap = heap.map_err(|refused| with_tables(refused, beside))?;
        let [bits, pieces, stack] = sizes.split(tables::zeroed(table));
        let space = CompactFit::over(heap, pieces);
        Ok(Self::over(space, bits, stack).with_table_bytes(sizes.bytes()))
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
    /// The tables for a region of `region_bytes` bytes.
    pub(super) fn of(region_bytes: usize, config: &Config, mark_stack: usize) -> Self {
        let pieces = CompactFit::piece_words(region_bytes, config);
        Self {
            bits: 2 * (2 * pieces + 1),
            pieces,
            stack: mark_stack.max(1),
        }
    }

    /// Tables for so many more entries.
    pub(super) const fn with_entries(self, more: usize) -> Self {
        let pieces = self.pieces + more.div_ceil(BITS as usize);
        Self {
            bits: 2 * (2 * pieces + 1),
            pieces,
            stack: self.stack,
        }
    }

    /// The bits, the bits for pieces, and the mark stack.
    pub(super) fn split(self, words: &mut [u64]) -> [&mut [u64]; 3] {
        let (bits, rest) = words.split_at_mut(self.bits);
        let (pieces, stack) = rest.split_at_mut(self.pieces);
        [bits, pieces, stack]
    }

    /// Words of the live bits alone.
    pub(super) const fn bit_words(self) -> usize {
        self.bits / 2
    }

    /// Words of all.
    pub(super) const fn words(self) -> usize {
        (self.bits + self.pieces).saturating_add(self.stack)
    }

    /// Bytes of the tables, and the maximum that alignment costs.
    pub(super) const fn bytes(self) -> usize {
        self.words()
            .saturating_mul(tables::WORD)
            .saturating_add(tables::WORD - 1)
    }
}

/// Turns a refusal of the heap into one of the collector: the size that is needed is that of the
/// whole region. `beside`: what is not the heap's in a region of so many bytes.
pub(super) fn with_tables(refused: Refused, beside: impl Fn(usize) -> usize) -> Refused {
    let Refused::Region { needed: heap } = refused else {
        return refused;
    };
    let whole = |guess: usize| heap.saturating_add(beside(guess));
    let mut needed = heap;
    // Tables are a small part of the region, so this loop ends soon.
    while needed < whole(needed) {
        needed = whole(needed);
    }
    Refused::Region { needed }
}

/// The largest request that an empty heap serves, in bytes: as many whole pieces as fit, and a
/// remainder.
fn largest_request(heap: &EntryHeap<'_, Wide>) -> usize {
    let geometry = heap.config().geometry();
    let Some(piece) = heap.config().piece_bytes() else {
        return geometry.page_bytes();
    };
    let fits = |bytes: usize| heap.can_serve(lens(heap, &[bytes, STUB])).is_ok();
    let (mut whole, mut too_many) = (1, heap.parts().total() / piece + 2);
    while too_many - whole > 1 {
        let middle = whole + (too_many - whole) / 2;
        match fits(middle * piece) {
            true => whole = middle,
            false => too_many = middle,
        }
    }
    let rests = geometry
        .classes()
        .map(|class| geometry.layout(class).block_bytes as usize);
    let larger = rests
        .filter(|&rest| rest < piece)
        .map(|rest| whole * piece + rest);
    larger
        .rev()
        .find(|&bytes| fits(bytes))
        .unwrap_or(whole * piece)
}
