//! `surefit experiment automaton`: the state diagram of one size-class, as Graphviz text.
//!
//! Every state that a class reaches with at most H live page-blocks is a node: its full pages, and the used page-blocks of
//! its not-full pages, the head of their list first. Every decision of the automaton is an edge: M1-M3 and F1-F5 as in
//! `surefit_compact::automaton`, dashed and counted where page-blocks move.
//!
//! ```text
//! surefit experiment automaton --pi 4 --k 2 | dot -Tsvg > automaton.svg
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::ExitCode;
use std::str::FromStr;

use anyhow::{Result, ensure};
use clap::ValueEnum;
use surefit_compact::automaton::{self, ClassCounts, Free, MAX_MOVES, Malloc, PageCounts};
use surefit_compact::{Bound, Fraction, PageOrder};

use crate::output;

/// The most states that are drawn; no one reads more.
const MOST_STATES: usize = 5000;

/// What `surefit experiment automaton` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Page-blocks in a page
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pi: u32,
    /// The bound: at most K not-full pages
    #[arg(long, value_name = "K", conflicts_with_all = ["holes", "frac"], value_parser = clap::value_parser!(u32).range(1..))]
    k: Option<u32>,
    /// The bound: at most D holes, and the fraction of what is live
    #[arg(long, value_name = "D")]
    holes: Option<u32>,
    /// The fraction of what is live that may be holes, at most 1/2 [default: 0]
    #[arg(long, value_name = "A/B")]
    frac: Option<Share>,
    /// Which not-full page serves allocations, and which one is drained; with --k only
    #[arg(long, value_enum, default_value_t, requires = "k")]
    order: Order,
    /// The most live page-blocks to show [default: a page of them more than the K pages]
    #[arg(long, value_name = "H", value_parser = clap::value_parser!(u32).range(1..=64))]
    most_live: Option<u32>,
}

/// `--frac`.
#[derive(Clone, Copy, Debug)]
struct Share(Fraction);

impl FromStr for Share {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mend = "write A/B, at most 1/2";
        let (a, b) = text.split_once('/').ok_or(mend)?;
        let numbers = a.parse().ok().zip(b.parse().ok());
        let fraction = numbers.and_then(|(a, b)| Fraction::new(a, b).ok());
        fraction.map(Self).ok_or(mend)
    }
}

/// `--order`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Order {
    /// Allocate from the newest not-full page, drain the oldest
    #[default]
    Newest,
    /// Allocate from the oldest, drain the newest
    Original,
}

/// Runs `surefit experiment automaton`.
///
/// # Errors
/// One line: a diagram with too many states, or standard output that cannot be written.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let most_live = args.most_live.unwrap_or_else(|| args.enough_live());
    let diagram = Diagram::explore(args.rules(), most_live)?;
    output::print(&diagram.to_dot(most_live))?;
    Ok(ExitCode::SUCCESS)
}

impl Args {
    /// So many live page-blocks that every row of the table appears, if there is room to draw it.
    fn enough_live(&self) -> u32 {
        let pages = self.k.unwrap_or(2).saturating_add(1);
        pages.saturating_mul(self.pi).min(64)
    }

    fn rules(&self) -> Rules {
        let share = self.frac.map(|Share(fraction)| fraction);
        let bound = match (self.k, self.holes, share) {
            (Some(most), ..) => Bound::Pages(most),
            (None, None, None) => Bound::DEFAULT,
            (None, base, share) => Bound::Holes {
                base: base.unwrap_or(0),
                fraction: share.unwrap_or(Fraction::ZERO),
            },
        };
        let order = match self.order {
            Order::Newest => PageOrder::Newest,
            Order::Original => PageOrder::Original,
        };
        Rules {
            bound,
            order,
            blocks: self.pi,
        }
    }
}

// ---- one size-class ----------------------------------------------------------------------------------------------------

#[derive(Clone, Copy, Debug)]
struct Rules {
    bound: Bound,
    order: PageOrder,
    /// π.
    blocks: u32,
}

/// Full pages, and the used page-blocks of the not-full pages, head first.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    full: u32,
    not_full: Vec<u32>,
}

