//! Units of the region, under one lock: pages and large objects come from here, and go back.
//!
//! ```text
//! | administrative | used page | free run | large object | free run | page | never used …       |
//!                                                                          top        committed end
//! ```
//! Free runs coalesce. They are of two kinds: those that were written (`dirty`) come first, because
//! their memory is there; those whose memory the source took back (`clean`) are zero. If the source
//! takes memory back, runs of different kinds do not coalesce, so that it is known how much memory
//! free runs hold; `window` takes large objects across both. Behind the top nothing was ever used.
//! `purge` says what goes back.
//!
//! # Invariants
//! - P1 From the first unit behind the tables to the top, pages, large objects, units in buffers
//!   and free runs follow each other; the records of the first and the last unit of each run say
//!   what it is.
//! - P2 No two free runs that coalesce touch, and none touches the top but dirty ones.
//! - P3 `used` and `leaving` units are in no free run below the top; the latter are on their way
//!   back to the source.
//! - P4 Units that are committed end at `committed`, at or behind the top; their records are usable
//!   too.
#![deny(unsafe_code)]

pub(super) mod check;
pub(super) mod purge;
mod window;

use super::memory::{Kind, Memory, Span};
use super::runs::Runs;
use super::sizes::UNIT_BYTES;
use super::source::Source;

/// Units are committed so many at once.
const COMMITTED_AT_ONCE: u32 = 512;

/// Units taken from the pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    /// The first one.
    pub(super) start: Span,
    /// Whether all their bytes are zero.
    pub(super) zero: bool,
}

/// The units of a region.
#[derive(Debug)]
pub(super) struct Pool {
    /// Whether runs of different kinds coalesce.
    mixes: bool,
    dirty: Runs,
    clean: Runs,
    top: Span,
    used: u64,
    leaving: u64,
    most_used: u64,
    wanted: u64,
    /// Powers of two of units whose last object was sparse, as bits.
    sparse: u32,
    limit: u64,
    soft_limit: u64,
    is_above: bool,
    rose: bool,
    delay: u32,
    looked_last: u32,
    purges: u64,
    refused: u64,
}

/// Where units may come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    /// The limit forbids them.
    Nowhere,
    /// Free runs that hold memory already.
    Dirty,
    /// Any free units.
    Anywhere,
}

/// Numbers of a pool, in units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PoolCounts {
    pub(super) used: u64,
    pub(super) most_used: u64,
    pub(super) dirty: u64,
    pub(super) clean: u64,
    pub(super) top: u64,
    pub(super) purges: u64,
    pub(super) refused: u64,
}

impl Pool {
    /// All units behind the tables, never used.
    pub(super) fn new<S: Source>(memory: &Memory, delay: u32) -> Self {
        memory.set_committed(memory.first().number());
        Self {
            mixes: !S::PURGES,
            dirty: Runs::new(),
            clean: Runs::new(),
            top: memory.first(),
            used: 0,
            leaving: 0,
            most_used: 0,
            wanted: 0,
            sparse: 0,
            limit: u64::MAX,
            soft_limit: u64::MAX,
            is_above: false,
            rose: false,
            delay,
            looked_last: 0,
            purges: 0,
            refused: 0,
        }
    }

    /// Sets the most units that may hold memory.
    pub(super) fn set_limit(&mut self, units: u64) {
        self.limit = units;
    }

    /// Sets the most units in use of which nobody is told.
    pub(super) fn set_soft_limit(&mut self, units: u64) {
        self.soft_limit = units;
        self.is_above = false;
    }

    /// Whether the units in use rose above the soft limit since this was called.
    pub(super) fn take_rise(&mut self) -> bool {
        core::mem::take(&mut self.rose)
    }

    fn use_more(&mut self, units: u32) {
        self.used += u64::from(units);
        self.most_used = self.most_used.max(self.used);
        if self.used > self.soft_limit && !self.is_above {
            (self.is_above, self.rose) = (true, true);
        }
    }

    fn use_less(&mut self, units: u32) {
        self.used -= u64::from(units);
        self.is_above &= self.used > self.soft_limit - self.soft_limit / 32;
    }

    /// Sets the delay in milliseconds before free memory goes back; `u32::MAX` is never.
    pub(super) fn set_delay(&mut self, delay: u32) {
        self.delay = delay;
    }

