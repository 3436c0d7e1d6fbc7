//! Large loads, and loads that grow or shrink: the heap beside the closed form.

use anyhow::Result;
use surefit_compact::Bound;

use super::formula::{self, greatest};
use super::process::{self, Load, Observed, Process};
use crate::kit::{Axis, Claim, Plot, Series, Table};
use crate::shared::size_class::{Order, Rules};

/// κ of the tables.
const LARGE_KAPPAS: [u32; 4] = [1, 2, 4, 8];

/// Large loads: page-blocks per page, and live ones on average; the last one is too small for the
/// formula.
const LARGE: [(u32, f64); 3] = [(16, 20_000.0), (64, 20_000.0), (64, 2_000.0)];

/// Whether the formula's conditions hold: √ρ is twice κ and π at least.
fn is_large(rho: f64, blocks: u32, kappa: u32) -> bool {
    rho.sqrt() >= 2.0 * f64::from(blocks.max(kappa))
}

/// One κ under a large load.
pub(super) struct Large {
    blocks: u32,
    rho: f64,
    kappa: u32,
    formula: f64,
    not_full_formula: f64,
    packed: Observed,
    newest: Observed,
    original: Observed,
}

/// Plays every setting.
///
/// # Errors
/// No memory.
pub(super) fn loads(steps: u64) -> Result<Vec<Large>> {
    let loads = LARGE
        .iter()
        .flat_map(|&(blocks, rho)| LARGE_KAPPAS.map(|kappa| (blocks, rho, kappa)));
    let one = |(blocks, rho, kappa)| {
        let process = Process {
            load: Load::Stationary { rho },
            steps,
            seed: 2,
        };
        let rules = |order| Rules {
            bound: Bound::Pages(kappa),
            order,
            blocks,
        };
        Ok(Large {
            blocks,
            rho,
            kappa,
            formula: formula::moves_per_free(blocks, kappa, 1.0),
            not_full_formula: formula::not_full(blocks, kappa),
            packed: process::simulation(rules(Order::Packed), process),
            newest: process::heap(rules(Order::Newest), process)?,
            original: process::heap(rules(Order::Original), process)?,
        })
    };
    loads.map(one).collect()
}

/// All figures beside the formula's.
pub(super) fn table(rows: &[Large]) -> Table {
    Table::of(
        "Analysis: moves per free under large loads, the closed form",
        rows,
    )
    .figure("π", 0, |row| row.blocks)
    .figure("ρ", 0, |row| row.rho)
    .figure("κ", 0, |row| row.kappa)
    .figure("formula", 4, |row| row.formula)
    .figure("simulated", 4, |row| row.packed.moves_per_free)
    .figure("heap, newest", 4, |row| row.newest.moves_per_free)
    .figure("heap, original", 4, |row| row.original.moves_per_free)
    .figure("n: formula", 2, |row| row.not_full_formula)
    .figure("newest", 2, |row| row.newest.not_full)
    .figure("original", 2, |row| row.original.not_full)
    .table()
}

/// κ against moves per free.
pub(super) fn plot(rows: &[Large]) -> Plot {
    let (blocks, rho) = LARGE[1];
    let of = |name: &str, figure: fn(&Large) -> f64| {
        let own = rows
            .iter()
            .filter(|row| row.blocks == blocks && (row.rho - rho).abs() < 1.0);
        let points = own
            .enumerate()
            .map(|(place, row)| (place as f64, figure(row)));
        Series::new(name, points.collect::<Vec<_>>())
    };
    Plot {
        title: format!("moves per free, π={blocks}, ρ={rho}"),
        x: Axis::named("κ", LARGE_KAPPAS.map(|kappa| kappa.to_string())),
        y: Axis::from_zero("moves per free"),
        series: vec![
            of("formula", |row| row.formula),
            of("packed", |row| row.packed.moves_per_free),
            of("heap, newest", |row| row.newest.moves_per_free),
            of("heap, original", |row| row.original.moves_per_free),
        ],
    }
}

// ---- loads that grow or shrink
// --------------------------------------------------------------------------------------

/// One κ while the live page-blocks grow or shrink.
pub(super) struct Drifting {
    malloc: f64,
    kappa: u32,
    formula: f64,
    newest: Observed,
    original: Observed,
}

/// π of drifting loads.
const DRIFTING_BLOCKS: u32 = 64;

/// Plays every setting.
///
/// # Errors
/// No memory.
pub(super) fn drifting_loads(steps: u64) -> Result<Vec<Drifting>> {
    let loads = [0.6, 0.5, 0.4]
        .into_iter()
        .flat_map(|malloc| LARGE_KAPPAS.map(|kappa| (malloc, kappa)));
    // long runs would need as many live page-blocks to lose
    let steps = steps.min(200_000);
    let one = |(malloc, kappa)| {
        let process = Process {
            load: Load::Drifting { malloc },
            steps,
            seed: 3,
        };
        let rules = |order| Rules {
            bound: Bound::Pages(kappa),
            order,
            blocks: DRIFTING_BLOCKS,
        };
        Ok(Drifting {
            malloc,
            kappa,
            formula: formula::moves_per_free(DRIFTING_BLOCKS, kappa, (1.0 - malloc) / malloc),
            newest: process::heap(rules(Order::Newest), process)?,
            original: process::heap(rules(Order::Original), process)?,
        })
    };
    loads.map(one).collect()
}

/// All figures beside the formula's.
pub(super) fn drifting_table(rows: &[Drifting]) -> Table {
    let title = format!("Moves per free while h grows, stays, or shrinks, π={DRIFTING_BLOCKS}");
    Table::of(title, rows)
        .figure("P(malloc)", 1, |row| row.malloc)
        .figure("κ", 0, |row| row.kappa)
        .figure("formula", 4, |row| row.formula)
        .figure("heap, newest", 4, |row| row.newest.moves_per_free)
        .figure("heap, original", 4, |row| row.original.moves_per_free)
        .table()
}

