//! `Heap`: Compact-fit for one owner, moving, with owning handles.
//!
//! A region of memory serves objects of any size up to the configuration's limits. The
//! configuration's [`Bound`](crate::Bound) limits the cost of fragmentation: every free moves at
//! most two page-blocks to keep it.
//!
//! ```text
//! insert(value)   block and entry from the engine; write the value; the handle is the number
//!                 of the entry and that of the heap
//! get(handle)     compare the heap's number, load the entry, add the base
//! free(handle)    drop the value; the engine frees block and entry, and moves
//! ```
//!
//! # Invariants
//! - O1 A live handle names a live entry. Its block is large and aligned enough for the handle's
//!   type, and holds a value of that type.
//! - O2 Handles of different objects name different blocks.
//! - O3 Objects move only in methods that take `&mut self`, so no reference outlives a move.
//!
//! # Drawbacks
//! Every object costs an entry and a back-reference (eight bytes, six with
//! [`Medium`](crate::Medium), four with [`Narrow`](crate::Narrow)). Every access costs a compare, a
//! load and an add. A handle alone cannot be dereferenced.

use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_classes::{SizeClass, Tail};
use surefit_core::Refused;

use crate::address::AddressTable;
use crate::class::{ClassState, ClassTable};
use crate::config::Config;
use crate::engine::{Engine, MoveCounters};
use crate::handle::{Full, Handle, HeapId, Name};
use crate::layout;
use crate::memory::Memory;
use crate::page::PageTable;
use crate::pieces::Division;
use crate::width::{Wide, Width, Word};
use crate::windows::Windows;

/// A Compact-fit heap for one owner: `Send`, not `Sync`.
///
/// # Examples
/// ```
/// use core::mem::MaybeUninit;
/// use surefit_compact::{Config, Heap};
///
/// static CONFIG: Config = Config::DEFAULT;
/// let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
/// let mut heap: Heap = Heap::new(&mut memory, &CONFIG)?;
/// let mut greeting = heap.insert(*b"hello")?;
/// heap.get_mut(&mut greeting)[0] = b'j';
/// assert_eq!(heap.get(&greeting), b"jello");
/// assert_eq!(&heap.remove(greeting), b"jello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A reference cannot be kept across a move:
/// ```compile_fail
/// # use core::mem::MaybeUninit;
/// # use surefit_compact::{Config, Heap};
/// # static CONFIG: Config = Config::DEFAULT;
/// # let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
/// # let mut heap: Heap = Heap::new(&mut memory, &CONFIG).unwrap();
/// let (a, b) = (heap.insert(1_u64).unwrap(), heap.insert(2_u64).unwrap());
/// let kept = heap.get(&a);
/// heap.free(b); // may move `a`
/// assert_eq!(*kept, 1);
/// ```
#[derive(Debug)]
pub struct Heap<'m, W: Width = Wide> {
    pub(crate) engine: Engine<'m, W>,
    pub(crate) config: &'m Config,
    pub(crate) id: HeapId,
    /// How byte objects are divided into pieces.
    pub(crate) division: Division,
    /// Bytes of the region skipped for alignment, and those of the slack's table.
    pub(crate) skipped: u32,
}

// SAFETY: everything to which a heap refers lies in its region, which it owns exclusively (M1),
// except its configuration, which is `Sync`, and its supply, which `OsHeap` owns with it and keeps
// in memory of that region's reservation. Objects may cross threads with the heap, because
// `insert` requires `T: Send`.
unsafe impl<W: Width> Send for Heap<'_, W> {}

impl<'m, W: Width> Heap<'m, W> {
    /// Makes a heap over a region, whatever the contents of the region. Best aligned to a page:
    /// otherwise up to a page less one byte is skipped.
    ///
    /// # Errors
    /// [`Refused::Region`] if not even one page fits; [`Refused::TooLarge`] if the region has more
    /// pages than words of this width can name; [`Refused::NoHeapId`] after 2³² − 1 heaps.
    ///
    /// # Panics
    /// If the configuration's back-references do not have the width of `W`.
    ///
    /// # Complexity
    /// Linear in the number of pages: their records are written.
    pub fn new(region: &'m mut [MaybeUninit<u8>], config: &'m Config) -> Result<Self, Refused> {
        let (memory, skipped) = Memory::aligned(region, config.geometry().page_bytes());
        let first = config.geometry().class(0).expect("a geometry has classes");
        let table = |memory, records, pages| {
            // SAFETY: `build` left room for the records after the class states; the pages lie
            // before these.
            unsafe { PageTable::new(memory, config.geometry(), records, pages, first) }
        };
        Self::build(memory, skipped, config, table)
    }

