//! The direct heap itself: allocate, free, resize.
#![allow(private_bounds, reason = "`Space` is sealed")]

use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_core::{Corruption, RawHeap, Refused, Usage};

use super::demand::{DirectDemand, Needs, certify};
use super::memory::{Block, MAX_UNITS, Memory, Plan, Unit, head_bytes};
use super::partition::{Class, Partitioning, Standard, block_bytes, class_of};
use super::pools::Pools;
use super::runs::{FreeRuns, plan};
use super::space::Space;
use super::tags;

/// CF(∞) without abstract addresses: a heap of raw pointers over one region. Objects never move.
///
/// Dropping the heap frees nothing and runs no destructor: its memory is the region's.
///
/// # Examples
/// ```
/// use core::alloc::Layout;
/// use core::mem::MaybeUninit;
/// use surefit_direct::DirectHeap;
/// use surefit_core::RawHeap;
///
/// let mut region = [MaybeUninit::uninit(); 32 << 10];
/// let mut heap = DirectHeap::new(&mut region)?;
/// let layout = Layout::new::<[u64; 5]>();
/// let object = heap.allocate(layout)?;
/// // SAFETY: the object is live, and this is the layout it was allocated with.
/// unsafe { heap.free(object, layout) };
/// # Ok::<(), surefit_core::Refused>(())
/// ```
#[derive(Debug)]
pub struct DirectHeap<'m, S = Standard, R = FreeRuns<S>> {
    pub(super) memory: Memory<'m, S>,
    pub(super) space: R,
}

/// A direct heap with [`Pools`]: its certified mode. It serves a demand in exactly the bytes that
/// [`certify`](super::certify) computes, in any order of allocations and frees, and refuses what
/// exceeds the demand's pages and runs. Only an object that shrinks is never refused: see
/// [`DirectHeap::resize`](RawHeap::resize).
///
/// # Examples
/// See [`certify`](super::certify).
pub type PooledHeap<'m, S = Standard> = DirectHeap<'m, S, Pools<S>>;

impl<'m, S: Partitioning> PooledHeap<'m, S> {
    /// Creates a heap for a demand in the first [`certified`](super::certify) bytes of a region.
    ///
    /// # Errors
    /// As [`certify`](super::certify); [`Refused::Region`] if the region is too small.
    ///
    /// # Complexity
    /// Linear in the region's pages and units, and quadratic in the demand's lines.
    pub fn certified(
        region: &'m mut [MaybeUninit<u8>],
        demand: &[DirectDemand],
    ) -> Result<Self, Refused> {
        let needed = certify::<S>(demand)?.heap_bytes;
        let needs = Needs::of::<S>(demand)?;
        let refused = Refused::Region { needed };
        let plan = needs.plan::<S>().ok_or(refused)?;
        let mut memory = Memory::new(region, |_| Some(plan)).ok_or(refused)?;
        let space = Pools::new(&mut memory, plan, &needs, demand);
        Ok(Self { memory, space })
    }
}

impl<'m> DirectHeap<'m> {
    /// Creates a heap with pages of 8 KiB and units of 1 KiB over a region. It uses the whole
    /// units, up to 1 TiB.
    ///
    /// # Errors
    /// As [`DirectHeap::with`].
    ///
    /// # Complexity
    /// Linear in the region: writes 16 bytes per page and 4 bytes per unit.
    // It and what it calls are inlined so that the heap, of 3 KiB, is seldom copied: stacks may be
    // small.
    #[inline]
    pub fn new(region: &'m mut [MaybeUninit<u8>]) -> Result<Self, Refused> {
        Self::with(region)
    }
}

