//! The demand of a program on a heap: how many page-blocks are live at once.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use surefit_classes::geometry::MAX_CLASSES;
use surefit_classes::{Geometry, SizeClass};

use super::limits::least;
use crate::config::Config;
use crate::pieces::{Division, Pieces};
use crate::width::Width;

/// The most that is live at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand<'a> {
    /// For each size-class, by its index, the most page-blocks ever live at once. Classes after the
    /// end of the slice have none.
    PerClass(&'a [u32]),
    /// A budget that all classes share.
    Joint(Budget),
    /// A budget that all classes share, and for each of them the most page-blocks ever live, as in
    /// `PerClass`.
    Both(Budget, &'a [u32]),
}

impl Demand<'_> {
    /// Whether page-blocks of this class can be live.
    pub(super) const fn uses(&self, class: SizeClass, block_bytes: u32) -> bool {
        match self {
            Self::PerClass(most) => most_of(most, class.index()) > 0,
            Self::Joint(budget) => budget.uses(class, block_bytes),
            Self::Both(budget, most) => {
                most_of(most, class.index()) > 0 && budget.uses(class, block_bytes)
            }
        }
    }
}

/// The most page-blocks of a class that a slice of maxima allows.
pub(super) const fn most_of(most: &[u32], index: usize) -> u32 {
    if index < most.len() { most[index] } else { 0 }
}

/// The most page-blocks live at once, and the most bytes of them, in any mix of the classes used.
///
/// A byte object in pieces is several page-blocks. While an object is resized, its old and new
/// page-blocks are live at once. [`BlockCount`] converts objects to page-blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// N: the most page-blocks live at once.
    pub objects: u64,
    /// B: the most bytes of page-blocks live at once.
    pub block_bytes: u64,
    /// The classes to which the page-blocks may belong.
    pub classes: ClassSet,
}

impl Budget {
    /// Nothing.
    pub(super) const NONE: Self = Self {
        objects: 0,
        block_bytes: 0,
        classes: ClassSet::EMPTY,
    };

    /// This budget and at the same time, of each class, as many page-blocks as `most` says: a
    /// [`Demand::PerClass`](super::Demand::PerClass) beside it, as one budget.
    ///
    /// # Examples
    /// ```
    /// use surefit_compact::Config;
    /// use surefit_compact::certify::{Budget, ClassSet};
    /// let config = Config::TINY;
    /// let geometry = config.geometry();
    /// let none = Budget { objects: 0, block_bytes: 0, classes: ClassSet::EMPTY };
    /// let sum = none.and_per_class(geometry, &[3]);
    /// let class = geometry.class(0).expect("the smallest");
    /// assert_eq!(sum.objects, 3);
    /// assert_eq!(sum.block_bytes, 3 * u64::from(geometry.layout(class).block_bytes));
    /// assert!(sum.classes.contains(class));
    /// ```
    #[must_use]
    pub fn and_per_class(self, geometry: &Geometry, most: &[u32]) -> Self {
        let peaks = geometry.classes().zip(most);
        let peaks = peaks.filter(|(_, most)| **most > 0);
        peaks.fold(self, |sum, (class, most)| {
            let (most, block) = (u64::from(*most), geometry.layout(class).block_bytes);
            let bytes = most.saturating_mul(u64::from(block));
            Self {
                objects: sum.objects.saturating_add(most),
                block_bytes: sum.block_bytes.saturating_add(bytes),
                classes: sum.classes.with(class),
            }
        })
    }

    const fn uses(&self, class: SizeClass, block_bytes: u32) -> bool {
        self.classes.contains(class) && self.objects > 0 && self.block_bytes >= block_bytes as u64
    }

    /// The most page-blocks of one class that the budget, and the class's own peak if there is one,
    /// allow at once.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "page-blocks have eight bytes or more"
    )]
    pub(super) const fn most_live(
        &self,
        class: SizeClass,
        block_bytes: u32,
        peaks: Option<&[u32]>,
    ) -> u64 {
        if !self.uses(class, block_bytes) {
            return 0;
        }
        let affordable = least(self.block_bytes / block_bytes as u64, self.objects);
        match peaks {
            Some(peaks) => least(affordable, most_of(peaks, class.index()) as u64),
            None => affordable,
        }
    }

    /// The most objects that the budget allows: N, or as many of the smallest class as B holds, or
    /// as many as the peaks allow.
    pub(super) const fn objects_possible(&self, geometry: &Geometry, peaks: Option<&[u32]>) -> u64 {
        let (mut most, mut sum, mut classes) = (0, 0_u64, geometry.each_class());
        while let Some(class) = classes.next_class() {
            let block_bytes = geometry.layout(class).block_bytes;
            let of_class = self.most_live(class, block_bytes, None);
            if of_class > most {
                most = of_class;
            }
            sum = sum.saturating_add(self.most_live(class, block_bytes, peaks));
        }
        least(most, sum)
    }
}

