//! One size-class without a heap: its pages as numbers, every transition decided by
//! `surefit_compact::automaton`.
//!
//! ```text
//! state   F full pages, and the used page-blocks u of each not-full page, the head of their list first
//! order   newest     allocate from the head, drain the tail                   surefit's
//!         original   allocate from the tail, drain the head                   the original's
//!         packed     allocate from the fullest, drain the emptiest            a model's: no list finds them in O(1)
//! ```

use surefit_compact::Bound;
use surefit_compact::automaton::{self, ClassCounts, Free, MAX_MOVES, Malloc, PageCounts};

/// Which not-full page serves allocations, and which one is drained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Allocate from the newest, drain the oldest.
    Newest,
    /// Allocate from the oldest, drain the newest.
    Original,
    /// Allocate from the fullest, drain the emptiest.
    Packed,
}

/// What decides every transition of a size-class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// The compaction bound.
    pub(crate) bound: Bound,
    /// Which not-full page serves allocations, and which one is drained.
    pub(crate) order: Order,
    /// π.
    pub(crate) blocks: u32,
}

/// Full pages, and the used page-blocks of the not-full pages, head first.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct State {
    /// F.
    pub(crate) full: u32,
    /// u of each not-full page, the head of the list first.
    pub(crate) not_full: Vec<u32>,
}

/// What an edge says: a row of the automaton's table, and the page-blocks that moved.
pub(crate) type Label = (&'static str, u32);

impl State {
    /// h.
    pub(crate) fn live(&self, rules: Rules) -> u32 {
        self.full * rules.blocks + self.not_full.iter().sum::<u32>()
    }

    fn counts(&self, rules: Rules) -> ClassCounts {
        let others = self
            .not_full
            .split_last()
            .map_or(&[][..], |(_, others)| others);
        ClassCounts {
            live: self.live(rules),
            not_full: u32::try_from(self.not_full.len()).expect("few pages"),
            holes: others.iter().map(|used| rules.blocks - used).sum(),
        }
    }

    /// The pages at the two ends: where allocations go, and what is drained.
    fn ends(&self, rules: Rules) -> (usize, usize) {
        let last = self.not_full.len().saturating_sub(1);
        match rules.order {
            Order::Newest => (0, last),
            Order::Original => (last, 0),
            Order::Packed => self.fullest_and_emptiest(),
        }
    }

    /// The first of the fullest pages, and the first of the emptiest; (0, 0) if there is no page.
    fn fullest_and_emptiest(&self) -> (usize, usize) {
        let (mut fullest, mut emptiest) = (0, 0);
        for (at, used) in self.not_full.iter().enumerate() {
            if *used > self.not_full[fullest] {
                fullest = at;
            }
            if *used < self.not_full[emptiest] {
                emptiest = at;
            }
        }
        (fullest, emptiest)
    }

    /// Allocates a page-block.
    pub(crate) fn allocate(&mut self, rules: Rules) -> Label {
        let page = |used| PageCounts {
            used,
            blocks: rules.blocks,
        };
        let at = self.ends(rules).0;
        let first = self.not_full.get(at).map(|&used| page(used));
        let label = match automaton::malloc(first) {
            Malloc::Open => "M1",
            Malloc::Take => "M2",
            Malloc::Fill => "M3",
        };
        if first.is_none() {
            self.not_full.push(0);
        }
        self.fill(at, rules);
        (label, 0)
    }

    /// Takes a page-block of a not-full page.
    fn fill(&mut self, at: usize, rules: Rules) {
        self.not_full[at] += 1;
        if self.not_full[at] == rules.blocks {
            self.not_full.remove(at);
            self.full += 1;
        }
    }

    /// Gives a page-block of a not-full page back.
    fn drain(&mut self, at: usize) {
        self.not_full[at] -= 1;
        if self.not_full[at] == 0 {
            self.not_full.remove(at);
        }
    }

    /// Frees a page-block of a full page, or of a not-full one.
    pub(crate) fn free(&mut self, victim: Option<usize>, rules: Rules) -> Label {
        let page = |used| PageCounts {
            used,
            blocks: rules.blocks,
        };
        let source = self.ends(rules).1;
        let drained = self.not_full.get(source).map(|&used| page(used));
        let used = victim.map_or(rules.blocks, |at| self.not_full[at]);
        let decision = automaton::free(rules.bound, self.counts(rules), page(used), drained);
        match decision {
            Free::Release => {
                match victim {
                    Some(at) => self.drain(at),
                    None => self.full -= 1,
                }
                ("F5", 0)
            }
            Free::Clear => {
                let at = victim.expect("F4 frees in a not-full page");
                self.drain(at);
                ("F4", self.settle(at, rules))
            }
            Free::Loosen => {
                self.full -= 1;
                self.not_full.insert(0, rules.blocks - 1);
                ("F1", self.settle(0, rules))
            }
            Free::Refill { empties_source } => {
                self.drain(source);
                (if empties_source { "F3" } else { "F2" }, 1)
            }
        }
    }

    /// Keeps the hole bound after a free in the page; returns the moves.
    fn settle(&mut self, at: usize, rules: Rules) -> u32 {
        let must = |state: &Self| automaton::settle(rules.bound, state.counts(rules));
        let last = self.not_full.len() - 1;
        if must(self) && automaton::swaps_roles(self.not_full[at], self.not_full[last]) {
            let page = self.not_full.remove(at);
            self.not_full.push(page);
        }
        let mut moves = 0;
        while moves < MAX_MOVES && must(self) {
            self.drain(self.not_full.len() - 1);
            self.fill(0, rules);
            moves += 1;
        }
        moves
    }
}
