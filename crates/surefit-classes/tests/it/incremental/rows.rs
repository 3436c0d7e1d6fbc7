//! The configurations that are searched, and the largest values of their states.

use std::collections::BTreeMap;

use surefit_classes::{Bound, Fraction, PageOrder};

use surefit_models::ours::{Rules, Slip};

use super::search::Census;

/// A configuration and the largest values that its states have, by calls in progress: 0, 1, …
pub(crate) struct Row {
    pub(crate) rules: Rules,
    /// n − κ, or holes − limit(h).
    pub(crate) excess: &'static [i32],
    /// Pages above those that the class needs without calls and pins.
    pub(crate) pages: &'static [i32],
}

pub(crate) const fn pages(most: u32) -> Bound {
    Bound::Pages(most)
}

pub(crate) const fn holes(base: u32, numerator: u32, denominator: u32) -> Bound {
    match Fraction::new(numerator, denominator) {
        Ok(fraction) => Bound::Holes { base, fraction },
        Err(_) => panic!("at most one half"),
    }
}

/// π blocks, a move of `steps` steps, Π pins, and these numbers of calls and live blocks.
pub(crate) const fn row(
    bound: Bound,
    [blocks, steps, pins, calls, live]: [u8; 5],
    excess: &'static [i32],
    pages: &'static [i32],
) -> Row {
    let rules = Rules {
        bound,
        order: PageOrder::Newest,
        blocks: blocks as u16,
        steps: steps as u16,
        pins: pins as u16,
        calls: calls as u16,
        compaction: 0,
        live: live as u16,
        parks: false,
        lends: 0,
        lingers: false,
        slip: Slip::None,
    };
    Row {
        rules,
        excess,
        pages,
    }
}

impl Row {
    /// One of the calls may be a compaction of so many moves.
    const fn compacting(mut self, moves: u16) -> Self {
        self.rules.compaction = moves;
        self
    }

    /// Calls return in their own section.
    const fn lingering(mut self) -> Self {
        self.rules.lingers = true;
        self
    }

    /// Frees park their blocks.
    const fn parking(mut self) -> Self {
        self.rules.parks = true;
        self
    }

    /// Up to so many holes are lent to the class, and taken back.
    const fn lending(mut self, holes: u16) -> Self {
        self.rules.lends = holes;
        self
    }

    const fn original(mut self) -> Self {
        self.rules.order = PageOrder::Original;
        self
    }

    pub(crate) fn print(&self, census: &Census) {
        let Rules {
            blocks,
            steps,
            pins,
            calls,
            compaction,
            live,
            ..
        } = self.rules;
        println!(
            "{:<52} {:?} pi {blocks} steps {steps} pins {pins} calls {calls}{}{} live {live}: states {} transitions {} steps {} excess {:?}{} pages {:?}{}",
            self.rules.bound.to_string(),
            self.rules.order,
            if compaction > 0 { " compacting" } else { "" },
            if self.rules.lingers { " lingering" } else { "" },
            census.states,
            census.transitions,
            census.steps,
            values(&census.excess),
            if census.reached {
                " (bound reached)"
            } else {
                ""
            },
            values(&census.pages),
            if census.pages_reached {
                " (bound reached)"
            } else {
                ""
            },
        );
    }
}

pub(crate) fn values(by_calls: &BTreeMap<usize, i32>) -> Vec<i32> {
    by_calls.values().copied().collect()
}

// ---- rows: [π, steps of a move, Π, calls, live], excess by calls, pages by calls ---------------

/// One call, as in a heap with one owner.
pub(crate) fn one_call() -> Vec<Row> {
    vec![
        row(pages(1), [2, 1, 0, 1, 8], &[0, 0], &[0, 1]),
        row(pages(1), [3, 1, 0, 1, 9], &[0, 0], &[0, 1]),
        row(pages(2), [4, 3, 0, 1, 12], &[0, 0], &[0, 1]),
        row(holes(0, 0, 1), [3, 1, 0, 1, 9], &[0, 1], &[0, 1]),
        row(holes(1, 1, 4), [4, 2, 0, 1, 14], &[0, 2], &[0, 1]),
    ]
}

/// Nothing moves: κ = ∞, and π = 1.
pub(crate) fn no_moves() -> Vec<Row> {
    vec![
        row(Bound::Unbounded, [3, 2, 1, 2, 7], &[0], &[0]),
        row(pages(1), [1, 2, 1, 2, 5], &[-1], &[0]),
    ]
}

