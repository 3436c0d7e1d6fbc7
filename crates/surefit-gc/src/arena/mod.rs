//! Objects of Rust types, traced by what they are: the safe face of the collector.
//!
//! ```text
//! mutate(f):      f(mutation, root): allocates, follows references, changes the root and what it leads to
//! ensure(bytes):  if less is free: collect; if still less is free: grow; else full
//! collect:        close the run
//!                 mark what the root leads to
//!                 clear weak cells whose targets were not reached; drop the values of dead objects that need it
//!                 sweep: from mark to mark if the index merges at once, else from header to header
//! ```
//! A reference is a pointer. It carries a lifetime, `'gc`, that is different in every call of `mutate` and neither longer nor
//! shorter than it: so none can be kept when the call ends, but in the root and in objects, and none can enter another arena.
//! Collections need the arena exclusively, so they come between mutations, when there are no references elsewhere: what is
//! reachable is what the root leads to. No roots are registered, no reads or writes are tracked.
//!
//! # Invariants
//! - A1: a [`Gc`] names a live object of its arena that holds a value of its type.
//! - A2: the last word of every live object's payload is the number of its kind.
//! - A3: the lists of attended objects.
//! - Those of the heap.
//!
//! # Drawbacks
//! - A mutation that goes on for ever finds the arena full, garbage and all: it is for the program to end it, and to
//!   [`ensure`](Arena::ensure) room before the next.
//! - Roots are in the root value; references are not `Send`; trait objects need an `enum` or a box of one's own.
//! - Values with `Drop` and weak references cost a word more and are looked at one by one in every collection.
//!
//! # Source
//! kyren's gc-arena: branded references, collection between mutations.

use core::fmt;
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr::NonNull;

use surefit_core::{Corruption, Parts, Refused};
use surefit_freelist::{Bitmap, Immediate, Index, Segregated, Swept, Tree};

mod allocator;
mod array;
mod attended;
mod check;
mod collect;
mod derive;
mod gc;
mod impls;
mod kinds;
mod mutation;
mod place;
mod root;
mod supply;
mod survey;
mod trace;
mod weak;

#[cfg(test)]
mod tests;

pub use array::{GcArray, GcStr};
pub use collect::ArenaTotals;
pub use gc::Gc;
pub use mutation::Mutation;
pub use root::Rootable;
pub use survey::Seen;
pub use trace::{Trace, Tracer};
pub use weak::WeakGc;

use collect::Store;

/// What an arena's heap is unless it is said otherwise: the fastest of those measured.
type Lists = Segregated<Bitmap, Immediate, Tree, 256>;

/// The root of an arena while a mutation lasts.
pub type Root<'gc, R> = <R as Rootable<'gc>>::Root;

/// There is no room for an object. [`Mutation::refused`] says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full(());

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the arena has no room for the object: collect, or give it a larger region")
    }
}

impl core::error::Error for Full {}

/// What can be chosen of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Entries of the mark stack, eight bytes each; at least one.
    pub mark_stack: usize,
    /// Types of objects, a pointer each.
    pub kinds: usize,
    /// Bytes of the heap in the beginning; [`Arena::ensure`] and [`Arena::retry`] let it grow, as far as the region goes.
    pub heap: usize,
}

/// All of the region; and 1024 entries and 256 types, 10 KiB: in a tree, depth times arity is enough for the stack, and what is not costs time.
impl Default for Limits {
    fn default() -> Self {
        Self {
            mark_stack: 1024,
            kinds: 256,
            heap: usize::MAX,
        }
    }
}

/// Objects in a region, and the root that leads to those of them that live.
///
/// `R` is made by [`Rootable!`](crate::Rootable!); `I` is the index of the heap's free chunks.
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
/// let name = arena.mutate(|_, root| root.take().and_then(|first| first.next.get()).map(|node| node.name));
/// assert_eq!(name, Some(2));
/// assert_eq!(arena.collect().live_objects, 0, "a cycle keeps nothing");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Arena<'m, R: for<'gc> Rootable<'gc> + ?Sized, I: Index = Lists> {
    /// Its references are those of every mutation, in turn. Dropped first.
    root: Root<'static, R>,
    store: Store<'m, I>,
    /// Objects may hold what must stay with its thread.
    thread: PhantomData<*const ()>,
}

