//! `surefit experiment automaton`: the state diagram of one size-class, as Graphviz text.
//!
//! Every state that a class reaches with at most H live page-blocks is a node: its full pages, and
//! the used page-blocks of its not-full pages, the head of their list first. Every decision of the
//! automaton is an edge: M1-M3 and F1-F5 as in `surefit_compact::automaton`, dashed and counted
//! where page-blocks move.
//!
//! ```text
//! surefit experiment automaton --pi 4 --k 2 | dot -Tsvg > automaton.svg
//! surefit experiment automaton --pi 3 --k 1 --incremental paper | dot -Tsvg > incremental.svg
//! surefit experiment automaton --pi 4 --draw symbols | dot -Tsvg > symbols.svg
//! surefit experiment automaton --pi 3 --draw symbols --incremental paper | dot -Tsvg > symbols.svg
//! surefit experiment automaton --pi 4 --draw page | dot -Tsvg > page.svg
//! ```
//! [`incremental`] draws a class whose moves take several sections, [`symbolic`] what the slides
//! draw, and [`page_life`] the lifetime of a page.

mod arrows;
mod incremental;
mod page_life;
mod symbolic;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::ExitCode;
use std::str::FromStr;

use anyhow::{Result, bail, ensure};
use clap::ValueEnum;
use surefit_compact::{Bound, Fraction, PageOrder};
use surefit_models::{SizeClass, ours, papers};

use self::incremental::{Incremental, Size, dot, our_rules, papers_rules, symbols};
use crate::shared::size_class::{Label, Order as Policy, Rules, State};
use surefit_measure::output;

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
    /// Which not-full page serves allocations, and which one is drained; with --k only [default:
    /// newest; original with --incremental paper]
    #[arg(long, value_enum, requires = "k")]
    order: Option<Order>,
    /// The most live page-blocks to show [default: a page of them more than the K pages]
    #[arg(long, value_name = "H", value_parser = clap::value_parser!(u32).range(1..=64))]
    most_live: Option<u32>,
    /// What is drawn: every state; states by h, n and κ, with guards; or the lifetime of a page
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    draw: Draw,
    /// Moves that take several steps: the papers' automaton, or ours
    #[arg(long, value_enum, value_name = "WHOSE")]
    incremental: Option<Incremental>,
    /// Steps of a move, β/ι rounded up; with --incremental
    #[arg(long, default_value_t = 2, value_name = "N", requires = "incremental", value_parser = clap::value_parser!(u16).range(1..=16))]
    steps: u16,
    /// The most frees in progress at a time; with --incremental. Two and more meet: X1, X3, help
    #[arg(long, default_value_t = 1, value_name = "N", requires = "incremental", value_parser = clap::value_parser!(u16).range(1..=8))]
    calls: u16,
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

/// `--draw`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Draw {
    /// Every state that a class reaches
    #[default]
    States,
    /// Classes of states by h, n and κ, and edges with their guards, as on the slides; with --k
    Symbols,
    /// The kinds of a page, source and emptying ones too
    Page,
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
/// One line: a diagram with too many states, holes with the papers' automaton, or standard output
/// that cannot be written.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let most_live = args.most_live.unwrap_or_else(|| args.enough_live());
    let text = match (args.incremental, args.draw) {
        (Some(_), Draw::Page) => bail!(
            "the lifetime of a page has source and emptying pages already; leave --incremental out"
        ),
        (Some(whose), draw) => args.incremental(whose, draw, most_live)?,
        (None, Draw::States) => Diagram::explore(args.rules(), most_live)?.to_dot(most_live),
        (None, Draw::Symbols) => args.symbols()?,
        (None, Draw::Page) => page_life::dot(args.pi),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The diagram of a small size-class: four page-blocks per page, κ = 2.
///
/// # Errors
/// Never: it has few states.
pub(crate) fn example() -> Result<String> {
    let rules = Rules {
        bound: Bound::Pages(2),
        order: Policy::Newest,
        blocks: 4,
    };
    Ok(Diagram::explore(rules, 12)?.to_dot(12))
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
        let order = match self.order.unwrap_or_default() {
            Order::Newest => Policy::Newest,
            Order::Original => Policy::Original,
        };
        Rules {
            bound,
            order,
            blocks: self.pi,
        }
    }
}

