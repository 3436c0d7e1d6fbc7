//! An arena that collects in steps: the program stops for a bounded amount of work at a time.
//!
//! ```text
//!          start          stack and grey bits empty      finalizable processed       no value is dying
//! Idle ──────────► Mark ──────────────────────────► Weak ───────────────────► Drop ────────────► Sweep ─► Merge ─► Idle
//!
//! start:             trace the root: the snapshot
//! step(budget):      while work < budget: one unit of the phase
//!   Mark:            pop (o, from), trace o from element `from` on
//!                    else look for grey bits in one word of bits
//!                    else Weak
//!   Weak:            process one finalizable object; see `finalizable`
//!   Drop:            drop one dying value
//!   Sweep, word w:   d = the lowest number of live[w] & !marks[w]: live[w] loses d; free d
//!                    else marks[w] = 0; the next word
//!   Merge:           merge two free neighbours, if the index leaves them apart
//! cell.set(v):       in Mark: shade what the old value refers to; write
//! weak.upgrade:      in Mark: shade the target, Some; in Weak: None, unless the target is marked
//! alloc:             the object gets a live bit, and is black in Mark, Weak, Drop, and in Sweep from word w on
//! ```
//! A cycle frees what was dead when it started, and keeps all that the root led to then: the
//! *snapshot*. What a mutation gets hold of later comes from the snapshot, or was born since, or
//! was upgraded. A reference can be lost to the collector only if it is removed from an object
//! before it was followed; therefore objects hold references that change in a [`GcCell`], which
//! shades what it loses. [`Barriered`] is the proof that they do: other types do not compile. The
//! root needs no proof and no barrier: all references in it were followed when the cycle started.
//! So it may hold any cell, and [`StepArena::mutate_root`] may replace it.
//!
//! Steps are made between mutations, when no other references exist. So Rust variables are no
//! roots. What is born is kept by the cycle that runs, and what it refers to is known to it.
//!
//! # Invariants
//! - A1 to A3: those of the [`Arena`](crate::Arena). A dead object that is not dropped yet keeps
//!   its value; nothing leads to it.
//! - A4: The live bits are those of the heap's objects, `live_objects` is their number, and free
//!   bytes are counted right.
//! - A5: Only live objects are marked. In Idle and Merge none is, in Sweep none before word `w`.
//! - A6: Every object on the stack lives and is marked. In other phases than Roots and Mark the
//!   stack is empty, and no object is grey.
//! - A7: No grey object is forgotten: each is at or after the position of the pass over the grey
//!   bits, or at or after the lowest that did not fit on the stack since it began.
//! - A8: An object is *condemned* if marking has ended, the sweep has not left its word of bits,
//!   and it is not marked. The root, and every object that is not condemned, refer to live objects
//!   that are not condemned. So do weak cells, except in Weak.
//!
//! # Bounds
//! Work is counted in units: a reference of the root, a word of an object that is traced (at least
//! the references that it reported; at most a stride of an array) and one for the object, a word of
//! mark bits, a finalizable object, a dropped value, a freed object, a pair of free neighbours. A
//! step does less than its budget plus [`StepArena::most_excess`]. The root is a step by itself, of
//! one unit per reference. A full stack costs passes over the bits, whose words are units: marking
//! is never interrupted for longer.
//!
//! Not bounded, but counted as `overruns`: values that report more than 64 references at once, such
//! as a `Vec` or a struct of 65. Not bounded and not counted: places of one value that hold no
//! reference, such as a `Vec` of a million `None`, which are looked at all the same; what the
//! `drop` of one value does; and the barrier of a cell that holds such a value.
//!
//! The bits take 1/32 of the region, twice those of an [`Arena`](crate::Arena).
//!
//! # Drawbacks
//! Objects that die in a cycle, or were born in it, are kept until the next one. If the program
//! does not call `step` often enough, [`ensure`](StepArena::ensure) and [`retry`](StepArena::retry)
//! finish the cycle, as long as that takes; this is counted. The benchmark `step_arenas` counts
//! instructions: an allocation takes 84 while no cycle runs and 89 while one marks, where an
//! [`Arena`](crate::Arena) takes 54; a change of a cell takes 16 more than one of a
//! [`Cell`](core::cell::Cell), and some 150 more if it marks an object.
//!
//! # Source
//! Yuasa, Real-time garbage collection on general-purpose machines (1990): the snapshot and its
//! barrier. The steps are those of [`Incremental`](crate::Incremental).

use core::cell::RefCell;
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_core::{Corruption, Refused, Usage};
use surefit_freelist::Index;

mod barriered;
mod cell;
mod check;
mod cycle;
mod mutation;
mod phase;
mod store;
mod tables;
#[cfg(test)]
mod tests;
mod weak;

use super::collect::ArenaTotals;
use super::collected::Collected;
use super::full::Full;
use super::limits::Limits;
use super::root::{Lists, Root, Rootable, unbranded};
use crate::incremental::{Cycle, Step, Steps};
use store::{MOST_EXCESS, StepStore};

