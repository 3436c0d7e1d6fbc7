//! The rounds of a free, and the move in flight: begin, step, commit, cancel; victims.
//!
//! A group has at most one move in flight. A thread that needs a move and finds one in flight takes
//! its next step. So a thread that is preempted in the middle of a move delays nobody. Between two
//! steps the lock is free. Until its commit a move has changed nothing, except that its target is
//! reserved.
//!
//! # Source
//! Craciunas et al. (2009): incremental compaction. Helping, and moves without source pages, are
//! this project's (`automaton::incremental`).
#![deny(unsafe_code)]

use core::num::NonZeroUsize;

use lock_api::RawMutex;
use surefit_classes::automaton::incremental::{
    self, Effort, InFlight, Next, Rules, compaction, may_swap_roles, next,
};
use surefit_classes::automaton::{credit, swaps_roles};
use surefit_classes::{Bound, PageOrder};

use super::engine::{BegunFree, SharedEngine};
use super::group::{Move, Section, add};
use super::pool::Slot;
use crate::page::{Block, Page, PageId};
use crate::shared::config::Increment;
use crate::shared::lock::Granularity;
use crate::width::Spread;

/// An object that can be moved.
enum Victim<'m> {
    /// The entry, in motion, and the page-block of the object.
    Found(u32, Block<'m, Spread>),
    /// None; the page-block of a freed object was given back instead.
    Cleared,
    /// None: all objects that were tried are pinned, or there is none.
    Nobody,
}

/// The result of beginning a move.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begun {
    /// The move with this serial number is in flight.
    Moving(u32),
    /// None; the page-block of a freed object was given back instead.
    Cleared,
    /// Nothing can be moved.
    NoVictim,
}

/// The rounds of one free.
struct Rounds {
    rules: Rules,
    /// The serial number of the move that this free began last.
    own: Option<u32>,
    effort: Effort,
}

// ---- rounds -------------------------------------------------------------------------------------

impl<'m, R: RawMutex, G: Granularity> SharedEngine<'m, R, G> {
    /// The rest of a free: rounds, until the incremental automaton lets it leave.
    #[inline]
    pub(crate) fn settle(
        &self,
        section: Section<'m, R>,
        slot: Slot,
        group: u32,
        freed: BegunFree<'m>,
    ) {
        let has_credit = match self.bound() {
            Bound::Unbounded => true,
            Bound::Holes { .. } => section.class.take_credit(),
            Bound::Pages(most) => freed.kept.is_none() && section.class.not_full() <= most,
        };
        if !has_credit {
            self.settle_slowly(section, slot, group, freed);
        }
    }

    #[inline(never)]
    fn settle_slowly(
        &self,
        mut section: Section<'m, R>,
        slot: Slot,
        group: u32,
        freed: BegunFree<'m>,
    ) {
        self.borrow(&section, group);
        let mut rounds = self.rounds(&section, group);
        let mut copied = false;
        if let Some(kept) = freed.kept {
            copied = self.refill(&section, slot, group, kept, &mut rounds);
        }
        if let Some(page) = freed.page {
            self.swap_roles(&section, group, page);
        }
        loop {
            let next = self.next_round(&section, group, &mut rounds);
            if next == Next::Leave {
                break;
            }
            if copied {
                drop(section);
                section = self.enter(group);
                self.give_back_parked(&section, slot, group);
                copied = false;
                continue;
            }
            copied = true;
            let target = match next {
                Next::Move => self.pages.linked(section.class.head.get()),
                Next::Step | Next::Leave => None,
            };
            let Some(target) = target else {
                self.step(&section, slot, group);
                rounds.effort = rounds.effort.step();
                continue;
            };
            match self.begin(&section, slot, group, Target::Hole(target)) {
                Begun::Moving(serial) => rounds.own = Some(serial),
                Begun::Cleared => {}
                Begun::NoVictim => break,
            }
            self.step(&section, slot, group);
            rounds.effort = rounds.effort.step();
        }
        let counts = self.counts(&section, self.class_of(group));
        section
            .class
            .set_credit(credit(self.bound_of(group), counts));
    }

