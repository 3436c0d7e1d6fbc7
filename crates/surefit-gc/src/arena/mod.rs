//! Objects of Rust types, traced as their types say: the safe interface of the collector.
//!
//! ```text
//! mutate(f):      f(mutation, root): allocates, follows references, changes objects
//! ensure(bytes):  if less is free: collect, then grow; if still less is free: full
//! collect:        close the bump chunk
//!                 mark what the root leads to
//!                 clear weak cells whose targets were not reached
//!                 drop the values of dead objects that need it
//!                 sweep: from mark to mark if the index merges at once, else from header to header
//! ```
//! A reference is a pointer with a lifetime, `'gc`. Each call of `mutate` has its own `'gc`, which
//! is neither longer nor shorter than the call. So a reference can outlive the call only inside the
//! root and inside objects, and cannot enter another arena. A collection needs the arena
//! exclusively, so it runs between mutations, when no other references exist: what the root leads
//! to is what is reachable. So no roots are registered, and neither reads nor writes are tracked.
//!
//! # Invariants
//! - A1: A [`Gc`] names a live object of its arena that holds a value of its type.
//! - A2: The last word of every live object's payload is the number of its kind.
//! - A3: The lists of finalizable objects are complete; see `finalizable`.
//! - The invariants of the heap.
//!
//! # Drawbacks
//! - A mutation that never ends fills the arena, because nothing is collected meanwhile. The
//!   program must end it, and [`ensure`](Arena::ensure) room before the next one.
//! - All roots are in the root value. References are not `Send`. Trait objects need an `enum` or a
//!   box type that the program writes.
//! - Each value with `Drop` and each weak reference costs one more word, and every collection looks
//!   at them one by one.
//!
//! # Source
//! kyren's gc-arena: branded references, collection between mutations.

use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_core::{Corruption, Refused, Usage};
use surefit_freelist::Index;

mod allocator;
mod array;
mod check;
mod collect;
mod collected;
mod derive;
mod finalizable;
mod full;
mod gc;
mod impls;
mod kinds;
mod limits;
mod mutation;
mod no_gc;
mod place;
mod root;
mod seen;
mod steps;
mod supply;
mod survey;
mod trace;
mod weak;

#[cfg(test)]
mod tests;

pub use array::{GcArray, GcStr};
pub use collect::ArenaTotals;
pub use collected::Collected;
pub use full::Full;
pub use gc::Gc;
pub use limits::Limits;
pub use mutation::Mutation;
pub use no_gc::NoGc;
pub use root::{Root, Rootable};
pub use seen::Seen;
pub use steps::{ArenaPhase, Barriered, GcCell, StepArena, StepMutation, StepWeak};
pub use trace::{Trace, Tracer};
pub use weak::WeakGc;

use collect::Store;
use root::{Lists, unbranded};

/// Objects in a region, and the root that leads to the live ones.
///
/// [`Rootable!`](crate::Rootable!) makes `R`; `I` is the index of the heap's free chunks.
///
/// # Examples
/// A list, and a cycle of two:
/// ```
/// use core::{cell::Cell, mem::MaybeUninit};
/// use surefit_gc::{Arena, Full, Gc, Rootable, Trace};
///
/// #[derive(Trace)]
/// struct Node<'gc> { next: Cell<Option<Gc<'gc, Node<'gc>>>>, name: u32 }
///
/// let mut region = [MaybeUninit::uninit(); 1 << 16];
/// type List = Rootable!['gc => Cell<Option<Gc<'gc, Node<'gc>>>>];
/// let mut arena = Arena::<List>::new(&mut region, |_| Ok(Cell::new(None)))?;
/// arena.mutate(|mc, root| {
///     let first = mc.alloc(Node { next: Cell::new(None), name: 1 })?;
///     let second = mc.alloc(Node { next: Cell::new(Some(first)), name: 2 })?;
///     first.next.set(Some(second));
///     root.set(Some(first));
///     Ok::<_, Full>(())
/// })?;
/// assert_eq!(arena.collect().live_objects, 2);
/// let name = arena.mutate(|_, root| {
///     let second = root.take().and_then(|first| first.next.get());
///     second.map(|node| node.name)
/// });
/// assert_eq!(name, Some(2));
/// assert_eq!(arena.collect().live_objects, 0, "a cycle keeps nothing");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Arena<'m, R: for<'gc> Rootable<'gc> + ?Sized, I: Index = Lists> {
    /// Its references belong to each mutation in turn. It is dropped first.
    root: Root<'static, R>,
    store: Store<'m, I>,
    /// Objects may hold values that must stay on their thread.
    thread: PhantomData<*const ()>,
}

