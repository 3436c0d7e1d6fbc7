//! The moving Compact-fit on page-blocks and entries, below objects and types: allocate, free,
//! compact.
//!
//! ```text
//! allocate(class)    take the pair that was parked last; if there is none, take an entry, and a
//!                    block of the allocation page, or open a page; link them
//! free(entry)        park the entry and its block if there is room; else free the entry; change the
//!                    block's page as the automaton says; while the automaton asks for it, move a
//!                    block
//! move(from → to)    copy the block, set its back-reference, store its location in the entry: one
//!                    word commits the move
//! ```
//!
//! # Invariants
//! - H1 Every page below the frontier is a page of one class or in the free list. The table's pages
//!   lie above the frontier.
//! - H2 Every not-full page is in its class's list, once. Every link is the number of a page.
//! - H3 `used`, `pages` and `not_full` of a class agree with its pages.
//! - H4 At rest every class keeps the compaction bound. Parked blocks are holes, and not live (T2).
//! - H5 A class keeps its bound for `left + credit` more frees, whatever page-blocks they free:
//!   holes + left + credit ≤ δ + ⌊ε(h − left − credit)⌋. Under a bound in pages both are 0.
//!
//! T1 to T3, of parked pairs, are in `parked.rs`.
//!
//! # Bounds
//! `allocate` is O(1); opening a page clears its bitmap, π/64 words. Where it lacks a page, or an
//! entry for which the table must grow by a page, it first gives back everything that is parked.
//! `free` is O(1) plus at most two moves; each searches at most π/64 bitmap words and copies one
//! block. Frees need exclusive access to the heap, because they move blocks; in [`crate::Heap`] the
//! borrow checker enforces it.
//!
//! # Speed
//! Instructions of the worst path of each event, equal for 10³ and 10⁶ live objects
//! (`benches/events.rs`, objects of 40 bytes): 59 for an allocation that takes a parked pair and 40
//! for a free that parks one; 152 to 155 for an allocation that takes a block of a page, 336 with
//! opening one; 126 for a free that clears a block, 302 in a full page, 758 with two moves. Giving
//! 31 parked pairs back takes about 3,100 before an allocation is served, 3,800 before it is
//! refused. These four decisions should stay:
//! - `allocate` and `free` call no function on their common path. What they pass on is small enough
//!   to return in registers.
//! - Holes are computed when they are needed, and they are needed only when the bound could be
//!   broken (H5).
//! - No branch depends on whether a page is or becomes full (`detach_if`, `push_front_if`).
//! - A bound in pages has its own function, so that the other bounds do not look for a source page.
//!
//! # Source
//! Craciunas et al. (2008). The hole bound and its reservoir are ours
//! ([the bounds, 2.3](crate::bounds#23-bound-in-holes)).

use core::cell::Cell;

use surefit_classes::automaton::{self, ClassCounts, Free, MAX_MOVES, Malloc};
use surefit_classes::{Bound, ClassLayout, PageOrder, SizeClass};
use surefit_core::Refused;

use crate::address::AddressTable;
use crate::class::{ClassState, ClassTable};
use crate::limit::Limit;
use crate::page::{Block, Page, PageId, PageTable};
use crate::slack::Slack;
use crate::supply::Supply;
use crate::width::{Width, Word};
use crate::windows::Windows;

/// Moves since the heap was made.
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
    pub(crate) classes: ClassTable<'m, W>,
    pub(crate) addresses: AddressTable<W>,
    pub(crate) bound: Bound,
    pub(crate) order: PageOrder,
    /// Bits of a location that number the block, in widths whose locations name a page and a block.
    pub(crate) block_bits: u32,
    /// Pages that were ever opened.
    pub(crate) frontier: Cell<u32>,
    pub(crate) free_pages: Cell<W::Count>,
    pub(crate) free_page_count: Cell<u32>,
    /// Where the pages end that a heap with a limit may use.
    pub(crate) limit: Option<Limit>,
    /// What a heap over the operating system's memory knows about its pages.
    pub(crate) supply: Option<&'m Supply<W>>,
    pub(crate) moved: MoveCounters,
    /// The contiguous objects over a page.
    pub(crate) windows: Windows<W::Count>,
    /// What the heap may lend to its classes.
    pub(crate) slack: Option<&'m Slack<'m>>,
    /// A link that nobody reads, the target of stores that must have no effect.
    pub(crate) unread: Cell<W::Count>,
}

