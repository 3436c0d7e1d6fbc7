//! `surefit experiment complexity`: how the work and memory of five configurations grow, by
//! counting.
//!
//! ```text
//! configuration       1-CF(∞,∞)  1-CF(κ,∞)  n-CF(∞,∞)  n-CF(κ,∞)  1-CF(κ,ι)
//! parameters          n threads, m page-blocks per thread, β, P, κ, ι: one grows over three decades, the others stay
//! malloc, free        locks taken and words copied by the call that did most; instructions of sampled calls, by valgrind
//! latency             most words copied while a lock was held once, and one for the section itself
//! memory, fragments   pages in use, and holes, in bytes, in the worst order of calls
//! exponent            of the counted figure over the claimed expression, with its interval: 1 is as claimed
//! ```
//! The n in the claimed times of 1-CF is waiting for a lock. How long that takes is up to the
//! system's scheduler, so it is left out: work is counted without it.
//!
//! # Source
//! Craciunas et al. (2009): the complexities of the five configurations.

mod claims;
mod counted;
mod sweep;

use anyhow::Result;

use self::claims::{Judged, claim, points};
use self::sweep::{CONFIGURATIONS, Parameter, Probed, base, probe_configuration};
use crate::kit::{Axis, Entry, Plot, Report, Request, Series, Table, papers};
use surefit_measure::instructions;

pub(crate) use self::counted::{ClassCalls, play_class_calls};

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "complexity",
    about: "How work and memory of the five configurations grow, beside the claimed O(.)",
    takes_traces: false,
    takes_rounds: false,
    run,
};

fn run(request: &Request) -> Result<Report> {
    let is_counted = !request.quick && instructions::available().is_ok();
    let counted = is_counted.then(counted::count).transpose()?;
    let mut probed = Vec::new();
    for configuration in 0..CONFIGURATIONS.len() {
        let instructions = counted.as_ref().map(|all| all[configuration].as_slice());
        probed.extend(probe_configuration(configuration, instructions)?);
    }
    let mut report = Report::new(
        ENTRY.name,
        ENTRY.about,
        papers::of_2009!("complexities"),
        request.quick,
    );
    let base = base(4);
    report.setting.push(format!(
        "One size-class. Where they do not grow: n = {} threads, m = {} page-blocks per thread or eight pages of them, P = {} B, \
         β = {} B, π = {}, κ = 2, ι = 64 B. One thread plays all of them, so every figure is the same every time; \
         --quick counts the same, less the instructions.",
        base.threads,
        base.live,
        base.page_bytes,
        base.block_bytes,
        base.blocks()?,
    ));
    report.setting.push(
        "Each parameter grows over three decades, alone; β in pages of 64 KiB, where π falls as it grows. Pages P have from 1 \
         to 64 KiB, so π and β cannot grow by themselves: their points enter the exponents over whole expressions."
            .to_owned(),
    );
    for column in sweep::Column::ALL {
        report.tables.push(exponents_table(&probed, column));
    }
    report.tables.push(points_table(&probed));
    report.plots.extend(
        [
            (sweep::Column::Free, Parameter::BlockBytes),
            (sweep::Column::Fragmentation, Parameter::Threads),
        ]
        .map(|(column, of)| plot(&probed, column, of)),
    );
    for configuration in 0..CONFIGURATIONS.len() {
        report.claims.extend(sweep::Column::ALL.map(|column| {
            claim(
                &points(&probed, configuration, column),
                configuration,
                column,
            )
        }));
    }
    notes(&mut report, is_counted);
    Ok(report)
}

fn notes(report: &mut Report, is_counted: bool) {
    report.notes.push(
        "Work is counted as locks taken, at least the four of size-class, buffer, and pool (pages, entries), which a call meets \
         by chance, and words of eight bytes copied. What takes no lock and copies nothing, such as a search of lists, is \
         seen by the instructions of some hundred calls of each heap, which valgrind counts."
            .to_owned(),
    );
    if !is_counted {
        report.notes.push(
            "Instructions were not counted: this run is quick, or valgrind is missing.".to_owned(),
        );
    }
    report.notes.push(
        "The n in the papers' times of 1-CF is waiting for the lock of the size-class. It is not counted here: who waits, and \
         how long, is decided by the system's scheduler."
            .to_owned(),
    );
}