    /// Whether the next pages of so many units will most likely be taken where memory is: a 32nd of
    /// what is used is dirty, and a run of it is long enough.
    pub(super) fn has_spare(&self, memory: &Memory, units: u32) -> bool {
        self.dirty.units() * 32 > self.used && self.dirty.find(memory, units).is_some()
    }

    /// Numbers for statistics.
    pub(super) fn counts(&self) -> PoolCounts {
        PoolCounts {
            used: self.used,
            most_used: self.most_used,
            dirty: self.dirty.units(),
            clean: self.clean.units(),
            top: u64::from(self.top.number()),
            purges: self.purges,
            refused: self.refused,
        }
    }

    /// Takes `units` units, the first at a multiple of `align` bytes. `None` if there are none, or
    /// the limit forbids it. Those that should be `zero` are taken of one run: where a part must be
    /// cleared, all is, and then is there though the program may never write it.
    pub(super) fn take<S: Source>(
        &mut self,
        memory: &Memory,
        source: &S,
        units: u32,
        align: usize,
        zero: bool,
    ) -> Option<Taken> {
        let skipped = u32::try_from(align.div_ceil(UNIT_BYTES) - 1).ok()?;
        let all = units.checked_add(skipped)?;
        let room = if all < memory.units() {
            self.room(memory, source, units)
        } else {
            Room::Nowhere
        };
        let dirty = self.dirty.units();
        let mut taken = None;
        if room == Room::Dirty {
            taken = self.take_dirty(memory, units, all, align);
        }
        if room == Room::Anywhere {
            let sparse = self.expects_sparse(units);
            if !sparse {
                taken = self.take_dirty(memory, units, all, align);
            }
            if taken.is_none() && !zero && !sparse && skipped == 0 {
                taken = self.take_window(memory, source, units);
            }
            taken = taken
                .or_else(|| self.take_clean(memory, units, all, align))
                .or_else(|| self.take_top(memory, source, units, align))
                .or_else(|| self.take_dirty(memory, units, all, align))
                .or_else(|| self.take_joined(memory, units, all, align));
        }
        match taken {
            Some(taken) => {
                memory.record(taken.start).units.set(units);
                self.want(units, dirty);
                self.use_more(units);
            }
            None => self.refused += 1,
        }
        taken
    }

    /// Where so many units more may come from, within the limit; gives free memory back first if
    /// that helps.
    fn room<S: Source>(&mut self, memory: &Memory, source: &S, units: u32) -> Room {
        // What is on its way back needs no memory any more.
        let after = self.used.saturating_add(u64::from(units));
        if after > self.limit {
            return Room::Nowhere;
        }
        let is_over = |pool: &Self| after.saturating_add(pool.dirty.units()) > pool.limit;
        if is_over(self) {
            self.purge_all(memory, source);
        }
        // The system may have taken nothing: of locked memory, for example.
        if is_over(self) {
            Room::Dirty
        } else {
            Room::Anywhere
        }
    }

    /// Takes units out of a dirty run of `all` units.
    fn take_dirty(&mut self, memory: &Memory, units: u32, all: u32, align: usize) -> Option<Taken> {
        let run = self.dirty.find(memory, all)?;
        Some(self.take_of(memory, run, units, align))
    }

    /// Takes units out of a clean run of `all` units.
    fn take_clean(&mut self, memory: &Memory, units: u32, all: u32, align: usize) -> Option<Taken> {
        let run = self.clean.find(memory, all)?;
        Some(self.take_of(memory, run, units, align))
    }

    /// Takes units out of a free run that is long enough for them.
    fn take_of(&mut self, memory: &Memory, run: Span, units: u32, align: usize) -> Taken {
        let zero = is_zero(memory, run);
        let found = memory.record(run).units.get();
        let stamp = stamp_of(memory, run);
        self.of_kind(zero).remove(memory, run);
        let before = units_to_aligned(memory, run, align);
        let start = memory.after(run, before);
        let behind = memory.after(start, units);
        memory.record(run).set_kind(Kind::Nothing);
        if before > 0 {
            self.add(memory, run, before, zero, stamp);
        }
        if before + units < found {
            self.add(memory, behind, found - before - units, zero, stamp);
        }
        mark_used(memory, start, units);
        Taken { start, zero }
    }