/// What an edge says: a row of the automaton's table, and the page-blocks that moved.
type Label = (&'static str, u32);

impl State {
    fn live(&self, rules: Rules) -> u32 {
        self.full * rules.blocks + self.not_full.iter().sum::<u32>()
    }

    fn counts(&self, rules: Rules) -> ClassCounts {
        let others = self
            .not_full
            .split_last()
            .map_or(&[][..], |(_, others)| others);
        ClassCounts {
            live: self.live(rules),
            not_full: u32::try_from(self.not_full.len()).expect("few pages"),
            holes: others.iter().map(|used| rules.blocks - used).sum(),
        }
    }

    /// The pages at the two ends: where allocations go, and what is drained.
    fn ends(&self, rules: Rules) -> (usize, usize) {
        let last = self.not_full.len().saturating_sub(1);
        match rules.order {
            PageOrder::Newest => (0, last),
            PageOrder::Original => (last, 0),
        }
    }

    fn allocate(&mut self, rules: Rules) -> Label {
        let page = |used| PageCounts {
            used,
            blocks: rules.blocks,
        };
        let at = self.ends(rules).0;
        let first = self.not_full.get(at).map(|&used| page(used));
        let label = match automaton::malloc(first) {
            Malloc::Open => "M1",
            Malloc::Take => "M2",
            Malloc::Fill => "M3",
        };
        if first.is_none() {
            self.not_full.push(0);
        }
        self.fill(at, rules);
        (label, 0)
    }

    /// Takes a page-block of a not-full page.
    fn fill(&mut self, at: usize, rules: Rules) {
        self.not_full[at] += 1;
        if self.not_full[at] == rules.blocks {
            self.not_full.remove(at);
            self.full += 1;
        }
    }

    /// Gives a page-block of a not-full page back.
    fn drain(&mut self, at: usize) {
        self.not_full[at] -= 1;
        if self.not_full[at] == 0 {
            self.not_full.remove(at);
        }
    }

    /// Frees a page-block of a full page, or of a not-full one.
    fn free(&mut self, victim: Option<usize>, rules: Rules) -> Label {
        let page = |used| PageCounts {
            used,
            blocks: rules.blocks,
        };
        let source = self.ends(rules).1;
        let drained = self.not_full.get(source).map(|&used| page(used));
        let used = victim.map_or(rules.blocks, |at| self.not_full[at]);
        let decision = automaton::free(rules.bound, self.counts(rules), page(used), drained);
        match decision {
            Free::Release => {
                match victim {
                    Some(at) => self.drain(at),
                    None => self.full -= 1,
                }
                ("F5", 0)
            }
            Free::Clear => {
                let at = victim.expect("F4 frees in a not-full page");
                self.drain(at);
                ("F4", self.settle(at, rules))
            }
            Free::Loosen => {
                self.full -= 1;
                self.not_full.insert(0, rules.blocks - 1);
                ("F1", self.settle(0, rules))
            }
            Free::Refill { empties_source } => {
                self.drain(source);
                (if empties_source { "F3" } else { "F2" }, 1)
            }
        }
    }

    /// Keeps the hole bound after a free in the page; returns the moves.
    fn settle(&mut self, at: usize, rules: Rules) -> u32 {
        let must = |state: &Self| automaton::settle(rules.bound, state.counts(rules));
        let last = self.not_full.len() - 1;
        if must(self) && automaton::swaps_roles(self.not_full[at], self.not_full[last]) {
            let page = self.not_full.remove(at);
            self.not_full.push(page);
        }
        let mut moves = 0;
        while moves < MAX_MOVES && must(self) {
            self.drain(self.not_full.len() - 1);
            self.fill(0, rules);
            moves += 1;
        }
        moves
    }
}

// ---- the diagram ---------------------------------------------------------------------------------------------------------

/// All states that are reached, and all edges between them.
struct Diagram {
    rules: Rules,
    numbers: BTreeMap<State, usize>,
    edges: BTreeSet<(usize, usize, Label)>,
}

impl Diagram {
    /// Walks all states with at most so many live page-blocks, breadth first.
    fn explore(rules: Rules, most_live: u32) -> Result<Self> {
        let mut diagram = Self {
            rules,
            numbers: BTreeMap::from([(State::default(), 0)]),
            edges: BTreeSet::new(),
        };
        let mut agenda = vec![State::default()];
        let mut next = 0;
        while next < agenda.len() {
            for (label, state) in successors(&agenda[next], rules, most_live) {
                let fresh = diagram.numbers.len();
                let number = *diagram.numbers.entry(state.clone()).or_insert(fresh);
                if number == fresh {
                    agenda.push(state);
                }
                diagram.edges.insert((next, number, label));
            }
            ensure!(
                agenda.len() <= MOST_STATES,
                "the diagram has more than {MOST_STATES} states; try a smaller --most-live than {most_live}"
            );
            next += 1;
        }
        Ok(diagram)
    }

    fn to_dot(&self, most_live: u32) -> String {
        let mut text = String::new();
        let blocks = self.rules.blocks;
        writeln!(text, "digraph automaton {{").expect("strings grow");
        writeln!(
            text,
            "  label=\"A size-class with {blocks} page-blocks a page, up to {most_live} live: {}.\\n\
             A state: full pages × π + used page-blocks of each not-full page, head first.\";",
            self.rules.bound
        )
        .expect("strings grow");
        writeln!(text, "  rankdir=LR; node [shape=box, style=rounded];").expect("strings grow");
        self.write_states(&mut text);
        self.write_edges(&mut text);
        text.push_str("}\n");
        text
    }

    /// The states, those of as many live page-blocks in one rank.
    fn write_states(&self, text: &mut String) {
        let mut ranks: BTreeMap<u32, Vec<(usize, String)>> = BTreeMap::new();
        for (state, &number) in &self.numbers {
            let rank = ranks.entry(state.live(self.rules)).or_default();
            rank.push((number, self.name(state)));
        }
        for (live, states) in ranks {
            write!(text, "  {{ rank=same;").expect("strings grow");
            for (number, name) in states {
                write!(text, " s{number} [label=\"h={live}\\n{name}\"];").expect("strings grow");
            }
            text.push_str(" }\n");
        }
    }

    fn name(&self, state: &State) -> String {
        let full = (state.full > 0).then(|| format!("{}×{}", state.full, self.rules.blocks));
        let pages = full
            .into_iter()
            .chain(state.not_full.iter().map(u32::to_string));
        let pages = pages.collect::<Vec<_>>().join(" + ");
        if pages.is_empty() {
            "no page".into()
        } else {
            pages
        }
    }

    fn write_edges(&self, text: &mut String) {
        for &(from, to, (row, moves)) in &self.edges {
            let moved = match moves {
                0 => "",
                1 => "\\n1 move\", style=\"dashed",
                _ => "\\n2 moves\", style=\"dashed",
            };
            writeln!(text, "  s{from} -> s{to} [label=\"{row}{moved}\"];").expect("strings grow");
        }
    }
}

/// What an allocation and each possible free lead to.
fn successors(state: &State, rules: Rules, most_live: u32) -> Vec<(Label, State)> {
    let mut found = Vec::new();
    if state.live(rules) < most_live {
        let mut next = state.clone();
        found.push((next.allocate(rules), next));
    }
    let full = (state.full > 0).then_some(None);
    for victim in full.into_iter().chain((0..state.not_full.len()).map(Some)) {
        let mut next = state.clone();
        found.push((next.free(victim, rules), next));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagram(bound: Bound, blocks: u32, most_live: u32) -> Diagram {
        let order = PageOrder::Newest;
        let rules = Rules {
            bound,
            order,
            blocks,
        };
        Diagram::explore(rules, most_live).expect("few states")
    }

    #[test]
    fn full_compaction_is_a_chain() {
        for blocks in 1..6 {
            let diagram = diagram(Bound::Pages(1), blocks, 12);
            assert_eq!(diagram.numbers.len(), 13);
            let apart = |&(from, to, _): &(usize, usize, Label)| from.abs_diff(to);
            assert!(diagram.edges.iter().all(|edge| apart(edge) == 1));
        }
    }

    #[test]
    fn every_row_of_the_table_is_drawn() {
        let rows = |bound| -> BTreeSet<&str> {
            let diagram = diagram(bound, 4, 12);
            diagram.edges.iter().map(|&(_, _, (row, _))| row).collect()
        };
        let all = ["F1", "F2", "F3", "F4", "F5", "M1", "M2", "M3"];
        assert_eq!(rows(Bound::Pages(2)), BTreeSet::from(all));
        let held = ["F1", "F4", "F5", "M1", "M2", "M3"];
        assert_eq!(rows(Bound::DEFAULT), BTreeSet::from(held));
    }

    #[test]
    fn too_many_states_are_refused() {
        let rules = Rules {
            bound: Bound::Unbounded,
            order: PageOrder::Newest,
            blocks: 8,
        };
        assert!(Diagram::explore(rules, 64).is_err());
    }
}
