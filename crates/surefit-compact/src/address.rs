//! The abstract address table: one entry per object, which says where the object is now.
//!
//! ```text
//! … | entry 2 | entry 1 | entry 0 |  fixed area          the table grows towards lower addresses
//! an entry: | location, or the next free entry | generation (keyed heaps) |
//! ```
//!
//! The table never shrinks, except in a sweep, and when the program renumbers its handles
//! (`renumber.rs`). The number of an entry is in its handle, in the program: so no move of entries
//! is the heap's own. Giving back the table's end after frees would gain nothing where it is
//! longest, even if the lowest free entry were always taken first: in a program that deletes at
//! random (redis-drift), 49,223 page-blocks live where the heap needs the most, and one of them has
//! the last of 351,571 entries. Nor has any page of the table, of 65, only free entries there.
//! Taken lowest first, some would at times; used as data pages they would save 1.8 % of the live
//! bytes of that program, nothing in a recorded redis, and cost every allocation a search.
//!
//! # Invariants
//! - A1 The free entries are linked from `free`, newest first. Each is below `made`, and
//!   neither retired nor outside.
//! - A2 An entry is live or parked iff its location is a used block whose back-reference names the
//!   entry. So no tag bit is needed: a free entry's word may look like a location, but no used
//!   block's back-reference names a free entry.
//! - A3 Entries below `made` are initialised, and so are their generations. They fit above `floor`,
//!   where a page begins, and would not fit above a floor one page higher.
//! - A4 `live + parked + outside + retired + length of the free list = made`. The retired entries
//!   are those with the last generation, and none of them is live.

use core::cell::Cell;

use crate::handle::Number;
use crate::memory::{Borrowed, Memory, Origin, Slot};
use crate::width::{Generation, Width, Word};

/// How many entries are made at once when none is free. Making a single one would take as long as
/// allocating an object.
const ENTRIES_AT_ONCE: u32 = 8;

/// The table's state; the words themselves lie in the region.
#[derive(Debug)]
pub(crate) struct AddressTable<W: Width> {
    /// Offset of the first byte after entry 0.
    top: usize,
    /// Where the word of the entry would be that has the number 0 in names. Entry 0 has the largest
    /// number, and ends at `top`.
    origin: Origin,
    /// Offset below which the table needs another page to grow.
    pub(crate) floor: Cell<usize>,
    /// The number of the free entry that is taken next, or that of a word which
    /// names nothing.
    pub(crate) free: Cell<W::Count>,
    pub(crate) made: Cell<u32>,
    pub(crate) retired: Cell<u32>,
    /// L2, in `entries/outside.rs`.
    pub(crate) outside: Cell<u32>,
}

impl<W: Width> AddressTable<W> {
    /// An empty table that grows down from `top`, at first no further than `floor`.
    pub(crate) fn new(memory: &Memory<'_>, top: usize, floor: usize) -> Self {
        debug_assert!(top % 8 == 0 && floor <= top);
        let all = (u32::MAX as usize)
            .wrapping_add(1)
            .wrapping_mul(W::ENTRY_BYTES);
        Self {
            top,
            origin: memory.origin(top.wrapping_sub(all)),
            floor: Cell::new(floor),
            free: Cell::new(W::Count::new(W::Word::NIL.get())),
            made: Cell::new(0),
            retired: Cell::new(0),
            outside: Cell::new(0),
        }
    }

    /// Entries that can be taken, when `live` are taken, before the table needs another page.
    pub(crate) fn spare(&self, live: u32) -> u32 {
        let room = (self.top - self.floor.get()) / W::ENTRY_BYTES;
        let most = room.min(W::Word::NIL.get() as usize);
        u32::try_from(most).expect("no more than a word counts") - live - self.retired.get()
    }

    /// Whether no entry is free, so that a new one must be made.
    #[inline]
    pub(crate) fn has_no_free(&self) -> bool {
        self.free.get().get() == W::Word::NIL.get()
    }

    /// Whether the next entry must be a new one, and has no room.
    #[inline]
    pub(crate) fn is_exhausted(&self) -> bool {
        self.has_no_free() && !self.fits_another()
    }