    /// Takes units out of a run that is long enough only if runs of both kinds coalesce. Those that
    /// do become dirty ones; this begins with a long clean run, goes on with what touches that, and
    /// ends as soon as the run is long enough.
    ///
    /// O(1) for each clean run that becomes dirty: each unit of it went back to the source before.
    fn take_joined(
        &mut self,
        memory: &Memory,
        units: u32,
        all: u32,
        align: usize,
    ) -> Option<Taken> {
        if self.mixes || self.dirty.units() + self.clean.units() < u64::from(all) {
            return None;
        }
        while let Some(run) = self.clean.longest() {
            // What touches the run is clean, or would have coalesced.
            let mut next = Some(run);
            while let Some(run) = next {
                let (start, length) = self.join_as_dirty(memory, run);
                if length >= all {
                    return self.take_dirty(memory, units, all, align);
                }
                let behind = self.free_from(memory, memory.after(start, length));
                next = behind.or_else(|| Self::free_before(memory, start));
            }
        }
        None
    }

    /// Makes a clean run a dirty one. Returns what it becomes with its neighbours.
    fn join_as_dirty(&mut self, memory: &Memory, run: Span) -> (Span, u32) {
        let (units, stamp) = (memory.record(run).units.get(), stamp_of(memory, run));
        self.take_out(memory, run);
        self.join(memory, run, units, false, stamp)
    }

    /// Takes units that were never used.
    fn take_top<S: Source>(
        &mut self,
        memory: &Memory,
        source: &S,
        units: u32,
        align: usize,
    ) -> Option<Taken> {
        let top = self.top;
        let before = units_to_aligned(memory, top, align);
        let end = top.number().checked_add(before)?.checked_add(units)?;
        if !self.commit(memory, source, end) {
            return None;
        }
        let start = memory.after(top, before);
        self.top = memory.span(end);
        // First: behind the top, records still say what was there before it went back.
        mark_used(memory, start, units);
        if before > 0 {
            self.used += u64::from(before);
            mark_used(memory, top, before);
            self.give(memory, top, before, S::ZEROED, 0);
        }
        let zero = S::ZEROED;
        Some(Taken { start, zero })
    }

    /// Makes all units below `end` usable, and their records.
    fn commit<S: Source>(&mut self, memory: &Memory, source: &S, end: u32) -> bool {
        if end <= memory.committed() {
            return true;
        }
        if end > memory.units() {
            return false;
        }
        let enough = end.checked_next_multiple_of(COMMITTED_AT_ONCE);
        let to = enough.unwrap_or(end).min(memory.units());
        memory.commit(source, memory.span(to))
    }

    /// Makes used units free.
    fn give(&mut self, memory: &Memory, start: Span, units: u32, zero: bool, stamp: u32) {
        self.use_less(units);
        self.join(memory, start, units, zero, stamp);
    }

    /// Makes units that are neither used nor free a free run, with its neighbours if they coalesce.
    /// Returns that.
    fn join(
        &mut self,
        memory: &Memory,
        start: Span,
        units: u32,
        zero: bool,
        stamp: u32,
    ) -> (Span, u32) {
        let (mut start, mut units, mut zero, mut stamp) = (start, units, zero, stamp);
        let mut longest = units;
        mark_nothing(memory, start, units);
        let behind = self.free_from(memory, memory.after(start, units));
        if let Some(next) = behind.filter(|next| self.joins(memory, *next, zero)) {
            let behind = memory.record(next).units.get();
            if behind > longest {
                (longest, stamp) = (behind, stamp_of(memory, next));
            }
            zero &= self.take_out(memory, next);
            units += behind;
        }
        let before = Self::free_before(memory, start);
        if let Some(first) = before.filter(|first| self.joins(memory, *first, zero)) {
            // Inside the run that this becomes, nothing begins or ends.
            let last = memory.span(start.number() - 1);
            memory.record(last).set_kind(Kind::Nothing);
            let before = memory.record(first).units.get();
            if before > longest {
                stamp = stamp_of(memory, first);
            }
            start = first;
            units += before;
            zero &= self.take_out(memory, first);
        }
        self.add(memory, start, units, zero, stamp);
        (start, units)
    }

    /// The free run that begins at a unit.
    fn free_from(&self, memory: &Memory, start: Span) -> Option<Span> {
        let is_free = start < self.top && memory.record(start).kind() == Kind::Free;
        is_free.then_some(start)
    }

    /// The free run that ends before a unit.
    fn free_before(memory: &Memory, start: Span) -> Option<Span> {
        if start == memory.first() {
            return None;
        }
        let last = memory.record(memory.span(start.number() - 1));
        (last.kind() == Kind::Free).then(|| memory.span(start.number() - last.units.get()))
    }

