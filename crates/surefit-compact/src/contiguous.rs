//! Contiguous byte objects of any length, for callers that need a slice of all bytes.
//!
//! ```text
//! len ≤ P    one page-block, as for every object; never in pieces
//! len > P    a window: ⌈len / P⌉ consecutive pages, which moves free of everything else
//! ```
//! An access costs what it costs for any other object: the address table says where the object
//! begins. Allocating, freeing and resizing an object over a page may move others, so these methods
//! take `&mut self`; the borrow checker keeps every slice from outliving a move.
//!
//! A request over a page is granted if as many pages are free, wherever they lie, and if the slots
//! of all such objects, each rounded up to a power of two of pages, fit into the pages of the heap.
//! The pages between an object and the end of its slot serve other objects.
//!
//! # Bounds
//! With a slot of s pages and g smaller sizes of slots in use, a call copies at most (2·g + 2)·s
//! pages, whatever the size of the heap. [`certify_contiguous`](crate::certify::certify_contiguous)
//! computes the bytes that are enough for a demand, and the most bytes that a call moves.
//!
//! # Drawbacks
//! Freeing an object moves another one of its size into its place: programs that need no slice of
//! all bytes should keep objects in pieces ([`Heap::alloc`]), which never move others over a page.
//! Heaps of keys, shared heaps and collectors do not offer these objects.
//!
//! # Source
//! Ours: [the bounds, 9](crate::bounds#9-contiguous-objects-over-a-page).

use core::alloc::Layout;
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_core::Refused;

use crate::handle::{Byte, Name};
use crate::heap::Heap;
use crate::width::Width;
use crate::windows::Level;

/// An owning name of a contiguous byte object in a [`Heap`], and its length.
///
/// Like [`Bytes`](crate::Bytes) it is neither `Copy` nor `Clone`, and dropping it leaks the object.
#[must_use = "dropping a handle leaks its object"]
pub struct Contiguous<B: Byte = u8> {
    pub(crate) name: Name,
    len: usize,
    bytes: PhantomData<B>,
}

impl<B: Byte> Contiguous<B> {
    pub(crate) const fn new(name: Name, len: usize) -> Self {
        Self {
            name,
            len,
            bytes: PhantomData,
        }
    }

    /// The length in bytes.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the object has no bytes. Even then it has a name.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Contiguous<u8> {
    /// The same object, without the promise that its bytes are initialised.
    pub const fn into_uninit(self) -> Contiguous<MaybeUninit<u8>> {
        Contiguous::new(self.name, self.len)
    }
}

impl Contiguous<MaybeUninit<u8>> {
    /// The same object, with the promise that its bytes are initialised.
    ///
    /// # Safety
    /// S1: every byte of the object was written.
    pub const unsafe fn assume_init(self) -> Contiguous<u8> {
        Contiguous::new(self.name, self.len)
    }
}

impl<B: Byte> fmt::Debug for Contiguous<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Contiguous({}, {} bytes)", self.name, self.len)
    }
}

/// Where an object of some length lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In one page-block.
    Block,
    /// In a window of so many pages.
    Window(u32),
}

