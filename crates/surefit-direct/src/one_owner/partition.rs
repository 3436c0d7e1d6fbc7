//! How a direct heap divides its region, as a type: bytes of a page and of a unit, and
//! size-classes. All tables are constants of the program.
#![deny(unsafe_code)]

use core::fmt::Debug;

use surefit_classes::{Geometry, GeometrySpec, Spacing, Tail};

/// The most bytes of a page.
const MOST_PAGE_BYTES: usize = 8192;
/// The most size-classes.
pub(super) const MOST_CLASSES: usize = 64;
/// The distance of the smallest classes, and the alignment of every object, in bytes.
const GRANULE: usize = 8;

/// The entries of a table of requests, in granules.
const REQUESTS: usize = MOST_PAGE_BYTES / 4 / GRANULE + 1;

/// A size-class, or none. Only this module makes classes, from the table of a partitioning: they
/// are below its number of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Class(u8);

impl Class {
    /// No class.
    pub(super) const NONE: Self = Self(u8::MAX);

    /// The class as a number.
    #[inline]
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }

    /// What stands beside the class in a record, so that `check` sees when one of them changed.
    pub(super) const fn complement(self) -> u8 {
        !self.0
    }

    /// The class with a number, if the partitioning has it.
    #[expect(clippy::cast_possible_truncation, reason = "classes are below 64")]
    pub(super) const fn at<S: Partitioning>(index: usize) -> Option<Self> {
        if index < classes::<S>() {
            Some(Self(index as u8))
        } else {
            None
        }
    }

    /// A class that may not exist, for tests of the checker.
    #[cfg(test)]
    pub(super) const fn corrupt(index: u8) -> Self {
        Self(index)
    }
}

/// The size-classes of a partitioning.
#[derive(Debug)]
pub struct Tables {
    /// The class of a request of `8 · i` bytes, or of up to seven bytes fewer.
    class_of: [Class; REQUESTS],
    /// β of every class, in bytes; 0 where there is no class.
    block_bytes: [u16; MOST_CLASSES],
    classes: u8,
}

impl Tables {
    const fn new(page_bytes: usize, unit_bytes: usize, steps: u32) -> Self {
        assert!(
            page_bytes.is_power_of_two() && page_bytes >= 128 && page_bytes <= MOST_PAGE_BYTES,
            "a page has 128 to 8192 bytes, a power of two"
        );
        assert!(
            unit_bytes.is_power_of_two() && unit_bytes >= 16,
            "a unit has at least 16 bytes, a power of two"
        );
        assert!(
            unit_bytes < page_bytes && page_bytes / unit_bytes <= 16,
            "a page has 2 to 16 units"
        );
        assert!(
            matches!(steps, 1 | 2 | 4 | 8),
            "1, 2, 4 or 8 classes per power of two"
        );
        // Pages below 1 KiB take the smaller classes of that page.
        let spec = GeometrySpec {
            page_bytes: if page_bytes < 1024 { 1024 } else { page_bytes },
            granule: GRANULE,
            smallest: GRANULE,
            spacing: Spacing::Fraction(steps),
            tail: Tail::None,
        };
        match Geometry::new(&spec) {
            Ok(geometry) => Self::of(&geometry, page_bytes / 4),
            Err(error) => panic!("{}", error.message()),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "classes are below 64, page-blocks up to 2 KiB"
    )]
    const fn of(geometry: &Geometry, largest: usize) -> Self {
        let mut tables = Self {
            class_of: [Class::NONE; REQUESTS],
            block_bytes: [0; MOST_CLASSES],
            classes: 0,
        };
        let mut all = geometry.each_class();
        while let Some(class) = all.next_class() {
            let bytes = geometry.layout(class).block_bytes;
            if bytes as usize <= largest {
                tables.block_bytes[class.index()] = bytes as u16;
                tables.classes = class.index() as u8 + 1;
            }
        }
        let mut i = 0;
        while i <= largest / GRANULE {
            let bytes = if i == 0 { GRANULE } else { i * GRANULE };
            if let Some(class) = geometry.class_for(bytes, GRANULE) {
                tables.class_of[i] = Class(class.index() as u8);
            }
            i += 1;
        }
        tables
    }
}

mod sealed {
    pub trait Sealed {}
}

/// How a direct heap divides its region. [`Partition`] implements it.
pub trait Partitioning: sealed::Sealed + Debug + Send + Sync + 'static {
    /// Bytes of a page of page-blocks.
    const PAGE_BYTES: usize;
    /// Bytes of a unit: larger objects are runs of units. The base of the region is aligned to it,
    /// and a page-block to no more.
    const UNIT_BYTES: usize;
    #[doc(hidden)]
    const TABLES: &'static Tables;
    /// The largest request in bytes that a page-block serves: a quarter of a page. Runs of units
    /// serve larger ones.
    const LARGEST_BLOCK: usize = Self::PAGE_BYTES / 4;
}

