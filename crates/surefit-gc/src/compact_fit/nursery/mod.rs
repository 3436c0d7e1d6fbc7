//! The space of a Compact-fit heap with a nursery: objects are born one behind the other, and those
//! that survive a collection move into the heap. Their numbers stay, so no reference changes.
//!
//! ```text
//! entry → | words | entry |  words of the object …       in the nursery: the entry is outside
//! entry → | words of the object …                        in the heap: a page-block
//!
//! allocate(n):   the page-block has more than a sixteenth of the nursery, or a piece: in the heap
//!                there is room behind the others: there, with an outside entry
//!                nothing stayed when the nursery was emptied: a refusal, and so a collection
//!                else in the heap
//! collection:    free what is dead in the heap, if all of it is swept; empty the nursery (`promote`)
//! ```
//! A birth compares, takes an entry from a list, and clears the words. What dies in the nursery
//! costs its entry and a look at its header; its words are not touched, and the heap does not know
//! of it. Under a [`Generational`](crate::Generational) collector, whose marks tell young from old,
//! a minor collection promotes what it marks. Under a [`Collector`](crate::Collector) every
//! collection is a full one, also if only the nursery is full: it is for programs whose objects
//! nearly all die together.
//!
//! # Invariants
//! - N1: The entry in the header of an object of the nursery is outside, and its place is that of
//!   the header. No other entry is outside. (Of an object that was freed by itself, the header has
//!   none until the nursery is emptied.)
//! - N2: The words of an object of the nursery are as many as the page-block has that will take it
//!   in, and this is not of the stubs' class, nor is such an object in pieces. So a promotion
//!   cannot panic.
//! - E1, E2: those of the nursery's memory. C1 to C3, and the invariants of the heap.
//!
//! # Bounds
//! A birth is O(1) and clears the object. Emptying the nursery reads one header for each object in
//! it, and copies the words of those that live. Only when the heap lacks a page are page-blocks
//! moved, as in [`Space::relieve`]. What stays is moved within the nursery at every collection
//! until the heap has room: in a heap that is nearly full a collection for a few births may move a
//! whole nursery. An access looks at the entry's highest bit; to an object in the nursery it then
//! reads a header instead of a page's class. In the nursery an object takes a header more, and its
//! entry is one of the heap's table. [`Promotions`] counts this work; a [`Round`](crate::Round)
//! does not.
//!
//! # Departures
//! Ungar's scavenging keeps room free for what survives, and ages objects in it. Here one
//! collection promotes an object; what finds no room slides down in the nursery, and is tried again
//! by the next collection. So no room is kept free, and a heap that is full still allocates in what
//! is left.
//!
//! # Drawbacks
//! - Emptying the nursery is one piece of work: this space is not for a collector in steps.
//! - What dies young still gives its entry back, one at a time. A minor collection that frees so
//!   reads the bits of all entries that were made.
//! - A nursery that is full of what stayed is memory like any other, but moved at every collection.
//!
//! # Source
//! Ungar, Generation scavenging: a non-disruptive high performance storage reclamation algorithm
//! (1984). Numbers instead of references that are rewritten: ours, with the address table of
//! Craciunas et al. (2008).

mod build;
mod check;
mod eden;
mod promote;
mod promotions;
#[cfg(test)]
mod tests;

use core::ops::Range;
use core::ptr::NonNull;

use surefit_compact::{EntryPlace, SizeClass};
use surefit_core::{Corruption, Refused, Usage};
use surefit_freelist::Swept;

use super::stub::{WORD, entry, object};
use super::{CompactFit, free_blocks, free_bytes};
use crate::marks::Marks;
use crate::object::Object;
use crate::space::{Place, Space};
use crate::stepwise::{Freed, OneByOne};
use eden::{Eden, UNIT};

pub use promotions::Promotions;

