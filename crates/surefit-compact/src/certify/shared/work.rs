//! The most that one call of a shared heap can cost: steps, bytes copied, sections, pages touched.
//!
//! ```text
//! s = ⌈β/ι⌉       free of one page-block: pays at most 2s steps of any move, and the rest of its
//!                 own: 3s − 1. s more for each move of its group that a pin ends meanwhile
//! section         what is done while a lock is held: it copies at most min(β, ι) bytes
//! sections        one per step, and the first
//! ```
//! # Source
//! [The bounds, section 7](crate::bounds#7-threads).
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use surefit_classes::automaton::MAX_MOVES;
use surefit_classes::{Bound, ClassLayout, Geometry, SizeClass};

use crate::certify::demand::Demand;
use crate::certify::limits::{least, most};
use crate::certify::work::{Lending, spanned};
use crate::shared::{DRAINED, Granularity, SharedConfig};

/// Records that a section reads or writes besides those of pages that it searches for a victim: of
/// the freed block's page, of the target that its own move had, of the new target and of the
/// source, each with its neighbours in the list; and of the first and the last page. None lies in
/// two pages.
const MOST_RECORDS: u64 = 3 * 4 + 2;

/// States that a section reads or writes: the group, the one that has its lock, the instance, the
/// thread buffer. Each may lie in two pages.
const MOST_STATES: u64 = 4;

/// States of a section in a heap with slack besides: another group, and the table of what is lent.
/// It also reads the record of that group's last page.
const LENDING_STATES: u64 = 2;

/// The most work of one call. What is said of a free is about one object; a call that frees may
/// make two frees more, of objects that were freed without the lock, each in sections of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedWork {
    /// The most bytes that one section of a free or a compaction copies: min(β, ι).
    pub copied_bytes_max_per_section: u64,
    /// The most steps of one free, in its own move or in others': 3⌈β/ι⌉ − 1.
    pub steps_max_per_free: u64,
    /// The most additional steps for each move that a pin ends meanwhile: ⌈β/ι⌉.
    pub steps_max_per_abort: u64,
    /// The most bytes that the steps of one free copy.
    pub copied_bytes_max_per_free: u64,
    /// The most times that one free takes its group's lock, without aborts.
    pub sections_max_per_free: u64,
    /// The most objects that are examined to find one that can move: Π + 1.
    pub victims_tried_max: u64,
    /// The most pages of the region that one section touches.
    pub pages_touched_max_per_section: u64,
}

#[expect(
    clippy::arithmetic_side_effects,
    reason = "sums of a few numbers of 32 bits, in 64 bits"
)]
/// The most work over the classes that a demand uses, on a heap with these bytes of table, fixed
/// area, and data pages.
pub(super) const fn of<G: Granularity>(
    config: &SharedConfig<G>,
    demand: &Demand<'_>,
    lending: Lending,
    (table_bytes, fixed_bytes, data_pages): (u64, u64, u64),
) -> SharedWork {
    let geometry = config.config().geometry();
    let tries = config.pins() as u64 + 1;
    let mut work = SharedWork {
        victims_tried_max: tries,
        ..SharedWork::NONE
    };
    let mut classes = geometry.each_class();
    while let Some(class) = classes.next_class() {
        if demand.uses(class, geometry.layout(class).block_bytes) {
            work = work.and(config, geometry, class, lending.bound);
        }
    }
    let page = geometry.page_bytes() as u64;
    let lends = if lending.table_bytes > 0 { 1 } else { 0 };
    let parked = parked_max(config, lending.bound);
    let searched = 3 + tries;
    let data = least(searched + parked, data_pages);
    // Parked entries are among those of the buffer. An entry may lie in two pages.
    let entries = 2 + tries + config.handle_buffer() as u64 + DRAINED as u64;
    let table = least(2 * entries, spanned(table_bytes, page));
    let records = MOST_RECORDS + tries + 3 * parked + lends;
    // The locks of the pages, and of the last ones of the two groups.
    let locks = if G::PAGES { searched + 1 + lends } else { 0 };
    let states = MOST_STATES + LENDING_STATES * lends + locks;
    let fixed = least(records + 2 * states, spanned(fixed_bytes, page));
    work.pages_touched_max_per_section = data + table + fixed;
    work
}

/// The most parked page-blocks of a group. A section may give all of them back, each in a page of
/// its own with two neighbours in the list.
const fn parked_max<G: Granularity>(config: &SharedConfig<G>, bound: Bound) -> u64 {
    match bound {
        Bound::Holes { .. } | Bound::Unbounded if !G::PAGES => config.parked_max() as u64,
        _ => 0,
    }
}

impl SharedWork {
    const NONE: Self = Self {
        copied_bytes_max_per_section: 0,
        steps_max_per_free: 0,
        steps_max_per_abort: 0,
        copied_bytes_max_per_free: 0,
        sections_max_per_free: 1,
        victims_tried_max: 0,
        pages_touched_max_per_section: 0,
    };

    /// The maximum of both.
    pub(super) const fn or(self, other: Self) -> Self {
        Self {
            copied_bytes_max_per_section: most(
                self.copied_bytes_max_per_section,
                other.copied_bytes_max_per_section,
            ),
            steps_max_per_free: most(self.steps_max_per_free, other.steps_max_per_free),
            steps_max_per_abort: most(self.steps_max_per_abort, other.steps_max_per_abort),
            copied_bytes_max_per_free: most(
                self.copied_bytes_max_per_free,
                other.copied_bytes_max_per_free,
            ),
            sections_max_per_free: most(self.sections_max_per_free, other.sections_max_per_free),
            victims_tried_max: most(self.victims_tried_max, other.victims_tried_max),
            pages_touched_max_per_section: most(
                self.pages_touched_max_per_section,
                other.pages_touched_max_per_section,
            ),
        }
    }

    /// The maximum with one more class.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "page-blocks have 8 to 2^16 bytes, increments at least one: a few times as many steps, in 64 bits"
    )]
    const fn and<G: Granularity>(
        mut self,
        config: &SharedConfig<G>,
        geometry: &Geometry,
        class: SizeClass,
        bound: Bound,
    ) -> Self {
        let ClassLayout {
            blocks,
            block_bytes,
            ..
        } = *geometry.layout(class);
        let block_bytes = block_bytes as u64;
        let increment = least(config.increment().bytes() as u64, block_bytes);
        if blocks == 1 {
            return self;
        }
        self.copied_bytes_max_per_section = most(self.copied_bytes_max_per_section, increment);
        if matches!(bound, Bound::Unbounded) {
            return self;
        }
        let a_move = block_bytes.div_ceil(increment);
        let steps = (MAX_MOVES as u64 + 1) * a_move - 1;
        self.steps_max_per_abort = most(self.steps_max_per_abort, a_move);
        self.steps_max_per_free = most(self.steps_max_per_free, steps);
        self.sections_max_per_free = most(self.sections_max_per_free, steps + 1);
        self.copied_bytes_max_per_free = most(self.copied_bytes_max_per_free, steps * increment);
        self
    }
}
