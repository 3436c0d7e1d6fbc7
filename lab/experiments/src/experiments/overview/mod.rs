//! `surefit experiment overview`: the slides' chart of time by space for all systems, measured.
//!
//! ```text
//! counts    instructions of single calls, by valgrind: the largest of malloc, free and access as the live objects or the
//!           holes grow from 10² to 10⁶, or the object's size from 2³ to 2¹⁹ bytes   scripts: where calls are dearest
//! time      a row of the chart from these counts                       shared::growth: the rules
//! space     a column: whether the degree of fragmentation depends on the order of operations
//! chart     the chart, the slides' chart beside it, a verdict for each of its entries
//! ```
//! Two questions of the same slides go with it: whether TLSF fragments less than Half-fit
//! (`min_heaps`), and how internal and external fragmentation change with the spacing of
//! size-classes (`spacing`).
//!
//! Everything is counted: the same run gives the same report, without valgrind too, but then it has
//! no rows for time.
//!
//! # Source
//! The slides on Compact-fit: classification of systems by time and space; Craciunas et al. (2008).

mod chart;
mod counts;
mod formula;
mod histories;
mod min_heaps;
mod region;
mod scripts;
mod space;
mod spacing;
mod systems;
mod tables;
mod time;

pub(crate) use counts::{WorstCalls, play_worst_calls};

use anyhow::Result;

use crate::kit::{Claim, Entry, Report, Request};
use chart::Measured;
use space::Plan;
use surefit_measure::instructions;
use surefit_measure::progress::Progress;
use surefit_measure::rounds::in_parallel;
use surefit_measure::spec::Spec;
use systems::{CFM, SYSTEMS};

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "overview",
    about: "The chart of time by space for all systems, measured, beside the slides'",
    takes_traces: true,
    takes_rounds: false,
    run,
};

fn run(request: &Request) -> Result<Report> {
    let source = "Kirsch and Sokolova, Explicit, Dynamic Memory Management with Temporal and Spatial Guarantees (slides, ARTIST \
                  summer school 2009): systems by time and space";
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    let has_valgrind = instructions::available().is_ok();
    let plan = Plan::new(request.quick);
    let measured = measure(request.quick, has_valgrind, &plan)?;
    settings(&mut report, &plan);
    report.grid = Some(chart::grid(&measured));
    report.tables.push(tables::systems(&measured));
    if has_valgrind {
        report
            .tables
            .extend(tables::times(&measured, request.quick));
        report.plots.extend(tables::plots(&measured));
    }
    let formula = formula::degrees(&plan)?;
    report.tables.push(tables::degrees(&measured, formula));
    report.claims.extend(chart::claims(&measured));
    let of_full_compaction = of_full_compaction(&measured);
    report
        .claims
        .push(keeps_to_its_formula(of_full_compaction, formula));
    min_heaps::add(&mut report, request)?;
    spacing::add(&mut report, request)?;
    notes(&mut report, has_valgrind);
    Ok(report)
}

/// Measures all systems, as many at once as there are processors.
fn measure(is_quick: bool, has_valgrind: bool, plan: &Plan) -> Result<Vec<Measured>> {
    let progress = Progress::new(SYSTEMS.len() as u64);
    let measured = in_parallel(SYSTEMS, |system| {
        let counts = has_valgrind.then(|| counts::count(system.spec, is_quick));
        let measured = Measured {
            system: *system,
            counts: counts.transpose()?,
            degrees: space::degrees(&Spec::parse(system.spec)?, plan)?,
        };
        progress.step("overview", "measured", &system.spec);
        Ok(measured)
    });
    progress.finish();
    measured
}

