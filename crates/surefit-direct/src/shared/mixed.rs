//! Mixed pages: page-blocks of several classes in one page.
//!
//! Objects do not move. Where a program goes on with other sizes, the pages of the sizes before are
//! kept by the few objects that are left in each. What is free in such a page then serves whatever
//! class needs page-blocks: the page is a mixed one until its last object is freed.
//!
//! ```text
//! page of 48    | used | free | free | free | used | free | free | free | free | free …
//! lines         |        48        |     free    |   48   |     free   |     free     …
//! mixed page    | used |                         | used |   |  112  |  112  | …
//! ```
//! A line is 128 bytes, and of one class. Lines in which no used page-block lies are given to
//! another one, as long a run of them as there is. So a free finds its class by two looks at tables
//! instead of one: at the slot of the unit, and at the line. Which page-blocks are used, one bit
//! for each granule says.
//!
//! # Invariants
//! - X1 Where a division has a bit, a used page-block begins. It is of the class of its line,
//!   begins at a multiple of the largest power of two that divides its bytes, overlaps no other
//!   one, and lies inside its page.
//! - X2 The record of a mixed page has its `units`, in `opened` how many granules used page-blocks
//!   have, at least one, no page-block in `free`, and nothing to spare. `watch` is 0 if the page is
//!   listed, else below `opened`.
//! - X3 `mix_page` writes the divisions before the records. The class of a live object's line, and
//!   its bit, stay: what other threads read of its page.
#![deny(unsafe_code)]

use core::sync::atomic::{Ordering, fence};

use super::chain::Chain;
use super::division::{Begins, Division, GRANULES, LINE_BYTES, LINE_GRANULES, LINES, Lines};
use super::memory::{Kind, Memory, Record, Span};
use super::sizes::{Class, GRANULE, UNIT_BYTES};

/// A page becomes a mixed one if at most one of so many of its lines holds page-blocks, should each
/// lie in lines of its own.
const MOST_USED: usize = 2;
/// A mixed page is looked at again once one of so many parts of it became free.
const PARTS: u16 = 8;
/// The most page-blocks that are divided off at once.
const MOST_AT_ONCE: usize = 128;

/// Why a page of a class does not become a mixed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Undivided {
    /// More than half of it is used.
    Full,
    /// Nothing that is free in it is long enough.
    Short,
}

/// A mixed page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mixed<'m> {
    memory: &'m Memory,
    page: Span,
    units: u32,
}

impl<'m> Mixed<'m> {
    /// The mixed page of so many units that begins at one.
    pub(super) fn of(memory: &'m Memory, page: Span, units: u32) -> Self {
        Self {
            memory,
            page,
            units,
        }
    }

    /// How many units it has.
    pub(super) fn units(&self) -> u32 {
        self.units
    }

    fn lines(&self) -> usize {
        self.units as usize * LINES
    }

