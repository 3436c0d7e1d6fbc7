//! One collection, and what all collections did.

use core::mem::MaybeUninit;

use surefit_core::{Corruption, RawHeap, Refused, Usage};
use surefit_freelist::{Heap, Index, Swept, When};

use super::allocator::Allocator;
use super::check::check;
use super::collected::Collected;
use super::finalizable::UNFINISHED;
use super::kinds::{End, Kind, Kinds};
use super::limits::Limits;
use super::place::Place;
use super::supply::{Source, Supply};
use super::trace::{Trace, Tracer};
use crate::bits::Bits;
use crate::tables;

/// What an arena did since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArenaTotals {
    /// Objects that were allocated.
    pub allocations: u64,
    /// Requests that were refused.
    pub refusals: u64,
    /// Collections.
    pub collections: u64,
    /// Objects that were marked.
    pub marked: u64,
    /// Passes over the mark bits because the mark stack was too small.
    pub rescans: u64,
    /// The maximum number of entries of the mark stack in use.
    pub deepest: usize,
    /// Objects that were freed.
    pub freed_objects: u64,
    /// Values that were dropped.
    pub dropped: u64,
    /// Headers that sweeps read.
    pub visited: u64,
}

/// The objects of an arena, without its root.
pub(super) struct Store<'m, I: Index> {
    pub(super) allocator: Allocator<'m, Source<'m, I>>,
    pub(super) marks: &'m mut [u64],
    pub(super) stack: &'m mut [u64],
    pub(super) table_bytes: usize,
    /// Live bytes after the last collection.
    pub(super) live_bytes: usize,
    pub(super) totals: ArenaTotals,
}

/// What the collector knows about an object without a value.
const NO_VALUE: &Kind = &Kind {
    trace: |_, _, _| {},
    end: End::Nothing,
};

impl<'m, I: Index> Store<'m, I> {
    /// An empty store in a region.
    pub(super) fn new(region: &'m mut [MaybeUninit<u8>], limits: &Limits) -> Result<Self, Refused> {
        let region_bytes = region.len();
        let Some((kinds, words, rest)) = cut_tables(region, limits) else {
            let refused = Heap::<I>::new(&mut []).err();
            return Err(with_tables(refused.unwrap_or(Refused::NoChunk), limits));
        };
        let table_bytes = region_bytes - rest.len();
        let mut heap = Heap::new(rest).map_err(|refused| with_tables(refused, limits))?;
        heap.limit_to(limits.heap);
        let kinds = Kinds::over(tables::filled(kinds, None));
        let number = kinds.number(NO_VALUE);
        debug_assert_eq!(number, Some(UNFINISHED), "the first kind");
        let (stack, marks) = tables::zeroed(words).split_at_mut(limits.mark_stack.max(1));
        let origin = heap.origin();
        Ok(Self {
            allocator: Allocator::new(Source::new(heap), origin, kinds),
            marks,
            stack,
            table_bytes,
            live_bytes: 0,
            totals: ArenaTotals::default(),
        })
    }

    /// Frees all objects that the root does not lead to.
    pub(super) fn collect(&mut self, root: &impl Trace) -> Swept {
        let (source, kinds, finalizable) = self.allocator.closed();
        let heap = &source.heap;
        let mut marks = Bits::over(self.marks);
        marks.clear_but(heap.unused());
        let mut tracer = Tracer::new(heap.origin(), marks, self.stack);
        root.trace(&mut tracer);
        let marked = tracer.mark(|tracer, number, from| {
            // SAFETY: S1: it was reached from the root, so it was live (A1, T1), and nothing was
            // freed since.
            let place = unsafe { Place::of(heap, number) };
            // SAFETY: S1: only finished objects are reached.
            let kind = kinds.get(unsafe { place.kind() });
            // SAFETY: an object of that kind (A2).
            unsafe { (kind.trace)(place.object, from, tracer) };
        });
        // SAFETY: S1, S2: all that the root leads to was reached, and nobody else holds references
        // between mutations.
        unsafe { finalizable.process(heap, kinds, |object| tracer.is_marked(object)) };
        // SAFETY: S1: of that heap.
        unsafe { finalizable.drop_dying(heap, kinds) };
        let swept = sweep(source, tracer.marks());
        self.live_bytes = swept.live_bytes;
        self.totals.collections += 1;
        self.totals.marked += swept.live_objects;
        self.totals.rescans += marked.rescans;
        self.totals.deepest = self.totals.deepest.max(marked.deepest);
        self.totals.freed_objects += swept.freed_objects;
        self.totals.visited += swept.visited;
        swept
    }

    /// What a collection did that freed and left so many objects.
    pub(super) fn collected(&mut self, freed_objects: u64, live_objects: u64) -> Collected {
        let free_bytes = self.free_bytes();
        let chunk_bytes = self.allocator.closed().0.heap.chunk_bytes();
        Collected {
            freed_objects,
            live_objects,
            live_bytes: chunk_bytes - free_bytes,
            free_bytes,
        }
    }

