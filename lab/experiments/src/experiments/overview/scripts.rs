//! The worst cases: scripts that bring a heap where a call is dearest, and make that call.
//!
//! ```text
//! heap n     n objects of 256 bytes live, all else taken but one large place: calls in it, in the full heap, and the free
//!            that empties the heap
//! holes n    n free places of 144 to 264 bytes, all too small for the request, kept apart by live objects; one place fits it
//!            and was freed first, so that it is first in a list and, cut, last: whoever searches sees all holes. A request
//!            that is refused is a call too. Freed objects have free places on both sides.
//! size s     objects of s bytes, more than a page of them, so that a free of Compact-fit moves one; access to the last byte
//! any n      the first object and the last of a list that is alone: a table over lists changes in all of its entries
//! ```
//! The region grows with n and is the same for every s. Only the calls of interest go through
//! [`counted`], a function of its own that valgrind can tell apart; each is noted in the order in
//! which it was made.

use std::alloc::Layout;

use surefit_measure::subject::{Pass, Subject};

/// What an object's bytes are aligned to.
const ALIGN: usize = 8;

/// The size of the objects that make a heap large, in bytes: the fewest of them fill more than a
/// page.
const OBJECT: usize = 256;

/// Bytes of the region for each object of a large heap, and for all else: room for pages of several
/// size-classes even with few objects.
const HEAP_BYTES: usize = 1024;
const HEAP_REST: usize = 1 << 20;

/// The sizes of holes, in bytes: above the exact lists of the shortest segregated lists, in too
/// many sizes for one list.
const HOLES: [usize; 16] = {
    let mut sizes = [0; 16];
    let mut at = 0;
    while at < 16 {
        sizes[at] = 144 + 8 * at;
        at += 1;
    }
    sizes
};

/// The live object that keeps two holes apart, in bytes.
const BETWEEN: usize = 16;

/// The place that fits, the request that only it fits, and one that nothing fits in one piece, in
/// bytes.
const PLACE: usize = 8192;
const REQUEST: usize = 1000;
const TOO_MUCH: usize = 60_000;

/// Sizes whose lists are the last but one of 256 and of 16 exact lists of multiples of 8 bytes,
/// headers included.
const LAST_LISTS: [usize; 2] = [2032, 112];

/// Objects of so many bytes, more of them than any page has, and how many of them are freed: at
/// least as many as the page has that is not full.
const MOVED: (usize, usize, usize) = (2032, 40, 12);

/// Bytes of the region for each hole with its neighbour, and for all else.
const HOLE_BYTES: usize = 512;
const HOLES_REST: usize = 1 << 20;

/// The region of objects of any size, in bytes.
const SIZE_BYTES: usize = 32 << 20;

/// Objects of one size fill at least this many bytes: more than two pages.
const FILLED: usize = 3 << 16;

/// What grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parameter {
    /// The number of live objects, and the region with it.
    Heap,
    /// The number of holes, and the region with it.
    Holes,
    /// The object's size.
    Size,
}

impl Parameter {
    /// All of them.
    pub(super) const ALL: [Self; 3] = [Self::Heap, Self::Holes, Self::Size];

    /// Its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Heap => "heap",
            Self::Holes => "holes",
            Self::Size => "size",
        }
    }

    /// Its values: five from 10² to 10⁶, or over the three decades to 10⁴ if quick; sizes by
    /// factors of 4, so that seven of them, over more than three decades, lie within a page.
    pub(super) fn values(self, is_quick: bool) -> &'static [u64] {
        const COUNTS: [u64; 5] = [100, 1000, 10_000, 100_000, 1_000_000];
        const QUICK: [u64; 5] = [10, 56, 316, 1778, 10_000];
        const SIZES: [u64; 9] = [8, 32, 128, 512, 2048, 8192, 32_768, 131_072, 524_288];
        match (self, is_quick) {
            (Self::Heap | Self::Holes, false) => &COUNTS,
            (Self::Heap | Self::Holes, true) => &QUICK,
            (Self::Size, _) => &SIZES,
        }
    }

    /// The region for a value, in bytes.
    pub(super) const fn region_bytes(self, value: u64) -> usize {
        match self {
            Self::Heap => HEAP_REST + HEAP_BYTES * value as usize,
            Self::Holes => HOLES_REST + HOLE_BYTES * value as usize,
            Self::Size => SIZE_BYTES,
        }
    }
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// An allocation.
    Malloc,
    /// A free.
    Free,
    /// An access to one byte.
    Access,
}

