//! The object model: what a language reports to the collector about its roots and objects.
//!
//! The collector knows where objects are and how long they are. The client says which of their
//! words are references.

use core::cell::Cell;

use crate::edges::Edges;
use crate::marks::Marks;
use crate::object::Object;
use crate::space::{Place, Space};
use crate::word::Word;
use crate::word::sealed::Words;

/// A language, or another program that allocates: its roots, and the references in its objects.
///
/// The collector compares every reported reference with the objects that live. If a reference names
/// a freed object, or was never an object's, the collection panics and frees nothing. (A collection
/// frees what no root leads to. So if a client does not report a reference although it still has
/// it, it must never report it again.)
///
/// # References beside the heap
/// Not every reference has to be in a word: a client may keep some of an object's references in a
/// table of its own, and report them when the object is scanned. A [`Collector`](crate::Collector)
/// needs to know no more. The others must be told of changes that no store sees:
/// - [`Incremental`](crate::Incremental): before a reference is taken out of the table, call
///   [`upgrade`](crate::Incremental::upgrade) for what it refers to. A new one needs nothing.
/// - [`Generational`](crate::Generational): when a reference to a young object is put into the
///   table, call [`remember`](crate::Generational::remember) for the object that has it. One that
///   is taken out needs nothing.
///
/// What the table has of objects that were freed must be removed: see [`Client::weak`].
///
/// # Examples
/// Pairs of references; the roots are a stack.
/// ```
/// use core::mem::MaybeUninit;
/// use surefit_freelist::{Bitmap, Immediate, Segregated, Tree};
/// use surefit_gc::{Client, Collector, Edges, FreeList, Object, Scanned, Settings, Space};
///
/// #[derive(Default)]
/// struct Pairs { stack: Vec<Object> }
///
/// impl<S: Space> Client<S> for Pairs {
///     fn roots(&mut self, edges: &mut Edges<'_>) {
///         self.stack.iter().for_each(|&object| edges.report(object));
///     }
///
///     fn scan(&mut self, pair: &Scanned<'_, S>, _from: u32, edges: &mut Edges<'_>) {
///         [0, 1].iter().filter_map(|&word| pair.reference(word)).for_each(|o| edges.report(o));
///     }
/// }
///
/// type Lists = FreeList<'static, Segregated<Bitmap, Immediate, Tree, 256>>;
/// let region = Box::leak(vec![MaybeUninit::uninit(); 65536].into_boxed_slice());
/// let mut pairs = Pairs::default();
/// let mut gc = Collector::<Lists>::new(region, Settings::default())?;
/// let list = gc.alloc(&mut pairs, 8)?;
/// pairs.stack.push(list);
/// for _ in 0..100_000 {
///     let garbage = gc.alloc(&mut pairs, 8)?;
///     gc.store(garbage, 0, Some(list));
/// }
/// assert!(gc.totals().collections > 20);
/// gc.collect(&mut pairs);
/// assert_eq!(gc.objects().collect::<Vec<_>>(), [list]);
/// # Ok::<(), surefit_core::Refused>(())
/// ```
pub trait Client<S: Space> {
    /// Reports every object that the program can reach directly: from globals, stacks, registers.
    fn roots(&mut self, edges: &mut Edges<'_>);

    /// Reports every reference in an object, from slot `from` on. `from` is 0, or what
    /// [`Edges::again_from`] asked for.
    ///
    /// An object with many references reports [`Edges::STRIDE`] of them at once. It asks to be
    /// scanned again *before* it reports the first of these: then it needs no more room on the mark
    /// stack than a small object. The client defines what a slot is. A
    /// [certificate](crate::schedule::Program) counts one call for an object, or one for each
    /// [`Edges::STRIDE`] of its words.
    fn scan(&mut self, object: &Scanned<'_, S>, from: u32, edges: &mut Edges<'_>);

    /// Clears weak references. It is called after marking, before anything is freed. An object that
    /// `living` does not contain is freed by this collection.
    ///
    /// An [`Incremental`](crate::Incremental) collector calls [`Client::weak_from`] instead, the
    /// others never do: a client that overrides only `weak_from` keeps weak references to freed
    /// objects under them.
    fn weak(&mut self, _living: &Living<'_>) {}

    /// Clears weak references in parts, for an [`Incremental`](crate::Incremental) collector: those
    /// from `from` on, which is 0 or what the last call returned, but not more than
    /// [`Edges::STRIDE`]. Returns where to go on, or `None` at the end. The client defines what the
    /// numbers are. A [certificate](crate::schedule::Program) counts one call for each weak
    /// reference at most, and one more.
    ///
    /// The program runs between two calls. So a weak reference that it moves meanwhile must not get
    /// from a place that is still to come to one before `from`: it would not be cleared.
    ///
    /// As it is, it calls [`Client::weak`], which clears all of them: then a step is as long as
    /// that takes.
    fn weak_from(&mut self, _from: u32, living: &Living<'_>) -> Option<u32> {
        self.weak(living);
        None
    }
}

/// The object that is being scanned. While the collector marks, only the words of this object can
/// be read.
#[derive(Debug)]
pub struct Scanned<'s, S> {
    pub(crate) space: &'s S,
    pub(crate) object: Object,
    pub(crate) place: Place,
}

impl<'s, S: Space> Scanned<'s, S> {
    /// Access to an object.
    ///
    /// # Safety
    /// S1: the object is a live one of the space.
    #[inline]
    pub(crate) unsafe fn new(space: &'s S, object: Object) -> Self {
        Self {
            space,
            object,
            // SAFETY: S1.
            place: unsafe { space.place(object) },
        }
    }

