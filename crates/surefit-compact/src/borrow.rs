//! Classes that borrow holes from the heap's slack.
//!
//! A free that finds its class with as many holes as it was lent borrows more. Only if too little
//! is left must it move a page-block.
//!
//! ```text
//! lend_to(class)   from the spare; if that is too little, what one other class does not use is
//!                  spare first
//! compact, retain  everything is spare again, but what the holes that are left need
//! ```
//! The class's bound is: holes ≤ lent (H4, H5). It takes the place of δ and ε.
//!
//! # Bounds
//! O(1): one class is asked, and the one asked next time is the next one. Nothing here moves a
//! page-block.
//!
//! # Source
//! Ours ([the bounds, 3.1](crate::bounds#31-pooled-slack)).

use surefit_classes::automaton::{self, ClassCounts};
use surefit_classes::{Bound, ClassLayout, Fraction};

use crate::class::ClassState;
use crate::engine::Engine;
use crate::slack::{LEAST_AHEAD, MOST_AHEAD, PARTS, Slack, share};
use crate::width::Width;

impl<'m, W: Width> Engine<'m, W> {
    /// What the heap may lend. Nothing without the feature `slack`: the compiler then leaves out
    /// what lends.
    #[inline]
    pub(crate) fn slack(&self) -> Option<&'m Slack<'m>> {
        self.slack.filter(|_| cfg!(feature = "slack"))
    }

    /// The compaction bound of a class now.
    #[inline]
    pub(crate) fn bound_of(&self, state: &ClassState<W>) -> Bound {
        match self.slack() {
            None => self.bound,
            Some(slack) => Bound::Holes {
                base: slack.lent[self.classes.index_of(state)].get(),
                fraction: Fraction::ZERO,
            },
        }
    }

    /// Whether a class must move a block to keep its bound: it breaks it, and nothing is spare. A
    /// class that has hardly any hole left borrows ahead.
    #[inline]
    pub(crate) fn must_settle(
        &self,
        state: &ClassState<W>,
        layout: &ClassLayout,
        counts: ClassCounts,
    ) -> bool {
        match self.slack() {
            None => automaton::settle(self.bound, counts),
            Some(slack) => !self.lend_to(slack, state, layout, counts.holes),
        }
    }

    /// Lends a class the holes that it has too many, and some more, unless it has some more;
    /// returns whether it has as many as it needs.
    #[inline(never)]
    fn lend_to(
        &self,
        slack: &Slack<'m>,
        state: &ClassState<W>,
        layout: &ClassLayout,
        holes: u32,
    ) -> bool {
        let class = self.classes.index_of(state);
        let lent = &slack.lent[class];
        let (need, left) = (
            u64::from(holes.saturating_sub(lent.get())),
            u64::from(lent.get().saturating_sub(holes)),
        );
        if left >= u64::from(LEAST_AHEAD) {
            return true;
        }
        let share = share(self.pages.geometry.page_bytes(), layout);
        if need * share > slack.spare.get() {
            self.ask_next(slack, class);
        }
        let most = slack.spare.get() / share;
        if need > most {
            return false;
        }
        let ahead = (most / u64::from(PARTS)).clamp(LEAST_AHEAD.into(), MOST_AHEAD.into());
        let more = (need + ahead)
            .min(most)
            .min(u64::from(u32::MAX - lent.get()));
        slack.spare.set(slack.spare.get() - more * share);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "at most the rest of 32 bits"
        )]
        lent.set(lent.get() + more as u32);
        true
    }

    /// What the next class does not use is spare again.
    fn ask_next(&self, slack: &Slack<'m>, but: usize) {
        let next = slack.next.get() as usize;
        slack.next.set(if next + 1 < slack.lent.len() {
            next as u32 + 1
        } else {
            0
        });
        if next != but {
            self.take_unused(slack, next);
        }
    }

    fn take_unused(&self, slack: &Slack<'m>, number: usize) {
        let (state, lent) = (self.classes.all().get(number), slack.lent.get(number));
        let class = self.pages.geometry.class(number);
        // Every number is that of a class (K1).
        let (Some(state), Some(lent), Some(class)) = (state, lent, class) else {
            return;
        };
        let layout = self.pages.geometry.layout(class);
        let holes = self.counts(state, layout).holes;
        let Some(unused) = lent.get().checked_sub(holes) else {
            return;
        };
        lent.set(holes);
        let share = share(self.pages.geometry.page_bytes(), layout);
        slack
            .spare
            .set(slack.spare.get() + u64::from(unused) * share);
        // It has as many holes now as are lent to it: its next free must ask (H5).
        state.forgo_all();
    }

    /// Makes spare what no class uses, after moves that no free asked for. O(classes).
    pub(crate) fn take_all_unused(&self) {
        if let Some(slack) = self.slack() {
            (0..slack.lent.len()).for_each(|class| self.take_unused(slack, class));
        }
    }
}
