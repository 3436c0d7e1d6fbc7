//! "TLSF's fragmentation is better than Half-fit's": the smallest heaps of both over programs.
#![deny(unsafe_code)]

use anyhow::{Result, anyhow};

use crate::kit::{Claim, Report, Request, Table};
use crate::shared::programs;
use surefit_measure::passes::min_heap::min_heap;
use surefit_measure::rounds::in_parallel;
use surefit_measure::sizes::Size;
use surefit_measure::source::Source;
use surefit_measure::spec::{Choice, Spec};

/// The systems of the claim: the better one, then the other.
const SYSTEMS: [&str; 2] = ["tlsf", "half-fit"];

/// The programs: recorded and synthetic; the last one is long, and left out if quick.
const PROGRAMS: [&str; 7] = [
    programs::EMACS,
    programs::EMACS_LIVES,
    programs::HUMMINGBIRD_LIVES,
    "gen:phase",
    "gen:java-like",
    "gen:lua-like",
    "bundled:redis-drift",
];

/// What the search for the smallest heap leaves open: to either side.
const SAME: f64 = 0.002;

/// The smallest heaps of one program, in bytes.
#[derive(Clone, Debug)]
struct Found {
    program: String,
    live_bytes: u64,
    heaps: [Option<u64>; 2],
}

/// Adds a table and the verdict.
///
/// # Errors
/// Bad input; no memory.
pub(super) fn add(report: &mut Report, request: &Request) -> Result<()> {
    let usual = &PROGRAMS[..PROGRAMS.len() - usize::from(request.quick)];
    let mut found = Vec::new();
    for name in programs::names(request, usual) {
        found.push(of_program(&programs::load(&name, request.quick)?)?);
    }
    report.tables.push(table(&found));
    report.claims.push(claim(&found));
    Ok(())
}

fn of_program(program: &Source) -> Result<Found> {
    let steps = &program.steps;
    let heaps = in_parallel(&SYSTEMS, |name| {
        let Choice::InProcess(kind) = Spec::parse(name)?.choice else {
            return Err(anyhow!("{name}: an allocator of the registry"));
        };
        let bytes = min_heap(&kind, steps, steps.peak_live_bytes as usize)?;
        Ok(bytes.map(|bytes| bytes as u64))
    })?;
    Ok(Found {
        program: steps.name.clone(),
        live_bytes: steps.peak_live_bytes,
        heaps: [heaps[0], heaps[1]],
    })
}

fn table(found: &[Found]) -> Table {
    let of_live = |one: &Found, system: usize| {
        one.heaps[system].map(|bytes| bytes as f64 / one.live_bytes.max(1) as f64)
    };
    Table::of("smallest heap in which the program completes", found)
        .text("program", |one| one.program.as_str())
        .text("live at peak", |one| Size(one.live_bytes).to_string())
        .figure("tlsf B", 0, |one| one.heaps[0])
        .figure("÷ live", 3, |one| of_live(one, 0))
        .figure("half-fit B", 0, |one| one.heaps[1])
        .figure("÷ live", 3, |one| of_live(one, 1))
        .figure("half-fit ÷ tlsf", 3, |one| ratio(one))
        .table()
}

/// The heap of the other one ÷ the heap of the better one.
fn ratio(found: &Found) -> Option<f64> {
    let [better, other] = found.heaps;
    Some(other? as f64 / better?.max(1) as f64)
}

fn claim(found: &[Found]) -> Claim {
    let ratios: Vec<_> = found.iter().filter_map(ratio).collect();
    let better = ratios.iter().filter(|ratio| **ratio > 1.0 + SAME).count();
    let worse = ratios.iter().filter(|ratio| **ratio < 1.0 - SAME).count();
    let decided = ratios.len() == found.len() && !found.is_empty();
    Claim::that("TLSF's fragmentation is better than Half-fit's")
        .of("TLSF")
        .papers("no figure")
        .ours(format!(
            "the smaller heap in {better} of {} programs, the larger in {worse}; \
             Half-fit's ÷ TLSF's {:.3} to {:.3}",
            found.len(),
            ratios.iter().copied().fold(f64::INFINITY, f64::min),
            ratios.iter().copied().fold(0.0, f64::max)
        ))
        .decide(
            decided.then_some(better > 0 && worse == 0),
            format!(
                "TLSF's smallest heap is smaller in some program, and larger in none, by \
                 more than the search leaves open, {} %",
                SAME * 100.0
            ),
        )
}

#[cfg(test)]
mod tests {
    use super::{Found, claim};
    use crate::kit::Verdict;

    fn verdict(heaps: &[(u64, u64)]) -> Verdict {
        let found = heaps.iter().map(|&(tlsf, half_fit)| Found {
            program: "p".to_owned(),
            live_bytes: 1000,
            heaps: [Some(tlsf), Some(half_fit)],
        });
        claim(&found.collect::<Vec<_>>()).verdict
    }

    #[test]
    fn one_program_that_says_otherwise_is_enough() {
        assert_eq!(verdict(&[(1100, 1200), (1100, 1100)]), Verdict::Holds);
        assert_eq!(verdict(&[(1100, 1200), (1100, 1000)]), Verdict::DoesNot);
        assert_eq!(verdict(&[(1100, 1100)]), Verdict::DoesNot);
        assert_eq!(verdict(&[]), Verdict::NotComparable);
    }
}