impl Operation {
    /// All of them.
    pub(super) const ALL: [Self; 3] = [Self::Malloc, Self::Free, Self::Access];

    /// Its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Malloc => "malloc",
            Self::Free => "free",
            Self::Access => "access",
        }
    }
}

/// One call of interest, as it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// What grows in the script.
    pub(super) parameter: Parameter,
    /// To what.
    pub(super) value: u64,
    /// The operation.
    pub(super) operation: Operation,
    /// Whether it was refused.
    pub(super) is_refused: bool,
}

/// The path of [`counted`], as valgrind knows it.
pub(super) const COUNTED: &str = concat!(module_path!(), "::counted");

/// Makes one call of interest.
#[inline(never)]
fn counted(call: &mut dyn FnMut()) {
    call();
}

/// One script.
#[derive(Debug)]
pub(super) struct Script<'a> {
    /// What grows.
    pub(super) parameter: Parameter,
    /// To what.
    pub(super) value: u64,
    /// The calls of interest so far.
    pub(super) calls: &'a mut Vec<Call>,
}

impl Pass for Script<'_> {
    type Output = ();

    /// Plays the script as far as the heap serves it.
    fn run<S: Subject>(self, subject: S) {
        let mut player = Player {
            subject,
            live: Vec::new(),
            script: self,
        };
        let _ = match player.script.parameter {
            Parameter::Heap => player.heap(),
            Parameter::Holes => player.holes(),
            Parameter::Size => player.size(),
        };
    }
}

/// A live object and its layout; `None` once it is freed.
type Live<O> = Option<(O, Layout)>;

/// A heap, its live objects, and what is noted.
///
/// # Invariants
/// - W1: an object in `live` is live, came from `subject`, and has the layout beside it.
struct Player<'a, S: Subject> {
    subject: S,
    live: Vec<Live<S::Object>>,
    script: Script<'a>,
}

