//! Statistics of a heap: counters, the account of every byte, and what can still be allocated.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use surefit_classes::SizeClass;
use surefit_classes::automaton::ClassCounts;
use surefit_core::{Refused, Usage};

use crate::demand::BlockDemand;
use crate::heap::Heap;
use crate::parked::MOST_PARKED;
use crate::width::Width;

/// Counters of a heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Page-blocks in use. A byte object in pieces has several.
    pub live_blocks: u32,
    /// Pages of all size-classes.
    pub pages: u32,
    /// Not-full pages of all size-classes.
    pub not_full_pages: u32,
    /// Free page-blocks of not-full pages that the hole bound counts, and parked ones.
    pub holes: u32,
    /// Pages that their classes have given back and that are not in use again.
    pub freed_pages: u32,
    /// Pages that were never opened, and may be.
    pub fresh_pages: u32,
    /// Page-blocks moved since the heap was made.
    pub moves_total: u64,
    /// Bytes copied by moves since the heap was made.
    pub moved_bytes_total: u64,
    /// The most bytes that the free of one page-block copied.
    pub moved_bytes_max_per_op: u64,
    /// Entries whose generations are exhausted.
    pub retired_keys: u32,
}

/// One live page-block, as [`Heap::live_blocks`] finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveBlock {
    /// The number of its entry: the index in a handle.
    pub index: u32,
    /// Its size-class.
    pub class: SizeClass,
    /// Its size in bytes; that of all its pages for a contiguous object over a page.
    pub block_bytes: u32,
}

impl<'m, W: Width> Heap<'m, W> {
    /// Counters. O(classes).
    #[expect(clippy::arithmetic_side_effects, reason = "free pages were opened")]
    #[must_use]
    pub fn stats(&self) -> Stats {
        let engine = &self.engine;
        let sum = |f: fn(ClassCounts) -> u32| {
            let geometry = self.config.geometry();
            let counts = |class| engine.counts(engine.class_state(class), geometry.layout(class));
            geometry.classes().map(|class| f(counts(class))).sum()
        };
        Stats {
            live_blocks: engine.live(),
            pages: engine.frontier.get() - engine.free_page_count.get(),
            not_full_pages: sum(|class| class.not_full),
            holes: sum(|class| class.holes),
            freed_pages: engine.free_page_count.get(),
            fresh_pages: engine.fresh_pages(),
            moves_total: engine.moved.moves.get(),
            moved_bytes_total: engine.moved.bytes.get(),
            moved_bytes_max_per_op: engine.moved.most_bytes.get(),
            retired_keys: engine.addresses.retired.get(),
        }
    }

    /// What the heap says of single size-classes, of fragmentation and of its limit. O(1).
    #[must_use]
    pub fn details(&self) -> Details<'_, 'm, W> {
        Details { heap: self }
    }