// ---- claims
// -------------------------------------------------------------------------------------------------

/// What the figures decide.
pub(super) fn claims(large: &[Large], drifting: &[Drifting], tolerance: f64) -> Vec<Claim> {
    let (fits, small): (Vec<_>, Vec<_>) = large
        .iter()
        .partition(|row| is_large(row.rho, row.blocks, row.kappa));
    let of_large = fits
        .iter()
        .map(|row| (row.newest.moves_per_free - row.formula).abs());
    let of_drifting = drifting
        .iter()
        .map(|row| (row.newest.moves_per_free - row.formula).abs());
    vec![
        closed_form("stationary", of_large.collect(), tolerance),
        closed_form("growing and shrinking", of_drifting.collect(), tolerance),
        over_estimate(&small, tolerance),
        original_moves_more(large, drifting),
    ]
}

fn closed_form(which: &str, differences: Vec<f64>, tolerance: f64) -> Claim {
    Claim::that(format!(
        "{which}, many live page-blocks: the heap's order moves as often as the \
         closed form says"
    ))
    .ours_alone()
    .ours(format!(
        "greatest difference of {} settings: {:.4}",
        differences.len(),
        greatest(&differences)
    ))
    .decide(
        (!differences.is_empty()).then(|| greatest(&differences) <= tolerance),
        format!(
            "moves per free of the heap (newest) differ from the formula by at most \
             {tolerance}, where √ρ ≥ 2π"
        ),
    )
}

fn over_estimate(rows: &[&Large], tolerance: f64) -> Claim {
    let above = rows
        .iter()
        .map(|row| row.newest.moves_per_free - row.formula);
    let above: Vec<_> = above.collect();
    let shown = rows.iter().map(|row| {
        format!(
            "κ={} {:.3} for {:.3}",
            row.kappa, row.newest.moves_per_free, row.formula
        )
    });
    Claim::that("few live page-blocks (√ρ < 2π): the closed form is an over-estimate")
        .ours_alone()
        .ours(shown.collect::<Vec<_>>().join(", "))
        .decide(
            (!above.is_empty()).then(|| greatest(&above) <= tolerance),
            format!(
                "moves per free of the heap (newest) are nowhere above the formula by \
                 more than {tolerance}"
            ),
        )
}

fn original_moves_more(large: &[Large], drifting: &[Drifting]) -> Claim {
    let of_large = large
        .iter()
        .map(|row| (row.kappa, row.newest, row.original));
    let both = of_large.chain(
        drifting
            .iter()
            .map(|row| (row.kappa, row.newest, row.original)),
    );
    let partial: Vec<_> = both.filter(|(kappa, ..)| *kappa > 1).collect();
    let ratios = partial
        .iter()
        .map(|(_, newest, original)| original.moves_per_free / newest.moves_per_free.max(1e-9));
    let (least, most) = ratios.fold((f64::INFINITY, 0.0_f64), |(least, most), ratio| {
        (least.min(ratio), most.max(ratio))
    });
    Claim::that(
        "the original page order moves more often than the newest-first order, \
         for every κ > 1",
    )
    .ours_alone()
    .measured((!partial.is_empty()).then(|| format!("{least:.2} to {most:.2} times as often")))
    .decide(
        (!partial.is_empty()).then(|| {
            partial
                .iter()
                .all(|(_, newest, original)| original.moves_per_free > newest.moves_per_free)
        }),
        "the heap's moves per free are greater with the original order in every \
         setting",
    )
}

#[cfg(test)]
mod tests {
    use super::{Drifting, LARGE, LARGE_KAPPAS, Large, Observed, claims, formula};
    use crate::kit::Verdict;

    /// All settings; the heap's moves are so far above the formula's, and the original order's are
    /// so many times the heap's.
    fn verdicts(above: f64, times: f64) -> Vec<Verdict> {
        let observed = |moves_per_free| Observed {
            moves_per_free,
            not_full: 1.0,
        };
        let large = LARGE.iter().flat_map(|(blocks, rho)| {
            LARGE_KAPPAS.map(|kappa| {
                let formula = formula::moves_per_free(*blocks, kappa, 1.0);
                Large {
                    blocks: *blocks,
                    rho: *rho,
                    kappa,
                    formula,
                    not_full_formula: 1.0,
                    packed: observed(formula),
                    newest: observed(formula + above),
                    original: observed((formula + above) * times),
                }
            })
        });
        let drifting = LARGE_KAPPAS.map(|kappa| {
            let formula = formula::moves_per_free(64, kappa, 1.5);
            Drifting {
                malloc: 0.4,
                kappa,
                formula,
                newest: observed(formula + above),
                original: observed((formula + above) * times),
            }
        });
        let claims = claims(&large.collect::<Vec<_>>(), &drifting, 0.01);
        claims.iter().map(|claim| claim.verdict).collect()
    }

    #[test]
    fn verdicts_follow_the_differences() {
        assert_eq!(verdicts(0.005, 2.0), [Verdict::Holds; 4]);
        assert_eq!(verdicts(0.02, 0.9), [Verdict::DoesNot; 4]);
        let below = verdicts(-0.02, 2.0);
        assert_eq!(below[..2], [Verdict::DoesNot; 2]);
        assert_eq!(below[2..], [Verdict::Holds; 2]);
        let none = claims(&[], &[], 0.01);
        assert!(
            none.iter()
                .all(|claim| claim.verdict == Verdict::NotComparable)
        );
    }
}
