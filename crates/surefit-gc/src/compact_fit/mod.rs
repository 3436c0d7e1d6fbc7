//! The space over a Compact-fit heap: objects move, references do not, and fragmentation never
//! triggers a collection.
//!
//! ```text
//! a reference: 2 · (entry + 1)
//! entry → | word 0 | word 1 | … |          a page-block: an object of up to a piece
//! entry → | words | entry of the spine |   a stub: a longer object
//!                     └→ | entry of piece 0 | entry of piece 1 | … |
//! ```
//! A slot holds the number of an entry of the heap's address table, and the entry says where the
//! object is. So moving an object is one copy and one store, however many references it has. When a
//! request finds no page, [`Space::relieve`] moves page-blocks until it does; if no moves can help,
//! it moves nothing. Only then is there a collection.
//!
//! An object longer than a piece is in pieces, behind a stub. The smallest size-class serves no
//! objects, so the class of a page-block shows that it is a stub. Pieces and spines have entries,
//! but are not objects: one bit per entry distinguishes them.
//!
//! # Invariants
//! - C1: Except during a sweep, an entry has a bit iff it is the entry of a spine or a piece of
//!   exactly one live stub. Of an object that is being freed in parts, only those that are left.
//! - C2: A live page-block of the smallest class whose entry has no bit is the stub of an object
//!   longer than a piece.
//! - C3: Every word of an object was written.
//! - The invariants of the heap.
//!
//! # Bounds
//! An access reads the object's entry, the class of its page, and the word; for an object in
//! pieces, two entries and a word of the spine as well. A sweep is
//! [`EntryHeap::retain`](surefit_compact::EntryHeap::retain). Each object costs an entry and a
//! back-reference, eight bytes. Bits cost 1/38 of the region.
//!
//! # Why there is no slack
//! Under [`Bound::Unbounded`] a sweep moves nothing; a request that finds no page moves what it
//! needs. No slack of a heap ([`slack_bytes`](surefit_compact::certify::slack_bytes)) could spare a
//! sweep more. On nine recorded Java programs, in 1.5 to 3 times their live bytes, the default
//! bound moves 2 to 16 page-blocks for 100 freed objects, and copies 2 to 9 % of the bytes that the
//! program allocates; without a bound it is 0 to 9, and 0 to 3 %. Marking takes most of the time of
//! a collection either way. A certificate counts the most moves of a free: one if ε is 0, as with
//! slack.
//!
//! # Drawbacks
//! Every size-class in use may have a nearly empty page: use small pages in small heaps. A new
//! object is cleared up to the end of its page-block, even if its owner writes all of it at once.
//!
//! # Source
//! The collector over Compact-fit is ours. Objects in pieces: Bacon, Cheng, Rajan (2003),
//! arraylets.

mod build;
mod certify;
mod cost;
mod division;
mod in_pieces;
mod in_steps;
pub(crate) mod nursery;
mod pieces;
mod stub;
#[cfg(test)]
mod tests;

use core::ptr::NonNull;

use surefit_compact::{Bound, Config, EntryHeap, Geometry, GeometrySpec, SizeClass, Stats, Wide};
use surefit_core::{Corruption, Refused, Usage};
use surefit_freelist::Swept;

use crate::marks::Marks;
use crate::object::Object;
use crate::space::{Place, Space};
use pieces::Pieces;
use stub::{Dying, STUB, WORD, entry, object, read_stub};

/// What moves did for the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relief {
    /// Requests that were served because page-blocks moved, before or after a collection.
    pub requests: u64,
    /// Collections that fragmentation caused: moving page-blocks would have served the refused
    /// request.
    pub fragmented_collections: u64,
    /// Bytes of free page-blocks and free pages before the last collection, whatever its cause.
    pub free_bytes_before: usize,
}

/// The space of a Compact-fit heap.
///
/// The configuration says how much it moves: every sweep keeps a bound in holes or in pages. With
/// [`Bound::Unbounded`], page-blocks move only when a page is missing.
#[derive(Debug)]
pub struct CompactFit<'m> {
    heap: EntryHeap<'m, Wide>,
    /// C1.
    pieces: Pieces<'m>,
    /// The class of stubs.
    stubs: SizeClass,
    /// The smallest request that another class serves, in bytes.
    least: usize,
    /// The largest request that an empty heap serves, in bytes.
    most: usize,
    /// The last request that was refused since a request was served or a collection ended; 0 if
    /// none.
    refused: usize,
    relief: Relief,
    /// The object that is being freed in parts.
    dying: Option<Dying>,
}