/// Two calls, no pins: at rest exactly within the bound.
pub(crate) fn two_calls() -> Vec<Row> {
    vec![
        row(pages(1), [2, 2, 0, 2, 9], &[0, 0, 1], &[0, 1, 1]),
        row(pages(1), [3, 2, 0, 2, 12], &[0, 1, 1], &[0, 1, 1]),
        row(pages(2), [3, 3, 0, 2, 12], &[0, 1, 1], &[0, 1, 1]),
        row(pages(2), [5, 2, 0, 2, 15], &[0, 1, 1], &[0, 1, 1]).original(),
        row(pages(1), [3, 2, 0, 2, 12], &[0, 1, 1], &[0, 1, 1]).compacting(1),
        row(pages(2), [3, 2, 0, 2, 12], &[0, 1, 1], &[0, 1, 1])
            .compacting(2)
            .lingering(),
        row(holes(0, 0, 1), [2, 2, 0, 2, 9], &[0, 1, 2], &[0, 1, 1]),
        row(holes(0, 0, 1), [3, 2, 0, 2, 12], &[0, 1, 2], &[0, 1, 1]),
        row(holes(0, 1, 2), [3, 3, 0, 2, 14], &[0, 1, 3], &[0, 1, 1]),
        row(holes(1, 1, 4), [4, 2, 0, 2, 16], &[0, 2, 3], &[0, 1, 1]),
        row(holes(2, 0, 1), [3, 2, 0, 2, 12], &[0, 1, 2], &[0, 1, 1])
            .compacting(2)
            .lingering(),
    ]
}

/// Three calls, no pins.
pub(crate) fn three_calls() -> Vec<Row> {
    vec![
        row(pages(1), [2, 2, 0, 3, 9], &[0, 0, 1, 2], &[0, 1, 1, 2]),
        row(pages(1), [3, 2, 0, 3, 14], &[0, 1, 2, 2], &[0, 1, 1, 1]),
        row(pages(2), [3, 3, 0, 3, 14], &[0, 1, 2, 2], &[0, 1, 1, 1]),
        row(pages(2), [4, 2, 0, 3, 14], &[0, 1, 2, 2], &[0, 1, 1, 1]).original(),
        row(
            holes(0, 1, 2),
            [3, 2, 0, 3, 14],
            &[0, 1, 3, 4],
            &[0, 1, 1, 2],
        ),
        row(
            holes(1, 1, 4),
            [3, 2, 0, 3, 14],
            &[0, 2, 3, 4],
            &[0, 1, 1, 2],
        ),
    ]
}

/// Pins: a class owes the moves of objects that were pinned.
pub(crate) fn pinned() -> Vec<Row> {
    vec![
        row(pages(1), [2, 2, 1, 2, 9], &[1, 2, 3], &[1, 1, 2]),
        row(pages(1), [3, 2, 1, 2, 12], &[1, 2, 3], &[1, 1, 2]),
        row(pages(2), [3, 2, 1, 2, 14], &[0, 1, 2], &[0, 1, 1]).original(),
        row(pages(2), [3, 2, 1, 2, 12], &[0, 1, 2], &[0, 1, 1])
            .compacting(1)
            .lingering(),
        row(pages(1), [3, 2, 2, 2, 9], &[2, 2, 2], &[2, 2, 2]),
        row(pages(2), [4, 2, 1, 2, 14], &[0, 1, 2], &[0, 1, 1]),
        row(holes(0, 0, 1), [3, 2, 1, 2, 12], &[2, 3, 4], &[1, 1, 2])
            .compacting(1)
            .lingering(),
        row(holes(0, 0, 1), [3, 2, 2, 2, 9], &[4, 4, 5], &[2, 2, 2]),
        row(holes(1, 1, 4), [4, 2, 1, 2, 12], &[2, 3, 4], &[1, 1, 1]),
        row(holes(2, 1, 4), [3, 2, 1, 2, 14], &[0, 2, 4], &[0, 1, 1]),
        row(holes(0, 0, 1), [6, 1, 1, 2, 30], &[5, 6, 7], &[1, 1, 2]),
        row(holes(0, 1, 2), [5, 1, 1, 2, 20], &[3, 4, 6], &[1, 1, 1]),
        row(pages(1), [3, 2, 1, 3, 9], &[1, 2, 2, 2], &[1, 1, 2, 2]),
        row(pages(2), [3, 2, 1, 3, 9], &[0, 1, 1, 1], &[0, 1, 1, 1]).lingering(),
        row(pages(2), [3, 3, 1, 3, 12], &[0, 1, 2, 2], &[0, 1, 1, 1]),
        row(
            holes(0, 1, 2),
            [3, 2, 1, 3, 9],
            &[1, 2, 4, 4],
            &[1, 1, 1, 2],
        ),
    ]
}

/// Bounds in pages: more blocks, calls, pins and steps.
pub(crate) fn large_pages() -> Vec<Row> {
    vec![
        row(pages(1), [4, 3, 1, 3, 14], &[1, 2, 3, 3], &[1, 1, 2, 2]),
        row(pages(1), [3, 2, 2, 3, 10], &[2, 3, 3, 3], &[2, 2, 2, 3]),
        row(pages(2), [3, 2, 2, 3, 10], &[1, 2, 2, 2], &[1, 1, 2, 2])
            .compacting(2)
            .lingering(),
        row(pages(2), [4, 3, 2, 2, 16], &[1, 2, 2], &[1, 1, 2]),
        row(pages(3), [4, 2, 2, 2, 18], &[0, 1, 2], &[0, 1, 1]).original(),
        row(pages(2), [5, 1, 2, 2, 24], &[1, 2, 3], &[1, 1, 2]),
        row(pages(2), [3, 1, 3, 2, 14], &[2, 3, 3], &[2, 2, 2]),
        row(
            pages(2),
            [3, 2, 0, 4, 16],
            &[0, 1, 2, 3, 3],
            &[0, 1, 1, 1, 2],
        ),
        row(
            pages(2),
            [3, 2, 1, 4, 12],
            &[0, 1, 2, 2, 2],
            &[0, 1, 1, 1, 2],
        ),
        row(pages(2), [3, 4, 1, 3, 12], &[0, 1, 2, 2], &[0, 1, 1, 1]),
    ]
}

