//! The page table: which size-class a page serves, which of its page-blocks are used, and whose they are.
//!
//! ```text
//! a data page            | block 0 | block 1 | … | block π−1 | pad | bitmap leaves (π > 64) | back-references (π > 8) |
//! its record             | prev | next | used | small bitmap | class | words …                                      |
//!   π ≤ 8                  small bitmap: used blocks           words: the back-references
//!   π ≤ 64                                                     word 0: used blocks
//!   π > 64                                                     word 0: leaves with a used block, word 1: with a free one
//! ```
//!
//! # Invariants
//! - P1 `used` is the number of used bits of a page, and at most π.
//! - P2 A page with `used = 0` is free or was never opened; it is in the free list iff it lies below the frontier.
//! - P3 Summary bits agree with the leaves.
//! - P4 The back-reference of a used block names the entry that names the block.
//!
//! A [`PageId`] is below the number of pages, a block number below the π of its page's class: only this module makes
//! page numbers, from table words that it wrote or by comparing with the number of pages.

use core::cell::Cell;

use crate::geometry::{ClassLayout, Geometry, SizeClass};
use crate::memory::{Memory, Slot};
use crate::width::{RecordWords, Width, Word};

/// The most page-blocks whose bitmap and back-references live in the page's record.
pub(crate) const SMALL_BLOCKS: u32 = 8;

/// What the page table knows of one page.
#[derive(Debug)]
#[repr(C)]
pub struct PageRecord<W: Width> {
    pub(crate) prev: Cell<W::Word>,
    pub(crate) next: Cell<W::Word>,
    pub(crate) used: Cell<u16>,
    pub(crate) small: Cell<u8>,
    pub(crate) class: Cell<SizeClass>,
    pub(crate) words: W::RecordWords,
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

/// A page-block: a page and the number of the block in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) page: PageId,
    pub(crate) number: u32,
}

/// All pages of a heap.
#[derive(Debug)]
pub(crate) struct PageTable<'m, W: Width> {
    pub(crate) memory: Memory<'m>,
    pub(crate) geometry: &'m Geometry,
    shift: u32,
    records: &'m [PageRecord<W>],
}

impl<'m, W: Width> PageTable<'m, W> {
    /// A table of `pages` free pages whose records begin at `offset`.
    ///
    /// # Safety
    /// S1: the records fit between `offset` and the end of the region, aligned; nothing else uses their bytes. S2: the
    /// first `pages` pages lie before `offset`.
    pub(crate) unsafe fn new(
        memory: Memory<'m>,
        geometry: &'m Geometry,
        offset: usize,
        pages: usize,
        free: SizeClass,
    ) -> Self {
        let record = || PageRecord {
            prev: Cell::new(W::Word::NIL),
            next: Cell::new(W::Word::NIL),
            used: Cell::new(0),
            small: Cell::new(0),
            class: Cell::new(free),
            words: W::RecordWords::zero(),
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

    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.records.len()).expect("Heap::new bounds the number of pages")
    }

    /// The page of that number, if there is one.
    #[inline]
    pub(crate) fn page(&self, number: u32) -> Option<PageId> {
        ((number as usize) < self.records.len()).then_some(PageId(number))
    }

    /// The page that a table word names; `None` for the word that names nothing.
    #[inline]
    pub(crate) fn linked(&self, word: W::Word) -> Option<PageId> {
        (word != W::Word::NIL).then(|| {
            debug_assert!((word.get() as usize) < self.records.len());
            PageId(word.get())
        })
    }

    #[inline]
    pub(crate) fn record(&self, page: PageId) -> &PageRecord<W> {
        debug_assert!(page.index() < self.records.len());
        // SAFETY: a PageId is below the number of records (module doc); `check` verifies every link that makes one (P2, H2).
        unsafe { self.records.get_unchecked(page.index()) }
    }

    #[inline]
    pub(crate) fn used(&self, page: PageId) -> u32 {
        u32::from(self.record(page).used.get())
    }

    #[inline]
    pub(crate) fn class(&self, page: PageId) -> SizeClass {
        self.record(page).class.get()
    }

