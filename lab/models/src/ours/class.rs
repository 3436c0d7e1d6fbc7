//! One size-class with a move in flight, as vectors of pages: the essence of the shared heap's
//! lists, bitmaps and entries.
//!
//! Blocks of a page that behave alike are counted, not listed. The state holds everything that a
//! later decision can see, and its own counters, which [`Class::fault`] compares with the pages.
//! One function is one critical section, as in the heap; decisions come from
//! `surefit_classes::automaton`.
//!
//! ```text
//! page     plain      live, nobody pins it            pinned   live, pinned
//!          source     v, the block in motion, live    target   reserved for the object in motion
//! ```
//!
//! Two readers that overlap count as one that reads longer, so an object is pinned or not. To the
//! automaton, a writer that arrives while its object rests is a reader.

use surefit_classes::automaton::incremental::{
    self as incremental, Effort, keeps_full, malloc_cancels, may_swap_roles,
};
use surefit_classes::automaton::{self, ClassCounts, Free, Malloc, PageCounts};
use surefit_classes::{Bound, PageOrder};

/// The configuration of a size-class, and the limits of the search.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The compaction bound.
    pub bound: Bound,
    /// Which not-full page serves allocations, and which one is drained.
    pub order: PageOrder,
    /// Page-blocks in a page, π.
    pub blocks: u16,
    /// Steps of a move, ⌈β/ι⌉.
    pub steps: u16,
    /// Π: the most pins held at once, in total.
    pub pins: u16,
    /// The most frees and compactions at a time.
    pub calls: u16,
    /// Moves that a compaction may make beside other calls. 0: no compaction is called.
    pub compaction: u16,
    /// The most live page-blocks at a time.
    pub live: u16,
    /// Whether frees park their blocks where the heap does.
    pub parks: bool,
    /// Under a hole bound: the most holes that the class may have lent beside δ, by and by.
    pub lends: u16,
    /// Whether a call that has nothing left to do may return in a later section.
    pub lingers: bool,
    /// The error to make, or none.
    pub slip: Slip,
}

impl Rules {
    pub(crate) fn decisions(&self, bound: Bound) -> incremental::Rules {
        incremental::Rules {
            bound,
            steps_per_move: u32::from(self.steps),
        }
    }
}

/// A page that holds something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Page {
    pub(crate) plain: u16,
    pub(crate) pinned: u16,
    pub(crate) source: bool,
    pub(crate) target: bool,
    /// Freed, and used until an allocation takes it (`parked`).
    pub(crate) parked: u16,
}

impl Page {
    pub(crate) fn live(self) -> u16 {
        self.plain + self.pinned + u16::from(self.source)
    }

    pub(crate) fn reserved(self) -> u16 {
        u16::from(self.target)
    }

    pub(crate) fn used(self) -> u16 {
        self.live() + self.reserved() + self.parked
    }
}

/// Who has a pin on the object in motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pinned {
    /// Nobody.
    No,
    /// A reader.
    Reads,
    /// A writer saw the move and waits for the lock to cancel it.
    Waits,
    /// It writes although the move continues: only with [`Slip::WritesOn`].
    Writes,
}

/// A protocol error, to test that the search finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slip {
    /// No error.
    None,
    /// A writer does not cancel the move of its object.
    WritesOn,
    /// A commit does not check for pins.
    CommitsPinned,
    /// An allocation that fills the page of v does not end the move in flight.
    FillsSource,
    /// A free parks its block although the bound must be checked.
    ParksWithoutCredit,
    /// A free parks its block although there are as few objects as pages.
    ParksLast,
}

/// The move in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Moving {
    pub(crate) done: u16,
    pub(crate) pinned: Pinned,
    /// The object was written after the move began: its copy is out of date.
    pub(crate) written: bool,
}

/// A free or a compaction that is in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Call {
    /// Moves left to a compaction; `None` for a free.
    pub(crate) compaction: Option<u16>,
    pub(crate) steps: u16,
    /// The move in flight is its own.
    pub(crate) own: bool,
    /// Everything is copied, and the commit comes next: this call holds the lock.
    pub(crate) commits: bool,
}

/// Where a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// The nth full page.
    Full(usize),
    /// The nth not-full page, head first.
    NotFull(usize),
}