impl<'m, R: for<'gc> Rootable<'gc> + ?Sized, I: Index> Arena<'m, R, I> {
    /// Makes an arena over a region, whatever bytes it holds; `root` makes the root and may allocate.
    ///
    /// # Errors
    /// As [`Arena::with_limits`].
    pub fn new<F>(region: &'m mut [MaybeUninit<u8>], root: F) -> Result<Self, Refused>
    where
        F: for<'gc> FnOnce(&'gc Mutation<'gc>) -> Result<Root<'gc, R>, Full>,
    {
        Self::with_limits(region, Limits::default(), root)
    }

    /// As [`Arena::new`], with limits of one's own. Its tables, 1/64 of the region and what the limits say, come first.
    ///
    /// # Errors
    /// [`Refused::Region`] if the region is too small; [`Refused::TooLarge`] if it is larger than 8 GiB; why there was no room
    /// for the root.
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

    /// Runs a part of the program: it allocates, follows references and changes objects. Nothing is collected meanwhile, and
    /// no reference outlasts it but in the root and what that leads to.
    pub fn mutate<T>(
        &mut self,
        f: impl for<'gc> FnOnce(&'gc Mutation<'gc>, &'gc Root<'gc, R>) -> T,
    ) -> T {
        let root = NonNull::from(&self.root).cast();
        // SAFETY: types that differ in lifetimes alone are the same in memory. What lives while `'static` lasts, lives while
        // the borrow of the arena lasts: references in it name objects that are not freed until that ends (A1).
        let root = unsafe { root.as_ref() };
        f(&Mutation::new(self.store.supply()), root)
    }

    /// As [`Arena::mutate`], with exclusive access to the root.
    pub fn mutate_root<T>(
        &mut self,
        f: impl for<'gc> FnOnce(&'gc Mutation<'gc>, &'gc mut Root<'gc, R>) -> T,
    ) -> T {
        let mut root = NonNull::from(&mut self.root).cast();
        // SAFETY: as in `mutate`. What the program puts into it are references of this arena: `'gc` is that of no other.
        let root = unsafe { root.as_mut() };
        f(&Mutation::new(self.store.supply()), root)
    }

    /// As [`Arena::mutate`]; if the arena is full, collects and runs the part once more from its beginning, and as long as
    /// the heap can grow, again. What it changed until then stays changed.
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

    /// Sees to it that at least so many bytes are free: collects if they are not, and grows if they are not even then, or if
    /// less than half of what lives is. See [`Gc::BYTES`].
    ///
    /// # Errors
    /// [`Full`] if there are fewer even so.
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
    /// If dropping a value does. The next collection goes on where this one ended; no value is dropped twice.
    ///
    /// # Complexity
    /// Linear in what lives and in the mark bits, if the index merges at once; else in what the heap holds. Attended objects,
    /// those with `Drop` and weak references, one by one.
    pub fn collect(&mut self) -> Swept {
        self.store.collect(&self.root)
    }

    /// Bytes that are free, headers included; maybe in chunks that are too short for a request.
    #[must_use]
    pub fn free_bytes(&self) -> usize {
        self.store.free_bytes()
    }

    /// All that was done since the arena was made.
    pub fn totals(&mut self) -> ArenaTotals {
        self.store.totals()
    }

    /// Where every byte of the region is.
    pub fn parts(&mut self) -> Parts {
        self.store.parts()
    }

    /// Verifies A2, A3 and the invariants of the heap.
    ///
    /// # Errors
    /// The first that does not hold.
    pub fn check(&mut self) -> Result<(), Corruption> {
        self.store.check()
    }
}

/// The same root, between mutations.
fn unbranded<R: for<'gc> Rootable<'gc> + ?Sized>(root: Root<'_, R>) -> Root<'static, R> {
    let root = ManuallyDrop::new(root);
    // SAFETY: types that differ in lifetimes alone are the same in memory, and the original is not used again.
    unsafe { NonNull::from(&root).cast().read() }
}

impl<R: for<'gc> Rootable<'gc> + ?Sized, I: Index> fmt::Debug for Arena<'_, R, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arena")
            .field("free_bytes", &self.free_bytes())
            .finish_non_exhaustive()
    }
}