impl Args {
    /// The symbolic diagram: of a κ of 2, where none is given.
    fn symbols(&self) -> Result<String> {
        ensure!(
            self.holes.is_none() && self.frac.is_none(),
            "the slides bound not-full pages, not holes; give --k"
        );
        let kappa = self.k.unwrap_or(2);
        let rules = Rules {
            bound: Bound::Pages(kappa),
            ..self.rules()
        };
        let most_live = self.most_live.unwrap_or_else(|| self.enough_live());
        Diagram::explore(rules, most_live)?.to_symbolic_dot(kappa)
    }

    /// The diagram of an incremental automaton.
    fn incremental(&self, whose: Incremental, draw: Draw, most_live: u32) -> Result<String> {
        let size = Size {
            blocks: u16::try_from(self.pi)?,
            steps: self.steps,
            calls: self.calls,
            live: u16::try_from(most_live)?,
        };
        match whose {
            Incremental::Paper => self.papers(size, draw),
            Incremental::Ours => self.ours(size, draw),
        }
    }

    fn papers(&self, size: Size, draw: Draw) -> Result<String> {
        ensure!(
            self.holes.is_none() && self.frac.is_none(),
            "the papers bound not-full pages, not holes; give --k"
        );
        let most = u16::try_from(self.k.unwrap_or(1))?;
        let order = match self.order {
            Some(Order::Newest) => papers::Order::Newest,
            _ => papers::Order::Original,
        };
        let title = format!(
            "The papers' incremental automaton: κ = {most}, {}",
            size.words()
        );
        let blocks = "v the source of a move (neither used nor free), t its target (used)";
        in_sections::<papers::Class>(&papers_rules(most, order, size), &title, blocks, draw)
    }

    fn ours(&self, size: Size, draw: Draw) -> Result<String> {
        let order = match self.order {
            Some(Order::Original) => PageOrder::Original,
            _ => PageOrder::Newest,
        };
        let bound = self.rules().bound;
        let title = format!("Our incremental automaton: {bound}, {}", size.words());
        let blocks = "v the block in motion (used), t its target (reserved)";
        in_sections::<ours::Class>(&our_rules(bound, order, size), &title, blocks, draw)
    }
}

/// An incremental automaton: every state, with pictures that `blocks` explains, or classes of them.
fn in_sections<C: SizeClass>(
    rules: &C::Rules,
    title: &str,
    blocks: &str,
    draw: Draw,
) -> Result<String> {
    match draw {
        Draw::Symbols => {
            let title = format!(
                "{title}\\nh live page-blocks, n what the bound counts, κ what it allows, e emptying pages"
            );
            symbols::<C>(rules, &title)
        }
        Draw::States | Draw::Page => {
            dot::<C>(rules, &format!("{title}\\n. a block at rest, {blocks}"))
        }
    }
}

impl Size {
    fn words(self) -> String {
        format!(
            "{} page-blocks per page, steps of a move {}, frees at a time {}, live up to {}",
            self.blocks, self.steps, self.calls, self.live
        )
    }
}

// ---- the diagram
// -------------------------------------------------------------------------------------------------

/// All states that are reached, and all edges between them.
struct Diagram {
    rules: Rules,
    numbers: BTreeMap<State, usize>,
    edges: BTreeSet<(usize, usize, Label)>,
}

impl Diagram {
    /// Walks all states with at most the given number of live page-blocks, breadth first.
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
        let order = Policy::Newest;
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
            order: Policy::Newest,
            blocks: 8,
        };
        assert!(Diagram::explore(rules, 64).is_err());
    }
}
