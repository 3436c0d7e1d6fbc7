//! What threads may do next with a class, and what must be true of every state.
//!
//! Between any two sections another thread may run one. Pins come and go at any time, also while a
//! section runs. So a section that takes the last step of a move stops before its commit, with the
//! lock held.

use surefit_classes::Bound;
use surefit_classes::automaton::incremental::{
    Next, bound_in_flight, most_steps, pages_bound_in_flight,
};
use surefit_classes::automaton::pages_bound;

use super::class::{Call, Class, Moving, Page, Pinned, Place, Rules};
use crate::size_class::or_none;
use crate::{Label, Measured, Simulated, SizeClass};

/// What a thread may do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Allocates a page-block.
    Malloc,
    /// Frees a block at rest that nobody pins.
    Free(Place),
    /// Frees such a block by parking it.
    Park(Place),
    /// Allocates a parked block.
    Take(Place),
    /// Gives all parked blocks back.
    GiveBack,
    /// Frees the block in motion.
    FreeInMotion(Place),
    /// Calls a compaction.
    Compact,
    /// The next round of the nth call.
    Round(usize),
    /// The end of a section of the nth call in which the last bytes were copied.
    Commit(usize),
    /// Pins an object at rest.
    Pin(Place),
    /// Gives such a pin back.
    Unpin(Place),
    /// Pins the object in motion.
    PinMoving(Pinned),
    /// Gives such a pin back.
    UnpinMoving,
    /// The writer that waits for the lock gets it.
    Cancel,
    /// Lends the class so many holes more.
    Lend(u16),
    /// Takes back what is lent and not needed.
    TakeBack,
}

impl SizeClass for Class {
    type Rules = Rules;
    type Action = Action;

    fn actions(&self, rules: &Rules, actions: &mut Vec<Action>) {
        if self.wrong.is_some() {
            return;
        }
        match self.calls.iter().position(|call| call.commits) {
            Some(call) => actions.push(Action::Commit(call)),
            None => self.sections(rules, actions),
        }
        self.pin_actions(rules, actions);
    }

    fn act(&mut self, rules: &Rules, action: Action) -> Label {
        let label = self.label(rules, action);
        let before = (self.full.len(), self.moving.is_some());
        match action {
            Action::Malloc => self.malloc(rules),
            Action::Free(place) => self.free(rules, place, false),
            Action::Park(place) => self.park(rules, place),
            Action::Take(place) => self.take_parked(rules, place),
            Action::GiveBack => self.give_back_parked(rules),
            Action::FreeInMotion(place) => self.free(rules, place, true),
            Action::Compact => self.calls.push(Call {
                compaction: Some(rules.compaction),
                ..Call::default()
            }),
            Action::Round(call) => self.round(rules, call),
            Action::Commit(call) => self.commit(rules, call),
            Action::Pin(place) => self.pin(place),
            Action::Unpin(place) => self.unpin(place),
            Action::PinMoving(how) => self.pin_moving(how),
            Action::UnpinMoving => self.unpin_moving(),
            Action::Cancel => self.cancel(rules),
            Action::Lend(holes) => self.lent += holes,
            Action::TakeBack => self.take_back(rules),
        }
        let after = (self.full.len(), self.moving.is_some());
        self.sort();
        with_effect(label, action, before, after)
    }

