//! The exact chain: all states of a size-class under the process, and how often each is visited.
//!
//! ```text
//! states         every state that is reached with at most H = ρ + 7√ρ live page-blocks (more are too rare to matter)
//! transitions    allocation with ρ/(ρ + h) (never at H), else a free in each page by the page-blocks it holds
//! stationary     p ← ½·p + ½·p·T until p stays: the lazy chain is aperiodic and has the same stationary distribution
//! ```
//! Full pages are alike, so a state is (F; u of each not-full page in list order); in the packed
//! order the list has no order, and is sorted. Work: iterations × transitions.

use std::collections::BTreeMap;

use crate::shared::size_class::{Order, Rules, State};

/// p stays: the sum of all changes in one iteration.
const STAYS: f64 = 1e-11;

/// The most iterations.
const MOST_ITERATIONS: u32 = 200_000;

/// What the chain says of a setting.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stationary {
    /// Page-blocks moved, for each free.
    pub(super) moves_per_free: f64,
    /// Not-full pages, on average over the events.
    pub(super) not_full: f64,
}

/// One transition.
#[derive(Clone, Copy, Debug)]
struct Edge {
    from: usize,
    to: usize,
    probability: f64,
    is_free: bool,
    moves: u32,
}

/// Solves the chain.
pub(super) fn stationary(rules: Rules, rho: f64) -> Stationary {
    let chain = Chain::explore(rules, rho);
    let visits = chain.visits();
    let (mut frees, mut moves) = (0.0, 0.0);
    for edge in chain.edges.iter().filter(|edge| edge.is_free) {
        let often = visits[edge.from] * edge.probability;
        frees += often;
        moves += often * f64::from(edge.moves);
    }
    let not_full = chain
        .states
        .iter()
        .zip(&visits)
        .map(|(state, often)| often * state.not_full.len() as f64);
    Stationary {
        moves_per_free: moves / frees,
        not_full: not_full.sum(),
    }
}

struct Chain {
    states: Vec<State>,
    edges: Vec<Edge>,
}

impl Chain {
    /// Finds all states, breadth first from the empty one, and their transitions.
    fn explore(rules: Rules, rho: f64) -> Self {
        let most_live = (rho + 7.0 * rho.sqrt()) as u32;
        let mut numbers = BTreeMap::from([(State::default(), 0)]);
        let mut states = vec![State::default()];
        let mut edges = Vec::new();
        let mut from = 0;
        while from < states.len() {
            for (next, probability, is_free, moves) in
                successors(&states[from], rules, rho, most_live)
            {
                let fresh = numbers.len();
                let to = *numbers.entry(next.clone()).or_insert(fresh);
                if to == fresh {
                    states.push(next);
                }
                edges.push(Edge {
                    from,
                    to,
                    probability,
                    is_free,
                    moves,
                });
            }
            from += 1;
        }
        Self { states, edges }
    }

    /// How often each state is visited.
    fn visits(&self) -> Vec<f64> {
        let mut visits = vec![0.0; self.states.len()];
        visits[0] = 1.0;
        for _ in 0..MOST_ITERATIONS {
            let mut next: Vec<f64> = visits.iter().map(|often| often / 2.0).collect();
            for edge in &self.edges {
                next[edge.to] += visits[edge.from] * edge.probability / 2.0;
            }
            let change: f64 = next
                .iter()
                .zip(&visits)
                .map(|(new, old)| (new - old).abs())
                .sum();
            visits = next;
            if change < STAYS {
                break;
            }
        }
        visits
    }
}

/// The states that follow, with their probabilities, whether a free leads there, and the moves on
/// the way.
fn successors(
    state: &State,
    rules: Rules,
    rho: f64,
    most_live: u32,
) -> Vec<(State, f64, bool, u32)> {
    let live = state.live(rules);
    let allocates = if live < most_live {
        rho / (rho + f64::from(live))
    } else {
        0.0
    };
    let mut found = Vec::new();
    if allocates > 0.0 {
        let mut next = state.clone();
        next.allocate(rules);
        found.push((canonical(next, rules), allocates, false, 0));
    }
    let full = (state.full > 0).then_some((None, state.full * rules.blocks));
    let not_full = state
        .not_full
        .iter()
        .enumerate()
        .map(|(at, used)| (Some(at), *used));
    for (victim, blocks) in full.into_iter().chain(not_full) {
        let mut next = state.clone();
        let (_, moves) = next.free(victim, rules);
        let probability = (1.0 - allocates) * f64::from(blocks) / f64::from(live);
        found.push((canonical(next, rules), probability, true, moves));
    }
    found
}

fn canonical(mut state: State, rules: Rules) -> State {
    if rules.order == Order::Packed {
        state.not_full.sort_unstable();
    }
    state
}

#[cfg(test)]
mod tests {
    use super::{Chain, Order, Rules, stationary};
    use surefit_compact::Bound;

    fn rules(kappa: u32) -> Rules {
        Rules {
            bound: Bound::Pages(kappa),
            order: Order::Packed,
            blocks: 4,
        }
    }

    #[test]
    fn the_chain_has_the_values_of_an_independent_solution() {
        // another program solved π = 4, ρ = 40 in the packed order
        let expected = [
            (0.750, 0.7125),
            (1.248, 0.3224),
            (1.725, 0.1807),
            (2.171, 0.1061),
        ];
        for (kappa, (not_full, moves)) in (1..).zip(expected) {
            let found = stationary(rules(kappa), 40.0);
            assert!(
                (found.moves_per_free - moves).abs() < 1e-4,
                "κ={kappa}: {found:?}"
            );
            assert!(
                (found.not_full - not_full).abs() < 1e-3,
                "κ={kappa}: {found:?}"
            );
        }
    }

    #[test]
    fn probabilities_add_up_and_visits_stay() {
        let chain = Chain::explore(rules(2), 10.0);
        let mut sums = vec![0.0; chain.states.len()];
        chain
            .edges
            .iter()
            .for_each(|edge| sums[edge.from] += edge.probability);
        assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-12));
        assert!((chain.visits().iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}
