//! What goes back to the source, and when.
//!
//! A run that stays free for the delay becomes clean; free runs that coalesce are as old as the
//! longest of them. Whatever the clock says, used and dirty units together are kept at 17/16 of the
//! most that were ever used, or 512 KiB more: whoever takes units while there are more gives the
//! surplus back, at most sixteen dirty runs a call: the shortest that are enough for that, for long
//! ones serve more requests. So what programs free and soon want again stays, and yet hardly more
//! is held than was needed at one time.
//!
//! A program that replaces large objects, of other sizes each time, wants memory again that just
//! went back. So what large objects took that was not dirty, while no more was used than ever
//! before, is *wanted*: so many dirty units stay after the delay, and up to 1/8 of the most that
//! were ever used are allowed beyond the 17/16. It is forgotten bit by bit, in thirty-two delays.
//!
//! Programs ask for more than they write: of a large object of 4 MiB or more, the memory goes back
//! as soon as it is freed if most of it was never written (*sparse*). The next one of the same
//! power of two is then taken where no memory is.
#![deny(unsafe_code)]

use super::super::memory::{Memory, Span};
use super::super::source::Source;
use super::window::LEAST_SIDE_BY_SIDE;
use super::{COMMITTED_AT_ONCE, Pool, mark_nothing, stamp_of};

/// The most runs that one call gives back to the source.
const PURGED_AT_ONCE: usize = 16;
/// The most runs that stay when all go back, because the source cannot take them.
const KEPT_AT_ONCE: usize = 16;
/// Dirty units that are always allowed: 512 KiB.
const LEAST_ALLOWED: u64 = 64;
/// Units that go back beyond those that must, so that not every call gives some: 256 KiB.
const SLACK: u64 = LEAST_ALLOWED / 2;
/// Surplus is taken of the shortest dirty runs that have so many units: 256 KiB.
const LEAST_PURGED: u32 = 32;
/// The most runs whose age one call looks at, the longest first.
const LOOKED_AT_ONCE: usize = 256;
/// A large object of so many units, 4 MiB, may be hardly written.
pub(in crate::shared) const LEAST_SPARSE: u32 = 512;
/// Of the most units ever used, the part that stays in addition if it was wanted again.
const WANTED_PART: u64 = 8;
/// Milliseconds by which the clock of another thread may be ahead.
const AHEAD: u32 = 60_000;
/// Delays in which all that was wanted is forgotten.
const FORGOTTEN_AFTER: u64 = 32;

/// Runs whose memory is to go back to the source: their first units, and how many.
#[derive(Debug)]
pub(in crate::shared) struct Outgoing(pub(in crate::shared) [Option<(Span, u32)>; PURGED_AT_ONCE]);

impl Outgoing {
    const NONE: Self = Self([None; PURGED_AT_ONCE]);
}

impl Pool {
    /// Whether free memory goes back.
    pub(in crate::shared) fn gives_back(&self) -> bool {
        !self.mixes && self.delay != u32::MAX
    }

    /// Milliseconds before somebody is to look whether free memory is due; `None` if none waits for
    /// that.
    pub(in crate::shared) fn waits(&self) -> Option<u32> {
        let waits = self.gives_back() && self.dirty.units() > 0;
        waits.then(|| self.delay.div_ceil(4))
    }

    /// Gives used units back, which are `zero` or not, at a time `now`; they coalesce. Returns the
    /// runs whose memory is to go back now: the caller sees to that without the lock, and then
    /// calls [`settle`](Pool::settle) for each.
    pub(in crate::shared) fn give_back(
        &mut self,
        memory: &Memory,
        start: Span,
        units: u32,
        zero: bool,
        now: u32,
    ) -> Outgoing {
        if units >= LEAST_SPARSE {
            let power = 1 << units.ilog2();
            self.sparse = self.sparse & !power | if zero { power } else { 0 };
        }
        self.give(memory, start, units, zero, now);
        self.old(memory, now)
    }

    /// What went back, or could not, is a free run again.
    pub(in crate::shared) fn settle(
        &mut self,
        memory: &Memory,
        run: Span,
        units: u32,
        gone: bool,
        now: u32,
    ) {
        if gone {
            self.purges += 1;
        }
        self.leaving -= u64::from(units);
        self.join(memory, run, units, gone, now);
    }

