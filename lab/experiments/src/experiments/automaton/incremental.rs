//! The incremental automata: every state of a size-class whose moves take several sections, the
//! papers' and ours.
//!
//! A node is a state between two sections. An edge is a section: an allocation, the first section
//! of a free, a step, or the return of a free. X1 and X3 are the papers' cases of an object that is
//! freed while it moves, and of a target that becomes the source of another move.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use anyhow::{Result, ensure};
use clap::ValueEnum;
use surefit_models::papers::automaton::Counting;
use surefit_models::{Label, SizeClass, ours, papers};

use super::arrows::{Edge, drawn};

/// The most states that are drawn; no one reads more.
const MOST_STATES: usize = 5000;

/// `--incremental`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Incremental {
    /// Source and emptying pages, a move for every free in progress
    Paper,
    /// A move changes nothing until its commit; one move at a time
    Ours,
}

/// The diagram of a class, as Graphviz text.
///
/// # Errors
/// Too many states.
pub(crate) fn dot<C: SizeClass>(rules: &C::Rules, title: &str) -> Result<String> {
    Ok(Diagram::<C>::explore(rules)?.to_dot(rules, title))
}

/// The diagram of a class with symbols for its states, as Graphviz text: by h, by n, and by whether
/// moves and emptying pages are there.
///
/// # Errors
/// Too many states.
pub(crate) fn symbols<C: SizeClass>(rules: &C::Rules, title: &str) -> Result<String> {
    let diagram = Diagram::<C>::explore(rules)?;
    drawn(title, diagram.symbolic(rules), |label| {
        label.split(' ').any(copies)
    })
}

/// The papers' class of at most κ not-full pages, as the original counts.
pub(crate) fn papers_rules(most: u16, order: papers::Order, size: Size) -> papers::Rules {
    papers::Rules {
        counting: Counting::Original,
        most,
        order,
        blocks: size.blocks,
        steps: size.steps,
        calls: size.calls,
        live: size.live,
        slip: papers::Slip::None,
    }
}

/// Our class.
pub(crate) fn our_rules(
    bound: surefit_compact::Bound,
    order: surefit_compact::PageOrder,
    size: Size,
) -> ours::Rules {
    ours::Rules {
        bound,
        order,
        blocks: size.blocks,
        steps: size.steps,
        pins: 0,
        calls: size.calls,
        compaction: 0,
        live: size.live,
        parks: false,
        lends: 0,
        lingers: false,
        slip: ours::Slip::None,
    }
}

/// How much of a class is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// π.
    pub(crate) blocks: u16,
    /// Steps of a move, ⌈β/ι⌉.
    pub(crate) steps: u16,
    /// The most frees at a time.
    pub(crate) calls: u16,
    /// The most live page-blocks.
    pub(crate) live: u16,
}

/// All states that are reached, and all edges between them.
struct Diagram<C> {
    states: Vec<C>,
    edges: BTreeSet<(usize, usize, Label)>,
}

impl<C: SizeClass> Diagram<C> {
    /// Walks all states, breadth first.
    fn explore(rules: &C::Rules) -> Result<Self> {
        let mut diagram = Self {
            states: vec![C::default()],
            edges: BTreeSet::new(),
        };
        let mut numbers = HashMap::from([(C::default(), 0)]);
        let mut next = 0;
        while next < diagram.states.len() {
            for (label, state) in successors(&diagram.states[next], rules) {
                let fresh = diagram.states.len();
                let number = *numbers.entry(state.clone()).or_insert(fresh);
                if number == fresh {
                    diagram.states.push(state);
                }
                diagram.edges.insert((next, number, label));
            }
            ensure!(
                diagram.states.len() <= MOST_STATES,
                "the diagram has more than {MOST_STATES} states; try a smaller --pi, --most-live, --calls or --steps"
            );
            next += 1;
        }
        Ok(diagram)
    }

    fn to_dot(&self, rules: &C::Rules, title: &str) -> String {
        let mut text = String::new();
        let mut line = |words: &str| writeln!(text, "{words}").expect("strings grow");
        line("digraph automaton {");
        line(&format!("  label=\"{title}\";"));
        line("  rankdir=LR; node [shape=box, style=rounded];");
        for (live, states) in self.ranks() {
            let nodes = states.iter().map(|&number| {
                let picture = self.states[number].picture(rules).replace('\n', "\\n");
                format!(" s{number} [label=\"h={live}\\n{picture}\"];")
            });
            line(&format!("  {{ rank=same;{} }}", nodes.collect::<String>()));
        }
        for (from, to, label) in &self.edges {
            let copies = label.to_string().split(' ').any(copies);
            let style = if copies { ", style=dashed" } else { "" };
            line(&format!("  s{from} -> s{to} [label=\"{label}\"{style}];"));
        }
        line("}");
        text
    }

