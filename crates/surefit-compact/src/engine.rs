//! The moving Compact-fit on page-blocks and entries, below objects and types: allocate, free, compact.
//!
//! ```text
//! allocate(class)    take a block of the allocation page, or open a page; take an entry; link the two
//! free(entry)        do what the automaton says to the block's page; while it says so, move a block; give the entry back
//! move(from → to)    copy the block, its back-reference, and store the new location in the entry: one word commits it
//! ```
//!
//! # Invariants
//! - H1 Every page below the frontier is a page of one class or in the free list; the table's pages lie above it.
//! - H2 Every not-full page is in its class's list, once; every link is a page's number.
//! - H3 `live`, `pages`, `not_full` and `holes` of a class are what its pages say.
//! - H4 At rest every class keeps the compaction bound.
//!
//! # Bounds
//! `allocate` is O(1) (opening a page clears at most π/64 words). `free` is O(1) plus at most two copies of one block.
//! Frees need exclusive access to the heap, because they move; the borrow checker asks for it in [`crate::Heap`].
//!
//! # Source
//! Craciunas et al. (2008); the hole bound and its reservoir are ours (docs/bounds.md).
#![deny(unsafe_code)]

use core::cell::Cell;

use surefit_core::Refused;

use crate::address::AddressTable;
use crate::automaton::{self, ClassCounts, Free, MAX_MOVES, Malloc, PageCounts, Reservoir};
use crate::class::ClassState;
use crate::config::{Bound, PageOrder};
use crate::geometry::SizeClass;
use crate::page::{Block, PageId, PageTable};
use crate::width::{Width, Word};

/// Moves counted since the heap was made.
#[derive(Debug, Default)]
pub(crate) struct MoveCounters {
    pub(crate) moves: Cell<u64>,
    pub(crate) bytes: Cell<u64>,
    pub(crate) most_bytes: Cell<u64>,
}

/// A heap of page-blocks named by entries.
#[derive(Debug)]
pub(crate) struct Engine<'m, W: Width> {
    pub(crate) pages: PageTable<'m, W>,
    pub(crate) classes: &'m [ClassState<W>],
    pub(crate) addresses: AddressTable<W>,
    pub(crate) bound: Bound,
    pub(crate) order: PageOrder,
    /// Bits of a location that number the block, where locations name a page and a block.
    pub(crate) block_bits: u32,
    /// Pages ever opened.
    pub(crate) frontier: Cell<u32>,
    pub(crate) free_pages: Cell<W::Word>,
    pub(crate) free_page_count: Cell<u32>,
    pub(crate) moved: MoveCounters,
}