impl<S: Subject> Player<'_, S> {
    fn heap(&mut self) -> Option<()> {
        let n = self.script.value as usize;
        self.lists()?;
        self.moves()?;
        for _ in 0..n {
            self.place(OBJECT)?;
        }
        let (from, to) = (self.live.len() - n, self.live.len() - 1);
        // one of an empty size-class, which opens a page, in every heap
        let fresh = [OBJECT, 24, 100, PLACE].map(|bytes| self.malloc(bytes));
        fresh.into_iter().flatten().for_each(|at| self.free(at));
        [from, to].into_iter().for_each(|at| self.access(at));
        self.only_place();
        spread(from, to).for_each(|at| self.free(at));
        self.malloc(OBJECT);
        self.malloc(24);
        self.empty();
        Some(())
    }

    fn holes(&mut self) -> Option<()> {
        let n = self.script.value as usize;
        self.lists()?;
        self.moves()?;
        let place = self.place(PLACE)?;
        let mut holes = Vec::new();
        self.place(BETWEEN)?;
        for at in 0..n {
            holes.push(self.place(HOLES[at % HOLES.len()])?);
            self.place(BETWEEN)?;
        }
        self.fill_rest();
        self.release(place);
        holes.iter().for_each(|&at| self.release(at));
        for bytes in [REQUEST, REQUEST, REQUEST, TOO_MUCH, 24, HOLES[3]] {
            self.malloc(bytes);
        }
        let between: Vec<_> = spread(0, n - 2).map(|hole| holes[hole] + 1).collect();
        between.iter().for_each(|&at| self.access(at));
        between.iter().for_each(|&at| self.free(at));
        self.malloc(HOLES[3]);
        Some(())
    }

    fn size(&mut self) -> Option<()> {
        let bytes = self.script.value as usize;
        let first = self.malloc(bytes)?;
        for _ in 0..(FILLED / bytes).max(6) {
            self.place(bytes)?;
        }
        let last = self.live.len() - 1;
        let more = [(); 3].map(|()| self.malloc(bytes));
        [first, last].into_iter().for_each(|at| self.access(at));
        more.into_iter().flatten().for_each(|at| self.free(at));
        spread(first, last).for_each(|at| self.free(at));
        self.malloc(bytes)?;
        self.malloc(bytes)?;
        Some(())
    }

    /// Frees and allocates objects whose lists are alone, so that a table over lists changes in all
    /// of its entries.
    fn lists(&mut self) -> Option<()> {
        for bytes in LAST_LISTS {
            let object = self.place(bytes)?;
            self.place(BETWEEN)?;
            self.free(object);
            self.malloc(bytes)?;
        }
        Some(())
    }

    /// Frees objects of a full page until another page of the size-class is empty: what a free of
    /// Compact-fit does at most, in small heaps as in large ones.
    fn moves(&mut self) -> Option<()> {
        let first = self.live.len();
        for _ in 0..MOVED.1 {
            self.place(MOVED.0)?;
        }
        (first..first + MOVED.2).for_each(|at| self.free(at));
        (first + MOVED.2..self.live.len()).for_each(|at| self.release(at));
        Some(())
    }

    /// Takes all that is left but one large place, and makes calls in it.
    fn only_place(&mut self) {
        let first = self.live.len();
        self.fill_rest();
        if first < self.live.len() {
            self.release(first);
            let small = self.malloc(16);
            small.into_iter().for_each(|at| self.free(at));
        }
    }

    /// Fills what is left of the heap with ever smaller objects, down to the smallest.
    fn fill_rest(&mut self) {
        let region = self.script.parameter.region_bytes(self.script.value);
        let mut bytes = region.next_power_of_two();
        while bytes >= 16 {
            while self.place(bytes).is_some() {}
            bytes /= 2;
        }
    }

    /// Frees everything; the last free is of interest.
    fn empty(&mut self) {
        let mut left: Vec<_> = (0..self.live.len())
            .filter(|&at| self.live[at].is_some())
            .collect();
        let last = left.pop();
        left.into_iter().for_each(|at| self.release(at));
        last.into_iter().for_each(|at| self.free(at));
    }

    // ---- calls that are not counted
    // --------------------------------------------------------------------------------------

    fn place(&mut self, bytes: usize) -> Option<usize> {
        let layout = Layout::from_size_align(bytes, ALIGN).ok()?;
        let object = self.subject.allocate(layout, false).ok()?;
        self.live.push(Some((object, layout)));
        Some(self.live.len() - 1)
    }

    fn release(&mut self, at: usize) {
        if let Some((object, layout)) = self.live[at].take() {
            // SAFETY: W1; it was taken out of `live`.
            unsafe { self.subject.free(object, layout) };
        }
    }

    // ---- calls of interest
    // ---------------------------------------------------------------------------------------------

    fn malloc(&mut self, bytes: usize) -> Option<usize> {
        let layout = Layout::from_size_align(bytes, ALIGN).ok()?;
        let (subject, mut made) = (&mut self.subject, None);
        counted(&mut || made = subject.allocate(layout, false).ok());
        self.note(Operation::Malloc, made.is_none());
        self.live.push(Some((made?, layout)));
        Some(self.live.len() - 1)
    }

    fn free(&mut self, at: usize) {
        let Some((object, layout)) = self.live[at].take() else {
            return;
        };
        let (subject, mut object) = (&mut self.subject, Some(object));
        counted(&mut || {
            if let Some(object) = object.take() {
                // SAFETY: W1; it was taken out of `live`.
                unsafe { subject.free(object, layout) };
            }
        });
        self.note(Operation::Free, false);
    }

    /// Writes the last byte of an object.
    fn access(&mut self, at: usize) {
        let Some((object, layout)) = &mut self.live[at] else {
            return;
        };
        let (subject, layout) = (&mut self.subject, *layout);
        counted(&mut || {
            // SAFETY: W1.
            let chunk = unsafe { subject.chunk(object, layout, layout.size() - 1) };
            chunk[0].write(1);
        });
        self.note(Operation::Access, false);
    }

    fn note(&mut self, operation: Operation, is_refused: bool) {
        let Script {
            parameter, value, ..
        } = self.script;
        self.script.calls.push(Call {
            parameter,
            value,
            operation,
            is_refused,
        });
    }
}

/// Places from the first to the last: both ends with their neighbours, the middle with its
/// neighbours, and some between.
fn spread(first: usize, last: usize) -> impl Iterator<Item = usize> {
    let length = last - first;
    let parts = (1..8).map(move |part| first + length * part / 8);
    let ends = [first, last, first + 2, last - 2, first + 1, last - 1];
    let middle = first + length / 2;
    ends.into_iter()
        .chain(parts)
        .chain([middle + 2, middle + 1])
        .filter(move |at| (first..=last).contains(at))
}
