//! The page table: which size-class a page serves, which of its page-blocks are used, and who owns
//! them.
//!
//! ```text
//! a data page   | block 0 | block 1 | … | bitmap: ⌈π/64⌉ words (π > 8) | back-references (π > 8) |
//! its record    | prev | next | used | small bitmap (π ≤ 8) | class | back-references (π ≤ 8) |
//!               |                                                   | free | fresh    (π > 8) |
//! ```
//! The back-reference of a used block is the number of its entry. For π > 8, that of a free block
//! links the free blocks of the page, newest first, so that taking one is two loads. Blocks from
//! `fresh` on were never used and are in no list, so that opening a page needs no list. The bitmap
//! finds a used block when the page is drained.
//!
//! # Invariants
//! - P1 `used` is the number of used bits of a page, and at most π. No block from `fresh` on is
//!   used.
//! - P2 A page with `used = 0` is free or was never opened, and that of a page that was never
//!   opened is 0. It is in the free list iff it lies below the frontier.
//! - P3 For π > 8 the free blocks below `fresh` are linked from `free`, each once.
//! - P4 The back-reference of a used block names the entry that names the block.
//!
//! A [`PageId`] is below the number of pages, and a block number is below the π of its page's
//! class. Only this module makes page numbers: from table words that it wrote, from numbers that
//! live entries name (A2) or that room was made for, or after comparing with the number of pages.

use core::cell::Cell;

use surefit_classes::automaton::PageCounts;
use surefit_classes::{ClassLayout, Geometry, SizeClass};

use crate::memory::{Memory, Slot};
use crate::width::{Width, Word};

/// The most page-blocks whose bitmap and back-references live in the page's record.
pub(crate) const SMALL_BLOCKS: usize = surefit_classes::geometry::INLINE_BLOCKS;

/// A word of a bitmap, as long as a word of the processor. The geometry counts words of 64 bits.
#[cfg(target_pointer_width = "64")]
type Leaf = u64;
#[cfg(not(target_pointer_width = "64"))]
type Leaf = u32;

/// Blocks of a word of a bitmap.
const LEAF_BITS: u32 = Leaf::BITS;

/// The words of a record of more than [`SMALL_BLOCKS`] page-blocks, in place of the back-references
/// of a smaller one: the free block that is taken next, and the first block that was never used.
const FREE: usize = 0;
const FRESH: usize = 1;

/// What the page table stores about one page.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct PageRecord<W: Width> {
    pub(crate) prev: Cell<W::Count>,
    pub(crate) next: Cell<W::Count>,
    pub(crate) used: Cell<u16>,
    pub(crate) small: Cell<u8>,
    pub(crate) class: Cell<SizeClass>,
    /// Back-references, or `free` and `fresh`.
    references: [Cell<W::Word>; SMALL_BLOCKS],
    line: W::Line,
}

/// The number of a page of this heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PageId(u32);

impl PageId {
    #[inline]
    pub(crate) fn word<T: Word>(self) -> T {
        T::new(self.0)
    }

    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A page with its record, looked up once.
#[derive(Debug)]
pub(crate) struct Page<'m, W: Width> {
    pub(crate) id: PageId,
    /// The offset at which the page begins, in bytes.
    start: usize,
    pub(crate) record: &'m PageRecord<W>,
    pub(crate) layout: &'m ClassLayout,
}

impl<W: Width> Clone for Page<'_, W> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: Width> Copy for Page<'_, W> {}

impl<W: Width> Page<'_, W> {
    #[inline]
    pub(crate) fn used(&self) -> u32 {
        u32::from(self.record.used.get())
    }

    #[inline]
    pub(crate) fn blocks(&self) -> u32 {
        u32::from(self.layout.blocks)
    }

    #[inline]
    pub(crate) fn free_blocks(&self) -> u32 {
        self.blocks() - self.used()
    }

    #[inline]
    pub(crate) fn counts(&self) -> PageCounts {
        PageCounts {
            used: self.used(),
            blocks: self.blocks(),
        }
    }

    /// The free block that is taken next, of a page that is not small; `NIL` if none is linked.
    #[inline]
    fn free(&self) -> &Cell<W::Word> {
        debug_assert!(!self.is_small());
        &self.record.references[FREE]
    }

    /// The first block that was never used, of a page that is not small.
    #[inline]
    fn fresh(&self) -> &Cell<W::Word> {
        debug_assert!(!self.is_small());
        &self.record.references[FRESH]
    }

    /// Words of the bitmap in the page's tail.
    #[inline]
    fn leaves(&self) -> u32 {
        u32::from(self.layout.leaves) * (u64::BITS / LEAF_BITS)
    }

    /// Whether the bitmap and the back-references are in the record.
    #[inline]
    fn is_small(&self) -> bool {
        usize::from(self.layout.blocks) <= SMALL_BLOCKS
    }
}