    fn fault(&self, rules: &Rules) -> Option<&'static str> {
        self.wrong.or_else(|| self.first_fault(rules))
    }

    fn measured(&self, rules: &Rules) -> Measured {
        let calls = self.calls.len() as u32;
        let (blocks, live) = (u32::from(rules.blocks), u32::from(self.live));
        let (pins, peak) = (u32::from(rules.pins), u32::from(rules.live));
        let bound = self.bound(rules);
        let (held, allowed) = match bound {
            Bound::Pages(most) => (self.not_full.len() as u32, most),
            _ => (self.holes(rules), self.hole_limit(rules)),
        };
        let frees = self.calls.iter().filter(|call| call.compaction.is_none());
        let decisions = rules.decisions(bound);
        Measured {
            calls: self.calls.len(),
            steps: frees.map(|call| u32::from(call.steps)).max().unwrap_or(0),
            steps_most: most_steps(decisions) + decisions.steps_per_move - 1,
            held,
            allowed,
            held_most: bound_in_flight(bound, blocks, live, calls, pins),
            pages: u32::from(self.pages),
            pages_at_rest: pages_bound(bound, blocks, live, peak),
            pages_most: pages_bound_in_flight(bound, blocks, live, peak, calls, pins),
            emptying: 0,
            transient: u32::from(self.reserved()),
            transient_most: calls.min(1),
        }
    }

    fn ends(&self, rules: &Rules) -> bool {
        let mut class = self.clone();
        let each = most_steps(rules.decisions(rules.bound)) + u32::from(rules.steps) + 2;
        let mut rounds = each * u32::from(rules.calls + rules.compaction);
        while !class.calls.is_empty() && class.wrong.is_none() && rounds > 0 {
            let call = rounds as usize % class.calls.len();
            class.turn(rules, call);
            rounds -= 1;
        }
        class.calls.is_empty() && class.moving.is_none() && class.fault(rules).is_none()
    }

    /// If nothing is pinned, a compaction leaves at most one not-full page.
    fn rests(&self, rules: &Rules) -> bool {
        if !self.calls.is_empty() || self.pins() > 0 {
            return true;
        }
        let mut class = self.clone();
        class.calls.push(Call {
            compaction: Some(u16::MAX),
            ..Call::default()
        });
        while !class.calls.is_empty() && class.wrong.is_none() {
            class.turn(rules, 0);
        }
        let (blocks, live) = (u32::from(rules.blocks), u32::from(class.live));
        class.fault(rules).is_none()
            && class.not_full.len() <= 1
            && u32::from(class.pages)
                <= pages_bound(class.bound(rules), blocks, live, live.max(1) * blocks)
    }

    fn is_within_section(&self) -> bool {
        self.calls.iter().any(|call| call.commits)
    }

    fn live(&self) -> u32 {
        u32::from(self.live)
    }

    /// A dot for a block that nobody pins, P for a pinned one, o for a parked one, v and t for the
    /// ends of the move;
    /// then the bytes copied, and the steps of each call, with a star for the owner of the move.
    fn picture(&self, _: &Rules) -> String {
        let groups = [("full", &self.full), ("not-full", &self.not_full)];
        let groups = groups.into_iter().filter(|(_, pages)| !pages.is_empty());
        let pages: Vec<_> = groups
            .map(|(name, pages)| format!("{name} {}", pictures(pages)))
            .collect();
        let mut lines = vec![or_none(&pages)];
        if !self.calls.is_empty() {
            let copied = self.moving.map_or(0, |moving| moving.done);
            let steps = self.calls.iter().map(|call| {
                let own = if call.own { "*" } else { "" };
                format!("{}{own}", call.steps)
            });
            let steps = steps.collect::<Vec<_>>().join(" ");
            lines.push(format!("copied {copied}, steps of calls {steps}"));
        }
        lines.join("\n")
    }
}

impl Simulated for Class {
    fn allocate(&mut self, rules: &Rules) {
        self.malloc(rules);
        self.sort();
    }

    fn release(&mut self, rules: &Rules, nth: u32, _: &mut dyn FnMut(u32) -> u32) {
        let (place, in_motion) = self.nth(nth);
        self.free(rules, place, in_motion);
        self.commit_if_copied(rules);
        self.sort();
    }

    fn proceed(&mut self, rules: &Rules, call: usize) {
        self.turn(rules, call);
        self.sort();
    }
}

impl Class {
    /// The nth live object, page by page, and whether it is in motion. Nothing is pinned.
    fn nth(&self, nth: u32) -> (Place, bool) {
        let mut left = nth;
        for place in self.places() {
            let page = self.at(place);
            if left < u32::from(page.live()) {
                return (place, left >= u32::from(page.plain));
            }
            left -= u32::from(page.live());
        }
        unreachable!("fewer than live objects")
    }
}

// ---- what may happen ---------------------------------------------------------------------------

impl Class {
    /// The sections that may get the lock next.
    fn sections(&self, rules: &Rules, actions: &mut Vec<Action>) {
        let parked = self.parked() > 0;
        if self.live < rules.live {
            actions.extend(self.distinct(|page| page.parked > 0).map(Action::Take));
            actions.extend((!parked).then_some(Action::Malloc));
        }
        actions.extend(parked.then_some(Action::GiveBack));
        let may_park = self.may_park(rules);
        if may_park {
            actions.extend(self.distinct(|page| page.plain > 0).map(Action::Park));
        }
        let room = self.calls.len() < usize::from(rules.calls);
        // Where nothing may be parked, what is parked is given back first.
        if room && (may_park || !parked) {
            actions.extend(self.distinct(|page| page.plain > 0).map(Action::Free));
            let free = self
                .moving
                .is_some_and(|moving| moving.pinned == Pinned::No);
            let v = self.places().find(|&place| self.at(place).source);
            actions.extend(v.filter(|_| free).map(Action::FreeInMotion));
        }
        let unlent = rules.lends - self.lent;
        actions.extend((unlent > 0).then_some(Action::Lend(1)));
        actions.extend((unlent > 1).then_some(Action::Lend(unlent)));
        actions.extend((self.lent > 0).then_some(Action::TakeBack));
        let compacting = self.calls.iter().any(|call| call.compaction.is_some());
        if room && rules.compaction > 0 && !compacting {
            actions.push(Action::Compact);
        }
        actions.extend((0..self.calls.len()).map(Action::Round));
        if self
            .moving
            .is_some_and(|moving| moving.pinned == Pinned::Waits)
        {
            actions.push(Action::Cancel);
        }
    }

