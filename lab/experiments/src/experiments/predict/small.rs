//! Small loads: every figure beside the exact chain.

use anyhow::Result;
use surefit_compact::{Bound, Fraction};

use super::chain;
use super::formula::{self, greatest};
use super::process::{self, Load, Observed, Process};
use crate::kit::{Axis, Claim, Plot, Series, Table};
use crate::shared::size_class::{Order, Rules};

/// κ of the chain.
const SMALL_KAPPAS: [u32; 4] = [1, 2, 3, 4];

/// The chain: page-blocks per page, and live ones on average.
const SMALL: (u32, f64) = (4, 40.0);

/// The chain's figures that differ by less from what is exact are the same: its iteration ends with
/// changes of 10⁻¹¹, and forgets the states with far more live page-blocks than ρ.
const EXACT: f64 = 1e-6;

const fn order_name(order: Order) -> &'static str {
    match order {
        Order::Newest => "newest",
        Order::Original => "original",
        Order::Packed => "packed",
    }
}

/// The heap keeps two of the orders.
fn heap(rules: Rules, process: Process) -> Result<Option<Observed>> {
    match rules.order {
        Order::Packed => Ok(None),
        Order::Newest | Order::Original => process::heap(rules, process).map(Some),
    }
}

/// One bound and order under the small load.
pub(super) struct Small {
    rules: Rules,
    kappa: Option<u32>,
    formula: Option<f64>,
    chain: chain::Stationary,
    simulation: Observed,
    heap: Option<Observed>,
}

impl Small {
    fn bound_name(&self) -> String {
        match self.rules.bound {
            Bound::Pages(kappa) => format!("κ={kappa}"),
            Bound::Holes { base, .. } => format!("holes {base}"),
            Bound::Unbounded => "κ=∞".to_owned(),
        }
    }
}

/// Plays and solves every setting.
///
/// # Errors
/// No memory.
pub(super) fn loads(steps: u64) -> Result<Vec<Small>> {
    let (blocks, rho) = SMALL;
    let orders = [Order::Newest, Order::Original, Order::Packed];
    let kappas = orders
        .iter()
        .flat_map(|&order| SMALL_KAPPAS.map(|kappa| (order, Bound::Pages(kappa))));
    let holes = [0, 2, 4].map(|base| {
        (
            Order::Newest,
            Bound::Holes {
                base,
                fraction: Fraction::ZERO,
            },
        )
    });
    let process = Process {
        load: Load::Stationary { rho },
        steps,
        seed: 1,
    };
    let one = |(order, bound)| {
        let rules = Rules {
            bound,
            order,
            blocks,
        };
        let kappa = match bound {
            Bound::Pages(kappa) => Some(kappa),
            _ => None,
        };
        Ok(Small {
            rules,
            kappa,
            formula: kappa.map(|kappa| formula::moves_per_free(blocks, kappa, 1.0)),
            chain: chain::stationary(rules, rho),
            simulation: process::simulation(rules, process),
            heap: heap(rules, process)?,
        })
    };
    kappas.chain(holes).map(one).collect()
}

/// All figures beside the chain's.
pub(super) fn table(rows: &[Small]) -> Table {
    let (blocks, rho) = SMALL;

    Table::of(
        format!("Analysis: moves per free, π={blocks}, ρ={rho}, the exact chain"),
        rows.iter()
            .map(|row| (row, row.heap.map(|heap| heap.moves_per_free))),
    )
    .text("order", |(row, _)| order_name(row.rules.order))
    .text("bound", |(row, _)| row.bound_name())
    .figure("formula", 4, |(row, _)| row.formula)
    .figure("chain", 4, |(row, _)| row.chain.moves_per_free)
    .figure("simulation", 4, |(row, _)| row.simulation.moves_per_free)
    .figure("heap", 4, |(_, moves)| *moves)
    .figure("heap − chain", 4, |(row, moves)| {
        moves.map(|moves| moves - row.chain.moves_per_free)
    })
    .figure("n: chain", 3, |(row, _)| row.chain.not_full)
    .figure("n: simulation", 3, |(row, _)| row.simulation.not_full)
    .figure("n: heap", 3, |(row, _)| row.heap.map(|heap| heap.not_full))
    .table()
}