/// A page-block: a page and the number of the block in it.
#[derive(Debug)]
pub(crate) struct Block<'m, W: Width> {
    pub(crate) page: Page<'m, W>,
    pub(crate) number: u32,
}

impl<W: Width> Clone for Block<'_, W> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: Width> Copy for Block<'_, W> {}

impl<W: Width> PartialEq for Block<'_, W> {
    fn eq(&self, other: &Self) -> bool {
        (self.page.id, self.number) == (other.page.id, other.number)
    }
}

/// All pages of a heap.
#[derive(Debug)]
pub(crate) struct PageTable<'m, W: Width> {
    pub(crate) memory: Memory<'m>,
    pub(crate) geometry: &'m Geometry,
    shift: u32,
    records: &'m [PageRecord<W>],
}

/// Whether the bit of an entry is set.
#[inline]
pub(crate) fn is_kept(kept: &[u64], entry: u32) -> bool {
    let bits = kept.get(entry as usize / 64).copied().unwrap_or(0);
    bits >> (entry % 64) & 1 != 0
}

impl<'m, W: Width> PageTable<'m, W> {
    /// A table of `pages` free pages whose records begin at `offset`.
    ///
    /// # Safety
    /// S1: the records fit between `offset` and the end of the region, aligned; nothing else uses
    /// their bytes. S2: the first `pages` pages lie before `offset`.
    pub(crate) unsafe fn new(
        memory: Memory<'m>,
        geometry: &'m Geometry,
        offset: usize,
        pages: usize,
        free: SizeClass,
    ) -> Self {
        let record = || PageRecord {
            prev: Cell::new(W::Count::NIL),
            next: Cell::new(W::Count::NIL),
            used: Cell::new(0),
            small: Cell::new(0),
            class: Cell::new(free),
            references: [const { Cell::new(W::Word::NIL) }; SMALL_BLOCKS],
            line: W::Line::default(),
        };
        // SAFETY: S1.
        let records = unsafe { memory.table(offset, pages, record) };
        Self {
            memory,
            geometry,
            shift: geometry.page_shift(),
            records,
        }
    }