    /// The edges between classes of states.
    fn symbolic(&self, rules: &C::Rules) -> BTreeSet<Edge> {
        let names: Vec<_> = self
            .states
            .iter()
            .map(|state| class(state, rules))
            .collect();
        let edges = self.edges.iter();
        edges
            .map(|(from, to, label)| (names[*from].clone(), names[*to].clone(), label.to_string()))
            .collect()
    }

    /// The states by live page-blocks.
    fn ranks(&self) -> BTreeMap<u32, Vec<usize>> {
        let mut ranks: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (number, state) in self.states.iter().enumerate() {
            ranks.entry(state.live()).or_default().push(number);
        }
        ranks
    }
}

/// The class of a state: κ is what its bound allows.
fn class<C: SizeClass>(state: &C, rules: &C::Rules) -> String {
    let found = state.measured(rules);
    let live = if state.live() == 0 { "h = 0" } else { "h > 0" };
    let held = match found.held {
        0 => "n = 0",
        held if held < found.allowed => "0 < n < κ",
        held if held == found.allowed => "n = κ",
        _ => "n > κ",
    };
    let moves = if found.calls == 0 { "" } else { ", a move" };
    let emptying = if found.emptying == 0 { "" } else { ", e > 0" };
    format!("{live}, {held}{moves}{emptying}")
}

/// Whether bytes are copied in a section with this word.
fn copies(word: &str) -> bool {
    ["F2", "F3", "begin", "step", "help"].contains(&word)
}

/// What every section that may come next leads to.
fn successors<C: SizeClass>(state: &C, rules: &C::Rules) -> Vec<(Label, C)> {
    let mut actions = Vec::new();
    state.actions(rules, &mut actions);
    let after = |action| {
        let mut next = state.clone();
        let Label([first, second, mut third]) = next.act(rules, action);
        while next.is_within_section() {
            let mut rest = Vec::new();
            next.actions(rules, &mut rest);
            let Label([last, ..]) = next.act(rules, rest[0]);
            third = last;
        }
        (Label([first, second, third]), next)
    };
    actions.into_iter().map(after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use surefit_compact::{Bound, PageOrder};

    const SIZE: Size = Size {
        blocks: 3,
        steps: 3,
        calls: 2,
        live: 9,
    };

    fn words<C: SizeClass>(rules: &C::Rules) -> BTreeSet<&'static str> {
        let diagram = Diagram::<C>::explore(rules).expect("few states");
        let words = diagram.edges.into_iter().flat_map(|(.., label)| label.0);
        words.filter(|word| !word.is_empty()).collect()
    }

    #[test]
    fn every_transition_of_the_papers_is_drawn() {
        let rules = papers_rules(1, papers::Order::Original, SIZE);
        let all = [
            "F1",
            "F2",
            "F3",
            "F4",
            "F4 emptying",
            "F5",
            "M1",
            "M2",
            "M3",
            "X1",
            "X3",
            "final step",
            "free",
            "not-full",
            "return",
            "step",
        ];
        assert_eq!(words::<papers::Class>(&rules), BTreeSet::from(all));
    }

    #[test]
    fn every_transition_of_ours_is_drawn() {
        let rules = our_rules(Bound::Pages(1), PageOrder::Newest, SIZE);
        let all = [
            "F1", "F2", "F4", "F5", "M1", "M2", "M3", "X1", "begin", "cancel", "commit", "help",
            "return", "step",
        ];
        assert_eq!(words::<ours::Class>(&rules), BTreeSet::from(all));
    }

    #[test]
    fn with_symbols_only_a_class_with_a_move_has_emptying_pages() {
        let rules = papers_rules(1, papers::Order::Original, SIZE);
        let diagram = Diagram::<papers::Class>::explore(&rules).expect("few states");
        let edges = diagram.symbolic(&rules);
        let names: BTreeSet<_> = edges.iter().map(|(from, ..)| from.as_str()).collect();
        assert!(names.contains("h = 0, n = 0") && names.contains("h > 0, n = κ"));
        assert!(names.iter().any(|name| name.contains("e > 0")), "{names:?}");
        let emptying = names.iter().filter(|name| name.contains("e > 0"));
        for name in emptying {
            assert!(name.contains("a move"), "{name}");
        }
        assert!(names.len() < diagram.states.len() / 4, "{names:?}");
        let text = symbols::<papers::Class>(&rules, "a title").expect("few states");
        assert!(text.contains("style=dashed") && text.ends_with("}\n"));
    }

    #[test]
    fn diagrams_are_graphviz_and_too_many_states_are_refused() {
        let rules = papers_rules(1, papers::Order::Original, SIZE);
        let text = dot::<papers::Class>(&rules, "a title").expect("few states");
        assert!(text.starts_with("digraph automaton {\n  label=\"a title\";"));
        assert!(text.contains("source") && text.contains("emptying") && text.ends_with("}\n"));
        let large = Size {
            blocks: 8,
            live: 64,
            calls: 4,
            ..SIZE
        };
        let rules = papers_rules(3, papers::Order::Any, large);
        assert!(dot::<papers::Class>(&rules, "").is_err());
    }
}