/// The state of one size-class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Class {
    pub(crate) full: Vec<Page>,
    /// Head first; the tail is the reservoir under the hole bound.
    pub(crate) not_full: Vec<Page>,
    pub(crate) moving: Option<Moving>,
    pub(crate) calls: Vec<Call>,
    /// Counted separately from the pages: live page-blocks, and pages opened and not released.
    pub(crate) live: u16,
    pub(crate) pages: u16,
    /// Further frees for which the bound need not be checked; only if frees park.
    pub(crate) credit: u32,
    /// Holes that the class has lent beside δ.
    pub(crate) lent: u16,
    /// What went wrong in a section.
    pub(crate) wrong: Option<&'static str>,
}

/// Which block of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Source,
    Target,
    Parked,
}

// ---- counts ------------------------------------------------------------------------------------

impl Class {
    pub(crate) fn reserved(&self) -> u16 {
        self.all().map(|page| page.reserved()).sum()
    }

    pub(crate) fn pins(&self) -> u16 {
        let moving = self
            .moving
            .is_some_and(|moving| moving.pinned != Pinned::No);
        self.all().map(|page| page.pinned).sum::<u16>() + u16::from(moving)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = Page> {
        self.full.iter().chain(&self.not_full).copied()
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = Place> + use<> {
        let not_full = (0..self.not_full.len()).map(Place::NotFull);
        (0..self.full.len()).map(Place::Full).chain(not_full)
    }

    pub(crate) fn page(&mut self, place: Place) -> &mut Page {
        match place {
            Place::Full(at) => &mut self.full[at],
            Place::NotFull(at) => &mut self.not_full[at],
        }
    }

    pub(crate) fn at(&self, place: Place) -> Page {
        match place {
            Place::Full(at) => self.full[at],
            Place::NotFull(at) => self.not_full[at],
        }
    }

    pub(crate) fn find(&self, is_it: impl Fn(Page) -> bool) -> Option<Place> {
        self.places().find(|&place| is_it(self.at(place)))
    }

    /// The bound of the class now.
    pub(crate) fn bound(&self, rules: &Rules) -> Bound {
        match rules.bound {
            Bound::Holes { base, fraction } => Bound::Holes {
                base: base + u32::from(self.lent),
                fraction,
            },
            bound => bound,
        }
    }

    /// The most holes allowed now.
    pub(crate) fn hole_limit(&self, rules: &Rules) -> u32 {
        match self.bound(rules) {
            Bound::Holes { base, fraction } => base + fraction.of(u32::from(self.live)),
            _ => 0,
        }
    }

    /// Takes back what is lent, but what the holes need. Then the next free must ask.
    pub(crate) fn take_back(&mut self, rules: &Rules) {
        let unused = self.hole_limit(rules).saturating_sub(self.holes(rules));
        self.lent -= self.lent.min(unused as u16);
        self.credit = 0;
    }

    /// Free page-blocks outside the reservoir, reserved ones included.
    pub(crate) fn holes(&self, rules: &Rules) -> u32 {
        if !matches!(rules.bound, Bound::Holes { .. }) {
            return 0;
        }
        let tail = self
            .not_full
            .last()
            .map_or(0, |page| rules.blocks - page.used());
        u32::from(self.pages) * u32::from(rules.blocks) - u32::from(self.live) - u32::from(tail)
    }

    pub(crate) fn counts(&self, rules: &Rules) -> ClassCounts {
        ClassCounts {
            live: u32::from(self.live),
            not_full: self.not_full.len() as u32,
            holes: self.holes(rules),
        }
    }

    fn page_counts(&self, rules: &Rules, place: Place) -> PageCounts {
        PageCounts {
            used: u32::from(self.at(place).used()),
            blocks: u32::from(rules.blocks),
        }
    }
}

// ---- pages and lists ---------------------------------------------------------------------------

impl Class {
    fn allocation_end(&self, rules: &Rules) -> usize {
        match rules.order {
            PageOrder::Newest => 0,
            PageOrder::Original => self.not_full.len().saturating_sub(1),
        }
    }

    /// Takes a free block of a not-full page; the page leaves the list if it was the last free
    /// block.
    pub(crate) fn take(&mut self, rules: &Rules, at: usize, kind: Kind) {
        let before = self.page_counts(rules, Place::NotFull(at));
        self.change(Place::NotFull(at), kind, true);
        if automaton::malloc(Some(before)) == Malloc::Fill {
            let page = self.not_full.remove(at);
            self.full.push(page);
        }
    }

    /// Frees a block by F1, F4 or F5.
    pub(crate) fn clear(&mut self, rules: &Rules, place: Place, kind: Kind) {
        let before = self.page_counts(rules, place);
        let decision = automaton::free(self.bound(rules), self.counts(rules), before, None);
        self.change(place, kind, false);
        match (decision, place) {
            (Free::Clear, Place::NotFull(_)) => {}
            (Free::Loosen, Place::Full(at)) => {
                let page = self.full.remove(at);
                self.not_full.insert(0, page);
            }
            (Free::Release, Place::NotFull(at)) => self.release(at, false),
            (Free::Release, Place::Full(at)) => self.release(at, true),
            _ => self.wrong = Some("no such transition"),
        }
    }

    fn release(&mut self, at: usize, full: bool) {
        let list = if full {
            &mut self.full
        } else {
            &mut self.not_full
        };
        if list.remove(at).used() > 0 {
            self.wrong = Some("a page with used blocks was released");
        }
        self.pages -= 1;
    }

    pub(crate) fn change(&mut self, place: Place, kind: Kind, set: bool) {
        let page = self.page(place);
        match kind {
            Kind::Plain if set => page.plain += 1,
            Kind::Plain => page.plain -= 1,
            Kind::Source => page.source = set,
            Kind::Target => page.target = set,
            Kind::Parked if set => page.parked += 1,
            Kind::Parked => page.parked -= 1,
        }
    }
}

// ---- allocate, free, pins: a section each ------------------------------------------------------

impl Class {
    pub(crate) fn malloc(&mut self, rules: &Rules) {
        let at = self.allocation_end(rules);
        let first = (!self.not_full.is_empty()).then_some(Place::NotFull(at));
        let counts = first.map(|place| self.page_counts(rules, place));
        let cancels = first
            .zip(counts)
            .is_some_and(|(place, counts)| malloc_cancels(counts, self.at(place).source))
            && rules.slip != Slip::FillsSource;
        if automaton::malloc(counts) == Malloc::Open {
            self.not_full.push(Page::default());
            self.pages += 1;
            // The high-water mark: all other pages are full of live and reserved blocks.
            let most = (self.live + 1 + self.reserved()).div_ceil(rules.blocks);
            if self.pages > most {
                self.wrong = Some("a page was opened beside a free block");
            }
        }
        self.take(rules, at, Kind::Plain);
        self.live += 1;
        if cancels {
            self.abort(rules);
        }
    }

    /// The first section of a free: of a plain block, or of the object in motion.
    pub(crate) fn free(&mut self, rules: &Rules, place: Place, in_motion: bool) {
        let has_credit = self.has_credit(rules);
        self.calls.push(Call::default());
        let call = self.calls.len() - 1;
        if in_motion {
            self.free_in_motion(rules, place, call);
        } else {
            self.live -= 1;
            self.give(rules, place, Kind::Plain, call);
        }
        if has_credit {
            self.take_credit(rules);
            self.calls.pop();
        } else {
            self.leave_if_done(rules, call);
        }
    }

    /// X1: v is freed by the rules of its page, which is not full; then the target is the block
    /// that is freed.
    fn free_in_motion(&mut self, rules: &Rules, place: Place, call: usize) {
        self.calls.iter_mut().for_each(|call| call.own = false);
        self.live -= 1;
        self.clear(rules, place, Kind::Source);
        self.moving = None;
        let target = self.find(|page| page.target).expect("a move has a target");
        self.give(rules, target, Kind::Target, call);
    }

    /// Frees a block, or makes it the target of a move; the page that stays may become the
    /// reservoir.
    fn give(&mut self, rules: &Rules, place: Place, kind: Kind, call: usize) {
        let page = self.page_counts(rules, place);
        let keeps = keeps_full(
            self.bound(rules),
            self.counts(rules),
            page,
            self.moving.is_some(),
        );
        let victim = if keeps {
            self.victim(rules, place)
        } else {
            None
        };
        let Some(from) = victim else {
            let stays = self.at(place).used() > 1;
            self.clear(rules, place, kind);
            let in_flight = self.moving.is_some();
            if stays && may_swap_roles(self.bound(rules), self.counts(rules), in_flight) {
                self.swap_roles(place);
            }
            return;
        };
        self.change(place, kind, false);
        self.change(place, Kind::Target, true);
        self.depart(from, call);
        self.step(rules, call);
    }

    /// The page whose block was freed becomes the reservoir if it holds fewer blocks.
    fn swap_roles(&mut self, place: Place) {
        // A page that was full is now the head.
        let at = match place {
            Place::Full(_) => 0,
            Place::NotFull(at) => at,
        };
        let (Some(page), Some(tail)) = (self.not_full.get(at), self.not_full.last()) else {
            return;
        };
        if automaton::swaps_roles(u32::from(page.used()), u32::from(tail.used())) {
            let page = self.not_full.remove(at);
            self.not_full.push(page);
        }
    }

    /// Pins the object in motion; `pin` pins any other object.
    pub(crate) fn pin_moving(&mut self, pinned: Pinned) {
        if let Some(moving) = &mut self.moving {
            moving.pinned = pinned;
        }
    }

    pub(crate) fn pin(&mut self, place: Place) {
        let page = self.page(place);
        page.plain -= 1;
        page.pinned += 1;
    }

    pub(crate) fn unpin(&mut self, place: Place) {
        let page = self.page(place);
        page.plain += 1;
        page.pinned -= 1;
    }

    pub(crate) fn unpin_moving(&mut self) {
        if let Some(moving) = &mut self.moving {
            moving.pinned = Pinned::No;
        }
    }

    /// The writer that waited gets the lock: it cancels the move, and writes.
    pub(crate) fn cancel(&mut self, rules: &Rules) {
        if rules.slip != Slip::WritesOn {
            return self.abort(rules);
        }
        if let Some(moving) = &mut self.moving {
            moving.pinned = Pinned::Writes;
            moving.written = true;
        }
    }

    /// The move ends without a commit: v rests, pinned if it was; the target is freed.
    pub(crate) fn abort(&mut self, rules: &Rules) {
        self.calls.iter_mut().for_each(|call| call.own = false);
        let Some(moving) = self.moving.take() else {
            self.wrong = Some("no move to end");
            return;
        };
        let v = self.find(|page| page.source).expect("a move has a source");
        let page = self.page(v);
        page.source = false;
        if moving.pinned == Pinned::No {
            page.plain += 1;
        } else {
            page.pinned += 1;
            self.excuse(rules);
        }
        let target = self.find(|page| page.target).expect("a move has a target");
        self.clear(rules, target, Kind::Target);
    }

    /// A pin ended a move: frees get its steps back, and a compaction may begin another one.
    fn excuse(&mut self, rules: &Rules) {
        for call in &mut self.calls {
            let paid = (0..call.steps).fold(Effort::new(0), |effort, _| effort.step());
            call.steps = paid.met(1, rules.decisions(rules.bound)).steps() as u16;
            call.compaction = call
                .compaction
                .map(|left| left.saturating_add(1).min(rules.compaction));
        }
    }
}

// ---- order and check ---------------------------------------------------------------------------

impl Class {
    /// Brings full pages and calls into a canonical order, which means the same state.
    pub(crate) fn sort(&mut self) {
        self.calls.sort_unstable();
        self.full.sort_unstable();
    }

    /// What is wrong with the pages and the move, if anything.
    pub(crate) fn first_fault(&self, rules: &Rules) -> Option<&'static str> {
        let sum = |count: fn(Page) -> u16| self.all().map(count).sum::<u16>();
        let moving = u16::from(self.moving.is_some());
        let faults = [
            (
                self.full.iter().any(|page| page.used() != rules.blocks),
                "a full page has a free block",
            ),
            (
                self.not_full
                    .iter()
                    .any(|page| page.used() == 0 || page.used() >= rules.blocks),
                "a listed page is empty or full",
            ),
            (
                self.full.len() + self.not_full.len() != usize::from(self.pages),
                "a page was lost",
            ),
            (sum(Page::live) != self.live, "a block was lost"),
            (
                sum(|page| u16::from(page.source)) != moving,
                "one block in motion for a move",
            ),
            (
                sum(|page| u16::from(page.target)) != moving,
                "one target for a move",
            ),
            (
                self.all().any(|page| page.source && page.target),
                "a move within a page",
            ),
            (
                self.full.iter().any(|page| page.source),
                "the page of v is full",
            ),
            (
                self.moving.is_some() != self.calls.iter().any(|call| call.own),
                "a move in flight has an owner",
            ),
            (
                matches!(rules.bound, Bound::Holes { .. })
                    && self.not_full.iter().rev().skip(1).any(|page| page.source),
                "v is in the reservoir",
            ),
        ];
        let first = faults.into_iter().find(|(wrong, _)| *wrong);
        first.map(|(_, what)| what)
    }
}
