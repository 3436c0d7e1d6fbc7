//! Free runs of both kinds side by side, taken as one.
//!
//! A large request that fits no dirty run would have memory that was never there, or went back,
//! while as much dirty memory elsewhere becomes surplus and goes back. So it is taken where most of
//! it is dirty: a dirty run, and as much of what is free beside it as is missing.
#![deny(unsafe_code)]

use super::super::memory::{Memory, Span};
use super::super::source::Source;
use super::{Pool, Taken, is_zero, mark_nothing, mark_used, stamp_of};

/// Requests of fewer units are not worth it: 128 KiB.
pub(super) const LEAST_SIDE_BY_SIDE: u32 = 16;
/// Dirty runs that are looked at for one request, the longest first.
const LOOKED_AT: usize = 16;
/// The most runs of a window.
const RUNS: usize = 8;

/// Units of free runs side by side, or behind the top.
#[derive(Clone, Copy, Debug)]
struct Window {
    /// Where the first of its runs begins.
    first: Span,
    /// The units that are taken.
    start: Span,
    units: u32,
    /// How many of them are dirty.
    dirty: u32,
}

impl Pool {
    /// Takes units where a dirty run and its neighbours have enough together: among the longest
    /// dirty runs, where most of them are dirty. O(1).
    pub(super) fn take_window<S: Source>(
        &mut self,
        memory: &Memory,
        source: &S,
        units: u32,
    ) -> Option<Taken> {
        if self.mixes || units < LEAST_SIDE_BY_SIDE {
            return None;
        }
        let runs = self.dirty.each(memory).take(LOOKED_AT);
        let windows = runs.filter_map(|run| self.window(memory, run, units));
        let window = windows.max_by_key(|window| window.dirty)?;
        self.take_all(memory, source, window).then_some(Taken {
            start: window.start,
            zero: false,
        })
    }

    /// Takes units that begin behind a used one, where they are free, or behind the top. Returns
    /// whether it could. O(1).
    pub(super) fn take_behind<S: Source>(
        &mut self,
        memory: &Memory,
        source: &S,
        start: Span,
        units: u32,
    ) -> bool {
        let mut free = 0;
        for _ in 0..RUNS {
            let end = memory.after(start, free);
            if end == self.top {
                free = memory.units() - start.number();
            } else if let Some(run) = self.free_from(memory, end) {
                free += memory.record(run).units.get();
            } else {
                return false;
            }
            if free >= units {
                let (first, dirty) = (start, 0);
                let window = Window {
                    first,
                    start,
                    units,
                    dirty,
                };
                return self.take_all(memory, source, window);
            }
        }
        false
    }

    /// The units around a dirty run: what is missing is taken behind it, then before it.
    fn window(&self, memory: &Memory, run: Span, units: u32) -> Option<Window> {
        let length = |run| memory.record(run).units.get();
        let (mut first, mut all) = (run, length(run));
        let mut dirty = all.min(units);
        let mut surplus = 0;
        for _ in 0..RUNS {
            let end = memory.after(first, all);
            let is_enough = all >= units;
            let room = memory.units() - first.number();
            if is_enough || end == self.top && units <= room {
                let start = memory.after(first, surplus);
                return Some(Window {
                    first,
                    start,
                    units,
                    dirty,
                });
            }
            let behind = self.free_from(memory, end);
            let next = behind.or_else(|| Self::free_before(memory, first))?;
            let missing = units - all;
            let more = length(next);
            if !is_zero(memory, next) {
                dirty += more.min(missing);
            }
            if behind.is_none() {
                // Of the last run before, its end is taken.
                surplus = more.saturating_sub(missing);
                first = next;
            }
            all += more;
        }
        None
    }

    /// Takes the units of a window. `false`, and nothing is changed, if the source has none behind
    /// the top.
    fn take_all<S: Source>(&mut self, memory: &Memory, source: &S, window: Window) -> bool {
        let Window {
            first,
            start,
            units,
            ..
        } = window;
        let end = memory.after(start, units);
        if end > self.top && !self.commit(memory, source, end.number()) {
            return false;
        }
        let mut at = first;
        while at < end && at < self.top {
            let (stamp, length) = (stamp_of(memory, at), memory.record(at).units.get());
            let zero = self.take_out(memory, at);
            // Inside of what is taken, nothing begins or ends.
            mark_nothing(memory, at, length);
            let next = memory.after(at, length);
            if at < start {
                self.add(memory, at, start.number() - at.number(), zero, stamp);
            }
            if next > end {
                self.add(memory, end, next.number() - end.number(), zero, stamp);
            }
            at = next;
        }
        self.top = self.top.max(end);
        mark_used(memory, start, units);
        true
    }
}
