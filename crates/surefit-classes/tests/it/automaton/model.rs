//! One size-class as a vector of pages: the essence of the heap's lists, bitmaps and counters.
//!
//! The model asks `surefit_classes::automaton` for every decision and composes the answers as the
//! engine does, with a plain vector for the list of not-full pages. It keeps counters as the engine
//! does; [`Class::verify`] recounts them.

use surefit_classes::automaton::{self, ClassCounts, Free, MAX_MOVES, Malloc, PageCounts};
use surefit_classes::{Bound, PageOrder};

/// The configuration of a size-class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) bound: Bound,
    pub(crate) order: PageOrder,
    /// Page-blocks in a page, π.
    pub(crate) blocks: u32,
}

/// A page: a name that the tests choose, and its used page-blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) name: usize,
    pub(crate) used: u32,
}

/// Where the block that is freed lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Victim {
    /// In the nth full page.
    Full(usize),
    /// In the nth not-full page, the newest first.
    NotFull(usize),
}

/// The state of one size-class.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub(crate) rules: Rules,
    pub(crate) full: Vec<usize>,
    /// Head first; the tail is the reservoir under the hole bound.
    pub(crate) not_full: Vec<Page>,
    pub(crate) live: u32,
    /// Free page-blocks of all not-full pages except the last, and parked ones.
    holes: u32,
    /// Used page-blocks that are not live.
    pub(crate) parked: u32,
    /// How many more frees may park, and how many after these need not settle.
    left: u32,
    credit: u32,
}

/// The most pairs that a class parks.
const MOST_PARKED: u32 = 31;