impl CompactFit<'_> {
    /// The partitioning for objects of 16 bytes and more, in pages of 16 KiB. A class of 8 bytes
    /// below serves the stubs.
    pub const GEOMETRY: GeometrySpec<'static> = GeometrySpec {
        smallest: STUB,
        ..GeometrySpec::DEFAULT
    };

    /// The default: that partitioning, and at most 4 + h/16 holes in a class with h live
    /// page-blocks.
    pub const CONFIG: Config = match Geometry::new(&Self::GEOMETRY) {
        Ok(geometry) => match Config::new(geometry, Bound::DEFAULT) {
            Ok(config) => config,
            Err(_) => panic!("the bound is valid"),
        },
        Err(error) => panic!("{}", error.message()),
    };

    /// The configuration of the heap.
    #[must_use]
    pub fn config(&self) -> &Config {
        self.heap.config()
    }

    /// What the heap did, and its pages. The heap itself is not accessible: whoever has it could
    /// allocate from it.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.heap.stats()
    }

    /// Live page-blocks and pages of a size-class.
    #[must_use]
    pub fn class_usage(&self, class: SizeClass) -> (u32, u32) {
        self.heap.details().class_usage(class)
    }

    /// Whether a request of `bytes` bytes could be served if all live objects lay together.
    /// O(classes).
    #[must_use]
    pub fn would_fit(&self, bytes: usize) -> bool {
        let bytes = bytes.max(self.least);
        self.heap.would_fit(lens(&self.heap, &[bytes, STUB]))
    }

    /// What moves did for the program.
    #[must_use]
    pub const fn relief(&self) -> Relief {
        self.relief
    }

    /// Remembers a refused request for `relieve`.
    #[cold]
    fn refuse(&mut self, bytes: usize, refused: Refused) -> Refused {
        if bytes > self.most {
            return Refused::TooLarge { limit: self.most };
        }
        self.refused = bytes;
        refused
    }

    /// Moves page-blocks if this serves the refused request.
    fn move_for_refused(&mut self) -> bool {
        let helps = self.refused != 0
            && self
                .heap
                .make_room(lens(&self.heap, &[self.refused, STUB]))
                .is_ok();
        self.relief.requests += u64::from(helps);
        helps
    }

    /// Counts free bytes before a sweep, and whether moves would have served the request that
    /// waits.
    fn count_collection(&mut self) {
        let waits = self.refused != 0 && self.would_fit(self.refused);
        self.relief.fragmented_collections += u64::from(waits);
        self.relief.free_bytes_before = free_bytes(&self.heap.usage());
        self.refused = 0;
    }

    /// The place of an object that has a page-block.
    ///
    /// # Safety
    /// S1: the page-block is that of a live object, and of this class.
    #[inline]
    unsafe fn place_in(&self, block: NonNull<u8>, class: SizeClass) -> Place {
        if class == self.stubs {
            // SAFETY: S1, C2: an object's page-block of the smallest class is a stub.
            return Place::in_pieces(unsafe { read_stub(block) }.0);
        }
        let bytes = self.heap.config().geometry().layout(class).block_bytes;
        Place::whole(block.cast(), bytes / WORD as u32)
    }

    /// What a sweep found and left.
    fn swept(&self, objects_before: u32, visited: u64) -> Swept {
        let (usage, objects) = (self.heap.usage(), self.object_count());
        Swept {
            live_objects: u64::from(objects),
            live_bytes: usage.block_bytes,
            freed_objects: u64::from(objects_before - objects),
            free_chunks: free_blocks(&self.heap),
            free_bytes: free_bytes(&usage),
            largest_free_bytes: self.heap.details().largest_free_bytes(),
            visited,
        }
    }

    /// Live objects: live page-blocks except those of pieces and spines.
    fn object_count(&self) -> u32 {
        let dying = u32::from(self.dying.is_some());
        self.heap.stats().live_blocks - self.pieces.count() - dying
    }
}