    /// The object.
    #[inline]
    #[must_use]
    pub const fn object(&self) -> Object {
        self.object
    }

    /// How many words it has: at least as many as were requested. Words beyond the request are
    /// zero, or as the client left them.
    #[inline]
    #[must_use]
    pub fn words(&self) -> u32 {
        self.place.words()
    }

    /// Reads a word.
    ///
    /// # Panics
    /// If the object has no such word.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn load(&self, word: u32) -> u32 {
        let words = self.words();
        assert!(
            word < words,
            "word {word} of an object that has {words} words"
        );
        // SAFETY: S1: the space is borrowed since `new`, and so only read; S2 was compared.
        let word = unsafe { self.place.word(self.space, self.object, word) };
        // SAFETY: a word of a live object: aligned, initialised, its own (I2).
        unsafe { word.read() }
    }

    /// Reads a word as a reference; `None` for 0.
    ///
    /// # Panics
    /// As [`Scanned::load`].
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn reference(&self, word: u32) -> Option<Object> {
        Object::of(self.load(word))
    }

    /// Reads a value of the language, from `word` on.
    ///
    /// # Panics
    /// As [`Scanned::load`].
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn load_as<W: Word>(&self, word: u32) -> W {
        W::from_bits(W::Bits::read(word, |word| self.load(word)))
    }
}

/// The objects that a collection keeps, after all of them are marked.
#[derive(Debug)]
pub struct Living<'a> {
    marks: &'a Marks<'a>,
    /// How often it was asked.
    looks: Cell<u64>,
}

impl<'a> Living<'a> {
    /// What is marked lives.
    pub(crate) const fn new(marks: &'a Marks<'a>) -> Self {
        Self {
            marks,
            looks: Cell::new(0),
        }
    }

    /// How often it was asked.
    pub(crate) fn looks(&self) -> u64 {
        self.looks.get()
    }

    /// Whether an object that lived before this collection lives on.
    #[must_use]
    pub fn contains(&self, object: Object) -> bool {
        self.looks.set(self.looks.get() + 1);
        self.marks.contains(object)
    }
}
