//! Making the space and its collector over a region, and what the space serves then.
#![deny(unsafe_code)]

use core::mem::MaybeUninit;

use surefit_compact::{Config, EntryHeap, SizeClass, Wide};
use surefit_core::Refused;

use super::cost::least;
use super::division::Division;
use super::pieces::Pieces;
use super::stub::{STUB, WORD};
use super::{CompactFit, Relief, lens};
use crate::bits::BITS;
use crate::collector::Collector;

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
            least: least(geometry),
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
        let division = Division {
            config,
            mark_stack,
            nursery: 0,
        };
        let parts = division.divide(region)?;
        let space = CompactFit::over(parts.heap, parts.pieces);
        let gc = Self::over(space, parts.bits, parts.stack);
        Ok(gc.with_table_bytes(parts.table_bytes))
    }
}

/// The largest request that an empty heap serves, in bytes: as many whole pieces as fit, and a
/// remainder.
fn largest_request(heap: &EntryHeap<'_, Wide>) -> usize {
    let geometry = heap.config().geometry();
    let Some(piece) = heap.config().piece_bytes() else {
        return geometry.page_bytes();
    };
    let fits = |bytes: usize| heap.can_serve(lens(heap, &[bytes, STUB])).is_ok();
    let (mut whole, mut too_many) = (1, heap.usage().total() / piece + 2);
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