impl Class {
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            rules,
            full: Vec::new(),
            not_full: Vec::new(),
            live: 0,
            holes: 0,
            parked: 0,
            left: 0,
            credit: 0,
        }
    }

    pub(crate) fn pages(&self) -> u32 {
        (self.full.len() + self.not_full.len()) as u32
    }

    pub(crate) fn counts(&self) -> ClassCounts {
        ClassCounts {
            live: self.live,
            not_full: self.not_full.len() as u32,
            holes: self.holes,
        }
    }

    /// The recounted holes: free page-blocks of all not-full pages except the last.
    pub(crate) fn counted_holes(&self) -> u32 {
        if !matches!(self.rules.bound, Bound::Holes { .. }) {
            return 0;
        }
        let others = self
            .not_full
            .split_last()
            .map_or(&[][..], |(_, others)| others);
        let free: u32 = others.iter().map(|page| self.free_in(*page)).sum();
        free + self.parked
    }

    /// The most holes allowed.
    pub(crate) fn hole_limit(&self) -> u32 {
        match self.rules.bound {
            Bound::Holes { base, fraction } => base + fraction.of(self.live),
            _ => 0,
        }
    }

    fn free_in(&self, page: Page) -> u32 {
        self.rules.blocks - page.used
    }

    fn counts_of(&self, used: u32) -> PageCounts {
        PageCounts {
            used,
            blocks: self.rules.blocks,
        }
    }

    fn last(&self) -> usize {
        self.not_full.len() - 1
    }

    fn counts_holes(&self) -> bool {
        matches!(self.rules.bound, Bound::Holes { .. })
    }

    // ---- parked pairs --------------------------------------------------------------------------

    /// How many more frees may park, and how many after these need not settle.
    pub(crate) fn frees(&self) -> [u32; 2] {
        [self.left, self.credit]
    }

    /// Whether the next free parks.
    pub(crate) fn parks(&self) -> bool {
        self.left > 0
    }

    pub(crate) fn park(&mut self) {
        self.left -= 1;
        self.parked += 1;
        self.live -= 1;
        self.holes += u32::from(self.counts_holes());
    }

    /// Takes a parked block if there is one.
    pub(crate) fn take_parked(&mut self) -> bool {
        if self.parked == 0 {
            return false;
        }
        self.left += 1;
        self.parked -= 1;
        self.live += 1;
        self.holes -= u32::from(self.counts_holes());
        true
    }

    /// Gives a parked block of a page back.
    pub(crate) fn unpark(&mut self, page: usize) {
        self.parked -= 1;
        let full = self.full.iter().position(|&name| name == page);
        let place = if let Some(which) = full {
            let name = self.full.remove(which);
            let used = self.rules.blocks;
            self.not_full.insert(0, Page { name, used });
            0
        } else {
            let listed = self.not_full.iter().position(|listed| listed.name == page);
            listed.expect("the model knows every page")
        };
        self.not_full[place].used -= 1;
        if self.not_full[place].used == 0 {
            self.not_full.remove(place);
        }
        self.holes = self.counted_holes();
    }

    /// Counts down one of the frees that need not settle; returns whether there was one.
    fn take_free(&mut self) -> bool {
        if self.credit > 0 {
            self.credit -= 1;
            return true;
        }
        false
    }

    /// Decides anew how many frees may park.
    fn renew(&mut self) {
        if matches!(self.rules.bound, Bound::Pages(_)) {
            return;
        }
        let frees = automaton::frees_in_a_row(self.rules.bound, self.counts());
        let frees = frees.min(self.live - self.pages());
        self.left = frees.min(MOST_PARKED - self.parked);
        self.credit = frees - self.left;
    }

    // ---- allocate ------------------------------------------------------------------------------

    fn allocation_end(&self) -> usize {
        match self.rules.order {
            PageOrder::Newest => 0,
            PageOrder::Original => self.last(),
        }
    }

    /// Allocates a block; a page that must be opened gets the name. Returns the automaton's first
    /// decision, and the page.
    pub(crate) fn malloc(&mut self, name: usize) -> (Malloc, usize) {
        let candidate = (!self.not_full.is_empty()).then(|| self.not_full[self.allocation_end()]);
        let decision = automaton::malloc(candidate.map(|page| self.counts_of(page.used)));
        if decision == Malloc::Open {
            assert!(
                candidate.is_none(),
                "a page is opened only if no not-full page is left"
            );
            self.not_full.push(Page { name, used: 0 });
        }
        let place = self.allocation_end();
        let taken = self.not_full[place].name;
        self.take_block(place);
        (decision, taken)
    }

    fn take_block(&mut self, place: usize) {
        let before = self.not_full[place];
        self.not_full[place].used += 1;
        self.live += 1;
        if self.counts_holes() && place != self.last() {
            self.holes -= 1;
        }
        if automaton::malloc(Some(self.counts_of(before.used))) == Malloc::Fill {
            let filled = self.not_full.remove(place);
            assert_eq!(filled.used, self.rules.blocks);
            self.full.push(filled.name);
        }
    }

    // ---- free ----------------------------------------------------------------------------------

    /// Frees a block in its page; returns the automaton's first decision, and how many blocks
    /// moved. Returns `None` if parked blocks must go back, whose pages the model does not know.
    pub(crate) fn free(&mut self, victim: Victim) -> Option<(Free, u32)> {
        let used = match victim {
            Victim::Full(_) => self.rules.blocks,
            Victim::NotFull(place) => self.not_full[place].used,
        };
        let source = self
            .source()
            .map(|place| self.counts_of(self.not_full[place].used));
        let decision = automaton::free(
            self.rules.bound,
            self.counts(),
            self.counts_of(used),
            source,
        );
        self.live -= 1;
        let had_credit = self.take_free();
        let moves = match (decision, victim) {
            (Free::Clear, Victim::NotFull(place)) => {
                self.not_full[place].used -= 1;
                self.count_hole(place)?
            }
            (Free::Loosen, Victim::Full(which)) => {
                let page = Page {
                    name: self.full.remove(which),
                    used: used - 1,
                };
                self.not_full.insert(0, page);
                self.count_hole(0)?
            }
            (Free::Refill { empties_source }, Victim::Full(_)) => self.refill(empties_source),
            (Free::Release, Victim::NotFull(place)) => {
                self.unlink(place);
                0
            }
            (Free::Release, Victim::Full(which)) => {
                assert_eq!(
                    self.rules.blocks, 1,
                    "only a page of one block is full and empties"
                );
                self.full.remove(which);
                0
            }
            wrong => panic!("no transition: {wrong:?}"),
        };
        let settles = match decision {
            Free::Release => self.parked > 0,
            _ => true,
        };
        if settles && !had_credit {
            if self.pages() > self.live || automaton::settle(self.rules.bound, self.counts()) {
                return None;
            }
            self.renew();
        }
        Some((decision, moves))
    }

    /// The page that gives blocks away, if the bound is one in pages.
    fn source(&self) -> Option<usize> {
        if !matches!(self.rules.bound, Bound::Pages(_)) || self.not_full.is_empty() {
            return None;
        }
        Some(match self.rules.order {
            PageOrder::Newest => self.last(),
            PageOrder::Original => 0,
        })
    }

    /// F2 and F3: the full page stays full.
    fn refill(&mut self, empties_source: bool) -> u32 {
        let source = self.source().expect("n = κ ≥ 1");
        self.not_full[source].used -= 1;
        assert_eq!(
            self.not_full[source].used == 0,
            empties_source,
            "F3 iff it was the last block"
        );
        if empties_source {
            self.unlink(source);
        }
        1
    }

    /// Counts one more free block in a not-full page, then moves as the hole bound requires.
    fn count_hole(&mut self, place: usize) -> Option<u32> {
        if !self.counts_holes() {
            return Some(0);
        }
        if place != self.last() {
            self.holes += 1;
        }
        assert_eq!(
            self.holes,
            self.counted_holes(),
            "holes are counted before they are settled"
        );
        let excess = self.holes.saturating_sub(self.hole_limit());
        let moves = self.settle(place)?;
        assert!(moves <= excess, "a move without an excess of holes to pay");
        Some(moves)
    }

    fn settle(&mut self, place: usize) -> Option<u32> {
        if !automaton::settle(self.rules.bound, self.counts()) {
            return Some(0);
        }
        let (page, reservoir) = (self.not_full[place], self.not_full[self.last()]);
        let swaps = automaton::swaps_roles(page.used, reservoir.used);
        if swaps {
            self.holes += self.free_in(reservoir);
            self.holes -= self.free_in(page);
            self.not_full.remove(place);
            self.not_full.push(page);
        }
        let mut moves = 0;
        while moves < MAX_MOVES && automaton::settle(self.rules.bound, self.counts()) {
            if self.parked > 0 && self.not_full.len() < 2 {
                return None;
            }
            self.fill_hole();
            moves += 1;
        }
        assert!(!swaps || moves < 2, "a swap pays for a move");
        Some(moves)
    }

    /// A block of the reservoir moves into a hole of the head page.
    fn fill_hole(&mut self) {
        assert!(self.not_full.len() > 1, "a hole is outside the reservoir");
        self.not_full[0].used += 1;
        self.holes -= 1;
        if self.not_full[0].used == self.rules.blocks {
            self.full.push(self.not_full[0].name);
            self.not_full.remove(0);
        }
        let reservoir = self.last();
        self.not_full[reservoir].used -= 1;
        if self.not_full[reservoir].used == 0 {
            self.unlink(reservoir);
        }
    }

    /// Takes a page that gives up its last block out of the list, and its free blocks out of the
    /// count of holes.
    fn unlink(&mut self, place: usize) {
        let was_reservoir = place == self.last();
        let page = self.not_full.remove(place);
        if !self.counts_holes() {
            return;
        }
        if !was_reservoir {
            self.holes -= self.free_in(page);
        } else if let Some(&reservoir) = self.not_full.last() {
            self.holes -= self.free_in(reservoir);
        }
    }

    /// Sets the counters from the pages.
    pub(crate) fn recount(&mut self) {
        let used: u32 = self.not_full.iter().map(|page| page.used).sum();
        self.live = self.rules.blocks * self.full.len() as u32 + used - self.parked;
        self.holes = self.counted_holes();
    }

    // ---- verify --------------------------------------------------------------------------------

    /// Recounts everything.
    pub(crate) fn verify(&self) {
        let blocks = self.rules.blocks;
        let used: u32 = self.not_full.iter().map(|page| page.used).sum();
        assert_eq!(
            self.live + self.parked,
            blocks * self.full.len() as u32 + used,
            "h = πF + Σu: {self:?}"
        );
        let not_full = |page: &Page| 0 < page.used && page.used < blocks;
        assert!(
            self.not_full.iter().all(not_full),
            "listed pages are not full: {self:?}"
        );
        assert_eq!(self.holes, self.counted_holes(), "holes: {self:?}");
    }

    /// The bound, in its own words.
    pub(crate) fn keeps_bound(&self) -> bool {
        match self.rules.bound {
            Bound::Pages(most) => self.not_full.len() as u32 <= most,
            Bound::Holes { .. } => self.counted_holes() <= self.hole_limit(),
            Bound::Unbounded => true,
        }
    }
}
