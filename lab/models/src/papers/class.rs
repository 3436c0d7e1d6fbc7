//! One size-class of the papers with moves in flight, as a vector of pages.
//!
//! Blocks of a page that behave alike are counted, not listed. One function is one critical
//! section; decisions come from [`automaton`](super::automaton).
//!
//! The not-full pages stand first, in the order of their list, head first. All other pages follow,
//! in a canonical order.

use core::cmp::Reverse;
use core::num::NonZeroUsize;

use surefit_classes::automaton::incremental::step;
use surefit_classes::automaton::{self as shared, Malloc};

use super::automaton::{
    ClassCounts, Counting, Free, Kind, PageCounts, departed, ended, free, gives, kind,
};
use crate::Label;

/// Which not-full page serves allocations, and which one gives blocks to moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The newest, and the oldest.
    Newest,
    /// The oldest, and the newest: as in the papers' program.
    Original,
    /// The fullest, and the emptiest. No list finds them in O(1).
    Packed,
    /// Any. A search takes every choice; a simulation takes the first.
    Any,
}

impl Order {
    /// Whether the list of the not-full pages has an order.
    pub(crate) const fn is_listed(self) -> bool {
        matches!(self, Self::Newest | Self::Original)
    }
}

/// The configuration of a size-class, and the limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// What F1 compares with κ.
    pub counting: Counting,
    /// κ.
    pub most: u16,
    /// Which not-full page serves allocations, and which one gives blocks to moves.
    pub order: Order,
    /// Page-blocks in a page, π.
    pub blocks: u16,
    /// Steps of a move, ⌈β/ι⌉.
    pub steps: u16,
    /// The most frees at a time, T.
    pub calls: u16,
    /// The most live page-blocks at a time.
    pub live: u16,
    /// The error to make, or none. With an error, objects in motion are written, too.
    pub slip: Slip,
}

/// An error, to test that the search finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slip {
    /// No error.
    None,
    /// X3 takes the object from the original source, although bytes that were copied have been
    /// written at the target since. This is what the papers leave open.
    ForgetsWrites,
    /// X3 leaves the old move in flight.
    KeepsMove,
}

/// A page, in counts of its blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Page {
    /// Used, and in no move.
    pub(crate) rest: u16,
    /// Used, as targets of unfinished moves.
    pub(crate) targets: u16,
    /// Sources of unfinished moves.
    pub(crate) sources: u16,
    /// Within a section: greater for a page that came later to the head of the list.
    stamp: u16,
}

impl Page {
    pub(crate) fn counts(self, rules: &Rules) -> PageCounts {
        PageCounts {
            used: self.used(),
            sources: u32::from(self.sources),
            blocks: u32::from(rules.blocks),
        }
    }

    pub(crate) fn used(self) -> u32 {
        u32::from(self.rest + self.targets)
    }

    pub(crate) fn kind(self, rules: &Rules) -> Kind {
        kind(self.counts(rules))
    }

    pub(crate) fn picture(self) -> String {
        let of = |letter: &str, count: u16| letter.repeat(usize::from(count));
        of(".", self.rest) + &of("t", self.targets) + &of("v", self.sources)
    }
}

/// An unfinished move, between two pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Move {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) done: u16,
    /// Bytes that are copied were written afterwards, at the target alone.
    pub(crate) written: bool,
}

/// The object that is freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Freed {
    /// One at rest in the nth page.
    Rest(usize),
    /// The object in motion of the nth call.
    Moving(usize),
}

/// The block that a new move takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Victim {
    page: usize,
    /// The call whose unfinished move has the block as its target (X3).
    target_of: Option<usize>,
    /// How many blocks are alike.
    pub alike: u16,
}

/// A choice among the blocks that a new move may take.
pub(crate) type Choose<'a> = &'a mut dyn FnMut(&[Victim]) -> usize;