impl<'m, S: Partitioning> DirectHeap<'m, S> {
    /// As [`DirectHeap::new`], with any [`Partitioning`]: for small regions.
    ///
    /// # Errors
    /// [`Refused::Region`] if the region does not hold the tables and one unit.
    ///
    /// # Examples
    /// ```
    /// use core::mem::MaybeUninit;
    /// use surefit_direct::{DirectHeap, Tiny};
    ///
    /// let mut region = [MaybeUninit::uninit(); 4 << 10];
    /// let heap: DirectHeap<'_, Tiny> = DirectHeap::with(&mut region)?;
    /// assert!(heap.largest_free() > 3 << 10);
    /// # Ok::<(), surefit_core::Refused>(())
    /// ```
    pub fn with(region: &'m mut [MaybeUninit<u8>]) -> Result<Self, Refused> {
        let has_payload = |plan: &Plan| plan.admin_units::<S>() < plan.units;
        let memory = Memory::new(region, |units| Some(plan::<S>(units)).filter(has_payload));
        let mut memory = memory.ok_or(Refused::Region {
            needed: least_bytes::<S>(),
        })?;
        let free_runs = FreeRuns::new(&mut memory);
        Ok(Self {
            memory,
            space: free_runs,
        })
    }
}

impl<S: Partitioning, R: Space<S>> DirectHeap<'_, S, R> {
    /// The bytes of a live object's page-block or run, all of which the program may use: at least
    /// the size of its request. O(1).
    ///
    /// 0 if the heap finds that no live object is there, as
    /// [`try_free`](RawHeap::try_free) does.
    ///
    /// # Safety
    /// S1 of [`RawHeap::free`], except for what the heap finds.
    #[allow(unsafe_code, reason = "the contract of raw pointers")]
    #[must_use]
    pub unsafe fn usable_bytes(&self, object: NonNull<u8>) -> usize {
        if !self.memory.contains(object) {
            return 0;
        }
        // SAFETY: the address is inside; S1 for the rest.
        let block = unsafe { self.memory.block_at(object) };
        let record = self.memory.record(block.page);
        if record.holds_blocks() {
            return usize::from(block_bytes::<S>(record.class));
        }
        self.run_at(block).map_or(0, |run| {
            tags::used_units(&self.memory, run) as usize * S::UNIT_BYTES
        })
    }

    /// Whether the program should move the object to a new place, if it can: allocate another one
    /// of its size, copy, correct its pointers, free the old one. O(`most`).
    ///
    /// This is Compact-fit's rule, with a program that moves its objects itself: a size-class has
    /// more than `most` not-full pages (κ; 0 counts as 1), and the object lies in one that new
    /// objects of the class will not fill next. Objects over a quarter of a page lie in runs, not
    /// in pages of a class: `false`; so for an address outside the region's objects.
    ///
    /// After a program has asked this once about each live object of a class, with the same `most`
    /// and no other calls between, and has moved each for which it was `true`, at most `most` pages
    /// of the class are not full. No move of these opens a page, so none can be refused.
    ///
    /// # Examples
    /// ```
    /// use core::alloc::Layout;
    /// use core::mem::MaybeUninit;
    /// use surefit_direct::DirectHeap;
    /// use surefit_core::RawHeap;
    ///
    /// let mut region = [MaybeUninit::uninit(); 64 << 10];
    /// let mut heap = DirectHeap::new(&mut region)?;
    /// let layout = Layout::new::<[u64; 64]>();
    /// // Two pages of sixteen objects; then one object is left in each.
    /// let objects: [_; 32] = core::array::from_fn(|_| heap.allocate(layout).unwrap());
    /// for place in (0..32).filter(|place| place % 16 != 0) {
    ///     // SAFETY: the object is live, and this is the layout it was allocated with.
    ///     unsafe { heap.free(objects[place], layout) };
    /// }
    /// assert!(heap.defrag_hint(objects[0], 1) != heap.defrag_hint(objects[16], 1));
    /// assert!(!heap.defrag_hint(objects[0], 2) && !heap.defrag_hint(objects[16], 2));
    /// # Ok::<(), surefit_core::Refused>(())
    /// ```
    ///
    /// # Source
    /// The bound: Craciunas et al. (2008), partial compaction. The division of labour: what servers
    /// do that patch their allocator for it.
    #[must_use]
    pub fn defrag_hint(&self, object: NonNull<u8>, most: u32) -> bool {
        let page = self.memory.page_around(object);
        page.is_some_and(|page| self.memory.is_behind(page, most.max(1)))
    }

    /// The used run that begins at `block`, if one does. The page must hold no page-blocks.
    fn run_at(&self, block: Block) -> Option<Unit> {
        let unit = self.memory.unit_at(block)?;
        tags::begins(&self.memory, unit).then_some(unit)
    }

    #[inline]
    fn allocate_block(&mut self, class: Class) -> Result<NonNull<u8>, Refused> {
        match self.memory.take_block(class) {
            Some(block) => Ok(self.memory.address(block)),
            None => self.open(class),
        }
    }

    /// M1.
    #[cold]
    fn open(&mut self, class: Class) -> Result<NonNull<u8>, Refused> {
        let page = self.space.take_page(&mut self.memory, class);
        let page = page.ok_or(Refused::NoPage)?;
        self.memory.open_page(class, page);
        self.allocate_block(class)
    }

    #[inline(never)]
    fn allocate_run(&mut self, bytes: usize, align: usize) -> Result<NonNull<u8>, Refused> {
        let (units, tail) = units_of::<S>(bytes)?;
        let run = self.space.take(&mut self.memory, units, align, tail)?;
        Ok(self.memory.unit_address(run))
    }

    /// F5, and the free of a large object. Returns `false`, and changes nothing, if no object
    /// begins there.
    #[cold]
    fn free_last(&mut self, block: Block) -> bool {
        if !self.memory.record(block.page).holds_blocks() {
            let run = self.run_at(block);
            if let Some(run) = run {
                self.space.give(&mut self.memory, run);
            }
            return run.is_some();
        }
        let class = self.memory.record(block.page).class;
        self.memory.release_page(block.page);
        self.space.give_page(&mut self.memory, class, block.page);
        true
    }

    /// As [`Self::free_last`].
    ///
    /// # Panics
    /// If no object begins there.
    #[cold]
    fn free_last_or_panic(&mut self, block: Block) {
        assert!(
            self.free_last(block),
            "S1: no object begins here: a foreign or double free"
        );
    }

    /// Whether an object can begin here, as far as records and tags show it.
    fn is_live(&self, block: Block) -> bool {
        self.memory.record(block.page).holds_blocks() || self.run_at(block).is_some()
    }

    /// Resizes `object` to `bytes` bytes where it is, if possible. Its alignment stays what it was.
    /// Returns whether it did.
    fn resize_in_place(&mut self, block: Block, bytes: usize, align: usize) -> bool {
        let record = self.memory.record(block.page);
        if record.holds_blocks() {
            return class_of::<S>(bytes, align) == Some(record.class);
        }
        if class_of::<S>(bytes, align).is_some() {
            return false;
        }
        let (Some(run), Ok((units, tail))) = (self.run_at(block), units_of::<S>(bytes)) else {
            return false;
        };
        self.space.resize(&mut self.memory, run, units, tail)
    }

    /// Allocates the new place of an object that changes its size.
    fn allocate_to_move(&mut self, layout: Layout, grows: bool) -> Result<NonNull<u8>, Refused> {
        let (bytes, align) = (layout.size(), layout.align());
        if !grows || align > S::UNIT_BYTES || class_of::<S>(bytes, align).is_some() {
            return self.allocate(layout);
        }
        let (units, tail) = units_of::<S>(bytes)?;
        let run = self.space.take_growing(&mut self.memory, units, tail)?;
        Ok(self.memory.unit_address(run))
    }

    /// Frees the end of an object that shrinks, and that cannot move to a place with less waste.
    fn shrink_in_place(&mut self, block: Block, bytes: usize) {
        if !self.memory.record(block.page).holds_blocks() {
            if let (Some(run), Ok((units, tail))) = (self.run_at(block), units_of::<S>(bytes)) {
                self.space.resize(&mut self.memory, run, units, tail);
            }
        }
    }
}