    /// Accounts for every byte of the region: the parts add up to its size. O(classes).
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "counts and bytes of the parts of one region"
    )]
    #[must_use]
    pub fn usage(&self) -> Usage {
        let engine = &self.engine;
        let memory = &engine.pages.memory;
        let page = self.config.geometry().page_bytes();
        let mut usage = Usage::default();
        for class in self.config.geometry().classes() {
            self.add_class(&mut usage, class);
        }
        usage.block_bytes += engine.windows.parts() as usize * page;
        let free = engine.free_page_count.get() + engine.unopened_pages();
        usage.free_page_bytes = free as usize * page;
        let table_and_fixed = memory.len() - engine.addresses.floor();
        usage.administrative_bytes += self.skipped as usize + table_and_fixed;
        usage
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "counts and bytes of the parts of one region"
    )]
    fn add_class(&self, usage: &mut Usage, class: SizeClass) {
        let (live, pages) = self.details().class_usage(class);
        let (live, pages) = (live as usize, pages as usize);
        let layout = self.config.geometry().layout(class);
        let (blocks, bytes) = (usize::from(layout.blocks), layout.block_bytes as usize);
        let geometry = self.config.geometry();
        let tail = geometry.leaf_bytes(class) + geometry.back_reference_bytes(class);
        usage.block_bytes += live * bytes;
        usage.size_class_bytes += (pages * blocks - live) * bytes;
        usage.administrative_bytes += pages * tail;
        let page = self.config.geometry().page_bytes();
        usage.page_internal_bytes += pages * (page - blocks * bytes - tail);
    }

    /// Whether `count` more objects of this size and alignment can be allocated now. O(1).
    #[must_use]
    pub fn can_allocate(&self, size: usize, align: usize, count: u32) -> bool {
        let Ok(class) = self.class_of(size, align) else {
            return count == 0;
        };
        let mut demand = BlockDemand::new();
        demand.add(class, count);
        self.engine.can_serve(&demand).is_ok()
    }

    /// Whether a byte object of this length can be allocated now, contiguous or in pieces. O(levels
    /// of its spine).
    #[must_use]
    pub fn can_allocate_bytes(&self, len: usize, align: usize) -> bool {
        let mut demand = BlockDemand::new();
        let known = self.add_object(&mut demand, len, align);
        known.is_ok() && self.engine.can_serve(&demand).is_ok()
    }

    /// Whether byte objects of all these lengths, aligned to eight, can be allocated now.
    /// O(classes), times a constant: it may give parked page-blocks back to their pages.
    ///
    /// # Errors
    /// What is exhausted.
    pub fn can_serve(&self, lens: &[usize]) -> Result<(), Refused> {
        let served = self.engine.can_serve(&self.demand_of(lens)?);
        let longest = lens.iter().copied().max().unwrap_or(0);
        served.map_err(|why| self.now_or_ever(longest, why))
    }

    /// Whether byte objects of all these lengths, aligned to eight, could be allocated if all live
    /// page-blocks lay together: then only fragmentation can refuse them. A heap over the operating
    /// system's memory counts its limit. O(classes).
    #[must_use]
    pub fn would_fit(&self, lens: &[usize]) -> bool {
        let demand = self.demand_of(lens);
        demand.is_ok_and(|demand| self.engine.would_fit(&demand))
    }

    /// What byte objects of these lengths, aligned to eight, need.
    pub(crate) fn demand_of(&self, lens: &[usize]) -> Result<BlockDemand, Refused> {
        let mut demand = BlockDemand::new();
        for &len in lens {
            self.add_object(&mut demand, len, 8)?;
        }
        Ok(demand)
    }

    /// All live page-blocks, in the order of their entries. O(entries ever made).
    pub fn live_blocks(&self) -> impl Iterator<Item = LiveBlock> {
        (0..self.engine.addresses.made.get()).filter_map(|index| {
            let block = self.engine.vet(index)?;
            Some(LiveBlock {
                index,
                class: block.page.record.class.get(),
                block_bytes: self.engine.bytes_of(block),
            })
        })
    }
}

/// What a heap says of itself beside [`Heap::stats`], for who watches or tests it:
/// [`Heap::details`].
#[derive(Debug)]
pub struct Details<'a, 'm, W: Width> {
    pub(crate) heap: &'a Heap<'m, W>,
}

impl<W: Width> Clone for Details<'_, '_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: Width> Copy for Details<'_, '_, W> {}

impl<W: Width> Details<'_, '_, W> {
    /// Live page-blocks of a size-class, and its pages: (h, full pages + not-full pages). O(1).
    #[must_use]
    pub fn class_usage(self, class: SizeClass) -> (u32, u32) {
        let state = self.heap.engine.classes.get(class);
        state.map_or((0, 0), |state| (state.live(), state.pages()))
    }