/// The space of a Compact-fit heap with a nursery.
///
/// # Examples
/// ```
/// use core::mem::MaybeUninit;
/// use surefit_gc::{Client, Collector, CompactFit, Edges, Generational, Object, Scanned, Space};
/// # #[derive(Default)]
/// # struct Pairs { stack: Vec<Object> }
/// # impl<S: Space> Client<S> for Pairs {
/// #     fn roots(&mut self, edges: &mut Edges<'_>) {
/// #         self.stack.iter().for_each(|&object| edges.report(object));
/// #     }
/// #     fn scan(&mut self, pair: &Scanned<'_, S>, _from: u32, edges: &mut Edges<'_>) {
/// #         [0, 1].iter().filter_map(|&word| pair.reference(word)).for_each(|o| edges.report(o));
/// #     }
/// # }
/// let region = Box::leak(vec![MaybeUninit::uninit(); 1 << 20].into_boxed_slice());
/// // The client is that of the example of `Client`. The nursery has 64 KiB.
/// let mut pairs = Pairs::default();
/// let gc = Collector::nursery(region, &CompactFit::CONFIG, 64 << 10, 1024)?;
/// let mut gc = Generational::over(gc);
/// for nth in 0..100_000 {
///     let pair = gc.alloc(&mut pairs, 8)?;
///     if nth % 100 == 0 {
///         gc.store(pair, 0, pairs.stack.pop());
///         pairs.stack.push(pair);
///     }
/// }
/// // A hundredth survived and was copied once.
/// let promotions = gc.space().promotions();
/// assert!(promotions.rounds > 20 && promotions.objects <= 1000 && promotions.stayed == 0);
/// # Ok::<(), surefit_core::Refused>(())
/// ```
#[derive(Debug)]
pub struct Nursery<'m> {
    old: CompactFit<'m>,
    eden: Eden<'m>,
    /// The largest request that the nursery serves, in bytes.
    largest: usize,
    /// Whether something stayed in the nursery when it was emptied.
    crowded: bool,
    promotions: Promotions,
}

impl<'m> Nursery<'m> {
    /// The heap behind the nursery. Its statistics do not include what is in the nursery.
    #[must_use]
    pub const fn heap(&self) -> &CompactFit<'m> {
        &self.old
    }

    /// Bytes of the nursery.
    #[must_use]
    pub const fn nursery_bytes(&self) -> usize {
        self.eden.units() as usize * UNIT
    }

    /// Objects in the nursery, dead ones among them, and the bytes that they take with their
    /// headers.
    #[must_use]
    pub const fn in_nursery(&self) -> (u64, u64) {
        let bytes = self.eden.top() as u64 * UNIT as u64;
        (self.eden.objects() as u64, bytes)
    }

    /// What the nursery gave to the heap since it was made.
    #[must_use]
    pub const fn promotions(&self) -> Promotions {
        self.promotions
    }

    /// Objects in the heap and in the nursery, in which no freed one is left when a sweep begins.
    fn object_count(&self) -> u64 {
        u64::from(self.old.object_count()) + u64::from(self.eden.objects())
    }

    /// The size-class that takes in an object of so many bytes.
    fn class_of(&self, bytes: usize) -> Option<SizeClass> {
        self.old.config().geometry().class_for(bytes, UNIT)
    }

    /// The words of an object of so many bytes, if the nursery serves such requests.
    #[inline]
    fn words_of(&self, bytes: usize) -> Option<u32> {
        let bytes = bytes.max(self.old.least);
        let class = self.class_of(bytes).filter(|_| bytes <= self.largest)?;
        let layout = self.old.config().geometry().layout(class);
        Some(layout.block_bytes / WORD as u32)
    }

    /// A birth in the nursery, if there is room, and an entry.
    #[inline]
    fn allocate_young(&mut self, bytes: usize) -> Option<Object> {
        let words = self.words_of(bytes)?;
        if !self.eden.has_room(words) {
            return None;
        }
        let entry = self.old.heap.add_outside_entry(self.eden.top()).ok()?;
        self.eden.push(entry, words);
        self.old.refused = 0;
        Some(object(entry))
    }

    /// What the nursery does not serve.
    #[cold]
    fn allocate_in_heap(&mut self, bytes: usize) -> Result<Object, Refused> {
        let words = self.words_of(bytes);
        let is_full = words.is_some_and(|words| !self.eden.has_room(words));
        if is_full && !self.crowded {
            // No request of the heap's own waits for moves.
            self.old.refused = 0;
            return Err(Refused::NoPage);
        }
        self.old.allocate(bytes)
    }
}