impl<W: Width> Heap<'_, W> {
    /// Allocates a contiguous byte object whose bytes are not initialised. May move other objects
    /// if it is longer than a page.
    ///
    /// A size of zero is served like a size of one.
    ///
    /// # Errors
    /// What was exhausted; the heap is unchanged. [`Refused::TooLarge`] if no object of this length
    /// fits into a heap of this size, [`Refused::TooAligned`] if it is aligned beyond a page.
    ///
    /// # Complexity
    /// Up to a page: O(1). Above: O(pages of the slot · sizes of smaller slots), whatever the size
    /// of the heap.
    ///
    /// # Examples
    /// ```
    /// use core::alloc::Layout;
    /// use surefit_compact::{Config, Heap};
    ///
    /// static CONFIG: Config = Config::DEFAULT;
    /// let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
    /// let mut heap: Heap = Heap::new(&mut memory, &CONFIG)?;
    /// let layout = Layout::from_size_align(100_000, 4096)?;
    /// let mut image = heap.alloc_contiguous_zeroed(layout)?;
    /// heap.contiguous_mut(&mut image)[99_999] = 7;
    /// assert_eq!(heap.contiguous(&image).iter().max(), Some(&7));
    /// heap.free_contiguous(image);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn alloc_contiguous(
        &mut self,
        layout: Layout,
    ) -> Result<Contiguous<MaybeUninit<u8>>, Refused> {
        let index = match self.place_of(layout)? {
            Place::Block => {
                let class = self.class_of(layout.size(), layout.align())?;
                self.allocate_block(class)?
            }
            Place::Window(pages) => self.engine.allocate_window(pages)?,
        };
        Ok(Contiguous::new(Name::new(index, self.id), layout.size()))
    }

    /// Allocates a contiguous byte object of zeros. May move other objects if it is longer than a
    /// page.
    ///
    /// # Errors
    /// As [`Heap::alloc_contiguous`].
    pub fn alloc_contiguous_zeroed(&mut self, layout: Layout) -> Result<Contiguous<u8>, Refused> {
        let mut object = self.alloc_contiguous(layout)?;
        self.zero_from(&mut object, 0);
        // SAFETY: S1: all bytes were just zeroed.
        Ok(unsafe { object.assume_init() })
    }

    /// All bytes of a contiguous object.
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    ///
    /// # Complexity
    /// A compare, a load and an add.
    #[inline]
    #[must_use]
    pub fn contiguous<'a, B: Byte>(&'a self, object: &'a Contiguous<B>) -> &'a [B] {
        let first = self.first_byte(object);
        // SAFETY: the page-block or window of a live object holds `len` bytes (O1, W1); the object
        // is borrowed, and moves need `&mut self` (O3); for `u8` the bytes are initialised.
        unsafe { NonNull::slice_from_raw_parts(first, object.len).as_ref() }
    }

    /// As [`Heap::contiguous`], but mutable. An exclusive handle is exclusive access, so different
    /// objects may be borrowed mutably at once.
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    #[inline]
    #[must_use]
    pub fn contiguous_mut<'a, B: Byte>(&'a self, object: &'a mut Contiguous<B>) -> &'a mut [B] {
        let first = self.first_byte(object);
        // SAFETY: as in `contiguous`; no other handle names the object, and this one is borrowed
        // exclusively (O2).
        unsafe { NonNull::slice_from_raw_parts(first, object.len).as_mut() }
    }

    /// Frees a contiguous object. May move other objects.
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    ///
    /// # Complexity
    /// As [`Heap::alloc_contiguous`].
    pub fn free_contiguous<B: Byte>(&mut self, object: Contiguous<B>) {
        assert!(
            self.own(object.name).is_ok(),
            "the handle belongs to another heap"
        );
        self.free_place(object.name.index(), object.len);
    }

    /// Changes the length of a contiguous object, and its alignment if the layout requires a
    /// stricter one. The bytes up to the smaller length are kept; added bytes are zeroed if `B` is
    /// `u8`. May move objects.
    ///
    /// The object stays in its slot if the new length has a slot of the same size. Otherwise old
    /// and new object live at once for a moment.
    ///
    /// # Errors
    /// As [`Heap::alloc_contiguous`], or [`Refused::ForeignHandle`]; the object is unchanged.
    pub fn resize_contiguous<B: Byte>(
        &mut self,
        object: &mut Contiguous<B>,
        layout: Layout,
    ) -> Result<(), Refused> {
        self.own(object.name)?;
        let (old, new) = (object.len, layout.size());
        let to = self.place_of(layout)?;
        if !self.resize_in_place(object, to, layout) {
            self.replace_contiguous(object, layout)?;
        }
        object.len = new;
        if B::ZEROED && new > old {
            self.zero_from(object, old);
        }
        Ok(())
    }

    /// Whether a contiguous object of this layout can be allocated now. O(1).
    #[must_use]
    pub fn can_allocate_contiguous(&self, layout: Layout) -> bool {
        match self.place_of(layout) {
            Ok(Place::Block) => self.can_allocate(layout.size(), layout.align(), 1),
            Ok(Place::Window(pages)) => self.engine.admits_window(pages).is_ok(),
            Err(_) => false,
        }
    }

    fn place_of(&self, layout: Layout) -> Result<Place, Refused> {
        let limit = self.config.geometry().page_bytes();
        if layout.align() > limit {
            return Err(Refused::TooAligned { limit });
        }
        Ok(self.place(layout.size()))
    }

    /// Where a contiguous object of a length lies. A number of pages that saturates is above that
    /// of every region.
    fn place(&self, len: usize) -> Place {
        let page = self.config.geometry().page_bytes();
        if len <= page {
            return Place::Block;
        }
        Place::Window(u32::try_from(len.div_ceil(page)).unwrap_or(u32::MAX))
    }

    #[inline]
    fn first_byte<B: Byte>(&self, object: &Contiguous<B>) -> NonNull<B> {
        assert!(
            self.own(object.name).is_ok(),
            "the handle belongs to another heap"
        );
        self.view().named(object.name.number())
    }

    /// Zeroes the bytes from `from` on, which is at most the length.
    fn zero_from<B: Byte>(&self, object: &mut Contiguous<B>, from: usize) {
        // SAFETY: `from` lies inside the object or at its end.
        let first = unsafe { self.first_byte(object).add(from) };
        // SAFETY: these bytes belong to the object, whose handle is borrowed exclusively; zero is a
        // value of `B`.
        unsafe { first.write_bytes(0, object.len - from) };
    }

    fn free_place(&mut self, index: u32, len: usize) {
        match self.place(len) {
            Place::Block => self.engine.free(index),
            Place::Window(_) => self.engine.free_window(index),
        }
    }

    /// Resizes an object if its block or slot also serves the new length; returns whether it did.
    fn resize_in_place<B: Byte>(
        &mut self,
        object: &Contiguous<B>,
        to: Place,
        layout: Layout,
    ) -> bool {
        let index = object.name.index();
        match (self.place(object.len), to) {
            (Place::Block, Place::Block) => {
                let class = self.engine.block_of(index).page.record.class.get();
                let new = self.config.geometry();
                new.class_for(layout.size(), layout.align()) == Some(class)
            }
            (Place::Window(old), Place::Window(new)) => {
                self.engine.unpark_all();
                let free = self.engine.free_page_count.get() + self.engine.fresh_pages();
                let stays = Level::of(old) == Level::of(new) && new.saturating_sub(old) <= free;
                if stays {
                    self.engine.resize_window(index, new);
                }
                stays
            }
            _ => false,
        }
    }

    /// Allocates a new object, copies the bytes, and frees the old one.
    fn replace_contiguous<B: Byte>(
        &mut self,
        object: &mut Contiguous<B>,
        layout: Layout,
    ) -> Result<(), Refused> {
        let fresh = self.alloc_contiguous(layout)?;
        let (from, to) = (self.first_byte(object), self.first_byte(&fresh));
        let len = object.len.min(fresh.len);
        // SAFETY: two live objects of this heap, so disjoint, each of at least `len` bytes; no
        // references are held.
        unsafe { from.cast().copy_to_nonoverlapping(to, len) };
        self.free_place(object.name.index(), object.len);
        object.name = fresh.name;
        Ok(())
    }
}