    /// The pages of the parked page-blocks of a size-class, that of the one taken next first: freed
    /// page-blocks that the class keeps with their entries. They are not live, and count as holes.
    ///
    /// The answer is that of the call, whatever the heap does later: an allocation takes what is
    /// parked, or gives it back, and the links between parked page-blocks lie in their bytes.
    pub fn parked_pages(self, class: SizeClass) -> impl Iterator<Item = u32> + use<W> {
        let state = self.heap.engine.classes.get(class).into_iter();
        let parked = state.flat_map(|state| self.heap.engine.parked(state));
        let mut pages = parked.map(|entry| self.heap.engine.block_of(entry).page.id.word());
        let now: [Option<u32>; MOST_PARKED as usize] = core::array::from_fn(|_| pages.next());
        now.into_iter().flatten()
    }

    /// The numbers of a size-class that decide its transitions: live page-blocks, not-full pages
    /// and holes. O(1).
    #[must_use]
    pub fn class_counts(self, class: SizeClass) -> ClassCounts {
        let state = self.heap.engine.classes.get(class);
        let layout = self.heap.config.geometry().layout(class);
        let none = ClassCounts {
            live: 0,
            not_full: 0,
            holes: 0,
        };
        state.map_or(none, |state| self.heap.engine.counts(state, layout))
    }

    /// Bytes of administrative space that grow with the number of objects: the address table, and
    /// the back-references of all pages in use. O(classes).
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "counts and bytes of the parts of one region"
    )]
    #[must_use]
    pub fn handle_bytes(self) -> usize {
        let addresses = &self.heap.engine.addresses;
        let back_references = self.heap.config.geometry().classes().map(|class| {
            let (_, pages) = self.class_usage(class);
            pages as usize * self.heap.config.geometry().back_reference_bytes(class)
        });
        let table = addresses.made.get() as usize * W::ENTRY_BYTES;
        table + back_references.sum::<usize>()
    }

    /// The largest contiguous object that can be allocated now, in bytes; 0 if there is none.
    /// O(classes).
    #[must_use]
    pub fn largest_free(self) -> usize {
        self.largest_contiguous(usize::MAX)
    }

    /// A length in bytes for which [`Heap::can_allocate_bytes`] holds now: the largest contiguous
    /// one or, if more fits in pieces, the most whole small pieces that a binary search finds. Some
    /// longer lengths may fit too, because free page-blocks belong to classes. O(classes + log
    /// region).
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a search between zero and one piece more than the region has bytes for, half of what usize counts"
    )]
    #[must_use]
    pub fn largest_free_bytes(self) -> usize {
        let contiguous = self.largest_contiguous(self.heap.division.small_bytes());
        if self.heap.config.piece_bytes().is_none() {
            return contiguous;
        }
        let piece = self.heap.division.small_bytes();
        let fits_pieces = |pieces| self.heap.can_allocate_bytes(pieces * piece, 1);
        let (mut fits, mut fails) = (0, self.heap.engine.pages.memory.len() / piece + 1);
        while fails - fits > 1 {
            let middle = fits + (fails - fits) / 2;
            if fits_pieces(middle) {
                fits = middle;
            } else {
                fails = middle;
            }
        }
        contiguous.max(fits * piece)
    }

    /// The slides' degree of fragmentation: how many more page-blocks for objects of this size fit
    /// into the free space, entries not counted. O(1).
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "pages of 32 bits times at most 2^12 page-blocks, in 64 bits; those live are among them"
    )]
    #[must_use]
    pub fn degree_of_fragmentation(self, size: usize) -> u64 {
        let Ok(class) = self.heap.class_of(size, 1) else {
            return 0;
        };
        let blocks = u64::from(self.heap.config.geometry().layout(class).blocks);
        let (live, pages) = self.class_usage(class);
        let free = self.heap.engine.free_page_count.get() + self.heap.engine.fresh_pages();
        blocks * (u64::from(free) + u64::from(pages)) - u64::from(live)
    }

    /// The largest contiguous object of at most `most` bytes that can be allocated now.
    fn largest_contiguous(self, most: usize) -> usize {
        let geometry = self.heap.config.geometry();
        let sizes = geometry
            .classes()
            .map(|class| most.min(geometry.layout(class).block_bytes as usize));
        sizes
            .filter(|&size| self.heap.can_allocate(size, 1, 1))
            .max()
            .unwrap_or(0)
    }
}