// SAFETY: I1: numbers are less than `places`, which counts the entries of the heap and as many as
// the nursery has objects (the proof is with `tables`), and those of two objects differ by two. I2:
// an entry is its object's until the heap's sweep refuses it; the heap keeps what the marks
// contain, in page-blocks or outside, and `promote` those of them in the nursery (N1). Words in the
// nursery are their object's alone (E1), set to zero at its birth, aligned to eight, and move only
// when the space is exclusively borrowed. I3: N2; `objects` yields what the heap has and the
// outside entries, which are those of the nursery (N1).
unsafe impl Space for Nursery<'_> {
    fn places(&self) -> u32 {
        self.old.places()
    }

    /// Those of entries that were never made, or not since a sweep unmade them: none of these is
    /// marked.
    fn unused(&self) -> Range<u32> {
        2 * (self.old.heap.entries_made() + 1)..self.places()
    }

    #[inline]
    fn allocate(&mut self, bytes: usize) -> Result<Object, Refused> {
        match self.allocate_young(bytes) {
            Some(object) => Ok(object),
            None => self.allocate_in_heap(bytes),
        }
    }

    fn relieve(&mut self) -> bool {
        self.old.relieve()
    }

    fn merge(&mut self) -> bool {
        self.old.merge()
    }

    #[inline]
    unsafe fn place(&self, object: Object) -> Place {
        // SAFETY: S1 is the caller's: the entry is live, or outside (N1); the heap is small enough
        // for such entries.
        match unsafe { self.old.heap.entry_place(entry(object)) } {
            EntryPlace::Outside(place) => {
                Place::whole(self.eden.first(place), self.eden.header(place).words)
            }
            // SAFETY: S1 is the caller's, and the page-block that of the entry.
            EntryPlace::Block(block, class) => unsafe { self.old.place_in(block, class) },
        }
    }

    unsafe fn word_in_pieces(&self, object: Object, word: u32) -> NonNull<u32> {
        // SAFETY: S1, S2 are the caller's: only objects of the heap are in pieces.
        unsafe { self.old.word_in_pieces(object, word) }
    }

    unsafe fn sweep(&mut self, marks: &Marks<'_>) -> Swept {
        let (before, headers) = (self.object_count(), self.eden.objects());
        // SAFETY: S1 is the caller's. S2: the marks contain live objects of the heap, and such of
        // the nursery, whose entries are outside (N1): the heap's sweep may be told of both.
        let swept = unsafe { self.old.sweep(marks) };
        self.promote(|entry| marks.contains(object(entry)));
        let (usage, objects) = (self.usage(), self.object_count());
        Swept {
            live_objects: objects,
            live_bytes: usage.block_bytes,
            freed_objects: before - objects,
            free_chunks: free_blocks(&self.old.heap)
                + u64::from(self.eden.top() < self.eden.units()),
            free_bytes: free_bytes(&usage),
            largest_free_bytes: self.old.heap.details().largest_free_bytes(),
            visited: swept.visited + u64::from(headers),
        }
    }

    fn objects(&self) -> impl Iterator<Item = Object> {
        let mut placed = self.old.objects().peekable();
        let mut outside = self.old.heap.outside_entries().map(object).peekable();
        core::iter::from_fn(move || match (placed.peek(), outside.peek()) {
            (Some(placed), Some(young)) if young < placed => outside.next(),
            (Some(_), _) => placed.next(),
            (None, _) => outside.next(),
        })
    }

    /// Those of the heap; headers are administrative, and what is free in the nursery is a free
    /// page.
    fn usage(&self) -> Usage {
        let mut usage = self.old.usage();
        let headers = self.eden.objects() as usize * UNIT;
        let taken = self.eden.top() as usize * UNIT;
        usage.administrative_bytes += headers;
        usage.block_bytes += taken - headers;
        usage.free_page_bytes += self.nursery_bytes() - taken;
        usage
    }

    /// Verifies the heap, C1, C2, N1, N2, E1 and E2.
    fn check(&self) -> Result<(), Corruption> {
        self.old.check()?;
        self.check_nursery()
    }
}

// SAFETY: I4: a freed object of the nursery has its entry no more; its header has none, so that
// nothing is promoted for whoever gets the number next. Of others, the heap's.
unsafe impl OneByOne for Nursery<'_> {
    unsafe fn free(&mut self, object: Object) -> Freed {
        // SAFETY: S1 is the caller's: it lives, or a part of it is left; then its entry is that of
        // its stub, which is freed last.
        let place = unsafe { self.old.heap.entry_place(entry(object)) };
        let EntryPlace::Outside(place) = place else {
            // SAFETY: S1 to S3 are the caller's.
            return unsafe { self.old.free(object) };
        };
        self.eden.mark_dead(place);
        self.old.heap.give_entry_back(entry(object));
        Freed {
            work: 1,
            done: true,
        }
    }

    fn sweep_begins(&mut self) {
        self.old.sweep_begins();
    }

    /// Empties the nursery.
    fn cycle_ended(&mut self, _objects: u64, _bytes: u64) {
        self.promote(|_| true);
    }
}