/// κ against moves per free.
pub(super) fn plot(rows: &[Small]) -> Plot {
    let (blocks, rho) = SMALL;
    let of = |order: Order, name: &str, figure: &dyn Fn(&Small) -> Option<f64>| {
        let own = rows
            .iter()
            .filter(|row| row.rules.order == order && row.kappa.is_some());
        let points = own
            .enumerate()
            .filter_map(|(place, row)| Some((place as f64, figure(row)?)));
        Series::new(
            format!("{}: {name}", order_name(order)),
            points.collect::<Vec<_>>(),
        )
    };
    let chain = |row: &Small| Some(row.chain.moves_per_free);
    let heap = |row: &Small| row.heap.map(|heap| heap.moves_per_free);
    Plot {
        title: format!("moves per free, π={blocks}, ρ={rho}"),
        x: Axis::named("κ", SMALL_KAPPAS.map(|kappa| kappa.to_string())),
        y: Axis::from_zero("moves per free"),
        series: vec![
            of(Order::Newest, "chain", &chain),
            of(Order::Newest, "heap", &heap),
            of(Order::Original, "chain", &chain),
            of(Order::Original, "heap", &heap),
            of(Order::Packed, "chain", &chain),
            of(Order::Packed, "formula", &|row| row.formula),
        ],
    }
}

/// What the figures decide.
pub(super) fn claims(rows: &[Small], tolerance: f64) -> Vec<Claim> {
    let simulated = rows
        .iter()
        .map(|row| (row.simulation.moves_per_free - row.chain.moves_per_free).abs());
    let heaps = rows
        .iter()
        .filter_map(|row| Some((row.heap?.moves_per_free - row.chain.moves_per_free).abs()));
    vec![
        as_the_chain(
            "the automaton, simulated, moves as often as the exact chain says",
            &simulated.collect::<Vec<_>>(),
            tolerance,
        ),
        as_the_chain(
            "the heap moves as often as the exact chain says, in both page orders and under the hole bound",
            &heaps.collect::<Vec<_>>(),
            tolerance,
        ),
        full_compaction(rows),
    ]
}

fn as_the_chain(claim: &str, differences: &[f64], tolerance: f64) -> Claim {
    Claim::that(claim)
        .ours_alone()
        .ours(format!(
            "greatest difference of {} settings: {:.4}",
            differences.len(),
            greatest(differences)
        ))
        .decide(
            (!differences.is_empty()).then(|| greatest(differences) <= tolerance),
            format!("moves per free differ by at most {tolerance}"),
        )
}

/// κ = 1 has a closed form for every load: all orders are the same.
fn full_compaction(rows: &[Small]) -> Claim {
    let (blocks, rho) = SMALL;
    let formula = formula::full_compaction(blocks, rho);
    let of_one = rows
        .iter()
        .filter(|row| row.kappa == Some(1))
        .map(|row| row.chain.moves_per_free);
    let differences: Vec<_> = of_one.map(|moves| (moves - formula).abs()).collect();
    Claim::that("κ=1: a free moves iff h mod π ≠ 0 and the page-block is in a full page")
        .ours_alone()
        .ours(format!(
            "formula {formula:.6}; greatest difference to the chain {:.1e}",
            greatest(&differences)
        ))
        .decide(
            (!differences.is_empty()).then(|| greatest(&differences) <= EXACT),
            format!("formula and chain differ by at most {EXACT:e} in all three orders"),
        )
}

#[cfg(test)]
mod tests {
    use super::{SMALL, Small, chain, claims, formula};
    use crate::experiments::predict::process::Observed;
    use crate::kit::Verdict;
    use crate::shared::size_class::{Order, Rules};
    use surefit_compact::Bound;

    /// κ = 1, with figures that are so far from the chain's, and the chain so far from the formula.
    fn rows(off: f64, chain_off: f64) -> Vec<Small> {
        let (blocks, rho) = SMALL;
        let chain_moves = formula::full_compaction(blocks, rho) + chain_off;
        let observed = Observed {
            moves_per_free: chain_moves + off,
            not_full: 1.0,
        };
        vec![Small {
            rules: Rules {
                bound: Bound::Pages(1),
                order: Order::Newest,
                blocks,
            },
            kappa: Some(1),
            formula: None,
            chain: chain::Stationary {
                moves_per_free: chain_moves,
                not_full: 1.0,
            },
            simulation: observed,
            heap: Some(observed),
        }]
    }

    #[test]
    fn verdicts_follow_the_differences() {
        let verdicts = |rows: &[Small]| -> Vec<_> {
            let claims = claims(rows, 0.01);
            claims.iter().map(|claim| claim.verdict).collect()
        };
        assert_eq!(verdicts(&rows(0.005, 1e-9)), [Verdict::Holds; 3]);
        assert_eq!(verdicts(&rows(0.02, 1e-3)), [Verdict::DoesNot; 3]);
        assert_eq!(verdicts(&[]), [Verdict::NotComparable; 3]);
    }
}
