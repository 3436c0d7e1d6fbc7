//! The interface of an allocator to a replay.
//!
//! Every pass that is timed or counted is compiled once for each allocator, so no call in a
//! measured loop goes through a function table. The others go through one
//! ([`Any`](crate::any::Any)).

use std::alloc::Layout;
use std::mem::MaybeUninit;

use surefit_core::{Corruption, Refused, Usage};

use crate::pointer_heap::PointerHeap;
use crate::steps::{InParts, Steps};

/// What a moving heap moved so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moves {
    /// Page-blocks moved.
    pub total: u64,
    /// Bytes copied by these moves.
    pub bytes_total: u64,
    /// The most bytes that one call copied; `None` if the heap does not count per call.
    pub bytes_max_per_op: Option<u64>,
    /// The most bytes copied during one holding of a lock; `None` for a heap without locks.
    pub bytes_max_per_section: Option<u64>,
}

/// An allocator under measurement.
///
/// # Safety
/// S1: the layouts given with an object are those it was allocated or last resized with. S2: an
/// object is given only to the subject it came from. The caller of the unsafe functions has these
/// duties. An implementation gives each live object its own memory, with the requested length and
/// alignment.
pub trait Subject {
    /// The name of a live object: a pointer or a handle. It has at most 32 bytes and no drop, or
    /// the passes through [`Any`](crate::any::Any) do not compile.
    type Object;

    /// Allocates an object; if `zeroed`, its bytes are zero.
    ///
    /// # Errors
    /// The heap has no room, or the allocator does not serve this layout.
    fn allocate(&mut self, layout: Layout, zeroed: bool) -> Result<Self::Object, Refused>;

    /// Frees an object.
    ///
    /// # Safety
    /// S1 and S2.
    unsafe fn free(&mut self, object: Self::Object, layout: Layout);

    /// Changes an object's size and keeps the bytes common to both.
    ///
    /// # Errors
    /// The heap has no room; the object is unchanged.
    ///
    /// # Safety
    /// S1 and S2.
    unsafe fn resize(
        &mut self,
        object: &mut Self::Object,
        layout: Layout,
        new_size: usize,
    ) -> Result<(), Refused>;

    /// The object's bytes from `offset` up to the end of the piece of memory that holds that byte.
    ///
    /// # Safety
    /// S1 and S2.
    unsafe fn chunk<'a>(
        &'a mut self,
        object: &'a mut Self::Object,
        layout: Layout,
        offset: usize,
    ) -> &'a mut [MaybeUninit<u8>];

    /// Writes the object's first word, or its first byte if it is smaller than a word.
    ///
    /// # Safety
    /// S1 and S2.
    #[inline]
    unsafe fn write_word(&mut self, object: &mut Self::Object, layout: Layout, word: u64) {
        // SAFETY: S1 and S2 are the caller's.
        let chunk = unsafe { self.chunk(object, layout, 0) };
        if let Some(first) = chunk.first_chunk_mut::<8>() {
            // SAFETY: these are eight bytes of the object; the word need not be aligned.
            unsafe { first.as_mut_ptr().cast::<u64>().write_unaligned(word) };
        } else if let Some(first) = chunk.first_mut() {
            first.write(0);
        }
    }

    /// Increments the object's first word, which was written before.
    ///
    /// # Safety
    /// S1 and S2; the word was written before.
    #[inline]
    unsafe fn access_word(&mut self, object: &mut Self::Object, layout: Layout) {
        // SAFETY: S1 and S2 are the caller's.
        let chunk = unsafe { self.chunk(object, layout, 0) };
        // SAFETY: the caller wrote the word before.
        unsafe { increment(chunk) };
    }

    /// Increments the first words of objects, one after the other: `turns` times [`PER_TURN`]. A
    /// heap that has views makes one for all of them.
    ///
    /// # Safety
    /// S1 and S2 for all objects that are chosen; their words were written before.
    #[inline(always)]
    unsafe fn access_words(&mut self, turns: u64, chosen: &mut impl Chosen<Self::Object>) {
        in_turns!(turns, {
            let (object, layout) = chosen.next();
            // SAFETY: S1 and S2 are the caller's, who wrote the word before.
            unsafe { self.access_word(object, layout) };
        });
    }

    /// Whether every object is one piece of memory that keeps its address for its whole life.
    fn is_contiguous(&self) -> bool {
        true
    }

    /// What every byte of the region is used for; `None` if the allocator does not report it.
    fn usage(&self) -> Option<Usage> {
        None
    }

    /// Verifies the allocator's invariants, if it can.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    fn check(&self) -> Result<(), Corruption> {
        Ok(())
    }

    /// What the pages of each size-class hold; `None` if the allocator does not report it.
    fn classes(&self) -> Option<Classes> {
        None
    }

    /// The allocator as one that hands out raw pointers; `None` if it does not.
    fn pointers(&mut self) -> Option<&mut dyn PointerHeap> {
        None
    }

    /// What was moved so far; `None` if the allocator never moves objects.
    fn moves(&self) -> Option<Moves> {
        None
    }

    /// Objects larger than this many bytes are in pieces; `None` if none are.
    fn piece_bytes(&self) -> Option<usize> {
        None
    }

    /// The strictest alignment that an object gets, in bytes, even if a request is stricter.
    fn most_align(&self) -> usize {
        usize::MAX
    }
}