    /// Makes a page of a class, which is in no list, a mixed one, if at most half of its lines are
    /// used and there is room for a page-block of the class `wanted`. O(π).
    ///
    /// # Errors
    /// Why it stays what it is.
    pub(super) fn divide_anew(
        memory: &'m Memory,
        page: Span,
        class: Class,
        wanted: Class,
    ) -> Result<Self, Undivided> {
        let (record, shape) = (memory.record(page), class.shape());
        let (used, blocks) = (usize::from(record.used()), usize::from(shape.blocks));
        let bytes = class.block_bytes();
        if used * bytes.max(LINE_BYTES) * MOST_USED > blocks * bytes {
            return Err(Undivided::Full);
        }
        memory.prefetch(page, class);
        let this = Self::of(memory, page, u32::from(shape.units));
        let granules = bytes / GRANULE;
        let mut begins = Begins::first(usize::from(record.opened.get()), granules);
        for block in record.free.addresses(blocks) {
            begins.remove(memory.offset_in(page, block) / GRANULE);
        }
        for unit in 0..usize::from(shape.units) {
            this.division(unit).set_all(class, &begins, unit);
        }
        let mut fits = false;
        this.each_run(|first, lines| {
            fits = room(first, lines, wanted).is_some();
            !fits
        });
        if !fits {
            return Err(Undivided::Short);
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most 8192")]
        record.opened.set((used * granules) as u16);
        record.watch.set(0);
        memory.mix_page(page, this.units);
        Ok(this)
    }

    /// Calls a function with each run of free lines, as the first one and how many, until it
    /// returns `false`.
    #[inline]
    fn each_run(&self, mut with: impl FnMut(usize, usize) -> bool) {
        // Lines at the beginning of the next unit in which the last page-block ends; the free ones
        // at the end of the unit before.
        let (mut ends, mut free) = (0, 0);
        for unit in 0..self.units as usize {
            let (division, before) = (self.division(unit), unit * LINES);
            let mut left = division.begun();
            let mut busy = left | lines(0, ends);
            ends = ends.saturating_sub(LINES);
            while left != 0 {
                let line = left.trailing_zeros() as usize;
                left &= left - 1;
                let last = division.line(line).checked_ilog2().unwrap_or(0) as usize;
                let class = division.class(line);
                let length = class.map_or(0, |class| class.block_bytes() / GRANULE);
                let end = (line * LINE_GRANULES + last + length).div_ceil(LINE_GRANULES);
                busy |= lines(line, end);
                ends = ends.max(end.saturating_sub(LINES));
            }
            let mut at = 0;
            while at < LINES {
                let length = ((busy >> at).trailing_zeros() as usize).min(LINES - at);
                free += length;
                at += length;
                if at == LINES {
                    break;
                }
                if free > 0 && !with(before + at - free, free) {
                    return;
                }
                free = 0;
                at += (!(busy >> at)).trailing_zeros() as usize;
            }
        }
        if free > 0 {
            with(self.lines() - free, free);
        }
    }

    /// Page-blocks of a class that fit in what is free, at most `most` of them, and how many.
    /// O(lines).
    pub(super) fn divide(&self, class: Class, most: u16) -> (Chain, u16) {
        let mut found = [0_u16; MOST_AT_ONCE];
        let most = usize::from(most).min(MOST_AT_ONCE);
        let granules = class.block_bytes() / GRANULE;
        let mut count = 0;
        self.each_run(|first, lines| {
            let Some(begin) = room(first, lines, class) else {
                return true;
            };
            let end = (first + lines) * LINE_GRANULES;
            let mut at = begin;
            for place in &mut found[count..most] {
                if at + granules > end {
                    break;
                }
                #[expect(clippy::cast_possible_truncation, reason = "at most 8192")]
                (*place = at as u16);
                count += 1;
                at += granules;
            }
            count < most
        });
        let blocks = Chain::new();
        // The first one is allocated first.
        for at in found[..count].iter().rev().map(|at| usize::from(*at)) {
            let division = self.division(at / GRANULES);
            division.set_class(at / LINE_GRANULES, class);
            division.set_used(at, true);
            blocks.push(self.memory.block_at(self.page, at));
        }
        let record = self.memory.record(self.page);
        #[expect(clippy::cast_possible_truncation, reason = "at most 128")]
        let count = count as u16;
        record
            .opened
            .set(record.opened.get() + count * class.granules());
        (blocks, count)
    }

    /// Has the next look at it wait until another eighth of it is free, or, if no more is used,
    /// something more.
    pub(super) fn wait(&self) {
        let record = self.memory.record(self.page);
        #[expect(clippy::cast_possible_truncation, reason = "at most 8192")]
        let part = (self.units as usize * GRANULES) as u16 / PARTS;
        let used = record.opened.get();
        let left = used.checked_sub(part).filter(|left| *left > 0);
        record.watch.set(left.unwrap_or(used.saturating_sub(1)));
    }

    /// A unit of it, by its place.
    #[inline]
    fn division(&self, unit: usize) -> &'m Division {
        #[expect(clippy::cast_possible_truncation, reason = "at most 16")]
        let unit = unit as u32;
        self.memory.division(self.memory.after(self.page, unit))
    }