// ---- locations ---------------------------------------------------------------------------------

impl<'m, W: Width> Engine<'m, W> {
    /// The word that names a block's location.
    #[inline]
    fn location(&self, block: Block<'m, W>) -> W::Word {
        if W::BY_BLOCK {
            return W::Word::new(block.page.id.word::<u32>() << self.block_bits | block.number);
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "Heap::new refuses regions over 2^32 units of eight bytes"
        )]
        W::Word::new((self.pages.offset(block) >> 3) as u32)
    }

    #[inline]
    fn word(&self, entry: u32) -> u32 {
        self.addresses.word(&self.pages.memory, entry).get().get()
    }

    /// The offset of an entry's object, in bytes.
    #[inline]
    pub(crate) fn object_offset(&self, entry: u32) -> usize {
        if W::BY_BLOCK {
            return self.pages.offset(self.block_of(entry));
        }
        (self.word(entry) as usize) << 3
    }

    /// The block of a live entry.
    #[inline]
    pub(crate) fn block_of(&self, entry: u32) -> Block<'m, W> {
        let word = self.word(entry);
        if !W::BY_BLOCK {
            return self.pages.named_block_at((word as usize) << 3);
        }
        Block {
            page: self.pages.named_page(word >> self.block_bits),
            number: word & ((1 << self.block_bits) - 1),
        }
    }

    /// The size-class of a live entry's block.
    #[inline]
    pub(crate) fn class_of(&self, entry: u32) -> SizeClass {
        self.block_of(entry).page.record.class.get()
    }

    /// The block of an entry if the entry is live. The number may be forged. O(parked).
    pub(crate) fn vet(&self, entry: u32) -> Option<Block<'m, W>> {
        self.named(entry).filter(|block| {
            let class = block.page.record.class.get();
            !self.is_parked(self.class_state(class), entry)
        })
    }

    /// The used block that an entry names, live or parked. The number may be forged.
    #[inline]
    pub(crate) fn named(&self, entry: u32) -> Option<Block<'m, W>> {
        if !self.addresses.contains(entry) {
            return None;
        }
        let word = self.word(entry);
        let block = if W::BY_BLOCK {
            let page = self.pages.page(word >> self.block_bits)?;
            let number = word & ((1 << self.block_bits) - 1);
            Block { page, number }
        } else {
            self.pages.block_at((word as usize) << 3)?
        };
        let names = block.page.id.word::<u32>() < self.frontier.get()
            && self.pages.is_used(block)
            && self.location(block).get() == word
            && self.pages.back_reference(block) == entry;
        names.then_some(block)
    }

    /// Stores a block's location in the entry of its object.
    #[inline]
    pub(crate) fn locate(&self, entry: u32, block: Block<'m, W>) {
        let word = self.addresses.word(&self.pages.memory, entry);
        word.set(self.location(block));
    }
}

// ---- allocate ----------------------------------------------------------------------------------