/// The objects of accesses that follow one another.
pub trait Chosen<O> {
    /// The next object, and its layout.
    fn next(&mut self) -> (&mut O, Layout);
}

/// Accesses of a turn: as many as `in_turns` writes out.
pub const PER_TURN: u64 = 8;

/// Makes turns of [`PER_TURN`] accesses.
///
/// A turn is written out: the compiler unrolls a loop where an access is short, as through
/// pointers, and the end of a loop of eight turns is mispredicted once per event.
macro_rules! in_turns {
    ($turns:expr, $access:block) => {
        for _ in 0..$turns {
            $access
            $access
            $access
            $access
            $access
            $access
            $access
            $access
        }
    };
}
pub(crate) use in_turns;

/// Increments the first word of a byte object of a view, as [`increment`] does.
macro_rules! increment_object {
    ($view:expr, $bytes:expr) => {
        match $view.bytes_mut($bytes) {
            Some(bytes) => $crate::subject::increment(bytes),
            None => $crate::subject::increment($view.chunk_mut($bytes, 0)),
        }
    };
}
pub(crate) use increment_object;

/// Increments the word with which a chunk begins, or its first byte if it is smaller than a word.
///
/// # Safety
/// That word or byte was written before.
#[inline(always)]
pub(crate) unsafe fn increment(chunk: &mut [MaybeUninit<u8>]) {
    if let Some(first) = chunk.first_chunk_mut::<8>() {
        let place = first.as_mut_ptr().cast::<u64>();
        // SAFETY: the caller wrote these eight bytes before; the word need not be aligned.
        let word = unsafe { place.read_unaligned() };
        // SAFETY: as above.
        unsafe { place.write_unaligned(word.wrapping_add(1)) };
    } else if let Some(first) = chunk.first_mut() {
        // SAFETY: the caller wrote this byte before.
        let byte = unsafe { first.assume_init() };
        first.write(byte.wrapping_add(1));
    }
}

/// The size-classes of a heap, and what their pages hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// Bytes of a page.
    pub page_bytes: usize,
    /// One element for each size-class, from the smallest.
    pub classes: Vec<ClassUse>,
}

/// The pages of a size-class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassUse {
    /// Bytes of a page-block.
    pub block_bytes: u64,
    /// Page-blocks of a page.
    pub blocks: u64,
    /// Pages of the class.
    pub pages: u64,
    /// Those in which a page-block is free.
    pub not_full_pages: u64,
    /// Live page-blocks.
    pub live_blocks: u64,
}