    /// F2 and F3: begins a move into the page-block that was freed. If nothing can be moved, gives
    /// the page-block back (F1). Returns whether bytes were copied.
    fn refill(
        &self,
        section: &Section<'m, R>,
        slot: Slot,
        group: u32,
        kept: Block<'m, Spread>,
        rounds: &mut Rounds,
    ) -> bool {
        let Begun::Moving(serial) = self.begin(section, slot, group, Target::Kept(kept)) else {
            self.clear(section, slot, group, kept);
            return false;
        };
        rounds.own = Some(serial);
        rounds.effort = rounds.effort.step();
        self.step(section, slot, group);
        true
    }

    fn rounds(&self, section: &Section<'m, R>, group: u32) -> Rounds {
        let layout = self.pages.geometry.layout(self.class_of(group));
        let block_bytes = layout.block_bytes as usize;
        Rounds {
            rules: Rules {
                bound: self.bound_of(group),
                steps_per_move: incremental::steps_per_move(block_bytes, self.increment()),
            },
            own: None,
            effort: Effort::new(section.pinned_away.get()),
        }
    }

    fn next_round(&self, section: &Section<'m, R>, group: u32, rounds: &mut Rounds) -> Next {
        let aborts = section.pinned_away.get();
        rounds.effort = rounds.effort.met(aborts, rounds.rules);
        rounds.rules.bound = self.bound_of(group);
        let counts = self.counts(section, self.class_of(group));
        let in_flight = in_flight(section, rounds.own);
        next(rounds.rules, counts, in_flight, rounds.effort)
    }

    fn increment(&self) -> Option<NonZeroUsize> {
        match self.config.increment {
            Increment::Whole => None,
            Increment::Bytes(bytes) => NonZeroUsize::new(bytes.get() as usize),
        }
    }

    /// Makes the page of the freed page-block the reservoir, if it holds fewer page-blocks and the
    /// automaton allows it.
    fn swap_roles(&self, section: &Section<'m, R>, group: u32, page: Page<'m, Spread>) {
        let counts = self.counts(section, self.class_of(group));
        if !may_swap_roles(self.bound_of(group), counts, section.moving.get().is_some()) {
            return;
        }
        let tail = self.pages.linked(section.class.tail.get());
        let used = self.page_counts(page).used;
        if tail.is_some_and(|tail| swaps_roles(used, self.page_counts(tail).used)) {
            self.make_last(section, page);
        }
    }

    fn make_last(&self, section: &Section<'m, R>, page: Page<'m, Spread>) {
        self.pages.detach(&section.class, page);
        self.pages.push_back(&section.class, page);
        self.show_first(section);
    }

    /// Frees objects on deferred lists. Then moves at most `budget` objects, until no group has
    /// more than one not-full page. Returns the number of moves begun.
    pub(crate) fn compact(
        &self,
        slot: Slot,
        groups: impl Iterator<Item = u32>,
        budget: u64,
    ) -> u64 {
        let mut begun: u64 = 0;
        for group in groups {
            let mut own = None;
            let mut pins = self.enter(group).pinned_away.get();
            loop {
                if self.free_next_deferred(slot, group) {
                    continue;
                }
                let section = self.enter(group);
                self.give_back_parked(&section, slot, group);
                if own.is_some() && in_flight(&section, own) != InFlight::Own {
                    // A move of this call that a pin ended does not count.
                    begun -= u64::from(section.pinned_away.get() != pins);
                    own = None;
                }
                pins = section.pinned_away.get();
                let counts = self.counts(&section, self.class_of(group));
                let next = compaction(counts, in_flight(&section, own), begun < budget);
                match (next, self.pages.linked(section.class.head.get())) {
                    (Next::Leave, _) | (Next::Move, None) => break,
                    (Next::Step, _) => {}
                    (Next::Move, Some(target)) => {
                        match self.begin(&section, slot, group, Target::Hole(target)) {
                            Begun::Moving(serial) => own = Some(serial),
                            Begun::Cleared => continue,
                            Begun::NoVictim => break,
                        }
                        begun += 1;
                    }
                }
                self.step(&section, slot, group);
            }
        }
        begun
    }
}

/// The move in flight, as seen by the free that began the one with serial number `own`.
fn in_flight<R: RawMutex>(section: &Section<'_, R>, own: Option<u32>) -> InFlight {
    match section.moving.get() {
        None => InFlight::Nothing,
        Some(moving) if Some(moving.serial) == own => InFlight::Own,
        Some(_) => InFlight::Other,
    }
}

// ---- begin --------------------------------------------------------------------------------------