impl<'m, W: Width> Engine<'m, W> {
    /// The state of a class that the geometry named.
    #[inline]
    pub(crate) fn class_state(&self, class: SizeClass) -> &'m ClassState<W> {
        // SAFETY: classes reach the engine from `Geometry::class_for` of its own geometry and from
        // page records (H1).
        unsafe { self.classes.state(class) }
    }

    /// Allocates a block of a class; returns its entry, or `None`; then [`Engine::refusal`] gives
    /// the reason.
    #[inline]
    pub(crate) fn allocate(&self, class: SizeClass) -> Option<u32> {
        let parked = self.take_parked_of(class);
        parked.or_else(|| self.allocate_in_page(class))
    }

    /// Takes the pair of a class that was parked last, if there is one.
    #[inline]
    pub(crate) fn take_parked_of(&self, class: SizeClass) -> Option<u32> {
        self.take_parked(self.class_state(class))
    }

    /// Allocates a block of a class that has nothing parked, in a page.
    ///
    /// Where words have 64 bits, it is in the caller's own code and calls no function: what is
    /// missing is provided by a jump to [`Engine::allocate_slowly`] and back. Elsewhere there is
    /// one copy of it, so that code is small.
    #[inline(always)]
    pub(crate) fn take_in_page(&self, class: SizeClass) -> Option<u32> {
        if cfg!(not(target_pointer_width = "64")) {
            return self.allocate_in_page(class);
        }
        let page = self.allocation_end(self.class_state(class));
        if page == W::Count::NIL || self.addresses.has_no_free() {
            return self.allocate_slowly(class);
        }
        Some(self.take_ready(class, page))
    }

    /// As [`Engine::take_in_page`], as a function of its own.
    #[inline(never)]
    fn allocate_in_page(&self, class: SizeClass) -> Option<u32> {
        if cfg!(target_pointer_width = "64") {
            return self.take_in_page(class);
        }
        let state = self.class_state(class);
        let mut page = self.allocation_end(state);
        if page == W::Count::NIL || self.addresses.has_no_free() {
            self.prepare(class)?;
            page = self.allocation_end(state);
        }
        Some(self.take_ready(class, page))
    }

    #[cold]
    #[inline(never)]
    fn allocate_slowly(&self, class: SizeClass) -> Option<u32> {
        self.prepare(class)?;
        self.allocate_in_page(class)
    }

    /// Takes a block of a not-full page of a class, and a free entry, of which there must be one.
    #[inline(always)]
    fn take_ready(&self, class: SizeClass, page: W::Count) -> u32 {
        let state = self.class_state(class);
        let page = self.pages.listed(page, class);
        let (entry, word) = self.addresses.take(&self.pages.memory);
        let decision = automaton::malloc(Some(page.counts()));
        let block = self.pages.take_free(page, entry);
        word.set(self.location(block));
        state.add_live();
        self.detach_if(decision == Malloc::Fill, state, page);
        entry
    }

    /// Opens a page (M1), makes an entry or gives the address table another page.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), cold, inline(never))]
    fn prepare(&self, class: SizeClass) -> Option<()> {
        self.make_room(class).ok()?;
        if self.addresses.has_no_free() {
            self.addresses.make(&self.pages.memory);
        }
        let state = self.class_state(class);
        if self.allocation_end(state) == W::Count::NIL {
            let page = self.pages.open(self.take_page(), class);
            state.add_page();
            self.pages.push_front(state, page);
        }
        Some(())
    }

    /// Why a block of a class cannot be allocated now.
    #[cold]
    #[inline(never)]
    pub(crate) fn refusal(&self, class: SizeClass) -> Refused {
        self.make_room(class).err().unwrap_or(Refused::NoPage)
    }

    #[inline]
    pub(crate) fn allocation_end(&self, state: &ClassState<W>) -> W::Count {
        match self.order {
            PageOrder::Newest => state.head.get(),
            PageOrder::Original => state.tail.get(),
        }
    }
}

// ---- free --------------------------------------------------------------------------------------

impl<'m, W: Width> Engine<'m, W> {
    /// Frees the block of a live entry, and the entry; moves at most two other blocks.
    #[inline]
    pub(crate) fn free(&self, entry: u32) {
        self.free_of_class(self.class_of(entry), entry);
    }

    /// As [`Engine::free`], for an entry whose size-class is known.
    #[inline]
    pub(crate) fn free_of_class(&self, class: SizeClass, entry: u32) {
        debug_assert!(self.block_of(entry).page.record.class.get() == class);
        if !self.park(self.class_state(class), entry) {
            self.free_in_page(entry);
        }
    }

