//! Size-classes of shared direct heaps, as tables: β, units of a page, π.
//!
//! Multiples of 16 bytes, because every object is aligned for every type of C. Up to 128 bytes each
//! multiple is a class; above, there are eight classes per power of two to 8 KiB, and four to 32
//! KiB.
//!
//! # Invariant
//! - Z1 A [`Class`] is below [`CLASSES`], and a [`Slot`] at most that: only this module makes them,
//!   and [`Slot::of_word`]'s callers promise it.

/// Bytes of a unit: the least page, and what longer pages and large objects are made of.
pub const UNIT_BYTES: usize = 8 << 10;

/// The largest request in bytes that a page-block serves. Runs of units serve larger ones.
pub const LARGEST_BLOCK: usize = 32 << 10;

/// The alignment of every object, in bytes: that of C's `max_align_t` on 64-bit machines.
pub const GRANULE: usize = 16;

/// The number of size-classes.
pub(super) const CLASSES: usize = 64;

/// Requests up to this many bytes find their class in a table.
const TABLED: usize = 1024;

/// Classes of 16, 32 … 128 bytes.
const FINE: usize = 8;
/// Eight classes for each of 256, 512 … 8192.
const EIGHTHS: usize = FINE + 6 * 8;

/// A size-class (Z1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Class(u8);

/// What is known of a class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// β in bytes.
    pub(super) block_bytes: u32,
    /// π: page-blocks of a page.
    pub(super) blocks: u16,
    /// Units of a page.
    pub(super) units: u8,
    /// Page-blocks that frees may put into a free list.
    kept: u8,
}

impl Class {
    /// The class as a number.
    #[inline]
    pub(super) const fn index(self) -> usize {
        // SAFETY: Z1.
        unsafe { core::hint::assert_unchecked((self.0 as usize) < CLASSES) };
        self.0 as usize
    }

    /// The class with a number, if there is one.
    pub(super) const fn at(index: u8) -> Option<Self> {
        if (index as usize) < CLASSES {
            Some(Self(index))
        } else {
            None
        }
    }

    /// The class as a byte of a record.
    pub(super) const fn byte(self) -> u8 {
        self.0
    }

    /// The slot of the class.
    #[inline]
    pub(super) const fn slot(self) -> Slot {
        Slot(self.0 as u32 + 1)
    }

    /// All classes.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        #[expect(clippy::cast_possible_truncation, reason = "64")]
        (0..CLASSES as u8).map(Self)
    }

    /// β, π and the units of a page.
    #[inline]
    pub(super) const fn shape(self) -> Shape {
        SHAPES[self.index()]
    }

    /// β in bytes.
    #[inline]
    pub(super) const fn block_bytes(self) -> usize {
        self.shape().block_bytes as usize
    }

    /// β in granules.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "at most 2048")]
    pub(super) const fn granules(self) -> u16 {
        (self.block_bytes() / GRANULE) as u16
    }

    /// The most page-blocks that a thread's own frees leave in its free list.
    pub(super) const fn kept(self) -> u16 {
        self.shape().kept as u16
    }

    /// How many page-blocks of a full page are used when it counts as not full again: at least 1/16
    /// of them are free then.
    pub(super) const fn loose(self) -> u16 {
        let blocks = self.shape().blocks;
        blocks - if blocks < 32 { 1 } else { blocks / 16 }
    }

    /// The class of a request, if page-blocks serve it. O(1).
    #[inline]
    pub(super) const fn of(bytes: usize) -> Option<Self> {
        if bytes <= TABLED {
            return Some(Self(SLOT_OF[bytes.div_ceil(GRANULE)] - 1));
        }
        if bytes > LARGEST_BLOCK {
            return None;
        }
        Some(Self::of_many(bytes))
    }

    /// The class of a request over [`TABLED`] bytes, by its leading bits.
    #[inline]
    const fn of_many(bytes: usize) -> Self {
        let last = bytes - 1;
        let power = last.ilog2();
        let (steps_log2, before) = if power < 13 {
            (3, FINE + 8 * (power as usize - 7))
        } else {
            (2, EIGHTHS + 4 * (power as usize - 13))
        };
        let step = (last >> (power - steps_log2)) - (1 << steps_log2);
        #[expect(clippy::cast_possible_truncation, reason = "below 64")]
        Self((before + step) as u8)
    }

    /// Whether a resize leaves an object of this class in a page-block of so many bytes: it is no
    /// shorter than one of the class, and at most a quarter of it is longer than that.
    pub(super) const fn fills(self, block_bytes: usize) -> bool {
        let own = self.block_bytes();
        own <= block_bytes && own >= block_bytes - block_bytes / 4
    }

    /// The first class from that of the request on whose page-blocks keep an alignment, a power of
    /// two.
    pub(super) const fn of_aligned(bytes: usize, align: usize) -> Option<Self> {
        let Some(mut class) = Self::of(bytes) else {
            return None;
        };
        if align <= GRANULE {
            return Some(class);
        }
        if align > UNIT_BYTES {
            return None;
        }
        while class.block_bytes() % align != 0 {
            if class.0 as usize == CLASSES - 1 {
                return None;
            }
            class.0 += 1;
        }
        Some(class)
    }
}

/// Where an instance has the free list of a class; or the slot of no class, whose list is always
/// empty and takes nothing (Z1). So what is no page needs no question of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Slot(u32);

/// The number of slots.
pub(super) const SLOTS: usize = CLASSES + 2;

impl Slot {
    /// That of no class.
    pub(super) const NONE: Self = Self(0);
    /// That of mixed pages: no class's either.
    pub(super) const MIXED: Self = Self(CLASSES as u32 + 1);