/// Where a move goes.
#[derive(Clone, Copy)]
enum Target<'m> {
    /// Into a freed page-block of a page that stays full.
    Kept(Block<'m, Spread>),
    /// Into a free page-block of a not-full page.
    Hole(Page<'m, Spread>),
}

impl<'m, R: RawMutex, G: Granularity> SharedEngine<'m, R, G> {
    /// Begins a move of some object.
    fn begin(&self, section: &Section<'m, R>, slot: Slot, group: u32, target: Target<'m>) -> Begun {
        debug_assert!(section.parked.count() == 0, "K5: nothing is parked");
        let page = match target {
            Target::Kept(block) => block.page,
            Target::Hole(page) => page,
        };
        let (index, from) = match self.victim(section, slot, group, page.id) {
            Victim::Found(index, from) => (index, from),
            Victim::Cleared => return Begun::Cleared,
            Victim::Nobody => return Begun::NoVictim,
        };
        let to = match target {
            Target::Kept(block) => {
                self.pages.set_back_reference(block, index);
                block
            }
            Target::Hole(page) => self.reserve(section, page, index),
        };
        let serial = section.begun.get();
        section.begun.set(serial.wrapping_add(1));
        section.moving.set(Some(Move {
            entry: index,
            serial,
            from: (from.page.id, from.number),
            to: (to.page.id, to.number),
            done: 0,
        }));
        Begun::Moving(serial)
    }

    /// Takes a free page-block of a not-full page as a target.
    fn reserve(
        &self,
        section: &Section<'m, R>,
        page: Page<'m, Spread>,
        index: u32,
    ) -> Block<'m, Spread> {
        let held = self.hold(page);
        let block = self.pages.take_free(page, index);
        let fills = page.free_blocks() == 0;
        drop(held);
        if fills {
            self.pages.detach(&section.class, page);
            self.show_first(section);
        }
        block
    }

    /// Finds an object to move: in the not-full pages except the target's, in the order in which
    /// they drain.
    fn victim(
        &self,
        section: &Section<'m, R>,
        slot: Slot,
        group: u32,
        target: PageId,
    ) -> Victim<'m> {
        let mut tries = self.config.pins.saturating_add(1);
        let mut at = self.drains_first(section);
        while let Some(page) = at {
            at = self.drains_next(section, page);
            if page.id == target {
                continue;
            }
            let held = self.hold(page);
            let victim = self.victim_in(page, &mut tries);
            drop(held);
            match victim {
                Victim::Found(..) => {
                    self.make_reservoir(section, page);
                    return victim;
                }
                Victim::Cleared => return self.clear_dead(section, slot, group, page),
                Victim::Nobody if tries == 0 => break,
                Victim::Nobody => {}
            }
        }
        Victim::Nobody
    }

    /// Tries the objects of a page. Returns `Cleared` if the page holds one that is freed and waits
    /// to be drained.
    fn victim_in(&self, page: Page<'m, Spread>, tries: &mut u32) -> Victim<'m> {
        let mut number = page.blocks();
        while let Some(block) = self.pages.used_before(page, number) {
            number = block.number;
            let index = self.pages.back_reference(block);
            let entry = self.entry(index);
            if entry.begin_move() {
                return Victim::Found(index, block);
            }
            if entry.is_dead() {
                return Victim::Cleared;
            }
            *tries -= 1;
            if *tries == 0 {
                break;
            }
        }
        Victim::Nobody
    }

    /// Gives back the page-block of an object that is freed and waits to be drained. Its entry
    /// still waits.
    fn clear_dead(
        &self,
        section: &Section<'m, R>,
        slot: Slot,
        group: u32,
        page: Page<'m, Spread>,
    ) -> Victim<'m> {
        let mut number = page.blocks();
        while let Some(block) = self.pages.used_before(page, number) {
            number = block.number;
            let index = self.pages.back_reference(block);
            if self.entry(index).is_dead() {
                self.entry(index).forget_block();
                self.remove_live(section);
                section.class.take_credit();
                self.clear(section, slot, group, block);
                return Victim::Cleared;
            }
        }
        Victim::Nobody
    }

    /// Under the hole bound the page that a move leaves becomes the reservoir. A former reservoir
    /// whose objects are all pinned is none any more: its free page-blocks become holes, which
    /// later frees fill.
    fn make_reservoir(&self, section: &Section<'m, R>, page: Page<'m, Spread>) {
        let holes = matches!(self.bound(), Bound::Holes { .. });
        if holes && section.class.tail.get() != page.id.word::<u32>() {
            self.make_last(section, page);
            section.class.set_credit(0);
        }
    }

    fn drains_first(&self, section: &Section<'m, R>) -> Option<Page<'m, Spread>> {
        self.pages.linked(match self.config.config.order() {
            PageOrder::Newest => section.class.tail.get(),
            PageOrder::Original => section.class.head.get(),
        })
    }

    fn drains_next(
        &self,
        section: &Section<'m, R>,
        page: Page<'m, Spread>,
    ) -> Option<Page<'m, Spread>> {
        match self.config.config.order() {
            PageOrder::Newest if section.class.head.get() == page.id.word::<u32>() => None,
            PageOrder::Newest => self.pages.linked(page.record.prev.get()),
            PageOrder::Original => self.pages.linked(page.record.next.get()),
        }
    }
}