    /// Has the source take back what is committed behind the top, where there is much of it.
    pub(in crate::shared) fn withdraw<S: Source>(&self, memory: &Memory, source: &S) {
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

    /// Whether the last large object of about so many units was hardly written.
    pub(super) fn expects_sparse(&self, units: u32) -> bool {
        units >= LEAST_SPARSE && self.sparse & 1 << units.ilog2() != 0
    }

    /// Notes that units were taken when there were so many dirty ones: of a large object, those
    /// that were not are wanted again, unless more units are used now than ever.
    pub(super) fn want(&mut self, units: u32, dirty_before: u64) {
        if self.delay == 0 || self.expects_sparse(units) {
            return;
        }
        let units = u64::from(units);
        if units < u64::from(LEAST_SIDE_BY_SIDE) || self.used + units > self.most_used {
            return;
        }
        let dirty = dirty_before.saturating_sub(self.dirty.units());
        let wanted = self.wanted + units.saturating_sub(dirty);
        self.wanted = wanted.min(self.most_used);
    }

    /// Picks runs whose memory is to go back if used and dirty units together are more than
    /// allowed. As only memory that was not there before makes them more, this follows
    /// [`take`](Pool::take) and [`extend`](Pool::extend).
    pub(in crate::shared) fn surplus(&mut self, memory: &Memory) -> Outgoing {
        let mut outgoing = Outgoing::NONE;
        let resident = self.used + self.dirty.units();
        let allowed = self.most_used
            + (self.most_used / 16).max(LEAST_ALLOWED)
            + self.wanted.min(self.most_used / WANTED_PART);
        if !self.gives_back() || resident <= allowed {
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

    /// Gives all free memory back to the source. Returns the units that went back.
    pub(in crate::shared) fn purge_all<S: Source>(&mut self, memory: &Memory, source: &S) -> u64 {
        let before = self.dirty.units();
        // What the source cannot take back, locked memory for example, keeps no other run.
        let mut kept = [None; KEPT_AT_ONCE];
        for place in &mut kept {
            while let Some(run) = self.dirty.longest() {
                if !self.purge(memory, source, run) {
                    let stamp = stamp_of(memory, run);
                    *place = Some((self.pick(memory, run, u32::MAX), stamp));
                    break;
                }
            }
        }
        for ((run, units), stamp) in kept.into_iter().flatten() {
            self.settle(memory, run, units, false, stamp);
        }
        self.withdraw(memory, source);
        before - self.dirty.units()
    }

    /// Picks dirty runs that have been free for the delay, the longest first, now and then.
    pub(in crate::shared) fn old(&mut self, memory: &Memory, now: u32) -> Outgoing {
        let mut outgoing = Outgoing::NONE;
        if !self.gives_back() {
            return outgoing;
        }
        let passed = now.wrapping_sub(self.looked_last);
        // Another thread, which read its clock later, may have looked already.
        let is_behind = self.delay > 0 && passed > u32::MAX - AHEAD;
        if passed < self.delay.div_ceil(4) || is_behind {
            return outgoing;
        }
        self.looked_last = now;
        self.forget(passed);
        let mut most = self.dirty.units().saturating_sub(self.wanted);
        let mut old = [Span::NONE; PURGED_AT_ONCE];
        // Another thread's clock may have been read later: then the run is not old.
        let age = |run: &Span| now.wrapping_sub(stamp_of(memory, *run));
        let is_old = |run: &Span| (self.delay..=u32::MAX - AHEAD).contains(&age(run));
        let found = self.dirty.each(memory).take(LOOKED_AT_ONCE).filter(is_old);
        for (place, run) in old.iter_mut().zip(found) {
            *place = run;
        }
        let found = old.into_iter().filter(|run| *run != Span::NONE);
        for (place, run) in outgoing.0.iter_mut().zip(found) {
            let units = u32::try_from(most).unwrap_or(u32::MAX);
            if units == 0 {
                break;
            }
            let picked = self.pick(memory, run, units);
            most -= u64::from(picked.1);
            *place = Some(picked);
        }
        outgoing
    }

    /// Forgets some of what was wanted again: all of it in [`FORGOTTEN_AFTER`] delays.
    fn forget(&mut self, passed: u32) {
        let all = u64::from(self.delay).max(1) * FORGOTTEN_AFTER;
        let part = u64::from(passed).min(all);
        self.wanted -= (self.wanted * part).div_ceil(all);
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
