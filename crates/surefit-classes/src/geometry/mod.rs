//! How pages are partitioned: which page-block serves a request, and where everything lies in a
//! page.
//!
//! For any request and alignment, a heap of pages must find the smallest page-block that holds it;
//! for any byte of a page, the page-block to which it belongs. Both must take constant time. A
//! [`Geometry`] is the table for both. It is built once (at compile time if the spec is a
//! constant), never changes, and takes at most 3,232 bytes.
//!
//! ```text
//! class_for(bytes, align):
//!   class = bytes <= 1024 ? fine[ceil(bytes / 8)]                       one load
//!         : the smallest class within coarse[bucket] ..= coarse[bucket + 1] that holds bytes
//!                                        32 buckets per power of two, or 1; halving
//!   align <= granule ? class : class + trailing_zeros(aligned[log2 align] >> class)
//! block_at(offset) = offset * ceil(2^32 / beta) >> 32                   no division
//! ```
//!
//! A page of P bytes has π page-blocks of β bytes and back-references of r bytes:
//!
//! ```text
//! 0                π·β                  π·β + 8·leaves           + r·π             P
//! | page-blocks ... | leaves (π > 8)     | back-references (π > 8) | page-internal  |
//! ```
//!
//! If a page has up to 8 page-blocks, its bitmap and back-references are in the page's record,
//! outside the page: four page-blocks of 4096 bytes fit in a page of 16 KiB, and one of 16384 bytes
//! fills it.
//!
//! With [`Spacing::Fraction`], the page that they divide determines the sizes: the pseudo-code is
//! in `placement.rs`. Each size is as large as its π allows. Sizes are multiples of the granule,
//! and of 1/64 of the power of two below them.
//!
//! # Invariants
//! - G1. Page-block sizes ascend strictly. Each is a multiple of the granule. The last is P.
//! - G2. The parts of a page in the picture do not overlap and end at or before P; 1 ≤ π ≤ 4096.
//! - G3. `class_for` finds the smallest page-block that is large enough and whose size is a
//!   multiple of the alignment. Pages are aligned to P, so all page-blocks of the class are
//!   aligned.
//! - G4. `block_at` is ⌊offset / β⌋ for every offset below 64 KiB. Proof: with r = ⌈2³²/β⌉ and e =
//!   rβ − 2³², 0 ≤ e < β ≤ 2¹⁶. Then offset · r / 2³² = offset/β + offset · e / (β · 2³²), and the
//!   second term is below 1/β because offset · e < 2³². The fraction of offset/β is at most 1 −
//!   1/β, so the second term never carries.
//! - G5. Entries of the layout table after the last class are copies of the last class. So no
//!   class, not even one of another geometry, leads to a division by zero or out of the table.
//!
//! A geometry cannot change. So tests prove these invariants once, over every size, alignment and
//! offset, and no `check` repeats them.
//!
//! # Bounds
//! `class_for`: one table load up to 1024 bytes. Above, two loads and b halvings, if fewer than 2^b
//! page-block sizes lie in one bucket: 1 halving by default, at most 2 with any fraction, at most 7
//! with any list; without the feature `many-classes` at most 5. Any alignment adds one shift and
//! one bit scan.
//!
//! The losses by partitioning with the default geometry (55 classes), computed over all classes and
//! requests:
//!
//! | loss | worst | where |
//! |---|---|---|
//! | page-internal | 5.9 % and 2.3 % of a page | 1024 and 512 bytes, in addition to 1072 and 520, for alignment |
//! | page-internal, the other classes | 1.5 % of a page | |
//! | page-internal, mean over the classes | 0.5 % | |
//! | page-block-internal, requests over 64 bytes, π > 8 | 11.0 % of the page-block | 577 bytes in 648 |
//! | page-block-internal, π ≤ 8 | 50 % | 8193 bytes in 16384: use pieces |
//! | alignment 16 / 64 / 4096, requests of up to P/4 that are multiples of it | 1.30 / 1.55 / 1.00 × the request | |
//!
//! Both losses together at the peak of seven recorded programs, relative to what was live (P = 16
//! KiB, 4-byte back-references, unfilled pages not counted), at 1/8 spacing:
//!
//! | | cc1 | emacs | python | redis | redis-drift | rustc | varnish |
//! |---|---|---|---|---|---|---|---|
//! | objects over P/4 in pieces | 1.010 | 1.010 | 1.017 | 1.015 | 1.062 | 1.009 | 1.008 |
//! | contiguous up to P, runs of pages above | 1.037 | 1.017 | 1.239 | 1.108 | 1.068 | 1.062 | 1.191 |
//!
//! With pieces, 1/4 spacing loses 1.3 points more on average. 1/16 spacing loses 0.2 points less
//! but has 79 classes, and each may have an unfilled page. With one such page per class included,
//! 1/8 is the best of the three at 8 and 16 KiB pages (at 16 KiB 1.053 × live, against 1.057 at 1/4
//! and 1.061 at 1/16).
//!
//! # Departures
//! The published classes grow by 1/8 each up to 8000 bytes, and one class has the whole page,
//! whatever fits in the page: up to 26.6 % of a page is page-internal. Here, a request of exactly a
//! class's size is served by that class.
//!
//! # Drawbacks
//! Between P/4 and P there are few sizes, because a page holds only whole page-blocks. Every
//! size-class in use may hold one page that is hardly filled, so more classes are not always
//! better.
//!
//! # Source
//! Craciunas, Kirsch, Payer, Sokolova, Stadler, Staudinger, "A Compacting Real-Time Memory
//! Management System", USENIX ATC 2008 (pages and size-classes). The placement is ours.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

