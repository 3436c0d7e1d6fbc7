//! Units of the region, under one lock: pages and large objects come from here, and go back.
//!
//! ```text
//! | administrative | used page | free run | large object | free run | page | never used …       |
//!                                                                          top        committed end
//! ```
//! Free runs coalesce. They are of two kinds: those that were written (`dirty`) come first, because
//! their memory is there; those whose memory the source took back (`clean`) are zero. If the source
//! takes memory back, runs of different kinds do not coalesce, so that it is known how much memory
//! free runs hold. Behind the top nothing was ever used.
//!
//! # What goes back
//! A run that stays free for the delay becomes clean; free runs that coalesce are as old as the
//! longest of them. Whatever the clock says, used and dirty units together are kept at 17/16 of the
//! most that were ever used, or 512 KiB more: whoever takes units while there are more gives the
//! surplus back, at most sixteen dirty runs a call: the shortest that are enough for that, for long
//! ones serve more requests. So what programs free and soon want again stays, and yet hardly more
//! is held than was needed at one time.
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

use super::memory::{Kind, Memory, Span};
use super::runs::Runs;
use super::sizes::UNIT_BYTES;
use super::source::Source;

/// Units are committed so many at once.
const COMMITTED_AT_ONCE: u32 = 512;
/// The most runs that one call gives back to the source.
const PURGED_AT_ONCE: usize = 16;
/// Dirty units that are always allowed: 512 KiB.
const LEAST_ALLOWED: u64 = 64;
/// Units that go back beyond those that must, so that not every call gives some: 256 KiB.
const SLACK: u64 = LEAST_ALLOWED / 2;
/// Surplus is taken of the shortest dirty runs that have so many units: 256 KiB.
const LEAST_PURGED: u32 = 32;
/// The most runs whose age one call looks at, the longest first.
const LOOKED_AT_ONCE: usize = 256;

/// Units taken from the pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    /// The first one.
    pub(super) start: Span,
    /// Whether all their bytes are zero.
    pub(super) zero: bool,
}

/// Runs whose memory is to go back to the source: their first units, and how many.
#[derive(Debug)]
pub(super) struct Outgoing(pub(super) [Option<(Span, u32)>; PURGED_AT_ONCE]);

impl Outgoing {
    const NONE: Self = Self([None; PURGED_AT_ONCE]);
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
    limit: u64,
    soft_limit: u64,
    is_above: bool,
    rose: bool,
    delay: u32,
    looked_last: u32,
    purges: u64,
    refused: u64,
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
    /// the limit forbids it.
    pub(super) fn take<S: Source>(
        &mut self,
        memory: &Memory,
        source: &S,
        units: u32,
        align: usize,
    ) -> Option<Taken> {
        let slack = u32::try_from(align.div_ceil(UNIT_BYTES) - 1).ok()?;
        let all = units.checked_add(slack)?;
        let possible = all < memory.units() && self.within_limit(memory, source, units);
        let mut taken = None;
        if possible {
            taken = self
                .take_free(memory, units, all, align)
                .or_else(|| self.take_top(memory, source, units, align))
                .or_else(|| self.take_joined(memory, units, all, align));
        }
        match taken {
            Some(taken) => {
                memory.record(taken.start).units.set(units);
                self.use_more(units);
            }
            None => self.refused += 1,
        }
        taken
    }

    /// Whether so many units more are within the limit; gives free memory back first if that helps.
    fn within_limit<S: Source>(&mut self, memory: &Memory, source: &S, units: u32) -> bool {
        // What is on its way back needs no memory any more.
        let after = self.used.saturating_add(u64::from(units));
        if after > self.limit {
            return false;
        }
        if after.saturating_add(self.dirty.units()) > self.limit {
            self.purge_all(memory, source);
        }
        true
    }