    /// Its used page-blocks: at which granule each begins, and its class if its line has one.
    pub(super) fn each_used(&self) -> impl Iterator<Item = (usize, Option<Class>)> + use<'m> {
        let this = *self;
        (0..this.lines()).flat_map(move |line| {
            let division = this.division(line / LINES);
            let (class, bits) = (division.class(line), division.line(line));
            let set = (0..LINE_GRANULES).filter(move |bit| bits >> bit & 1 != 0);
            set.map(move |bit| (line * LINE_GRANULES + bit, class))
        })
    }
}

/// The lines of a unit from one to before another one, as far as there are such.
#[inline]
fn lines(from: usize, end: usize) -> Lines {
    let below = |end: usize| {
        if end >= LINES {
            Lines::MAX
        } else {
            (1 << end) - 1
        }
    };
    below(end) & !below(from)
}

/// The first granule in a run of free lines where a page-block of a class fits.
fn room(first: usize, lines: usize, class: Class) -> Option<usize> {
    let granules = class.block_bytes() / GRANULE;
    let step = 1 << granules.trailing_zeros();
    let begin = (first * LINE_GRANULES + step - 1) & !(step - 1);
    (begin + granules <= (first + lines) * LINE_GRANULES).then_some(begin)
}

/// The class of the page-blocks that begin around an address in a unit of a mixed page.
#[inline]
pub(super) fn class_in(memory: &Memory, unit: Span, address: *mut u8) -> Option<Class> {
    // X3: whoever read that the page is mixed reads what was written before that.
    fence(Ordering::Acquire);
    memory
        .division(unit)
        .class(address.addr() % UNIT_BYTES / LINE_BYTES)
}

/// The class of the used page-block of a mixed page that begins at an address, if one does. O(1).
#[inline]
pub(super) fn used_at(memory: &Memory, address: *mut u8) -> Option<Class> {
    let unit = memory.unit_of(address)?;
    let class = class_in(memory, unit, address)?;
    let offset = address.addr() % UNIT_BYTES;
    let is_used = memory.division(unit).is_used(offset / GRANULE);
    (is_used && offset % GRANULE == 0).then_some(class)
}

/// The class of the page-block at an address in the page of a record; `None` if it is no page, or,
/// in a mixed page, no used one begins there. O(1).
pub(super) fn class_at(memory: &Memory, record: &Record, block: *mut u8) -> Option<Class> {
    match record.kind() {
        Kind::Page(class) => Some(class),
        Kind::Mixed => used_at(memory, block),
        _ => None,
    }
}

/// The bytes of the object at an address in the page or run of a record; `None` if none begins
/// there, as far as the record shows. O(1).
#[inline]
pub(super) fn object_bytes(memory: &Memory, record: &Record, object: *mut u8) -> Option<usize> {
    let offset = memory.offset_in(memory.span_of(record), object);
    match record.kind() {
        // Of a page: it has at most 16 units.
        Kind::Page(class) if offset as u32 % class.shape().block_bytes == 0 => {
            Some(class.block_bytes())
        }
        Kind::Run if offset == 0 => Some(record.units.get() as usize * UNIT_BYTES),
        Kind::Mixed => used_at(memory, object).map(Class::block_bytes),
        _ => None,
    }
}

/// Frees a page-block of a class in a unit of a mixed page. Returns how many granules page-blocks
/// of the page still have, or nothing if no used one begins there. O(1).
#[inline]
pub(super) fn free(
    memory: &Memory,
    record: &Record,
    unit: Span,
    class: Class,
    address: *mut u8,
) -> Option<u16> {
    let division = memory.division(unit);
    let granule = address.addr() % UNIT_BYTES / GRANULE;
    if !division.is_used(granule) {
        return None;
    }
    division.set_used(granule, false);
    let used = record.opened.get().wrapping_sub(class.granules());
    record.opened.set(used);
    Some(used)
}

/// As [`free`], where the page needs no more than that. Else returns `false`, and nothing was done.
#[inline]
pub(super) fn free_simply(
    memory: &Memory,
    record: &Record,
    unit: Span,
    class: Class,
    address: *mut u8,
) -> bool {
    let left = record.opened.get().wrapping_sub(class.granules());
    left > record.watch.get()
        && left < record.opened.get()
        && free(memory, record, unit, class, address).is_some()
}