/// What is proven about a demand before the replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Certified {
    /// A region of this many bytes serves the demand in any order.
    pub heap_bytes: u64,
    /// The most bytes that the free of one page-block copies.
    pub moved_bytes_max_per_op: u64,
    /// The most bytes of page-blocks live at once.
    pub demand_bytes: u64,
    /// The most page-blocks live at once.
    pub demand_objects: u64,
    /// The part of the heap's bytes that the address table takes.
    pub table_bytes: u64,
    /// The part of the heap's bytes that back-references cause, at most.
    pub back_reference_bytes: u64,
}

/// The cost of handles, and which objects are in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandleCost {
    /// Administrative bytes per object: its entry and its back-reference.
    pub bytes_per_object: usize,
    /// Objects larger than this many bytes are in pieces; `None` if none are.
    pub piece_bytes: Option<usize>,
    /// What it costs in regions that are short for a demand; `None` if it is the same there.
    pub in_short_regions: Option<ShortCost>,
}

/// The cost of handles in short regions: the bytes of an object in those that words of four bytes
/// do not certify, pieces in the shortest ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortCost {
    /// Administrative bytes per object.
    pub bytes_per_object: usize,
    /// Objects larger than this many bytes are in pieces; `None` if none are.
    pub piece_bytes: Option<usize>,
}

/// A pass: what is done with an allocator after it is built. It is compiled for each allocator by
/// [`Kind::run`](crate::registry::Kind::run), and once by
/// [`Kind::run_untimed`](crate::registry::Kind::run_untimed).
pub trait Pass {
    /// The result of the pass.
    type Output;

    /// Runs the pass.
    fn run<S: Subject>(self, subject: S) -> Self::Output;
}

/// An allocator that can be built over a region.
pub trait Allocator {
    /// The values of its keys.
    type Options: Clone + std::fmt::Debug;

    /// The keys it knows, as `key=values`.
    const KEYS: &'static [&'static str] = &[];

    /// Whether it hands out raw pointers, in every configuration.
    const HAS_POINTERS: bool = true;

    /// Whether its objects live in the region that it gets; those of the platform's malloc do not.
    const IN_REGION: bool = true;

    /// Reads the keys.
    ///
    /// # Errors
    /// A key has a wrong value; the error lists the right ones.
    fn options(keys: &crate::keys::Keys) -> anyhow::Result<Self::Options>;

    /// Builds the allocator over a region and runs a pass with it.
    ///
    /// # Errors
    /// The region is too small for the allocator's own tables, or too large for it.
    fn run<P: Pass>(
        options: &Self::Options,
        memory: &mut [MaybeUninit<u8>],
        pass: P,
    ) -> Result<P::Output, Refused>;

    /// The largest region that it can use, in bytes; it uses only a part of a larger one.
    fn most_bytes(_options: &Self::Options) -> usize {
        usize::MAX
    }

    /// The same allocator, told the demand of a trace, of which it may make use.
    fn told(options: &Self::Options, _trace: &mut dyn InParts) -> Self::Options {
        options.clone()
    }

    /// Refuses a trace whose replay would take hours.
    ///
    /// # Errors
    /// One line that says what would take so long, and what to leave out.
    fn bearable(_options: &Self::Options, _steps: &Steps) -> anyhow::Result<()> {
        Ok(())
    }

    /// The cost of its handles; `None` if it hands out raw pointers.
    fn handles(_options: &Self::Options) -> Option<HandleCost> {
        None
    }

    /// What is proven about every program with this trace's demand; `None` if nothing is.
    fn certified(_options: &Self::Options, _steps: &Steps) -> Option<Certified> {
        None
    }
}

/// Subtracts the bytes of an allocator's control structure from the region, so that a heap of N
/// bytes costs N bytes in total.
///
/// # Errors
/// [`Refused::Region`] if no byte is left.
pub fn less_control<C>(memory: &mut [MaybeUninit<u8>]) -> Result<&mut [MaybeUninit<u8>], Refused> {
    let control = size_of::<C>().next_multiple_of(8);
    let rest = memory.len().checked_sub(control).filter(|rest| *rest > 0);
    let rest = rest.ok_or(Refused::Region {
        needed: control + 1,
    })?;
    Ok(&mut memory[..rest])
}