/// Pages of `PAGE` bytes, units of `UNIT` bytes, and `STEPS` size-classes per power of two: a
/// size-class is at most 1/`STEPS` larger than the one below, but at least eight bytes.
///
/// `PAGE` is a power of two from 128 to 8192, `UNIT` from `PAGE`/16 to `PAGE`/2 and at least 16,
/// and `STEPS` 1, 2, 4 or 8; anything else does not compile. Smaller pages cost more records, and
/// leave less unused in the last page of each class: 4 bytes per unit and 16 per page.
///
/// # Examples
/// ```
/// use core::mem::MaybeUninit;
/// use surefit_direct::{DirectHeap, Partition};
///
/// // Requests of up to 256 bytes in page-blocks.
/// type Mine = Partition<1024, 128, 4>;
/// let mut region = [MaybeUninit::uninit(); 8 << 10];
/// let heap: DirectHeap<'_, Mine> = DirectHeap::with(&mut region)?;
/// assert!(heap.largest_free() > 6 << 10);
/// # Ok::<(), surefit_core::Refused>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Partition<const PAGE: usize, const UNIT: usize, const STEPS: u32> {}

impl<const PAGE: usize, const UNIT: usize, const STEPS: u32> sealed::Sealed
    for Partition<PAGE, UNIT, STEPS>
{
}

impl<const PAGE: usize, const UNIT: usize, const STEPS: u32> Partitioning
    for Partition<PAGE, UNIT, STEPS>
{
    const PAGE_BYTES: usize = PAGE;
    const UNIT_BYTES: usize = UNIT;
    const TABLES: &'static Tables = &Tables::new(PAGE, UNIT, STEPS);
}

/// Pages of 8 KiB, units of 1 KiB, classes 1/8 apart: for 64 KiB and more.
pub type Standard = Partition<8192, 1024, 8>;
/// Pages of 2 KiB, units of 256 bytes, classes 1/8 apart: for 16 KiB and more.
pub type Small = Partition<2048, 256, 8>;
/// Pages of 512 bytes, units of 64 bytes, classes 1/4 apart: for 2 KiB and more.
pub type Tiny = Partition<512, 64, 4>;

/// The number of size-classes.
pub(super) const fn classes<S: Partitioning>() -> usize {
    S::TABLES.classes as usize
}

/// All size-classes.
pub(super) fn each_class<S: Partitioning>() -> impl DoubleEndedIterator<Item = Class> {
    (0..S::TABLES.classes).map(Class)
}

/// β of a class, in bytes; 0 for none.
#[inline]
pub(super) const fn block_bytes<S: Partitioning>(class: Class) -> u16 {
    if class.index() < MOST_CLASSES {
        S::TABLES.block_bytes[class.index()]
    } else {
        0
    }
}

/// As [`block_bytes`], for a class that exists: without a branch.
#[inline]
pub(super) const fn block_bytes_of<S: Partitioning>(class: Class) -> u16 {
    S::TABLES.block_bytes[class.index() % MOST_CLASSES]
}

/// π of a class; 0 for none.
#[expect(clippy::cast_possible_truncation, reason = "a page has up to 8 KiB")]
pub(super) const fn blocks<S: Partitioning>(class: Class) -> u16 {
    match (S::PAGE_BYTES as u16).checked_div(block_bytes::<S>(class)) {
        Some(blocks) => blocks,
        None => 0,
    }
}

/// The class of a request, if page-blocks serve it. O(1).
#[inline]
pub(super) const fn class_of<S: Partitioning>(bytes: usize, align: usize) -> Option<Class> {
    if bytes > S::LARGEST_BLOCK {
        return None;
    }
    if align > GRANULE {
        return class_of_aligned::<S>(bytes, align);
    }
    Some(S::TABLES.class_of[bytes.div_ceil(GRANULE)])
}

/// The first class from that of the request on whose page-blocks keep the alignment: at most one
/// step per class, and mostly one or two.
#[cold]
const fn class_of_aligned<S: Partitioning>(bytes: usize, align: usize) -> Option<Class> {
    if align > S::UNIT_BYTES {
        return None;
    }
    let mut class = S::TABLES.class_of[bytes.div_ceil(GRANULE)];
    while class.0 < S::TABLES.classes {
        if block_bytes::<S>(class) as usize & (align - 1) == 0 {
            return Some(class);
        }
        class = Class(class.0 + 1);
    }
    None
}
