//! What a collector needs of a heap: objects named by the numbers of their entries, and the sweep,
//! which frees everything that is not kept in one pass.
//!
//! ```text
//! retain(kept):  link the entries that are not kept, the lowest first; unmake those after the last
//!                kept entry, and give up the pages of the table that are empty then
//!                forget all lists; for every page, from the last one to the first:
//!                    free the page-blocks whose entries are not kept
//!                    empty: a free page or, after the last page in use, a never-opened one
//!                    not full: to the draining end of its class's list if at most half of it is
//!                    used, else to the other end
//!                for every class: while it breaks its compaction bound, move a page-block
//! ```
//! The number that names an object does not change when the object moves, so holders of the number
//! need no notice. A sweep may move anything, and no reference is ever corrected. It does not touch
//! dead objects, and touches live ones only if they move.
//!
//! # Bounds
//! `retain` reads one bit per entry and one per live page-block, and writes one word per freed
//! entry; in addition, it copies the bytes of the moves that the bound requires. With
//! [`Bound::Unbounded`](crate::Bound::Unbounded) there are no moves; then [`EntryHeap::make_room`]
//! moves when a page is missing.
//!
//! # Source
//! Compact-fit under a collector is ours; the size-class automaton comes from Craciunas et al.
//! (2008).

use core::ptr::NonNull;

use surefit_classes::{Bound, ClassLayout, PageOrder, SizeClass};
use surefit_core::{Refused, zero};

use super::heap::EntryHeap;
use crate::class::ClassState;
use crate::engine::Engine;
use crate::handle::Number;
use crate::page::{Block, Page, is_kept};
use crate::width::{Width, Word};

/// Alignment of objects that are named by entries, in bytes.
const ALIGN: usize = 8;

/// A page-block of a byte object: the whole object, a piece, or a part of a spine.
struct Part {
    entry: u32,
    len: usize,
    is_spine: bool,
}