impl<'m, R: for<'gc> Rootable<'gc> + ?Sized, I: Index> Arena<'m, R, I> {
    /// Makes an arena over a region, whose bytes may hold anything. `root` makes the root and may
    /// allocate.
    ///
    /// # Errors
    /// As [`Arena::with_limits`].
    pub fn new<F>(region: &'m mut [MaybeUninit<u8>], root: F) -> Result<Self, Refused>
    where
        F: for<'gc> FnOnce(&'gc Mutation<'gc>) -> Result<Root<'gc, R>, Full>,
    {
        Self::with_limits(region, Limits::default(), root)
    }

    /// As [`Arena::new`], with other limits. The tables come first: 1/64 of the region, and what
    /// the limits say.
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
        F: for<'gc> FnOnce(&'gc Mutation<'gc>) -> Result<Root<'gc, R>, Full>,
    {
        let store = Store::new(region, &limits)?;
        let made = root(&Mutation::new(store.supply())).map(unbranded::<R>);
        match made {
            Ok(root) => Ok(Self {
                root,
                store,
                thread: PhantomData,
            }),
            Err(Full(())) => Err(store.refused().unwrap_or(Refused::NoChunk)),
        }
    }

    /// Runs a part of the program, which allocates, follows references and changes objects. Nothing
    /// is collected meanwhile. A reference outlasts it only inside the root and the objects that
    /// the root leads to.
    pub fn mutate<T>(
        &mut self,
        f: impl for<'gc> FnOnce(&'gc Mutation<'gc>, &'gc Root<'gc, R>) -> T,
    ) -> T {
        let root = NonNull::from(&self.root).cast();
        // SAFETY: types that differ in lifetimes alone are the same in memory. What lives while
        // `'static` lasts, lives while the borrow of the arena lasts: references in it name objects
        // that are not freed until that ends (A1).
        let root = unsafe { root.as_ref() };
        f(&Mutation::new(self.store.supply()), root)
    }

    /// As [`Arena::mutate`], with exclusive access to the root.
    pub fn mutate_root<T>(
        &mut self,
        f: impl for<'gc> FnOnce(&'gc Mutation<'gc>, &'gc mut Root<'gc, R>) -> T,
    ) -> T {
        let mut root = NonNull::from(&mut self.root).cast();
        // SAFETY: as in `mutate`. What the program puts into it are references of this arena: `'gc`
        // is that of no other.
        let root = unsafe { root.as_mut() };
        f(&Mutation::new(self.store.supply()), root)
    }

    /// As [`Arena::mutate`]. If the arena is full, collects and runs the part again from its
    /// beginning; then again as long as the heap can grow. Changes that a failed run made remain.
    ///
    /// # Errors
    /// What the last run returns.
    pub fn retry<T>(
        &mut self,
        mut f: impl for<'gc> FnMut(&'gc Mutation<'gc>, &'gc Root<'gc, R>) -> Result<T, Full>,
    ) -> Result<T, Full> {
        if let Ok(done) = self.mutate(&mut f) {
            return Ok(done);
        }
        self.make_room(0);
        loop {
            match self.mutate(&mut f) {
                Err(Full(())) if self.store.grow_for_refused() => self.make_room(0),
                done => return done,
            }
        }
    }

    /// Ensures that at least `bytes` bytes are free. If they are not, collects; then grows if they
    /// are still not free, or if less than half of the live bytes is free. See [`Gc::BYTES`].
    ///
    /// # Errors
    /// [`Full`] if fewer are free even so.
    pub fn ensure(&mut self, bytes: usize) -> Result<(), Full> {
        if self.free_bytes() < bytes {
            self.make_room(bytes);
        }
        match self.free_bytes() < bytes {
            true => Err(Full(())),
            false => Ok(()),
        }
    }

    fn make_room(&mut self, bytes: usize) {
        self.collect();
        self.store.grow_to(bytes);
    }

    /// Frees every object that the root does not lead to.
    ///
    /// # Panics
    /// If dropping a value panics. The next collection continues where this one ended; no value is
    /// dropped twice.
    ///
    /// # Complexity
    /// Linear in what lives and in the mark bits if the index merges at once; otherwise linear in
    /// what the heap holds. Finalizable objects (values with `Drop`, weak references) are visited
    /// one by one.
    pub fn collect(&mut self) -> Collected {
        let swept = self.store.collect(&self.root);
        self.store
            .collected(swept.freed_objects, swept.live_objects)
    }

    /// Free bytes, headers included. They may be in chunks that are too short for a request.
    #[must_use]
    pub fn free_bytes(&self) -> usize {
        self.store.free_bytes()
    }

    /// What was done since the arena was made.
    pub fn totals(&mut self) -> ArenaTotals {
        self.store.totals()
    }

    /// Where every byte of the region is. Linear in what the heap holds.
    pub fn usage(&mut self) -> Usage {
        self.store.usage()
    }

    /// Verifies A2, A3 and the invariants of the heap.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check(&mut self) -> Result<(), Corruption> {
        self.store.check()
    }
}

impl<R: for<'gc> Rootable<'gc> + ?Sized, I: Index> fmt::Debug for Arena<'_, R, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arena")
            .field("free_bytes", &self.free_bytes())
            .finish_non_exhaustive()
    }
}