/// A set of size-classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassSet(u128);

impl ClassSet {
    /// No class.
    pub const EMPTY: Self = Self(0);

    /// The last bit of a set, no less than the greatest index of a class.
    const LAST: usize = u128::BITS as usize - 1;

    /// All classes of a geometry.
    #[must_use]
    pub const fn all(geometry: &Geometry) -> Self {
        let (mut set, mut classes) = (Self::EMPTY, geometry.each_class());
        while let Some(class) = classes.next_class() {
            set = set.with(class);
        }
        set
    }

    /// The classes that serve requests of up to `bytes` bytes without alignment. All classes if
    /// `bytes` is above a page.
    #[must_use]
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "no index of a class is above the last"
    )]
    pub const fn of_requests(geometry: &Geometry, bytes: usize) -> Self {
        let Some(last) = geometry.class_for_bytes(bytes) else {
            return Self::all(geometry);
        };
        Self(u128::MAX >> (Self::LAST - last.index()))
    }

    /// The classes of the page-blocks of byte objects of up to `bytes` bytes at alignments of up to
    /// `align`: contiguous ones, pieces and spines. All classes if an object would be longer than a
    /// page; an alignment above a page adds none.
    ///
    /// The page-block of an aligned object is the smallest that holds it and is a multiple of its
    /// alignment.
    ///
    /// # Examples
    /// ```
    /// use surefit_compact::Config;
    /// use surefit_compact::certify::ClassSet;
    /// let config = Config::TINY;
    /// let aligned = config.geometry().class_for(176, 16).expect("fits");
    /// assert!(!ClassSet::of_objects(&config, 176, 8).contains(aligned));
    /// assert!(ClassSet::of_objects(&config, 176, 16).contains(aligned));
    /// ```
    #[must_use]
    pub const fn of_objects(config: &Config, bytes: usize, align: usize) -> Self {
        let (geometry, division) = (config.geometry(), config.division());
        let in_pieces = division.divides(bytes);
        let longest = if in_pieces {
            division.small_bytes()
        } else {
            bytes
        };
        let has_large = in_pieces && division.large_pieces(bytes) > 0;
        let mut set = Self::of_requests(geometry, longest);
        let mut power = 1;
        // A shorter object's page-block is in the set already, or that of the longest.
        while power <= align && power <= geometry.page_bytes() {
            set = set.with_served(geometry, longest, power);
            if has_large {
                set = set.with_served(geometry, division.large_bytes(), power);
            }
            power <<= 1;
        }
        set
    }

    /// The set with the class of a request, if a page holds it.
    const fn with_served(self, geometry: &Geometry, bytes: usize, align: usize) -> Self {
        match geometry.class_for(bytes, align) {
            Some(class) => self.with(class),
            None => self,
        }
    }

    /// The set with one more class.
    #[must_use]
    pub const fn with(self, class: SizeClass) -> Self {
        Self(self.0 | 1 << class.index())
    }

    /// What is in one of two sets.
    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a class is in the set.
    #[must_use]
    pub const fn contains(self, class: SizeClass) -> bool {
        self.0 >> class.index() & 1 == 1
    }

    /// The number of classes.
    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number of classes from an index on.
    pub(super) const fn len_from(self, index: usize) -> u32 {
        if index >= MAX_CLASSES {
            return 0;
        }
        (self.0 >> index).count_ones()
    }
}