mod cast;
mod class_layout;
mod error;
mod placement;
mod spec;
mod tables;

use core::fmt;

use cast::byte;
pub use class_layout::ClassLayout;
pub use error::GeometryError;
use placement::{Page, Placement};
use spec::ClassBits;
pub use spec::{
    GeometrySpec, INLINE_BLOCKS, MAX_BLOCKS, MAX_CLASSES, SizeClass, Spacing, Tail, WORD_BLOCKS,
};
use tables::{ALIGNMENTS, COARSE_ENTRIES, FINE_BYTES, FINE_ENTRIES, bucket};

/// The smaller granule.
const MIN_GRANULE: usize = 8;

/// A partitioning of pages into size-classes.
#[derive(Clone, PartialEq, Eq)]
pub struct Geometry {
    /// G1, G2, G4, G5.
    layouts: [ClassLayout; MAX_CLASSES],
    /// For each alignment from 16 bytes, the set of classes whose page-blocks are multiples of it.
    aligned: [ClassBits; ALIGNMENTS],
    /// For each multiple of eight bytes, the smallest class that holds it.
    fine: [u8; FINE_ENTRIES],
    /// For each bucket, the smallest class that holds its smallest request.
    coarse: [u8; COARSE_ENTRIES],
    count: u8,
    page_shift: u8,
    granule: u8,
    tail: Tail,
}

impl Geometry {
    /// [`GeometrySpec::DEFAULT`], built.
    #[cfg(feature = "many-classes")]
    #[cfg_attr(docsrs, doc(cfg(feature = "many-classes")))]
    pub const DEFAULT: Self = match Self::new(&GeometrySpec::DEFAULT) {
        Ok(geometry) => geometry,
        Err(error) => panic!("{}", error.message()),
    };

    /// Builds the geometry that `spec` describes.
    ///
    /// # Errors
    /// The first error in `spec`, and how to fix it.
    ///
    /// # Complexity
    /// O(classes + table): a few thousand steps, meant for `const` or for the start of a program.
    ///
    /// # Examples
    /// ```
    /// use surefit_classes::geometry::{Geometry, GeometrySpec};
    ///
    /// const SPEC: GeometrySpec<'_> = GeometrySpec { page_bytes: 1024, ..GeometrySpec::DEFAULT };
    /// const SMALL: Geometry = match Geometry::new(&SPEC) {
    ///     Ok(geometry) => geometry,
    ///     Err(error) => panic!("{}", error.message()),
    /// };
    /// let class = SMALL.class_for(100, 8).expect("fits a page");
    /// assert_eq!(SMALL.layout(class).block_bytes, 104);
    /// ```
    pub const fn new(spec: &GeometrySpec<'_>) -> Result<Self, GeometryError> {
        let page = match Page::new(spec) {
            Ok(page) => page,
            Err(error) => return Err(error),
        };
        let placement = match Placement::new(spec, page) {
            Ok(placement) => placement,
            Err(error) => return Err(error),
        };
        let layouts = tables::layouts(&placement, page);
        Ok(Self {
            aligned: tables::aligned(&layouts, placement.count),
            fine: tables::fine(&layouts),
            coarse: tables::coarse(&layouts, placement.count),
            layouts,
            count: byte(placement.count),
            page_shift: byte(spec.page_bytes.ilog2() as usize),
            granule: byte(spec.granule),
            tail: spec.tail,
        })
    }

    /// The class of the smallest page-blocks that hold `bytes` bytes aligned to `align`.
    ///
    /// `None` iff `bytes` or `align` is above P, or `align` is above the granule and not a power of
    /// two. Zero bytes are served like one byte.
    ///
    /// # Complexity
    /// O(1): see the bounds of the module.
    #[inline]
    #[must_use]
    pub const fn class_for(&self, bytes: usize, align: usize) -> Option<SizeClass> {
        // The constant comes first: a caller whose alignment is known at compile time pays nothing.
        if align > MIN_GRANULE && align > self.granule as usize {
            return self.class_for_aligned(bytes, align);
        }
        self.class_for_bytes(bytes)
    }