    /// Frees the block of a live entry, and the entry, without parking them.
    ///
    /// It first gives back the entry and the block, so that everything rare comes last: the
    /// compiler then jumps there, and the common path keeps few values.
    #[inline(never)]
    fn free_in_page(&self, entry: u32) {
        let block = self.block_of(entry);
        self.addresses.give(&self.pages.memory, entry);
        let page = block.page;
        let state = self.class_state(page.record.class.get());
        if self.is_bound_in_pages() {
            return self.free_keeping_pages(state, page.id, block.number);
        }
        let counts = page.counts();
        let decision = automaton::free(self.bound, ClassCounts::ZERO, counts, None);
        if decision == Free::Loosen && !state.has_free() {
            return self.refill_at_bound(state, page.id, block.number);
        }
        self.pages.clear(block);
        state.remove_live();
        if decision == Free::Release {
            return self.release_and_settle(state, page.id);
        }
        self.push_front_if(decision == Free::Loosen, state, page);
        if !state.take_free() {
            self.settle(state, page.id);
        }
    }

    /// Whether the bound is in pages. It is the only one without the feature `holes`: the compiler
    /// then leaves out what the others need.
    #[inline]
    pub(crate) fn is_bound_in_pages(&self) -> bool {
        !cfg!(feature = "holes") || matches!(self.bound, Bound::Pages(_))
    }

    /// A free under a bound in pages: a full page may have to stay full.
    #[inline(never)]
    fn free_keeping_pages(&self, state: &ClassState<W>, page: PageId, number: u32) {
        let page = self.pages.known(page);
        let freed = Block { page, number };
        let source = self.pages.linked(self.source_end(state));
        let decision = automaton::free(
            self.bound,
            self.counts(state, page.layout),
            page.counts(),
            source.map(|source| source.counts()),
        );
        state.remove_live();
        if let (Free::Refill { .. }, Some(source)) = (decision, source) {
            return self.refill(state, source, freed);
        }
        self.pages.clear(freed);
        match decision {
            Free::Release => self.release(state, page.id),
            Free::Loosen => self.pages.push_front(state, page),
            Free::Clear | Free::Refill { .. } => {}
        }
    }

    #[inline]
    pub(crate) fn source_end(&self, state: &ClassState<W>) -> W::Count {
        match self.order {
            PageOrder::Newest => state.tail.get(),
            PageOrder::Original => state.head.get(),
        }
    }

    /// Checks whether the class keeps its bound after a free in a page. If not, the page becomes
    /// the reservoir if it holds fewer blocks, and blocks of the reservoir move into holes.
    #[inline(never)]
    fn settle(&self, state: &ClassState<W>, page: PageId) {
        let page = self.pages.known(page);
        let counts = self.counts(state, page.layout);
        if self.must_settle(state, page.layout, counts) {
            self.swap_roles(state, page);
            return self.restore_bound(state, page.layout, (0, 0));
        }
        self.rest(state, page.layout, counts);
    }

    /// F1 where the class may break its bound. If it does, a block of the reservoir moves into the
    /// freed one at once: the page stays full, and in no list. This is what clearing the block and
    /// filling the hole of the head page comes to.
    #[inline(never)]
    fn refill_at_bound(&self, state: &ClassState<W>, page: PageId, number: u32) {
        let page = self.pages.known(page);
        let freed = Block { page, number };
        state.remove_live();
        let Some(reservoir) = self.pages.linked(state.tail.get()) else {
            self.pages.clear(freed);
            self.pages.push_front(state, page);
            return self.restore_bound(state, page.layout, (0, 0));
        };
        // The freed block still counts as used, but not as live: so it is a hole.
        let counts = self.counts(state, page.layout);
        let breaks = self.must_settle(state, page.layout, counts);
        if breaks && !automaton::swaps_roles(page.used() - 1, reservoir.used()) {
            let from = self.pages.last_used(reservoir);
            let entry = self.pages.back_reference(from);
            self.pages.set_back_reference(freed, entry);
            let bytes = self.move_block(state, from, freed, entry);
            return self.restore_bound(state, page.layout, (1, bytes));
        }
        self.pages.clear(freed);
        self.pages.push_front(state, page);
        if breaks {
            self.swap_roles(state, page);
            return self.restore_bound(state, page.layout, (0, 0));
        }
        // The block was a hole before as well, so the counts are the same.
        self.rest(state, page.layout, counts);
    }