pub use barriered::Barriered;
pub use cell::GcCell;
pub use mutation::StepMutation;
pub use phase::ArenaPhase;
pub use weak::StepWeak;

/// An [`Arena`](crate::Arena) whose collections are made in steps, between mutations.
///
/// References in objects change in a [`GcCell`] instead of a [`Cell`](core::cell::Cell). The root
/// may hold both. The other parts are those of an arena: [`Gc`](crate::Gc),
/// [`GcArray`](crate::GcArray), [`Trace`](crate::Trace), [`Limits`].
///
/// # Examples
/// A list that is built while a cycle runs:
/// ```
/// use core::{cell::Cell, mem::MaybeUninit};
/// use surefit_gc::{Gc, GcCell, Rootable, StepArena, Trace};
///
/// #[derive(Trace)]
/// struct Node<'gc> { next: GcCell<'gc, Option<Gc<'gc, Node<'gc>>>>, name: u32 }
///
/// let mut region = [MaybeUninit::uninit(); 1 << 16];
/// type List = Rootable!['gc => Cell<Option<Gc<'gc, Node<'gc>>>>];
/// let mut arena = StepArena::<List>::new(&mut region, |_| Ok(Cell::new(None)))?;
/// for name in 0..10_000 {
///     // Collects only if steps were too few.
///     arena.ensure(Gc::<Node>::BYTES)?;
///     arena.mutate(|mc, root| {
///         let node = mc.alloc(Node { next: GcCell::new(root.get()), name }).expect("ensured");
///         if name % 100 == 0 {
///             node.next.set(mc, None);
///         }
///         root.set(Some(node));
///     });
///     if arena.is_idle() {
///         arena.start();
///     }
///     arena.step(8);
/// }
/// assert!(arena.steps().cycles > 5 && arena.steps().forced == 0);
/// assert!(arena.steps().largest_excess < arena.most_excess());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StepArena<'m, R: for<'gc> Rootable<'gc> + ?Sized, I: Index = Lists> {
    /// Its references belong to each mutation in turn. It is dropped first.
    root: Root<'static, R>,
    store: StepStore<'m, I>,
    /// Objects may hold values that must stay on their thread.
    thread: PhantomData<*const ()>,
}

