//! Byte objects: contiguous up to the piece size, in pieces (arraylets) above it.
//!
//! ```text
//! len ≤ q    one page-block
//! len > q    the handle names a spine: a byte object of one word per piece; each word is the number
//!            of an entry
//!            large pieces of Q bytes each, then small ones of q bytes, then the remainder in the
//!            size-class that fits it
//! ```
//! By default Q = q. A large piece of a page is allocated and freed with its page, and never moves.
//! A spine longer than q is itself kept in pieces, so an access walks a few levels: five look-ups
//! for 1 MiB in pieces of 64 bytes, two for 1 MiB in pieces of 4 KiB. Pieces move one by one, like
//! every other block, because the spine names entries, not addresses.
//!
//! # Bounds
//! `alloc` and `free_bytes` are linear in the number of pieces. Each piece is freed by its own
//! event, with at most two moves. `resize` is linear in the number of pieces that it adds or frees,
//! and copies at most Q bytes per level of spines. An access is O(levels); levels ≤ ⌈log(len / q) /
//! log(q / word)⌉ + 1.
//!
//! # Source
//! Arraylets: Bacon, Cheng, Rajan (2003). Pieces under handles are ours.

use core::alloc::Layout;
use core::mem::MaybeUninit;

use surefit_classes::SizeClass;
use surefit_core::Refused;

use crate::demand::BlockDemand;
use crate::handle::{Byte, Bytes, Name};
use crate::heap::Heap;
use crate::pieces::Pieces;
use crate::width::{Width, Word};

mod chunks;
mod cursor;
mod grow;
#[cfg(feature = "std")]
mod io;
mod place;
mod resize;
mod whole;

pub use chunks::{Chunks, ChunksMut};
pub use cursor::{Cursor, CursorMut};
pub use grow::ByteVec;

use place::Spine;

/// Pieces whose entries are read at once when an object is freed, because each free may move the
/// spine.
const FREED_AT_ONCE: usize = 16;