    #[inline]
    pub(crate) fn layout(&self, page: PageId) -> &'m ClassLayout {
        self.geometry.layout(self.class(page))
    }

    #[inline]
    pub(crate) fn page_offset(&self, page: PageId) -> usize {
        page.index() << self.shift
    }

    /// Where a page-block begins, as an offset in bytes.
    #[inline]
    pub(crate) fn offset(&self, block: Block) -> usize {
        self.page_offset(block.page)
            + block.number as usize * self.layout(block.page).block_bytes as usize
    }

    /// The page-block that contains an offset which lies in a page's blocks.
    #[inline]
    pub(crate) fn block_at(&self, offset: usize) -> Option<Block> {
        let page = self.page(u32::try_from(offset >> self.shift).ok()?)?;
        Some(Block {
            page,
            number: self.number_at(page, offset),
        })
    }

    /// The page-block that begins at an offset that a used entry names: its page exists.
    #[inline]
    pub(crate) fn named_block_at(&self, offset: usize) -> Block {
        debug_assert!(offset >> self.shift < self.records.len());
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a heap has at most 2^32 - 1 pages"
        )]
        let page = PageId((offset >> self.shift) as u32);
        Block {
            page,
            number: self.number_at(page, offset),
        }
    }

    #[inline]
    fn number_at(&self, page: PageId, offset: usize) -> u32 {
        let within = (offset & ((1 << self.shift) - 1)) as u64;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a page has at most 65536 bytes"
        )]
        {
            ((within * u64::from(self.layout(page).reciprocal)) >> 32) as u32
        }
    }

    /// Makes a free page one of `class`, without a used block.
    pub(crate) fn open(&self, page: PageId, class: SizeClass) {
        let record = self.record(page);
        record.class.set(class);
        record.small.set(0);
        let layout = self.layout(page);
        let words = record.words.cells();
        words[0].set(0);
        if layout.leaves > 0 {
            let leaves = u32::from(layout.leaves);
            words[1].set(u64::MAX >> (64 - leaves));
            (0..leaves).for_each(|leaf| self.leaf(page, layout, leaf).set(0));
        }
    }

    /// A word of the bitmap in the page's tail.
    #[inline]
    fn leaf(&self, page: PageId, layout: &ClassLayout, leaf: u32) -> Slot<'_, u64> {
        debug_assert!(leaf < u32::from(layout.leaves));
        let offset = self.page_offset(page) + layout.leaf_offset as usize + 8 * leaf as usize;
        // SAFETY: the geometry places the leaves, 8-aligned, inside the page behind its blocks; callers pass a leaf below
        // `leaves`; `open` wrote all of them before anything reads one (P3).
        unsafe { self.memory.slot(offset) }
    }

    /// Finds a free block of a not-full page and marks it used.
    #[inline]
    pub(crate) fn take_free(&self, page: PageId) -> Block {
        let record = self.record(page);
        let layout = self.layout(page);
        let words = record.words.cells();
        record.used.set(record.used.get() + 1);
        let number = if layout.leaves > 0 {
            let leaf = words[1].get().trailing_zeros();
            let cell = self.leaf(page, layout, leaf);
            let bit = (!cell.get()).trailing_zeros();
            self.set_leaf(record, layout, leaf, &cell, cell.get() | 1 << bit);
            leaf * 64 + bit
        } else if u32::from(layout.blocks) > SMALL_BLOCKS {
            let bit = (!words[0].get()).trailing_zeros();
            words[0].set(words[0].get() | 1 << bit);
            bit
        } else {
            let bit = record.small.get().trailing_ones();
            record.small.set(record.small.get() | 1 << bit);
            bit
        };
        Block { page, number }
    }

    /// Finds the last used block of a page that has one and marks it free.
    #[inline]
    pub(crate) fn take_used(&self, page: PageId) -> Block {
        let record = self.record(page);
        let layout = self.layout(page);
        let words = record.words.cells();
        let number = if layout.leaves > 0 {
            let leaf = 63 - words[0].get().leading_zeros();
            leaf * 64 + 63 - self.leaf(page, layout, leaf).get().leading_zeros()
        } else if u32::from(layout.blocks) > SMALL_BLOCKS {
            63 - words[0].get().leading_zeros()
        } else {
            7 - record.small.get().leading_zeros()
        };
        let block = Block { page, number };
        self.clear(block);
        block
    }

    /// Marks a used block free.
    #[inline]
    pub(crate) fn clear(&self, block: Block) {
        let record = self.record(block.page);
        let layout = self.layout(block.page);
        let words = record.words.cells();
        record.used.set(record.used.get() - 1);
        if layout.leaves > 0 {
            let leaf = block.number / 64;
            let cell = self.leaf(block.page, layout, leaf);
            let word = cell.get() & !(1 << (block.number % 64));
            cell.set(word);
            words[1].set(words[1].get() | 1 << leaf);
            if word == 0 {
                words[0].set(words[0].get() & !(1 << leaf));
            }
        } else if u32::from(layout.blocks) > SMALL_BLOCKS {
            words[0].set(words[0].get() & !(1 << block.number));
        } else {
            record.small.set(record.small.get() & !(1 << block.number));
        }
    }

    /// Stores a leaf that gained a used block, and its summaries.
    #[inline]
    fn set_leaf(
        &self,
        record: &PageRecord<W>,
        layout: &ClassLayout,
        leaf: u32,
        cell: &Slot<'_, u64>,
        word: u64,
    ) {
        let words = record.words.cells();
        cell.set(word);
        words[0].set(words[0].get() | 1 << leaf);
        if word == full_leaf(layout, leaf) {
            words[1].set(words[1].get() & !(1 << leaf));
        }
    }

    /// Whether a block is used.
    #[inline]
    pub(crate) fn is_used(&self, block: Block) -> bool {
        let record = self.record(block.page);
        let layout = self.layout(block.page);
        if block.number >= u32::from(layout.blocks) || record.used.get() == 0 {
            return false;
        }
        if layout.leaves > 0 {
            let leaf = self.leaf(block.page, layout, block.number / 64);
            leaf.get() >> (block.number % 64) & 1 == 1
        } else if u32::from(layout.blocks) > SMALL_BLOCKS {
            record.words.cells()[0].get() >> block.number & 1 == 1
        } else {
            record.small.get() >> block.number & 1 == 1
        }
    }

    /// The entry whose object a used block holds.
    #[inline]
    pub(crate) fn back_reference(&self, block: Block) -> W::Word {
        let layout = self.layout(block.page);
        if u32::from(layout.blocks) > SMALL_BLOCKS {
            return self.tail_reference(block, layout).get();
        }
        let (word, shift) = packed::<W>(block.number);
        let bits = self.record(block.page).words.cells()[word].get() >> shift;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the low bits are the reference"
        )]
        W::Word::new(bits as u32 & word_mask::<W>())
    }

    /// Says which entry's object a block holds.
    #[inline]
    pub(crate) fn set_back_reference(&self, block: Block, entry: W::Word) {
        let layout = self.layout(block.page);
        if u32::from(layout.blocks) > SMALL_BLOCKS {
            self.tail_reference(block, layout).set(entry);
            return;
        }
        let (word, shift) = packed::<W>(block.number);
        let cell = &self.record(block.page).words.cells()[word];
        let others = cell.get() & !(u64::from(word_mask::<W>()) << shift);
        cell.set(others | u64::from(entry.get()) << shift);
    }

    #[inline]
    fn tail_reference(&self, block: Block, layout: &ClassLayout) -> Slot<'_, W::Word> {
        debug_assert!(block.number < u32::from(layout.blocks));
        let offset = self.page_offset(block.page)
            + layout.back_offset as usize
            + W::WORD_BYTES * block.number as usize;
        // SAFETY: the geometry places one word per block, aligned, at the end of the page; the block's number is below π.
        // The bytes come from the region as `MaybeUninit`, but a used block's reference was written before it is read
        // (P4), and for a free block any bit pattern is a word that is compared only.
        unsafe { self.memory.slot(offset) }
    }

    /// Copies a block's bytes into another block of the same class.
    #[inline]
    pub(crate) fn copy(&self, from: Block, to: Block) {
        debug_assert!(from != to && self.class(from.page) == self.class(to.page));
        let bytes = self.layout(from.page).block_bytes as usize;
        // SAFETY: both are whole blocks of the class, inside their pages and different, so disjoint; only `&mut Heap`
        // methods move, so nobody holds a reference into either.
        unsafe {
            self.memory
                .copy(self.offset(from), self.offset(to), bytes);
        }
    }
}

/// The bits of a leaf whose blocks are all used.
#[inline]
fn full_leaf(layout: &ClassLayout, leaf: u32) -> u64 {
    let blocks = u32::from(layout.blocks) - leaf * 64;
    if blocks >= 64 {
        u64::MAX
    } else {
        (1 << blocks) - 1
    }
}

/// The bits of one table word.
const fn word_mask<W: Width>() -> u32 {
    u32::MAX >> (32 - 8 * W::WORD_BYTES)
}

/// Which record word holds the back-reference of a small block, and from which bit on.
#[inline]
fn packed<W: Width>(number: u32) -> (usize, usize) {
    let in_a_word = 8 / W::WORD_BYTES;
    let number = number as usize;
    (number / in_a_word, number % in_a_word * 8 * W::WORD_BYTES)
}