/// The lengths that a request needs: with a stub if it is in pieces.
fn lens<'a>(heap: &EntryHeap<'_, Wide>, with_stub: &'a [usize; 2]) -> &'a [usize] {
    &with_stub[..1 + usize::from(heap.is_split(with_stub[0]))]
}

/// Free bytes, in page-blocks and in pages.
const fn free_bytes(usage: &Usage) -> usize {
    usage.size_class_bytes + usage.free_page_bytes
}

/// Free page-blocks, and free pages.
fn free_blocks(heap: &EntryHeap<'_, Wide>) -> u64 {
    let geometry = heap.config().geometry();
    let in_pages = geometry.classes().map(|class| {
        let (live, pages) = heap.details().class_usage(class);
        u64::from(pages) * u64::from(geometry.layout(class).blocks) - u64::from(live)
    });
    let stats = heap.stats();
    in_pages.sum::<u64>() + u64::from(stats.freed_pages) + u64::from(stats.fresh_pages)
}

// SAFETY: I1: entries are less than `most_entries` (the proof is with `piece_words`), so numbers
// less than `places`; those of two entries differ by two. I2: an entry is its object's until
// `retain` refuses it; `sweep` keeps what the marks contain and, by C1, its pieces; page-blocks of
// live entries do not overlap (O2), are aligned to 8, and move only when the heap is exclusively
// borrowed (O3); C3 says the rest. I3: the bits are set once; a page-block's class, and the words
// in a stub, stay while its entry lives; `objects` yields all live entries without a bit, which are
// objects (C1).
unsafe impl Space for CompactFit<'_> {
    fn places(&self) -> u32 {
        2 * self.pieces.room()
    }

    #[inline]
    fn allocate(&mut self, bytes: usize) -> Result<Object, Refused> {
        // This comes first: the second class may be larger than a piece.
        let bytes = bytes.max(self.least);
        let served = match self.heap.is_split(bytes) {
            false => self.heap.allocate_entry(bytes),
            true => self.allocate_in_pieces(bytes),
        };
        match served {
            Ok(entry) => {
                self.refused = 0;
                Ok(object(entry))
            }
            Err(refused) => Err(self.refuse(bytes, refused)),
        }
    }

    fn relieve(&mut self) -> bool {
        self.move_for_refused()
    }

    /// Moves once more: what died in the collection left holes.
    fn merge(&mut self) -> bool {
        self.move_for_refused()
    }

    #[inline]
    unsafe fn place(&self, object: Object) -> Place {
        // SAFETY: S1 is the caller's.
        let (block, class) = unsafe { self.heap.entry_block(entry(object)) };
        // SAFETY: S1: `entry_block` returned both just now, for a live object.
        unsafe { self.place_in(block, class) }
    }

    unsafe fn word_in_pieces(&self, object: Object, word: u32) -> NonNull<u32> {
        // SAFETY: S1 is the caller's.
        let (stub, _) = unsafe { self.heap.entry_block(entry(object)) };
        // SAFETY: S1: only stubs are in pieces; S2 is the caller's.
        unsafe { self.word_behind_stub(stub, word) }
    }

    unsafe fn sweep(&mut self, marks: &Marks<'_>) -> Swept {
        self.count_collection();
        let objects = self.object_count();
        self.forget_dead_pieces(marks);
        self.pieces.add_objects(marks);
        // SAFETY: S1 and S3 are the caller's: the marks contain live objects alone; S2: the other
        // bits are of all pieces of kept ones (C1).
        let visited = unsafe { self.heap.retain(self.pieces.words()) };
        self.pieces.remove_objects(marks);
        self.swept(objects, visited)
    }

    fn objects(&self) -> impl Iterator<Item = Object> {
        let entries = self.heap.live_blocks().map(|block| block.index);
        let dying = self.dying.map(|dying| dying.stub);
        let of_objects =
            entries.filter(move |&entry| !self.pieces.contains(entry) && dying != Some(entry));
        of_objects.map(object)
    }

    fn usage(&self) -> Usage {
        self.heap.usage()
    }

    /// Verifies the heap, C1 and C2.
    fn check(&self) -> Result<(), Corruption> {
        self.heap.check()?;
        self.check_pieces()
    }
}