    #[inline]
    fn fits_another(&self) -> bool {
        let made = self.made.get();
        made < W::Word::NIL.get()
            && self.top - self.floor.get() >= (made as usize + 1) * W::ENTRY_BYTES
    }

    /// Lets the table grow down to `floor`.
    pub(crate) fn extend_to(&self, floor: usize) {
        debug_assert!(floor < self.floor.get());
        self.floor.set(floor);
    }

    /// Whether an entry of this number was made.
    #[inline]
    pub(crate) fn contains(&self, entry: u32) -> bool {
        entry < self.made.get()
    }

    /// Whether words can number another entry.
    pub(crate) fn can_number_another(&self) -> bool {
        !self.has_no_free() || self.made.get() < W::Word::NIL.get()
    }

    #[inline]
    fn offset(&self, entry: u32) -> usize {
        self.top - (entry as usize + 1) * W::ENTRY_BYTES
    }

    /// The word of an entry that was made.
    #[inline]
    pub(crate) fn word<'a>(&self, memory: &'a Memory<'_>, entry: u32) -> Slot<'a, W::Word> {
        debug_assert!(self.contains(entry));
        // SAFETY: the entry was made, so it lies between `floor` and `top`, initialised (A3) and
        // aligned (`top` and the entry size are multiples of the entry's alignment), in pages or
        // a rest that only this table uses.
        unsafe { memory.slot(self.offset(entry)) }
    }

    /// The address from which the words of named entries are counted. It never changes: the table
    /// grows away from it.
    #[inline]
    pub(crate) const fn origin(&self) -> Origin {
        self.origin
    }

