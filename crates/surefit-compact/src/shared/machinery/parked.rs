//! Parked pairs: a freed page-block and its entry that stay bound to each other, for the next
//! allocation of their group.
//!
//! A parked page-block is used for its page, its back-reference names the entry, and the entry
//! names it. Only the group knows that no object is there. So parking and taking change neither the
//! page nor its list.
//!
//! ```text
//! free      not in motion, credit > 0, live > pages, room ─▶ park: live − 1, credit − 1
//! allocate  a pair is parked                              ─▶ take: live + 1, credit + 1
//! a free without credit, or with live = pages; compact; destroy; an exhausted heap
//!                                                        ─▶ give all pairs of the group back
//! ```
//! The pairs of a group are a stack. An entry links it through the location that is not its
//! page-block's, like the deferred list.
//!
//! # Invariants
//! - K1 The entry of a parked pair is dead. A group parks at most half of the handle buffer,
//!   rounded up. Parked and spare entries are together no more than the buffer, as without parked
//!   pairs.
//! - K2 Parked page-blocks are holes: pages·π − live counts them, and no page's free page-blocks.
//!   `credit` further frees keep holes ≤ δ + ⌊ε·live⌋. A pair is parked only in place of such a
//!   free, and taking it is the inverse.
//! - K3 While a pair is parked, pages ≤ live, and no page is opened.
//! - K4 Giving a pair back moves nothing and makes no hole: a hole becomes a free page-block, or
//!   leaves with its page.
//! - K5 While a victim is searched, nothing is parked in the group. So no move meets a parked pair,
//!   and what a move knows of pages stays true.
//!
//! So parked pairs change no bound: that in holes holds by K2; no group has more pages than objects
//! (K3), or than its objects ever filled, because a page is opened only if nothing is parked and no
//! page is not-full. Certificates count neither parked pages nor parked entries (K1).
//!
//! # Bounds
//! Parking and taking are O(1). Giving back is O(1) per pair, at most half of the handle buffer per
//! group. Under page locks and under a bound in pages nothing is parked: page locks serve most
//! calls without the group's lock, and a parked page-block would hide a not-full page.
#![deny(unsafe_code)]

use lock_api::RawMutex;
use surefit_classes::Bound;

use super::engine::SharedEngine;
use super::entry::NO_BLOCK;
use super::group::Section;
use super::pool::Slot;
use crate::shared::lock::Granularity;

impl<'m, R: RawMutex, G: Granularity> SharedEngine<'m, R, G> {
    /// Frees an object by parking its page-block with its entry, if that is possible. Returns
    /// whether it was.
    #[inline]
    pub(crate) fn park(&self, section: &Section<'m, R>, index: u32) -> bool {
        let room = section.parked.count() < u32::from(self.config.parked_max());
        if G::PAGES || !self.may_park(section) || !room {
            return false;
        }
        let entry = self.entry(index);
        let state = entry.state();
        let stays = !state.is_moving() && entry.location(state) != NO_BLOCK;
        if !stays {
            return false;
        }
        self.deactivate(entry, state);
        section.parked.push(index, entry, state);
        section.class.remove_live();
        section.class.take_credit();
        self.keep_entries(section);
        true
    }

    /// Whether the next free keeps every bound, even if its page-block is parked (K2, K3).
    #[inline]
    fn may_park(&self, section: &Section<'m, R>) -> bool {
        let class = &section.class;
        let has_credit = match self.bound() {
            Bound::Holes { .. } => class.credit() > 0,
            Bound::Unbounded => true,
            Bound::Pages(_) => false,
        };
        has_credit && class.live() > class.pages()
    }

    /// Takes a parked pair for a new object, under construction. Returns its entry and its
    /// location.
    #[inline]
    pub(crate) fn take_parked(&self, section: &Section<'m, R>, group: u32) -> Option<(u32, u32)> {
        let (index, location) = section.parked.pop(|index| self.entry(index))?;
        section.class.add_live();
        if self.bound() != Bound::Unbounded {
            section.class.set_credit(section.class.credit() + 1);
        }
        self.begin_construction(index, group, location);
        Some((index, location))
    }

    /// Gives all parked pairs of a group back before a free that may have to move (K5), or after
    /// which there may be more pages than objects (K3).
    #[inline]
    pub(crate) fn give_back_before_settling(
        &self,
        section: &Section<'m, R>,
        slot: Slot,
        group: u32,
    ) {
        if section.parked.count() > 0 && !self.may_park(section) {
            self.give_back(section, slot, group);
        }
    }

    /// Gives all parked pairs of a group back.
    #[inline]
    pub(crate) fn give_back_parked(&self, section: &Section<'m, R>, slot: Slot, group: u32) {
        if section.parked.count() > 0 {
            self.give_back(section, slot, group);
        }
    }

    #[cold]
    #[inline(never)]
    fn give_back(&self, section: &Section<'m, R>, slot: Slot, group: u32) {
        while let Some((index, location)) = section.parked.pop(|index| self.entry(index)) {
            self.give_entry(section, index);
            self.clear(section, slot, group, self.block(location));
        }
    }

    /// Gives all parked pairs of some groups back.
    pub(crate) fn give_back_parked_of(&self, slot: Slot, groups: impl Iterator<Item = u32>) {
        for group in groups {
            self.give_back_parked(&self.enter(group), slot, group);
        }
    }
}