/// The state of one size-class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Class {
    pub(crate) pages: Vec<Page>,
    /// Frees in progress, with their moves; `None` if another call ended the move, which the free
    /// has not noticed yet.
    pub(crate) calls: Vec<Option<Move>>,
    /// Counted separately from the pages.
    pub(crate) live: u16,
    /// What went wrong in a section.
    pub(crate) wrong: Option<&'static str>,
}

// ---- counts ------------------------------------------------------------------------------------

impl Class {
    pub(crate) fn count(&self, rules: &Rules, of: Kind) -> u32 {
        let pages = self.pages.iter();
        pages.filter(|page| page.kind(rules) == of).count() as u32
    }

    fn counts(&self, rules: &Rules) -> ClassCounts {
        ClassCounts {
            not_full: self.count(rules, Kind::NotFull),
            sources: self.count(rules, Kind::Source),
        }
    }

    /// The not-full pages, head first.
    pub(crate) fn list(&self, rules: &Rules) -> Vec<usize> {
        let mut list: Vec<_> = (0..self.pages.len())
            .filter(|&at| self.pages[at].kind(rules) == Kind::NotFull)
            .collect();
        list.sort_by_key(|&at| Reverse(self.pages[at].stamp));
        list
    }

    /// The not-full pages that may serve an allocation; none if a page must be opened.
    pub(crate) fn serving(&self, rules: &Rules) -> Vec<usize> {
        let list = self.list(rules);
        match rules.order {
            Order::Newest => list.first().copied().into_iter().collect(),
            Order::Original => list.last().copied().into_iter().collect(),
            Order::Packed => self.extreme(list, false),
            Order::Any => list,
        }
    }

    /// The fullest page of a list, or the emptiest; none of an empty list.
    fn extreme(&self, list: Vec<usize>, emptiest: bool) -> Vec<usize> {
        let used = |&at: &usize| self.pages[at].used();
        let found = if emptiest {
            list.into_iter().min_by_key(used)
        } else {
            list.into_iter().max_by_key(used)
        };
        found.into_iter().collect()
    }

    /// The blocks that a new move may take.
    fn victims(&self, rules: &Rules) -> Vec<Victim> {
        let list = self.list(rules);
        let pages = match (gives(self.counts(rules)), rules.order) {
            (None, _) => Vec::new(),
            (Some(Kind::NotFull), Order::Newest) => list[list.len() - 1..].to_vec(),
            (Some(Kind::NotFull), Order::Original) => list[..1].to_vec(),
            (Some(Kind::NotFull), Order::Packed) => self.extreme(list, true),
            (Some(Kind::NotFull), Order::Any) => list,
            (Some(other), _) => (0..self.pages.len())
                .filter(|&at| self.pages[at].kind(rules) == other)
                .collect(),
        };
        pages.into_iter().flat_map(|at| self.used_in(at)).collect()
    }

    /// The used blocks of a page.
    fn used_in(&self, page: usize) -> Vec<Victim> {
        let rest = Victim {
            page,
            target_of: None,
            alike: self.pages[page].rest,
        };
        let to_here = |call: &usize| self.calls[*call].is_some_and(|it| it.to == page);
        let targets = (0..self.calls.len()).filter(to_here).map(|call| Victim {
            target_of: Some(call),
            alike: 1,
            ..rest
        });
        (rest.alike > 0)
            .then_some(rest)
            .into_iter()
            .chain(targets)
            .collect()
    }
}

// ---- allocate, free, step: a section each ------------------------------------------------------

impl Class {
    /// Allocates in a not-full page, or in a new one.
    pub(crate) fn malloc(&mut self, rules: &Rules, page: Option<usize>) -> Label {
        let counts = page.map(|at| shared::PageCounts {
            used: self.pages[at].used(),
            blocks: u32::from(rules.blocks),
        });
        let (row, at) = match (shared::malloc(counts), page) {
            (Malloc::Take, Some(at)) => ("M2", at),
            (Malloc::Fill, Some(at)) => ("M3", at),
            _ => {
                self.pages.push(Page::default());
                ("M1", self.pages.len() - 1)
            }
        };
        self.pages[at].rest += 1;
        self.live += 1;
        Label([row, "", ""])
    }