fn settings(report: &mut Report, plan: &Plan) {
    report.setting.push(
        "Time: instructions of one call, counted by valgrind, the call through a function pointer included; the largest of \
         several calls where they are dearest."
            .to_owned(),
    );
    report.setting.push(format!(
        "Space: {}; every heap was filled with objects of {} bytes and emptied before. The degree is how many pieces can \
         still be allocated, each really allocated.",
        plan.words(),
        space::SIZES[0]
    ));
    report.setting.push(
        "Growth: the largest counts, from at least five values over three decades, fit a + b·nᵖ, or a + b·ln n for p = 0, \
         by least squares of relative errors; p has an interval at 95 %. None if the upper half of the decades adds at most \
         4 instructions or 5 %; log, or linear, if 0 or 1 is in the interval, give or take 0.1; a dash if both are, or if fewer than three \
         counts are above the first. One rule for all systems."
            .to_owned(),
    );
}

/// The measured degrees of full compaction, if it was measured.
fn of_full_compaction(measured: &[Measured]) -> Option<&space::Degrees> {
    let measured = measured.iter().find(|one| one.system.spec == CFM)?;
    Some(&measured.degrees)
}

/// Whether the measured degrees of full compaction are those of its formula.
fn keeps_to_its_formula(
    measured: Option<&space::Degrees>,
    formula: [u64; space::SIZES.len()],
) -> Claim {
    let expected = formula.map(|degree| Some((degree, degree)));
    let sizes = space::SIZES.iter().zip(formula);
    let sizes: Vec<_> = sizes
        .map(|(bytes, degree)| format!("{bytes} B {degree}"))
        .collect();
    Claim::that(format!(
        "{CFM}: the degree of fragmentation is that of its formula in every order"
    ))
    .of("degree of fragmentation")
    .papers("order does not matter; no formula")
    .ours(format!(
        "by our formula Dg = π(Q − Σ⌈h/π⌉) + (−h mod π): {}; measured: CFM in the table",
        sizes.join(", ")
    ))
    .decide(
        measured.map(|degrees| degrees.0 == expected),
        "it holds if the least and the greatest measured degree of every size \
         equal the formula's",
    )
}

fn notes(report: &mut Report, has_valgrind: bool) {
    if !has_valgrind {
        report.notes.push(
            "valgrind is missing, so no instructions were counted and no verdict on time is possible: install it."
                .to_owned(),
        );
    }
    report.notes.push(
        "CFM is Compact-fit with full compaction and every object in one page-block: no object is larger than a page of 64 \
         KiB, so its counts end there. Its free copies one page-block, by few instructions for 32 bytes, beside those that \
         every free takes. CFNM keeps objects in frames of 32 bytes behind a block table: access looks \
         one of them up whatever the offset, malloc and free take or give every frame of the object. Jamaica appears twice, with \
         objects as lists and with arrays as trees; access is to the last byte."
            .to_owned(),
    );
    report.notes.push(
        "Among the calls over holes is a request of 60 kB. Heaps of lists refuse it after what search they have; those of pages, \
         blocks or frames serve it from any of them, and that is their dearest malloc."
            .to_owned(),
    );
    report.notes.push(
        "DL 2.7 is our heap of bins as Doug Lea's malloc had them up to version 2.7: what became free waits in a queue, and the \
         next allocation sorts it; the slides' DL is one of these. DL 2.8 is the dlmalloc crate: its large bins are tries, \
         whose depth the word bounds, and a free puts its chunk into one; the slides say nothing of it."
            .to_owned(),
    );
}

#[cfg(test)]
mod tests {
    use super::keeps_to_its_formula;
    use super::space::{Degrees, SIZES};
    use crate::kit::Verdict;

    #[test]
    fn degrees_keep_to_the_formula_in_the_worst_order_too() {
        let formula = [10; SIZES.len()];
        let verdict =
            |degrees: Option<Degrees>| keeps_to_its_formula(degrees.as_ref(), formula).verdict;
        let mut degrees = Degrees([Some((10, 10)); SIZES.len()]);
        assert_eq!(verdict(Some(degrees)), Verdict::Holds);
        degrees.0[0] = Some((9, 10));
        assert_eq!(verdict(Some(degrees)), Verdict::DoesNot);
        assert_eq!(verdict(None), Verdict::NotComparable);
    }
}