impl<W: Width<Generation = ()>> EntryHeap<'_, W> {
    /// Allocates a byte object of zeros, in pieces if it is longer than a piece; returns its entry.
    /// Never moves an object.
    ///
    /// Its page-blocks are zero to their ends, except for the words of spines: every byte of them
    /// is written.
    ///
    /// # Errors
    /// What was exhausted; the heap is unchanged.
    #[inline]
    pub fn allocate_entry(&self, len: usize) -> Result<u32, Refused> {
        if self.is_in_pieces(len) {
            return self.allocate_entry_in_pieces(len);
        }
        let class = self.class_of(len, ALIGN)?;
        let entry = self.allocate_block(class)?;
        let bytes = self.config.geometry().layout(class).block_bytes as usize;
        // SAFETY: a live page-block of this length, to which nobody refers yet (O2); the smallest
        // classes have eight bytes.
        unsafe { zero(self.object(entry), bytes) };
        Ok(entry)
    }

    /// As [`EntryHeap::allocate_entry`], but leaves the bytes as they are, apart from spines: for
    /// objects that the caller writes before it reads them.
    ///
    /// # Errors
    /// What was exhausted; the heap is unchanged.
    #[inline]
    pub fn allocate_entry_uninit(&self, len: usize) -> Result<u32, Refused> {
        self.allocate_bytes(len, ALIGN)
    }

    #[inline(never)]
    fn allocate_entry_in_pieces(&self, len: usize) -> Result<u32, Refused> {
        let entry = self.allocate_bytes(len, ALIGN)?;
        // SAFETY: S1: its spines were just written, and nobody refers to any of its page-blocks
        // yet.
        let all = unsafe {
            self.walk(entry, len, &mut |part| {
                self.zero_behind(part.entry, if part.is_spine { part.len } else { 0 });
                true
            })
        };
        debug_assert!(all, "a new object is whole");
        Ok(entry)
    }

    /// Clears the page-block of a new object from byte `first` on.
    fn zero_behind(&self, entry: u32, first: usize) {
        let block_bytes = self.engine.block_of(entry).page.layout.block_bytes as usize;
        // SAFETY: a part of an object is no longer than its page-block.
        let place = unsafe { self.object::<u8>(entry).add(first) };
        // SAFETY: the rest of a live page-block, to which nobody refers yet (O2).
        unsafe { place.write_bytes(0, block_bytes - first) };
    }

    /// The page-block of an entry: its present location, and its size-class. The pointer is good
    /// for the whole region (its provenance is that of the region).
    ///
    /// # Safety
    /// S1: the entry is live: [`EntryHeap::allocate_entry`] or [`EntryHeap::allocate_entry_uninit`]
    /// returned it, [`EntryHeap::take_in_entry`] took it in, or it is the entry of a piece, and
    /// neither [`EntryHeap::free_entry`] nor [`EntryHeap::retain`] has freed it since.
    ///
    /// # Complexity
    /// Two loads.
    #[inline]
    #[must_use]
    pub unsafe fn entry_block(&self, entry: u32) -> (NonNull<u8>, SizeClass) {
        let class = self.engine.block_of(entry).page.record.class.get();
        (self.object(entry), class)
    }

    /// The present location of a byte of an object in pieces.
    ///
    /// # Panics
    /// If the object has no such byte.
    ///
    /// # Safety
    /// S1: the entry is that of a live object of `len` bytes, and `len` is more than a piece.
    #[must_use]
    pub unsafe fn byte_in_pieces(&self, entry: u32, len: usize, offset: usize) -> NonNull<u8> {
        assert!(offset < len, "the offset is beyond the object");
        self.chunk_in_pieces(Number::of(entry), len, offset).0
    }

    /// Calls `tell` for every entry of a byte object: for an object in pieces, for the entries of
    /// its spines and of all its pieces, among them `entry` itself. Returns whether all are live
    /// entries of the right size-class and `tell` returned true for each.
    ///
    /// The numbers may be wrong: a number that names no entry is not followed, nor one for which
    /// `tell` returned false. Every number is read once, from a page-block that was verified after
    /// the last call of `tell`. So `tell` may write to page-blocks: whatever it writes, it is
    /// called only for live entries.
    ///
    /// # Safety
    /// Spines have no mark, so any page-block of the right size-class is read as a spine, whoever
    /// owns it.
    ///
    /// S1: every byte of the live page-blocks to which the numbers lead was written:
    /// [`EntryHeap::allocate_entry`] made all objects of the heap, or `entry` and `len` belong to
    /// an object that it made. S2: nobody holds a mutable reference into them.
    ///
    /// # Complexity
    /// O(pieces · levels of spines).
    pub unsafe fn entries_of(
        &self,
        entry: u32,
        len: usize,
        tell: &mut dyn FnMut(u32) -> bool,
    ) -> bool {
        // SAFETY: S1, S2.
        unsafe { self.walk(entry, len, &mut |part| tell(part.entry)) }
    }

    /// Part `nth` of a byte object: first its pieces, then those of its spine and so on, last the
    /// page-block of `entry` itself. `None` if it has no such part. An object that is freed in this
    /// order can still be asked for the parts that are left.
    ///
    /// # Safety
    /// As [`EntryHeap::entries_of`]. The parts from `nth` on need to be live; a number that names
    /// no such page-block counts as none.
    ///
    /// # Complexity
    /// O(levels of spines).
    #[must_use]
    pub unsafe fn entry_part(&self, entry: u32, len: usize, nth: usize) -> Option<u32> {
        if !self.is_in_pieces(len) {
            return (nth == 0).then_some(entry);
        }
        match nth.checked_sub(self.pieces(len)) {
            // SAFETY: S1, S2.
            None => unsafe { self.vetted_piece(entry, len, nth) },
            // SAFETY: S1, S2. A spine is shorter than its object, so this ends.
            Some(nth) => unsafe { self.entry_part(entry, self.spine_bytes(len), nth) },
        }
    }

    /// Frees one page-block and its entry; of an object in pieces it frees this part alone. Returns
    /// the bytes that it moved: at most two other page-blocks.
    ///
    /// # Safety
    /// S1: the entry is live. S2: it is not used again, nor is its object, except to ask for the
    /// parts that are left.
    #[expect(clippy::arithmetic_side_effects, reason = "a counter that grows")]
    pub unsafe fn free_entry(&mut self, entry: u32) -> u64 {
        let moved = &self.engine.moved.bytes;
        let before = moved.get();
        self.engine.free(entry);
        moved.get() - before
    }

    /// Visits the page-blocks of a byte object, spines first, until one is not valid or `visit`
    /// returns false.
    ///
    /// # Safety
    /// S1: the spines that the numbers lead to were written. S2: nobody holds a mutable reference
    /// into them.
    unsafe fn walk(&self, entry: u32, len: usize, visit: &mut dyn FnMut(Part) -> bool) -> bool {
        // SAFETY: S1, S2.
        unsafe { self.walk_level(entry, len, false, visit) }
    }

    /// As `walk`, for an object that may itself be a spine.
    ///
    /// # Safety
    /// As `walk`.
    unsafe fn walk_level(
        &self,
        entry: u32,
        len: usize,
        is_spine: bool,
        visit: &mut dyn FnMut(Part) -> bool,
    ) -> bool {
        let part = |entry, len| Part {
            entry,
            len,
            is_spine,
        };
        if !self.is_in_pieces(len) {
            return self.is_block_for(entry, len) && visit(part(entry, len));
        }
        // SAFETY: S1, S2. A spine is shorter than its object, so this ends.
        let has_spine = unsafe { self.walk_level(entry, self.spine_bytes(len), true, visit) };
        has_spine
            && (0..self.pieces(len)).all(|number| {
                // SAFETY: S1, S2.
                let piece = unsafe { self.vetted_piece(entry, len, number) };
                piece.is_some_and(|piece| visit(part(piece, self.piece_len(len, number))))
            })
    }

    /// The entry of a piece, if its page-block and all page-blocks on the way to it are now live
    /// and of the right size-class.
    ///
    /// # Safety
    /// As `walk`.
    unsafe fn vetted_piece(&self, entry: u32, len: usize, number: usize) -> Option<u32> {
        let (spine_bytes, at) = (self.spine_bytes(len), number * W::SPINE_WORD_BYTES);
        let (block, within) = if self.is_in_pieces(spine_bytes) {
            let (part, within) = self.division.find(spine_bytes, at);
            // SAFETY: S1, S2.
            (
                unsafe { self.vetted_piece(entry, spine_bytes, part)? },
                within,
            )
        } else {
            (self.is_block_for(entry, spine_bytes).then_some(entry)?, at)
        };
        // SAFETY: the page-block was just verified, so it is live and long enough for the part of
        // the spine that holds the word.
        let word = unsafe { self.object::<u8>(block).add(within) };
        // SAFETY: S1, S2; the offset from the start of the page-block is a multiple of a word's
        // bytes.
        let piece = unsafe { word.cast::<W::Word>().read() }.get();
        self.is_block_for(piece, self.piece_len(len, number))
            .then_some(piece)
    }

    fn is_block_for(&self, entry: u32, len: usize) -> bool {
        let class = self
            .engine
            .vet(entry)
            .map(|block| block.page.record.class.get());
        class.is_some() && class == self.config.geometry().class_for(len, ALIGN)
    }

    /// The entries of all live page-blocks of a size-class, page by page. Gives back what the class
    /// has parked. O(pages + page-blocks of
    /// the class).
    pub fn entries_in(&self, class: SizeClass) -> impl Iterator<Item = u32> {
        if let Some(state) = self.engine.classes.get(class) {
            self.engine.unpark_class(state);
        }
        let pages = &self.engine.pages;
        let opened = (0..self.engine.frontier.get()).filter_map(|number| pages.page(number));
        let in_class = opened.filter(move |page| page.record.class.get() == class);
        in_class.flat_map(move |page| {
            let blocks = (0..page.blocks()).map(move |number| Block { page, number });
            let used = blocks.filter(|&block| pages.is_used(block));
            used.map(|block| pages.back_reference(block))
        })
    }

    /// Whether a byte object of this length is kept in pieces.
    #[inline]
    #[must_use]
    pub fn is_split(&self, len: usize) -> bool {
        self.is_in_pieces(len)
    }

    /// Frees every live page-block whose entry is not kept, and every such outside entry, and moves
    /// others until the compaction bound holds. Entry `e` is kept if word `e / 64` exists and its
    /// bit `e % 64` is set. Returns the number of page-blocks that were live before.
    ///
    /// # Safety
    /// S1: only bits of live or outside entries are set. S2: for an object in pieces, either all of
    /// [`EntryHeap::entries_of`] are kept or none is. S3: no object that is not kept is used again,
    /// nor is a handle of it.
    ///
    /// # Complexity
    /// O(entries + words + pages · π/64 + moved bytes).
    pub unsafe fn retain(&mut self, kept: &[u64]) -> u64 {
        let engine = &self.engine;
        let looked_at = u64::from(engine.live());
        engine.retain_windows(|entry| is_kept(kept, entry));
        engine.retain_entries(kept);
        engine.retain_blocks(kept);
        engine.retain_outside(kept);
        if let Some(slack) = engine.slack() {
            slack.take_all();
        }
        for class in self.config.geometry().classes() {
            engine.keep_bound(class);
        }
        looked_at
    }
}

