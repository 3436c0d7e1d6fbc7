//! Views: a borrowed heap by value, for loops.
//!
//! What an access needs of a heap does not change: the base address, the origin of the address
//! table, the heap's number, the piece size. But the compiler cannot know that objects do not
//! overlap the heap's own fields, so it loads them again after every store to an object. A view has
//! them by value, and a loop keeps them in registers.
//!
//! ```text
//! let view = heap.view();            the heap is borrowed: nothing moves
//! for … { view.get_mut(…) … }        compare the heap's number, load the entry, add the base
//! ```
//!
//! # Speed
//! A loop over branded handles takes as many instructions as the same loop over a bare table of
//! words: load the number, load the word, access the object. A handle that is compared takes six
//! more (`benches/events.rs` counts the three loops).
//!
//! # Invariants
//! - V1 What a view has by value is that of its heap, for as long as the heap is borrowed. An
//!   allocation changes none of it: the table grows away from its origin, and a heap over the
//!   operating system's memory reserved all its addresses when it was made.
//!
//! # Drawbacks
//! A view borrows the heap, so none lives across a free.

use core::fmt;
use core::ptr::NonNull;

use surefit_core::Refused;

use crate::address::AddressTable;
use crate::handle::{Byte, Bytes, Handle, HeapId, Name, Number};
use crate::heap::{Heap, foreign};
use crate::memory::Borrowed;
use crate::pieces::Division;
use crate::width::{Wide, Width, Word};

/// A [`Heap`] that is borrowed, by value: what a loop of many accesses keeps in registers.
/// [`Heap::view`] makes it.
///
/// It gives the access that the heap gives. The heap still allocates while a view of it lives, and
/// moves nothing.
///
/// # Examples
/// ```
/// use core::mem::MaybeUninit;
/// use surefit_compact::{Config, Heap};
///
/// static CONFIG: Config = Config::DEFAULT;
/// let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
/// let mut heap: Heap = Heap::new(&mut memory, &CONFIG)?;
/// let mut counts: Vec<_> = (0..8_u64).map(|i| heap.insert(i)).collect::<Result<_, _>>()?;
/// let view = heap.view();
/// for count in &mut counts {
///     *view.get_mut(count) += 1;
/// }
/// assert_eq!(counts.iter().map(|count| *view.get(count)).sum::<u64>(), 36);
/// heap.free(counts.pop().expect("eight")); // the view is not used any more
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A view cannot be kept across a move:
/// ```compile_fail
/// # use core::mem::MaybeUninit;
/// # use surefit_compact::{Config, Heap};
/// # static CONFIG: Config = Config::DEFAULT;
/// # let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
/// # let mut heap: Heap = Heap::new(&mut memory, &CONFIG).unwrap();
/// let (a, b) = (heap.insert(1_u64).unwrap(), heap.insert(2_u64).unwrap());
/// let view = heap.view();
/// heap.free(b); // may move `a`
/// assert_eq!(*view.get(&a), 1);
/// ```
pub struct View<'a, W: Width = Wide> {
    heap: &'a Heap<'a, W>,
    memory: Borrowed<'a>,
    id: HeapId,
    division: Division,
}

impl<W: Width> Clone for View<'_, W> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: Width> Copy for View<'_, W> {}

impl<W: Width> fmt::Debug for View<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "View(heap {})", self.id.get())
    }
}

impl<W: Width> Heap<'_, W> {
    /// The heap by value, for a loop that accesses many objects.
    ///
    /// # Complexity
    /// A few loads.
    #[inline]
    #[must_use]
    pub const fn view(&self) -> View<'_, W> {
        View {
            heap: self,
            memory: self
                .engine
                .pages
                .memory
                .borrowed(self.engine.addresses.origin()),
            id: self.id,
            division: self.division,
        }
    }
}

