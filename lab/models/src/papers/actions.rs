//! What threads may do next with a class of the papers, and what must be true of every state.

use surefit_classes::Bound;
use surefit_classes::automaton::pages_bound;

use super::automaton::{Kind, not_full_most, pages_most, transient_most};
use super::class::{Class, Freed, Page, Rules, Slip, Victim};
use crate::size_class::or_none;
use crate::{Label, Measured, Simulated, SizeClass};

/// What a thread may do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Allocates a page-block in the nth page, or in a new one.
    Malloc(Option<usize>),
    /// Frees an object. If a move begins, it takes the nth of the blocks that it may take.
    Free(Freed, usize),
    /// The next section of the nth call.
    Round(usize),
    /// A write of the object in motion of the nth call.
    Write(usize),
}

impl SizeClass for Class {
    type Rules = Rules;
    type Action = Action;

    fn actions(&self, rules: &Rules, actions: &mut Vec<Action>) {
        if self.wrong.is_some() {
            return;
        }
        if self.live < rules.live {
            let serving = self.serving(rules);
            let distinct = self.distinct(rules, serving.iter().copied());
            actions.extend(distinct.map(|page| Action::Malloc(Some(page))));
            if serving.is_empty() {
                actions.push(Action::Malloc(None));
            }
        }
        if self.calls.len() < usize::from(rules.calls) {
            let holding = (0..self.pages.len()).filter(|&at| self.pages[at].rest > 0);
            for page in self.distinct(rules, holding) {
                self.frees(rules, Freed::Rest(page), actions);
            }
            for call in (0..self.calls.len()).filter(|&call| self.calls[call].is_some()) {
                self.frees(rules, Freed::Moving(call), actions);
            }
        }
        actions.extend((0..self.calls.len()).map(Action::Round));
        if rules.slip != Slip::None {
            let is_unwritten = |&call: &usize| self.calls[call].is_some_and(|it| !it.written);
            let unwritten = (0..self.calls.len()).filter(is_unwritten);
            actions.extend(unwritten.map(Action::Write));
        }
    }

    fn act(&mut self, rules: &Rules, action: Action) -> Label {
        let label = match action {
            Action::Malloc(page) => self.malloc(rules, page),
            Action::Free(freed, choice) => self.free(rules, freed, &mut |_| choice),
            Action::Round(call) => self.round(rules, call),
            Action::Write(call) => self.write(call),
        };
        self.sort(rules);
        // After an error nothing more happens.
        if rules.slip != Slip::None {
            self.wrong = self.fault(rules);
        }
        label
    }