    /// As [`class_for`](Self::class_for), if it takes one look-up: `None` also for larger requests,
    /// and for alignments above the granule.
    #[expect(clippy::arithmetic_side_effects, reason = "not above 1024 bytes")]
    #[inline]
    #[must_use]
    pub const fn class_at_once(&self, bytes: usize, align: usize) -> Option<SizeClass> {
        if bytes <= FINE_BYTES && (align <= MIN_GRANULE || align <= self.granule as usize) {
            return Some(SizeClass(self.fine[(bytes + 7) >> 3]));
        }
        None
    }

    /// [`class_for`](Self::class_for) with the alignment of the granule.
    #[expect(clippy::arithmetic_side_effects, reason = "not above 1024 bytes")]
    #[inline]
    #[must_use]
    pub const fn class_for_bytes(&self, bytes: usize) -> Option<SizeClass> {
        if bytes <= FINE_BYTES {
            return Some(SizeClass(self.fine[(bytes + 7) >> 3]));
        }
        self.class_for_large(bytes)
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "indices of tables of at most 256 entries; low is below high"
    )]
    #[inline(never)]
    const fn class_for_large(&self, bytes: usize) -> Option<SizeClass> {
        if bytes > self.page_bytes() {
            return None;
        }
        let bucket = bucket(bytes);
        let mut low = self.coarse[bucket & (COARSE_ENTRIES - 1)];
        let mut high = self.coarse[(bucket + 1) & (COARSE_ENTRIES - 1)];
        while low < high {
            let middle = low + (high - low) / 2;
            if (self.layouts[middle as usize & (MAX_CLASSES - 1)].block_bytes as usize) < bytes {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Some(SizeClass(low))
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a page is a multiple of every alignment up to its own: the last class is in every set"
    )]
    #[inline(never)]
    const fn class_for_aligned(&self, bytes: usize, align: usize) -> Option<SizeClass> {
        if align > self.page_bytes() || !align.is_power_of_two() {
            return None;
        }
        let Some(SizeClass(class)) = self.class_for_bytes(bytes) else {
            return None;
        };
        let further = self.aligned[tables::alignment(align)] >> class;
        Some(SizeClass(class + byte(further.trailing_zeros() as usize)))
    }

    /// Where everything lies in a page of `class`. For a class that this geometry lacks, the layout
    /// of the largest class.
    #[inline]
    #[must_use]
    pub const fn layout(&self, class: SizeClass) -> &ClassLayout {
        &self.layouts[class.index() & (MAX_CLASSES - 1)]
    }

    /// The number of size-classes.
    #[inline]
    #[must_use]
    pub const fn class_count(&self) -> usize {
        self.count as usize
    }

    /// The class at `index`, counted from the smallest; `None` iff there is none.
    #[inline]
    #[must_use]
    pub const fn class(&self, index: usize) -> Option<SizeClass> {
        if index < self.class_count() {
            Some(SizeClass(byte(index)))
        } else {
            None
        }
    }

    /// All classes, from the smallest.
    #[inline]
    pub fn classes(
        &self,
    ) -> impl DoubleEndedIterator<Item = SizeClass> + ExactSizeIterator + Clone + use<> {
        (0..self.count).map(SizeClass)
    }

    /// All classes, from the smallest; `const`, unlike [`Geometry::classes`].
    #[inline]
    #[must_use]
    pub const fn each_class(&self) -> EachClass<'_> {
        EachClass {
            geometry: self,
            next: 0,
        }
    }

    /// P, bytes of a page.
    #[inline]
    #[must_use]
    pub const fn page_bytes(&self) -> usize {
        1 << self.page_shift
    }

    /// The smallest request, in bytes, whose class is `class` at the alignment of the granule; 0
    /// for the first class.
    ///
    /// Stricter alignments may bring smaller requests to a class.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "an index above zero, and a page-block of at most 64 KiB"
    )]
    #[inline]
    #[must_use]
    pub const fn smallest_request(&self, class: SizeClass) -> usize {
        match class.index() & (MAX_CLASSES - 1) {
            0 => 0,
            index => self.layouts[index - 1].block_bytes as usize + 1,
        }
    }

    /// Bytes of bitmap leaves in a page of `class`: administrative space.
    #[expect(clippy::arithmetic_side_effects, reason = "a part of a page (G2)")]
    #[inline]
    #[must_use]
    pub const fn leaf_bytes(&self, class: SizeClass) -> usize {
        8 * self.layout(class).leaves as usize
    }

    /// Bytes of back-references in a page of `class`: administrative space; 0 where they are in the
    /// page's record.
    #[expect(clippy::arithmetic_side_effects, reason = "a part of a page (G2)")]
    #[inline]
    #[must_use]
    pub const fn back_reference_bytes(&self, class: SizeClass) -> usize {
        let blocks = self.layout(class).blocks as usize;
        match self.tail {
            Tail::BackReferences { bytes } if blocks > INLINE_BLOCKS => bytes * blocks,
            _ => 0,
        }
    }

    /// Bytes of a page of `class` that are in no page-block, no leaf and no back-reference:
    /// page-internal fragmentation.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the other parts of a page end within it (G2)"
    )]
    #[inline]
    #[must_use]
    pub const fn page_internal_bytes(&self, class: SizeClass) -> usize {
        let used = self.layout(class).leaf_offset() as usize;
        self.page_bytes() - used - self.leaf_bytes(class) - self.back_reference_bytes(class)
    }

    /// log₂ P.
    #[inline]
    #[must_use]
    pub const fn page_shift(&self) -> u32 {
        self.page_shift as u32
    }

    /// The number of bytes of which every page-block size is a multiple.
    #[inline]
    #[must_use]
    pub const fn granule(&self) -> usize {
        self.granule as usize
    }

    /// What pages keep besides page-blocks and leaves.
    #[inline]
    #[must_use]
    pub const fn tail(&self) -> Tail {
        self.tail
    }

    /// The class with one page-block per page.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a geometry has a class at least"
    )]
    #[inline]
    #[must_use]
    pub const fn largest(&self) -> SizeClass {
        SizeClass(self.count - 1)
    }
}