// ---- step, commit, cancel -----------------------------------------------------------------------

impl<'m, R: RawMutex, G: Granularity> SharedEngine<'m, R, G> {
    /// Copies at most ι bytes of the move in flight, and commits it after the last of them.
    fn step(&self, section: &Section<'m, R>, slot: Slot, group: u32) {
        let Some(mut moving) = section.moving.get() else {
            return;
        };
        let (from, to) = self.ends(moving);
        let block_bytes = from.page.layout.block_bytes;
        let step = incremental::step(block_bytes as usize, moving.done as usize, self.increment());
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a step is at most a page-block, whose size has 32 bits"
        )]
        let bytes = step.bytes as u32;
        self.pages.copy_part(from, to, moving.done, bytes);
        section.count_copied(bytes);
        add(&section.counters.steps, 1);
        moving.done += bytes;
        section.moving.set(Some(moving));
        if step.commits {
            self.commit(section, slot, group, moving);
        }
    }

    /// Ends a move whose bytes are copied. The object is at its target then, or where it was if it
    /// is pinned now.
    fn commit(&self, section: &Section<'m, R>, slot: Slot, group: u32, moving: Move) {
        let entry = self.entry(moving.entry);
        let (from, to) = self.ends(moving);
        entry.stage(self.location(to));
        if !entry.commit() {
            return self.lose_to_pin(section, slot, group);
        }
        section.moving.set(None);
        add(&section.counters.moves, 1);
        add(
            &section.counters.moved_bytes,
            u64::from(from.page.layout.block_bytes),
        );
        self.clear(section, slot, group, from);
    }

    /// Ends the move in flight without effect; its target is free again.
    pub(crate) fn cancel(&self, section: &Section<'m, R>, slot: Slot, group: u32) {
        let Some(moving) = section.moving.get() else {
            return;
        };
        if let Some(to) = self.end_move_of(section, moving.entry) {
            self.clear(section, slot, group, to);
        }
    }

    /// Ends the move in flight if it moves the object of an entry. The target stays reserved, and
    /// belongs to the caller.
    pub(crate) fn end_move_of(
        &self,
        section: &Section<'m, R>,
        index: u32,
    ) -> Option<Block<'m, Spread>> {
        let moving = section
            .moving
            .get()
            .filter(|moving| moving.entry == index)?;
        section.moving.set(None);
        add(&section.counters.abandoned, 1);
        self.after_unpin(self.entry(index).cancel_move(), index);
        Some(self.ends(moving).1)
    }

    fn ends(&self, moving: Move) -> (Block<'m, Spread>, Block<'m, Spread>) {
        let block = |(page, number): (PageId, u32)| Block {
            page: self.pages.known(page),
            number,
        };
        (block(moving.from), block(moving.to))
    }

    /// Ends the move of an object that the caller has pinned for writing, if it is in flight. Waits
    /// for the lock, and so for steps in progress.
    #[cold]
    #[inline(never)]
    pub(crate) fn revoke(&self, slot: Slot, group: u32, index: u32) {
        let section = self.enter(group);
        let moving = section.moving.get();
        if moving.is_some_and(|moving| moving.entry == index) {
            self.lose_to_pin(&section, slot, group);
        }
    }

    /// Ends the move in flight because of a pin. Threads that owe moves try again.
    fn lose_to_pin(&self, section: &Section<'m, R>, slot: Slot, group: u32) {
        let pins = section.pinned_away.get();
        section.pinned_away.set(pins.wrapping_add(1));
        self.cancel(section, slot, group);
    }
}
