//! The automaton with symbols: states by h, n and κ, and edges with their guards, as the slides
//! draw it for π = 1 and π > 1.
//!
//! h is the number of live page-blocks, n that of not-full pages, u that of used page-blocks of the
//! page that an edge is about. Every edge is one that some state of a small class takes: classes of
//! states and guards are read off the states before and after.

use std::collections::BTreeSet;

use anyhow::Result;

use super::Diagram;
use super::arrows::{Edge, drawn};
use crate::shared::size_class::{Label, State};

impl Diagram {
    /// The symbolic edges of what was explored; κ is that of its rules.
    fn symbolic(&self, kappa: u32) -> BTreeSet<Edge> {
        let mut states: Vec<_> = self.numbers.iter().collect();
        states.sort_by_key(|(_, number)| **number);
        let states: Vec<_> = states.into_iter().map(|(state, _)| state).collect();
        let of = |&(from, to, label): &(usize, usize, Label)| {
            let name = |at: usize| class(states[at], self.rules.blocks, kappa);
            (name(from), name(to), words(label, self.rules.blocks))
        };
        self.edges.iter().map(of).collect()
    }

    /// The symbolic diagram as Graphviz text.
    ///
    /// # Errors
    /// Never: what was explored is small.
    pub(super) fn to_symbolic_dot(&self, kappa: u32) -> Result<String> {
        let blocks = self.rules.blocks;
        let pi = if blocks == 1 { "π = 1" } else { "π > 1" };
        let title = format!(
            "A size-class, {pi}: h live page-blocks, n not-full pages, u used page-blocks of a page.\\n\
             Drawn from π = {blocks}, κ = {kappa}."
        );
        drawn(&title, self.symbolic(kappa), |label| {
            label.contains("moves")
        })
    }
}

/// The class of a state.
fn class(state: &State, blocks: u32, kappa: u32) -> String {
    let not_full = state.not_full.len();
    match (state.full, not_full, not_full >= kappa as usize) {
        (0, 0, _) => "h = 0".to_owned(),
        _ if blocks == 1 => "h > 0".to_owned(),
        (_, 0, _) => "h > 0, n = 0".to_owned(),
        (.., false) => "h > 0, 0 < n < κ".to_owned(),
        (.., true) => "h > 0, n = κ".to_owned(),
    }
}

/// What an edge says: the call, its guard, and what it changes.
fn words((row, moves): Label, blocks: u32) -> String {
    if blocks == 1 {
        let call = if row.starts_with('M') {
            "malloc\\nh + 1"
        } else {
            "free\\nh - 1"
        };
        return call.to_owned();
    }
    let words = match row {
        "M1" => "malloc [n = 0]\\nh + 1, n + 1: a page is opened",
        "M2" => "malloc [u < π - 1]\\nh + 1, u + 1",
        "M3" => "malloc [u = π - 1]\\nh + 1, n - 1: the page is full",
        "F1" => "free [full page, n < κ]\\nh - 1, n + 1",
        "F2" => "free [full page, n = κ, u > 1]\\nh - 1, u - 1: one block moves",
        "F3" => {
            "free [full page, n = κ, u = 1]\\nh - 1, n - 1: one block moves, its page is removed"
        }
        "F4" => "free [not-full page, u > 1]\\nh - 1, u - 1",
        "F5" => "free [not-full page, u = 1]\\nh - 1, n - 1: the page is removed",
        other => other,
    };
    match moves {
        0 | 1 => words.to_owned(),
        _ => format!("{words}, {moves} blocks move"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Diagram, Policy, Rules};
    use surefit_compact::Bound;

    fn explored(blocks: u32, kappa: u32) -> Diagram {
        let rules = Rules {
            bound: Bound::Pages(kappa),
            order: Policy::Newest,
            blocks,
        };
        Diagram::explore(rules, (kappa + 1) * blocks).expect("few states")
    }

    #[test]
    fn with_one_block_a_page_there_are_two_states() {
        let edges = explored(1, 1).symbolic(1);
        let states: Vec<_> = edges
            .iter()
            .map(|(from, to, _)| (from.as_str(), to.as_str()))
            .collect();
        let (none, some) = ("h = 0", "h > 0");
        for edge in [(none, some), (some, some), (some, none)] {
            assert!(states.contains(&edge), "{edges:?}");
        }
        assert!(
            !states.contains(&(none, none)) && edges.len() == 4,
            "{edges:?}"
        );
    }

    #[test]
    fn with_several_every_guard_is_drawn_and_objects_move_only_at_the_bound() {
        let diagram = explored(3, 2);
        let edges = diagram.symbolic(2);
        for row in [
            "n = 0]",
            "u < π - 1]",
            "u = π - 1]",
            "n < κ]",
            "u > 1]",
            "u = 1]",
        ] {
            assert!(edges.iter().any(|(.., label)| label.contains(row)), "{row}");
        }
        let moving = edges.iter().filter(|(.., label)| label.contains("moves"));
        for (from, ..) in moving {
            assert_eq!(from, "h > 0, n = κ");
        }
        let text = diagram.to_symbolic_dot(2).expect("text");
        assert!(text.starts_with("digraph symbolic {") && text.ends_with("}\n"));
    }
}