const _: () = assert!(
    size_of::<Geometry>() <= 3232,
    "the size the module's doc names, on every word width"
);

/// The classes of a geometry, one by one.
#[derive(Debug)]
pub struct EachClass<'g> {
    geometry: &'g Geometry,
    next: usize,
}

impl EachClass<'_> {
    /// The next class, if there is one.
    #[inline]
    pub const fn next_class(&mut self) -> Option<SizeClass> {
        let class = self.geometry.class(self.next);
        self.next = self.next.saturating_add(1);
        class
    }
}

#[cfg(feature = "many-classes")]
#[cfg_attr(docsrs, doc(cfg(feature = "many-classes")))]
impl Default for Geometry {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Debug for Geometry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Geometry")
            .field("page_bytes", &self.page_bytes())
            .field("granule", &self.granule())
            .field("tail", &self.tail)
            .field("block_bytes", &BlockBytes(self))
            .finish_non_exhaustive()
    }
}

struct BlockBytes<'a>(&'a Geometry);

impl fmt::Debug for BlockBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = self
            .0
            .classes()
            .map(|class| self.0.layout(class).block_bytes);
        f.debug_list().entries(sizes).finish()
    }
}

#[cfg(test)]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "tests panic where a number overflows"
)]
mod tests {
    use super::{COARSE_ENTRIES, Geometry, GeometrySpec, Spacing};

    /// The most halvings that `class_for_large` needs.
    fn halvings(geometry: &Geometry) -> u32 {
        let used = 32 * geometry.page_shift().saturating_sub(10) as usize;
        let spans = geometry.coarse[..=used.min(COARSE_ENTRIES - 1)].windows(2);
        let steps = spans.map(|span| u8::BITS - (span[1] - span[0]).leading_zeros());
        steps.max().unwrap_or(0)
    }

    #[test]
    fn a_large_request_takes_one_halving_by_default_and_two_at_most_with_any_fraction() {
        assert_eq!(halvings(&Geometry::DEFAULT), 1);
        for shift in 10..=16 {
            for fraction in 1..=64 {
                let spec = GeometrySpec {
                    page_bytes: 1 << shift,
                    spacing: Spacing::Fraction(fraction),
                    ..GeometrySpec::DEFAULT
                };
                let Ok(geometry) = Geometry::new(&spec) else {
                    assert!(fraction > 16, "at most 1/16 is always possible");
                    continue;
                };
                assert!(halvings(&geometry) <= 2, "1/{fraction}: {geometry:?}");
            }
        }
    }

    #[test]
    fn no_list_takes_more_than_seven_halvings() {
        let dense: [u32; 127] =
            core::array::from_fn(|index| 65520 - 8 * (126 - u32::try_from(index).expect("small")));
        let spec = GeometrySpec {
            page_bytes: 1 << 16,
            spacing: Spacing::Explicit(&dense),
            ..GeometrySpec::DEFAULT
        };
        let geometry = Geometry::new(&spec).expect("128 classes");
        assert!(halvings(&geometry) <= 7);
        assert_eq!(
            geometry.class_for(65000, 8).map(super::SizeClass::index),
            Some(61)
        );
    }
}