/// Page-blocks and their bytes: what a request takes from a budget.
///
/// # Examples
/// ```
/// use surefit_compact::certify::BlockCount;
/// use surefit_compact::{Config, Wide};
/// // 10,000 bytes: two pieces of 4096 bytes, a remainder of 1808, and a spine of three words.
/// let cost = BlockCount::of::<Wide>(&Config::DEFAULT, 10_000, 8).expect("fits");
/// assert_eq!(cost.blocks, 4);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockCount {
    /// Page-blocks.
    pub blocks: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl BlockCount {
    /// Nothing.
    pub(super) const NONE: Self = Self {
        blocks: 0,
        bytes: 0,
    };

    /// What a byte object of `len` bytes takes: its pieces, its remainder and its spines. `None` if
    /// no heap can hold it, because a page-block would be larger than a page, or the bytes exceed
    /// 64 bits.
    #[must_use]
    pub const fn of<W: Width>(config: &Config, len: usize, align: usize) -> Option<Self> {
        Self::of_words(config, W::SPINE_WORD_BYTES, len, align)
    }

    /// As [`BlockCount::of`], with spines of `word_bytes` per piece.
    pub(super) const fn of_words(
        config: &Config,
        word_bytes: usize,
        len: usize,
        align: usize,
    ) -> Option<Self> {
        Self::of_pieces(
            config,
            Pieces::new(len, align, config.division(), word_bytes),
        )
    }

    /// What pieces take.
    pub(super) const fn of_pieces(config: &Config, mut pieces: Pieces) -> Option<Self> {
        let mut count = Some(Self::NONE);
        while let (Some(sum), Some(run)) = (count, pieces.next_run()) {
            let Some(class) = config.geometry().class_for(run.bytes, run.align) else {
                return None;
            };
            let block_bytes = config.geometry().layout(class).block_bytes as u64;
            count = sum.and(run.count as u64, block_bytes);
        }
        count
    }

    /// The sum with `blocks` more page-blocks of `block_bytes` bytes each.
    const fn and(self, blocks: u64, block_bytes: u64) -> Option<Self> {
        let Some(bytes) = blocks.checked_mul(block_bytes) else {
            return None;
        };
        self.and_bytes(blocks, bytes)
    }

    /// The sum with `blocks` more page-blocks of `bytes` bytes in total.
    pub(super) const fn and_bytes(self, blocks: u64, bytes: u64) -> Option<Self> {
        match (
            self.blocks.checked_add(blocks),
            self.bytes.checked_add(bytes),
        ) {
            (Some(blocks), Some(bytes)) => Some(Self { blocks, bytes }),
            _ => None,
        }
    }

    /// The most that resizing a byte object of up to `len` bytes holds besides the larger of what
    /// the object takes before and after, if its alignment does not change: a contiguous object, or
    /// the small pieces that a large one replaces, and a spine.
    ///
    /// Add it to a budget once, because one resize is in flight at a time. `None` as in
    /// [`BlockCount::of`].
    #[must_use]
    pub const fn in_resize<W: Width>(config: &Config, len: usize, align: usize) -> Option<Self> {
        let division = config.division();
        if !division.divides(len) {
            return Self::of::<W>(config, len, align);
        }
        let small = division.small_bytes();
        let Some(one) = Self::of::<W>(config, small, align) else {
            return None;
        };
        // A piece has at least two words, so the spine is no longer than the object.
        let mut spine_bytes = most_pieces(division, len).saturating_mul(W::SPINE_WORD_BYTES);
        let Some(spine) = Self::of::<W>(config, spine_bytes, W::SPINE_WORD_BYTES) else {
            return None;
        };
        let Some(mut count) = spine.and(most_replaced(division, len), one.bytes) else {
            return None;
        };
        // A shorter spine may have more pieces than the longest, too, as `most_pieces` says.
        while division.large_bytes() > small && division.large_pieces(spine_bytes) > 0 {
            let Some(word) = Self::of::<W>(config, small, W::SPINE_WORD_BYTES) else {
                return None;
            };
            let Some(more) = Self::NONE.and(most_replaced(division, spine_bytes), word.bytes)
            else {
                return None;
            };
            count = match count.and_bytes(more.blocks, more.bytes) {
                Some(count) => count,
                None => return None,
            };
            spine_bytes = most_pieces(division, spine_bytes).saturating_mul(W::SPINE_WORD_BYTES);
        }
        Some(count)
    }
}

/// The most small pieces that a large one replaces, or the other way around, in an object in pieces
/// of up to `len` bytes; one where no piece is large, for the last one may be replaced.
const fn most_replaced(division: Division, len: usize) -> u64 {
    if division.large_pieces(len) == 0 {
        return 1;
    }
    (division.large_bytes() >> division.small_bytes().ilog2()) as u64
}

/// The most pieces of an object in pieces of up to `len` bytes: a shorter one may have more, small
/// ones in place of the last large one.
pub(super) const fn most_pieces(division: Division, len: usize) -> usize {
    let (exactly, shorter) = (division.count(len), division.count(shorter(division, len)));
    if shorter > exactly { shorter } else { exactly }
}

/// The greatest length up to `len` with one large piece less; `len` if it has none.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "an object that has a large piece has bytes"
)]
pub(super) const fn shorter(division: Division, len: usize) -> usize {
    match division.large_pieces(len) {
        0 => len,
        large => (large << division.large_bytes().ilog2()) - 1,
    }
}