    /// As `word`, of the entry that a name carries, in memory that was borrowed with the origin of
    /// this table.
    #[inline]
    pub(crate) fn named_word(memory: Borrowed<'_>, number: Number) -> Slot<'_, W::Word> {
        // SAFETY: the sum of both offsets is that of the entry, for which `word` has the reasons.
        unsafe { memory.slot_behind(number.get() as usize, W::ENTRY_BYTES) }
    }

    /// The generation of an entry that was made.
    #[inline]
    pub(crate) fn generation<'a>(
        &self,
        memory: &'a Memory<'_>,
        entry: u32,
    ) -> Slot<'a, W::Generation> {
        debug_assert!(self.contains(entry));
        let offset = self.offset(entry) + W::ENTRY_BYTES - W::Generation::BYTES;
        // SAFETY: as for `word`; the generation is at the end of the entry, aligned because the
        // entry's size is a multiple of the larger alignment.
        unsafe { memory.slot(offset) }
    }

    /// Takes the newest free entry; there must be one. The caller sets its word.
    #[inline]
    pub(crate) fn take<'a>(&self, memory: &'a Memory<'_>) -> (u32, Slot<'a, W::Word>) {
        debug_assert!(!self.has_no_free());
        let entry = self.free.get().get();
        let word = self.word(memory, entry);
        self.free.set(W::Count::new(word.get().get()));
        (entry, word)
    }

    /// Makes new entries, which are free, as many as there is room for, up to
    /// [`ENTRIES_AT_ONCE`]; the lowest comes first. No entry may be free.
    pub(crate) fn make(&self, memory: &Memory<'_>) {
        debug_assert!(self.has_no_free());
        // No entry is free, so all that were made are taken, outside or retired.
        let first = self.made.get();
        let room = self.spare(first - self.retired.get());
        let behind = first + room.min(ENTRIES_AT_ONCE);
        self.made.set(behind);
        for entry in (first..behind).rev() {
            if W::Generation::BYTES > 0 {
                self.generation(memory, entry).set(W::Generation::FIRST);
            }
            self.link(memory, entry);
        }
    }

    /// Frees an entry. An entry whose generations are exhausted retires.
    #[inline]
    pub(crate) fn give(&self, memory: &Memory<'_>, entry: u32) {
        if !self.renew(memory, entry) {
            self.retired.set(self.retired.get() + 1);
            return self.retire(memory, entry);
        }
        self.link(memory, entry);
    }

    /// Marks an entry as retired, which is counted.
    fn retire(&self, memory: &Memory<'_>, entry: u32) {
        self.generation(memory, entry).set(W::Generation::RETIRED);
        self.word(memory, entry).set(W::Word::NIL);
    }

    /// Frees, by `free`, an entry that no key names. Its generation stays: only keys end one.
    #[inline]
    pub(crate) fn keep_generation(&self, memory: &Memory<'_>, entry: u32, free: impl FnOnce()) {
        if W::Generation::BYTES == 0 {
            return free();
        }
        let generation = self.generation(memory, entry);
        let kept = generation.get();
        // The first one has a next, so the entry does not retire.
        generation.set(W::Generation::FIRST);
        free();
        generation.set(kept);
    }

    /// Takes the newest free entry to replace one that has its last generation. There must be one.
    /// It counts as retired until [`AddressTable::replace`] or [`AddressTable::put_back`].
    pub(crate) fn hold(&self, memory: &Memory<'_>) -> u32 {
        self.retired.set(self.retired.get() + 1);
        self.take(memory).0
    }

    /// Retires `entry`, whose block `held` names from now on.
    pub(crate) fn replace(&self, memory: &Memory<'_>, entry: u32, held: u32) {
        self.word(memory, held).set(self.word(memory, entry).get());
        self.retire(memory, entry);
    }

    /// Frees an entry that was held and replaces none.
    pub(crate) fn put_back(&self, memory: &Memory<'_>, held: u32) {
        self.retired.set(self.retired.get() - 1);
        self.link(memory, held);
    }

    /// Gives an entry its next generation, so that keys of its object are stale; returns false, and
    /// changes nothing, if there is none.
    #[inline]
    pub(crate) fn renew(&self, memory: &Memory<'_>, entry: u32) -> bool {
        if W::Generation::BYTES == 0 {
            return true;
        }
        let generation = self.generation(memory, entry);
        let next = generation.get().next();
        next.is_some_and(|next| {
            generation.set(next);
            true
        })
    }

    /// Frees an entry whose generation is that of its next object.
    #[inline]
    pub(crate) fn link(&self, memory: &Memory<'_>, entry: u32) {
        self.word(memory, entry)
            .set(W::Word::new(self.free.get().get()));
        self.free.set(W::Count::new(entry));
    }

    /// Frees, all at once, every entry whose bit is not set, including entries that were free
    /// before. From then on the lowest is taken first, and those after the last kept entry count as
    /// never made. No entry is retired. O(entries + words).
    pub(crate) fn retain(&self, memory: &Memory<'_>, kept: &[u64]) {
        debug_assert!(W::Generation::BYTES == 0);
        let last = kept.iter().rposition(|&bits| bits != 0);
        let words = &kept[..last.map_or(0, |last| last + 1)];
        let behind = words.last().map_or(0, |bits| bits.leading_zeros());
        #[expect(
            clippy::cast_possible_truncation,
            reason = "entries have numbers of 32 bits"
        )]
        let mut first = 64 * words.len() as u32;
        let made = first - behind;
        debug_assert!(made <= self.made.get(), "only bits of live entries are set");
        let mut free = W::Word::NIL;
        let mut unmade = !(u64::MAX >> behind);
        for bits in words.iter().rev() {
            first -= 64;
            let mut dead = !(bits | core::mem::take(&mut unmade));
            while dead != 0 {
                let bit = dead.ilog2();
                dead ^= 1 << bit;
                self.word(memory, first + bit).set(free);
                free = W::Word::new(first + bit);
            }
        }
        self.free.set(W::Count::new(free.get()));
        self.made.set(made);
    }

    /// Gives up the pages that the table does not need, up to `highest`, the floor of an empty
    /// table.
    pub(crate) fn give_pages(&self, page_bytes: usize, highest: usize) {
        let lowest_entry = self.top - self.made.get() as usize * W::ENTRY_BYTES;
        let spare = (lowest_entry - self.floor.get()) / page_bytes * page_bytes;
        self.floor.set(highest.min(self.floor.get() + spare));
    }

    /// Offset of the lowest byte that the table may use.
    pub(crate) fn floor(&self) -> usize {
        self.floor.get()
    }

    /// Offset of the first byte after the table.
    pub(crate) fn top(&self) -> usize {
        self.top
    }
}
