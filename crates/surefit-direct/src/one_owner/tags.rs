//! Tags: what the tables say of runs, and walking from run to run.
//!
//! ```text
//! tags, one per unit:
//! | FREE 5 |   ?   |   ?   |   ?   | FREE 5 | USED 3 |   ?   |  712  | FREE 1 | USED 8 | …
//! |<----------- a free run -------------->|<-- 2360 bytes used ---->|        |<- a page
//! ```
//! The first tag of a run says whether it is free, and how many units it has. The last tag of a
//! free run says the same. The last tag of a used run of several units says how many bytes at its
//! end the object leaves unused: less than a unit, and with pools less than the run, and at most
//! [`LEN`]. The tags between are stale; none of them says `USED`.
#![deny(unsafe_code)]

use super::memory::{Memory, Unit, page_units};
use super::partition::Partitioning;

pub(super) const FREE: u32 = 1 << 31;
pub(super) const USED: u32 = 1 << 30;
pub(super) const LEN: u32 = USED - 1;

/// A run as its first tag describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) start: Unit,
    pub(super) units: u32,
    pub(super) free: bool,
}

impl Run {
    /// Whether the run holds a whole page.
    pub(super) fn holds_page<S: Partitioning>(self) -> bool {
        let first = self.start.number().next_multiple_of(page_units::<S>());
        first + page_units::<S>() <= self.start.number() + self.units
    }

    /// The number of whole pages in the run.
    pub(super) fn whole_pages<S: Partitioning>(self) -> usize {
        let first = self.start.number().next_multiple_of(page_units::<S>());
        let end = self.start.number() + self.units;
        (end.saturating_sub(first) / page_units::<S>()) as usize
    }
}

/// Whether a used run begins at `start`.
pub(super) fn begins<S: Partitioning>(memory: &Memory<'_, S>, start: Unit) -> bool {
    memory.tag(start) & USED != 0
}

/// Whether the tag of `start` is that of a free run of so many units.
pub(super) fn is_free<S: Partitioning>(memory: &Memory<'_, S>, start: Unit, units: u32) -> bool {
    memory.tag(start) == FREE | units
}

/// The length of the used run that begins at `start`.
pub(super) fn used_units<S: Partitioning>(memory: &Memory<'_, S>, start: Unit) -> u32 {
    debug_assert!(begins(memory, start), "R1: a used run begins here");
    memory.tag(start) & LEN
}

/// The bytes at a used run's end that its object leaves unused; 0 for a single unit.
pub(super) fn tail_bytes<S: Partitioning>(memory: &Memory<'_, S>, run: Run) -> usize {
    if run.units == 1 {
        return 0;
    }
    memory.tag(memory.after(run.start, run.units - 1)) as usize
}

/// Writes the tags of a free run that is in no list.
pub(super) fn set_free<S: Partitioning>(memory: &mut Memory<'_, S>, start: Unit, units: u32) {
    memory.set_tag(start, FREE | units);
    memory.set_tag(memory.after(start, units - 1), FREE | units);
}

pub(super) fn set_used<S: Partitioning>(memory: &mut Memory<'_, S>, start: Unit, units: u32) {
    set_tail(memory, start, units, 0);
    memory.set_tag(start, USED | units);
}

pub(super) fn set_tail<S: Partitioning>(
    memory: &mut Memory<'_, S>,
    start: Unit,
    units: u32,
    tail: u32,
) {
    if units > 1 {
        memory.set_tag(memory.after(start, units - 1), tail);
    }
}

/// The runs from `start` on in address order. It ends early at a tag that describes no run.
pub(super) fn runs_from<'a, S: Partitioning>(
    memory: &'a Memory<'_, S>,
    mut start: Unit,
) -> impl Iterator<Item = Run> + 'a {
    core::iter::from_fn(move || {
        let run = run_at(memory, start)?;
        start = memory.after(start, run.units);
        Some(run)
    })
}

fn run_at<S: Partitioning>(memory: &Memory<'_, S>, start: Unit) -> Option<Run> {
    let left = memory.units() - start.number();
    let tag = memory.tag(start);
    let (units, free) = (tag & LEN, tag & FREE != 0);
    let sound = units > 0 && units <= left && free != (tag & USED != 0);
    sound.then_some(Run { start, units, free })
}
