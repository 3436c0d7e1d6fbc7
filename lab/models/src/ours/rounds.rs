//! The rounds of a call, and what a move in flight does in them: begin, step, commit.

use core::num::NonZeroUsize;

use surefit_classes::automaton::incremental::{Effort, InFlight, Next, compaction, next, step};
use surefit_classes::{Bound, PageOrder};

use super::class::{Class, Kind, Moving, Pinned, Place, Rules, Slip};

impl Class {
    /// The next action of a call.
    pub(crate) fn next(&self, rules: &Rules, call: usize) -> Next {
        let mine = self.calls[call];
        let in_flight = match (self.moving, mine.own) {
            (None, _) => InFlight::Nothing,
            (Some(_), true) => InFlight::Own,
            (Some(_), false) => InFlight::Other,
        };
        if let Some(left) = mine.compaction {
            return compaction(self.counts(rules), in_flight, left > 0);
        }
        let effort = (0..mine.steps).fold(Effort::new(0), |effort, _| effort.step());
        next(
            rules.decisions(self.bound(rules)),
            self.counts(rules),
            in_flight,
            effort,
        )
    }

    /// One round of a call, as a section of its own.
    pub(crate) fn round(&mut self, rules: &Rules, call: usize) {
        self.give_back_parked(rules);
        match self.next(rules, call) {
            Next::Step => self.step(rules, call),
            Next::Move => match self.begin(rules, call) {
                Next::Leave => return self.leave(rules, call),
                _ => self.step(rules, call),
            },
            Next::Leave => return self.leave(rules, call),
        }
        self.leave_if_done(rules, call);
    }

    /// A call returns in the section after which nothing is left to do.
    pub(crate) fn leave_if_done(&mut self, rules: &Rules, call: usize) {
        let there = self.calls.get(call).is_some_and(|call| !call.commits);
        if there && !rules.lingers && self.next(rules, call) == Next::Leave {
            self.leave(rules, call);
        }
    }

    pub(crate) fn leave(&mut self, rules: &Rules, call: usize) {
        if self.calls[call].own {
            self.wrong = Some("a call left its move behind");
        }
        if self.calls.remove(call).compaction.is_none() {
            self.set_credit(rules);
        }
    }

    /// The page of the victim: the first in drain order, except the target's, with a live block
    /// that is not pinned.
    pub(crate) fn victim(&self, rules: &Rules, target: Place) -> Option<usize> {
        let may_give = |at: &usize| Place::NotFull(*at) != target && self.not_full[*at].plain > 0;
        let pages = 0..self.not_full.len();
        match rules.order {
            PageOrder::Newest => pages.rev().find(may_give),
            PageOrder::Original => { pages }.find(may_give),
        }
    }

    /// Begins a move into a hole of the head page, if there is a victim; returns what comes next in
    /// the same section.
    fn begin(&mut self, rules: &Rules, call: usize) -> Next {
        if self.parked() > 0 {
            self.wrong = Some("a victim is searched while a block is parked");
        }
        let Some(from) = self.victim(rules, Place::NotFull(0)) else {
            return Next::Leave;
        };
        self.depart(from, call);
        self.becomes_reservoir(rules, from);
        self.take(rules, 0, Kind::Target);
        if let Some(left) = &mut self.calls[call].compaction {
            *left -= 1;
        }
        Next::Step
    }

    /// A block of a not-full page is in motion from now on.
    pub(crate) fn depart(&mut self, from: usize, call: usize) {
        self.change(Place::NotFull(from), Kind::Plain, false);
        self.change(Place::NotFull(from), Kind::Source, true);
        self.moving = Some(Moving {
            done: 0,
            pinned: Pinned::No,
            written: false,
        });
        self.calls[call].own = true;
    }

    /// Under the hole bound the page that gives blocks away is the reservoir.
    fn becomes_reservoir(&mut self, rules: &Rules, from: usize) {
        if matches!(rules.bound, Bound::Holes { .. }) {
            if from + 1 < self.not_full.len() {
                self.credit = 0;
            }
            let page = self.not_full.remove(from);
            self.not_full.push(page);
        }
    }

    pub(crate) fn step(&mut self, rules: &Rules, call: usize) {
        let Some(moving) = &mut self.moving else {
            self.wrong = Some("no move to step");
            return;
        };
        let one = NonZeroUsize::new(1);
        let now = step(usize::from(rules.steps), usize::from(moving.done), one);
        moving.done += now.bytes as u16;
        let call = &mut self.calls[call];
        call.commits = now.commits;
        if call.compaction.is_none() {
            call.steps += 1;
        }
    }

    /// The end of the section that took the last step.
    pub(crate) fn commit(&mut self, rules: &Rules, call: usize) {
        self.calls[call].commits = false;
        let Some(moving) = self.moving else {
            self.wrong = Some("no move to commit");
            return;
        };
        if moving.pinned != Pinned::No {
            if rules.slip != Slip::CommitsPinned {
                self.abort(rules);
                return self.leave_if_done(rules, call);
            }
            self.wrong = Some("a pinned object moved");
        }
        if moving.written {
            self.wrong = Some("a write was lost");
        }
        if moving.done != rules.steps {
            self.wrong = Some("a commit before everything is copied");
        }
        self.moving = None;
        self.calls.iter_mut().for_each(|call| call.own = false);
        let target = self.find(|page| page.target).expect("a move has a target");
        self.change(target, Kind::Target, false);
        self.change(target, Kind::Plain, true);
        let v = self.find(|page| page.source).expect("a move has a source");
        self.clear(rules, v, Kind::Source);
        self.leave_if_done(rules, call);
    }
}