    /// The first section of a free.
    pub(crate) fn free(&mut self, rules: &Rules, freed: Freed, choose: Choose<'_>) -> Label {
        self.live -= 1;
        match freed {
            Freed::Rest(page) => {
                let Label([row, x3, _]) = self.give(rules, page, false, choose);
                Label(["", row, x3])
            }
            Freed::Moving(call) => {
                let ended = self.calls[call].take().expect("the call has a move");
                self.end(rules, ended.from);
                let Label([row, x3, _]) = self.give(rules, ended.to, true, choose);
                Label(["X1", row, x3])
            }
        }
    }

    /// Frees a block, at rest or a target without a move, or makes it the target of a new move.
    fn give(&mut self, rules: &Rules, at: usize, is_target: bool, choose: Choose<'_>) -> Label {
        let page = self.pages[at].counts(rules);
        let most = u32::from(rules.most);
        let decision = free(rules.counting, most, self.counts(rules), page);
        if is_target {
            self.pages[at].targets -= 1;
        } else {
            self.pages[at].rest -= 1;
        }
        let (row, becomes) = match decision {
            Free::Release => ("F5", Kind::Free),
            Free::Clear => ("F4", kind(page)),
            Free::Empty => ("F4 emptying", Kind::Emptying),
            Free::Loosen => ("F1", Kind::NotFull),
            Free::Move => return self.begin(rules, at, choose),
        };
        if self.pages[at].kind(rules) != becomes {
            self.wrong = Some("a free that leaves another kind of page");
        }
        if decision == Free::Loosen {
            self.becomes_newest(at);
        }
        Label([row, "", ""])
    }

    /// Begins a move into the block that was just freed in a full page, and takes its first step.
    fn begin(&mut self, rules: &Rules, to: usize, choose: Choose<'_>) -> Label {
        // The page stays full.
        self.pages[to].targets += 1;
        let victims = self.victims(rules);
        if victims.is_empty() {
            self.wrong = Some("no victim, although n ≥ κ");
            return Label::default();
        }
        let Victim {
            page, target_of, ..
        } = victims[choose(&victims)];
        let (from, x3) = match target_of {
            // X3: the data is at the original source; that page's source block passes on.
            Some(call) => {
                self.pages[page].targets -= 1;
                let old = self.calls[call].expect("an unfinished move");
                if old.written && rules.slip == Slip::ForgetsWrites {
                    self.wrong = Some("a write was lost");
                }
                if rules.slip != Slip::KeepsMove {
                    self.calls[call] = None;
                }
                (old.from, "X3")
            }
            None => {
                let after = departed(self.pages[page].counts(rules));
                self.pages[page].rest -= 1;
                self.pages[page].sources += 1;
                if self.pages[page].counts(rules) != after {
                    self.wrong = Some("a departure that counts otherwise");
                }
                (page, "")
            }
        };
        self.calls.push(Some(Move {
            from,
            to,
            done: 0,
            written: false,
        }));
        let row = match self.pages[page].kind(rules) {
            Kind::Emptying | Kind::Free => "F3",
            _ => "F2",
        };
        self.round(rules, self.calls.len() - 1);
        Label([row, x3, ""])
    }

    /// The next section of a free: a step of its move, or its return.
    pub(crate) fn round(&mut self, rules: &Rules, call: usize) -> Label {
        let Some(moving) = &mut self.calls[call] else {
            self.calls.remove(call);
            return Label(["return", "", ""]);
        };
        let now = step(
            usize::from(rules.steps),
            usize::from(moving.done),
            NonZeroUsize::new(1),
        );
        moving.done += now.bytes as u16;
        if !now.commits {
            return Label(["step", "", ""]);
        }
        let Move { from, to, .. } = *moving;
        self.calls.remove(call);
        self.pages[to].targets -= 1;
        self.pages[to].rest += 1;
        Label(["final step", self.end(rules, from), ""])
    }

