//! The thesis's figures, one plot each.
//!
//! ```text
//! 4-1 to 4-3     never, deferred, immediate, walking the heads; ours beside them
//! 4-4 to 4-6     deferred without and with the table
//! 4-7            never without and with it
//! 4-8 to 4-10    immediate without and with it
//! 4-11 to 4-13   the three with the table, and immediate without it
//! A-1 to A-15    the same four, for each program
//! ```
//! The chapter shows one program, raytrace: so figures 4-1 to 4-13 show what stands for it, and
//! where none of a figure's systems completes with that, another program.

use surefit_clients::java::Finds;
use surefit_freelist::When;

use super::measure::{Measured, OURS, What};
use crate::kit::{Axis, Plot, Series};
use crate::shared::thesis::java::counterpart;
use crate::shared::thesis::systems::System;

/// The program of the thesis's chapter.
const CHAPTER: &str = "raytrace";

/// A figure of the chapter: its number, its time, its systems.
type Figure = (&'static str, What, &'static [System]);

const fn scan(merges: When) -> System {
    System::thesis(merges, Finds::Scan)
}

const fn table(merges: When) -> System {
    System::thesis(merges, Finds::NextHitTable)
}

const STRATEGIES: [System; 4] = [
    scan(When::Never),
    scan(When::Deferred),
    scan(When::Immediate),
    OURS,
];
const DEFERRED: [System; 2] = [scan(When::Deferred), table(When::Deferred)];
const NEVER: [System; 2] = [scan(When::Never), table(When::Never)];
const IMMEDIATE: [System; 2] = [scan(When::Immediate), table(When::Immediate)];
const FOUR: [System; 4] = [
    table(When::Never),
    table(When::Deferred),
    table(When::Immediate),
    scan(When::Immediate),
];

const FIGURES: [Figure; 13] = [
    ("figure 4-1", What::Allocation, &STRATEGIES),
    ("figure 4-2", What::Collection, &STRATEGIES),
    ("figure 4-3", What::Management, &STRATEGIES),
    ("figure 4-4", What::Allocation, &DEFERRED),
    ("figure 4-5", What::Collection, &DEFERRED),
    ("figure 4-6", What::Management, &DEFERRED),
    ("figure 4-7", What::Management, &NEVER),
    ("figure 4-8", What::Allocation, &IMMEDIATE),
    ("figure 4-9", What::Collection, &IMMEDIATE),
    ("figure 4-10", What::Management, &IMMEDIATE),
    ("figure 4-11", What::Allocation, &FOUR),
    ("figure 4-12", What::Collection, &FOUR),
    ("figure 4-13", What::Management, &FOUR),
];

/// The programs of the appendix, by the number of their first figure.
const APPENDIX: [(&str, usize); 5] = [
    ("jess", 1),
    ("raytrace", 4),
    ("db", 7),
    ("javac", 10),
    ("mtrt", 13),
];

/// All figures of the chapter, then three of each program.
pub(super) fn all(found: &[Measured]) -> Vec<Plot> {
    let chapter = FIGURES.iter().filter_map(|(number, what, systems)| {
        let measured = shown(found, systems)?;
        Some(plot(&format!("{number}: "), measured, *what, systems))
    });
    let appendix = found.iter().flat_map(|measured| {
        let first = first_figure(&measured.name);
        What::ALL.into_iter().enumerate().map(move |(at, what)| {
            let number = first.map(|first| format!("figure A-{}: ", first + at));
            plot(&number.unwrap_or_default(), measured, what, &FOUR)
        })
    });
    chapter.chain(appendix).collect()
}

/// The program that a figure of the chapter shows: what stands for the thesis's, else the first
/// one; of these, the first with which a system of the figure completes.
fn shown<'m>(found: &'m [Measured], systems: &[System]) -> Option<&'m Measured> {
    let mut candidates: Vec<_> = found.iter().collect();
    candidates.sort_by_key(|measured| {
        let stands = counterpart(&measured.name).is_some_and(|theirs| theirs.name == CHAPTER);
        !stands
    });
    let first = candidates.first().copied();
    let completes = |measured: &&Measured| {
        let mut timed = measured.timed.iter();
        timed.any(|one| systems.contains(&one.system) && !one.rounds.is_empty())
    };
    candidates.into_iter().find(completes).or(first)
}

/// The first of the three figures of the appendix that show what a program stands for.
fn first_figure(name: &str) -> Option<usize> {
    let theirs = counterpart(name)?.name;
    let (_, first) = APPENDIX.iter().find(|(program, _)| *program == theirs)?;
    Some(*first)
}

fn plot(number: &str, measured: &Measured, what: What, systems: &[System]) -> Plot {
    Plot {
        title: format!("{number}{}, {}", measured.name, what.name()),
        x: Axis::new("heap, x the common minimum"),
        y: Axis::from_zero("ms"),
        series: systems
            .iter()
            .map(|system| line(measured, *system, what))
            .collect(),
    }
}

/// A system's line; without points where it does not complete, so that the others keep their
/// colours.
fn line(measured: &Measured, system: System, what: What) -> Series {
    let points = measured
        .multiples()
        .into_iter()
        .filter_map(|multiple| Some((multiple, measured.at(system, multiple)?.ms(what)?)));
    Series::new(system.name(), points.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use surefit_freelist::When;
    use surefit_vm::Measuring;

    use super::super::measure::tests::made_up;
    use super::{all, first_figure};

    #[test]
    fn every_figure_has_a_plot_of_at_most_four_lines() {
        let named = |name: &str| {
            let mut measured = made_up(|_, _| Some((100, 100)));
            name.clone_into(&mut measured.name);
            measured
        };
        let programs = Measuring::ALL.map(|one| one.main);
        let plots = all(&programs.map(named));
        assert_eq!(plots.len(), 13 + 3 * programs.len());
        assert!(
            plots
                .iter()
                .all(|plot| (2..=4).contains(&plot.series.len()))
        );
        let has = |start: &str| plots.iter().any(|plot| plot.title.starts_with(start));
        for figure in 1..=13 {
            assert!(has(&format!("figure 4-{figure}: Raytrace, ")), "{figure}");
        }
        let firsts: Vec<_> = programs
            .iter()
            .filter_map(|name| first_figure(name))
            .collect();
        assert!(firsts.len() >= 4, "{firsts:?}");
        for figure in firsts.iter().flat_map(|first| *first..first + 3) {
            assert!(has(&format!("figure A-{figure}: ")), "{figure}");
        }
        let chapter = |name: &str| all(&[named("Compile"), named(name)])[0].title.clone();
        assert!(chapter("Raytrace").contains("Raytrace"));
        assert!(chapter("lone").contains("Compile"));
    }

    #[test]
    fn a_figure_shows_a_program_that_completes() {
        let mut ray_tracer =
            made_up(|system, _| (system.lists.merges != When::Never).then_some((100, 100)));
        "Raytrace".clone_into(&mut ray_tracer.name);
        let plots = all(&[made_up(|_, _| Some((100, 100))), ray_tracer]);
        let title = |at: usize| plots[at].title.as_str();
        assert_eq!(title(5), "figure 4-6: Raytrace, heap management time");
        assert_eq!(title(6), "figure 4-7: t, heap management time");
    }
}