impl<'m, W: Width<Generation = ()>> Engine<'m, W> {
    fn retain_entries(&self, kept: &[u64]) {
        let page_bytes = self.pages.geometry.page_bytes();
        self.addresses.retain(&self.pages.memory, kept);
        let highest = self.pages.count() as usize * page_bytes;
        self.addresses.give_pages(page_bytes, highest);
    }

    /// L2: what is kept and not live is outside. The last to be counted, when nothing is parked.
    fn retain_outside(&self, kept: &[u64]) {
        if self.addresses.outside.get() > 0 {
            let kept = kept.iter().map(|bits| bits.count_ones()).sum::<u32>();
            self.addresses.outside.set(kept - self.live());
        }
    }

    fn retain_blocks(&self, kept: &[u64]) {
        self.classes.all().iter().for_each(ClassState::restart);
        self.free_pages.set(W::Count::NIL);
        self.free_page_count.set(0);
        let opened = self.frontier.replace(0);
        for page in (0..opened)
            .rev()
            .filter_map(|number| self.pages.page(number))
        {
            if page.used() > 0 {
                self.pages.retain(page, kept);
            }
            self.put(page);
        }
    }

    /// Puts a page into its place, once those after it are in theirs. The pages of slots stay
    /// opened (W2).
    fn put(&self, page: Page<'m, W>) {
        let number = page.id.word::<u32>();
        let is_last = self.frontier.get() == 0;
        if is_last && page.used() == 0 && number >= self.windows.end() {
            return;
        }
        if is_last {
            self.frontier.set(number + 1);
        }
        if page.used() == 0 {
            return self.add_free_page(page);
        }
        if self.is_part(page) {
            return;
        }
        let state = self.class_state(page.record.class.get());
        state.count_page(page.used());
        if page.free_blocks() > 0 {
            let drains = page.used() <= page.free_blocks();
            match drains == (self.order == PageOrder::Newest) {
                true => self.pages.push_back(state, page),
                false => self.pages.push_front(state, page),
            }
        }
    }

    /// Moves page-blocks of a class until it keeps its compaction bound.
    fn keep_bound(&self, class: SizeClass) {
        let (state, layout) = (self.class_state(class), self.pages.geometry.layout(class));
        while self.breaks_bound(state, layout) {
            self.fill_hole(state, self.source_end(state), self.allocation_end(state));
        }
        self.renew_credit(state, self.counts(state, layout));
    }

    fn breaks_bound(&self, state: &ClassState<W>, layout: &ClassLayout) -> bool {
        match self.bound {
            Bound::Pages(most) => state.not_full() > most,
            _ => self.must_settle(state, layout, self.counts(state, layout)),
        }
    }
}