    /// As [`Heap::new`], with `slack` bytes of pages that the size-classes share as holes, in place
    /// of the δ and ε that each of them has by the configuration.
    ///
    /// A free moves an object, and only one page-block, if its class has as many holes as it was
    /// lent and no slack for another one is spare. With the slack that
    /// [`slack_bytes`](crate::certify::slack_bytes) computes for a demand and this region, the heap
    /// refuses nothing that stays within the demand.
    ///
    /// Where the configuration bounds classes in pages, or not at all, slack means nothing. A table
    /// at the end of the region holds what is lent: at most 55 bytes, and 4 per size-class.
    /// [`certify_with_slack`](crate::certify::certify_with_slack) says what one call costs then.
    ///
    /// # Errors
    /// As [`Heap::new`].
    ///
    /// # Panics
    /// As [`Heap::new`].
    ///
    /// # Examples
    /// ```
    /// use surefit_compact::certify::{Demand, slack_bytes};
    /// use surefit_compact::{Config, Heap, Wide};
    ///
    /// static CONFIG: Config = Config::DEFAULT;
    /// // At most 1000 objects of up to 512 bytes at once, 48 KiB in all, in a region of 1 MiB.
    /// let demand = Demand::of_mix::<Wide>(&CONFIG, 1000, 512, 48 << 10);
    /// let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
    /// // The region may begin anywhere: a page less a byte is skipped at most.
    /// let bytes = memory.len() - (CONFIG.geometry().page_bytes() - 1);
    /// let slack = slack_bytes::<Wide>(&CONFIG, &demand, bytes)?;
    /// let heap: Heap = Heap::with_slack(&mut memory, &CONFIG, slack)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "slack")]
    #[cfg_attr(docsrs, doc(cfg(feature = "slack")))]
    pub fn with_slack(
        region: &'m mut [MaybeUninit<u8>],
        config: &'m Config,
        slack: usize,
    ) -> Result<Self, Refused> {
        use crate::slack::{NO_HOLES, Slack, table_bytes};
        use surefit_classes::Bound;

        if !matches!(config.bound(), Bound::Holes { .. }) {
            return Self::new(region, config);
        }
        let before = region.len();
        let classes = config.geometry().class_count();
        let (slack, region) = Slack::split(region, classes, slack as u64);
        let table = before - region.len();
        let heap = Self::new(region, config);
        let more = table_bytes(classes);
        let mut heap = heap.map_err(|refused| layout::refused_beside(refused, more))?;
        heap.engine.bound = NO_HOLES;
        heap.engine.slack = slack;
        heap.skipped += u32::try_from(table).expect("a few hundred bytes");
        Ok(heap)
    }

