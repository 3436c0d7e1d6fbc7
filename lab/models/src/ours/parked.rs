//! Parked blocks: freed, but used for their page, until the next allocation takes them.
//!
//! ```text
//! park      instead of a free, while `credit` > 0 and there are more objects than pages
//! take      instead of an allocation, whenever a block is parked: any of them
//! give back all of them: at any time, for an allocation elsewhere that would be refused; always
//!           before a free without credit, or leaves fewer objects than pages; before every round
//! ```
//! The heap keeps parked pairs on a stack. Here an allocation may take any of them, which is more
//! than a stack does.

use surefit_classes::Bound;
use surefit_classes::automaton::credit;
use surefit_classes::automaton::incremental::over;

use super::class::{Class, Kind, Place, Rules, Slip};

impl Class {
    pub(crate) fn parked(&self) -> u16 {
        self.all().map(|page| page.parked).sum()
    }

    /// Whether the bound need not be checked for the next free.
    pub(crate) fn has_credit(&self, rules: &Rules) -> bool {
        rules.parks && matches!(rules.bound, Bound::Holes { .. }) && self.credit > 0
    }

    /// Whether the next free has credit, and keeps at least as many objects as pages.
    pub(crate) fn may_park(&self, rules: &Rules) -> bool {
        let has_credit = match rules.bound {
            Bound::Holes { .. } => self.credit > 0 || rules.slip == Slip::ParksWithoutCredit,
            Bound::Unbounded => true,
            Bound::Pages(_) => false,
        };
        rules.parks && has_credit && (self.live > self.pages || rules.slip == Slip::ParksLast)
    }

    pub(crate) fn park(&mut self, rules: &Rules, place: Place) {
        let page = self.page(place);
        page.plain -= 1;
        page.parked += 1;
        self.live -= 1;
        self.take_credit(rules);
    }

    pub(crate) fn take_parked(&mut self, rules: &Rules, place: Place) {
        let page = self.page(place);
        page.parked -= 1;
        page.plain += 1;
        self.live += 1;
        if matches!(rules.bound, Bound::Holes { .. }) {
            self.credit += 1;
        }
    }

    pub(crate) fn give_back_parked(&mut self, rules: &Rules) {
        while let Some(place) = self.find(|page| page.parked > 0) {
            let before = self.holes(rules);
            self.clear(rules, place, Kind::Parked);
            if self.holes(rules) > before {
                self.wrong = Some("a hole was made by giving a parked block back");
            }
        }
    }

    /// Counts down one of the frees for which the bound need not be checked, after it.
    pub(crate) fn take_credit(&mut self, rules: &Rules) {
        self.credit = self.credit.saturating_sub(1);
        if over(self.bound(rules), self.counts(rules)) {
            self.wrong = Some("a free that need not be checked exceeds the bound");
        }
    }

    /// The end of a free that has checked the bound.
    pub(crate) fn set_credit(&mut self, rules: &Rules) {
        if rules.parks && matches!(rules.bound, Bound::Holes { .. }) {
            self.credit = credit(self.bound(rules), self.counts(rules));
        }
    }
}