    /// Grows until `bytes` bytes are free, and at least half as many as live, so that collections
    /// stay rare; or as far as it can.
    pub(super) fn grow_to(&mut self, bytes: usize) {
        let missing = bytes
            .max(self.live_bytes / 2)
            .saturating_sub(self.free_bytes());
        if missing > 0 {
            self.allocator.closed().0.grow(0, missing);
        }
    }

    /// Grows for the last refused request, by at least half of the live bytes. Returns whether this
    /// may help.
    pub(super) fn grow_for_refused(&mut self) -> bool {
        let Some(wanted) = self.allocator.wanted() else {
            return false;
        };
        let step = self.live_bytes / 2;
        self.allocator.closed().0.grow(wanted, step)
    }

    /// What mutations allocate with.
    pub(super) fn supply<'gc>(&'gc self) -> &'gc Allocator<'gc, dyn Supply + 'gc> {
        &self.allocator
    }

    /// Bytes that are free.
    pub(super) fn free_bytes(&self) -> usize {
        self.allocator.free_bytes()
    }

    /// Why the last request was refused.
    pub(super) fn refused(&self) -> Option<Refused> {
        self.allocator.refused()
    }

    /// What was done so far.
    pub(super) fn totals(&mut self) -> ArenaTotals {
        let (source, _, finalizable) = self.allocator.closed();
        self.totals.allocations = source.allocations;
        self.totals.dropped = finalizable.dropped();
        self.totals.refusals = self.allocator.refusals();
        self.totals
    }

    /// Where every byte is. Bits, stack and the table of kinds count as administrative.
    pub(super) fn usage(&mut self) -> Usage {
        let mut usage = self.allocator.closed().0.heap.usage();
        usage.administrative_bytes += self.table_bytes;
        usage
    }

    /// Verifies A2, A3 and the invariants of the heap.
    pub(super) fn check(&mut self) -> Result<(), Corruption> {
        let (source, kinds, finalizable) = self.allocator.closed();
        check(&source.heap, kinds, finalizable, Bits::over(self.marks))
    }
}

/// Frees all objects that are not marked.
fn sweep<I: Index>(source: &mut Source<'_, I>, marks: &Bits<'_>) -> Swept {
    let swept = if matches!(I::COALESCING, When::Immediate) {
        let next = |number| marks.next(number).unwrap_or(u32::MAX);
        // SAFETY: S1: no reference to what was not reached is left. S2: bits are those of live
        // objects; reading them does not unwind.
        unsafe { source.heap.sweep_leaping(next) }
    } else {
        // SAFETY: as above.
        unsafe { source.heap.sweep(|number| marks.get(number)) }
    };
    source.swept(&swept);
    swept
}

/// Drops all values that need it. If one unwinds, the others are dropped all the same.
impl<I: Index> Drop for Store<'_, I> {
    fn drop(&mut self) {
        let (source, kinds, finalizable) = self.allocator.closed();
        // SAFETY: S1, S2: of that heap, and nothing is used again.
        unsafe { finalizable.process(&source.heap, kinds, |_| false) };
        // SAFETY: S1, as above.
        let drop_dying = || unsafe { finalizable.drop_dying(&source.heap, kinds) };
        let _rest = Finally(drop_dying);
        drop_dying();
    }
}

/// Calls a function at the end, even when unwinding.
struct Finally<F: Fn()>(F);

impl<F: Fn()> Drop for Finally<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

type Cut<'m> = (
    tables::Table<'m, Option<&'static Kind>>,
    tables::Table<'m>,
    &'m mut [MaybeUninit<u8>],
);

/// Cuts the table of kinds, the mark stack and the mark bits from a region. Returns them and the
/// rest.
fn cut_tables<'m>(region: &'m mut [MaybeUninit<u8>], limits: &Limits) -> Option<Cut<'m>> {
    let words = limits
        .mark_stack
        .max(1)
        .checked_add(region.len() / MARKED_BYTES + 1)?;
    let (kinds, region) = tables::split(region, limits.kinds.checked_add(1)?)?;
    let (words, rest) = tables::split(region, words)?;
    Some((kinds, words, rest))
}

/// Bytes of a heap that one word of bits covers: 64 granules.
pub(super) const MARKED_BYTES: usize = 64 * 8;

/// Turns a refusal of the heap into one of the arena: the size that is needed is that of the whole
/// region, with tables and alignment.
fn with_tables(refused: Refused, limits: &Limits) -> Refused {
    let Refused::Region { needed } = refused else {
        return refused;
    };
    let kinds = limits
        .kinds
        .saturating_add(1)
        .saturating_mul(size_of::<&Kind>());
    let stack = limits
        .mark_stack
        .saturating_add(4)
        .saturating_mul(tables::WORD);
    let fixed = needed.saturating_add(kinds).saturating_add(stack);
    let bits = fixed / (MARKED_BYTES / tables::WORD - 1);
    let needed = fixed.saturating_add(bits);
    Refused::Region { needed }
}