/// One row per configuration: what is claimed, the exponent over it, and where nothing grows.
fn exponents_table(probed: &[Probed], column: sweep::Column) -> Table {
    let rows = (0..CONFIGURATIONS.len()).map(|configuration| {
        let judged = Judged::of(&points(probed, configuration, column));
        (configuration, judged)
    });
    let title = format!(
        "{}: the exponent of what was counted over what is claimed",
        column.name()
    );
    Table::of(title, rows)
        .text("configuration", |(at, _)| CONFIGURATIONS[*at].0)
        .text("claimed", |(at, _)| column.without_waiting(*at))
        .figure("exponent", 2, |(_, one)| one.exponent.map(|one| one.best))
        .figure("least", 2, |(_, one)| one.exponent.map(|one| one.least))
        .figure("most", 2, |(_, one)| one.exponent.map(|one| one.most))
        .figure("points", 0, |(_, one)| one.points as u64)
        .text("O(1) in", |(_, one)| one.letters(Some(true)))
        .text("grows with", |(_, one)| one.letters(Some(false)))
        .table()
}

fn points_table(probed: &[Probed]) -> Table {
    Table::of(
        "what was counted: the most of one call, and memory in the worst order",
        probed,
    )
    .text("configuration", |one| CONFIGURATIONS[one.configuration].0)
    .text("grows", |one| one.parameter.letter())
    .figure("to", 0, |one| one.value)
    .figure("π", 0, |one| one.blocks)
    .figure("locks/malloc", 0, |one| one.counts.malloc_locks)
    .figure("locks/free", 0, |one| one.counts.free_locks)
    .figure("B/free", 0, |one| one.counts.free_bytes)
    .figure("instr./malloc", 0, |one| {
        one.instructions.map(|instructions| instructions.malloc)
    })
    .figure("instr./free", 0, |one| {
        one.instructions.map(|instructions| instructions.free)
    })
    .figure("B/section", 0, |one| one.counts.section_bytes)
    .figure("pages", 0, |one| one.counts.pages)
    .figure("holes", 0, |one| one.counts.holes)
    .table()
}

fn plot(probed: &[Probed], column: sweep::Column, parameter: Parameter) -> Plot {
    let mut series = Vec::new();
    for (configuration, (name, ..)) in CONFIGURATIONS.iter().enumerate() {
        let of = |value: fn(&Probed, sweep::Column) -> f64| -> Vec<(f64, f64)> {
            let of_it = probed
                .iter()
                .filter(|one| one.configuration == configuration && one.parameter == parameter);
            of_it
                .map(|one| (f64::from(one.value), value(one, column).max(1.0)))
                .collect()
        };
        series.push(Series::new(*name, of(Probed::counted)));
        if configuration == 4 {
            series.push(Series::papers(
                format!("{name} claimed"),
                of(Probed::claimed),
            ));
        }
    }
    let what = match column {
        sweep::Column::Free => "locks and words copied",
        _ => "bytes",
    };
    Plot {
        title: format!("{} against {}", column.name(), parameter.letter()),
        x: Axis::logarithmic(parameter.letter()),
        y: Axis::logarithmic(what),
        series,
    }
}

#[cfg(test)]
mod tests {
    use super::{claim, points, probe_configuration, sweep};
    use crate::kit::Verdict;

    /// 1-CF(∞,∞) and 1-CF(κ,∞): the others take long where nothing is optimised.
    #[test]
    fn one_instance_grows_as_claimed() {
        for configuration in 0..2 {
            let probed = probe_configuration(configuration, None).expect("probed");
            for column in sweep::Column::ALL {
                let points = points(&probed, configuration, column);
                let claim = claim(&points, configuration, column);
                assert_eq!(claim.verdict, Verdict::Holds, "{claim:?} {points:?}");
            }
        }
    }
}