impl<W: Width> Heap<'_, W> {
    /// Allocates a byte object whose bytes are not initialised. Never moves an object.
    ///
    /// The alignment applies to the object or, if it is in pieces, to each piece. A size of zero is
    /// served like a size of one.
    ///
    /// # Errors
    /// What was exhausted; the heap is unchanged. [`Refused::TooLarge`] if nothing that is freed
    /// would help: the object is longer than a page and not in pieces, or than the region.
    #[inline]
    pub fn alloc(&self, layout: Layout) -> Result<Bytes<MaybeUninit<u8>>, Refused> {
        let (len, geometry) = (layout.size(), self.config.geometry());
        match geometry.class_at_once(len, layout.align()) {
            Some(class) if !self.is_in_pieces(len) => match self.engine.take_parked_of(class) {
                Some(index) => Ok(Bytes::new(Name::new(index, self.id), len)),
                None => self.alloc_in_page(class, layout),
            },
            _ => self.alloc_otherwise(layout),
        }
    }

    /// Allocates an object in a block of a class that has nothing parked. `alloc` ends with this
    /// call, so that it saves no register for it.
    #[inline(never)]
    fn alloc_in_page(
        &self,
        class: SizeClass,
        layout: Layout,
    ) -> Result<Bytes<MaybeUninit<u8>>, Refused> {
        match self.engine.take_in_page(class) {
            Some(index) => Ok(Bytes::new(Name::new(index, self.id), layout.size())),
            None => Err(self.engine.refusal(class)),
        }
    }

    /// Allocates an object whose class is not found at once, or which is in pieces.
    #[inline(never)]
    fn alloc_otherwise(&self, layout: Layout) -> Result<Bytes<MaybeUninit<u8>>, Refused> {
        let index = self.allocate_bytes(layout.size(), layout.align())?;
        Ok(Bytes::new(Name::new(index, self.id), layout.size()))
    }

    /// Allocates a byte object of zeros. Never moves an object.
    ///
    /// # Errors
    /// What was exhausted; the heap is unchanged.
    pub fn alloc_zeroed(&self, layout: Layout) -> Result<Bytes<u8>, Refused> {
        let mut bytes = self.alloc(layout)?;
        self.zero(&mut bytes, 0);
        // SAFETY: all bytes were just zeroed.
        Ok(unsafe { bytes.assume_init() })
    }

    /// Copies bytes into the heap, as a byte object of their length. Never moves an object.
    ///
    /// # Errors
    /// What was exhausted; the heap is unchanged.
    ///
    /// # Examples
    /// ```
    /// use surefit_compact::{Config, Heap};
    ///
    /// static CONFIG: Config = Config::DEFAULT;
    /// let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
    /// let heap: Heap = Heap::new(&mut memory, &CONFIG)?;
    /// let name = heap.insert_bytes("a name".as_bytes())?;
    /// assert_eq!(heap.chunk(&name, 2), b"name");
    /// # Ok::<(), surefit_core::Refused>(())
    /// ```
    pub fn insert_bytes(&self, source: &[u8]) -> Result<Bytes<u8>, Refused> {
        let bytes = self.alloc(Layout::for_value(source))?;
        // SAFETY: nothing reads the bytes before `write_at` has written all of them.
        let mut bytes = unsafe { bytes.assume_init() };
        self.write_at(&mut bytes, 0, source);
        Ok(bytes)
    }

    /// Whether a byte object belongs to this heap.
    #[inline]
    #[must_use]
    pub fn owns<B: Byte>(&self, bytes: &Bytes<B>) -> bool {
        self.own(bytes.name).is_ok()
    }

    /// Frees a byte object. May move up to two objects per piece.
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    #[inline]
    pub fn free_bytes<B: Byte>(&mut self, bytes: Bytes<B>) {
        assert!(
            self.own(bytes.name).is_ok(),
            "the handle belongs to another heap"
        );
        self.free_index(bytes.name.index(), bytes.len());
    }

    /// Changes the length of a byte object, and its alignment if the layout requires a stricter
    /// one. The bytes up to the smaller length are kept; added bytes are zeroed if `B` is `u8`.
    /// Whole pieces stay where they are if the alignment does not change.
    ///
    /// # Errors
    /// What was exhausted, or [`Refused::ForeignHandle`]; the object is unchanged. For a moment,
    /// old and new page-blocks are live at once: for an object in pieces those of the last piece
    /// and the end of the spine, or those of the whole object if its alignment changes. So even a
    /// shorter length may be refused.
    ///
    /// # Complexity
    /// O(pieces that are added or freed), and copies of at most one piece per level of spines. An
    /// object that is or becomes contiguous, or whose alignment changes, is copied unless its
    /// page-block serves the new layout too.
    pub fn resize<B: Byte>(&mut self, bytes: &mut Bytes<B>, layout: Layout) -> Result<(), Refused> {
        self.own(bytes.name)?;
        let (old, new) = (bytes.len(), layout.size());
        let index = self.resize_index(bytes.name.index(), old, layout)?;
        *bytes = Bytes::new(Name::new(index, self.id), new);
        if B::ZEROED && new > old {
            self.zero(bytes, old);
        }
        Ok(())
    }

    // ---- allocate and free ---------------------------------------------------------------------

    #[inline]
    pub(crate) fn allocate_bytes(&self, len: usize, align: usize) -> Result<u32, Refused> {
        match self.allocate_whole(len, align) {
            Some(index) => Ok(index),
            None => self.allocate_otherwise(len, align),
        }
    }

    /// Allocates an object in one block: the common case, in registers throughout.
    #[inline]
    fn allocate_whole(&self, len: usize, align: usize) -> Option<u32> {
        if self.is_in_pieces(len) {
            return None;
        }
        self.engine
            .allocate(self.config.geometry().class_for(len, align)?)
    }

    /// Allocates an object in pieces, or returns why that is not possible.
    #[inline(never)]
    fn allocate_otherwise(&self, len: usize, align: usize) -> Result<u32, Refused> {
        if self.is_in_pieces(len) {
            return self.allocate_in_pieces(len, align);
        }
        Err(self.engine.refusal(self.class_of(len, align)?))
    }

    fn allocate_in_pieces(&self, len: usize, align: usize) -> Result<u32, Refused> {
        // An object has fewer spine blocks than pieces, and at least two pieces.
        let blocks = u32::try_from(self.pieces(len))
            .ok()
            .and_then(|pieces| pieces.checked_mul(2));
        if !blocks.is_some_and(|blocks| self.engine.has_room_for_any(blocks)) {
            let mut demand = BlockDemand::new();
            self.add_object(&mut demand, len, align)?;
            let served = self.engine.can_serve(&demand);
            served.map_err(|why| self.now_or_ever(len, why))?;
        }
        // Nothing may be refused once the spine is there. A class for whole pieces at this
        // alignment also serves the rest.
        self.class_of(self.division.small_bytes(), align)?;
        if self.division.large_pieces(len) > 0 {
            self.class_of(self.division.large_bytes(), align)?;
        }
        let index = self.allocate_bytes(self.spine_bytes(len), W::SPINE_WORD_BYTES)?;
        self.allocate_pieces(index, len, align, 0)?;
        Ok(index)
    }

    /// Why an object in pieces is refused: as `why` says, or because it is longer than the region.
    #[cold]
    pub(crate) fn now_or_ever(&self, len: usize, why: Refused) -> Refused {
        let limit = self.engine.pages.memory.len();
        match why {
            Refused::NoPage | Refused::NoHandle if len > limit => Refused::TooLarge { limit },
            // Above a limit, its bytes say more.
            why => why,
        }
    }

    /// Allocates the pieces from `first` on. The engine has agreed before, so nothing is refused.
    fn allocate_pieces(
        &self,
        index: u32,
        len: usize,
        align: usize,
        first: usize,
    ) -> Result<(), Refused> {
        let mut spine = Spine::new(self, index, len);
        let mut set = |number: usize, entry: u32| {
            // SAFETY: the spine is a live object of this heap, and no reference points into it: it
            // is never handed out.
            unsafe { spine.set_word(number, entry) };
        };
        let mut number = first;
        let rest = len - self.division.start(len, first);
        for run in self.runs(rest, align).without_spine() {
            let class = self.class_of(run.bytes, run.align)?;
            for _ in 0..run.count {
                set(number, self.allocate_block(class)?);
                number += 1;
            }
        }
        Ok(())
    }

    /// Replaces the entry of every piece of an object by another one that names the same piece.
    pub(crate) fn replace_pieces(&self, index: u32, len: usize, mut by: impl FnMut(u32) -> u32) {
        let mut spine = Spine::new(self, index, len);
        for number in 0..self.pieces(len) {
            let word = spine.word(number);
            // SAFETY: a spine's words were written when the object was allocated.
            let piece = unsafe { word.read() }.get();
            // SAFETY: the spine is a live object of this heap, and no reference points into it: it
            // is never handed out. The block stays where it is: nothing moves.
            unsafe { word.write(W::Word::new(by(piece))) };
        }
    }

    /// Adds the blocks of a byte object, spines included, to a demand.
    pub(crate) fn add_object(
        &self,
        demand: &mut BlockDemand,
        len: usize,
        align: usize,
    ) -> Result<(), Refused> {
        self.add_runs(demand, self.runs(len, align))
    }

    /// Adds the blocks of the pieces from `first` on, without the spine.
    fn add_pieces(
        &self,
        demand: &mut BlockDemand,
        len: usize,
        align: usize,
        first: usize,
    ) -> Result<(), Refused> {
        let rest = len - self.division.start(len, first);
        self.add_runs(demand, self.runs(rest, align).without_spine())
    }

    fn runs(&self, len: usize, align: usize) -> Pieces {
        Pieces::new(len, align, self.division, W::SPINE_WORD_BYTES)
    }

    fn add_runs(&self, demand: &mut BlockDemand, runs: Pieces) -> Result<(), Refused> {
        for run in runs {
            let blocks = u32::try_from(run.count);
            let blocks = blocks.map_err(|_| Refused::TooLarge {
                limit: self.engine.pages.memory.len(),
            })?;
            demand.add(self.class_of(run.bytes, run.align)?, blocks);
        }
        Ok(())
    }

    /// Frees a byte object of length `len`.
    #[inline]
    fn free_index(&mut self, index: u32, len: usize) {
        if self.is_in_pieces(len) {
            self.free_in_pieces(index, len);
        } else {
            self.engine.free(index);
        }
    }

    #[inline(never)]
    fn free_in_pieces(&mut self, index: u32, len: usize) {
        self.free_pieces(index, len, 0);
        self.free_index(index, self.spine_bytes(len));
    }

    /// Frees the pieces from `first` on, but not the spine.
    fn free_pieces(&mut self, index: u32, len: usize, first: usize) {
        let mut batch = [0; FREED_AT_ONCE];
        let mut numbers = first..self.pieces(len);
        while !numbers.is_empty() {
            let mut spine = Spine::new(self, index, len);
            let mut count = 0;
            for (entry, number) in batch.iter_mut().zip(&mut numbers) {
                // SAFETY: a spine's words were written when the object was allocated.
                *entry = unsafe { spine.word(number).read() }.get();
                count += 1;
            }
            for &entry in &batch[..count] {
                self.free_piece(entry);
            }
        }
    }

    /// Frees the page-block of a piece, whose entry no key names: an object ends one generation,
    /// that of its own entry, however many pieces it has.
    #[inline]
    fn free_piece(&self, entry: u32) {
        let engine = &self.engine;
        let free = || engine.free(entry);
        engine
            .addresses
            .keep_generation(&engine.pages.memory, entry, free);
    }

    fn zero<B: Byte>(&self, bytes: &mut Bytes<B>, from: usize) {
        let mut spine = Spine::new(self, bytes.name.index(), bytes.len());
        let mut at = from;
        while at < bytes.len() {
            let (first, len) = spine.run(at, bytes.len() - at);
            // SAFETY: the bytes belong to the object, whose handle is borrowed exclusively; zero is
            // a value of `B`.
            unsafe { first.write_bytes(0, len) };
            at += len;
        }
    }
}