impl<'a, W: Width> View<'a, W> {
    /// Borrows an object, as [`Heap::get`].
    ///
    /// # Panics
    /// If the handle belongs to another heap; [`View::try_get`] returns an error instead.
    ///
    /// # Complexity
    /// A compare, a load and an add.
    #[inline]
    #[must_use]
    pub fn get<'h, T>(self, handle: &'h Handle<T>) -> &'h T
    where
        'a: 'h,
    {
        self.try_get(handle).unwrap_or_else(|_| foreign())
    }

    /// Borrows an object mutably, as [`Heap::get_mut`].
    ///
    /// # Panics
    /// If the handle belongs to another heap; [`View::try_get_mut`] returns an error instead.
    #[inline]
    #[must_use]
    pub fn get_mut<'h, T>(self, handle: &'h mut Handle<T>) -> &'h mut T
    where
        'a: 'h,
    {
        self.try_get_mut(handle).unwrap_or_else(|_| foreign())
    }

    /// Borrows an object.
    ///
    /// # Errors
    /// [`Refused::ForeignHandle`] if the handle belongs to another heap.
    #[inline]
    pub fn try_get<'h, T>(self, handle: &'h Handle<T>) -> Result<&'h T, Refused>
    where
        'a: 'h,
    {
        self.own(handle.name)?;
        // SAFETY: O1; the shared borrow of the handle excludes mutable ones, and that of the heap
        // excludes moves (O3). Both last for `'h`.
        Ok(unsafe { self.named::<T>(handle.name.number()).as_ref() })
    }

    /// Borrows an object mutably.
    ///
    /// # Errors
    /// [`Refused::ForeignHandle`] if the handle belongs to another heap.
    #[inline]
    pub fn try_get_mut<'h, T>(self, handle: &'h mut Handle<T>) -> Result<&'h mut T, Refused>
    where
        'a: 'h,
    {
        self.own(handle.name)?;
        // SAFETY: O1, O2: no other handle names the object, and this one is borrowed exclusively
        // for `'h`; O3 for moves.
        Ok(unsafe { self.named::<T>(handle.name.number()).as_mut() })
    }

    /// The bytes from `offset` to the end of their piece or of the object, as [`Heap::chunk`].
    ///
    /// # Panics
    /// If the handle belongs to another heap, or `offset` is above the length.
    #[inline]
    #[must_use]
    pub fn chunk<'h, B: Byte>(self, bytes: &'h Bytes<B>, offset: usize) -> &'h [B]
    where
        'a: 'h,
    {
        let (first, len) = self.chunk_of(bytes, offset);
        // SAFETY: `len` bytes from `first` belong to the object, which is borrowed for `'h`, and so
        // is the heap (O3); for `u8` they are initialised.
        unsafe { NonNull::slice_from_raw_parts(first, len).as_ref() }
    }

    /// As [`View::chunk`], but mutable.
    ///
    /// # Panics
    /// If the handle belongs to another heap, or `offset` is above the length.
    #[inline]
    #[must_use]
    pub fn chunk_mut<'h, B: Byte>(self, bytes: &'h mut Bytes<B>, offset: usize) -> &'h mut [B]
    where
        'a: 'h,
    {
        let (first, len) = self.chunk_of(bytes, offset);
        // SAFETY: as in `chunk`, and the handle is borrowed exclusively (O2).
        unsafe { NonNull::slice_from_raw_parts(first, len).as_mut() }
    }

    /// All bytes of an object in one slice; `None` if it is in pieces, as what is longer than the
    /// configuration's piece is. A loop with a case of its own for objects in pieces, with
    /// [`View::chunk`], takes two instructions less for all others than one without it.
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    #[inline]
    #[must_use]
    pub fn bytes<'h, B: Byte>(self, bytes: &'h Bytes<B>) -> Option<&'h [B]>
    where
        'a: 'h,
    {
        let first = self.block_of(self.own_number(bytes.name), bytes.len())?;
        // SAFETY: as in `chunk`.
        Some(unsafe { NonNull::slice_from_raw_parts(first, bytes.len()).as_ref() })
    }

    /// As [`View::bytes`], but mutable.
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    #[inline]
    #[must_use]
    pub fn bytes_mut<'h, B: Byte>(self, bytes: &'h mut Bytes<B>) -> Option<&'h mut [B]>
    where
        'a: 'h,
    {
        let first = self.block_of(self.own_number(bytes.name), bytes.len())?;
        // SAFETY: as in `chunk`, and the handle is borrowed exclusively (O2).
        Some(unsafe { NonNull::slice_from_raw_parts(first, bytes.len()).as_mut() })
    }

    #[inline]
    pub(crate) fn own_number(self, name: Name) -> Number {
        if self.own(name).is_err() {
            foreign();
        }
        name.number()
    }

    /// The block of a live byte object of `len` bytes; `None` if it is in pieces.
    #[inline]
    pub(crate) fn block_of<B: Byte>(self, number: Number, len: usize) -> Option<NonNull<B>> {
        (!self.division.divides(len)).then(|| self.named(number))
    }

    #[inline]
    pub(crate) fn chunk_of<B: Byte>(self, bytes: &Bytes<B>, offset: usize) -> (NonNull<B>, usize) {
        self.chunk_at(self.own_number(bytes.name), bytes.len(), offset)
    }

    /// Of the live byte object of `len` bytes that a name carries, the first byte from `offset` on,
    /// and the bytes up to the end of its piece.
    #[inline]
    pub(crate) fn chunk_at<B: Byte>(
        self,
        number: Number,
        len: usize,
        offset: usize,
    ) -> (NonNull<B>, usize) {
        if self.division.divides(len) {
            let (first, len) = self.heap.chunk_in_pieces(number, len, offset);
            return (first.cast(), len);
        }
        assert!(offset <= len, "the offset is beyond the object");
        // SAFETY: `offset` lies inside the object, which is a live block of at least `len` bytes.
        let first = unsafe { self.named::<B>(number).add(offset) };
        (first, len - offset)
    }

    /// As [`View::chunk_at`], for callers whose objects are often in pieces: a large piece of an
    /// object with a contiguous spine is found without a call.
    #[inline]
    pub(crate) fn chunk_at_once<B: Byte>(
        self,
        number: Number,
        len: usize,
        offset: usize,
    ) -> (NonNull<B>, usize) {
        if !self.division.divides(len) {
            return self.chunk_at(number, len, offset);
        }
        let Some((piece, within)) = self.division.find_large(len, offset) else {
            let (first, len) = self.heap.chunk_in_pieces(number, len, offset);
            return (first.cast(), len);
        };
        // SAFETY: the number is below those of the object's pieces, and the spine is one block.
        let entry = unsafe { self.spine_word(number, piece * W::SPINE_WORD_BYTES) };
        // SAFETY: `within` lies inside the piece, which is a live block of at least its length.
        let first = unsafe { self.named::<B>(entry).add(within) };
        (first, self.division.large_bytes() - within)
    }

    /// The entry that a spine names.
    ///
    /// # Safety
    /// S1: `block` names a live block of a spine, in which a word lies at byte `at`.
    #[inline]
    pub(crate) unsafe fn spine_word(self, block: Number, at: usize) -> Number {
        let words = self.named::<u8>(block);
        // SAFETY: S1: the word is aligned, because pieces and words of spines have sizes of powers
        // of two. It was written when the object was allocated.
        let word = unsafe { words.add(at).cast::<W::Word>().read() };
        Number::of(word.get())
    }

    /// The address of the live object that a name carries.
    #[inline]
    pub(crate) fn named<T>(self, number: Number) -> NonNull<T> {
        debug_assert!(
            self.heap.engine.vet(number.index()).is_some(),
            "O1: the handle names a live entry"
        );
        let offset = if W::BY_BLOCK {
            self.heap.engine.object_offset(number.index())
        } else {
            let word = AddressTable::<W>::named_word(self.memory, number);
            (word.get().get() as usize) << 3
        };
        // SAFETY: a live entry's location lies inside the region (A2, V1).
        unsafe { self.memory.address(offset) }.cast()
    }

    #[inline]
    fn own(self, name: Name) -> Result<(), Refused> {
        if name.is_of(self.id) {
            Ok(())
        } else {
            Err(Refused::ForeignHandle)
        }
    }
}