/// Hole bounds: more blocks, calls, pins and steps.
pub(crate) fn large_holes() -> Vec<Row> {
    vec![
        row(
            holes(0, 0, 1),
            [4, 3, 1, 3, 13],
            &[3, 4, 5, 6],
            &[1, 1, 2, 2],
        ),
        row(
            holes(0, 0, 1),
            [3, 2, 2, 3, 10],
            &[4, 5, 6, 7],
            &[2, 2, 2, 3],
        )
        .compacting(2)
        .lingering(),
        row(holes(0, 1, 2), [5, 2, 1, 2, 25], &[3, 5, 6], &[1, 1, 1]),
        row(holes(0, 1, 2), [6, 1, 1, 2, 36], &[4, 5, 7], &[1, 1, 1]),
        row(holes(0, 1, 2), [4, 1, 2, 2, 22], &[5, 5, 7], &[2, 2, 2]),
        row(holes(1, 1, 2), [5, 1, 2, 2, 22], &[6, 7, 8], &[2, 2, 2]),
        row(
            holes(1, 1, 4),
            [3, 2, 1, 3, 14],
            &[1, 2, 4, 5],
            &[1, 1, 1, 2],
        ),
        row(holes(2, 1, 4), [4, 2, 2, 2, 16], &[4, 5, 6], &[1, 1, 2]),
        row(holes(0, 1, 4), [3, 1, 3, 2, 14], &[5, 6, 7], &[2, 2, 3]),
        row(
            holes(0, 1, 2),
            [3, 2, 0, 4, 16],
            &[0, 1, 3, 4, 6],
            &[0, 1, 1, 2, 2],
        ),
        row(
            holes(0, 1, 2),
            [4, 1, 1, 3, 20],
            &[2, 4, 5, 6],
            &[1, 1, 2, 2],
        ),
    ]
}

/// Frees park their blocks. The largest values are those of the same rows without parked blocks: a
/// parked block is a hole, and changes no bound.
pub(crate) fn parked() -> Vec<Row> {
    let rows = vec![
        row(holes(2, 0, 1), [3, 2, 0, 1, 12], &[0, 1], &[0, 1]),
        row(holes(1, 1, 4), [4, 2, 0, 1, 14], &[0, 2], &[0, 1]),
        row(Bound::Unbounded, [3, 2, 1, 2, 7], &[0], &[0]),
        row(holes(1, 1, 4), [4, 2, 0, 2, 16], &[0, 2, 3], &[0, 1, 1]),
        row(holes(2, 0, 1), [3, 2, 0, 2, 12], &[0, 1, 2], &[0, 1, 1])
            .compacting(2)
            .lingering(),
        row(
            holes(1, 1, 4),
            [3, 2, 0, 3, 14],
            &[0, 2, 3, 4],
            &[0, 1, 1, 2],
        ),
        row(holes(1, 1, 4), [4, 2, 1, 2, 12], &[2, 3, 4], &[1, 1, 1]),
        row(holes(2, 1, 4), [3, 2, 1, 2, 14], &[0, 2, 4], &[0, 1, 1]),
        row(holes(0, 1, 2), [5, 1, 1, 2, 20], &[3, 4, 6], &[1, 1, 1]),
    ];
    rows.into_iter().map(Row::parking).collect()
}

/// Holes are lent, and taken back, between any two sections. The largest values are those of the
/// same rows where δ stays: above what is lent now.
pub(crate) fn lent() -> Vec<Row> {
    vec![
        row(holes(0, 0, 1), [3, 2, 0, 1, 9], &[0, 1], &[0, 1]).lending(3),
        row(holes(0, 0, 1), [3, 2, 0, 2, 12], &[0, 1, 2], &[0, 1, 1]).lending(2),
        row(holes(0, 0, 1), [3, 2, 0, 2, 9], &[0, 1, 2], &[0, 1, 1])
            .lending(4)
            .compacting(2)
            .lingering(),
        row(holes(0, 0, 1), [3, 2, 1, 2, 9], &[2, 3, 4], &[1, 1, 2]).lending(2),
        row(holes(0, 0, 1), [4, 1, 1, 2, 12], &[3, 4, 5], &[1, 1, 2])
            .lending(3)
            .parking(),
        row(holes(0, 0, 1), [3, 2, 2, 2, 9], &[4, 4, 5], &[2, 2, 2]).lending(3),
        row(
            holes(0, 0, 1),
            [3, 2, 0, 3, 9],
            &[0, 1, 2, 3],
            &[0, 1, 1, 1],
        )
        .lending(2),
    ]
}