    /// Makes a heap whose page table `table` makes: from the memory, the offset of the records,
    /// for which there is room, and the number of pages.
    pub(crate) fn build(
        memory: Memory<'m>,
        skipped: usize,
        config: &'m Config,
        table: impl FnOnce(Memory<'m>, usize, usize) -> PageTable<'m, W>,
    ) -> Result<Self, Refused> {
        let geometry = config.geometry();
        let Tail::BackReferences { bytes } = geometry.tail() else {
            unreachable!("a configuration has back-references")
        };
        assert!(
            bytes == W::WORD_BYTES,
            "the configuration is for words of {bytes} bytes, the heap's type has {}: 2 is Narrow, \
             3 Medium, 4 Wide (as in Heap<Narrow>)",
            W::WORD_BYTES
        );
        let block_bits = block_bits(config);
        let pages = Self::divide(&memory, config, block_bits)?;
        let classes = geometry.class_count();
        let top = (memory.len() & !7) - layout::fixed_bytes::<W>(classes, pages);
        let records = layout::fixed_bytes::<W>(classes, 0) + top;
        // SAFETY: `divide` left room for all class states from `top` on, which is a multiple of 8
        // after the pages.
        let states = unsafe { memory.table(top, classes, ClassState::new) };
        let addresses = AddressTable::new(&memory, top, pages << geometry.page_shift());
        Ok(Self {
            engine: Engine {
                pages: table(memory, records, pages),
                classes: ClassTable::new(states),
                addresses,
                bound: config.bound(),
                order: config.order(),
                block_bits,
                frontier: 0.into(),
                free_pages: W::Count::NIL.into(),
                free_page_count: 0.into(),
                limit: None,
                supply: None,
                moved: MoveCounters::default(),
                windows: Windows::new(),
                slack: None,
                unread: W::Count::NIL.into(),
            },
            config,
            division: config.division(),
            id: HeapId::unique()?,
            skipped: u32::try_from(skipped).expect("less than a page"),
        })
    }

    /// How many pages the region holds besides the fixed area.
    fn divide(memory: &Memory<'_>, config: &Config, block_bits: u32) -> Result<usize, Refused> {
        let geometry = config.geometry();
        let (page, classes) = (geometry.page_bytes(), geometry.class_count());
        let pages = layout::pages_in::<W>(memory.len() & !7, page, classes);
        if pages == 0 {
            let needed = 2 * page + layout::fixed_bytes::<W>(classes, 1);
            return Err(Refused::Region { needed });
        }
        let most = Self::most_pages(config, block_bits);
        if pages > most {
            return Err(Refused::TooLarge { limit: most * page });
        }
        Ok(pages)
    }

    /// The most pages that words of this width can name.
    fn most_pages(config: &Config, block_bits: u32) -> usize {
        let most = if W::BY_BLOCK {
            1_usize << (8 * W::WORD_BYTES).saturating_sub(block_bits as usize)
        } else {
            // Words number units of eight bytes.
            let bits = W::Word::NIL.get().ilog2() + 4;
            1_usize
                .checked_shl(bits - config.geometry().page_shift())
                .unwrap_or(usize::MAX)
        };
        most.min(W::Word::NIL.get() as usize)
    }

    /// The most pages that a heap of this configuration can have.
    #[cfg(feature = "os")]
    pub(crate) fn pages_at_most(config: &Config) -> usize {
        Self::most_pages(config, block_bits(config))
    }

    /// The configuration.
    #[inline]
    #[must_use]
    pub const fn config(&self) -> &Config {
        self.config
    }

    /// Moves a value into the heap. Never moves another object.
    ///
    /// # Errors
    /// The value, and what was exhausted. A type that is larger than a page gives
    /// [`Refused::TooLarge`], one that is aligned beyond a page [`Refused::TooAligned`].
    ///
    /// # Complexity
    /// O(1), plus writing the value.
    #[inline]
    pub fn insert<T: Send>(&self, value: T) -> Result<Handle<T>, Full<T>> {
        match self.allocate_layout(Layout::new::<T>()) {
            Ok(index) => {
                // SAFETY: the block of a new entry is large and aligned enough, and nobody refers
                // to it (O1, O2).
                unsafe { self.object::<T>(index).write(value) };
                Ok(Handle::new(Name::new(index, self.id)))
            }
            Err(refused) => Err(Full { value, refused }),
        }
    }

    /// Borrows an object.
    ///
    /// # Panics
    /// If the handle belongs to another heap; [`Heap::try_get`] returns an error instead.
    ///
    /// # Complexity
    /// A compare, a load and an add.
    #[inline]
    #[must_use]
    pub fn get<'a, T>(&'a self, handle: &'a Handle<T>) -> &'a T {
        self.view().get(handle)
    }

    /// Borrows an object mutably. An exclusive handle is exclusive access, so different objects may
    /// be borrowed mutably at once.
    ///
    /// # Panics
    /// If the handle belongs to another heap; [`Heap::try_get_mut`] returns an error instead.
    #[inline]
    #[must_use]
    pub fn get_mut<'a, T>(&'a self, handle: &'a mut Handle<T>) -> &'a mut T {
        self.view().get_mut(handle)
    }

    /// Borrows an object.
    ///
    /// # Errors
    /// [`Refused::ForeignHandle`] if the handle belongs to another heap.
    #[inline]
    pub fn try_get<'a, T>(&'a self, handle: &'a Handle<T>) -> Result<&'a T, Refused> {
        self.view().try_get(handle)
    }

    /// Borrows an object mutably.
    ///
    /// # Errors
    /// [`Refused::ForeignHandle`] if the handle belongs to another heap.
    #[inline]
    pub fn try_get_mut<'a, T>(&'a self, handle: &'a mut Handle<T>) -> Result<&'a mut T, Refused> {
        self.view().try_get_mut(handle)
    }

    /// Takes a value out of the heap, and frees its memory. May move up to two other objects.
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    #[inline]
    pub fn remove<T>(&mut self, handle: Handle<T>) -> T {
        if self.own(handle.name).is_err() {
            foreign();
        }
        // SAFETY: O1: the object is live; the handle is consumed, so nobody reads the bits again.
        let value = unsafe { self.view().named::<T>(handle.name.number()).read() };
        match self
            .config
            .geometry()
            .class_for(size_of::<T>(), align_of::<T>())
        {
            // The class for which `insert` allocated the block.
            Some(class) => self.engine.free_of_class(class, handle.name.index()),
            None => self.engine.free(handle.name.index()),
        }
        value
    }

    /// Drops an object, and frees its memory. May move up to two other objects.
    ///
    /// Handles inside the value are dropped, so the objects that they name leak: take these out
    /// first.
    ///
    /// # Panics
    /// If the handle belongs to another heap, or if the value's `drop` panics; even then the memory
    /// is freed.
    #[inline]
    pub fn free<T>(&mut self, handle: Handle<T>) {
        drop(self.remove(handle));
    }

    /// Borrows the object of a live entry that a verified key names.
    #[inline]
    pub(crate) fn by_index<T>(&self, index: u32) -> &T {
        // SAFETY: O1: the key was verified, and carries its object's type; moves need `&mut self`
        // (O3).
        unsafe { self.object::<T>(index).as_ref() }
    }

    /// As `by_index`, but mutable.
    #[inline]
    pub(crate) fn by_index_mut<T>(&mut self, index: u32) -> &mut T {
        // SAFETY: as in `by_index`; the heap is borrowed exclusively, which every access by key
        // needs.
        unsafe { self.object::<T>(index).as_mut() }
    }

    /// Moves at most `budget` objects, until no size-class has more than one not-full page; returns
    /// the number of moves.
    pub fn compact(&mut self, budget: u64) -> u64 {
        self.engine.compact(budget)
    }

    /// Whether a name belongs to this heap.
    #[inline]
    pub(crate) fn own(&self, name: Name) -> Result<(), Refused> {
        if name.is_of(self.id) {
            Ok(())
        } else {
            Err(Refused::ForeignHandle)
        }
    }

    /// The size-class of a request.
    #[inline]
    pub(crate) fn class_of(&self, size: usize, align: usize) -> Result<SizeClass, Refused> {
        match self.config.geometry().class_for(size, align) {
            Some(class) => Ok(class),
            None => Err(self.too_large(align)),
        }
    }

    #[cold]
    fn too_large(&self, align: usize) -> Refused {
        let limit = self.config.geometry().page_bytes();
        if align > limit {
            Refused::TooAligned { limit }
        } else {
            Refused::TooLarge { limit }
        }
    }

    #[inline]
    fn allocate_layout(&self, layout: Layout) -> Result<u32, Refused> {
        self.allocate_block(self.class_of(layout.size(), layout.align())?)
    }

    /// Allocates a block of a class.
    #[inline]
    pub(crate) fn allocate_block(&self, class: SizeClass) -> Result<u32, Refused> {
        match self.engine.allocate(class) {
            Some(index) => Ok(index),
            None => Err(self.engine.refusal(class)),
        }
    }

    /// The address of a live entry's object.
    #[inline]
    pub(crate) fn object<T>(&self, index: u32) -> NonNull<T> {
        debug_assert!(
            self.engine.vet(index).is_some(),
            "O1: the handle names a live entry"
        );
        let offset = self.engine.object_offset(index);
        // SAFETY: a live entry's location lies inside the region (A2).
        unsafe { self.engine.pages.memory.address(offset) }.cast()
    }
}

#[cold]
#[inline(never)]
pub(crate) fn foreign() -> ! {
    panic!("the handle belongs to another heap")
}

/// Bits that number the blocks of a page.
fn block_bits(config: &Config) -> u32 {
    let geometry = config.geometry();
    let most = geometry
        .classes()
        .map(|class| u32::from(geometry.layout(class).blocks))
        .max()
        .expect("a geometry has classes");
    most.next_power_of_two().trailing_zeros()
}
