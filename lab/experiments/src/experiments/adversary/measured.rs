//! Everything that is run, and its figures by program and system.
#![deny(unsafe_code)]

use anyhow::{Context, Result};

use super::escape::{Escaped, SIMULATED, escaped};
use super::ground::{Attempt, Land};
use super::program::{BestFit, Program, Robson};
use super::search::{self, Found};
use super::systems::{ESCAPE_BEST_FIT, ESCAPE_ROBSON, Escape, NEVER_MOVE, System, kind};

/// A program, and what every system that never moves needs for it, in the order of [`NEVER_MOVE`].
#[derive(Debug)]
pub(super) struct Measured<P, F = Found> {
    pub(super) program: P,
    pub(super) found: Vec<F>,
}

/// All runs.
#[derive(Debug)]
pub(super) struct All {
    pub(super) robson: Vec<Measured<Robson>>,
    /// In regions that end, with a tail.
    pub(super) best_fit: Vec<Measured<BestFit>>,
    /// The pattern alone: in an ample region, its span is what counts.
    pub(super) pattern: Vec<Measured<BestFit, Attempt>>,
    /// P_R as the simulation ran it.
    pub(super) escaped_robson: Vec<Escaped>,
    /// P_R with four times as many live words; nothing if quick.
    pub(super) escaped_larger: Vec<Escaped>,
    pub(super) escaped_best_fit: Vec<Escaped>,
}

impl All {
    /// The runs of each program on systems that escape.
    pub(super) fn escaped(&self) -> impl Iterator<Item = &Vec<Escaped>> {
        let all = [
            &self.escaped_robson,
            &self.escaped_larger,
            &self.escaped_best_fit,
        ];
        all.into_iter().filter(|escaped| !escaped.is_empty())
    }
}

/// M and log2 n.
const ROBSON: [(u64, u32); 3] = [(1024, 5), (4096, 6), (8192, 8)];

/// m.
const LARGEST: [u64; 3] = [8, 12, 16];

/// k, of which the simulation had about as many.
pub(super) const UNITS: u64 = 200;
const QUICK_UNITS: u64 = 24;

/// Runs all programs on all systems.
///
/// # Errors
/// A certificate or a region that should exist does not.
pub(super) fn measure(quick: bool) -> Result<All> {
    let taken = if quick { 1 } else { ROBSON.len() };
    let robsons = ROBSON.map(|(live, log2_largest)| Robson { live, log2_largest });
    let robsons = &robsons[ROBSON.len() - taken..];
    let units = if quick { QUICK_UNITS } else { UNITS };
    let best_fits = LARGEST.map(|largest| BestFit::in_a_region(largest, units));
    let patterns = best_fits.map(|with_tail| BestFit {
        tail: 0,
        ..with_tail
    });
    let larger = Robson {
        live: 4 * SIMULATED.live,
        ..SIMULATED
    };
    let larger_on = if quick { &[] } else { ESCAPE_ROBSON };
    Ok(All {
        robson: on_all(robsons, |land, program| search::robson(land, program))?,
        best_fit: on_all(&best_fits, |land, program| search::best_fit(land, program))?,
        pattern: on_all(&patterns, |land, program| search::ample(land, program))?,
        escaped_robson: each(ESCAPE_ROBSON, Program::Robson(SIMULATED))?,
        escaped_larger: each(larger_on, Program::Robson(larger))?,
        escaped_best_fit: each(
            ESCAPE_BEST_FIT,
            Program::BestFit(best_fits[LARGEST.len() - 1]),
        )?,
    })
}

fn on_all<P: Copy, F>(
    programs: &[P],
    search: impl Fn(&mut Land<'_>, P) -> Result<F>,
) -> Result<Vec<Measured<P, F>>> {
    let on_each = |&program: &P| {
        let on = |system: &System| {
            let kind = kind(system.spec)?;
            let found = search(&mut Land::new(&kind, system.word), program);
            found.with_context(|| format!("{} under an adversary", system.name))
        };
        Ok(Measured {
            program,
            found: NEVER_MOVE.iter().map(on).collect::<Result<_>>()?,
        })
    };
    programs.iter().map(on_each).collect()
}

fn each(systems: &[Escape], program: Program) -> Result<Vec<Escaped>> {
    systems
        .iter()
        .map(|&system| escaped(system, program))
        .collect()
}