    /// As [`PageTable::new`], over bytes that are zero: no record is written, so the operating
    /// system need not provide memory for the records of pages that were never opened. A record of
    /// zeros is that of an unused page of the first class; its links mean nothing.
    ///
    /// # Safety
    /// S1, S2 as in [`PageTable::new`]. S3: the bytes of the records are zero.
    #[cfg(feature = "os")]
    pub(crate) unsafe fn zeroed(
        memory: Memory<'m>,
        geometry: &'m Geometry,
        offset: usize,
        pages: usize,
    ) -> Self {
        // SAFETY: S1, S3: a record consists of integers, for which zero is a value.
        let records = unsafe { memory.zeroed_table(offset, pages) };
        Self {
            memory,
            geometry,
            shift: geometry.page_shift(),
            records,
        }
    }

    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.records.len()).expect("Heap::new bounds the number of pages")
    }

    /// The page of that number, if there is one.
    #[inline]
    pub(crate) fn page(&self, number: u32) -> Option<Page<'m, W>> {
        ((number as usize) < self.records.len()).then(|| self.known(PageId(number)))
    }

    /// The page that a table word names; `None` for the word that names nothing.
    #[inline]
    pub(crate) fn linked(&self, word: W::Count) -> Option<Page<'m, W>> {
        (word != W::Count::NIL).then(|| self.known(PageId(word.get())))
    }

    /// The identity that a table word names, without reading the page.
    #[inline]
    pub(crate) fn numbered(&self, word: W::Count) -> Option<PageId> {
        (word != W::Count::NIL).then(|| PageId(word.get()))
    }

    /// The identity of the page that contains an offset.
    pub(crate) fn page_number_at(&self, offset: usize) -> Option<PageId> {
        let number = u32::try_from(offset >> self.shift).ok()?;
        ((number as usize) < self.records.len()).then_some(PageId(number))
    }

    /// The page of an identity that this table made.
    #[inline]
    pub(crate) fn known(&self, id: PageId) -> Page<'m, W> {
        debug_assert!(id.index() < self.records.len());
        // SAFETY: a PageId is below the number of records (module doc); `check` verifies every link
        // that makes one (P2, H2).
        let record = unsafe { self.records.get_unchecked(id.index()) };
        Page {
            id,
            start: id.index() << self.shift,
            record,
            layout: self.geometry.layout(record.class.get()),
        }
    }

    /// The page that the list of a class names. The class's own values are known without its
    /// record.
    #[inline]
    pub(crate) fn listed(&self, word: W::Count, class: SizeClass) -> Page<'m, W> {
        debug_assert!(word != W::Count::NIL);
        let page = self.known(PageId(word.get()));
        debug_assert!(page.record.class.get() == class);
        Page {
            layout: self.geometry.layout(class),
            ..page
        }
    }

    /// The offset at which a page-block begins, in bytes.
    #[inline]
    pub(crate) fn offset(&self, block: Block<'m, W>) -> usize {
        let within = block.number as usize * block.page.layout.block_bytes as usize;
        block.page.start + within
    }

    /// The page-block that contains an offset.
    #[inline]
    pub(crate) fn block_at(&self, offset: usize) -> Option<Block<'m, W>> {
        let page = self.page(u32::try_from(offset >> self.shift).ok()?)?;
        Some(self.block_of(page, offset))
    }

    /// The page of a number that is known to be one: a live entry names it (A2), or it is fresh.
    #[inline]
    pub(crate) fn named_page(&self, number: u32) -> Page<'m, W> {
        self.known(PageId(number))
    }

    /// The page-block that begins at an offset which a live entry names, so its page exists.
    #[inline]
    pub(crate) fn named_block_at(&self, offset: usize) -> Block<'m, W> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a heap has at most 2^32 - 1 pages"
        )]
        let id = PageId((offset >> self.shift) as u32);
        self.block_of(self.known(id), offset)
    }

    #[inline]
    fn block_of(&self, page: Page<'m, W>, offset: usize) -> Block<'m, W> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a page has at most 65536 bytes"
        )]
        let within = (offset - page.start) as u32;
        let number = page.layout.block_at(within);
        Block { page, number }
    }

    /// Makes a free page one of `class`, without used blocks. O(π/64).
    pub(crate) fn open(&self, page: Page<'m, W>, class: SizeClass) -> Page<'m, W> {
        let record = page.record;
        record.class.set(class);
        record.small.set(0);
        // What a small page finds here are back-references of free blocks, which mean nothing.
        record.references[FREE].set(W::Word::NIL);
        record.references[FRESH].set(W::Word::new(0));
        let page = self.known(page.id);
        (0..page.leaves()).for_each(|leaf| self.leaf(page, leaf).set(0));
        page
    }

    /// A word of the bitmap in the page's tail.
    #[inline]
    fn leaf(&self, page: Page<'m, W>, leaf: u32) -> Slot<'_, Leaf> {
        debug_assert!(leaf < page.leaves());
        let within = size_of::<Leaf>() * leaf as usize;
        let offset = page.start + page.layout.leaf_offset() as usize + within;
        // SAFETY: the geometry places the leaves, 8-aligned, inside the page after its blocks;
        // callers pass a leaf below `leaves`; `open` wrote all of them before anything reads one.
        unsafe { self.memory.slot(offset) }
    }

    /// Takes a free block of a not-full page for an entry.
    #[inline]
    pub(crate) fn take_free(&self, page: Page<'m, W>, entry: u32) -> Block<'m, W> {
        let record = page.record;
        record.used.set(record.used.get() + 1);
        let entry = W::Word::new(entry);
        if page.is_small() {
            let number = record.small.get().trailing_ones();
            record.small.set(record.small.get() | 1 << number);
            record.references[number as usize % SMALL_BLOCKS].set(entry);
            return Block { page, number };
        }
        let linked = page.free().get();
        let number = if linked == W::Word::NIL {
            let fresh = page.fresh().get().get();
            page.fresh().set(W::Word::new(fresh + 1));
            fresh
        } else {
            page.free().set(self.reference(page, linked.get()).get());
            linked.get()
        };
        self.reference(page, number).set(entry);
        let leaf = self.leaf(page, number / LEAF_BITS);
        leaf.set(leaf.get() | 1 << (number % LEAF_BITS));
        Block { page, number }
    }

    /// Frees a used block.
    #[inline]
    pub(crate) fn clear(&self, block: Block<'m, W>) {
        let Block { page, number } = block;
        let record = page.record;
        record.used.set(record.used.get() - 1);
        if page.is_small() {
            record
                .small
                .set(record.small.get() & !(1 << (number % u8::BITS)));
            return;
        }
        self.reference(page, number).set(page.free().get());
        page.free().set(W::Word::new(number));
        let leaf = self.leaf(page, number / LEAF_BITS);
        leaf.set(leaf.get() & !(1 << (number % LEAF_BITS)));
    }

    /// Frees every used block whose entry's bit is not set. The first of them will be taken first.
    /// O(π).
    pub(crate) fn retain(&self, page: Page<'m, W>, kept: &[u64]) {
        if page.is_small() {
            for number in (0..page.blocks()).rev() {
                let block = Block { page, number };
                if self.is_used(block) && !is_kept(kept, self.back_reference(block)) {
                    self.clear(block);
                }
            }
            return;
        }
        for leaf in (0..page.leaves()).rev() {
            self.retain_in_leaf(page, leaf, kept);
        }
    }

    /// As `retain`, for the blocks in one word of the bitmap.
    fn retain_in_leaf(&self, page: Page<'m, W>, leaf: u32, kept: &[u64]) {
        let word = self.leaf(page, leaf);
        let used = word.get();
        let (mut rest, mut dead, mut free) = (used, 0 as Leaf, page.free().get());
        while rest != 0 {
            let bit = rest.ilog2();
            rest ^= 1 << bit;
            let number = leaf * LEAF_BITS + bit;
            let reference = self.reference(page, number);
            if !is_kept(kept, reference.get().get()) {
                dead |= 1 << bit;
                reference.set(free);
                free = W::Word::new(number);
            }
        }
        word.set(used ^ dead);
        page.free().set(free);
        #[expect(clippy::cast_possible_truncation, reason = "at most 64 blocks")]
        page.record
            .used
            .set(page.record.used.get() - dead.count_ones() as u16);
    }

    /// The last used block of a page that has one. O(π/64).
    #[inline]
    pub(crate) fn last_used(&self, page: Page<'m, W>) -> Block<'m, W> {
        debug_assert!(page.used() > 0);
        if page.is_small() {
            let number = 7 - page.record.small.get().leading_zeros();
            return Block { page, number };
        }
        let mut leaf = (page.fresh().get().get() - 1) / LEAF_BITS;
        while self.leaf(page, leaf).get() == 0 {
            leaf -= 1;
        }
        let number = (leaf + 1) * LEAF_BITS - 1 - self.leaf(page, leaf).get().leading_zeros();
        Block { page, number }
    }

    /// The last used block of a page before block `number`, if there is one. O(π/64).
    pub(crate) fn used_before(&self, page: Page<'m, W>, number: u32) -> Option<Block<'m, W>> {
        let below = |bits: Leaf, n: u32| bits & !(Leaf::MAX << n);
        let last = |bits: Leaf| LEAF_BITS - 1 - bits.leading_zeros();
        if page.is_small() {
            let bits = below(Leaf::from(page.record.small.get()), number);
            return (bits != 0).then(|| Block {
                page,
                number: last(bits),
            });
        }
        let (mut leaf, mut bits) = (number / LEAF_BITS, 0);
        if number % LEAF_BITS > 0 {
            bits = below(self.leaf(page, leaf).get(), number % LEAF_BITS);
        }
        while bits == 0 && leaf > 0 {
            leaf -= 1;
            bits = self.leaf(page, leaf).get();
        }
        (bits != 0).then(|| Block {
            page,
            number: leaf * LEAF_BITS + last(bits),
        })
    }

    /// Whether a block is used.
    #[inline]
    pub(crate) fn is_used(&self, block: Block<'m, W>) -> bool {
        let Block { page, number } = block;
        if number >= page.blocks() || page.used() == 0 {
            return false;
        }
        if page.is_small() {
            return page.record.small.get() >> number & 1 == 1;
        }
        self.leaf(page, number / LEAF_BITS).get() >> (number % LEAF_BITS) & 1 == 1
    }

    /// The entry whose object a used block holds.
    #[inline]
    pub(crate) fn back_reference(&self, block: Block<'m, W>) -> u32 {
        let Block { page, number } = block;
        if page.is_small() {
            return page.record.references[number as usize % SMALL_BLOCKS]
                .get()
                .get();
        }
        self.reference(page, number).get().get()
    }

    /// Sets the entry whose object a used block holds.
    #[inline]
    pub(crate) fn set_back_reference(&self, block: Block<'m, W>, entry: u32) {
        let Block { page, number } = block;
        if page.is_small() {
            page.record.references[number as usize % SMALL_BLOCKS].set(W::Word::new(entry));
        } else {
            self.reference(page, number).set(W::Word::new(entry));
        }
    }

    /// The back-reference of a block in the page's tail.
    #[inline]
    fn reference(&self, page: Page<'m, W>, number: u32) -> Slot<'_, W::Word> {
        debug_assert!(number < page.blocks() && !page.is_small());
        let offset =
            page.start + page.layout.back_offset() as usize + W::WORD_BYTES * number as usize;
        // SAFETY: the geometry places one word per block, aligned, at the end of the page; the
        // block's number is below π. A block below `fresh` was used once, and its word written
        // then; others' words are written before they are read.
        unsafe { self.memory.slot(offset) }
    }

    /// The number of linked free blocks of a page, counted along the list; more than π for a ring
    /// or a wrong link (P3).
    pub(crate) fn linked_free_blocks(&self, page: Page<'m, W>) -> u32 {
        let (mut found, mut link) = (0, page.free().get());
        while link != W::Word::NIL && found <= page.blocks() {
            let number = link.get();
            if number >= page.fresh().get().get() || self.is_used(Block { page, number }) {
                return u32::MAX;
            }
            found += 1;
            link = self.reference(page, number).get();
        }
        found
    }

    /// Whether a bit after the page's last block is set (P1).
    pub(crate) fn stray_bits(&self, page: Page<'m, W>) -> bool {
        let blocks = page.blocks();
        if page.is_small() {
            return u32::from(page.record.small.get()) >> blocks != 0;
        }
        let last = (blocks - 1) / LEAF_BITS;
        let own = Leaf::MAX >> (LEAF_BITS - 1 - (blocks - 1) % LEAF_BITS);
        self.leaf(page, last).get() & !own != 0
            || (last + 1..page.leaves()).any(|leaf| self.leaf(page, leaf).get() != 0)
    }

    /// Blocks of a page that were ever used (P1). The page is not small.
    pub(crate) fn fresh(&self, page: Page<'m, W>) -> u32 {
        page.fresh().get().get()
    }

    /// Whether a page is small: bitmap and back-references in its record.
    pub(crate) fn is_small(&self, page: Page<'m, W>) -> bool {
        page.is_small()
    }

    /// Copies a block's bytes into another block of the same class.
    #[inline]
    pub(crate) fn copy(&self, from: Block<'m, W>, to: Block<'m, W>) {
        debug_assert!(from != to);
        let bytes = from.page.layout.block_bytes as usize;
        // SAFETY: as in `copy_part`. Pages, and the blocks of a page, are multiples of 8 bytes (G1
        // of the geometry), and the base is aligned to a page.
        unsafe {
            let (from, to) = (self.offset(from), self.offset(to));
            self.memory.copy_granules(from, to, bytes);
        }
    }

    /// Copies `bytes` bytes of a block, from byte `done` on, to the same place of another block of
    /// the same class.
    #[inline]
    pub(crate) fn copy_part(&self, from: Block<'m, W>, to: Block<'m, W>, done: u32, bytes: u32) {
        debug_assert!(from != to && done + bytes <= from.page.layout.block_bytes);
        let done = done as usize;
        // SAFETY: both are whole blocks of one class, inside their pages and different, so
        // disjoint. Meanwhile nobody writes to the source or refers to the target: only `&mut Heap`
        // methods move. A shared heap copies under the lock of the block's group (G1) while the
        // entry is MOVING (G2): writers end the move first (O3), and the target is reserved (S1).
        unsafe {
            let (from, to) = (self.offset(from), self.offset(to));
            self.memory.copy(from + done, to + done, bytes as usize);
        }
    }
}