    fn fault(&self, rules: &Rules) -> Option<&'static str> {
        self.wrong.or_else(|| self.first_fault(rules))
    }

    fn measured(&self, rules: &Rules) -> Measured {
        let (blocks, live) = (u32::from(rules.blocks), u32::from(self.live));
        let most = u32::from(rules.most);
        let moves = self.calls.iter().flatten();
        let in_flight = moves.clone().count() as u32;
        let kept = self.pages.iter().filter(|page| page.sources > 0);
        Measured {
            calls: self.calls.len(),
            steps: moves.map(|it| u32::from(it.done)).max().unwrap_or(0),
            steps_most: u32::from(rules.steps),
            held: self.count(rules, Kind::NotFull) + self.count(rules, Kind::Source),
            allowed: most,
            held_most: Some(not_full_most(rules.counting, most)),
            pages: self.pages.len() as u32,
            pages_at_rest: pages_bound(Bound::Pages(most), blocks, live, live * blocks),
            pages_most: pages_most(rules.counting, most, blocks, live, in_flight),
            emptying: self.count(rules, Kind::Emptying),
            transient: kept.map(|page| blocks - page.used()).sum(),
            transient_most: transient_most(blocks, in_flight),
        }
    }

    fn ends(&self, rules: &Rules) -> bool {
        let mut class = self.clone();
        let mut rounds = (rules.steps + 1) * rules.calls;
        while !class.calls.is_empty() && class.wrong.is_none() && rounds > 0 {
            let call = usize::from(rounds) % class.calls.len();
            class.act(rules, Action::Round(call));
            rounds -= 1;
        }
        self.wrong.is_some()
            || class.calls.is_empty() && class.fault(rules).is_none() && class.rests(rules)
    }

    /// No source page and no emptying page is left.
    fn rests(&self, rules: &Rules) -> bool {
        let left = |of| self.count(rules, of);
        !self.calls.is_empty() || left(Kind::Source) + left(Kind::Emptying) == 0
    }

    fn live(&self) -> u32 {
        u32::from(self.live)
    }

    /// A dot for a block at rest, t for a target, v for a source, by kinds of pages; then the bytes
    /// that each move has copied, and - for a free whose move another call ended.
    fn picture(&self, rules: &Rules) -> String {
        let kinds = [
            ("full", Kind::Full),
            ("not-full", Kind::NotFull),
            ("source", Kind::Source),
            ("emptying", Kind::Emptying),
        ];
        let groups = kinds.into_iter().filter_map(|(name, of)| {
            let pages = self.pages.iter().filter(|page| page.kind(rules) == of);
            let pages: Vec<_> = pages.map(|page| page.picture()).collect();
            (!pages.is_empty()).then(|| format!("{name} {}", pages.join(" ")))
        });
        let mut lines = vec![or_none(&groups.collect::<Vec<_>>())];
        if !self.calls.is_empty() {
            let copied = self
                .calls
                .iter()
                .map(|call| call.map_or_else(|| "-".to_owned(), |moving| moving.done.to_string()));
            lines.push(format!("copied {}", copied.collect::<Vec<_>>().join(" ")));
        }
        lines.join("\n")
    }
}

impl Class {
    /// A free of an object, with every choice of a victim.
    fn frees(&self, rules: &Rules, freed: Freed, actions: &mut Vec<Action>) {
        let mut choices = 1;
        self.clone().free(rules, freed, &mut |victims| {
            choices = victims.len();
            0
        });
        actions.extend((0..choices).map(|choice| Action::Free(freed, choice)));
    }

    /// The pages, but only one of several equal ones that no move touches and no list orders.
    fn distinct(
        &self,
        rules: &Rules,
        pages: impl Iterator<Item = usize>,
    ) -> impl Iterator<Item = usize> {
        let mut last: Option<Page> = None;
        pages.filter(move |&at| {
            let page = self.pages[at];
            let is_alike = page.targets + page.sources == 0
                && (!rules.order.is_listed() || page.kind(rules) == Kind::Full);
            let again = is_alike && last == Some(page);
            last = Some(page);
            !again
        })
    }
}

impl Simulated for Class {
    fn allocate(&mut self, rules: &Rules) {
        let page = self.serving(rules).first().copied();
        self.malloc(rules, page);
        self.sort(rules);
    }

    fn release(&mut self, rules: &Rules, nth: u32, draw: &mut dyn FnMut(u32) -> u32) {
        let freed = self.nth(nth);
        self.free(rules, freed, &mut |victims| {
            let alike = |victim: &Victim| u32::from(victim.alike);
            let mut drawn = draw(victims.iter().map(alike).sum());
            let found = victims.iter().position(|victim| {
                let found = drawn < alike(victim);
                drawn = drawn.saturating_sub(alike(victim));
                found
            });
            found.expect("a number below the sum")
        });
        self.sort(rules);
    }

    fn proceed(&mut self, rules: &Rules, call: usize) {
        self.round(rules, call);
        self.sort(rules);
    }
}

impl Class {
    /// The nth live object: those at rest page by page, then those in motion.
    fn nth(&self, nth: u32) -> Freed {
        let mut left = nth;
        for (at, page) in self.pages.iter().enumerate() {
            if left < u32::from(page.rest) {
                return Freed::Rest(at);
            }
            left -= u32::from(page.rest);
        }
        let mut moving = (0..self.calls.len()).filter(|&call| self.calls[call].is_some());
        Freed::Moving(moving.nth(left as usize).expect("fewer than live objects"))
    }
}