    /// Pins need no lock.
    fn pin_actions(&self, rules: &Rules, actions: &mut Vec<Action>) {
        if self.pins() < rules.pins {
            actions.extend(self.distinct(|page| page.plain > 0).map(Action::Pin));
            if self
                .moving
                .is_some_and(|moving| moving.pinned == Pinned::No)
            {
                actions.push(Action::PinMoving(Pinned::Reads));
                actions.push(Action::PinMoving(Pinned::Waits));
            }
        }
        actions.extend(self.distinct(|page| page.pinned > 0).map(Action::Unpin));
        let held = |moving: Moving| matches!(moving.pinned, Pinned::Reads | Pinned::Writes);
        if self.moving.is_some_and(held) {
            actions.push(Action::UnpinMoving);
        }
    }

    /// The pages for which `holds` is true, but only one of several equal full pages.
    fn distinct(&self, holds: impl Fn(Page) -> bool) -> impl Iterator<Item = Place> {
        let again = |at: usize| at > 0 && self.full[at] == self.full[at - 1];
        self.places().filter(move |&place| {
            holds(self.at(place)) && !matches!(place, Place::Full(at) if again(at))
        })
    }

    /// A round of a call, with the commit that ends it.
    fn turn(&mut self, rules: &Rules, call: usize) {
        if !self.commit_if_copied(rules) {
            self.round(rules, call);
            self.commit_if_copied(rules);
        }
    }

    /// Ends the section in which the last bytes of a move were copied; false if there is none.
    fn commit_if_copied(&mut self, rules: &Rules) -> bool {
        let copied = self.calls.iter().position(|call| call.commits);
        if let Some(call) = copied {
            self.commit(rules, call);
        }
        copied.is_some()
    }
}

// ---- words -------------------------------------------------------------------------------------

impl Class {
    /// What an action does, as far as the state before it says.
    fn label(&self, rules: &Rules, action: Action) -> Label {
        let word = match action {
            Action::Malloc if self.not_full.is_empty() => "M1",
            Action::Malloc => "M2",
            Action::Free(place) => match (place, self.at(place).used()) {
                (_, 1) => "F5",
                (Place::NotFull(_), _) => "F4",
                (Place::Full(_), _) => "F1",
            },
            Action::Park(_) => "park",
            Action::Take(_) => "take",
            Action::GiveBack => "give back",
            Action::FreeInMotion(_) => "X1",
            Action::Compact => "compact",
            Action::Round(call) => match self.next(rules, call) {
                Next::Step if self.calls[call].own => "step",
                Next::Step => "help",
                Next::Move => "begin",
                Next::Leave => "return",
            },
            Action::Commit(_) => "commit",
            Action::Pin(_) | Action::PinMoving(_) => "pin",
            Action::Unpin(_) | Action::UnpinMoving => "unpin",
            Action::Cancel => "cancel",
            Action::Lend(_) => "lend",
            Action::TakeBack => "take back",
        };
        Label([word, "", ""])
    }
}

/// The label with what only the state after the action shows: full pages, and whether a move is in
/// flight.
fn with_effect(label: Label, action: Action, before: (usize, bool), after: (usize, bool)) -> Label {
    let Label([word, ..]) = label;
    let began = !before.1 && after.1;
    let word = match action {
        // An allocation that fills the page of v ends the move, and the target's page is not full
        // any more.
        Action::Malloc if word == "M2" && (after.0 > before.0 || before.1 && !after.1) => "M3",
        // The page stays full.
        Action::Free(_) if word == "F1" && began => "F2",
        _ => word,
    };
    let then = match action {
        Action::Malloc if before.1 && !after.1 => "cancel",
        Action::Free(_) | Action::FreeInMotion(_) if began => "begin",
        _ => "",
    };
    Label([word, then, ""])
}

fn pictures(pages: &[Page]) -> String {
    let picture = |page: &Page| {
        let (plain, pinned) = (usize::from(page.plain), usize::from(page.pinned));
        let (v, t) = (usize::from(page.source), usize::from(page.target));
        [
            ".".repeat(plain),
            "P".repeat(pinned),
            "o".repeat(usize::from(page.parked)),
            "v".repeat(v),
            "t".repeat(t),
        ]
        .concat()
    };
    pages.iter().map(picture).collect::<Vec<_>>().join(" ")
}