    /// The slot as a number below [`SLOTS`].
    #[inline]
    pub(super) const fn index(self) -> usize {
        // SAFETY: Z1.
        unsafe { core::hint::assert_unchecked((self.0 as usize) < SLOTS) };
        self.0 as usize
    }

    /// The class whose slot it is.
    #[inline]
    pub(super) fn class(self) -> Option<Class> {
        #[expect(clippy::cast_possible_truncation, reason = "Z1: at most 64")]
        Class::at((self.0 as u8).wrapping_sub(1))
    }

    /// The slot as a word of a table.
    #[inline]
    pub(super) const fn word(self) -> u32 {
        self.0
    }

    /// The slot that a word names.
    ///
    /// # Safety
    /// The word is [`Slot::word`]'s.
    #[inline]
    pub(super) const unsafe fn of_word(word: u32) -> Self {
        Self(word)
    }

    /// The slot of a request of 1 to [`TABLED`] bytes; `None` for others.
    #[inline]
    pub(super) fn of_small(bytes: usize) -> Option<Self> {
        let granules = bytes.wrapping_sub(1) / GRANULE + 1;
        SLOT_OF.get(granules).map(|slot| Self(u32::from(*slot)))
    }
}

/// β of the class with a number.
const fn bytes_of(index: usize) -> usize {
    if index < FINE {
        (index + 1) * GRANULE
    } else if index < EIGHTHS {
        let (power, step) = ((index - FINE) / 8, (index - FINE) % 8);
        (128 << power) / 8 * (9 + step)
    } else {
        let (power, step) = ((index - EIGHTHS) / 4, (index - EIGHTHS) % 4);
        (8192 << power) / 4 * (5 + step)
    }
}

/// The most units of a page.
pub(super) const MOST_UNITS: usize = 16;

/// The most page-blocks, and about the most bytes of them, that frees may put into a free list:
/// enough for what a program drops and makes anew at once, few enough that pages do empty.
const KEPT: (usize, usize) = (128, 16 << 10);

/// The shortest page that wastes at most 1/32 behind its last page-block and has enough of them;
/// else the one that wastes least.
const fn shape_of(bytes: usize) -> Shape {
    let enough = if bytes > 4096 { 4 } else { 8 };
    let (mut best, mut best_waste) = (0, usize::MAX);
    let mut units = 1;
    while units <= MOST_UNITS {
        let page = units * UNIT_BYTES;
        let waste = page % bytes * 1024 / page;
        if page / bytes >= enough && waste < best_waste {
            (best, best_waste) = (units, waste);
            if waste <= 1024 / 32 {
                break;
            }
        }
        units += 1;
    }
    let kept = KEPT.1 / bytes;
    let kept = match kept {
        0 => 1,
        _ if kept > KEPT.0 => KEPT.0,
        _ => kept,
    };
    #[expect(clippy::cast_possible_truncation, reason = "at most 16 units of 8 KiB")]
    Shape {
        block_bytes: bytes as u32,
        blocks: (best * UNIT_BYTES / bytes) as u16,
        units: best as u8,
        kept: kept as u8,
    }
}

static SHAPES: [Shape; CLASSES] = {
    let mut shapes = [shape_of(GRANULE); CLASSES];
    let mut index = 0;
    while index < CLASSES {
        shapes[index] = shape_of(bytes_of(index));
        index += 1;
    }
    shapes
};

static SLOT_OF: [u8; TABLED / GRANULE + 1] = {
    let mut slots = [1; TABLED / GRANULE + 1];
    let (mut granules, mut class) = (1, 0);
    while granules < slots.len() {
        while bytes_of(class) < granules * GRANULE {
            class += 1;
        }
        #[expect(clippy::cast_possible_truncation, reason = "below 64")]
        {
            slots[granules] = class as u8 + 1;
        }
        granules += 1;
    }
    slots
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_has_the_smallest_class_that_holds_it() {
        for bytes in 0..=LARGEST_BLOCK {
            let class = Class::of(bytes).unwrap();
            assert!(class.block_bytes() >= bytes, "{bytes}");
            if class.index() > 0 {
                let below = Class::at(class.byte() - 1).unwrap();
                assert!(below.block_bytes() < bytes, "{bytes}");
            }
        }
        assert_eq!(Class::of(LARGEST_BLOCK + 1), None);
        assert_eq!(Class::of(LARGEST_BLOCK).unwrap().index(), CLASSES - 1);
    }

    #[test]
    fn pages_hold_what_they_say() {
        for class in Class::all() {
            let shape = class.shape();
            let page = usize::from(shape.units) * UNIT_BYTES;
            let used = usize::from(shape.blocks) * class.block_bytes();
            assert!(class.block_bytes() % GRANULE == 0);
            assert!(shape.blocks >= 4 && used <= page && page - used <= page / 12);
        }
    }

    #[test]
    fn small_requests_are_found_in_the_table_and_no_others() {
        for bytes in 1..=TABLED {
            assert_eq!(Slot::of_small(bytes), Class::of(bytes).map(Class::slot));
        }
        for bytes in [
            0,
            TABLED + 1,
            usize::MAX - GRANULE,
            usize::MAX - 1,
            usize::MAX,
        ] {
            assert_eq!(Slot::of_small(bytes), None);
        }
    }

    #[test]
    fn aligned_requests_have_a_class_that_keeps_the_alignment() {
        for align in (4..=13).map(|power| 1_usize << power) {
            for bytes in [0, 1, align, align + 1, 3000] {
                let class = Class::of_aligned(bytes, align).unwrap();
                assert!(class.block_bytes() >= bytes && class.block_bytes() % align == 0);
            }
        }
        assert_eq!(Class::of_aligned(1, 2 * UNIT_BYTES), None);
    }
}
