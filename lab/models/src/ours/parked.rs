//! Parked blocks: freed, but used for their page, until the next allocation takes them.
//!
//! ```text
//! park      instead of a free, while `quiet` > 0 and there are more objects than pages
//! take      instead of an allocation, whenever a block is parked: any of them
//! give back all of them: at any time, for an allocation elsewhere that would be refused; always
//!           before a free that is not quiet, or leaves fewer objects than pages; before every round
//! ```
//! The heap keeps parked pairs on a stack. Here an allocation may take any of them, which is more
//! than a stack does.

use surefit_classes::Bound;
use surefit_classes::automaton::incremental::over;
use surefit_classes::automaton::quiet_frees;

use super::class::{Class, Kind, Place, Rules, Slip};

impl Class {
    pub(crate) fn parked(&self) -> u16 {
        self.all().map(|page| page.parked).sum()
    }

    /// Whether the bound need not be checked for the next free.
    pub(crate) fn is_quiet(&self, rules: &Rules) -> bool {
        rules.parks && matches!(rules.bound, Bound::Holes { .. }) && self.quiet > 0
    }

    /// Whether the next free is quiet, and keeps at least as many objects as pages.
    pub(crate) fn may_park(&self, rules: &Rules) -> bool {
        let quiet = match rules.bound {
            Bound::Holes { .. } => self.quiet > 0 || rules.slip == Slip::ParksLoudly,
            Bound::Unbounded => true,
            Bound::Pages(_) => false,
        };
        rules.parks && quiet && (self.live > self.pages || rules.slip == Slip::ParksLast)
    }

    pub(crate) fn park(&mut self, rules: &Rules, place: Place) {
        let page = self.page(place);
        page.plain -= 1;
        page.parked += 1;
        self.live -= 1;
        self.take_quiet(rules);
    }

    pub(crate) fn take_parked(&mut self, rules: &Rules, place: Place) {
        let page = self.page(place);
        page.parked -= 1;
        page.plain += 1;
        self.live += 1;
        if matches!(rules.bound, Bound::Holes { .. }) {
            self.quiet += 1;
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
    pub(crate) fn take_quiet(&mut self, rules: &Rules) {
        self.quiet = self.quiet.saturating_sub(1);
        if over(rules.bound, self.counts(rules)) {
            self.wrong = Some("a free that need not be checked exceeds the bound");
        }
    }

    /// The end of a free that has checked the bound.
    pub(crate) fn set_quiet(&mut self, rules: &Rules) {
        if rules.parks && matches!(rules.bound, Bound::Holes { .. }) {
            self.quiet = quiet_frees(rules.bound, self.counts(rules));
        }
    }
}