    /// F5 of a free: the page's last block was given back. Where blocks are parked, the class may
    /// break its bound, or have more pages than live blocks (T3).
    #[inline]
    fn release_and_settle(&self, state: &ClassState<W>, page: PageId) {
        let had_credit = state.take_free();
        self.release(state, page);
        if !had_credit && state.parked() > 0 {
            self.restore_bound(state, self.pages.known(page).layout, (0, 0));
        }
    }

    /// Moves blocks of the reservoir into holes until the class keeps its bound, after the moves
    /// that the free has already made and the bytes that these copied. Where only parked blocks are
    /// holes, it gives them back first.
    #[inline(never)]
    fn restore_bound(
        &self,
        state: &ClassState<W>,
        layout: &ClassLayout,
        (mut moves, mut bytes): (u32, u64),
    ) {
        let mut counts = self.counts(state, layout);
        while moves < MAX_MOVES && automaton::settle(self.bound_of(state), counts) {
            if state.head.get() != state.tail.get() {
                bytes += self.fill_hole(state, state.tail.get(), state.head.get());
                moves += 1;
            } else if !self.unpark(state) {
                break;
            }
            counts = self.counts(state, layout);
        }
        self.count_operation(bytes);
        self.rest(state, layout, counts);
    }

    /// Ends a free after which the class keeps its bound, with these counts: restores T3 and H5.
    #[inline]
    fn rest(&self, state: &ClassState<W>, layout: &ClassLayout, mut counts: ClassCounts) {
        if state.pages() > state.live() {
            self.unpark_class(state);
            counts = self.counts(state, layout);
        }
        self.renew_credit(state, counts);
    }

    /// Makes a page the reservoir if it holds fewer blocks.
    fn swap_roles(&self, state: &ClassState<W>, page: Page<'m, W>) {
        let reservoir = self.pages.linked(state.tail.get());
        if reservoir.is_some_and(|reservoir| automaton::swaps_roles(page.used(), reservoir.used()))
        {
            self.pages.detach(state, page);
            self.pages.push_back(state, page);
        }
    }

    /// Moves a block of one not-full page into another; returns the bytes copied.
    pub(crate) fn fill_hole(
        &self,
        state: &ClassState<W>,
        source: W::Count,
        target: W::Count,
    ) -> u64 {
        let (Some(source), Some(target)) = (self.pages.linked(source), self.pages.linked(target))
        else {
            unreachable!("holes and compaction need two not-full pages (H3)")
        };
        debug_assert!(source.id != target.id);
        let from = self.pages.last_used(source);
        let entry = self.pages.back_reference(from);
        let to = self.pages.take_free(target, entry);
        if target.free_blocks() == 0 {
            self.pages.detach(state, target);
        }
        self.move_block(state, from, to, entry)
    }

    /// F2 and F3: a block of the source page fills the freed one.
    #[inline]
    fn refill(&self, state: &ClassState<W>, source: Page<'m, W>, freed: Block<'m, W>) {
        let from = self.pages.last_used(source);
        let entry = self.pages.back_reference(from);
        self.pages.set_back_reference(freed, entry);
        let bytes = self.move_block(state, from, freed, entry);
        self.count_operation(bytes);
    }