/// The least bytes of a region, wherever it begins.
const fn least_bytes<S: Partitioning>() -> usize {
    let mut units = 1;
    while plan::<S>(units).admin_units::<S>() >= units {
        units += 1;
    }
    head_bytes::<S>() + units * S::UNIT_BYTES + S::UNIT_BYTES - 1
}

/// The number of units of a large object, and of unused bytes in the last one.
pub(super) const fn units_of<S: Partitioning>(bytes: usize) -> Result<(u32, u32), Refused> {
    let bytes = if bytes == 0 { 1 } else { bytes };
    let units = bytes.div_ceil(S::UNIT_BYTES);
    if units > MAX_UNITS {
        return Err(Refused::TooLarge {
            limit: MAX_UNITS.saturating_mul(S::UNIT_BYTES),
        });
    }
    let tail = bytes.wrapping_neg() & (S::UNIT_BYTES - 1);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "at most MAX_UNITS, and below a unit"
    )]
    {
        Ok((units as u32, tail as u32))
    }
}

// SAFETY: P1 and P2 make every page-block either used, listed or never opened, so two objects never
// share one; R1 to R4 do the same for runs; D1 and D3 put both inside the region. The page-blocks
// of the chosen class are as long and as aligned as requested (`classes`), and a run's length and
// start are computed from the request.
#[allow(unsafe_code, reason = "the contract of raw pointers")]
unsafe impl<S: Partitioning, R: Space<S>> RawHeap for DirectHeap<'_, S, R> {
    /// O(1). With [`Pools`], a run takes O(log of the demand's lengths of runs); so do its frees
    /// and resizes.
    #[inline]
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        match class_of::<S>(layout.size(), layout.align()) {
            Some(class) => self.allocate_block(class),
            None => self.allocate_run(layout.size(), layout.align()),
        }
    }

    /// O(1). The layout is not needed: the address determines the page-block or the run.
    ///
    /// # Panics
    /// If no object begins at the address of a large object, or at that of the last page-block of a
    /// released page: a foreign or a double free, detected at no cost. In debug builds also if the
    /// address is not that of a used page-block.
    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, _layout: Layout) {
        // SAFETY: S1 of `RawHeap::free`.
        let block = unsafe { self.memory.block_at(object) };
        if !self.memory.put_back(block, object) {
            self.free_last_or_panic(block);
        }
    }

    /// O(1). Finds what [`DirectHeap::free`](RawHeap::free) detects, and addresses outside the
    /// region.
    #[inline]
    unsafe fn try_free(&mut self, object: NonNull<u8>, _layout: Layout) -> Result<(), Refused> {
        if !self.memory.contains(object) {
            return Err(Refused::ForeignHandle);
        }
        // SAFETY: S1 of `RawHeap::free`, as far as it is not found here; the address is inside.
        let block = unsafe { self.memory.block_at(object) };
        let freed = self.memory.put_back(block, object) || self.free_last(block);
        if freed {
            Ok(())
        } else {
            Err(Refused::StaleHandle)
        }
    }

    /// O(1) if the object stays in place: within its class, as a run that shrinks, or as a run
    /// whose next run is free. Otherwise O(bytes copied).
    ///
    /// An object that shrinks is never refused: if there is no place for its new size, it stays
    /// where it is. With [`Pools`] it then keeps its page-block or run, and counts for the line of
    /// the demand that it was allocated for, until it is freed or moves.
    ///
    /// # Errors
    /// What [`try_free`](RawHeap::try_free) finds: [`Refused::ForeignHandle`] and
    /// [`Refused::StaleHandle`].
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        layout: Layout,
        new_size: usize,
    ) -> Result<NonNull<u8>, Refused> {
        if !self.memory.contains(object) {
            return Err(Refused::ForeignHandle);
        }
        // SAFETY: the address is inside; S1 of `RawHeap::free` for the rest.
        let block = unsafe { self.memory.block_at(object) };
        if !self.is_live(block) {
            return Err(Refused::StaleHandle);
        }
        if self.resize_in_place(block, new_size, layout.align()) {
            return Ok(object);
        }
        // SAFETY: the caller promises a size that does not overflow.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        let moved = match self.allocate_to_move(new_layout, new_size > layout.size()) {
            Ok(moved) => moved,
            Err(_) if new_size <= layout.size() => {
                self.shrink_in_place(block, new_size);
                return Ok(object);
            }
            Err(refused) => return Err(refused),
        };
        // SAFETY: both are live objects, different, and at least as long as the lesser size.
        unsafe { self.memory.copy(object, moved, layout.size().min(new_size)) };
        // SAFETY: S1 and S2 are the caller's promise.
        unsafe { self.free(object, layout) };
        Ok(moved)
    }

    fn usage(&self) -> Usage {
        self.account()
    }

    fn check(&self) -> Result<(), Corruption> {
        self.memory.check_pages()?;
        self.space.check(&self.memory)
    }
}
