//! The block table heap itself: the table, the frames, and what all its calls share.
#![deny(unsafe_code)]

use core::cell::Cell;
use core::mem::MaybeUninit;

use surefit_compact::{SizeClass, Wide, Width};
use surefit_core::Refused;

use super::config::BlockTableConfig;
use super::frames::Frames;
use super::handle::{HeapId, Name};
use super::table::Table;

/// The non-moving Compact-fit for one owner. It is `Send`, but not `Sync`.
///
/// # Examples
/// ```
/// use core::alloc::Layout;
/// use core::mem::MaybeUninit;
/// use surefit_papers::block_table::{BlockTableConfig, BlockTableHeap};
///
/// static CONFIG: BlockTableConfig = BlockTableConfig::DEFAULT;
/// let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
/// let heap: BlockTableHeap = BlockTableHeap::new(&mut memory, &CONFIG)?;
/// let mut text = heap.alloc_zeroed(Layout::from_size_align(100, 1)?)?;
/// heap.write_at(&mut text, 30, b"over the end of a frame");
/// assert_eq!(heap.chunk(&text, 30), b"ov"); // up to the end of the first frame of 32 bytes
///
/// let number = heap.insert(7_u64)?;
/// let kept = heap.get(&number);
/// heap.free_bytes(text); // moves rows at most: `kept` stays good
/// assert_eq!(*kept, 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A freed object cannot be borrowed:
/// ```compile_fail
/// # use core::mem::MaybeUninit;
/// # use surefit_papers::block_table::{BlockTableConfig, BlockTableHeap};
/// # static CONFIG: BlockTableConfig = BlockTableConfig::DEFAULT;
/// # let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
/// # let heap: BlockTableHeap = BlockTableHeap::new(&mut memory, &CONFIG).unwrap();
/// let number = heap.insert(7_u64).unwrap();
/// let kept = heap.get(&number);
/// heap.free(number); // borrowed by `kept`
/// assert_eq!(*kept, 7);
/// ```
#[derive(Debug)]
pub struct BlockTableHeap<'m, W: Width<Generation = ()> = Wide> {
    /// The heap whose objects are the rows of the block table, and the pages that became frames.
    pub(super) table: Table<'m, W>,
    pub(super) frames: Frames,
    pub(super) config: &'m BlockTableConfig,
    /// Bytes of the region, from the first page on.
    pub(super) bytes: usize,
    pub(super) id: HeapId,
    /// Live objects.
    pub(super) objects: Cell<u32>,
}

impl<'m, W: Width<Generation = ()>> BlockTableHeap<'m, W> {
    /// Creates a heap over a region of any bytes. If the region is not aligned to a page, up to a
    /// page less one byte is skipped.
    ///
    /// # Errors
    /// [`Refused::Region`] if not even one page fits; [`Refused::TooLarge`] if the region has more
    /// pages or frames than words of this width can name; [`Refused::NoHeapId`] after 2³² heaps.
    ///
    /// # Panics
    /// If the configuration was made for another width.
    ///
    /// # Complexity
    /// Linear in the number of pages, because it writes their records.
    pub fn new(
        region: &'m mut [MaybeUninit<u8>],
        config: &'m BlockTableConfig,
    ) -> Result<Self, Refused> {
        let first = region.as_ptr().align_offset(config.page_bytes());
        let first = first.min(region.len());
        let (bytes, address) = (region.len() - first, region[first..].as_ptr().addr());
        let table = Table::new(region, &config.table)?;
        let limit = config.region_max::<W>();
        if bytes > limit {
            return Err(Refused::TooLarge { limit });
        }
        Ok(Self {
            table,
            frames: Frames::new(address, config.frame_shift),
            config,
            bytes,
            id: HeapId::unique()?,
            objects: Cell::new(0),
        })
    }

    /// Moves at most `budget` rows of the table, until no size-class has more than one not-full
    /// page. Returns the number of moves. No object moves.
    pub fn compact(&self, budget: u64) -> u64 {
        self.table.compact(budget)
    }

    /// f: bytes of a frame. No typed value may be larger, or more strictly aligned.
    #[must_use]
    pub fn frame_bytes(&self) -> usize {
        self.config.frame_bytes()
    }

    /// The class of pages that become frames: one page-block per page.
    pub(super) fn page_class(&self) -> SizeClass {
        let geometry = self.config.table.geometry();
        let last = geometry.class(geometry.class_count() - 1);
        last.expect("a geometry has classes")
    }

    #[inline]
    pub(super) fn own(&self, name: Name) -> Result<(), Refused> {
        if name.is_of(self.id) {
            Ok(())
        } else {
            Err(Refused::ForeignHandle)
        }
    }

    #[inline]
    pub(super) fn assert_own(&self, name: Name) {
        if self.own(name).is_err() {
            foreign();
        }
    }

    #[cold]
    pub(super) fn too_large(&self) -> Refused {
        Refused::TooLarge { limit: self.bytes }
    }
}

#[cold]
#[inline(never)]
pub(super) fn foreign() -> ! {
    panic!("the handle belongs to another heap")
}
