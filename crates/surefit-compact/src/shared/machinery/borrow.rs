//! Groups that borrow holes from the heap's slack.
//!
//! A group borrows under its own lock, from one count of spare bytes that all groups share. Only if
//! too few are spare does it look at another group, and only if nobody is in that one: it never
//! waits for a second group's lock, so these locks need no order.
//!
//! ```text
//! a free without credit   its group has some more holes lent than it has ─▶ nothing
//!                         enough are spare  ─▶ lend what it has too much, and some more
//!                         too few are spare ─▶ what one other group does not use is spare first
//! ```
//! A group's bound is: holes ≤ lent. It takes the place of δ and ε. Slack without limit needs no
//! table: every group has as many holes as it makes.
//!
//! # Bounds
//! O(1): one group is asked, another one each time. Once more whenever another thread borrows at
//! the same moment (lock-free). Nothing here moves a page-block.
//!
//! # Source
//! Ours ([the bounds, 7.9](crate::bounds#79-pooled-slack)).
#![deny(unsafe_code)]

use core::sync::atomic::Ordering::Relaxed;

use lock_api::RawMutex;
use surefit_classes::{Bound, Fraction};

use super::engine::SharedEngine;
use super::group::Section;
use super::slack::{NEXT, SPARE, Slack};
use crate::shared::lock::Granularity;
use crate::slack::{LEAST_AHEAD, share};

impl<'m, R: RawMutex, G: Granularity> SharedEngine<'m, R, G> {
    /// What the heap may lend. Nothing without the feature `slack`: the compiler then leaves out
    /// what lends.
    #[inline]
    pub(crate) fn slack(&self) -> Option<&Slack<'m>> {
        self.slack.as_ref().filter(|_| cfg!(feature = "slack"))
    }

    /// The compaction bound of a group now, whose lock is held.
    #[inline]
    pub(crate) fn bound_of(&self, group: u32) -> Bound {
        match self.slack() {
            None => self.bound(),
            Some(slack) => Bound::Holes {
                base: slack
                    .lent(group)
                    .map_or(slack.bytes, |lent| lent.load(Relaxed)),
                fraction: Fraction::ZERO,
            },
        }
    }

    /// The bytes of a page for one hole of a group.
    pub(crate) fn share_of(&self, group: u32) -> u32 {
        let geometry = self.pages.geometry;
        let share = share(geometry.page_bytes(), geometry.layout(self.class_of(group)));
        u32::try_from(share).expect("at most a page")
    }

    /// Lends the group of a free, if the heap has slack, the holes that it has too many and some
    /// more, unless it has some more.
    #[inline]
    pub(crate) fn borrow(&self, section: &Section<'m, R>, group: u32) {
        if let Some(slack) = self.slack() {
            self.borrow_from(slack, section, group);
        }
    }

    fn borrow_from(&self, slack: &Slack<'m>, section: &Section<'m, R>, group: u32) {
        let (Some(lent), class) = (slack.lent(group), self.class_of(group)) else {
            return;
        };
        if self.pages.geometry.layout(class).blocks == 1 {
            // There are never holes.
            return;
        }
        let holes = self.counts(section, class).holes;
        let has = lent.load(Relaxed);
        if has.saturating_sub(holes) >= LEAST_AHEAD {
            return;
        }
        let (need, share) = (holes.saturating_sub(has), self.share_of(group));
        if need > slack.words[SPARE].load(Relaxed) / share {
            self.ask_next(slack, section, group);
        }
        slack.lend(lent, need, share);
    }

    /// What the next group does not use is spare again, unless somebody is in that group.
    fn ask_next(&self, slack: &Slack<'m>, section: &Section<'m, R>, group: u32) {
        let next = slack.words[NEXT].fetch_add(1, Relaxed) % self.groups_of(0).end;
        if next != group {
            let other = &self.groups[next as usize];
            other.visit(section, G::ONE, |other| {
                self.take_unused(slack, other, next);
            });
        }
    }

    fn take_unused(&self, slack: &Slack<'m>, section: &Section<'m, R>, group: u32) {
        let holes = self.counts(section, self.class_of(group)).holes;
        let lent = slack.lent(group).filter(|lent| lent.load(Relaxed) > holes);
        if let Some(lent) = lent {
            slack.take_back(lent, holes, self.share_of(group));
            // It has as many holes now as are lent to it: its next free must ask.
            section.class.set_credit(0);
        }
    }
}