impl<'m, W: Width> Engine<'m, W> {
    #[inline]
    pub(crate) fn class_state(&self, class: SizeClass) -> &'m ClassState<W> {
        &self.classes[class.index()]
    }

    // ---- locations -------------------------------------------------------------------------------------------------

    /// The word that says where a block is.
    #[inline]
    fn location(&self, block: Block) -> W::Word {
        if W::BY_BLOCK {
            return W::Word::new(block.page.word::<u32>() << self.block_bits | block.number);
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "Heap::new refuses regions over 2^32 units of eight bytes"
        )]
        W::Word::new((self.pages.offset(block) >> 3) as u32)
    }

    /// The offset of an entry's object, in bytes.
    #[inline]
    pub(crate) fn object_offset(&self, entry: u32) -> usize {
        let word = self.addresses.word(&self.pages.memory, entry).get();
        if W::BY_BLOCK {
            return self.pages.offset(self.block_of(entry));
        }
        (word.get() as usize) << 3
    }

    /// The block of a live entry.
    #[inline]
    pub(crate) fn block_of(&self, entry: u32) -> Block {
        let word = self.addresses.word(&self.pages.memory, entry).get().get();
        if W::BY_BLOCK {
            let page = self.pages.page(word >> self.block_bits);
            return Block {
                page: page.expect("a live entry names a page (A2)"),
                number: word & ((1 << self.block_bits) - 1),
            };
        }
        self.pages.named_block_at((word as usize) << 3)
    }

    /// The block of an entry, if the entry is live: for numbers that may be forged.
    pub(crate) fn vet(&self, entry: u32) -> Option<Block> {
        if !self.addresses.contains(entry) {
            return None;
        }
        let word = self.addresses.word(&self.pages.memory, entry).get();
        let block = if W::BY_BLOCK {
            let page = self.pages.page(word.get() >> self.block_bits)?;
            Block {
                page,
                number: word.get() & ((1 << self.block_bits) - 1),
            }
        } else {
            self.pages.block_at((word.get() as usize) << 3)?
        };
        let names = block.page.word::<u32>() < self.frontier.get()
            && self.pages.is_used(block)
            && self.location(block) == word
            && self.pages.back_reference(block).get() == entry;
        names.then_some(block)
    }

    // ---- allocate --------------------------------------------------------------------------------------------------

    /// Allocates a block of a class; returns its entry.
    #[inline]
    pub(crate) fn allocate(&self, class: SizeClass) -> Result<u32, Refused> {
        let state = self.class_state(class);
        let first = self.pages.linked(self.allocation_end(state));
        if first.is_none() || self.addresses.is_exhausted() {
            self.make_room(first.is_none())?;
        }
        let block = self.take_block(class, state, first);
        state.add_live();
        let entry = self.addresses.take(&self.pages.memory);
        self.link(entry, block);
        Ok(entry)
    }

    #[inline]
    fn allocation_end(&self, state: &ClassState<W>) -> W::Word {
        match self.order {
            PageOrder::Newest => state.head.get(),
            PageOrder::Original => state.tail.get(),
        }
    }

    #[inline]
    fn take_block(
        &self,
        class: SizeClass,
        state: &ClassState<W>,
        first: Option<PageId>,
    ) -> Block {
        let Some(page) = first else {
            return self.take_from_fresh_page(class, state);
        };
        let decision = automaton::malloc(Some(self.counts(page)));
        let block = self.pages.take_free(page);
        if self.counts_holes() && state.tail.get() != page.word() {
            state.remove_holes(1);
        }
        if decision == Malloc::Fill {
            self.unlink(state, page);
        }
        block
    }

    #[cold]
    fn take_from_fresh_page(&self, class: SizeClass, state: &ClassState<W>) -> Block {
        let page = self.take_page();
        self.pages.open(page, class);
        state.add_page();
        let block = self.pages.take_free(page);
        if self.counts(page).used < self.counts(page).blocks {
            self.push_front(state, page);
        }
        block
    }

    /// Stores which entry a block's object has, and where that object is.
    #[inline]
    fn link(&self, entry: u32, block: Block) {
        self.pages.set_back_reference(block, W::Word::new(entry));
        let word = self.addresses.word(&self.pages.memory, entry);
        word.set(self.location(block));
    }

    // ---- free ------------------------------------------------------------------------------------------------------

    /// Frees the block of a live entry, and the entry; moves at most two other blocks.
    #[inline]
    pub(crate) fn free(&self, entry: u32) {
        let block = self.block_of(entry);
        let page = block.page;
        let state = self.class_state(self.pages.class(page));
        let source = self.pages.linked(self.source_end(state));
        let decision = automaton::free(
            self.bound,
            state.counts(),
            self.counts(page),
            source.map(|source| self.counts(source)),
        );
        state.remove_live();
        match decision {
            Free::Refill { empties_source } => {
                let source = source.expect("a refill has a source page");
                self.refill(state, source, block, empties_source);
            }
            Free::Release => self.release_last(state, block),
            Free::Clear | Free::Loosen => self.give_block(state, block, decision),
        }
        self.addresses.give(&self.pages.memory, entry);
    }

    #[inline]
    fn source_end(&self, state: &ClassState<W>) -> W::Word {
        match self.order {
            PageOrder::Newest => state.tail.get(),
            PageOrder::Original => state.head.get(),
        }
    }

    /// F4 and F1: the page stays or becomes not-full.
    #[inline]
    fn give_block(&self, state: &ClassState<W>, block: Block, decision: Free) {
        let page = block.page;
        let reservoir = self.pages.linked(state.tail.get());
        self.pages.clear(block);
        if decision == Free::Loosen {
            self.push_front(state, page);
        }
        if self.counts_holes() {
            self.update_reservoir(state, page, reservoir);
            self.settle(state);
        }
    }

    fn update_reservoir(&self, state: &ClassState<W>, page: PageId, reservoir: Option<PageId>) {
        let least = reservoir.map(|reservoir| self.pages.used(reservoir));
        let is_reservoir = reservoir == Some(page);
        match automaton::reservoir(self.pages.used(page), is_reservoir, least) {
            Reservoir::Stays | Reservoir::Becomes => {}
            Reservoir::CountsHole => state.add_holes(1),
            Reservoir::Swaps => {
                let former = reservoir.expect("roles are swapped with a reservoir");
                state.add_holes(1);
                state.add_holes(self.free_blocks(former));
                state.remove_holes(self.free_blocks(page));
                self.detach(state, page);
                self.push_back(state, page);
            }
        }
    }

    /// Moves blocks of the reservoir into holes until the class keeps its bound again.
    #[inline]
    fn settle(&self, state: &ClassState<W>) {
        let mut bytes = 0;
        for _ in 0..MAX_MOVES {
            if !automaton::settle(self.bound, state.counts()) {
                break;
            }
            bytes += self.fill_hole(state, state.tail.get(), state.head.get());
        }
        self.count_operation(bytes);
    }

    /// Moves a block of one not-full page into another; returns the bytes copied.
    fn fill_hole(&self, state: &ClassState<W>, source: W::Word, target: W::Word) -> u64 {
        let source = self.pages.linked(source).expect("there are two not-full pages");
        let target = self.pages.linked(target).expect("there are two not-full pages");
        debug_assert!(source != target);
        let to = self.pages.take_free(target);
        if self.counts_holes() {
            state.remove_holes(1);
        }
        if self.free_blocks(target) == 0 {
            self.unlink(state, target);
        }
        self.move_from(state, source, to)
    }

    /// F2 and F3: a block of the source page fills the freed one.
    #[inline]
    fn refill(&self, state: &ClassState<W>, source: PageId, freed: Block, empties: bool) {
        let bytes = self.move_from(state, source, freed);
        debug_assert_eq!(empties, self.pages.used(source) == 0);
        self.count_operation(bytes);
    }

    /// Moves the last used block of `source` to `to`, which is marked used; releases `source` if it was its last one.
    fn move_from(&self, state: &ClassState<W>, source: PageId, to: Block) -> u64 {
        let from = self.pages.take_used(source);
        let entry = self.pages.back_reference(from).get();
        self.pages.copy(from, to);
        self.link(entry, to);
        if self.pages.used(source) == 0 {
            self.unlink(state, source);
            self.give_page(state, source);
        }
        let bytes = u64::from(self.pages.layout(to.page).block_bytes);
        self.moved.moves.set(self.moved.moves.get() + 1);
        self.moved.bytes.set(self.moved.bytes.get() + bytes);
        bytes
    }

    #[inline]
    fn count_operation(&self, bytes: u64) {
        if bytes > self.moved.most_bytes.get() {
            self.moved.most_bytes.set(bytes);
        }
    }

    /// F5: the page's last block.
    fn release_last(&self, state: &ClassState<W>, block: Block) {
        let page = block.page;
        if self.counts(page).blocks > 1 {
            self.unlink(state, page);
        }
        self.pages.clear(block);
        self.give_page(state, page);
    }

    // ---- compact ---------------------------------------------------------------------------------------------------

    /// Moves blocks until no class has more than one not-full page, at most `budget` of them; returns how many moved.
    pub(crate) fn compact(&self, budget: u64) -> u64 {
        let mut moves = 0;
        for state in self.classes {
            while moves < budget && state.not_full() > 1 {
                let target = self.allocation_end(state);
                self.fill_hole(state, self.source_end(state), target);
                moves += 1;
            }
        }
        moves
    }

    // ---- pages and lists -------------------------------------------------------------------------------------------

    #[inline]
    pub(crate) fn counts_holes(&self) -> bool {
        matches!(self.bound, Bound::Holes { .. })
    }

    #[inline]
    pub(crate) fn counts(&self, page: PageId) -> PageCounts {
        PageCounts {
            used: self.pages.used(page),
            blocks: u32::from(self.pages.layout(page).blocks),
        }
    }

    #[inline]
    pub(crate) fn free_blocks(&self, page: PageId) -> u32 {
        let PageCounts { used, blocks } = self.counts(page);
        blocks - used
    }

    /// Takes a not-full page out of its class's list and its free blocks out of the count of holes.
    #[inline]
    fn unlink(&self, state: &ClassState<W>, page: PageId) {
        if !self.counts_holes() {
            self.detach(state, page);
            return;
        }
        let was_reservoir = state.tail.get() == page.word();
        self.detach(state, page);
        if !was_reservoir {
            state.remove_holes(self.free_blocks(page));
        } else if let Some(next) = self.pages.linked(state.tail.get()) {
            state.remove_holes(self.free_blocks(next));
        }
    }

    fn detach(&self, state: &ClassState<W>, page: PageId) {
        let record = self.pages.record(page);
        let (prev, next) = (record.prev.get(), record.next.get());
        match self.pages.linked(prev) {
            Some(prev) => self.pages.record(prev).next.set(next),
            None => state.head.set(next),
        }
        match self.pages.linked(next) {
            Some(next) => self.pages.record(next).prev.set(prev),
            None => state.tail.set(prev),
        }
        state.remove_not_full();
    }

    #[inline]
    fn push_front(&self, state: &ClassState<W>, page: PageId) {
        let record = self.pages.record(page);
        let head = state.head.get();
        record.prev.set(W::Word::NIL);
        record.next.set(head);
        match self.pages.linked(head) {
            Some(head) => self.pages.record(head).prev.set(page.word()),
            None => state.tail.set(page.word()),
        }
        state.head.set(page.word());
        state.add_not_full();
    }

    fn push_back(&self, state: &ClassState<W>, page: PageId) {
        let record = self.pages.record(page);
        let tail = state.tail.get();
        record.next.set(W::Word::NIL);
        record.prev.set(tail);
        match self.pages.linked(tail) {
            Some(tail) => self.pages.record(tail).next.set(page.word()),
            None => state.head.set(page.word()),
        }
        state.tail.set(page.word());
        state.add_not_full();
    }

    /// Pages that were never opened and that the table does not use.
    pub(crate) fn fresh_pages(&self) -> u32 {
        let below_table = self.addresses.floor() >> self.pages.geometry.page_shift();
        u32::try_from(below_table).expect("a page number fits") - self.frontier.get()
    }

    /// Makes sure that a page (if asked) and an entry can be taken.
    #[cold]
    fn make_room(&self, page: bool) -> Result<(), Refused> {
        let entry = self.addresses.is_exhausted();
        if entry && (!self.addresses.can_number_another() || self.fresh_pages() == 0) {
            return Err(Refused::NoHandle);
        }
        if page && self.free_page_count.get() == 0 && self.fresh_pages() <= u32::from(entry) {
            return Err(Refused::NoPage);
        }
        if entry {
            self.addresses
                .extend_to(self.addresses.floor() - self.pages.geometry.page_bytes());
        }
        Ok(())
    }

    /// Takes a freed page, or opens a fresh one only if there is none; there is one.
    fn take_page(&self) -> PageId {
        if let Some(page) = self.pages.linked(self.free_pages.get()) {
            self.free_pages.set(self.pages.record(page).next.get());
            self.free_page_count.set(self.free_page_count.get() - 1);
            return page;
        }
        let number = self.frontier.get();
        self.frontier.set(number + 1);
        self.pages.page(number).expect("make_room left a fresh page")
    }

    fn give_page(&self, state: &ClassState<W>, page: PageId) {
        state.remove_page();
        self.pages.record(page).next.set(self.free_pages.get());
        self.free_pages.set(page.word());
        self.free_page_count.set(self.free_page_count.get() + 1);
    }

    /// Counts of a class, for statistics and certificates.
    pub(crate) fn class_counts(&self, class: SizeClass) -> ClassCounts {
        self.class_state(class).counts()
    }
}