impl<'m, R: for<'gc> Rootable<'gc> + ?Sized, I: Index> StepArena<'m, R, I> {
    /// Makes an arena over a region, whose bytes may hold anything. `root` makes the root and may
    /// allocate.
    ///
    /// # Errors
    /// As [`StepArena::with_limits`].
    pub fn new<F>(region: &'m mut [MaybeUninit<u8>], root: F) -> Result<Self, Refused>
    where
        F: for<'gc> FnOnce(&'gc StepMutation<'gc>) -> Result<Root<'gc, R>, Full>,
    {
        Self::with_limits(region, Limits::default(), root)
    }

    /// As [`StepArena::new`], with other limits. The tables come first: 1/32 of the region, and
    /// what the limits say.
    ///
    /// # Errors
    /// [`Refused::Region`] if the region is too small; [`Refused::TooLarge`] if it is larger than 8
    /// GiB; the reason if there was no room for the root.
    pub fn with_limits<F>(
        region: &'m mut [MaybeUninit<u8>],
        limits: Limits,
        root: F,
    ) -> Result<Self, Refused>
    where
        F: for<'gc> FnOnce(&'gc StepMutation<'gc>) -> Result<Root<'gc, R>, Full>,
    {
        let mut store = StepStore::new(region, &limits)?;
        let (allocator, tables) = store.lend();
        let tables = RefCell::new(tables);
        let made = root(&StepMutation::new(allocator, &tables)).map(unbranded::<R>);
        match made {
            Ok(root) => Ok(Self {
                root,
                store,
                thread: PhantomData,
            }),
            Err(Full(())) => Err(store.base.refused().unwrap_or(Refused::NoChunk)),
        }
    }

    /// Runs a part of the program, which allocates, follows references and changes objects. No step
    /// is made meanwhile. A reference outlasts it only inside the root and the objects that the
    /// root leads to.
    pub fn mutate<T>(
        &mut self,
        f: impl for<'gc> FnOnce(&'gc StepMutation<'gc>, &'gc Root<'gc, R>) -> T,
    ) -> T {
        let root = NonNull::from(&self.root).cast();
        // SAFETY: types that differ in lifetimes alone are the same in memory. What lives while
        // `'static` lasts, lives while the borrow of the arena lasts: references in it name objects
        // that are not freed until that ends (A1).
        let root = unsafe { root.as_ref() };
        let (allocator, tables) = self.store.lend();
        let tables = RefCell::new(tables);
        f(&StepMutation::new(allocator, &tables), root)
    }

    /// As [`StepArena::mutate`], with exclusive access to the root. Whatever it loses is known to
    /// the cycle that runs.
    pub fn mutate_root<T>(
        &mut self,
        f: impl for<'gc> FnOnce(&'gc StepMutation<'gc>, &'gc mut Root<'gc, R>) -> T,
    ) -> T {
        let mut root = NonNull::from(&mut self.root).cast();
        // SAFETY: as in `mutate`. What the program puts into it are references of this arena: `'gc`
        // is that of no other.
        let root = unsafe { root.as_mut() };
        let (allocator, tables) = self.store.lend();
        let tables = RefCell::new(tables);
        f(&StepMutation::new(allocator, &tables), root)
    }

    /// As [`StepArena::mutate`]. If the arena is full, finishes the cycle that runs and runs the
    /// part again from its beginning; then after a whole cycle; then again as long as the heap can
    /// grow. Changes that a failed run made remain.
    ///
    /// # Errors
    /// What the last run returns.
    ///
    /// # Panics
    /// As [`StepArena::step`].
    pub fn retry<T>(
        &mut self,
        mut f: impl for<'gc> FnMut(&'gc StepMutation<'gc>, &'gc Root<'gc, R>) -> Result<T, Full>,
    ) -> Result<T, Full> {
        if let Ok(done) = self.mutate(&mut f) {
            return Ok(done);
        }
        if self.store.finish_forced(&self.root) {
            if let Ok(done) = self.mutate(&mut f) {
                return Ok(done);
            }
        }
        self.store.make_room(&self.root, 0);
        loop {
            match self.mutate(&mut f) {
                Err(Full(())) if self.store.base.grow_for_refused() => {
                    self.store.make_room(&self.root, 0);
                }
                done => return done,
            }
        }
    }

    /// Ensures that at least `bytes` bytes are free. If they are not, finishes the cycle that runs;
    /// if they are still not free, runs a whole one; then grows if they are still not free, or if
    /// less than half of the live bytes is free. See [`Gc::BYTES`](crate::Gc::BYTES).
    ///
    /// # Errors
    /// [`Full`] if fewer are free even so.
    ///
    /// # Panics
    /// As [`StepArena::step`].
    pub fn ensure(&mut self, bytes: usize) -> Result<(), Full> {
        if self.free_bytes() < bytes {
            self.store.finish_forced(&self.root);
        }
        if self.free_bytes() < bytes {
            self.store.make_room(&self.root, bytes);
        }
        match self.free_bytes() < bytes {
            true => Err(Full(())),
            false => Ok(()),
        }
    }

    /// Starts a cycle: traces the root, in one step of one unit per reference that it holds. Does
    /// nothing if a cycle runs.
    pub fn start(&mut self) -> Step {
        self.store.start(&self.root)
    }

    /// Goes on with the cycle that runs, for at least `budget` units of work, and less than
    /// [`StepArena::most_excess`] more; a budget of 0 counts as 1. Does nothing if no cycle runs.
    ///
    /// # Panics
    /// If dropping a value panics. The next step goes on after it; no value is dropped twice.
    pub fn step(&mut self, budget: u64) -> Step {
        self.store.step(&self.root, budget)
    }

    /// Finishes the cycle that runs, as long as it takes. Returns the work.
    ///
    /// # Panics
    /// As [`StepArena::step`].
    pub fn finish(&mut self) -> Step {
        self.store.finish(&self.root)
    }

    /// Frees every object that the root does not lead to: finishes the cycle that runs, and then
    /// runs a whole one. [`StepArena::steps`] counts its work.
    ///
    /// # Panics
    /// As [`StepArena::step`].
    pub fn collect(&mut self) -> Collected {
        self.store.collect(&self.root)
    }

    /// A step does less than its budget and so many units of work, if no value reports more than 64
    /// references.
    #[must_use]
    pub const fn most_excess(&self) -> u64 {
        MOST_EXCESS
    }

    /// What it does at the moment.
    #[must_use]
    pub const fn phase(&self) -> ArenaPhase {
        self.store.state.phase
    }

    /// Whether no cycle runs.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        matches!(self.phase(), ArenaPhase::Idle)
    }

    /// The cycle that runs, as far as it is, or the last one. Its bytes have headers. There is no
    /// clock: it has no ticks.
    #[must_use]
    pub const fn cycle(&self) -> &Cycle {
        &self.store.state.cycle
    }

    /// What was done in steps since the arena was made.
    #[must_use]
    pub const fn steps(&self) -> &Steps {
        &self.store.state.steps
    }

    /// Free bytes, headers included. They may be in chunks that are too short for a request.
    #[must_use]
    pub fn free_bytes(&self) -> usize {
        self.store.base.free_bytes()
    }

    /// What was done since the arena was made.
    pub fn totals(&mut self) -> ArenaTotals {
        self.store.totals()
    }

    /// Where every byte of the region is. Linear in what the heap holds.
    pub fn usage(&mut self) -> Usage {
        self.store.usage()
    }

    /// Verifies A2 to A8 and the invariants of the heap.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check(&mut self) -> Result<(), Corruption> {
        self.store.check(&self.root)
    }
}

impl<R: for<'gc> Rootable<'gc> + ?Sized, I: Index> fmt::Debug for StepArena<'_, R, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepArena")
            .field("phase", &self.phase())
            .field("free_bytes", &self.free_bytes())
            .finish_non_exhaustive()
    }
}