    /// Moves an entry's block; releases the page that it leaves if the page is now empty. Returns
    /// the bytes copied.
    #[inline]
    fn move_block(
        &self,
        state: &ClassState<W>,
        from: Block<'m, W>,
        to: Block<'m, W>,
        entry: u32,
    ) -> u64 {
        let bytes = self.relocate(from, to, entry);
        if from.page.used() == 0 {
            self.release(state, from.page.id);
        }
        bytes
    }

    /// Copies an entry's block to one that was taken for it, and frees the old one. Returns the
    /// bytes copied.
    #[inline]
    pub(crate) fn relocate(&self, from: Block<'m, W>, to: Block<'m, W>, entry: u32) -> u64 {
        self.pages.copy(from, to);
        self.locate(entry, to);
        self.pages.clear(from);
        let bytes = u64::from(to.page.layout.block_bytes);
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

    /// F5: the page's last block was given back.
    #[inline(never)]
    pub(crate) fn release(&self, state: &ClassState<W>, page: PageId) {
        let page = self.pages.known(page);
        if page.blocks() > 1 {
            self.pages.detach(state, page);
        }
        self.give_page(state, page);
    }

    /// Moves at most `budget` blocks, until no class has more than one not-full page; returns how
    /// many moved.
    pub(crate) fn compact(&self, budget: u64) -> u64 {
        let mut moves = 0;
        self.unpark_all();
        for state in self.classes.all() {
            while moves < budget && state.not_full() > 1 {
                let target = self.allocation_end(state);
                self.fill_hole(state, self.source_end(state), target);
                moves += 1;
            }
        }
        self.take_all_unused();
        moves
    }
}

// ---- pages and lists ---------------------------------------------------------------------------

impl<'m, W: Width> Engine<'m, W> {
    /// The numbers of a class that decide a transition.
    #[inline]
    pub(crate) fn counts(&self, state: &ClassState<W>, layout: &ClassLayout) -> ClassCounts {
        self.pages.counts(self.bound, state, state.live(), layout)
    }

    /// Takes the page that serves allocations out of its class's list if it is now full.
    ///
    /// Whether it is full is unpredictable, so no branch depends on it. Nor does a branch depend on
    /// whether a freed block's page was full. These two branches were once mispredicted in every
    /// other pair of an allocation and a free.
    #[inline]
    fn detach_if(&self, is_full: bool, state: &ClassState<W>, page: Page<'m, W>) {
        if self.order == PageOrder::Original {
            if is_full {
                self.pages.detach(state, page);
            }
            return;
        }
        let next = page.record.next.get();
        state.head.set(if is_full { next } else { page.id.word() });
        state.remove_not_full(u32::from(is_full));
        if is_full & (next == W::Count::NIL) {
            state.tail.set(next);
        }
    }

    /// Puts a page that was full first in its class's list; any other page stays where it is.
    ///
    /// This has no branch, as `detach_if`. The backward link of the old first page is always set,
    /// because that of the first page means nothing. The arrays stand for conditions for which the
    /// compiler would make branches.
    #[inline]
    fn push_front_if(&self, was_full: bool, state: &ClassState<W>, page: Page<'m, W>) {
        let Some(head) = self.pages.linked(state.head.get()) else {
            return self.pages.push_front(state, page);
        };
        head.record.prev.set(page.id.word());
        let links = [&self.unread, &page.record.next];
        links[usize::from(was_full)].set(head.id.word());
        let heads = [head.id.word(), page.id.word()];
        state.head.set(heads[usize::from(was_full)]);
        state.add_not_full(u32::from(was_full));
    }

    /// Used page-blocks of all classes: as many as there are live and parked entries. O(classes).
    pub(crate) fn used(&self) -> u32 {
        self.classes.all().iter().map(ClassState::used).sum()
    }

    /// Live page-blocks of all classes: as many as there are live entries. O(classes).
    pub(crate) fn live(&self) -> u32 {
        self.classes.all().iter().map(ClassState::live).sum()
    }
}