    /// Whether a free run and one that is `zero`, or not, become one.
    fn joins(&self, memory: &Memory, run: Span, zero: bool) -> bool {
        self.mixes || is_zero(memory, run) == zero
    }

    /// Takes a free run out of its list. Returns whether it is zero.
    fn take_out(&mut self, memory: &Memory, run: Span) -> bool {
        let zero = is_zero(memory, run);
        self.of_kind(zero).remove(memory, run);
        memory.record(run).set_kind(Kind::Nothing);
        zero
    }

    fn of_kind(&mut self, zero: bool) -> &mut Runs {
        if zero {
            &mut self.clean
        } else {
            &mut self.dirty
        }
    }

    /// Makes units a free run; if they are zero and end at the top, the top goes back instead.
    fn add(&mut self, memory: &Memory, start: Span, units: u32, zero: bool, stamp: u32) {
        let end = memory.after(start, units);
        mark_nothing(memory, start, units);
        if zero && end == self.top {
            self.top = start;
            return;
        }
        let last = memory.record(memory.span(end.number() - 1));
        last.set_kind(Kind::Free);
        last.units.set(units);
        let record = memory.record(start);
        record.set_kind(Kind::Free);
        record.units.set(units);
        set_stamp(memory, start, stamp, zero);
        self.of_kind(zero).add(memory, start);
    }

    /// Makes a large object longer in place, up to `units` units. Returns whether it could.
    pub(super) fn extend<S: Source>(
        &mut self,
        memory: &Memory,
        source: &S,
        start: Span,
        units: u32,
    ) -> bool {
        let had = memory.record(start).units.get();
        let more = units - had;
        let end = memory.after(start, had);
        let holds_memory =
            |run: Span| !is_zero(memory, run) && memory.record(run).units.get() >= more;
        match self.room(memory, source, more) {
            Room::Anywhere => {}
            Room::Dirty if self.free_from(memory, end).is_some_and(holds_memory) => {}
            Room::Dirty | Room::Nowhere => return false,
        }
        let dirty = self.dirty.units();
        if !self.take_behind(memory, source, end, more) {
            return false;
        }
        mark_nothing(memory, end, more);
        mark_used(memory, start, units);
        memory.record(start).units.set(units);
        self.want(more, dirty);
        self.use_more(more);
        true
    }

    /// Makes a large object shorter. Returns the rest, which is the caller's to give back.
    pub(super) fn shorten(memory: &Memory, start: Span, units: u32) -> (Span, u32) {
        let had = memory.record(start).units.get();
        mark_used(memory, start, units);
        memory.record(start).units.set(units);
        (memory.after(start, units), had - units)
    }
}

/// Units from a unit to the next one at a multiple of `align` bytes.
fn units_to_aligned(memory: &Memory, span: Span, align: usize) -> u32 {
    let address = memory.address(span).addr().get();
    let aligned = address
        .checked_next_multiple_of(align)
        .unwrap_or(usize::MAX);
    u32::try_from((aligned - address) / UNIT_BYTES).unwrap_or(u32::MAX)
}

/// The records of a used run. A page overwrites them.
fn mark_used(memory: &Memory, start: Span, units: u32) {
    mark_nothing(memory, start, units);
    memory.record(start).set_kind(Kind::Run);
}

/// The records of units that are neither used nor free.
fn mark_nothing(memory: &Memory, start: Span, units: u32) {
    let end = memory.after(start, units).number();
    memory.record(memory.span(end - 1)).set_kind(Kind::Nothing);
    memory.record(start).set_kind(Kind::Nothing);
}

/// Whether all bytes of a free run are zero.
fn is_zero(memory: &Memory, run: Span) -> bool {
    memory.record(run).opened.get() & 1 == 1
}

/// When a run became free, in milliseconds, an even number.
fn stamp_of(memory: &Memory, run: Span) -> u32 {
    let record = memory.record(run);
    u32::from(record.watch.get()) << 16 | u32::from(record.opened.get() & !1)
}

#[expect(clippy::cast_possible_truncation, reason = "its two halves")]
fn set_stamp(memory: &Memory, run: Span, stamp: u32, zero: bool) {
    let record = memory.record(run);
    record.opened.set(stamp as u16 & !1 | u16::from(zero));
    record.watch.set((stamp >> 16) as u16);
}