    /// Takes units out of a free run of `all` units.
    fn take_free(&mut self, memory: &Memory, units: u32, all: u32, align: usize) -> Option<Taken> {
        let dirty = self.dirty.find(memory, all);
        let run = dirty.or_else(|| self.clean.find(memory, all))?;
        let zero = dirty.is_none();
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
        Some(Taken { start, zero })
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
                    return self.take_free(memory, units, all, align);
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

    /// Gives used units back at a time `now`; they coalesce. Returns the runs whose memory is to go
    /// back now: the caller sees to that without the lock, and then calls [`settle`](Pool::settle)
    /// for each.
    pub(super) fn give_back(
        &mut self,
        memory: &Memory,
        start: Span,
        units: u32,
        now: u32,
    ) -> Outgoing {
        self.give(memory, start, units, false, now);
        self.old(memory, now)
    }

    /// Milliseconds before somebody is to look whether free memory is due; `None` if none waits for
    /// that.
    pub(super) fn waits(&self) -> Option<u32> {
        let waits = !self.mixes && self.delay != u32::MAX && self.dirty.units() > 0;
        waits.then(|| self.delay.div_ceil(4))
    }

    /// What went back, or could not, is a free run again.
    pub(super) fn settle(&mut self, memory: &Memory, run: Span, units: u32, gone: bool, now: u32) {
        if gone {
            self.purges += 1;
        }
        self.leaving -= u64::from(units);
        self.join(memory, run, units, gone, now);
    }

    /// Has the source take back what is committed behind the top, where there is much of it.
    pub(super) fn withdraw<S: Source>(&self, memory: &Memory, source: &S) {
        let kept = self.top.number().next_multiple_of(COMMITTED_AT_ONCE);
        if S::PURGES && kept < memory.committed() {
            memory.withdraw(source, memory.span(kept));
        }
    }

    /// Takes the end of a dirty run, at most `most` units, out of it, until it is settled.
    fn pick(&mut self, memory: &Memory, run: Span, most: u32) -> (Span, u32) {
        let all = memory.record(run).units.get();
        let stamp = stamp_of(memory, run);
        self.take_out(memory, run);
        let units = all.min(most);
        let start = memory.after(run, all - units);
        if units < all {
            self.add(memory, run, all - units, false, stamp);
        }
        mark_nothing(memory, start, units);
        self.leaving += u64::from(units);
        (start, units)
    }

    /// Picks runs whose memory is to go back if used and dirty units together are more than
    /// allowed. As only memory that was not there before makes them more, this follows
    /// [`take`](Pool::take) and [`extend`](Pool::extend).
    pub(super) fn surplus(&mut self, memory: &Memory) -> Outgoing {
        let mut outgoing = Outgoing::NONE;
        let resident = self.used + self.dirty.units();
        let allowed = self.most_used + (self.most_used / 16).max(LEAST_ALLOWED);
        if self.mixes || self.delay == u32::MAX || resident <= allowed {
            return outgoing;
        }
        let mut surplus = resident - allowed + SLACK;
        let each = u32::try_from(surplus / PURGED_AT_ONCE as u64).unwrap_or(u32::MAX);
        for place in &mut outgoing.0 {
            let most = u32::try_from(surplus).unwrap_or(u32::MAX);
            let short = self.dirty.find(memory, each.max(LEAST_PURGED));
            let run = short.or_else(|| self.dirty.longest());
            let Some(run) = run.filter(|_| surplus > 0) else {
                break;
            };
            let picked = self.pick(memory, run, most);
            surplus -= u64::from(picked.1);
            *place = Some(picked);
        }
        outgoing
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
        if !self.within_limit(memory, source, more) {
            return false;
        }
        if end == self.top {
            let Some(new_end) = end.number().checked_add(more) else {
                return false;
            };
            if !self.commit(memory, source, new_end) {
                return false;
            }
            self.top = memory.span(new_end);
        } else {
            let next = memory.record(end);
            let free = next.units.get();
            if next.kind() != Kind::Free || free < more {
                return false;
            }
            let stamp = stamp_of(memory, end);
            let zero = self.take_out(memory, end);
            if free > more {
                self.add(memory, memory.after(end, more), free - more, zero, stamp);
            }
        }
        mark_used(memory, start, units);
        memory.record(start).units.set(units);
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

    /// Gives all free memory back to the source. Returns the units that went back.
    pub(super) fn purge_all<S: Source>(&mut self, memory: &Memory, source: &S) -> u64 {
        let before = self.dirty.units();
        while let Some(run) = self.dirty.longest() {
            if !self.purge(memory, source, run) {
                break;
            }
        }
        self.withdraw(memory, source);
        before - self.dirty.units()
    }

    /// Picks dirty runs that have been free for the delay, the longest first, now and then.
    pub(super) fn old(&mut self, memory: &Memory, now: u32) -> Outgoing {
        let mut outgoing = Outgoing::NONE;
        if self.mixes || self.delay == u32::MAX {
            return outgoing;
        }
        if now.wrapping_sub(self.looked_last) < self.delay.div_ceil(4) {
            return outgoing;
        }
        self.looked_last = now;
        let mut old = [Span::NONE; PURGED_AT_ONCE];
        // Another thread's clock may have been read later: then the run is not old.
        let age = |run: &Span| now.wrapping_sub(stamp_of(memory, *run));
        let is_old = |run: &Span| (self.delay..1 << 31).contains(&age(run));
        let found = self.dirty.each(memory).take(LOOKED_AT_ONCE).filter(is_old);
        for (place, run) in old.iter_mut().zip(found) {
            *place = run;
        }
        let found = old.into_iter().filter(|run| *run != Span::NONE);
        for (place, run) in outgoing.0.iter_mut().zip(found) {
            *place = Some(self.pick(memory, run, u32::MAX));
        }
        outgoing
    }

    fn purge<S: Source>(&mut self, memory: &Memory, source: &S, run: Span) -> bool {
        let units = memory.record(run).units.get();
        if !memory.purge(source, run, units) {
            return false;
        }
        self.purges += 1;
        self.take_out(memory, run);
        self.join(memory, run, units, true, 0);
        true
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