    /// The object in motion is written where it was copied already.
    pub(crate) fn write(&mut self, call: usize) -> Label {
        if let Some(moving) = &mut self.calls[call] {
            moving.written = true;
        }
        Label(["write", "", ""])
    }

    /// A move out of a page ends.
    fn end(&mut self, rules: &Rules, from: usize) -> &'static str {
        let after = ended(self.pages[from].counts(rules));
        self.pages[from].sources -= 1;
        match kind(after) {
            Kind::NotFull => {
                self.becomes_newest(from);
                "not-full"
            }
            Kind::Free => "free",
            _ => "",
        }
    }

    /// A page enters the list of not-full pages.
    fn becomes_newest(&mut self, page: usize) {
        let newest = self.pages.iter().map(|page| page.stamp).max();
        self.pages[page].stamp = newest.unwrap_or(0) + 1;
    }
}

// ---- order and check ---------------------------------------------------------------------------

impl Class {
    /// Drops pages that became free, and brings pages and calls into a canonical order.
    pub(crate) fn sort(&mut self, rules: &Rules) {
        let listed = rules.order.is_listed();
        let key = |at: usize| {
            let page = self.pages[at];
            let kind = page.kind(rules);
            if kind == Kind::NotFull && listed {
                return (kind, Reverse(page.stamp), Page::default(), Vec::new());
            }
            let plain = Page { stamp: 0, ..page };
            (kind, Reverse(0), plain, self.moves_at(at))
        };
        let mut order: Vec<_> = (0..self.pages.len()).collect();
        order.retain(|&at| self.pages[at].kind(rules) != Kind::Free);
        order.sort_by_cached_key(|&at| key(at));
        let mut places = vec![usize::MAX; self.pages.len()];
        for (place, &at) in order.iter().enumerate() {
            places[at] = place;
        }
        for moving in self.calls.iter_mut().flatten() {
            moving.from = places[moving.from];
            moving.to = places[moving.to];
        }
        self.calls.sort_unstable();
        let fresh = order.iter().map(|&at| Page {
            stamp: 0,
            ..self.pages[at]
        });
        self.pages = fresh.collect();
    }

    /// The moves from and to a page, by what they have copied.
    fn moves_at(&self, at: usize) -> Vec<(bool, u16)> {
        if self.pages[at].targets + self.pages[at].sources == 0 {
            return Vec::new();
        }
        let moves = self.calls.iter().flatten();
        let here = moves.filter(|it| it.from == at || it.to == at);
        let mut here: Vec<_> = here.map(|it| (it.to == at, it.done)).collect();
        here.sort_unstable();
        here
    }

    /// What is wrong with the pages and the moves, if anything.
    pub(crate) fn first_fault(&self, rules: &Rules) -> Option<&'static str> {
        let used: u32 = self.pages.iter().map(|page| page.used()).sum();
        if used != u32::from(self.live) {
            return Some("a block was lost");
        }
        if self.count(rules, Kind::Source) > 1 {
            return Some("two source pages");
        }
        self.pages.iter().enumerate().find_map(|(at, page)| {
            let moves = |is_here: fn(&Move, usize) -> bool| {
                let moves = self.calls.iter().flatten();
                moves.filter(|it| is_here(it, at)).count()
            };
            let targets = moves(|it, at| it.to == at);
            let sources = moves(|it, at| it.from == at);
            let PageCounts {
                used,
                sources: s,
                blocks,
            } = page.counts(rules);
            match () {
                () if targets != usize::from(page.targets) => Some("a target without its move"),
                () if sources != usize::from(page.sources) => Some("a source without its move"),
                () if used + s > blocks => Some("a page holds more blocks than it has"),
                () if used + s == 0 => Some("an empty page was kept"),
                () => None,
            }
        })
    }
}
